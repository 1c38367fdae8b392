"""A threshold tuned on train and measured on test; peeking is found."""

from classic_rc.commands.grade.assignment import Assignment, Check, Function
from classic_rc.commands.grade.feedback import with_changed, without

EDGES = (((0.5,), (0,)), ((0.5,), (1,)), ((0.5, 0.5), (0, 1)), ((1.0, 2.0), (0, 0)))
"""The scores and labels of single questions with one option, equal scores, or nothing right."""


def draw(rng, digits=1):
    """Return sets of questions whose right options have somewhat higher scores."""
    cases = []
    for _ in range(80):
        questions = []
        for _ in range(rng.randint(1, 5)):
            labels = [int(rng.random() < 0.5) for _ in range(rng.randint(1, 4))]
            scores = [round(rng.gauss(label / 2, 0.7), digits) for label in labels]
            questions.append([scores, labels])
        cases.append(questions)
    for scores, labels in EDGES:
        cases.append([[list(scores), list(labels)]])
    return cases


def draw_thresholds(rng):
    cases = []
    for questions in draw(rng):
        scores = [score for scores, _ in questions for score in scores]
        drawn_score = rng.choice(scores)
        near = round(rng.gauss(0.2, 0.5), 2)
        threshold = rng.choice((drawn_score, near, max(scores), min(scores) - 1))
        cases.append((questions, threshold))
    return cases


def draw_halves(rng):
    drawn = draw(rng, 3)
    return list(zip(drawn[::2], drawn[1::2], strict=False))


def are_questions(questions, threshold=0.0):
    for scores, labels in questions:
        if not len(scores) == len(labels) > 0 or not {*labels} <= {0, 1}:
            return False
    return bool(questions)


def have_one_best(questions):
    """Whether all scores differ, and no other threshold is as good under any rule."""
    options = []
    for scores, labels in questions:
        options += zip(scores, labels, strict=True)
    options.sort()
    sorted_labels = [label for _, label in options]
    n_scores = len({score for score, _ in options})
    if not n_scores == len(options) > 1 or sum(sorted_labels) == 0:
        return False
    return sorted_labels == sorted(sorted_labels)


def simpler(case):
    """Yield calls with one question or one option less, or with one simpler score."""
    for i, argument in enumerate(case):
        for j, question in enumerate(argument if isinstance(argument, list) else []):
            yield tuple(with_changed(case, i, without(argument, j)))
            for simpler_question in simpler_questions(*question):
                changed = with_changed(argument, j, simpler_question)
                yield tuple(with_changed(case, i, changed))


def simpler_questions(scores, labels):
    for k, score in enumerate(scores):
        yield [without(scores, k), without(labels, k)]
        yield [scores, with_changed(labels, k, 0)]
        for rounder in (0.0, 1.0, 2.0, float(round(score)), round(score, 1), abs(score)):
            yield [with_changed(scores, k, rounder), labels]


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
