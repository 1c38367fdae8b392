"""Lesson 18: n-grams and subsequences that a text shares with a passage, in plain Python."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from classic_rc.kernels.reference.evidence import Weight


def ngrams(tokens: Sequence[Hashable], n: int) -> list[tuple[Hashable, ...]]:
    """Return the n-grams of a text, repeated ones included."""
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def ngram_share(
    passage: Sequence[Hashable], text: Sequence[Hashable], n: int, weight: Weight
) -> tuple[float, int]:
    """Return the share of the weight of a text's n-grams that the passage has, and how many it has.

    An n-gram's weight is the sum of the weights of its words.

    Examples
    --------
    >>> ngram_share("the cat sat on the mat".split(), "the cat sat down".split(), 2, lambda word: 1)
    (0.6666666666666666, 2)
    """
    passage_ngrams = set(ngrams(passage, n))
    text_ngrams = ngrams(text, n)
    shared = [gram for gram in text_ngrams if gram in passage_ngrams]
    total = sum(sum(map(weight, gram)) for gram in text_ngrams)
    shared_weight = sum(sum(map(weight, gram)) for gram in shared)
    return (shared_weight / total if total else 0.0), len(shared)


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two texts, by the classical
    recurrence.

    Examples
    --------
    >>> common_subsequence("the cat sat on a mat".split(), "a cat on the mat".split())
    3
    """
    row = [0] * (len(second) + 1)
    for token in first:
        above = row
        row = [0]
        for j, second_token in enumerate(second):
            if token == second_token:
                row.append(above[j] + 1)
            else:
                row.append(max(row[j], above[j + 1]))
    return row[-1]
