"""What a student's process can read: Python, and a ``classic_rc`` of questions, texts and the base class alone."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_FILES = ("_version.py", "errors.py", "plugins.py", "questions.py", "predictions.py")
_KERNELS = ("kernels/arrays.py", "kernels/byte_pieces.py")  # what texts and predictions need
_FOLDERS = ("io", "text")

_INIT = '''"""The part of classic_rc that submissions may use."""

from classic_rc._version import __version__
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers.base import Solver


def make_dataset(rows):
    """Return a dataset of rows. Rows without gold give questions without gold."""
    passages = {}
    questions = []
    for row in rows:
        passage = passages.setdefault(row["passage_id"], Passage(row["passage_id"], row["passage"]))
        candidates = tuple(Candidate(text) for text in row["candidates"])
        gold = None if row.get("gold") is None else frozenset(row["gold"])
        task = Task(row["task"])
        questions.append(Question(row["id"], passage, row["question"], candidates, gold, task))
    return Dataset(questions, "questions")
'''

_BASE = '''"""The base class of solvers."""

from abc import ABC, abstractmethod

from classic_rc.questions import Task


class Solver(ABC):
    """Give every candidate answer a number; higher is better."""

    tasks = frozenset(Task)

    def fit(self, dataset):
        """Learn from a dataset."""
        return self

    @abstractmethod
    def score_candidates(self, questions):
        """Return Scores, one list of numbers for each question."""
'''


def write_student_package(folder: Path, packages: tuple[str, ...] = ("numpy",)) -> list[Path]:
    """Write the package that submissions import, with links to other packages.

    Parameters
    ----------
    folder : path
        An existing empty folder; it goes onto the students' path.
    packages : tuple of str
        Installed packages that the students' code may import.

    Returns
    -------
    list of path
        The folders that the links lead to; they must be readable.
    """
    own = folder / "classic_rc"
    for name in (*_FILES, *_KERNELS):
        _copy(_ROOT / name, own / name)
    for name in _FOLDERS:
        for file in (_ROOT / name).rglob("*"):
            if file.is_file() and file.suffix in (".py", ".txt"):
                _copy(file, own / name / file.relative_to(_ROOT / name))
    for name, text in (("__init__.py", _INIT), ("solvers/base.py", _BASE)):
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text(text, encoding="utf-8")
    for name in ("kernels", "solvers"):
        (own / name / "__init__.py").touch()
    return [target for name in packages for target in _link(folder, name)]


def python_folders(python: str) -> list[str]:
    """Return what a Python interpreter needs to run, without virtual environments."""
    prefix = os.path.realpath(sys.base_prefix)
    places = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache", python]
    return places + ([f"{prefix}/lib"] if prefix not in ("/usr", "/") else [])


def package_folders() -> list[str]:
    """Return the folders of installed packages below the folders that are visible."""
    prefix = Path(os.path.realpath(sys.base_prefix))
    roots = [prefix / "lib", Path("/usr/lib")]
    names = ("site-packages", "dist-packages")
    return [str(path) for root in roots for name in names for path in root.glob(f"python*/{name}") if path.is_dir()]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(_content(source))


@cache
def _content(source: Path) -> bytes:
    """Return a file of this package as it was before any student's code ran."""
    return source.read_bytes()


def _link(folder: Path, package: str) -> list[Path]:
    """Link an installed package, and the folder of libraries that its wheel has beside it."""
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return []
    place = Path(next(iter(spec.submodule_search_locations))).resolve()
    links = [path for path in (place, place.with_name(f"{package}.libs")) if path.is_dir()]
    for path in links:
        (folder / path.name).symlink_to(path, target_is_directory=True)
    return links
