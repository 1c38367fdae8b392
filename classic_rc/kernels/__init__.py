"""Scoring functions on arrays. They use NumPy and SciPy only: no classes of the model, no I/O, no
globals.

:mod:`classic_rc.kernels.reference` has the same functions in plain Python. Functions that serve
only one family of solvers, the search engine or the encoder of texts are not listed here: import
them from their modules.
"""

from classic_rc.kernels.arrays import TokenArrays, longest_runs
from classic_rc.kernels.cloze import cloze_distance, cloze_window, phrase_counts
from classic_rc.kernels.distance import window_and_distance, word_distance
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.kernels.spans import score_spans, span_overlap
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.kernels.window import sliding_window, window_sweep

__all__ = [
    "SCALE",
    "TokenArrays",
    "cloze_distance",
    "cloze_window",
    "inverse_count_weights",
    "longest_runs",
    "phrase_counts",
    "score_spans",
    "sliding_window",
    "span_overlap",
    "text_keys",
    "uniform_draws",
    "window_and_distance",
    "window_sweep",
    "word_distance",
]
