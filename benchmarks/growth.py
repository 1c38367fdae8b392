"""How time grows with the number of candidates, spans and questions, and with the length of the
passage.
"""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np

from benchmarks.generate import token_arrays, zipf_words
from benchmarks.timing import Table, interleaved
from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.distance import window_and_distance
from classic_rc.kernels.spans import score_spans


def run(quick: bool = False) -> list[Table]:
    """Measure large candidate sets, long passages, spans, and whole datasets of growing size."""
    most = 10**5 if quick else 10**6
    rounds = 2 if quick else 3
    return [
        _candidates(most, rounds),
        _passages(rounds, quick),
        _spans(rounds, quick),
        _questions(rounds, quick),
    ]


def one_question(n_candidates: int, n_tokens: int, seed: int = 0) -> TokenArrays:
    """Return one passage and one question with `n_candidates` random candidates of one to four
    words.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, n_candidates)
    question = zipf_words(rng, 9)
    return TokenArrays(
        zipf_words(rng, n_tokens),
        np.array([0, n_tokens]),
        question,
        np.array([0, len(question)]),
        rng.integers(0, 30_000, int(lengths.sum())).astype(np.int32),
        offsets_of(lengths),
        np.zeros(1, dtype=np.int64),
        np.zeros(n_candidates, dtype=np.int64),
        30_000,
    )


def _candidates(most: int, rounds: int) -> Table:
    rows = []
    n = 100
    while n <= most:
        arrays = one_question(n, 350)
        stop = np.arange(arrays.n_words) < 100
        seconds = interleaved({"": partial(window_and_distance, arrays, stop)}, rounds)[""]
        tracemalloc.start()
        window_and_distance(arrays, stop)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows.append([n, round(1e3 * seconds, 2), round(n / seconds), round(peak / 2**20, 1)])
        n *= 10
    return {
        "title": "SW+D of one question on a 350-token passage",
        "header": ["candidates", "ms", "candidates/s", "memory beyond the input, MB"],
        "rows": rows,
        "notes": [],
    }


def _passages(rounds: int, quick: bool) -> Table:
    rows = []
    for n_tokens in (50, 200, 1000) if quick else (50, 200, 1000, 5000, 10_000):
        arrays = one_question(10_000, n_tokens)
        stop = np.arange(arrays.n_words) < 100
        seconds = interleaved({"": partial(window_and_distance, arrays, stop)}, rounds)[""]
        rows.append(
            [n_tokens, round(1e3 * seconds, 2), round(1e9 * seconds / 10_000 / n_tokens, 2)]
        )
    return {
        "title": "SW+D of 10,000 candidates as the passage grows",
        "header": ["passage tokens", "ms", "ns a candidate and token"],
        "rows": rows,
        "notes": [],
    }


def _spans(rounds: int, quick: bool) -> Table:
    rng = np.random.default_rng(0)
    rows = []
    for n_tokens in (50, 350) if quick else (50, 350, 1000, 10_000):
        for longest in (10, 30):
            passage, question = zipf_words(rng, n_tokens), zipf_words(rng, 9)
            seconds = interleaved(
                {"": partial(score_spans, passage, question, longest)}, max(rounds, 3)
            )[""]
            n = int((score_spans(passage, question, longest) >= 0).sum())
            rows.append([n_tokens, longest, n, round(1e3 * seconds, 2), round(n / seconds)])
    return {
        "title": "Sliding window of every span of a passage",
        "header": ["passage tokens", "longest span", "spans", "ms", "spans/s"],
        "rows": rows,
        "notes": [],
    }


def _questions(rounds: int, quick: bool) -> Table:
    rows = []
    for n_passages in (100, 1000) if quick else (100, 1000, 10_000):
        arrays = token_arrays("RACE", n_passages)
        stop = np.arange(arrays.n_words) < 100
        seconds = interleaved({"": partial(window_and_distance, arrays, stop)}, rounds)[""]
        n = len(arrays.question_passage)
        rows.append([n, round(seconds, 4), round(n / seconds)])
    return {
        "title": "SW+D of RACE-sized questions as their number grows",
        "header": ["questions", "seconds", "questions/s"],
        "rows": rows,
        "notes": [],
    }
