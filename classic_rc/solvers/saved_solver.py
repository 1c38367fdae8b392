"""A solver that was fitted before, as a solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from classic_rc.decisions import Argmax, Decision, Threshold, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.saved import learns_something, load_solver


class SavedSolver(Solver):
    """A solver that was fitted before, from its file.

    Parameters
    ----------
    path : str
        What :func:`save_solver` or ``classic-rc fit`` wrote.
    decision : Decision, optional
        None is the saved solver's own; a threshold that it was tuned to stays.

    Attributes
    ----------
    solver_ : Solver
        The solver in the file.
    name : str
        Once it is fitted (read), ``"saved:"`` and the solver's name and variant.
    """

    name = "saved"
    description = "a solver fitted before, from its file (path=FILE; see `classic-rc fit`)"
    cites = ("classic_rc",)

    def __init__(self, *, path: str = "", decision: Decision | None = None) -> None:
        self.path = path
        self.decision = decision

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Read the file; nothing is learned from the questions, but members that are score files read theirs.

        Raises
        ------
        UsageError
            There is no path, or the solver in the file is not for the questions' task.
        DataError
            The file cannot be used.
        """
        solver = self._solver()
        if len(questions) and questions[0].task not in solver.tasks:
            raise UsageError(f"{solver.name} in {self.path} is not for {questions[0].task} questions")
        _fit_unlearned(solver, questions)
        self.solver_ = solver
        self.name = f"saved:{_label(solver)}"  # type: ignore[misc]
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The saved solver's scores."""
        return self._solver().score_candidates(questions)

    def explain(self, question: Question) -> Explanation:
        """The saved solver's explanation."""
        return self._solver().explain(question)

    def default_decision(self, task: Task) -> Decision:
        """The saved solver's rule, at the threshold that it was tuned to, if it was."""
        solver = self._solver()
        rule = getattr(solver, "decision_", None) or solver.decision_for(task)
        if isinstance(rule, TunedThreshold) and not rule.needs_fit:
            return Threshold(value=rule.best_threshold_)
        if isinstance(rule, Argmax) and task is Task.MULTIPLE_ANSWER:
            return solver.default_decision(task)
        return rule

    @property
    def analyzer(self) -> Any:
        """The saved solver's, once its file is read."""
        return self.solver_.analyzer if hasattr(self, "solver_") else None

    @property
    def members(self) -> Sequence[Solver]:
        """The saved solver's, once its file is read."""
        return self.solver_.members if hasattr(self, "solver_") else ()

    @property
    def takes_encoding(self) -> bool:  # type: ignore[override]
        """As the saved solver, once its file is read."""
        return self.solver_.takes_encoding if hasattr(self, "solver_") else True

    @property
    def needs_only_arrays(self) -> bool:  # type: ignore[override]
        """As the saved solver."""
        return self._solver().needs_only_arrays

    @property
    def trained_on_(self) -> Mapping[str, Any] | None:
        """What the saved solver learned from; see :func:`~classic_rc.solvers.provenance.provenance`."""
        return getattr(self._solver(), "trained_on_", None)

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """What the fit left to be said; and that the questions are those it learned from, if they are."""
        trained_on, caveats = self.trained_on_ or {}, self._solver().caveats(questions)
        if trained_on.get("fingerprint") == getattr(questions, "fingerprint", object()):
            caveats += (f"{self.path} learned from the data that is reported ({trained_on['name']})",)
        return caveats

    def signature_facts(self) -> Mapping[str, Any]:
        """What the saved solver learned from."""
        trained_on = self.trained_on_ or {}
        fingerprint = trained_on.get("fingerprint")
        learned = {"learned_from": f"{trained_on['name']}@{fingerprint[:8]}"} if fingerprint else {}
        return {**self._solver().signature_facts(), **learned}

    def _solver(self) -> Solver:
        if hasattr(self, "solver_"):
            return self.solver_
        if not self.path:
            raise UsageError("saved needs a file: path=FILE")
        return load_solver(self.path)


def _fit_unlearned(solver: Solver, questions: Sequence[Question]) -> None:
    """Fit the members that learn nothing, at any depth, to what is asked."""
    for member in solver.members:
        if learns_something(member):
            _fit_unlearned(member, questions)
        else:
            member.fit(questions)


def _label(solver: Solver) -> str:
    variant = solver.variant_name()
    return f"{solver.name}:{variant}" if variant else solver.name
