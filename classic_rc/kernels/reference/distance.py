"""Lesson 2: the word distance, in plain Python.

The idea: the words of the right answer are close to the words of the question. The distance
corrects the sliding window, which sees only one window at a time.
"""

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
    """Return the distance from question words to the candidate's words, as a share of the passage's
    length.

    Richardson et al. 2013, Algorithm 2. Take the question's words in the passage, and the
    candidate's words in the passage that are not in the question. Measure from each question word
    to the nearest occurrence of any of the candidate's words. The authors' released scores average
    over question words (``mean``); the paper prints a minimum (``min``). ``min+1`` and ``first``
    are the rules of two other implementations: see :func:`classic_rc.kernels.word_distance`.

    Parameters
    ----------
    passage, question, candidate : sequence of tokens
    stop_words : collection of tokens
        Words that are ignored in question and candidate. They keep their positions in the passage.
    rule : {"mean", "min", "min+1", "first"}

    Returns
    -------
    float
        1 if there is no pair of words to measure.

    Examples
    --------
    >>> word_distance("the cat sat on the mat".split(), ["who", "sat"], ["the", "mat"], {"the"})
    0.6
    """
    question_words = {w for w in question if w in passage and w not in stop_words}
    candidate_words = {
        w for w in candidate if w in passage and w not in question and w not in stop_words
    }
    if not question_words or not candidate_words:
        return 1.0
    answer_places = [i for i, token in enumerate(passage) if token in candidate_words]
    if rule == "first":
        steps = _first_distance(passage, question_words, candidate_words)
        return steps / (len(passage) - 1)
    # For each question word: the fewest steps from any of its occurrences to any word of the
    # candidate.
    nearest = []
    for word in question_words:
        places = [i for i, token in enumerate(passage) if token == word]
        nearest.append(min(abs(i - j) for i in places for j in answer_places))
    if rule == "mean":
        return sum(nearest) / (len(question_words) * (len(passage) - 1))
    return (min(nearest) + (rule == "min+1")) / (len(passage) - 1)


def _first_distance(
    passage: Sequence[Hashable],
    question_words: Collection[Hashable],
    candidate_words: Collection[Hashable],
) -> int:
    """Return the distance between the last words of both kinds, as soon as both have occurred."""
    last_question = last_answer = None
    for i, token in enumerate(passage):
        if token in question_words:
            last_question = i
        elif token in candidate_words:
            last_answer = i
        if last_question is not None and last_answer is not None:
            return abs(last_question - last_answer)
    raise AssertionError("both kinds of words are in the passage")
