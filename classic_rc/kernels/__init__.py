"""Scoring functions on arrays: NumPy and SciPy only, no classes of the model, no I/O, no globals.

:mod:`classic_rc.kernels.reference` holds the same functions in plain Python.
"""

from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.cloze import cloze_distance, cloze_window, phrase_counts
from classic_rc.kernels.distance import window_and_distance, word_distance
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.kernels.spans import score_spans
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.kernels.window import sliding_window, window_sweep

__all__ = [
    "SCALE",
    "TokenArrays",
    "cloze_distance",
    "cloze_window",
    "inverse_count_weights",
    "phrase_counts",
    "score_spans",
    "sliding_window",
    "text_keys",
    "uniform_draws",
    "window_and_distance",
    "window_sweep",
    "word_distance",
]
