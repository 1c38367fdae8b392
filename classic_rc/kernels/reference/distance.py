"""The word distance, in plain Python."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Literal


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
