"""Time from a dataset's file to the table of results, stage by stage, in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import cast

from benchmarks.generate import dataset
from benchmarks.timing import Table

RACE = Path(__file__).resolve().parents[2] / "shared" / "data" / "race" / "RACE-train-dev.tar.gz"

_PROGRAM = """
import json, sys, time
start = time.perf_counter()
from classic_rc.cli.main import main
main(["run", *sys.argv[1:], "-s", "sw+d", "--format", "json", "--quiet", "-o", sys.argv[1] + ".result"])
seconds = time.perf_counter() - start
try:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
except ImportError:  # Windows
    peak = None
print(json.dumps([seconds, peak]))
"""


def run(quick: bool = False) -> list[Table]:
    """Measure generated RACE-sized data in JSON lines and, if its file is there, RACE itself from its tar.gz."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.jsonl"
        _write(path, 500 if quick else 7000)
        rows.append(_stages("generated, JSON lines", path))
        if RACE.is_file():
            link = Path(folder) / RACE.name
            link.symlink_to(RACE)
            split = ["--split", "dev"] if quick else []
            rows.append(_stages("RACE dev, tar.gz" if quick else "RACE train and dev, tar.gz", link, *split))
    return [
        {
            "title": "From the file to the table of SW+D, seconds",
            "header": ["data", "questions", "read", "encode", "score", "all", "peak MB"],
            "rows": rows,
            "notes": ["`all` has imports, the fingerprint and the measuring too."],
        }
    ]


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


def _stages(name: str, path: Path, *options: str) -> list[object]:
    command = [sys.executable, "-c", _PROGRAM, str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    [run] = json.loads(Path(f"{path}.result").read_text(encoding="utf-8"))["runs"]
    [row] = run["rows"]
    stages = [round(row["seconds"][stage], 2) for stage in ("read", "encode", "score")]
    return [name, run["dataset"]["questions"], *stages, round(seconds, 2), peak and round(peak)]


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["end_to_end"])
