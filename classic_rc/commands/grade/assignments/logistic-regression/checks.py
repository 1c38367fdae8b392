"""Logistic regression on features of overlap: features, fit, one ablation, and the weights of
the class's data.
"""

import json
import random
from functools import cache

from classic_rc.commands.grade.assignment import Assignment, Check, CheckFailedError, Function
from classic_rc.commands.grade.feedback import without

WORDS = "ada ben took lost the lamp kite river near who where".split()


def draw_texts(rng):
    """Return passages, questions and options; in every fifth option, a word of the passage is there
    twice, next to a word that the passage lacks.
    """
    cases = [([], ["who"], ["ada"]), ([["ada"]], [], [])]
    for number in range(100):
        passage = []
        for _ in range(rng.randint(1, 4)):
            passage.append(rng.choices(WORDS, k=rng.randint(1, 6)))
        option = rng.choices(WORDS, k=rng.randint(1, 3))
        missing = [word for word in WORDS if not any(word in sentence for sentence in passage)]
        if number % 5 == 0 and missing:
            option = [passage[0][0], rng.choice(missing), passage[0][0]]
        cases.append((passage, rng.choices(WORDS, k=rng.randint(1, 5)), option))
    return cases


def draw_rows(rng, n):
    return [[round(rng.uniform(-1, 1), 1) for _ in range(3)] for _ in range(n)]


def draw_fits(rng):
    cases = []
    for _ in range(40):
        rows = draw_rows(rng, rng.randint(2, 8))
        labels = [rng.randint(0, 1) for _ in rows]
        steps = rng.randint(2, 6)
        cases.append((rows, labels, 0.5, steps, rng.choice((0.1, 0.5))))
    return cases


def draw_questions(rng, n):
    """Return questions whose right option has somewhat higher features; some options are equal."""
    cases = []
    for _ in range(n):
        rows, gold = draw_rows(rng, 4), rng.randrange(4)
        right = [round(x + rng.choice((0, 0.6)), 1) for x in rows[gold]]
        rows[gold] = right
        rows[(gold + 1) % 4] = rng.choice((right, rows[gold - 1]))
        cases.append([rows, gold])
    return cases


def draw_parts(rng):
    return [(draw_questions(rng, 4), draw_questions(rng, 4), 0.5, 5, 0.1) for _ in range(12)]


def are_questions(questions):
    for rows, gold in questions:
        if not all(map(is_row, rows)) or not 0 <= gold < len(rows):
            return False
    return bool(questions)


def is_row(row):
    return len(row) == 3


def are_rows(rows, labels, rate, steps, l2):
    are_labelled = len(rows) == len(labels) > 0 and {*labels} <= {0, 1}
    return are_labelled and all(map(is_row, rows)) and rate > 0 and steps > 0


def are_parts(train, test, rate, steps, l2):
    return are_questions(train) and are_questions(test) and rate > 0 and steps > 0


def fewer(case):
    """Yield calls with one row or one question less."""
    first, second, *rest = case
    for i in range(len(first)):
        yield (without(first, i), without(second, i), *rest)


def make_data(seed):
    """Return rows and labels; one feature says most, and which one the seed decides."""
    rng = random.Random(f"weights {seed}")
    strong = rng.randrange(3)
    rows = draw_rows(rng, 300)
    labels = []
    for row in rows:
        score = 2 * row[strong] + 0.4 * sum(row) + rng.gauss(0, 0.7)
        labels.append(int(score > 0))
    return rows, labels


def make_files(seed):
    rows, labels = make_data(seed)
    return {"data.json": json.dumps({"rows": rows, "labels": labels}).encode()}


@cache  # the same for all students of a class, and most of the time of a grading
def find_strongest(fit, seed):
    weights = fit(*make_data(seed), 1.0, 200, 0.01)[:3]
    return max(range(3), key=lambda j: abs(weights[j]))


def check_strongest(submission):
    if find_strongest(submission.assignment.right("fit"), submission.seed) != submission.STRONGEST:
        raise CheckFailedError(
            "STRONGEST is not the position of the feature with the largest weight in data.json"
        )


ASSIGNMENT = Assignment(
    title="Logistic regression",
    main="my_regression.py",
    make_files=make_files,
    functions={
        "features": Function(draw_texts),
        "fit": Function(draw_fits, allowed=are_rows, simplify=fewer),
        "accuracy": Function(
            lambda rng: [(draw_questions(rng, 5), draw_rows(rng, 1)[0]) for _ in range(60)],
            allowed=lambda questions, weights: are_questions(questions) and len(weights) == 3,
        ),
        "ablation": Function(draw_parts, ("fit", "accuracy"), are_parts, fewer),
    },
    checks=(
        Check("overlap", 3, "features", "features"),
        Check("fits", 3, "fit", "fit"),
        Check("accuracies", 1, "accuracy", "accuracy"),
        Check("ablations", 2, "ablation", "ablation"),
        Check(
            "reads_the_weights",
            1,
            "STRONGEST: the feature with the largest weight in data.json",
            check_strongest,
            needs=("fits",),
        ),
    ),
)
