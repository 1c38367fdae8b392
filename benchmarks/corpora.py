"""What generated corpora of millions of sentences cost to index, to open and to search."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import ROOT
from benchmarks.retrieval_text import generated, with_terms
from benchmarks.scale import MemoryWatch, cpu_of_children
from benchmarks.timing import Table
from classic_rc.retrieval.registry import open_corpus
from classic_rc.text.analyzers import get_analyzer

SIZES = (1_000_000, 5_000_000, 20_000_000)
"""Numbers of sentences."""

JOBS = (1, 2)
ROUNDS = 3
_ONCE = 10_000_000
"""A corpus of more sentences is indexed once with each number of jobs."""

_HALVES = 5_000_000
"""The corpus that two independent processes index, half of it each, to show what this machine allows."""

_WRITTEN = 100_000
N_QUESTIONS = 100


class Cost(NamedTuple):
    """What something needs."""

    wall: float  # seconds
    cpu: float  # seconds, of all processes
    peak: float  # MB, of all processes together


def run(quick: bool = False) -> list[Table]:
    """Measure the commands `classic-rc index` with one and two jobs, and searches of what they build."""
    sizes = (20_000, 100_000) if quick else SIZES
    halves = sizes[-1] if quick else _HALVES
    builds: list[list[Any]] = []
    searches: list[list[Any]] = []
    ceiling: list[list[Any]] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("CLASSIC_RC_BENCHMARK_DIR")) as name:
        folder = Path(name)
        for size in sizes:
            corpus = folder / "corpus.txt"
            write_sentences(corpus, size)
            rounds = [{jobs: build([corpus], folder, jobs) for jobs in JOBS} for _ in range(_n_rounds(size))]
            alone = statistics.median(costs[1].wall for costs in rounds)
            for jobs in JOBS:
                cost = _median([costs[jobs] for costs in rounds])
                share = round(alone / cost.wall, 2)
                per = round(1e6 * cost.cpu / size, 1)
                builds.append([size, jobs, round(cost.wall, 1), round(cost.cpu, 1), per, round(cost.peak), share])
            searches.append(_search(folder / "index-0", size))
            shutil.rmtree(folder / "index-0")
            if size == halves:
                ceiling = _compare_halves(corpus, folder, size)
            corpus.unlink()
    return make_tables(builds, ceiling, searches)


def make_tables(builds: list[list[Any]], ceiling: list[list[Any]], searches: list[list[Any]]) -> list[Table]:
    """Return the tables with these rows."""
    return [
        {
            "title": "Building an index of generated sentences",
            "header": ["sentences", "jobs", "s", "CPU s", "CPU us a sentence", "peak MB", "times faster"],
            "rows": builds,
            "notes": ["The command with Python's start. The peak is the memory of all processes together."],
        },
        {
            "title": "What two processes gain on this machine",
            "header": ["half a corpus of", "processes", "s", "CPU s", "times"],
            "rows": ceiling,
            "notes": ["Two processes that share nothing index half of the sentences each, at the same time."],
        },
        {
            "title": "Opening and searching an index of generated sentences",
            "header": [
                *("sentences", "MB on disk", "bytes a sentence", "first opening, s", "later, ms"),
                *("queries a second", "CPU ms a query", "CPU us a query and million", "peak MB"),
            ],
            "rows": searches,
            "notes": [
                "One process. A query is a question with one of its options, with the constraint. The first "
                "opening verifies all files. The peak counts mapped pages, which processes share."
            ],
        },
    ]


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def _n_rounds(size: int) -> int:
    return ROUNDS if size < _ONCE else 1


def write_sentences(path: Path, n: int, seed: int = 0, start: int = 0) -> None:
    """Write `n` generated sentences, one per line, as :func:`benchmarks.retrieval_text.generated` makes them."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for first in range(start, start + n, _WRITTEN):
            rng = np.random.default_rng([seed, first])
            sentences, _ = generated(min(_WRITTEN, start + n - first), 0, rng)
            file.writelines(f"{sentence}\n" for sentence in sentences)


def build(corpora: Sequence[Path], folder: Path, jobs: int) -> Cost:
    """Run `classic-rc index` on each corpus at the same time, into folders that replace older ones."""
    outputs = [folder / f"index-{number}" for number in range(len(corpora))]
    for output in outputs:
        shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "classic_rc", "index", "--quiet", "--jobs", str(jobs)]
    before, start = cpu_of_children(), time.perf_counter()
    processes = [
        subprocess.Popen([*command, str(corpus), "-o", str(output)], stdout=subprocess.DEVNULL, cwd=ROOT)
        for corpus, output in zip(corpora, outputs, strict=True)
    ]
    watches = [MemoryWatch(process.pid) for process in processes]
    codes = [process.wait() for process in processes]
    wall = time.perf_counter() - start
    peaks = [watch.stop() or 0.0 for watch in watches]
    if any(codes):
        raise RuntimeError(f"{' '.join(command)} ended with {codes}")
    return Cost(wall, cpu_of_children() - before, sum(peaks))


def _compare_halves(corpus: Path, folder: Path, size: int) -> list[list[Any]]:
    """Return rows for one process with half of the corpus, and for two with half of it each."""
    parts = [folder / "half-0.txt", folder / "half-1.txt"]
    for number, part in enumerate(parts):
        write_sentences(part, size // 2, start=number * (size // 2))
    rounds = [(build(parts[:1], folder, 1), build(parts, folder, 1)) for _ in range(_n_rounds(size))]
    for number, part in enumerate(parts):
        part.unlink()
        shutil.rmtree(folder / f"index-{number}")
    one, two = (_median(costs) for costs in zip(*rounds, strict=True))
    return [
        [size, 1, round(one.wall, 1), round(one.cpu, 1), 1.0],
        [size, 2, round(two.wall, 1), round(two.cpu, 1), round(2 * one.wall / two.wall, 2)],
    ]


def _search(index: Path, size: int) -> list[Any]:
    time.sleep(3)  # files that changed within two seconds are verified each time
    bytes_on_disk = sum(path.stat().st_size for path in index.iterdir())
    first, later = _measure_search(index), _measure_search(index)
    return [
        size,
        round(bytes_on_disk / 1e6),
        round(bytes_on_disk / size),
        round(first["open"], 2),
        round(1000 * later["open"], 1),
        round(later["queries"] / later["wall"]),
        round(1000 * later["cpu"] / later["queries"], 2),
        round(1e12 * later["cpu"] / later["queries"] / size),
        round(later["peak"]),
    ]


def _measure_search(index: Path) -> dict[str, float]:
    program = "import sys; from benchmarks.corpora import search; search(sys.argv[1])"
    output = subprocess.run(
        [sys.executable, "-c", program, str(index)], check=True, capture_output=True, encoding="utf-8", cwd=ROOT
    )
    return dict(json.loads(output.stdout))


def search(index: str) -> None:
    """Print what opening an index and searching it need, as JSON."""
    from benchmarks.retrieval import peak_memory

    _, asked = generated(0, N_QUESTIONS, np.random.default_rng(1))
    questions, options = with_terms(asked, get_analyzer("lucene-english"))
    start = time.perf_counter()
    engine = open_corpus(index).engine
    opened = time.perf_counter()
    engine.best_constrained(questions, options)  # reads the pages
    wall, cpu = time.perf_counter(), time.process_time()
    engine.best_constrained(questions, options)
    measured = {
        "open": opened - start,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "queries": sum(map(len, options)),
        "peak": peak_memory(),
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["corpora"])
