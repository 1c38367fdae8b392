"""Speed of the kernels compared with a compiled loop, with NumPy called once per question, and with
the plain-Python reference.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.compiled_loops import windows_and_distances, windows_of_sizes
from benchmarks.generate import SHAPES, token_arrays
from benchmarks.timing import Table, ratios, seconds_of_rounds, with_range
from classic_rc.kernels import reference
from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.distance import window_and_distance
from classic_rc.kernels.weights import inverse_count_weights
from classic_rc.kernels.window import sliding_window, window_sweep

SAMPLE_PASSAGES = 6
"""The number of passages for the slow functions; their time is scaled up to all passages."""


SIZES = range(2, 31)
"""The windows of the second table, in tokens."""

HAS_NUMBA = find_spec("numba") is not None

_PEERS = {
    "compiled": "times a compiled loop",
    "numpy": "times NumPy a question",
    "reference": "times plain Python",
}


_Functions = dict[str, Callable[[], Any]]


class Measured(NamedTuple):
    """The kernel and its peers on one kind of data."""

    shape: str
    n_candidates: int
    seconds: float  # of the kernel
    ratios: dict[str, list[float]]  # of each peer's time to the kernel's, by round


def run(quick: bool = False) -> list[Table]:
    """Measure SW+D with four options, and all windows of 2..30 tokens."""
    n_passages = 200 if quick else 1000
    combined, sweeps = [], []
    for shape in SHAPES:
        arrays, sample = token_arrays(shape, n_passages), token_arrays(shape, SAMPLE_PASSAGES)
        stop = np.arange(arrays.n_words) < 100  # as in real text, the most frequent words
        _check(sample, stop)
        if HAS_NUMBA:
            _check_loops(arrays, stop)
        whole: _Functions = {
            "kernel": partial(window_and_distance, arrays, stop),
            "compiled": partial(windows_and_distances, arrays, stop),
        }
        sampled: _Functions = {
            "numpy": partial(numpy_a_question, sample),
            "reference": partial(plain, sample, stop),
        }
        combined.append(_measure(shape, arrays, whole, sampled, 3 if quick else 7))
        whole = {
            "kernel": partial(window_sweep, arrays, SIZES),
            "compiled": partial(windows_of_sizes, arrays, SIZES),
        }
        sampled = {
            "numpy": partial(numpy_sweep, sample),
            "reference": partial(plain_sweep, sample),
        }
        sweeps.append(_measure(shape, arrays, whole, sampled, 2 if quick else 5))
    return [
        _table("SW+D, four options a question", combined),
        _table("Sliding window, all sizes 2..30", sweeps),
    ]


def _measure(
    shape: str,
    arrays: TokenArrays,
    whole: _Functions,  # functions of all passages
    sampled: _Functions,  # functions of some
    rounds: int,
) -> Measured:
    functions = {**whole, **sampled}
    if not HAS_NUMBA:
        del functions["compiled"]
    seconds = seconds_of_rounds(functions, rounds, time.process_time)
    scale = (len(arrays.passage_offsets) - 1) / SAMPLE_PASSAGES
    for name in sampled:
        seconds[name] = [scale * value for value in seconds[name]]
    kernel = seconds.pop("kernel")
    peers = {name: ratios(times, kernel) for name, times in seconds.items()}
    return Measured(shape, len(arrays.candidate_question), statistics.median(kernel), peers)


def _table(title: str, measured: Sequence[Measured]) -> Table:
    rows = [
        [
            *(m.shape, m.n_candidates, round(m.n_candidates / m.seconds)),
            *(with_range(m.ratios[name]) if name in m.ratios else None for name in _PEERS),
        ]
        for m in measured
    ]
    medians = [statistics.median(values) for m in measured for values in m.ratios.values()]
    return {
        "title": title,
        "header": ["data", "candidates", "candidates/s", *_PEERS.values()],
        "rows": rows,
        "notes": [
            "Times: how many times faster the kernel is, in CPU seconds of one core, with the "
            "range of all rounds. The compiled loop is the limit that means something: the same "
            "formula over the same arrays, candidate by candidate and window by window, compiled "
            "without fast math, with the same scores to the last bit. NumPy a question has no "
            f"distance; it and plain Python are timed on {SAMPLE_PASSAGES} passages and scaled.",
            f"numba {version('numba')}."
            if HAS_NUMBA
            else "Without the compiled loop: the package numba is not installed.",
        ],
        "lost": min(medians) < 1,
    }


def _texts(arrays: TokenArrays) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Yield (passage, question, candidate) for every candidate, as lists."""

    def lists(tokens: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
        return [tokens[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]

    passages = lists(arrays.passage_tokens, arrays.passage_offsets)
    questions = lists(arrays.question_tokens, arrays.question_offsets)
    candidates = lists(arrays.candidate_tokens, arrays.candidate_offsets)
    for candidate, q in zip(candidates, arrays.candidate_question.tolist(), strict=True):
        yield passages[arrays.question_passage[q]], questions[q], candidate


def plain(arrays: TokenArrays, stop: np.ndarray) -> list[tuple[int, float]]:
    """Compute window and distance in plain Python."""
    listed = set(np.flatnonzero(stop).tolist())
    return [
        (reference.sliding_window(p, q, c), reference.word_distance(p, q, c, listed))
        for p, q, c in _texts(arrays)
    ]


def plain_sweep(arrays: TokenArrays) -> list[list[int]]:
    """Compute all windows in plain Python."""
    return [[reference.sliding_window(*texts, size) for size in SIZES] for texts in _texts(arrays)]


def numpy_a_question(arrays: TokenArrays, window: int | None = None) -> list[int]:
    """Compute the window for one candidate at a time, as a user would write it in NumPy."""
    scores = []
    for q, question in enumerate(arrays.question_passage.tolist()):
        passage = arrays.passage_tokens[
            arrays.passage_offsets[question] : arrays.passage_offsets[question + 1]
        ]
        asked = arrays.question_tokens[arrays.question_offsets[q] : arrays.question_offsets[q + 1]]
        _, word_of, counts = np.unique(passage, return_inverse=True, return_counts=True)
        weights = inverse_count_weights(counts)[word_of].astype(np.int64)
        for c in range(*np.searchsorted(arrays.candidate_question, (q, q + 1)).tolist()):
            own = arrays.candidate_tokens[
                arrays.candidate_offsets[c] : arrays.candidate_offsets[c + 1]
            ]
            words = np.unique(np.concatenate((asked, own)))
            size = min(window or len(words), len(passage))
            sums = np.concatenate(([0], np.cumsum(np.where(np.isin(passage, words), weights, 0))))
            scores.append(int((sums[size:] - sums[:-size]).max()))
    return scores


def numpy_sweep(arrays: TokenArrays) -> list[list[int]]:
    """All windows in NumPy for a single candidate."""
    return [numpy_a_question(arrays, size) for size in SIZES]


def _check(arrays: TokenArrays, stop: np.ndarray) -> None:
    """Check that the timed functions agree; the ratios mean nothing otherwise."""
    windows, distances, _ = window_and_distance(arrays, stop)
    assert list(zip(windows.tolist(), distances.tolist(), strict=True)) == plain(arrays, stop)
    assert sliding_window(arrays).tolist() == numpy_a_question(arrays)
    assert window_sweep(arrays, SIZES).tolist() == plain_sweep(arrays)


def _check_loops(arrays: TokenArrays, stop: np.ndarray) -> None:
    """Check that the compiled loops agree with the kernels."""
    windows, distances, _ = window_and_distance(arrays, stop)
    loop_windows, loop_distances = windows_and_distances(arrays, stop)
    assert loop_windows.tolist() == windows.tolist()
    assert loop_distances.tolist() == distances.tolist()
    assert windows_of_sizes(arrays, SIZES).tolist() == window_sweep(arrays, SIZES).tolist()
