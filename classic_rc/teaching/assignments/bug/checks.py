"""The bug that costs 8 points: does the mended file do what the reference does?"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np

from classic_rc.kernels import SCALE, reference
from classic_rc.questions import Task
from classic_rc.solvers.specs import parse_solver
from classic_rc.teaching.assignment import CheckFailedError, Submission, check
from classic_rc.teaching.feedback import compare_function, question_lines, scores_of
from classic_rc.testing.synthetic import synthetic_dataset
from classic_rc.text.analyzers import stop_words

TITLE = "The bug that costs 8 points"
MAIN = TEMPLATE = "buggy.py"

_STOP_WORDS = stop_words("smart")
_WORDS = "the of cat dog sat ran mat hill who".split()
_Words = list[str]
_Texts = tuple[_Words, _Words, _Words]


@check(points=0)
def check_windows_are_as_they_were(submission: Submission) -> None:
    """The sliding window still equals the reference."""
    try:
        compare_function(submission, "sliding_window", _cases(submission.seed), _right_window)
    except CheckFailedError as error:
        details = f"likely cause: you changed sliding_window; it had no mistake\n{error.details}"
        raise CheckFailedError(error.problem, details) from None


@check(points=0)
def check_distances_of_words_that_are_there(submission: Submission) -> None:
    """The word distance equals the reference where question and candidate have words in the passage."""
    _compare_distances(submission, lambda question, option: question and option)


@check(points=3, needs=("windows_are_as_they_were", "distances_of_words_that_are_there"))
def check_options_without_words(submission: Submission) -> None:
    """The word distance equals the reference where the candidate has no word in the passage."""
    _compare_distances(submission, lambda question, option: question and not option)


@check(points=3, needs=("windows_are_as_they_were", "distances_of_words_that_are_there"))
def check_questions_without_words(submission: Submission) -> None:
    """The word distance equals the reference where the question has no word in the passage."""
    _compare_distances(submission, lambda question, option: not question)


@check(points=4, needs=("options_without_words", "questions_without_words"))
def check_scores_of_questions(submission: Submission) -> None:
    """The scores of fresh questions are those of sw+d."""
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=40, seed=submission.seed)
    expected = parse_solver("sw+d").score_candidates(dataset)
    for question, found, own in zip(dataset, scores_of(submission, dataset), expected, strict=True):
        if not np.allclose(found, own, atol=1e-5):
            problem = f"the scores of a question are {_rounded(found)} and should be {_rounded(own)}"
            raise CheckFailedError(problem, "\n".join(question_lines(question)))


def _compare_distances(submission: Submission, chosen: Callable[[bool, bool], bool]) -> None:
    """Compare the cases that are chosen by whether question and candidate have words in the passage."""

    def where(*texts: _Words) -> bool:
        return len(texts[0]) > 1 and chosen(*_have_words(*texts))

    right = partial(reference.word_distance, stop_words=_STOP_WORDS)
    compare_function(submission, "word_distance", _cases(submission.seed), right, where=where, mistakes=_MISTAKES)


def _right_window(passage: _Words, question: _Words, candidate: _Words) -> float:
    if not passage:
        raise ValueError("a passage has words")
    return reference.sliding_window(passage, question, candidate) / SCALE


def _cases(seed: int) -> list[_Texts]:
    """Return passages of two words or more, questions and candidates: a few of everything that words can do."""
    rng = random.Random(f"bug {seed}")
    sizes = [(rng.randint(2, 12), rng.randint(0, 4), rng.randint(0, 3)) for _ in range(150)]
    return [(rng.choices(_WORDS, k=a), rng.choices(_WORDS, k=b), rng.choices(_WORDS, k=c)) for a, b, c in sizes]


def _have_words(passage: _Words, question: _Words, candidate: _Words) -> tuple[bool, bool]:
    there = set(passage) - _STOP_WORDS
    return bool(there & set(question)), bool(there & set(candidate) - set(question))


def _distance(passage: _Words, question: _Words, candidate: _Words, *, nothing: float) -> float:
    """Return the word distance, or another value where there is nothing to measure."""
    if all(_have_words(passage, question, candidate)):
        return reference.word_distance(passage, question, candidate, stop_words=_STOP_WORDS)
    return nothing


_MISTAKES: dict[str, Callable[..., float]] = {
    "0 where there is nothing to measure: an option that the text never mentions is nearest": partial(
        _distance, nothing=0.0
    ),
    "0 where the question has no word in the passage: all that the text mentions is nearest": lambda *texts: (
        _distance(*texts, nothing=float(not _have_words(*texts)[1]))
    ),
    "a word that is not there is |P| steps away; a passage has |P| - 1 steps": lambda passage, *others: _distance(
        passage, *others, nothing=len(passage) / (len(passage) - 1)
    ),
    "1 / 2 where there is nothing to measure; it must be 1, the farthest": partial(_distance, nothing=0.5),
    "infinity where there is nothing to measure; it must be 1, the farthest": partial(_distance, nothing=inf),
}


def _rounded(values: object) -> list[float]:
    return np.round(np.asarray(values, dtype=float), 4).tolist()
