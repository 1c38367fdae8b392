"""Lesson 5: phrases, in plain Python: where, how often and how long a passage has a candidate's
token sequence.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence


def phrase_starts(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> list[int]:
    """Return the positions in the passage at which the candidate's token sequence begins."""
    size = len(candidate)
    if not size:
        return []
    starts = range(len(passage) - size + 1)
    return [i for i in starts if list(passage[i : i + size]) == list(candidate)]


def phrase_count(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> int:
    """Return how often the candidate's token sequence occurs in the passage.

    Hermann et al. 2015, section 3.1: the maximum frequency baselines answer with the candidate
    mentioned most.

    Examples
    --------
    >>> phrase_count("a b a b a".split(), ["a", "b"])
    2
    """
    return len(phrase_starts(passage, candidate))


def longest_run(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> int:
    """Return the length of the longest run of the candidate's tokens that occurs verbatim in the
    passage.

    Examples
    --------
    >>> longest_run("the cat sat on the mat".split(), "he sat on a mat".split())
    2
    """
    bounds = itertools.combinations(range(len(candidate) + 1), 2)
    runs = [candidate[start:stop] for start, stop in bounds]
    return max((len(run) for run in runs if phrase_starts(passage, run)), default=0)
