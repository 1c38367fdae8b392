"""Time from a dataset's file to the table of results, stage by stage, each run in a process of its
own.

``CLASSIC_RC_COMPARE=PATH python -m benchmarks end_to_end`` alternates with the checkout of another
version at PATH and adds its rows. The rounds of the two versions take turns, so other work on the
machine slows both.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast

from benchmarks import DATA, ROOT
from benchmarks.generate import dataset
from benchmarks.timing import Table

COMPARE = "CLASSIC_RC_COMPARE"

_REAL = {
    "RACE train and dev, tar.gz": "race/RACE-train-dev.tar.gz",
    "MultiRC dev": "multirc/dev_83-fixedIds.json",
    "DREAM dev": "dream/dev.json",
    "MCTest mc160 dev": "mctest/mc160.dev.tsv",
}
_STAGES = ("read", "encode", "score")
_PROGRAM = """
import json, os, sys, time
start = time.perf_counter()
from classic_rc.cli.main import main
main(["run", *sys.argv[2:], "--format", "json", "--quiet", "-o", sys.argv[1]])
seconds = time.perf_counter() - start
try:
    import resource
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
except ImportError:  # Windows
    peak = None
print(json.dumps([seconds, sum(os.times()[:4]), peak]))
"""


class _Run(NamedTuple):
    """One run of the command."""

    stages: dict[str, float]
    seconds: float
    processor_seconds: float
    peak: float | None
    questions: int

    @property
    def rest(self) -> float:
        """Imports, the fingerprint, decisions and measuring."""
        return self.seconds - sum(self.stages.values())


def run(quick: bool = False) -> list[Table]:
    """Measure generated RACE-sized data in JSON lines and, where their files are there,
    published datasets.
    """
    rounds = 1 if quick else 3
    versions = {"this": ROOT}
    if other := os.environ.get(COMPARE):
        versions["other"] = Path(other).resolve()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.jsonl"
        _write(path, 500 if quick else 7000)
        files = {
            "generated, JSON lines": path,
            **{name: DATA / file for name, file in _REAL.items()},
        }
        for name, file in files.items():
            options = ["--split", "dev"] if quick and "RACE" in name else []
            for jobs in (1, 2):
                if file.is_file():
                    command = [str(file), *options, "-s", "sw+d", "--jobs", str(jobs)]
                    rows += _rows(
                        name,
                        jobs,
                        _measure(command, versions, rounds, Path(folder) / "result.json"),
                    )
    header = [
        "data",
        "questions",
        "jobs",
        "version",
        *_STAGES,
        "rest",
        "all",
        "processor",
        "peak MB",
        "of the other",
    ]
    notes = [
        "Medians in seconds of wall time; `processor` is processor time of all processes, with "
        "Python's own start.",
        "`rest` is imports, the fingerprint, decisions and measuring. `peak MB` is that of the "
        "main process.",
        f"{COMPARE}=PATH alternates with the checkout at PATH; `of the other`: ratios of `all`, "
        "`processor`.",
    ]
    return [
        {
            "title": "From the file to the table of SW+D",
            "header": header,
            "rows": rows,
            "notes": notes,
        }
    ]


def _rows(name: str, jobs: int, runs: dict[str, list[_Run]]) -> list[list[object]]:
    def median(version: str, field: str) -> float:
        return statistics.median(getattr(run, field) for run in runs[version])

    rows: list[list[object]] = []
    for version, own in runs.items():
        stages = [statistics.median(run.stages[stage] for run in own) for stage in _STAGES]
        peaks = [run.peak for run in own if run.peak is not None]
        fields = ("seconds", "processor_seconds")
        ratios = [
            f"{median(version, field) / median('other', field):.2f}"
            for field in fields
            if "other" in runs
        ]
        seconds = [*stages, median(version, "rest"), *(median(version, field) for field in fields)]
        rows.append(
            [
                *(name, own[0].questions, jobs, version),
                *(round(value, 2) for value in seconds),
                round(max(peaks)) if peaks else None,
                ", ".join(ratios) if version == "this" else "",
            ]
        )
    return rows


def _measure(
    command: Sequence[str], versions: dict[str, Path], rounds: int, result: Path
) -> dict[str, list[_Run]]:
    """Run the command with each version in turn, after a round that is not counted."""
    runs: dict[str, list[_Run]] = {version: [] for version in versions}
    for number in range(rounds + 1):
        for version, root in versions.items():
            found = _run_once(command, root, result)
            if number > 0:
                runs[version].append(found)
    return runs


def _run_once(command: Sequence[str], root: Path, result: Path) -> _Run:
    # The program runs in a folder without packages: Python looks for modules there first.
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(result), *command],
        cwd=result.parent,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, processor_seconds, peak = json.loads(done.stdout.splitlines()[-1])
    document = json.loads(result.read_text(encoding="utf-8"))
    [outcome] = document["runs"]
    # Of MultiRC, the row after the one that selects everything.
    last = len(outcome["rows"]) - 1
    # In earlier versions, which may be compared, a row has its times.
    times = outcome["rows"][last].get("seconds") or document["times"][f"/runs/0/rows/{last}"]
    stages = {stage: times[stage] for stage in _STAGES}
    return _Run(stages, seconds, processor_seconds, peak, outcome["dataset"]["questions"])


def _write(path: Path, n_passages: int) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for q in dataset("RACE", n_passages):
            row = {
                "id": q.id,
                "passage": q.passage.text,
                "passage_id": q.passage.id,
                "question": q.text,
                "candidates": [c.text for c in q.candidates],
                "gold": min(cast("frozenset[int]", q.gold)),
            }
            file.write(json.dumps(row) + "\n")
