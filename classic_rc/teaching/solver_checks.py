"""The default checker of submissions: the solver must keep the interface's contract and beat the sliding window."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from classic_rc.datasets.registry import load
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.solvers.specs import parse_solver
from classic_rc.testing.solver_check import check_solver

FLOOR = "sliding-window"


def check_defines_a_solver(submission: ModuleType) -> None:
    """The file defines one subclass of classic_rc.Solver that needs no parameter."""
    _make_solver(submission)


def check_keeps_the_contract(submission: ModuleType) -> None:
    """The solver passes classic_rc.testing.check_solver."""
    check_solver(_make_solver(submission))


def check_beats_sliding_window(submission: ModuleType) -> None:
    """The solver answers more of sample:single-choice than the sliding window."""
    dataset = _rename_questions(load("sample:single-choice"))
    own, floor = _make_solver(submission), parse_solver(FLOOR)
    reached, needed = (solver.fit_for(dataset).score(dataset) for solver in (own, floor))
    assert reached > needed, f"accuracy {100 * reached:.2f} is not above the {100 * needed:.2f} of {FLOOR}"


def _make_solver(submission: ModuleType) -> Solver:
    classes = [c for c in vars(submission).values() if isinstance(c, type) and issubclass(c, Solver)]
    own = [c for c in classes if c.__module__ == submission.__name__ and not c.__subclasses__()]
    names = ", ".join(c.__name__ for c in own) or "none"
    assert len(own) == 1, f"the file must define exactly one subclass of classic_rc.Solver; found: {names}"
    assert "score_candidates" not in own[0].__abstractmethods__, f"{names} does not define score_candidates"
    return own[0]()


def _rename_questions(dataset: Dataset) -> Dataset:
    """Return the same questions with other ids, so that a solver cannot look up remembered answers."""
    return replace(dataset, questions=[replace(q, id=f"question {i}") for i, q in enumerate(dataset)])
