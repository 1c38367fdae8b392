"""A solver made ready for one dataset: fitted, and tuned on a split, out of fold, or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision, Threshold, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.evaluation.prepare import check_task, fitted, require_gold
from classic_rc.evaluation.scoring import score_in_shards
from classic_rc.evaluation.tuning import cross_fit_decision, cross_fit_solver
from classic_rc.folds import FoldPlan
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question
from classic_rc.solvers.base import Solver
from classic_rc.solvers.learning import OutOfFold
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import EncodedDataset, encode


class Encodings:
    """The encodings of some questions, each made when it is first wanted and shared by all solvers.

    Parameters
    ----------
    questions : sequence of Question
    index : ndarray of int64, shape (len(questions),)
        Where they stand in the dataset.
    """

    def __init__(self, questions: Sequence[Question], index: NDArray[np.int64]) -> None:
        self.questions, self.index = questions, index
        self._made: dict[Analyzer, tuple[EncodedDataset, float]] = {}

    def under(self, analyzer: Analyzer) -> tuple[EncodedDataset, float]:
        """The questions under an analyzer, and the seconds that took."""
        if analyzer not in self._made:
            start = time.perf_counter()
            encoded = encode(self.questions, analyzer)
            self._made[analyzer] = encoded, time.perf_counter() - start
        return self._made[analyzer]


class System:
    """A configured solver, its fitted state, and where its decisions' constants come from.

    Parameters
    ----------
    solver : Solver
        With its decision written out (:func:`~classic_rc.evaluation.prepare.configured`).
    dataset : Dataset
        What it is to answer.
    train : Dataset, optional
    tune : Dataset, optional
        What it is tuned on.
    cross_fit : bool
        Whether it is tuned out of fold on `dataset` instead.
    learn_out_of_fold : bool
        Whether a solver that learns from gold learns out of fold on `dataset`, in place of training data.
    plan : FoldPlan
        The folds of both.

    Attributes
    ----------
    solver : Solver
        Fitted, and tuned if there was something to tune on; where it learns out of fold, neither.
    expected : bool
        Whether its predictions stand for expectations over draws.
    seconds : dict of str to float
        Time spent so far on ``encode``, ``fit`` and ``score``.
    """

    def __init__(
        self,
        solver: Solver,
        dataset: Dataset,
        *,
        train: Dataset | None = None,
        tune: Dataset | None = None,
        cross_fit: bool = False,
        learn_out_of_fold: bool = False,
        plan: FoldPlan | None = None,
    ) -> None:
        self.dataset, self.train, self.tune = dataset, train, tune
        self.cross_fit, self.plan = cross_fit, plan or FoldPlan()
        self._configured = solver
        self._folds: Sequence[Any] = ()
        self._out_of_fold: OutOfFold | None = None
        self.expected = False
        learns_here = learn_out_of_fold and solver.learns_from == "gold" and train is None
        if (cross_fit or learns_here) and any(question.gold is None for question in dataset):
            raise UsageError(
                f"{dataset.name} hides its gold answers, so nothing can be tuned on it or "
                "learned from it: tune on another split (--tune DATA) or fix the threshold (--threshold T), and "
                "learn from other data (--train DATA)"
            )
        if tune is not None:
            check_task(tune, dataset, "tuning")
            require_gold(tune, "nothing can be tuned on it")
        if (cross_fit or tune is not None) and solver.tunes_parameters and dataset.span_generator is not None:
            raise UsageError(f"{solver.name} cannot tune its parameters on generated spans: give them fixed values")
        if learns_here and cross_fit and solver.tunes_parameters:
            raise UsageError(
                f"{solver.name} cannot learn and tune its parameters in the same folds: "
                "give data to learn from (--train) or to tune on (--tune)"
            )
        start = time.perf_counter()
        if learns_here:
            self.solver = solver
            self._out_of_fold = OutOfFold(self._learned, dataset, self.plan)
        else:
            self.solver = self._learned(train)
        self.seconds = {"encode": 0.0, "fit": time.perf_counter() - start, "score": 0.0}

    def _learned(self, train: Dataset | None) -> Solver:
        """The solver fitted, and tuned if there is something to tune on."""
        solver = fitted(self._configured, self.dataset, train)
        return solver if self.tune is None else solver.tune(self.tune)

    @staticmethod
    def wants_tuning(solver: Solver, dataset: Dataset) -> bool:
        """Whether a configured solver has constants that must be tuned before it can answer."""
        assert dataset.task is not None
        return solver.tunes_parameters or solver.decision_for(dataset.task).needs_fit

    @property
    def fitted_solver(self) -> Solver:
        """The fitted solver; where it learns out of fold, that of the first fold."""
        return self.solver if self._out_of_fold is None else self._out_of_fold.solvers[0]

    @property
    def decision(self) -> Decision:
        """The decision in force."""
        assert self.dataset.task is not None
        solver = self.fitted_solver
        decision: Decision = getattr(solver, "decision_", None) or solver.decision_for(self.dataset.task)
        return decision

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What the fitted solver, or those of all folds, have to say."""
        solvers = [self.solver] if self._out_of_fold is None else self._out_of_fold.solvers
        return tuple(dict.fromkeys(c for solver in solvers for c in solver.caveats(self.dataset)))

    @property
    def tuned_here(self) -> bool:
        """Whether it was tuned on the very content that it answers."""
        return self.tune is not None and self.tune.fingerprint == self.dataset.fingerprint

    def score(self, encodings: Encodings, jobs: int = 1) -> Scores:
        """Score a part of the dataset."""
        questions: Sequence[Question] = encodings.questions
        if self._out_of_fold is not None:
            start = time.perf_counter()
            scores = self._out_of_fold.score(questions, encodings.index)
            self.seconds["score"] += time.perf_counter() - start
            return scores
        if self.solver.analyzer is not None and self.solver.takes_encoding:
            questions, seconds = encodings.under(get_analyzer(self.solver.analyzer))
            self.seconds["encode"] += seconds
        start = time.perf_counter()
        scores = score_in_shards(self.solver, questions, jobs)
        self.seconds["score"] += time.perf_counter() - start
        return scores

    def answer(self, encodings: Encodings, jobs: int = 1) -> tuple[list[Prediction], Scores]:
        """Answer a part of the dataset (all of it, if constants are tuned out of fold)."""
        questions = encodings.questions
        if self.cross_fit and self.solver.tunes_parameters:
            start = time.perf_counter()
            predictions, scores, self._folds = cross_fit_solver(
                lambda: fitted(self._configured, self.dataset, self.train), questions, self.plan
            )
            self.seconds["score"] += time.perf_counter() - start
            return predictions, scores
        scores = self.score(encodings, jobs)
        start = time.perf_counter()
        if self.cross_fit:
            predictions, _, self._folds = cross_fit_decision(self.decision, scores, questions, self.plan)
        elif self._out_of_fold is not None and self.tune is not None:
            predictions = self._out_of_fold.decide(scores, questions, encodings.index)
            self._folds = [solver.decision_ for solver in self._out_of_fold.solvers]
        else:
            predictions = self.decision.decide(scores, questions)
        self.seconds["score"] += time.perf_counter() - start
        return predictions, scores

    def expectation(self, encodings: Encodings, jobs: int = 1) -> tuple[list[Prediction], Scores]:
        """As :meth:`answer`, but in closed form where the solver draws at random and has one."""
        predictions = self.solver.expectation(encodings.questions)
        if predictions is None:
            return self.answer(encodings, jobs)
        self.expected = True
        return predictions, self.score(encodings, jobs)

    def facts(self) -> dict[str, Any]:
        """What a row says of its decisions, by the names of :class:`~classic_rc.evaluation.results.Row`."""
        decision = self.decision
        draws_ties = isinstance(decision, Argmax) and decision.ties == "random"
        seed = decision.seed if draws_ties else getattr(self.solver, "seed", None)
        return {
            "expected": self.expected,
            "ties": decision.ties if isinstance(decision, Argmax) and not self.expected else None,
            "seed": None if self.expected else seed,
            "threshold": self._threshold(),
            "tuned_here": self.tuned_here,
            "tuned_params": self._tuned_params(),
            **self.origins(lambda dataset: dataset.name),
        }

    def origins(self, label: Callable[[Dataset], str]) -> dict[str, str | None]:
        """What it was tuned on and trained on, each dataset by its label."""
        tuned_on = self.plan.label if self.cross_fit else None if self.tune is None else label(self.tune)
        return {"tuned_on": tuned_on, "trained_on": self._trained_on(label)}

    def _threshold(self) -> float | list[float] | None:
        decision = self.decision
        if isinstance(decision, Threshold):
            # A solver's own fixed rule (all-positive) says nothing that its name does not.
            assert self.dataset.task is not None
            own = self.solver.default_decision(self.dataset.task)
            return None if isinstance(own, Threshold) else float(decision.value)
        if isinstance(decision, TunedThreshold):
            rules = [getattr(fold, "decision_", fold) for fold in self._folds]
            folds = [rule.best_threshold_ for rule in rules if isinstance(rule, TunedThreshold)]
            return folds or decision.best_threshold_
        return None

    def _tuned_params(self) -> dict[str, Any]:
        params = self.solver.get_params(deep=False) if self.solver.tunes_parameters else {}
        names = [name for name, value in params.items() if isinstance(value, str) and value == "tuned"]
        if self.cross_fit:
            return {name: [getattr(fold, f"{name}_") for fold in self._folds] for name in names}
        return {name: getattr(self.solver, f"{name}_") for name in names}

    def _trained_on(self, label: Callable[[Dataset], str]) -> str | None:
        if self.solver.learns_from == "nothing":
            return None
        if self._out_of_fold is not None:
            return self.plan.label
        names = [label(self.train)] if self.train is not None else []
        if self.solver.learns_from == "passages":
            return "passages of " + " + ".join([*names, label(self.dataset)])
        return names[0]
