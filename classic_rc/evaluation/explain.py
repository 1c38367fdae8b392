"""A solver made ready for a dataset, to explain its questions one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from classic_rc.evaluation.fitted_system import FittedSystem, blocks
from classic_rc.evaluation.plan import Learning, Overrides, Plan
from classic_rc.evaluation.results import Row
from classic_rc.evaluation.signature import plain_params
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, LazyCandidates, Passage
from classic_rc.solvers.base import Solver
from classic_rc.solvers.explanation import Explanation


class Explainer:
    """A solver fitted and tuned as :func:`classic_rc.evaluate` does it, so that it explains the scores of its row.

    A solver that learns or is tuned out of fold is one a fold: each question is explained by the one that has not
    seen it. Thresholds are no part of scores, and are not tuned.

    Parameters
    ----------
    solver : Solver
        Cloned, never changed.
    dataset : Dataset
        With the candidates of span questions (:func:`~classic_rc.evaluation.plan.with_spans`).
    learning : Learning, optional
        What it learns from and is tuned on.
    overrides : Overrides, optional

    Raises
    ------
    UsageError
        The solver cannot be used for the task, or needs data that was not given.

    Examples
    --------
    >>> import classic_rc
    >>> explainer = Explainer(classic_rc.parse_solver("sw+d"), classic_rc.load("sample:single-choice"))
    >>> next(iter(explainer)).candidates[0].numbers["distance_weight"]
    11.0
    """

    def __init__(
        self,
        solver: Solver,
        dataset: Dataset,
        learning: Learning | None = None,
        overrides: Overrides | None = None,
    ) -> None:
        plan = Plan.check(dataset, [solver], learning or Learning(), overrides)
        self.dataset, (self._configured,) = dataset, plan.solvers
        tunes = self._configured.tunes_parameters
        cross_fit = tunes and plan.learning.tune is None
        self._system = FittedSystem(self._configured, dataset, plan.learning, tune=tunes, cross_fit=cross_fit)

    def explains(self, row: Row) -> bool:
        """Whether a row is about this solver."""
        return row.solver == self._configured.name and dict(row.params) == plain_params(self._configured)

    def scores(self) -> Scores:
        """The scores of the whole dataset, whose candidates are in memory."""
        (block,) = blocks(self.dataset)
        return self._system.score(block)

    def __iter__(self) -> Iterator[Explanation]:
        """Explanations of all questions, in order; generated spans are made once for neighbours of one passage."""
        passage: Passage | None = None
        candidates: Sequence[Candidate] = ()
        for i, question in enumerate(self.dataset):
            if isinstance(question.candidates, LazyCandidates):
                if question.passage is not passage:
                    passage, candidates = question.passage, question.candidates.generate()
                question = replace(question, candidates=candidates)
            yield self._system.solver_of(i).explain(question)
