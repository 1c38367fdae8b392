"""Phrases in plain Python: where, how often and how far a passage has a candidate's words in a row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def phrase_starts(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> list[int]:
    """Where the candidate's tokens stand in the passage, one after the other."""
    size = len(candidate)
    return [i for i in range(len(passage) - size + 1) if size and list(passage[i : i + size]) == list(candidate)]


def phrase_count(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> int:
    """How often the candidate's tokens stand one after the other in the passage.

    Hermann et al. 2015, section 3.1: the baselines of maximum frequency answer with what is mentioned most.

    Examples
    --------
    >>> phrase_count("a b a b a".split(), ["a", "b"])
    2
    """
    return len(phrase_starts(passage, candidate))


def longest_run(passage: Sequence[Hashable], candidate: Sequence[Hashable]) -> int:
    """The length of the longest run of the candidate's tokens that stands in the passage as it is.

    Examples
    --------
    >>> longest_run("the cat sat on the mat".split(), "he sat on a mat".split())
    2
    """
    runs = [candidate[i:j] for j in range(len(candidate) + 1) for i in range(j)]
    return max((len(run) for run in runs if phrase_starts(passage, run)), default=0)
