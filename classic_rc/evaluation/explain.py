"""A solver made ready for a dataset, to explain its questions one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from classic_rc.evaluation.learning import Learning
from classic_rc.evaluation.plan import Overrides, check_task, configured, fitted, require_gold
from classic_rc.evaluation.results import Row
from classic_rc.evaluation.signature import plain_params
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, LazyCandidates, Passage, Question
from classic_rc.solvers.base import Solver
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.learning import OutOfFold


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
        learning = (learning or Learning()).apart_from(dataset)
        self.dataset, self._configured = dataset, configured(solver, dataset, overrides)
        self._folds: OutOfFold | None = None
        train, tune = learning.train, learning.tune
        tunes = self._configured.tunes_parameters
        if tunes and tune is not None:
            check_task(tune, dataset, "tuning")
            require_gold(tune, "nothing can be tuned on it")

        def ready(train: Dataset | None) -> Solver:
            solver = fitted(self._configured, dataset, train)
            return solver.tune(tune) if tunes and tune is not None else solver

        def tuned(others: Sequence[Question]) -> Solver:
            return fitted(self._configured, dataset, train).tune(others)

        learn: Callable[..., Solver] | None = None
        if self._configured.learns_from == "gold" and train is None and learning.cv is not None:
            learn = ready
        elif tunes and tune is None:
            learn = tuned
        if learn is not None:
            require_gold(dataset, "nothing can be learned from it or tuned on it")
            self._folds = OutOfFold(learn, dataset, learning.plan)
        self._solver = ready(train) if self._folds is None else self._folds.solvers[0]

    def explains(self, row: Row) -> bool:
        """Whether a row is about this solver."""
        return row.solver == self._configured.name and dict(row.params) == plain_params(self._configured)

    def scores(self) -> Scores:
        """The scores of the whole dataset, whose candidates are in memory."""
        if self._folds is None:
            return self._solver.score_candidates(self.dataset)
        return self._folds.score(self.dataset, np.arange(len(self.dataset)))

    def __iter__(self) -> Iterator[Explanation]:
        """Explanations of all questions, in order; generated spans are made once for neighbours of one passage."""
        passage: Passage | None = None
        candidates: Sequence[Candidate] = ()
        for i, question in enumerate(self.dataset):
            if isinstance(question.candidates, LazyCandidates):
                if question.passage is not passage:
                    passage, candidates = question.passage, question.candidates.generate()
                question = replace(question, candidates=candidates)
            solver = self._solver if self._folds is None else self._folds.solvers[self._folds.fold_of[i]]
            yield solver.explain(question)
