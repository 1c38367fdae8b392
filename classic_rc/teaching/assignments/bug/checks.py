"""The bug that costs 8 points: does the mended file do what the reference does?"""

from __future__ import annotations

import random

import numpy as np

from classic_rc.kernels import SCALE, reference
from classic_rc.questions import Task
from classic_rc.solvers.specs import parse_solver
from classic_rc.teaching.assignment import CheckFailedError, Submission, check
from classic_rc.testing.synthetic import synthetic_dataset
from classic_rc.text.stop_words import stop_words

TITLE = "The bug that costs 8 points"
MAIN = TEMPLATE = "buggy.py"

_STOP_WORDS = stop_words("smart")
_WORDS = "the of cat dog sat ran mat hill who".split()
_Texts = tuple[list[str], list[str], list[str]]


@check(points=0)
def check_windows_are_as_they_were(submission: Submission) -> None:
    """The sliding window still equals the reference."""
    for texts in _cases(submission.seed):
        found, expected = submission.sliding_window(*texts), reference.sliding_window(*texts) / SCALE
        if not _near(found, expected, 1e-6):
            raise CheckFailedError(_told("sliding_window", texts, found, expected))


@check(points=0)
def check_distances_of_words_that_are_there(submission: Submission) -> None:
    """The word distance equals the reference where question and candidate have words in the passage."""
    _compare_distances(submission, [texts for texts in _cases(submission.seed) if _has_pair(*texts)])


@check(points=6, needs=("windows_are_as_they_were", "distances_of_words_that_are_there"))
def check_all_distances(submission: Submission) -> None:
    """The word distance equals the reference everywhere."""
    _compare_distances(submission, _cases(submission.seed))


@check(points=4, needs="all_distances")
def check_scores_of_questions(submission: Submission) -> None:
    """The scores of fresh questions are those of sw+d."""
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=40, seed=submission.seed)
    expected = parse_solver("sw+d").score_candidates(dataset)
    for question, found, own in zip(dataset, submission.score(dataset), expected, strict=True):
        if not np.allclose(found, own, atol=1e-5):
            raise CheckFailedError(
                f"the scores of a question are {_rounded(found)} and should be {_rounded(own)}",
                f"passage: {question.passage.text!r}\nquestion: {question.query!r}\n"
                f"options: {[candidate.text for candidate in question.candidates]}",
            )


def _compare_distances(submission: Submission, cases: list[_Texts]) -> None:
    for texts in cases:
        found = submission.word_distance(*texts)
        expected = reference.word_distance(*texts, stop_words=_STOP_WORDS)
        if not _near(found, expected, 1e-9):
            raise CheckFailedError(_told("word_distance", texts, found, expected))


def _cases(seed: int) -> list[_Texts]:
    """Return passages of two words or more, questions and candidates: a few of everything that words can do."""
    rng = random.Random(f"bug {seed}")
    sizes = [(rng.randint(2, 12), rng.randint(0, 4), rng.randint(0, 3)) for _ in range(300)]
    return [(rng.choices(_WORDS, k=a), rng.choices(_WORDS, k=b), rng.choices(_WORDS, k=c)) for a, b, c in sizes]


def _has_pair(passage: list[str], question: list[str], candidate: list[str]) -> bool:
    there = set(passage) - _STOP_WORDS
    return bool(there & set(question)) and bool(there & set(candidate) - set(question))


def _near(found: object, expected: float, tolerance: float) -> bool:
    return isinstance(found, int | float) and abs(found - expected) < tolerance


def _told(function: str, texts: _Texts, found: object, expected: float) -> str:
    quoted = ", ".join(f'"{" ".join(tokens)}".split()' for tokens in texts)
    return f"{function}({quoted}) is {found}, and should be {expected:.4f}"


def _rounded(values: object) -> list[float]:
    return np.round(np.asarray(values, dtype=float), 4).tolist()
