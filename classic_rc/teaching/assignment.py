"""Assignments: the checks of a teacher's file, their points, and the submission that they are given."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from classic_rc.errors import UsageError
from classic_rc.questions import Dataset
from classic_rc.teaching.sandbox import Sandbox, SubmissionError

ASSIGNMENTS = Path(__file__).with_name("assignments")
"""The folder of the assignments that come with the package; each is a folder with ``checks.py``."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(eq=False)
class CheckFailedError(AssertionError):
    """A check found something wrong, and can say more about it than one line.

    Parameters
    ----------
    problem : str
        In one line.
    details : str
        More lines for the student: the smallest counterexample, a likely cause.
    """

    problem: str
    details: str = ""


def check(*, points: float = 1, needs: str | Sequence[str] = ()) -> Callable[[_Function], _Function]:
    """Set the points of a check, and the checks without which it earns none.

    Parameters
    ----------
    points : float
        What the check is worth. A check of 0 points is only a gate for others.
    needs : str or sequence of str
        Names of other checks, without ``check_``.
    """

    def mark(function: _Function) -> _Function:
        function.points, function.needs = points, (needs,) if isinstance(needs, str) else tuple(needs)  # type: ignore[attr-defined]
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Check:
    """One check of an assignment.

    Parameters
    ----------
    name, title : str
        The function's name without ``check_``, and the first line of its docstring.
    run : callable
        Takes a :class:`Submission`. It raises an error if something is wrong. It may return a number from 0 to 1,
        the share of the points that is earned; None is all of them.
    points : float
    needs : tuple of str
    """

    name: str
    title: str
    run: Callable[[Submission], float | None]
    points: float = 1
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """What a submission is checked for.

    A teacher's file is a Python module with functions ``check_…(submission)``. These names are read if it has
    them: ``TITLE``; ``MAIN``, the name of the student's file; ``TEMPLATE``, the name of the file that students
    start from; ``PACKAGES``, what their code may import beside the standard library and numpy; ``REFERENCE``, the
    solver that accuracy is compared with; ``make_questions(seed)``, a dataset of fresh questions;
    ``make_files(seed)``, more files for students by name.

    Parameters
    ----------
    name : str
        The name of the file's folder for an assignment of the package, else of the file.
    file : path
    module : module
    checks : tuple of Check
        In the file's order.
    """

    name: str
    file: Path
    module: ModuleType
    checks: tuple[Check, ...]

    @property
    def title(self) -> str:
        """What the assignment is about, in a few words."""
        return str(getattr(self.module, "TITLE", self.name))

    @property
    def main(self) -> str | None:
        """The name that a student's file must have, if several files are handed in."""
        return getattr(self.module, "MAIN", None)

    @property
    def packages(self) -> tuple[str, ...]:
        """The installed packages that students' code may import."""
        return ("numpy", *getattr(self.module, "PACKAGES", ()))

    @property
    def template_file(self) -> Path | None:
        """The file that students start from."""
        name = getattr(self.module, "TEMPLATE", None)
        return None if name is None else self.file.with_name(name)

    @cached_property
    def template(self) -> bytes | None:
        """The content of :attr:`template_file`."""
        return None if self.template_file is None else self.template_file.read_bytes()

    @property
    def has_files(self) -> bool:
        """Whether students get files that are made from the seed."""
        return hasattr(self.module, "make_files")

    def hand_out(self, seed: int) -> dict[str, bytes]:
        """Return the files that students get, by name: the page, the template, and what the seed makes."""
        files = [file for file in (self.file.with_name("README.md"), self.template_file) if file is not None]
        made = self.module.make_files(seed) if self.has_files else {}
        return {file.name: file.read_bytes() for file in files if file.is_file()} | made

    @property
    def points(self) -> float:
        """The points of all checks together."""
        return sum(check.points for check in self.checks)


def list_assignments() -> list[str]:
    """Return the names of the assignments that come with the package."""
    return sorted(path.parent.name for path in ASSIGNMENTS.glob("*/checks.py"))


def load_assignment(which: str | PathLike[str]) -> Assignment:
    """Load an assignment.

    Parameters
    ----------
    which : str or path
        The name of an assignment of the package, or a teacher's file.

    Raises
    ------
    UsageError
        No such assignment; or the file raises an error, has no check, or a check needs one that does not exist.
    """
    own = ASSIGNMENTS / str(which) / "checks.py"
    is_own = str(which) in list_assignments()
    file = own if is_own else Path(which)
    if not file.is_file():
        names = ", ".join(list_assignments())
        raise UsageError(
            f"no assignment and no file is called {str(which)!r}",
            field="assignment",
            found=str(which),
            expected=f"a .py file with functions check_…(submission), or one of {names}",
        )
    try:
        module = _import(file)
        checks = _find_checks(module)
        template = getattr(module, "TEMPLATE", None)
        if template is not None and not file.with_name(template).is_file():
            raise ValueError(f"TEMPLATE names {template}, which is not beside it")
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"cannot use the assignment {file}: {type(error).__name__}: {error}",
            field="assignment",
            found=str(which),
        ) from error
    return Assignment(file.parent.name if is_own else file.stem, file, module, checks)


def _import(file: Path) -> ModuleType:
    name = f"classic_rc_assignment_{file.parent.name}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _find_checks(module: ModuleType) -> tuple[Check, ...]:
    checks = [
        Check(
            name.removeprefix("check_"),
            (value.__doc__ or "").strip().partition("\n")[0].rstrip("."),
            value,
            getattr(value, "points", 1),
            getattr(value, "needs", ()),
        )
        for name, value in vars(module).items()
        if name.startswith("check_") and getattr(value, "__module__", None) == module.__name__
    ]
    if not checks:
        raise ValueError("no function has a name that begins with check_")
    names = {check.name for check in checks}
    for own in checks:
        for needed in own.needs:
            if needed not in names:
                raise ValueError(f"check_{own.name} needs {needed!r}, which does not exist")
    return tuple(checks)


@dataclass
class Submission:
    """A student's file as checks see it: its functions can be called, its values read, its solver asked for scores.

    ``submission.sliding_window(passage, question, candidate)`` calls the student's function in the student's
    process with plain data (numbers, strings, lists, dicts) and returns plain data. ``submission.CUE`` is a value.
    Each raises :class:`~classic_rc.teaching.sandbox.SubmissionError` if the student's code fails.

    Parameters
    ----------
    sandbox : Sandbox
    names : mapping of str to str
        The public names of the student's file and their kinds.
    seed : int
        Makes the questions and cases of this grading.
    questions : Dataset or None
        The questions of this grading, with gold: the teacher's hidden ones, or fresh ones.
    train : Dataset or None
        The questions that solvers learn from.
    is_hidden : bool
        Whether the questions are a teacher's own: then students see neither them nor their gold.
    """

    sandbox: Sandbox
    names: Mapping[str, str]
    seed: int = 0
    questions: Dataset | None = None
    train: Dataset | None = None
    is_hidden: bool = False
    _scores: dict[str, list[list[float]] | SubmissionError] = field(default_factory=dict, repr=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.kind_of(name) == "value":
            return self.sandbox.read(name)
        return lambda *args: self.sandbox.call(name, *args)

    def kind_of(self, name: str) -> str:
        """Return whether a name of the student's file is a function, a solver, a class or a value.

        Raises
        ------
        CheckFailedError
            The file does not define it.
        """
        if name not in self.names:
            told = ", ".join(sorted(self.names)) or "nothing"
            raise CheckFailedError(f"the file does not define {name}; it defines {told}")
        return self.names[name]

    @property
    def solver_name(self) -> str:
        """The name of the solver class that the file defines.

        Raises
        ------
        CheckFailedError
            The file defines none or several.
        """
        found = [name for name, kind in self.names.items() if kind == "solver"]
        if len(found) != 1:
            told = ", ".join(found) or "none"
            raise CheckFailedError(f"the file must define exactly one subclass of classic_rc.Solver; found: {told}")
        return found[0]

    def score(self, dataset: Dataset) -> list[list[float]]:
        """Return the solver's scores of a dataset; gold stays here.

        Returns
        -------
        list of list of float
            A finite number for each candidate of each question.

        Raises
        ------
        SubmissionError, CheckFailedError
            The solver fails, or there is none. With hidden questions, the error has no words of the student's code.
        """
        key = dataset.fingerprint
        if key not in self._scores:
            self._scores[key] = self._ask_scores(dataset)
        scores = self._scores[key]
        if isinstance(scores, SubmissionError):
            raise scores
        return scores

    def _ask_scores(self, dataset: Dataset) -> list[list[float]] | SubmissionError:
        is_secret = self.is_hidden and dataset is self.questions
        train = None if self.train is None else rows_of(self.train, with_gold=True)
        name = self.solver_name
        try:
            self.sandbox.make_solver(name, train)
            return self.sandbox.score(rows_of(dataset))
        except SubmissionError as error:
            if is_secret and _quotes(error, dataset):
                self.sandbox.events.add("quote")
            return error.without_words() if is_secret or (self.is_hidden and train is not None) else error
        finally:
            if is_secret:  # What has seen hidden questions must not quote them later.
                with suppress(SubmissionError):
                    self.sandbox.restart()


def _quotes(error: SubmissionError, dataset: Dataset) -> bool:
    words = error.problem + error.traceback + error.printed
    return any(
        text and text in words for question in dataset for text in (question.query, question.passage.text[:40])
    )


def rows_of(dataset: Dataset, *, with_gold: bool = False) -> list[dict[str, Any]]:
    """Return questions as plain data for a student's process.

    Their ids are numbers, so that a solver cannot look up what it remembers of public questions.

    Parameters
    ----------
    dataset : Dataset
        Of choices or mentions.
    with_gold : bool
        For questions to learn from.
    """
    passages: dict[str, str] = {}
    rows = []
    for number, question in enumerate(dataset):
        passage = passages.setdefault(question.passage.id, f"passage {len(passages)}")
        row = {
            "id": f"question {number}",
            "passage_id": passage,
            "passage": question.passage.text,
            "question": question.query,
            "candidates": [candidate.text for candidate in question.candidates],
            "task": str(question.task),
        }
        if with_gold and question.gold is not None:
            row["gold"] = sorted(question.gold, key=str)  # type: ignore[arg-type]
        rows.append(row)
    return rows
