"""What this machine can do at most: bandwidth, additions, gathers, sorts and NumPy calls, by
size of the arrays.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np

SIZES = (2**16, 2**18, 2**20, 2**22, 2**25, 2**28)
"""Bytes touched by one pass, from a part of the first-level cache to more than all caches."""

_LARGEST_SORT = 2**22
_SECONDS = 0.02  # of each round; small arrays are passed over many times

ADDED = (np.int32, np.float64)


class Limit(NamedTuple):
    """What an ideal single pass must do: read inputs once, write outputs once, and the
    algorithm's operations.
    """

    bytes: float = 0
    adds: float = 0  # additions, subtractions and comparisons of adjacent elements
    gathers: float = 0  # elements read or written at a place that depends on data, in cache
    far_gathers: float = 0  # the same in tables larger than the cache
    comparisons: float = 0  # of sorts

    def __add__(self, other: object) -> Limit:
        """Return the sum of two."""
        if not isinstance(other, Limit):
            return NotImplemented
        return Limit(*(a + b for a, b in zip(tuple(self), tuple(other), strict=True)))


class Machine(NamedTuple):
    """Best measured rates, per second, for each of :data:`SIZES`."""

    # bytes, read and written ones together: the better of a copy and a triad
    bandwidth: tuple[float, ...]
    adds: dict[int, tuple[float, ...]]  # additions, by size of the element in bytes
    gathers: tuple[float, ...]  # elements of `np.take`, from a table of that size at random
    sorts: tuple[float, ...]  # comparisons, n log2 n for n elements in random order
    call: float  # seconds of a call of NumPy on arrays of one element

    @classmethod
    def measure(cls, rounds: int) -> Self:
        """Measure everything, taking the best of some rounds."""
        rng = np.random.default_rng(0)
        zero = np.zeros(1)
        return cls(
            tuple(
                max(_rate(_copy(size), size, rounds), _rate(_triad(size), 5 * size / 3, rounds))
                for size in SIZES
            ),
            {
                np.dtype(kind).itemsize: tuple(
                    _rate(_add(size, kind), size / 3 / np.dtype(kind).itemsize, rounds)
                    for size in SIZES
                )
                for kind in ADDED
            },
            tuple(_rate(_gather(size, rng), 2**15, rounds) for size in SIZES),
            tuple(
                _rate(_sort(size, rng), n_comparisons(size // 8), rounds)
                for size in SIZES
                if size <= _LARGEST_SORT
            ),
            1 / _rate(lambda: np.add(zero, zero, out=zero), 1, rounds),
        )

    def stream(self, size: float, n_operations: float, itemsize: int = 8) -> float:
        """Return the seconds of a pass over arrays of `size` bytes with additions of elements of
        `itemsize`.
        """
        # Additions in cache: what their operands cost is counted as bytes. Vectors hold four times
        # as many bytes.
        rate = max(self.adds[8]) if itemsize > 4 else max(self.adds[4]) * 4 / itemsize
        return max(size / _at(self.bandwidth, size), n_operations / rate)

    def gather(self, n_elements: float, table_size: float) -> float:
        """Return the seconds of reading or writing elements of a table at random."""
        return n_elements / _at(self.gathers, table_size)

    def sort(self, comparisons: float, size: float) -> float:
        """Return the seconds of the comparisons of a sort."""
        return comparisons / _at(self.sorts, size)

    def least_seconds(self, limit: Limit) -> float:
        """Return the roof of an ideal pass, whose inputs come from memory; what it adds up is in
        the cache.
        """
        sides = (
            limit.bytes / self.bandwidth[-1],
            limit.adds / max(self.adds[4])
            + limit.gathers / max(self.gathers)
            + limit.far_gathers / self.gathers[-1]
            + limit.comparisons / max(self.sorts),
        )
        return max(sides)


def _at(rates: tuple[float, ...], size: float) -> float:
    """Return the rate at a size between the measured ones."""
    return float(np.interp(math.log2(max(size, 1)), np.log2(SIZES[: len(rates)]), rates))


def n_comparisons(n_elements: float) -> float:
    """Return ``n log2 n``."""
    return n_elements * math.log2(max(n_elements, 2))


def _rate(action: Callable[[], object], amount: float, rounds: int) -> float:
    """Return the largest amount per CPU second, of some rounds of calls."""
    action()
    start = time.process_time()
    action()
    n_calls = max(int(_SECONDS / max(time.process_time() - start, 1e-7)), 1)
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(n_calls):
            action()
        seconds.append(time.process_time() - start)
    return amount * n_calls / min(seconds)


def _copy(size: int) -> Callable[[], object]:
    source, target = np.ones(size // 16), np.ones(size // 16)
    return lambda: np.copyto(target, source)


def _triad(size: int) -> Callable[[], object]:
    """Compute ``a = b + 3 c`` in two passes, with five operands in all."""
    a, b, c = np.ones((3, size // 24))

    def run() -> None:
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)

    return run


def _add(size: int, kind: type[np.generic]) -> Callable[[], object]:
    a, b, c = np.ones((3, size // 3 // np.dtype(kind).itemsize), dtype=kind)
    return lambda: np.add(a, b, out=c)


def _gather(size: int, rng: np.random.Generator) -> Callable[[], object]:
    table = np.ones(size // 8)
    where = rng.integers(0, len(table), 2**15)
    out = np.empty(len(where))
    return lambda: np.take(table, where, out=out, mode="clip")  # other modes copy `out`


def _sort(size: int, rng: np.random.Generator) -> Callable[[], object]:
    numbers = rng.integers(0, 2**62, size // 8)
    return lambda: np.sort(numbers)
