"""Scoring in several processes, with the bits of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from classic_rc.decisions import Argmax, Decision, Threshold, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.evaluation.plan import check_task, fitted, require_gold
from classic_rc.folds import FoldPlan
from classic_rc.kernels.arrays import offsets_of
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, LazyCandidates, Question
from classic_rc.solvers.base import Solver
from classic_rc.solvers.learning import OutOfFold
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import EncodedDataset, encode

PASSAGES_A_SHARD = 25_000
"""Fewer passages than this are scored faster than another process starts and imports what it needs."""


def score_in_shards(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> Scores:
    """The solver's scores, worked out by up to `jobs` processes of joblib's current backend.

    A question's scores depend on that question alone, so the result is the same for any number of jobs.
    """
    if jobs == 1 or not isinstance(questions, EncodedDataset):
        return _checked(solver, questions, jobs)
    from joblib import Parallel, delayed, effective_n_jobs

    n_passages = len(questions.arrays.passage_offsets) - 1
    n_shards = min(effective_n_jobs(jobs), n_passages // PASSAGES_A_SHARD)
    if n_shards < 2:
        return _checked(solver, questions)
    shards = questions.shards(n_shards, with_questions=not solver.needs_only_arrays)
    parts = Parallel(n_jobs=n_shards)(delayed(_checked)(solver, shard) for shard in shards)
    return questions.in_order(
        np.concatenate([part.values for part in parts]), np.concatenate([part.evidence for part in parts])
    )


def _checked(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> Scores:
    scores = solver.score_candidates(questions) if jobs == 1 else solver.score_with_jobs(questions, jobs)
    if not isinstance(scores, Scores):
        raise UsageError(
            f"score_candidates of solver {solver.name!r} must return Scores (see Scores.from_lists), "
            f"got {type(scores).__name__}"
        )
    if isinstance(questions, EncodedDataset):
        offsets = questions.score_offsets
    else:
        offsets = offsets_of(np.array([len(q.candidates) for q in questions], dtype=np.int64))
    if not np.array_equal(scores.offsets, offsets):
        raise UsageError(
            f"score_candidates of solver {solver.name!r} must give one score a candidate: got "
            f"{len(scores.values)} scores in {len(scores)} rows for {offsets[-1]} candidates of "
            f"{len(offsets) - 1} questions"
        )
    return scores


class CrossFitted(NamedTuple):
    """What was answered out of fold.

    Parameters
    ----------
    predictions : list of Prediction
        In the questions' order.
    scores : Scores
        In the questions' order; each fold's are its own solver's.
    folds : list of Decision or of Solver
        What was fitted, once for each fold.
    """

    predictions: list[Prediction]
    scores: Scores
    folds: list[Any]


def cross_fit_decision(
    decision: Decision, scores: Scores, questions: Sequence[Question], plan: FoldPlan
) -> CrossFitted:
    """Answer every question by a decision fitted to the scores of other passages' questions."""

    def answer(others: list[int], own: list[int]) -> tuple[list[Prediction], Scores, Decision]:
        fitted = clone(decision).fit(scores.take(others), [questions[i] for i in others])
        mine = scores.take(own)
        return fitted.decide(mine, [questions[i] for i in own]), mine, fitted

    return _out_of_fold(questions, plan, answer)


def cross_fit_solver(prepare: Callable[[], Solver], questions: Sequence[Question], plan: FoldPlan) -> CrossFitted:
    """Answer every question by a solver whose parameters were tuned on other passages' questions.

    Parameters
    ----------
    prepare : callable
        Gives a fresh solver, fitted but not tuned.
    questions : sequence of Question
    plan : FoldPlan
    """

    def answer(others: list[int], own: list[int]) -> tuple[list[Prediction], Scores, Solver]:
        solver = prepare().tune([questions[i] for i in others])
        mine = [questions[i] for i in own]
        scores = solver.score_candidates(mine)
        return solver.decision_.decide(scores, mine), scores, solver

    return _out_of_fold(questions, plan, answer)


def _out_of_fold(
    questions: Sequence[Question],
    plan: FoldPlan,
    answer: Callable[[list[int], list[int]], tuple[list[Prediction], Scores, Any]],
) -> CrossFitted:
    index: list[int] = []
    predictions: list[Prediction] = []
    scores, fitted = [], []
    for others, own in plan.folds(questions):
        answered, scored, learned = answer(others.tolist(), own.tolist())
        index += own.tolist()
        predictions += answered
        scores.append(scored)
        fitted.append(learned)
    order = np.argsort(index)
    return CrossFitted([predictions[i] for i in order], Scores.concatenate(scores).take(order), fitted)


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
        With its decision written out (:func:`~classic_rc.evaluation.plan.configured`).
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


_BLOCK_CANDIDATES = 2**17


def blocks(dataset: Dataset) -> Iterator[tuple[NDArray[np.int64], Sequence[Question]]]:
    """The dataset in parts that can be scored and decided one after the other.

    Choices and mentions are the dataset's own and already in memory: one part. Generated spans are made a
    passage at a time, shared by the passage's questions, and dropped after their part.

    Yields
    ------
    index : ndarray of int64
        Where the part's questions stand in the dataset.
    questions : sequence of Question
        With their candidates in memory.
    """
    if dataset.span_generator is None:
        yield np.arange(len(dataset)), dataset
        return
    of_passage: dict[int, list[int]] = {}
    for i, question in enumerate(dataset):
        of_passage.setdefault(id(question.passage), []).append(i)
    index: list[int] = []
    part: list[Question] = []
    n_candidates = 0
    for members in of_passage.values():
        lazy = dataset[members[0]].candidates
        candidates = lazy.generate() if isinstance(lazy, LazyCandidates) else lazy
        index += members
        part += [replace(dataset[i], candidates=candidates) for i in members]
        n_candidates += len(candidates) * len(members)
        if n_candidates >= _BLOCK_CANDIDATES:
            yield np.array(index), part
            index, part, n_candidates = [], [], 0
    if part:
        yield np.array(index), part
