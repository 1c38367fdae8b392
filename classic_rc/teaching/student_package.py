"""What submissions may import as ``classic_rc``: questions, texts, scores and solvers' base class."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_FILES = "_version errors plugins questions predictions kernels/arrays kernels/byte_pieces".split()
_INIT = """
from classic_rc._version import __version__
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers.base import Solver


def make_dataset(rows):
    passages, questions = {}, []
    for row in rows:
        passage = passages.setdefault(row["passage_id"], Passage(row["passage_id"], row["passage"]))
        candidates = tuple(Candidate(text) for text in row["candidates"])
        gold = None if row.get("gold") is None else frozenset(row["gold"])
        questions.append(Question(row["id"], passage, row["question"], candidates, gold, Task(row["task"])))
    return Dataset(questions, "questions")
"""
_BASE = '''
from abc import ABC, abstractmethod

from classic_rc.questions import Task


class Solver(ABC):
    tasks = frozenset(Task)

    def fit(self, dataset):
        return self

    @abstractmethod
    def score_candidates(self, questions):
        """Return Scores, one list of numbers for each question."""
'''


@cache
def student_package() -> dict[str, bytes]:
    """Return the files of the package by name, as they were before any student's code ran."""
    files = [_ROOT / f"{name}.py" for name in _FILES]
    files += [
        file for name in ("io", "text") for file in (_ROOT / name).rglob("*") if file.suffix in (".py", ".txt")
    ]
    made = {"__init__.py": _INIT, "solvers/base.py": _BASE, "solvers/__init__.py": "", "kernels/__init__.py": ""}
    found = {f"classic_rc/{file.relative_to(_ROOT).as_posix()}": file.read_bytes() for file in files}
    return found | {f"classic_rc/{name}": text.encode() for name, text in made.items()}
