"""Speed of the kernels compared with the plain-Python reference and with NumPy called once per
question.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.generate import SHAPES, token_arrays
from benchmarks.timing import Table, interleaved
from classic_rc.kernels import reference
from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.distance import window_and_distance
from classic_rc.kernels.weights import inverse_count_weights
from classic_rc.kernels.window import sliding_window, window_sweep

SAMPLE_PASSAGES = 6
"""The number of passages for the slow functions; their time is scaled up to all passages."""


def run(quick: bool = False) -> list[Table]:
    """Measure SW+D with four options, and all windows of 2..30 tokens."""
    n_passages = 200 if quick else 1000
    rounds = 3 if quick else 7
    combined, sweeps = [], []
    for shape in SHAPES:
        arrays, sample = token_arrays(shape, n_passages), token_arrays(shape, SAMPLE_PASSAGES)
        stop = np.arange(arrays.n_words) < 100  # as in real text, the most frequent words
        scale = len(arrays.candidate_question) / len(sample.candidate_question)
        _check(sample, stop)
        seconds = interleaved(
            {
                "kernel": partial(window_and_distance, arrays, stop),
                "numpy": partial(numpy_a_question, sample),
                "reference": partial(plain, sample, stop),
            },
            rounds,
        )
        combined.append(_row(shape, arrays, seconds, scale))
        seconds = interleaved(
            {
                "kernel": partial(window_sweep, arrays),
                "numpy": partial(numpy_sweep, sample),
                "reference": partial(plain_sweep, sample),
            },
            2 if quick else 3,
        )
        sweeps.append(_row(shape, arrays, seconds, scale))
    header = ["data", "candidates", "candidates/s", "times NumPy a question", "times plain Python"]
    notes = [
        "NumPy a question scores the window alone (it has no distance); slow ones are timed on "
        f"{SAMPLE_PASSAGES} passages and scaled."
    ]
    return [
        {
            "title": "SW+D, four options a question",
            "header": header,
            "rows": combined,
            "notes": notes,
        },
        {"title": "Sliding window, all sizes 2..30", "header": header, "rows": sweeps, "notes": []},
    ]


def _row(shape: str, arrays: TokenArrays, seconds: dict[str, float], scale: float) -> list[object]:
    n, kernel = len(arrays.candidate_question), seconds["kernel"]
    return [
        shape,
        n,
        round(n / kernel),
        round(seconds["numpy"] * scale / kernel, 1),
        round(seconds["reference"] * scale / kernel, 1),
    ]


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
    return [
        [reference.sliding_window(*texts, size) for size in range(2, 31)]
        for texts in _texts(arrays)
    ]


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
    return [numpy_a_question(arrays, size) for size in range(2, 31)]


def _check(arrays: TokenArrays, stop: np.ndarray) -> None:
    """Check that the timed functions agree; the ratios mean nothing otherwise."""
    windows, distances, _ = window_and_distance(arrays, stop)
    assert list(zip(windows.tolist(), distances.tolist(), strict=True)) == plain(arrays, stop)
    assert sliding_window(arrays).tolist() == numpy_a_question(arrays)
    assert window_sweep(arrays).tolist() == plain_sweep(arrays)
