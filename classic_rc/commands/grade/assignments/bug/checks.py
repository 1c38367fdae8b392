"""The bug that costs 8 points: does the mended file do what the reference does?"""

import numpy as np

from classic_rc.commands.grade.assignment import Assignment, Check, CheckFailedError, Function
from classic_rc.commands.grade.feedback import explain_scores
from classic_rc.questions import Task
from classic_rc.testing.synthetic import synthetic_dataset
from classic_rc.text.analyzers import stop_words

STOP_WORDS = stop_words("smart")
WORDS = "the of cat dog sat ran mat hill who".split()


def draw(rng):
    """Return passages of two words or more, questions and candidates: a few of everything that
    words can do.
    """
    most = ((2, 12), (0, 4), (0, 3))
    sizes = [[rng.randint(*limits) for limits in most] for _ in range(150)]
    return [tuple(rng.choices(WORDS, k=k) for k in lengths) for lengths in sizes]


def has_question(passage, question, candidate):
    return bool(set(passage) & set(question) - STOP_WORDS)


def has_option(passage, question, candidate):
    return bool(set(passage) & set(candidate) - STOP_WORDS - set(question))


def round_all(scores):
    return [round(float(score), 4) for score in scores]


def check_scores(submission):
    """Compare the scores of fresh questions with those of the reference."""
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=40, seed=submission.seed)
    reference = submission.assignment.right("WindowAndDistance")().score_candidates(dataset)
    rows = zip(dataset, submission.score(dataset), reference, strict=True)
    for question, scores, expected in rows:
        if not np.allclose(scores, expected, atol=1e-5):
            yours, right = round_all(scores), round_all(expected)
            problem = f"the scores of a question are {yours} and should be {right}"
            explained = explain_scores(question, yours=scores, right=expected)
            raise CheckFailedError(problem, "", (explained,))


RIGHT = ("windows_are_as_they_were", "distances_of_words_that_are_there")
EMPTY = "if not questions or not answers:"
ASSIGNMENT = Assignment(
    title="The bug that costs 8 points",
    main="buggy.py",
    packages=("numpy", "classic_rc"),
    template=(f"    {EMPTY}\n        return 1\n", ""),
    functions={
        "sliding_window": Function(draw, allowed=lambda *texts: bool(texts[0])),
        "word_distance": Function(draw, allowed=lambda *texts: len(texts[0]) > 1),
    },
    checks=(
        Check(
            RIGHT[0], 0, "sliding_window: it had no mistake, and still has none", "sliding_window"
        ),
        Check(
            RIGHT[1],
            0,
            "word_distance: question and candidate have words in the passage",
            "word_distance",
            lambda *texts: has_question(*texts) and has_option(*texts),
        ),
        Check(
            "options_without_words",
            3,
            "word_distance: the candidate has no word in the passage",
            "word_distance",
            lambda *texts: has_question(*texts) and not has_option(*texts),
            RIGHT,
        ),
        Check(
            "questions_without_words",
            3,
            "word_distance: the question has no word in the passage",
            "word_distance",
            lambda *texts: not has_question(*texts),
            RIGHT,
        ),
        Check(
            "scores_of_questions",
            4,
            "the scores of fresh questions",
            check_scores,
            needs=("options_without_words", "questions_without_words"),
        ),
    ),
)
