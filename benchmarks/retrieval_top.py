"""Queries per CPU second for the best sentences with any term of the query, the search that
everybody knows.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.retrieval import Workload
from benchmarks.retrieval_peers import BM25SNumba, K, SparsePeer, Tantivy
from benchmarks.timing import Table, interleaved

SIZES = (10_000, 100_000, 1_000_000, 5_000_000)
"""Numbers of sentences."""

_N_QUERIES, _LARGE, _N_QUERIES_OF_LARGE = 1000, 2_000_000, 200

_PEERS = {peer.name: peer for peer in (SparsePeer, Tantivy, BM25SNumba)}

Column = dict[str, float]
"""Queries a CPU second by engine."""


def run(quick: bool = False) -> list[Table]:
    """Measure the throughput of the engines that are installed, side by side."""
    sizes = SIZES[:1] if quick else SIZES
    return [make_table(sizes, [measure(size, 3 if quick else 7) for size in sizes])]


def measure(size: int, rounds: int) -> Column:
    """Return the queries a CPU second of each engine over this many sentences."""
    n_queries = _N_QUERIES_OF_LARGE if size > _LARGE else _N_QUERIES
    with tempfile.TemporaryDirectory() as folder:
        batch = (workload := Workload.make(size, n_queries, Path(folder))).batch
        while batch.n_queries > n_queries:
            batch = batch.first(len(batch.questions) - 1)
        engines = {
            name: workload.build(peer) for name, peer in _PEERS.items() if not peer.missing()
        }
        calls = {name: partial(engine.top, batch) for name, engine in engines.items()}
        seconds = interleaved(calls, rounds, time.process_time)
    return {name: batch.n_queries / seconds[name] for name in engines}


def make_table(sizes: tuple[int, ...], columns: list[Column]) -> Table:
    """Return the table of some sizes."""
    ours = SparsePeer.name
    rows = [
        [name, *(f"{column[name]:,.0f} ({column[ours] / column[name]:.2f})" for column in columns)]
        for name in columns[0]
    ]
    return {
        "title": f"The {K} best sentences with a term of either, queries a CPU second",
        "header": ["engine", *(f"{size:,} sentences" for size in sizes)],
        "rows": rows,
        "notes": [
            "In parentheses: how many times faster sparse is. The queries are a question and an "
            f"option: {_N_QUERIES:,}, or {_N_QUERIES_OF_LARGE} over more than {_LARGE:,} "
            "sentences. sparse is given text, and analyzes it while it is timed; the others are "
            "given its index terms. CPU seconds of all threads.",
            ", ".join(peer.release() for peer in _PEERS.values() if not peer.missing()) + ".",
        ],
        "lost": any(speed > column[ours] for column in columns for speed in column.values()),
    }
