"""Lesson 11: the components of the lexical matcher of Smith et al. 2015, in plain Python.

Passages, questions and candidates are lists of tokens. Weights are fixed-point integers, one per
passage token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from classic_rc.kernels.weights import inverse_count_weight


def smoothed_weights(passage: Sequence[Hashable]) -> list[int]:
    """Return ``ln(1 + 1 / (1 + C))`` for each token, where C is how often its word occurs in the
    passage.

    Examples
    --------
    >>> [weight / 2**26 for weight in smoothed_weights(["a", "b", "a"])]
    [0.28768207132816315, 0.40546511113643646, 0.28768207132816315]
    """
    counts = Counter(passage)
    return [inverse_count_weight(1 + counts[token]) for token in passage]


def window_sum(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    sizes: Sequence[int] = range(2, 30),
    last_window: bool = True,
) -> int:
    """Return the sum of the best windows of all sizes, with smoothed inverse counts as weights.

    A passage shorter than a window is one window. Without `last_window`, the window at the end of
    the passage is left out if there is another one, as in the released code.
    """
    matched = _matched_weights(passage, question, candidate, smoothed_weights(passage))
    total = 0
    for size in sizes:
        starts = range(max(len(matched) - size, 0) + 1)
        if not last_window and len(starts) > 1:
            starts = starts[:-1]
        total += max(sum(matched[start : start + size]) for start in starts)
    return total


def bag_of_words(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    weights: Sequence[int],
) -> int:
    """Sum the weights of all passage tokens that are words of the question or of the candidate.

    Examples
    --------
    >>> bag_of_words(
    ...     "the cat sat on the mat".split(), ["who", "sat"], ["the"], [1, 2, 4, 8, 16, 32]
    ... )
    21
    """
    return sum(_matched_weights(passage, question, candidate, weights))


def best_sentences(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    weights: Sequence[int],
    sentences: Sequence[int],
    n_best: int = 2,
) -> int:
    """Sum the weights of matched tokens in the `n_best` sentences with the largest sums.

    `sentences` is the index of each token's sentence.

    Examples
    --------
    >>> best_sentences("a b a b b".split(), ["b"], [], [1, 1, 1, 1, 1], [0, 0, 1, 2, 2])
    3
    """
    sums: Counter[int] = Counter()
    for weight, sentence in zip(
        _matched_weights(passage, question, candidate, weights), sentences, strict=True
    ):
        sums[sentence] += weight
    return sum(sorted(sums.values())[-n_best:])


def occurrence_distance(
    passage: Sequence[Hashable], question: Sequence[Hashable], candidate: Sequence[Hashable]
) -> float:
    """Return the mean distance from question words to the candidate's words, as a share of the
    passage's length.

    Each occurrence of a question word counts the steps to the nearest candidate word plus one.
    Unlike in lesson 2, a word may belong to both.

    Returns
    -------
    float
        1 if the question or the candidate has no word in the passage.

    Examples
    --------
    >>> occurrence_distance(
    ...     "cat sat mat cat".split(), ["cat"], ["mat"]
    ... )  # 2 + 1 steps and 1 + 1, of 3
    0.8333333333333334
    """
    question_places = [i for i, token in enumerate(passage) if token in question]
    answer_places = [i for i, token in enumerate(passage) if token in candidate]
    if not question_places or not answer_places:
        return 1.0
    nearest = [min(abs(i - j) for j in answer_places) for i in question_places]
    steps = sum(distance + 1 for distance in nearest)
    return steps / (len(nearest) * max(len(passage) - 1, 1))


def _matched_weights(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    weights: Sequence[int],
) -> list[int]:
    words = {*question, *candidate}
    return [weight if token in words else 0 for token, weight in zip(passage, weights, strict=True)]
