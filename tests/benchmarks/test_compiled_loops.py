"""The loops that the kernels are compared with have the kernels' scores, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.compiled_loops import windows_and_distances, windows_of_sizes
from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.distance import window_and_distance
from classic_rc.kernels.window import window_sweep

N_WORDS = 12


def draw_texts(rng: np.random.Generator, n: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Ragged texts of a small vocabulary, some of them empty."""
    lengths = rng.integers(0, longest + 1, n)
    return rng.integers(N_WORDS, size=lengths.sum()).astype(np.int32), offsets_of(lengths)


@pytest.mark.parametrize("seed", range(20))
def test_loops_equal_the_kernels(seed):
    rng = np.random.default_rng(seed)
    arrays = TokenArrays(
        *draw_texts(rng, 5, 25),
        *draw_texts(rng, 8, 4),
        *draw_texts(rng, 20, 3),
        np.sort(rng.integers(5, size=8)),  # some passages have no question
        np.sort(rng.integers(8, size=20)),  # some questions have no candidate
        N_WORDS,
    )
    stop_words = rng.random(N_WORDS) < 0.2
    windows, distances = windows_and_distances(arrays, stop_words)
    expected_windows, expected_distances, _ = window_and_distance(arrays, stop_words)
    assert windows.tolist() == expected_windows.tolist()
    assert distances.tolist() == expected_distances.tolist()
    sizes = [1, 2, 5, 30]
    assert windows_of_sizes(arrays, sizes).tolist() == window_sweep(arrays, sizes).tolist()
