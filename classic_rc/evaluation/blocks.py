"""Streaming over datasets: choices all at once, spans some passages at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import Dataset, LazyCandidates, Question

_BLOCK_CANDIDATES = 2**17


def blocks(dataset: Dataset) -> Iterator[tuple[NDArray[np.int64], Sequence[Question]]]:
    """The dataset in parts that can be scored and decided one after the other.

    Choices and mentions are the dataset's own and already in memory: one part. Generated spans are made a
    passage at a time, shared by the passage's questions, and dropped after their part.

    Yields
    ------
    index : ndarray of int64
        Where the part's questions stand in the dataset.
    questions : sequence of Question
        With their candidates in memory.
    """
    if dataset.span_generator is None:
        yield np.arange(len(dataset)), dataset
        return
    of_passage: dict[int, list[int]] = {}
    for i, question in enumerate(dataset):
        of_passage.setdefault(id(question.passage), []).append(i)
    index: list[int] = []
    part: list[Question] = []
    n_candidates = 0
    for members in of_passage.values():
        lazy = dataset[members[0]].candidates
        candidates = lazy.generate() if isinstance(lazy, LazyCandidates) else lazy
        index += members
        part += [replace(dataset[i], candidates=candidates) for i in members]
        n_candidates += len(candidates) * len(members)
        if n_candidates >= _BLOCK_CANDIDATES:
            yield np.array(index), part
            index, part, n_candidates = [], [], 0
    if part:
        yield np.array(index), part
