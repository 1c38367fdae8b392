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

from benchmarks import DATA, ROOT
from benchmarks.retrieval_text import generated, material, with_terms
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
"""The corpus that two independent processes index, half of it each, to show what this machine
allows.
"""

_WRITTEN = 100_000
N_QUESTIONS = 100


class Cost(NamedTuple):
    """What something needs."""

    wall: float  # seconds
    cpu: float  # seconds, of all processes
    peak: float  # MB, of all processes together


def run(quick: bool = False) -> list[Table]:
    """Measure the commands `classic-rc index` with one and two jobs, and searches of what they
    build.
    """
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
            rounds = [
                {jobs: build([corpus], folder, jobs) for jobs in JOBS}
                for _ in range(_n_rounds(size))
            ]
            alone = statistics.median(costs[1].wall for costs in rounds)
            for jobs in JOBS:
                cost = _median([costs[jobs] for costs in rounds])
                share = round(alone / cost.wall, 2)
                per = round(1e6 * cost.cpu / size, 1)
                builds.append(
                    [
                        size,
                        jobs,
                        round(cost.wall, 1),
                        round(cost.cpu, 1),
                        per,
                        round(cost.peak),
                        share,
                    ]
                )
            searches.append(_search(folder / "index-0", size))
            shutil.rmtree(folder / "index-0")
            if size == halves:
                ceiling = _compare_halves(corpus, folder, size)
            corpus.unlink()
        return [
            *make_tables(builds, ceiling, searches),
            *([measure_real_text(folder)] if DATA.is_dir() else []),
        ]


def measure_real_text(folder: Path) -> Table:
    """Index all sentences of the datasets, and search them from an empty and from a full page
    cache.
    """
    everything, questions, options, _ = material(
        2**40, N_QUESTIONS, get_analyzer("lucene-english"), alike=False
    )
    corpus, index = folder / "real.txt", folder / "index-0"
    corpus.write_text(
        "".join(f"{sentence}\n" for sentence in everything), encoding="utf-8", newline="\n"
    )
    (folder / "real.json").write_text(json.dumps([questions, options]), encoding="utf-8")
    cost = build([corpus], folder, 1)
    time.sleep(3)  # files that changed within two seconds are verified each time
    first = _measure_search(index, folder / "real.json")
    _drop_from_cache(index)
    cold = _measure_search(index, folder / "real.json")
    row = [
        len(everything),
        round(corpus.stat().st_size / 1e6, 1),
        round(cost.cpu, 1),
        round(cost.peak),
    ]
    row += [
        round(sum(path.stat().st_size for path in index.iterdir()) / 1e6),
        round(first["open"], 2),
    ]
    row += [round(1000 * cold["open"], 1), round(cold["read"] / 1e6), round(1000 * cold["first"])]
    row += [round(1000 * cold["cpu"]), round(cold["queries"] / cold["cpu"]), round(cold["peak"])]
    return {
        "title": "The largest real text: all sentences of RACE, MultiRC, MCTest and DREAM",
        "header": [
            *(
                "sentences",
                "MB of text",
                "build, CPU s",
                "peak MB",
                "MB on disk",
                "first opening, s",
                "later, ms",
            ),
            *(f"{int(cold['queries'])} queries: MB read from disk", "CPU ms", "again, CPU ms"),
            *("queries a CPU second", "peak MB"),
        ],
        "rows": [row],
        "notes": [
            "One process, queries with the constraint. The system had dropped the index from its "
            "page cache."
        ],
    }


def _drop_from_cache(index: Path) -> None:
    """Make the system forget the pages of an index, where it can be told so."""
    for path in index.glob("*.bin"):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def make_tables(
    builds: list[list[Any]], ceiling: list[list[Any]], searches: list[list[Any]]
) -> list[Table]:
    """Return the tables with these rows."""
    return [
        {
            "title": "Building an index of generated sentences",
            "header": [
                "sentences",
                "jobs",
                "s",
                "CPU s",
                "CPU us a sentence",
                "peak MB",
                "times faster",
            ],
            "rows": builds,
            "notes": [
                "The command with Python's start. The peak is the memory of all processes together."
            ],
        },
        {
            "title": "What two processes gain on this machine",
            "header": ["half a corpus of", "processes", "s", "CPU s", "times"],
            "rows": ceiling,
            "notes": [
                "Two processes that share nothing index half of the sentences each, at the same "
                "time."
            ],
        },
        {
            "title": "Opening and searching an index of generated sentences",
            "header": [
                *("sentences", "MB on disk", "bytes a sentence", "first opening, s", "later, ms"),
                *("queries a second", "CPU ms a query", "CPU us a query and million", "peak MB"),
            ],
            "rows": searches,
            "notes": [
                "One process. A query is a question with one of its options, with the constraint. "
                "The first opening verifies all files. The peak counts mapped pages, which "
                "processes share."
            ],
        },
    ]


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def _n_rounds(size: int) -> int:
    return ROUNDS if size < _ONCE else 1


def write_sentences(path: Path, n: int, seed: int = 0, start: int = 0) -> None:
    """Write `n` generated sentences, one per line, as
    :func:`benchmarks.retrieval_text.generated` makes them.
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for first in range(start, start + n, _WRITTEN):
            rng = np.random.default_rng([seed, first])
            sentences, _ = generated(min(_WRITTEN, start + n - first), 0, rng)
            file.writelines(f"{sentence}\n" for sentence in sentences)


def build(corpora: Sequence[Path], folder: Path, jobs: int) -> Cost:
    """Run `classic-rc index` on each corpus at the same time, into folders that replace older
    ones.
    """
    outputs = [folder / f"index-{number}" for number in range(len(corpora))]
    for output in outputs:
        shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "classic_rc", "index", "--quiet", "--jobs", str(jobs)]
    before, start = cpu_of_children(), time.perf_counter()
    processes = [
        subprocess.Popen(
            [*command, str(corpus), "-o", str(output)], stdout=subprocess.DEVNULL, cwd=ROOT
        )
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
    rounds = [
        (build(parts[:1], folder, 1), build(parts, folder, 1)) for _ in range(_n_rounds(size))
    ]
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


def _measure_search(index: Path, *asked: Path) -> dict[str, float]:
    program = "import sys; from benchmarks.corpora import search; search(*sys.argv[1:])"
    command = [sys.executable, "-c", program, *map(str, (index, *asked))]
    output = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", cwd=ROOT)
    return dict(json.loads(output.stdout))


def search(index: str, file: str | None = None) -> None:
    """Print what opening an index and searching it need, as JSON. The questions are in a file,
    or generated.
    """
    from benchmarks.retrieval import peak_memory

    if file is None:
        _, asked = generated(0, N_QUESTIONS, np.random.default_rng(1))
        questions, options = with_terms(asked, get_analyzer("lucene-english"))
    else:
        questions, options = json.loads(Path(file).read_text(encoding="utf-8"))
    start = time.perf_counter()
    engine = open_corpus(index).engine
    opened, read, used = time.perf_counter(), _bytes_read(), time.process_time()
    engine.best_constrained(questions, options)  # reads the pages
    first = time.process_time() - used, _bytes_read() - read
    wall, cpu = time.perf_counter(), time.process_time()
    engine.best_constrained(questions, options)
    measured = {
        "open": opened - start,
        "first": first[0],
        "read": first[1],
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "queries": sum(map(len, options)),
        "peak": peak_memory(),
    }
    print(json.dumps(measured))


def _bytes_read() -> int:
    """Return how many bytes this process has made the system read from disks; 0 where it does
    not tell.
    """
    status = Path("/proc/self/io")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes:")), 0)
