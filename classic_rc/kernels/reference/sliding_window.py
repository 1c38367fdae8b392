"""The scoring formulas in plain Python: to be read by people, and to check the fast kernels against.

Passages, questions and candidates are lists of tokens here, of any kind that can be hashed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Literal

from classic_rc.kernels.weights import inverse_count_weight


def sliding_window(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    window: int | Literal["set", "passage"] = "set",
    counts: Callable[[Hashable], int] | None = None,
) -> int:
    """The weight of the window that matches question and candidate best.

    Richardson et al. 2013, Algorithm 1: slide a window of |S| tokens over the passage, S being the set of
    the question's and the candidate's words, and add up the inverse counts of its tokens that are in S.

    Parameters
    ----------
    passage, question, candidate : sequence of tokens
    window : int, "set" or "passage"
        The window's length; ``"set"`` is |S|, ``"passage"`` the whole passage.
    counts : callable, optional
        How often a word occurs; by default in this passage.

    Returns
    -------
    int
        Fixed-point, of scale 2**26.

    Examples
    --------
    >>> sliding_window("the cat sat on the mat".split(), ["who", "sat"], ["cat"]) / 2**26
    1.3862943649291992
    """
    words = {*question, *candidate}
    size = len(words) if window == "set" else len(passage) if window == "passage" else window
    count_of = counts or Counter(passage).__getitem__
    best = 0
    for start in range(max(len(passage) - size, 0) + 1):
        inside = passage[start : start + size]
        best = max(best, sum(inverse_count_weight(count_of(token)) for token in inside if token in words))
    return best


def word_distance(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    stop_words: Collection[Hashable] = (),
    rule: Literal["mean", "min", "min+1", "first"] = "mean",
) -> float:
    """How far question words stand from the candidate's words, as a share of the passage.

    Richardson et al. 2013, Algorithm 2. The authors' released scores average over question words
    (``mean``); the paper prints a minimum (``min``). ``min+1`` and ``first`` are what two other
    implementations compute: see :func:`classic_rc.kernels.word_distance`.

    Returns
    -------
    float
        1 where there is no pair of words to measure.

    Examples
    --------
    >>> word_distance("the cat sat on the mat".split(), ["who", "sat"], ["the", "mat"], {"the"})
    0.6
    """
    question_words = {w for w in question if w in passage and w not in stop_words}
    candidate_words = {w for w in candidate if w in passage and w not in question and w not in stop_words}
    if not question_words or not candidate_words:
        return 1.0
    answer_places = [i for i, token in enumerate(passage) if token in candidate_words]
    if rule == "first":
        steps = _first_distance(passage, question_words, candidate_words)
        return steps / (len(passage) - 1)
    nearest = [
        min(abs(i - j) for i, token in enumerate(passage) if token == word for j in answer_places)
        for word in question_words
    ]
    if rule == "mean":
        return sum(nearest) / (len(question_words) * (len(passage) - 1))
    return (min(nearest) + (rule == "min+1")) / (len(passage) - 1)


def _first_distance(
    passage: Sequence[Hashable], question_words: Collection[Hashable], candidate_words: Collection[Hashable]
) -> int:
    last_question = last_answer = None
    for i, token in enumerate(passage):
        if token in question_words:
            last_question = i
        elif token in candidate_words:
            last_answer = i
        if last_question is not None and last_answer is not None:
            return abs(last_question - last_answer)
    raise AssertionError("both kinds of words are in the passage")


def phrase_count(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> int:
    """How often the candidate's tokens stand one after the other in the passage.

    Examples
    --------
    >>> phrase_count("a b a b a".split(), ["a", "b"])
    2
    """
    if not candidate:
        return 0
    size = len(candidate)
    return sum(list(passage[i : i + size]) == list(candidate) for i in range(len(passage) - size + 1))
