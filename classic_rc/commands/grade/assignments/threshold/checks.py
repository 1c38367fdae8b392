"""A threshold tuned on train and measured on test; peeking is found."""

from classic_rc.commands.grade.assignment import Assignment, Check, Function


def draw(rng, digits=1):
    """Return sets of questions whose right options have somewhat higher scores."""
    cases = []
    for _ in range(80):
        questions = []
        for _ in range(rng.randint(1, 5)):
            labels = [int(rng.random() < 0.5) for _ in range(rng.randint(1, 4))]
            questions.append(
                [[round(rng.gauss(label / 2, 0.7), digits) for label in labels], labels]
            )
        cases.append(questions)
    return [*cases, [[[0.5], [0]]], [[[0.5], [1]]], [[[0.5, 0.5], [0, 1]]], [[[1.0, 2.0], [0, 0]]]]


def draw_thresholds(rng):
    cases = []
    for questions in draw(rng):
        scores = [score for scores, _ in questions for score in scores]
        cuts = (rng.choice(scores), round(rng.gauss(0.2, 0.5), 2), max(scores), min(scores) - 1)
        cases.append((questions, rng.choice(cuts)))
    return cases


def draw_halves(rng):
    drawn = draw(rng, 3)
    return list(zip(drawn[::2], drawn[1::2], strict=False))


def are_questions(questions, threshold=0.0):
    return questions and all(
        len(scores) == len(labels) > 0 and {*labels} <= {0, 1} for scores, labels in questions
    )


def have_one_best(questions):
    """Whether all scores differ, and no other threshold is as good under any rule."""
    options = sorted(
        (score, label)
        for scores, labels in questions
        for score, label in zip(scores, labels, strict=True)
    )
    labels = [label for _, label in options]
    return (
        len({score for score, _ in options}) == len(options) > 1
        and sum(labels) > 0
        and labels == sorted(labels)
    )


def simpler(case):
    """Yield calls with one question or one option less, or with one simpler score."""
    for i, argument in enumerate(case):
        for j, (scores, labels) in enumerate(argument if isinstance(argument, list) else []):
            replacements = [[]]
            for k in range(len(scores)):
                replacements.append([[scores[:k] + scores[k + 1 :], labels[:k] + labels[k + 1 :]]])
                replacements.append([[scores, [*labels[:k], 0, *labels[k + 1 :]]]])
                values = (
                    0.0,
                    1.0,
                    2.0,
                    float(round(scores[k])),
                    round(scores[k], 1),
                    abs(scores[k]),
                )
                replacements += [
                    [[[*scores[:k], value, *scores[k + 1 :]], labels]] for value in values
                ]
            for replacement in replacements:
                yield (*case[:i], [*argument[:j], *replacement, *argument[j + 1 :]], *case[i + 1 :])


ASSIGNMENT = Assignment(
    title="A threshold without peeking",
    main="my_threshold.py",
    functions={
        "f1": Function(draw_thresholds, allowed=are_questions, simplify=simpler),
        "tune": Function(
            lambda rng: [(questions,) for questions in (*draw(rng, 3), *draw(rng))],
            uses=("f1",),
            allowed=are_questions,
            simplify=simpler,
        ),
        "evaluate": Function(
            draw_halves,
            uses=("f1", "tune"),
            allowed=lambda train, test: are_questions(train) and are_questions(test),
            simplify=simpler,
        ),
    },
    checks=(
        Check("f1s", 3, "f1", "f1"),
        Check(
            "thresholds",
            3,
            "tune: all scores differ, and the right options have the highest",
            "tune",
            have_one_best,
        ),
        Check(
            "all_thresholds",
            2,
            "tune: equal scores, equally good thresholds, nothing right, one option",
            "tune",
            needs=("thresholds",),
        ),
        Check("no_peeking", 2, "evaluate", "evaluate"),
    ),
)
