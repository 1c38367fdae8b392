"""Ties and partial credit on random scores."""

from classic_rc.commands.grade.assignment import Assignment, Check, Function

STEPS = [(n + 0.5) * 10**-e for n in range(10) for e in (3, 4, 6)]
"""One between each two tolerances that classes draw."""


def draw_scores(rng):
    """Return scores with clear winners, exact ties, and differences about as large as the
    tolerances.
    """
    cases = [[0.1 + 0.2, 0.3, 0.0], [7.0], [-0.0, 0.0], [0.0] * 4, [-5.0, -5.0 - 5e-9, -6.0]]
    for _ in range(400):
        base = rng.choice((-300.0, -1.0, 0.0, 2.0, 300.0))
        step = rng.choice((*[100.0] * 9, 1.0, 1.0, 0.8e-9, 1e-12, *STEPS, *STEPS))
        n_options = rng.randint(1, 5)
        cases.append([base - step * rng.randint(0, 3) for _ in range(n_options)])
    return [(scores,) for scores in cases]


def draw_questions(rng):
    cases = [([1.0], 0), ([0.0] * 4, 3)]
    for _ in range(200):
        scores = [float(rng.randint(-2, 1)) for _ in range(rng.randint(1, 5))]
        cases.append((scores, rng.randrange(len(scores))))
    return cases


def draw_sets(rng):
    questions = [list(question) for question in draw_questions(rng)]
    policies = ("partial", "partial", "first", "strict")
    cases = []
    for _ in range(250):
        drawn = rng.sample(questions, rng.randint(1, 6))
        cases.append((drawn, rng.choice(policies)))
    return cases


def is_question(scores, gold):
    """Whether a question has no near ties: another check is about them."""
    return 0 <= gold < len(scores) and all(score == int(score) for score in scores)


def are_questions(questions, policy):
    is_policy = policy in ("partial", "first", "strict")
    are_pairs = all(len(pair) == 2 for pair in questions)
    return is_policy and questions and are_pairs and all(is_question(*pair) for pair in questions)


ASSIGNMENT = Assignment(
    title="Ties and partial credit",
    main="my_ties.py",
    functions={
        "best": Function(draw_scores, allowed=bool),
        "credit": Function(draw_questions, allowed=is_question),
        "accuracy": Function(draw_sets, uses=("credit",), allowed=are_questions),
    },
    checks=(
        Check("clear_winners", 1, "best: one option is far ahead", "best", "is_clear"),
        Check(
            "ties",
            3,
            "best: exact and near ties, negative scores, one option",
            "best",
            needs=("clear_winners",),
        ),
        Check("partial_credit", 3, "credit: clear winners and exact ties", "credit"),
        Check(
            "accuracies",
            1,
            "accuracy: partial",
            "accuracy",
            lambda questions, policy: policy == "partial",
        ),
        Check("policies", 2, "accuracy: all three policies", "accuracy", needs=("accuracies",)),
    ),
)
