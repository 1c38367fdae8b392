"""Features that read the gold of other questions: order, repeated options, mirrored items."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable

ORDER_NAMES = (
    "is at the place of the right option of the question before",
    "is one place after the right option of the question before",
    "is one place before the right option of the question before",
    "is at the place of the right option two questions before",
    "was right in another question",
    "was wrong in another question, and never right",
)


def order_features(table: OptionTable) -> Callable[[NDArray[np.bool_]], Floats]:
    """Return a function from the right options to the features of :data:`ORDER_NAMES`, of shape (n_options, 6)."""
    text = table.normalised[1]
    uses = np.bincount(text)
    position, question, sizes = table.position, table.question, table.sizes[table.question]

    def features(right: NDArray[np.bool_]) -> Floats:
        first = np.full(len(table), -1, dtype=np.int64)
        where = np.flatnonzero(right)[::-1]
        first[question[where]] = position[where]
        before, earlier = np.full(len(table), -9), np.full(len(table), -9)
        before[1:], earlier[2:] = first[:-1], first[:-2]
        here = before[question]
        others = np.bincount(text, right, minlength=len(uses))[text] - right
        columns = (
            here == position,
            (here >= 0) & ((here + 1) % sizes == position),
            (here >= 0) & ((here - 1) % sizes == position),
            earlier[question] == position,
            others > 0,
            (others <= 0) & (uses[text] > 1),
        )
        return np.stack(columns, axis=1).astype(np.float64)

    return features


def count_mirrored(table: OptionTable) -> int:
    """Return how many questions have the options of another question, and another one of them is right."""
    text = table.normalised[1]
    by_options: dict[tuple[int, ...], list[tuple[int, frozenset[int]]]] = {}
    for i, (start, stop) in enumerate(zip(table.offsets[:-1].tolist(), table.offsets[1:].tolist(), strict=True)):
        own = text[start:stop]
        gold = frozenset(own[table.right[start:stop]].tolist())
        by_options.setdefault(tuple(sorted(own.tolist())), []).append((i, gold))
    several = [own for own in by_options.values() if len(own) > 1]
    if len(by_options) < 3:
        return 0  # all questions have the same options
    return sum(any(gold != other for _, other in own) for own in several for _, gold in own)
