"""Queries per CPU second of each search engine, for queries of a question and an option against
sentences, and memory.
"""

from __future__ import annotations

import json
import math
import operator
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from benchmarks import ROOT
from benchmarks.retrieval_peers import PEERS, SIMILARITY, Batch, IndexFolder, Peer
from benchmarks.retrieval_text import analyzed, material
from benchmarks.timing import Table, interleaved
from classic_rc.retrieval.registry import open_corpus
from classic_rc.text.analyzers import get_analyzer

SIZES = (10_000, 100_000, 1_000_000)
"""Numbers of sentences."""

ENGINES = {engine.name: engine for engine in PEERS}
OURS = PEERS[0].name

Figures = dict[str, dict[str, float]]
"""Figures by what was measured, then by engine."""

TITLES = {
    "constrained": "The best sentence with a term of question and option, queries a CPU second",
    "agreement": "The same best sentence as sparse, % of queries",
    "memory": "Peak memory of indexing and searching, MB",
}

_IS_BETTER = {"constrained": operator.gt, "memory": operator.lt}

NOTES = {
    "constrained": [
        "A query is a question with one of its options; a CPU second is one of all threads "
        "together. sparse and Lucene are given text, and analyze it while they are timed; the "
        "others are given its index terms. bm25s and rank-bm25 cannot express the constraint: for "
        "each query the sentences that meet it are found by other means, all are scored, and the "
        "others masked. Slow engines are asked the first questions only, as many as they answer in "
        "the time of the others."
    ],
    "agreement": [
        "FTS5 and rank-bm25 have other formulas; the rest differ in rounding, and in which of "
        "equals they take."
    ],
    "memory": [
        "In a process of its own, the interpreter and the JVM included. sparse and Lucene are "
        "given text, the others its index terms."
    ],
}


class Workload(NamedTuple):
    """Sentences in files, and the questions to ask."""

    folder: Path  # has the sentences, one per line, as `text` and as `terms`, and the batch
    batch: Batch
    origin: str = ""  # where the sentences come from

    @classmethod
    def make(cls, n_sentences: int, n_questions: int, folder: Path) -> Self:
        """Write the files of a workload."""
        analyzer = get_analyzer("lucene-english")
        sentences, questions, options, origin = material(n_sentences, n_questions, analyzer)
        option_terms = [list(analyzed(own, analyzer)) for own in options]
        batch = Batch(questions, options, list(analyzed(questions, analyzer)), option_terms)
        (folder / "batch").write_text(json.dumps(batch), encoding="utf-8")
        write_lines(folder / "text", sentences)
        write_lines(folder / "terms", map(" ".join, analyzed(sentences, analyzer)))
        return cls(folder, batch, origin)

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read the files that :meth:`make` wrote."""
        return cls(folder, Batch(*json.loads((folder / "batch").read_text(encoding="utf-8"))))

    def build(self, engine: type[Peer]) -> Peer:
        """Return the engine with all sentences indexed."""
        return engine(self.folder / engine.reads, self.new_folder())

    def new_folder(self) -> Path:
        """Make a new, empty folder."""
        return Path(tempfile.mkdtemp(dir=self.folder))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def run(quick: bool = False) -> list[Table]:
    """Measure throughput with the constraint, memory, and two processes over one index."""
    missing = {name: reason for name, engine in ENGINES.items() if (reason := engine.missing())}
    names = [name for name in ENGINES if name not in missing]
    sizes = SIZES[:1] if quick else SIZES
    seconds, rounds = (0.2, 3) if quick else (0.5, 5)
    columns, origins = [], []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            workload = Workload.make(size, 200 if quick else 2000, Path(folder))
            columns.append(_measured(workload, names, seconds, rounds))
            origins.append(workload.origin)
            if size == sizes[-1]:
                pair = _pair(workload, rounds)
    tables = {kind: _table(kind, names, sizes, columns) for kind in TITLES}
    tables["constrained"]["notes"] += [
        f"Sentences: {'; '.join(origins)}.",
        ", ".join(dict.fromkeys(ENGINES[name].release() for name in names)) + ".",
        *(f"Without {name}: {reason}." for name, reason in missing.items()),
    ]
    return [*tables.values(), pair]


def _measured(workload: Workload, names: Sequence[str], seconds: float, rounds: int) -> Figures:
    """Measure all figures for one number of sentences."""
    engines = {name: workload.build(ENGINES[name]) for name in names}
    batches = {
        name: _affordable(engine, workload.batch, seconds) for name, engine in engines.items()
    }
    calls = {name: partial(engine.constrained, batches[name]) for name, engine in engines.items()}
    median = interleaved(calls, rounds, time.process_time)
    n_questions = {name: len(batch.questions) for name, batch in batches.items()}
    figures: Figures = {
        "constrained": {name: batches[name].n_queries / median[name] for name in names},
        "agreement": _agreement({name: call() for name, call in calls.items()}),
    }
    del engines, calls
    figures["memory"] = {
        name: _peak_memory_of(workload.folder, name, n_questions[name]) for name in names
    }
    return figures


def _affordable(engine: Peer, batch: Batch, seconds: float) -> Batch:
    """Return as many of the first questions as the engine answers in about `seconds`, or all if
    it is faster.
    """
    n = 1
    while True:
        part = batch.first(n)
        engine.prepare(part)
        start = time.process_time()
        engine.constrained(part)
        if n >= len(batch.questions) or 1.5 * (time.process_time() - start) > seconds:
            return part
        n *= 2


def _agreement(found: dict[str, Sequence[int]]) -> dict[str, float]:
    """Return the percentage of each engine's best sentences that are the same as ours."""
    return {
        name: 100 * statistics.mean(a == b for a, b in zip(own, found[OURS], strict=False))
        for name, own in found.items()
    }


def _peak_memory_of(folder: Path, name: str, n_questions: int) -> float:
    with _process("index_and_search", folder, name, n_questions) as process:
        return float(process.communicate()[0].splitlines()[-1])


def index_and_search(folder: str, name: str, n_questions: str) -> None:
    """Print the peak memory of indexing and searching, in MB."""
    workload = Workload.of(Path(folder))
    batch = workload.batch.first(int(n_questions))
    engine = workload.build(ENGINES[name])
    engine.prepare(batch)
    engine.constrained(batch)
    engine.top(batch)
    print(peak_memory())


def peak_memory() -> float:
    """Return the peak memory of this process in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, `resource` gives the parent's peak if that is higher
        [line] = (
            line
            for line in status.read_text(encoding="utf-8").splitlines()
            if line.startswith("VmHWM:")
        )
        return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        2**20 if sys.platform == "darwin" else 2**10
    )


def _pair(workload: Workload, rounds: int) -> Table:
    """Compare the throughput of one process and of two processes that map the same index folder."""
    index = workload.new_folder()
    IndexFolder(workload.folder / "text", index)
    with (
        _process("search_when_told", workload.folder, index) as one,
        _process("search_when_told", workload.folder, index) as other,
    ):
        pairs = []
        for _ in range(rounds):
            [alone], both = _tell(one), _tell(one, other)
            pairs.append((alone, max(both)))
    alone, both = (statistics.median(times) for times in zip(*pairs, strict=True))
    n = workload.batch.n_queries
    return {
        "title": "One index folder, mapped by one process and by two",
        "header": ["processes", "queries a second", "times"],
        "rows": [[1, round(n / alone), 1.0], [2, round(2 * n / both), round(2 * alone / both, 2)]],
        "notes": ["Seconds of the clock, with the constraint, at the largest size."],
    }


def _tell(*processes: subprocess.Popen[str]) -> list[float]:
    """Make all processes search at the same time, and return the seconds that each needs."""
    for process in processes:
        print("search", file=process.stdin, flush=True)
    return [float(process.stdout.readline()) for process in processes if process.stdout]


def search_when_told(folder: str, index: str) -> None:
    """Search the batch for each line of standard input, and print the seconds that it takes."""
    batch = Workload.of(Path(folder)).batch
    engine = open_corpus(index, similarity=SIMILARITY).engine
    engine.best_constrained(batch.questions, batch.options)
    for _ in sys.stdin:
        start = time.perf_counter()
        engine.best_constrained(batch.questions, batch.options)
        print(time.perf_counter() - start, flush=True)


def _process(function: str, *arguments: object) -> subprocess.Popen[str]:
    """Run one of this module's functions in a new process."""
    program = f"import sys; from benchmarks.retrieval import {function}; {function}(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=ROOT,
    )


def _table(
    kind: str, names: Sequence[str], sizes: Sequence[int], columns: Sequence[Figures]
) -> Table:
    header = ["engine", *(f"{size:,} sentences" for size in sizes)]
    rows: list[list[Any]] = [
        [name, *(_rounded(column[kind][name]) for column in columns)] for name in names
    ]
    if kind == "constrained":
        header.append("sparse is faster, times")
        last = columns[-1][kind]
        for row in rows:
            row.append(_rounded(last[OURS] / last[row[0]]))
    table: Table = {
        "title": TITLES[kind],
        "header": header,
        "rows": rows,
        "notes": list(NOTES.get(kind, [])),
    }
    if kind in _IS_BETTER:
        table["lost"] = any(
            _IS_BETTER[kind](column[kind][name], column[kind][OURS])
            for column in columns
            for name in names
            if name != IndexFolder.name
        )
    return table


def _rounded(value: float) -> float | int | None:
    if math.isnan(value):
        return None
    return round(value, 1) if value < 100 else round(value)
