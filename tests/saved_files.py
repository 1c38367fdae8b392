"""Files that an earlier commit saved, with the digits that it gave: ``python -m tests.saved_files``
makes them.

A new archive is for a new version of a format, and for nothing else: files of users are older than
the code. Cells of suites are not here: their names follow from the code that ran, so a later commit
never reads them (``tests/running/test_suite.py``).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from classic_rc.datasets import load
from classic_rc.questions import Dataset
from classic_rc.results.floors import load_floors, user_file
from classic_rc.results.record import software_versions
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import Solver, load_solver, parse_solver
from tests.written_files import MODELS, N_SPAN_TOKENS, fit_models, run_command, write_data

ARCHIVE = Path(__file__).parent / "data" / "saved_files.zip"
DIGITS = Path("digits.json")
N_QUESTIONS = 6
"""How many questions each solver answers."""

_COMMANDS = (
    "run single.jsonl several.jsonl -s random -s sw+d -s ir --by kind --intervals 50 --save record",
    "index single.jsonl -o index",
    "floor mine --compute single.jsonl --save floor",
    "floor --add floor -o floors.json",
)
_KEPT = ("solvers", "record", "index")


def read_digits() -> dict[str, Any]:
    """Return what the saved files of the working directory give with the present code."""
    shutil.copy("floors.json", user_file())
    floor = load_floors()["mine"]
    digits = {
        name: _digits_of(load_solver(f"solvers/{name}.npz"), _read_data(data))
        for name, (_, data) in MODELS.items()
    }
    questions = _read_data("single")
    digits["index"] = _digits_of(parse_solver("ir,corpus=index").fit(questions), questions)
    digits["floors"] = {row.system: dict(row.metrics) for row in floor.rows}
    return {"environment": software_versions(), "digits": digits}


def _read_data(name: str) -> Dataset:
    return add_span_candidates(load(f"{name}.jsonl")[:N_QUESTIONS], N_SPAN_TOKENS)


def _digits_of(solver: Solver, dataset: Dataset) -> dict[str, Any]:
    scores = solver.score_candidates(dataset)
    return {
        "scores": scores.values.tolist(),
        "evidence": scores.evidence.tolist(),
        "answers": [sorted(map(str, answer.answers)) for answer in solver.predict(dataset)],
    }


def save_files(folder: Path) -> None:
    """Save files of all kinds in a folder, and put them into the archive with their digits."""
    write_data(folder)
    (folder / "solvers").mkdir()
    with contextlib.chdir(folder):
        fit_models(Path("solvers"))
        for line in _COMMANDS:
            run_command(line)
        DIGITS.write_text(json.dumps(read_digits()), encoding="utf-8")
        saved = [path for kept in _KEPT for path in Path(kept).rglob("*.*") if path.is_file()]
        data = {Path(f"{name}.jsonl") for _, name in MODELS.values()}
        with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_LZMA) as archive:
            for path in sorted({*saved, *data, DIGITS, Path("floors.json")}):
                archive.write(path)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["CLASSIC_RC_DATA"] = str(Path(temporary) / "cache")
        Path(temporary, "cache").mkdir()
        save_files(Path(temporary))
