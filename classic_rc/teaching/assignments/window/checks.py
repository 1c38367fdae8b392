"""Sliding window and word distance, compared with the reference on random passages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from math import log

from classic_rc.kernels import SCALE, reference
from classic_rc.teaching.assignment import Submission, check
from classic_rc.teaching.feedback import compare_function

TITLE = "Sliding window and word distance"
MAIN = TEMPLATE = "my_window.py"

_WORDS = "the of cat dog sat ran mat hill who".split()
_STOP_WORDS = ["the", "of"]
_Words = list[str]
_Texts = tuple[_Words, _Words, _Words]


@check(points=3)
def check_windows(submission: Submission) -> None:
    """sliding_window is right where the passage is longer than the window."""
    _compare_windows(submission, where=_is_plain)


@check(points=2, needs="windows")
def check_all_windows(submission: Submission) -> None:
    """sliding_window is right for short and empty passages and for repeated words."""
    _compare_windows(submission)


@check(points=3)
def check_distances(submission: Submission) -> None:
    """word_distance is right where there are words to measure between."""
    _compare_distances(submission, where=_has_pair)


@check(points=2, needs="distances")
def check_all_distances(submission: Submission) -> None:
    """word_distance is right everywhere."""
    _compare_distances(submission)


def _compare_windows(submission: Submission, where: Callable[..., bool] | None = None) -> None:
    cases, mistakes = _cases(submission.seed), _WINDOW_MISTAKES
    compare_function(submission, "sliding_window", cases, _right_window, where=where, mistakes=mistakes)


def _compare_distances(submission: Submission, where: Callable[..., bool] | None = None) -> None:
    cases, mistakes = [(*texts, _STOP_WORDS) for texts in _cases(submission.seed)], _DISTANCE_MISTAKES
    compare_function(submission, "word_distance", cases, reference.word_distance, where=where, mistakes=mistakes)


def _cases(seed: int) -> list[_Texts]:
    """Return passages with questions and candidates: plain ones first, then a few of everything."""
    rng = random.Random(f"window {seed}")

    def draw(most: int, least: int = 0) -> _Words:
        return rng.choices(_WORDS, k=rng.randint(least, most))

    plain = [(draw(14, 7), draw(3, 1), draw(2, 1)) for _ in range(60)]
    edges: list[_Texts] = [([], [], []), ([], ["who"], ["cat"]), (["cat"], ["who"], ["cat"]), (["cat"], [], [])]
    return plain + [(draw(6), draw(4), draw(3)) for _ in range(60)] + edges


def _is_plain(passage: _Words, question: _Words, candidate: _Words) -> bool:
    words = [*question, *candidate]
    return 0 < len(words) == len(set(words)) < len(passage)


def _has_pair(passage: _Words, question: _Words, candidate: _Words, stop_words: _Words) -> bool:
    there = set(passage) - {*_STOP_WORDS}
    return (
        stop_words == _STOP_WORDS and bool(there & set(question)) and bool(there & set(candidate) - set(question))
    )


def _right_window(passage: _Words, question: _Words, candidate: _Words) -> float:
    return reference.sliding_window(passage, question, candidate) / SCALE


def _window(
    passage: _Words,
    question: _Words,
    candidate: _Words,
    *,
    extra: int = 0,
    is_bag: bool = False,
    weigh: Callable[[int], float] = lambda count: log(1 + 1 / count),
    counts_inside: bool = False,
    counts_once: bool = False,
    last: int = 0,
    short: str = "one window",
) -> float:
    """Return the window's weight; each argument is a mistake that a student may make."""
    words = {*question, *candidate}
    size = (len(question) + len(candidate) if is_bag else len(words)) + extra
    starts = range(max(len(passage) - size - last, 0) + 1)
    if len(passage) < size and short != "one window":
        starts = range(0)
    totals = []
    for start in starts:
        inside = passage[start : start + max(size, 0)]
        counts = Counter(inside if counts_inside else passage)
        own = set(inside) if counts_once else inside
        totals.append(sum(weigh(counts[word]) for word in own if word in words))
    return max(totals) if short == "error" else max(totals, default=0.0)


_WINDOW_MISTAKES = {
    "your window is one token short": partial(_window, extra=-1),
    "your window is one token long": partial(_window, extra=1),
    "your window has as many tokens as question and candidate together; count each word once": partial(
        _window, is_bag=True
    ),
    "log C instead of log(1 + 1/C)": partial(_window, weigh=log),
    "1/C instead of log(1 + 1/C)": partial(_window, weigh=lambda count: 1 / count),
    "log(1/C) instead of log(1 + 1/C)": partial(_window, weigh=lambda count: log(1 / count)),
    "every word weighs 1; rare words must weigh more": partial(_window, weigh=lambda count: 1.0),
    "C counts the words of the window; it must count those of the passage": partial(_window, counts_inside=True),
    "a word that is twice in the window counts once; it must count twice": partial(_window, counts_once=True),
    "the last window is left out": partial(_window, last=1),
    "a passage shorter than the window gives 0; it is one window": partial(_window, short="zero"),
    "a passage shorter than the window has no window; it must have one": partial(_window, short="error"),
}


def _distance(
    passage: _Words,
    question: _Words,
    candidate: _Words,
    stop_words: _Words,
    *,
    steps_of_passage: int = -1,
    mean: Callable[[list[int]], float] = lambda steps: sum(steps) / len(steps),
    nothing: float = 1.0,
    excludes: bool = True,
    ignored: bool = True,
    first_only: bool = False,
    turned: bool = False,
) -> float:
    """Return the word distance; each argument is a mistake that a student may make."""
    stopped = set(stop_words) if ignored else set()
    questions = {word for word in question if word in passage} - stopped
    answers = {word for word in candidate if word in passage} - stopped - (set(question) if excludes else set())
    if not questions or not answers:
        return nothing
    if turned:
        questions, answers = answers, questions
    places = [i for i, token in enumerate(passage) if token in answers]
    starts = {word: [i for i, token in enumerate(passage) if token == word] for word in questions}
    if first_only:
        starts = {word: own[:1] for word, own in starts.items()}
    steps = [min(abs(i - j) for i in own for j in places) for own in starts.values()]
    return mean(steps) / (len(passage) + steps_of_passage)


_DISTANCE_MISTAKES = {
    "you divide by |P|; a passage has |P| - 1 steps": partial(_distance, steps_of_passage=0),
    "the least of the distances instead of their mean": partial(_distance, mean=min),
    "the sum of the distances instead of their mean": partial(_distance, mean=sum),
    "0 where there is nothing to measure; it must be 1, the farthest": partial(_distance, nothing=0.0),
    "words of the question must not count as words of the candidate": partial(_distance, excludes=False),
    "stop words are not ignored": partial(_distance, ignored=False),
    "you measure from the first place of a word only; take the nearest": partial(_distance, first_only=True),
    "the mean is over the candidate's words; it must be over the question's": partial(_distance, turned=True),
}
