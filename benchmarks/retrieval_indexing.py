"""Indexing of raw text: the time that each engine's own analysis takes is part of it."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.retrieval import write_lines
from benchmarks.retrieval_peers import (
    BM25S,
    FTS5,
    IndexFolder,
    LucenePeer,
    Peer,
    RankBM25,
    SparsePeer,
    Tantivy,
)
from benchmarks.retrieval_text import material
from benchmarks.timing import Table, ratios, with_range
from classic_rc.text.analyzers import get_analyzer

SIZES = (10_000, 100_000, 400_000)
"""Numbers of sentences: no more than the datasets have."""

FEW = 100
"""The number of sentences indexed before the clock starts, so that no import, JVM or compiler is
timed.
"""


class TantivyOnText(Tantivy):
    """tantivy with its own analysis of English."""

    name, tokenizer, reads = "tantivy, en_stem", "en_stem", "text"


class FTS5OnText(FTS5):
    """SQLite with its own stemmer."""

    name, reads = "SQLite FTS5, porter", "text"

    @staticmethod
    def tokenizer() -> str:
        return "porter"


class BM25SOnText(BM25S):
    """bm25s with its own tokenizer, without a stemmer."""

    name, reads = "bm25s, its tokenizer", "text"

    @staticmethod
    def tokens(lines: Iterable[str]) -> Any:
        import bm25s

        return bm25s.tokenize(list(lines), show_progress=False)


class RankBM25OnText(RankBM25):
    """rank_bm25 with the tokens of its documentation."""

    name, reads = "rank-bm25, str.split", "text"


_ENGINES: dict[str, type[Peer]] = {
    engine.name: engine
    for engine in (
        SparsePeer,
        IndexFolder,
        TantivyOnText,
        LucenePeer,
        BM25SOnText,
        FTS5OnText,
        RankBM25OnText,
    )
}


def run(quick: bool = False) -> list[Table]:
    """Measure each engine in processes of its own, in turn."""
    missing = {name: reason for name, engine in _ENGINES.items() if (reason := engine.missing())}
    names = [name for name in _ENGINES if name not in missing]
    sizes, rounds = (SIZES[:1], 2) if quick else (SIZES, 5)
    rows: dict[str, list[Any]] = {name: [name] for name in names}
    lost, origins = False, []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder, "text")
            sentences, *_, origin = material(size, 1, get_analyzer("lucene-english"))
            write_lines(text, sentences)
            write_lines(Path(folder, "few"), sentences[:FEW])
            origins.append(origin)
            seconds: dict[str, list[float]] = {name: [] for name in names}
            for _ in range(rounds):
                for name in names:
                    seconds[name].append(_seconds(Path(folder), name))
            megabytes = text.stat().st_size / 1e6
        ours = seconds[SparsePeer.name]
        for name, values in seconds.items():
            times = ratios(values, ours)
            rows[name] += [round(megabytes / statistics.median(values), 1), with_range(times)]
            lost |= statistics.median(times) < 1 and name != IndexFolder.name
    return [
        {
            "title": "Indexing raw text, MB a CPU second",
            "header": ["engine", *(h for size in sizes for h in (f"{size:,} sentences", "times"))],
            "rows": list(rows.values()),
            "notes": [
                f"Times: how many times faster sparse is, with the range of {rounds} rounds. "
                "Every engine analyzes the text while it is timed: sparse and Lucene with Lucene's "
                "English analyzer, the others with what they have. bm25s and rank-bm25 do not "
                f"stem. Each runs in a process of its own, which has indexed {FEW} sentences "
                "before.",
                f"Sentences: {'; '.join(origins)}.",
                ", ".join(dict.fromkeys(_ENGINES[name].release() for name in names)) + ".",
                *(f"Without {name}: {reason}." for name, reason in missing.items()),
            ],
            "lost": lost,
        }
    ]


def _seconds(folder: Path, name: str) -> float:
    output = subprocess.run(
        [sys.executable, "-m", "benchmarks.retrieval_indexing", folder, name],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
        check=True,
    ).stdout
    return float(output.splitlines()[-1])


def index(folder: str, name: str) -> None:
    """Print the CPU seconds that an engine needs to index the text of a folder."""
    engine = _ENGINES[name]
    engine(Path(folder, "few"), Path(tempfile.mkdtemp(dir=folder)))
    start = time.process_time()
    engine(Path(folder, "text"), Path(tempfile.mkdtemp(dir=folder)))
    print(time.process_time() - start)


if __name__ == "__main__":
    index(*sys.argv[1:])
