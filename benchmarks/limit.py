"""How far each kernel is from what this machine can do: bytes and operations per unit, and their
least time.

The least time is a roofline (Williams, Waterman and Patterson 2009): bytes at the measured
bandwidth or operations at the measured throughput, whichever takes longer. It has two forms. The
*ideal pass* reads inputs once, writes outputs once and does the operations that the algorithm
cannot avoid, with numbers of matches and postings from the actual arrays. *NumPy's passes* are the
calls that the kernel makes, counted while it runs (:mod:`benchmarks.limit_passes`).
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.limit_kernels import Kernel, kernels
from benchmarks.limit_machine import SIZES, Machine
from benchmarks.limit_passes import Passes, count_arrays, counting
from benchmarks.timing import Table

FAR = 5
"""More than this many times an ideal pass needs a reason."""

WHY = {
    "NumPy has no running sum that skips tokens without a match: every window adds whole passages, "
    "but an "
    "ideal pass visits only the matched tokens.": [
        "window",
        "windows of 2..30",
        "SW+D",
        "SW+D, one question",
        "spans: window",
    ],
    "An ideal pass finds a word at once. NumPy has no hash table: words are found by sorting and "
    "by binary search, "
    "which takes log2 n dependent reads.": [
        *("distance", "longest runs", "cloze: mentions", "cloze: distance", "cloze: window"),
        *("lexical: bag of words", "lexical: best sentences", "lexical: distance"),
        *("n-grams: counting", "n-grams: estimating", "n-grams: scoring"),
    ],
    "NumPy's indices take 8 bytes where an ideal pass has 4 or none, and each index, lookup and "
    "sum is a pass of "
    "its own.": [
        *("spans: overlap", "surface pairs", "random draws"),
        *(
            "BM25 with a constraint",
            "BM25 of all sentences, 10 best",
            "TF-IDF of all sentences, 10 best",
        ),
    ],
    "A call of NumPy costs as much as some thousand elements of work; with one long query at a "
    "time, or one "
    "passage, calls take an eighth of the time or more.": [
        *("SW+D, one question", "spans: window"),
        *("BM25 with a constraint", "BM25 of all sentences, 10 best"),
    ],
}
"""What keeps kernels from the ideal pass."""


def run(quick: bool = False) -> list[Table]:
    """Measure the machine, then every kernel."""
    rounds = 3 if quick else 7
    machine = Machine.measure(rounds)
    measured = {kernel.name: _measure(kernel, machine, rounds) for kernel in kernels(quick)}
    far = [name for name, own in measured.items() if own.times_ideal > FAR]
    return [
        _machine_table(machine),
        {
            "title": "Kernels and the machine's limit, a unit",
            "header": [
                *("kernel", "unit", "units", "ns"),
                *("ideal: bytes", "operations", "least ns", "times"),
                *("NumPy's passes: bytes", "operations", "least ns", "times"),
            ],
            "rows": [own.row for own in measured.values()],
            "notes": [
                "An operation is an addition or comparison, an element read or written at random, "
                "or a comparison of a sort.",
                *(
                    f"{why} That is why {', '.join(own)} take more than {FAR} times an ideal pass."
                    for why, names in WHY.items()
                    if (own := [name for name in names if name in far])
                ),
            ],
        },
        {
            "title": "Where the least time of NumPy's passes goes, %",
            "header": [
                "kernel",
                "calls",
                "calls' share of our time, %",
                "largest parts of the least time, %",
            ],
            "rows": [own.parts for own in measured.values()],
            "notes": ["calls: in all, each at the time of one on a single element."],
        },
    ]


class Measured(NamedTuple):
    """The rows of a kernel, and how many times an ideal pass it takes."""

    row: list[object]
    parts: list[object]
    times_ideal: float


def _measure(kernel: Kernel, machine: Machine, rounds: int) -> Measured:
    with counting(machine) as passes:
        counted = kernel.run(*count_arrays(kernel.arrays))
    _check_equal(counted, kernel.run(*kernel.arrays))
    seconds = min(_seconds(kernel) for _ in range(rounds))
    ideal = machine.least_seconds(kernel.limit)
    n = kernel.n_units
    limit = kernel.limit
    row: list[object] = [
        *(kernel.name, kernel.unit, n, _short(1e9 * seconds / n)),
        *(_short(limit.bytes / n), _short(sum(limit[1:]) / n)),
        *(_short(1e9 * ideal / n), round(seconds / ideal, 1)),
        *(_short(passes.bytes / n), _short(passes.operations / n)),
        *(_short(1e9 * passes.seconds / n), round(seconds / passes.seconds, 1)),
    ]
    calls = passes.calls * machine.call
    parts: list[object] = [
        kernel.name,
        passes.calls,
        round(100 * calls / seconds, 1),
        _largest(passes),
    ]
    return Measured(row, parts, seconds / ideal)


def _seconds(kernel: Kernel) -> float:
    start = time.process_time()
    kernel.run(*kernel.arrays)
    return time.process_time() - start


def _largest(passes: Passes) -> str:
    parts = sorted(passes.slowest.items(), key=lambda part: -part[1])[:4]
    return ", ".join(f"{name} {100 * seconds / passes.seconds:.0f}" for name, seconds in parts)


def _short(value: float) -> float | int:
    return round(value) if value >= 100 else round(value, 1 if value >= 10 else 2)


def _check_equal(counted: Any, result: Any) -> None:
    """Check that counting does not change the result."""
    pairs = (
        zip(counted, result, strict=True)
        if isinstance(result, tuple | list)
        else [(counted, result)]
    )
    for ours, expected in pairs:
        if isinstance(expected, tuple | list):
            _check_equal(ours, expected)
        else:
            assert np.array_equal(np.asarray(ours), expected)


def _machine_table(machine: Machine) -> Table:
    def giga(name: str, rates: tuple[float, ...]) -> list[object]:
        return [
            name,
            *(round(rate / 1e9, 2) for rate in rates),
            *[None] * (len(SIZES) - len(rates)),
        ]

    return {
        "title": "What this machine does at most, 10^9 a second of one core",
        "header": ["", *(_size(size) for size in SIZES)],
        "rows": [
            giga("bytes read and written", machine.bandwidth),
            giga("additions, int32", machine.adds[4]),
            giga("additions, float64", machine.adds[8]),
            giga("elements gathered at random", machine.gathers),
            giga("comparisons of a sort of int64", machine.sorts),
        ],
        "notes": [
            "The columns are the size of the arrays together, of the table for gathers. "
            f"A call of NumPy on arrays of one element takes {1e9 * machine.call:.0f} ns."
        ],
    }


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MB" if n_bytes >= 2**20 else f"{n_bytes >> 10} kB"
