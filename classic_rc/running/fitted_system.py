"""A solver ready to answer a dataset: fitted, and tuned on other data, out of fold, or not at all.

The datasets' shared encodings, the blocks that are scored at once and scoring in several processes
are here too.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from functools import cached_property, partial, wraps
from itertools import chain
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.registry import as_dataset
from classic_rc.decisions import Argmax, Decision, Threshold, TunedThreshold, cross_fit
from classic_rc.errors import OutputError, UsageError
from classic_rc.facts import values_digest
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.io.forks import can_fork, count_jobs, map_in_forks, note_processes
from classic_rc.io.reporters import reporters
from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.metrics.base import Metric, primary_metric
from classic_rc.metrics.multirc import selection_metric
from classic_rc.predictions import Prediction, Scores
from classic_rc.protocol import Protocol
from classic_rc.questions import Candidate, Dataset, LazyCandidates, Question
from classic_rc.results.outcomes import join_copies, range_over_orders, reorder_options
from classic_rc.running.plan import check_data_to_learn, clone_unfitted, find_copied, fold_plan
from classic_rc.solvers.base import Solver, TrainedOn, score_questions
from classic_rc.solvers.learning import OutOfFold
from classic_rc.systems import is_same_solver, learned_elsewhere
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import Encoders, SharedQuestions, encode
from classic_rc.text.encoded import EncodedDataset

_Reordered = tuple[SharedQuestions, NDArray[np.int64]]
"""What :func:`reorder_options` returns, with shared encodings."""


class EncodingCache:
    """Datasets that are encoded once for all systems, folds and tuning steps."""

    def __init__(self) -> None:
        self.encoders = Encoders()
        self._shared: dict[int, SharedQuestions] = {}  # by id of the dataset
        # by id of the dataset, number of questions and seed
        self._reordered: dict[tuple[int, int, int], _Reordered] = {}
        self.later: Sequence[Solver] = ()  # solvers of later calls, whose encodings are kept too

    def of(self, dataset: Dataset) -> Sequence[Question]:
        """Return the dataset with shared encodings, or as it is if its spans are generated.

        There are too many generated spans to keep in memory.
        """
        if dataset.span_generator is not None:
            return dataset
        return self._shared.setdefault(id(dataset), SharedQuestions(dataset, self.encoders))

    def reordered(self, dataset: Dataset, index: NDArray[np.int64], seed: int) -> _Reordered:
        """Return what :func:`reorder_options` does for the questions at `index`, which their
        number identifies.
        """
        key = id(dataset), len(index), seed
        if key not in self._reordered:
            copies, places = reorder_options([dataset[i] for i in index.tolist()], seed)
            self._reordered[key] = SharedQuestions(copies, self.encoders), places
        return self._reordered[key]

    def keep_only(self, dataset: Dataset) -> None:
        """Free the encodings of all other datasets."""
        for dataset_id in self._shared.keys() - {id(dataset)}:
            del self._shared[dataset_id]
        for key in list(self._reordered):
            if key[0] != id(dataset):
                del self._reordered[key]

    def keep_analyzers(self, solvers: Sequence[Solver]) -> None:
        """Free the encodings under analyzers that neither these solvers nor those of later calls
        have.
        """
        solvers_to_come = _with_members([*solvers, *self.later])
        analyzers = {get_analyzer(s.analyzer) for s in solvers_to_come if s.analyzer is not None}
        for shared in (*self._shared.values(), *(copies for copies, _ in self._reordered.values())):
            shared.keep_only(analyzers)
        self.encoders.keep_only(analyzers)


def _with_members(solvers: Sequence[Solver]) -> Iterator[Solver]:
    for solver in solvers:
        yield solver
        yield from _with_members(solver.members)


class QuestionBlock(NamedTuple):
    """Questions of a dataset that are scored and answered at once."""

    places: NDArray[np.int64]  # the questions' positions in the dataset, shape (n_questions,)
    questions: Sequence[Question]  # their candidates are in memory


_BLOCK_CHARACTERS = 2**21
_CANDIDATE_CHARACTERS = 2**7  # what a candidate needs in memory, in characters of a passage


def scores_in_parts(solver: Solver, dataset: Dataset) -> bool:
    """Return whether a configured solver can answer a part of the dataset without the rest: it
    learns nothing.
    """
    is_apart = solver.learns_from == "nothing" and not solver.is_trained
    return is_apart and not FittedSystem.needs_tuning(solver, dataset)


def iter_blocks(
    dataset: Dataset, shared: EncodingCache | None = None, *, in_parts: bool = False
) -> Iterator[QuestionBlock]:
    """Yield the dataset in blocks of consecutive questions, to be scored and answered one after the
    other.

    A block ends before a passage that it does not have yet. Generated spans are made passage by
    passage, shared by the passage's questions, and freed after their block. Other candidates are
    one block, unless the dataset is large and `in_parts` allows several: then a passage that occurs
    again, far from its first place, is in several.
    """
    shared = shared or EncodingCache()
    generated: dict[int, Sequence[Candidate] | None] = {}  # by passage

    def blocks(start: int, stop: int) -> Iterator[QuestionBlock]:
        places = np.arange(start, stop)
        if dataset.span_generator is None and len(places) == len(dataset):
            yield QuestionBlock(places, shared.of(dataset))
            return
        questions = (dataset[i] for i in range(start, stop))
        spans = ((q, generated[id(q.passage)]) for q in questions)
        in_memory = [q if c is None else replace(q, candidates=c) for q, c in spans]
        block = SharedQuestions(in_memory, shared.encoders)
        yield QuestionBlock(places, block)
        block.keep_only(())  # encodings refer to their questions: nothing else frees them soon

    start, size, limit = 0, 0, block_size(_BLOCK_CHARACTERS)
    is_cut = in_parts or dataset.span_generator is not None
    for i, question in enumerate(dataset if is_cut else ()):
        if (key := id(question.passage)) not in generated:
            if size >= limit:
                yield from blocks(start, i)
                start, size = i, 0
                generated.clear()
            lazy = question.candidates
            generated[key] = lazy.generate() if isinstance(lazy, LazyCandidates) else None
            size += len(question.passage.text)
        candidates = question.candidates if (spans := generated[key]) is None else spans
        size += _CANDIDATE_CHARACTERS * len(candidates)
    yield from blocks(start, len(dataset))


def is_one_block(dataset: Dataset) -> bool:
    """Return whether a dataset whose candidates are given is one block, even if several are
    allowed.
    """
    return len(next(iter_blocks(dataset, in_parts=True)).places) == len(dataset)


class MemberComparison:
    """A comparison of a combination's answers with those of its members, collected block by
    block.
    """

    def __init__(self) -> None:
        self._metric: Metric | None = None
        self._statistics: list[
            list[NDArray[np.float64]]
        ] = []  # of the combination, then of each member

    def add(
        self, metric: Metric, questions: Sequence[Question], answers: Sequence[Sequence[Prediction]]
    ) -> None:
        """Measure the answers to some questions: the combination's, then each member's."""
        self._metric = metric
        self._statistics.append(
            [metric.statistics(questions, predictions) for predictions in answers]
        )

    def caveats(self, names: Sequence[str], out_of_fold: bool) -> tuple[str, ...]:
        """Return a caveat if a member has a better result than the combination."""
        if self._metric is None:
            return ()
        rows = [np.concatenate(blocks) for blocks in zip(*self._statistics, strict=True)]
        result, *others = [self._metric.aggregate(statistics) for statistics in rows]
        best = int(np.argmax(others))
        # Equal results may differ by rounding.
        if result >= others[best] - 1e-12:
            return ()
        where = ", out of fold" if out_of_fold else ""
        return (
            f"its {self._metric.label} of {100 * result:.2f} is below the "
            f"{100 * others[best]:.2f} of its member {names[best]}{where}",
        )


_Method = TypeVar("_Method", bound=Callable[..., Any])


def _guarded(method: _Method) -> _Method:
    """Return a method whose errors of the solver's code are
    :class:`~classic_rc.errors.SystemFailedError`.
    """

    @wraps(method)
    def guarded(self: FittedSystem, *args: Any, **kwargs: Any) -> Any:
        with self.failures():
            return method(self, *args, **kwargs)

    return cast(_Method, guarded)


class FittedSystem:
    """A configured solver, fitted to answer one dataset, and the origin of its tuned constants.

    The solver has an explicit decision (:func:`~classic_rc.running.plan.configure_solver`), and
    `protocol` has the data to learn from and to tune on. With `tune` it is tuned on the tuning
    data, with `cross_fit` out of fold on `dataset`. `shared` has encodings to share with other
    systems, and `name` is its row's name, for errors.

    The constructor raises a UsageError if data is needed that was not given, or gold that is
    hidden. All methods raise a SystemFailedError if the solver's code raised an error.
    """

    def __init__(
        self,
        solver: Solver,
        dataset: Dataset,
        protocol: Protocol | None = None,
        *,
        tune: bool = False,
        cross_fit: bool = False,
        shared: EncodingCache | None = None,
        name: str | None = None,
    ) -> None:
        protocol = protocol or Protocol()
        self._protocol = protocol
        self._name = name
        self.dataset, self.train = dataset, as_dataset(protocol.train)
        self.tune = protocol.tune if tune else None
        self.cross_fit = cross_fit
        self.expected = False  # whether the predictions are expectations over random draws
        self.relative_ties = (
            False  # whether its scores tie relative to their size; known once it has scored
        )
        self._comparison = MemberComparison()
        self._option_orders: tuple[float, float] | None = None
        self._member_scores: list[Scores] = []  # of the last block; of a combination only
        self._configured, self._shared = solver, shared or EncodingCache()
        self.tuned_out_of_fold = (
            False  # it learned from some of the tuning data, whose scores are out of fold
        )
        self._by_fold: Sequence[Any] = ()  # the solver or the decision that answered each fold
        self._learned: OutOfFold | None = None  # solvers that learned out of fold
        self._tuned: OutOfFold | None = None  # solvers whose parameters were tuned out of fold
        learns_here = (
            protocol.cv is not None and solver.learns_from == "gold" and self.train is None
        )
        with self.failures():
            self._learn_and_tune(learns_here)

    def decides_like(self, solver: Solver) -> bool:
        """Return whether :meth:`with_decision` can answer for another configured solver: it
        differs in its decision at most, and that needs nothing from the fit.
        """
        if solver.learns_from != "gold" or self.tune is not None or self.cross_fit:
            return False
        assert self.dataset.task is not None
        decision = solver.decision_for(self.dataset.task)
        if decision.needs_fit or decision.is_open:
            return False
        same_decision = clone_unfitted(solver)
        same_decision.decision = self._configured.decision
        return is_same_solver(same_decision, self._configured)

    def with_decision(self, solver: Solver, name: str) -> FittedSystem:
        """Return a system that has learned what this one has, and answers by the decision of
        `solver`.
        """

        def decide_like(fitted: Solver) -> Solver:
            system = copy(fitted)
            vars(system).pop("decision_", None)
            system.decision = solver.decision
            return system

        system = copy(self)
        system._configured, system._name, system._comparison = solver, name, MemberComparison()
        system.solver = decide_like(self.solver)
        if self._learned is not None:
            system._learned = copy(self._learned)
            system._learned.solvers = [decide_like(fitted) for fitted in self._learned.solvers]
        system.seconds = dict.fromkeys(self.seconds, 0.0)
        return system

    @cached_property
    def _folds(self) -> FoldPlan:
        return fold_plan(self._protocol)

    def failures(self) -> AbstractContextManager[None]:
        """Return a context for code of the solver; see :meth:`Solver.failures`."""
        return self._configured.failures(self._name)

    def _learn_and_tune(self, learns_here: bool) -> None:
        solver = self._configured
        check_data_to_learn(
            solver, self.dataset, replace(self._protocol, tune=self.tune), cross_fit=self.cross_fit
        )
        start = time.perf_counter()
        questions = self._shared.of(self.dataset)
        if learns_here:
            self.solver = solver
            self._learned = OutOfFold(self._learn, questions, self._folds.folds(questions))
        else:
            self.solver = self._learn(None if self.train is None else self._shared.of(self.train))
        if self.cross_fit and solver.tunes_parameters:
            self._tuned = OutOfFold(self._tune_on, questions, self._folds.folds(questions))
        self.seconds = {"encode": 0.0, "fit": time.perf_counter() - start, "score": 0.0}

    def _learn(self, train: Sequence[Question] | None) -> Solver:
        """Return the fitted solver, tuned if there is tuning data.

        If it learns from some of the tuning data, it is tuned on scores of solvers that have not:
        its own scores of questions that it has learned from say nothing about those of other
        questions.
        """
        solver = self._fit(train)
        if self.tune is None:
            return solver
        questions, folds = self._shared.of(self.tune), None
        if train is not None and solver.learns_from == "gold":
            folds = self._folds.folds_apart(_dataset_of(train), self.tune)
        if train is None or folds is None:
            return solver.tune(questions)
        if "scorer" not in inspect.signature(solver.tune).parameters:
            raise UsageError(
                f"{solver.name} learned from some of {self.tune.name}, and its tune() cannot take "
                "the scores of solvers that did not: write tune(self, questions, scorer=None), or "
                "tune on other data (--tune)",
                field="tune",
                found=self.tune.name,
                expected="questions that it has not learned from, or a parameter `scorer`",
            )
        self.tuned_out_of_fold = True
        return solver.tune(questions, OutOfFold(self._fit, train, folds))

    def _fit(self, train: Sequence[Question] | None) -> Solver:
        return clone_unfitted(self._configured).fit_for(self._shared.of(self.dataset), train)

    def _tune_on(self, questions: Sequence[Question]) -> Solver:
        """Return the fitted solver, its parameters tuned on some of the dataset's own questions."""
        return self._fit(None if self.train is None else self._shared.of(self.train)).tune(
            questions
        )

    @staticmethod
    def needs_tuning(solver: Solver, dataset: Dataset) -> bool:
        """Return whether a configured solver must be tuned before it can answer."""
        assert dataset.task is not None
        return solver.tunes_parameters or solver.decision_for(dataset.task).needs_fit

    @property
    def fitted_solver(self) -> Solver:
        """The fitted solver, or that of the first fold if it learns out of fold."""
        return self.solver if self._learned is None else self._learned.solvers[0]

    @property
    def decision(self) -> Decision:
        """The fitted decision, or the configured one without tuning."""
        assert self.dataset.task is not None
        solver = self.fitted_solver
        decision: Decision = getattr(solver, "decision_", None) or solver.decision_for(
            self.dataset.task
        )
        return decision

    @cached_property
    @_guarded
    def caveats(self) -> tuple[str, ...]:
        """The caveats of the fitted solver, or of the solvers of all folds."""
        solvers = [self.solver] if self._learned is None else self._learned.solvers
        caveats = [c for solver in solvers for c in solver.caveats(self.dataset)]
        out_of_fold = self._learned is not None or self.cross_fit
        caveats += self._comparison.caveats(self.fitted_solver.member_names, out_of_fold)
        if self.tuned_out_of_fold and self.tune is not None:
            warning = self._folds.groups(self.tune).warning
            caveats += [f"{self.tune.name}: {warning}"] if warning else []
        return tuple(dict.fromkeys(caveats))

    @property
    def tuned_here(self) -> bool:
        """Whether it was tuned on the same content that it answers."""
        return self.tune is not None and self.tune.fingerprint == self.dataset.fingerprint

    @property
    def uses_folds(self) -> bool:
        """Whether it learned or was tuned out of fold."""
        return self.cross_fit or self.tuned_out_of_fold or self._learned is not None

    @property
    def fold_groups(self) -> str | None:
        """The key whose equal values folds keep together, with the digest of the values."""
        if not self.uses_folds or (key := self._folds.group) is None:
            return None
        questions = chain(self.dataset, self.tune or (), self.train or ())
        return f"{key}@{values_digest(questions, key)}"

    def solver_of(self, i: int) -> Solver:
        """Return the solver that scores question `i` of the dataset: with one solver per fold,
        its fold's.
        """
        by_fold = self._learned or self._tuned
        return self.solver if by_fold is None else by_fold.solvers[by_fold.fold_of[i]]

    @_guarded
    def score(self, block: QuestionBlock, jobs: int = 1) -> Scores:
        """Score a block of the dataset."""
        questions = block.questions
        by_fold = self._learned or self._tuned
        start = time.perf_counter()
        if by_fold is not None:
            scored = by_fold.score_with_members(*block)
        else:
            if self.solver.analyzer is not None and self.solver.takes_encoding:
                questions = encode(questions, self.solver.analyzer)
                self.seconds["encode"] += time.perf_counter() - start
                start = time.perf_counter()
            scored = score_in_shards(self.solver, questions, jobs)
        self.seconds["score"] += time.perf_counter() - start
        scores, *self._member_scores = scored
        self.relative_ties = scores.relative_ties
        return scores

    @_guarded
    def compare_option_orders(self, block: QuestionBlock, scores: Scores) -> None:
        """Measure how far a learner's result moves with the order of the options, after its
        decisions.
        """
        solver, by_fold = self.fitted_solver, self._learned or self._tuned
        if (
            not solver.is_trained
            or solver.has_given_scores
            or not block.questions[0].task.has_choices
        ):
            return

        def score(index: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
            copies, places = self._shared.reordered(self.dataset, index, seed)
            scores = (
                score_questions(solver, copies) if by_fold is None else by_fold.score(index, copies)
            )
            values = np.empty(len(places))
            values[places] = scores.values
            return values

        decide = partial(self.decide_for_copy, block)
        self._option_orders = range_over_orders(block.questions, scores, score, decide)

    @_guarded
    def decide(self, block: QuestionBlock, scores: Scores) -> Sequence[Prediction]:
        """Answer a block of the dataset; it must be the whole dataset if a threshold is tuned
        out of fold.
        """
        index, questions = block
        predictions: Sequence[Prediction]
        start = time.perf_counter()
        if self._tuned is not None:
            predictions = self._tuned.decide(scores, questions, index)
            self._by_fold = self._tuned.solvers
        elif self.cross_fit:
            folds = self._folds.folds(questions)
            predictions, self._by_fold = cross_fit(self.decision, scores, questions, folds)
        elif self._learned is not None and hasattr(self.fitted_solver, "decision_"):
            predictions = self._learned.decide(scores, questions, index)
            self._by_fold = [solver.decision_ for solver in self._learned.solvers]
        else:
            predictions = self.decision.decide(scores, questions)
        self.seconds["score"] += time.perf_counter() - start
        return predictions

    @_guarded
    def compare_members(self, block: QuestionBlock, predictions: Sequence[Prediction]) -> None:
        """Measure the answers to the last block that was scored and, for a combination, those of
        its members.
        """
        if not self._member_scores or self.expected:
            return
        questions = block.questions
        decided = [self._decide_alone(scores, questions) for scores in self._member_scores]
        answered = [answers for answers in decided if answers is not None]
        if len(answered) == len(decided):
            self._comparison.add(self._member_metric(), questions, [predictions, *answered])

    def _decide_alone(
        self, scores: Scores, questions: Sequence[Question]
    ) -> Sequence[Prediction] | None:
        """Answer with a member's scores; None if they cannot answer by the combination's rule."""
        decision = self.decision
        if isinstance(decision, Argmax):
            return decision.decide(scores, questions)
        # a member has its own unit, so its threshold is tuned too
        if isinstance(decision, TunedThreshold):
            folds = self._folds
            if int(passage_groups(questions, folds.group).max(initial=0)) > 0:
                return cross_fit(decision, scores, questions, folds.folds(questions))[0]
        return None

    def _member_metric(self) -> Metric:
        assert self.dataset.task is not None
        if isinstance(self.decision, TunedThreshold):
            return selection_metric(self.decision.metric)
        return primary_metric(self.dataset)

    @_guarded
    def decide_in_expectation(self, block: QuestionBlock, scores: Scores) -> Sequence[Prediction]:
        """Answer a block in closed form if the solver draws at random and has one, else as
        :meth:`decide` does.
        """
        predictions = self.solver.expectation(block.questions)
        if predictions is None:
            return self.decide(block, scores)
        self.expected = True
        return predictions

    @_guarded
    def decide_for_copy(self, block: QuestionBlock, scores: Scores) -> Sequence[Prediction]:
        """Answer a changed copy of a block that is already decided, with the thresholds found for
        the original.

        The copy has the same questions in the same order.
        """
        if self.expected or not self.cross_fit or self._tuned is not None:
            return self.decide_in_expectation(block, scores)
        predictions: dict[int, Prediction] = {}
        for rule, (_, held_out) in zip(self._by_fold, self._folds.folds(self.dataset), strict=True):
            places = held_out.tolist()
            answers = rule.decide(scores.take(held_out), [block.questions[i] for i in places])
            predictions.update(zip(places, answers, strict=True))
        return [predictions[i] for i in range(len(block.questions))]

    def facts(self) -> dict[str, Any]:
        """Return the facts about decisions for a row, by field of
        :class:`~classic_rc.results.outcomes.Row`.
        """
        decision = self.decision
        ties = decision.ties if isinstance(decision, Argmax) else None
        seed = getattr(decision if ties == "random" else self.solver, "seed", None)
        return {
            "expected": self.expected,
            "ties": None if self.expected else ties,
            "seed": None if self.expected else seed,
            "threshold": self._threshold(),
            "tuned_here": self.tuned_here,
            "tuned_params": self._tuned_params(),
            "option_orders": self._option_orders,
            "copied": self.copied,
            "trained_elsewhere": self.copied is None
            and learned_elsewhere(self.solver, self.dataset, self.train),
            **self.origins(lambda dataset: dataset.name),
        }

    def origins(self, label: Callable[[Dataset | TrainedOn], str]) -> dict[str, str | None]:
        """Return the labels of the data that it was tuned on and trained on."""
        tuned_on = None if self.tune is None else label(self.tune)
        if self.cross_fit:
            tuned_on = self._folds.label
        if self.tuned_out_of_fold:
            tuned_on = f"{tuned_on} out of fold ({self._folds.label})"
        return {"tuned_on": tuned_on, "trained_on": self._trained_on(label)}

    @cached_property
    def copied(self) -> NDArray[np.bool_] | None:
        """Which questions of the dataset it learned from, in this run or before; None without
        any.
        """
        solver = self.fitted_solver
        if not solver.is_trained:
            return None
        masks = [trained_on.copied(self.dataset) for trained_on in solver.learned_before]
        if solver.learns_from == "gold" and self.train is not None:
            masks.append(find_copied(self.dataset, self.train))
        return join_copies(masks)

    def _threshold(self) -> float | list[float] | None:
        decision = self.decision
        if isinstance(decision, Threshold):
            # A solver's own fixed rule (all-positive) adds nothing to its name.
            assert self.dataset.task is not None
            default = self.solver.default_decision(self.dataset.task)
            return None if isinstance(default, Threshold) else float(decision.value)
        if isinstance(decision, TunedThreshold):
            rules = [getattr(fold, "decision_", fold) for fold in self._by_fold]
            folds = [rule.best_threshold_ for rule in rules if isinstance(rule, TunedThreshold)]
            return folds or decision.best_threshold_
        return None

    def _tuned_params(self) -> dict[str, Any]:
        params = self.solver.get_params(deep=False) if self.solver.tunes_parameters else {}
        names = [
            name for name, value in params.items() if isinstance(value, str) and value == "tuned"
        ]
        if self.cross_fit:
            return {name: [getattr(fold, f"{name}_") for fold in self._by_fold] for name in names}
        tuned = {name: getattr(self.solver, f"{name}_") for name in names}
        # With a decision of each fold, no constant is the row's.
        fitted = vars(self.decision) if self._learned is None else {}
        for name in self.decision.parameters:
            if f"{name}_" in fitted:
                tuned[name] = fitted[f"{name}_"]
        return tuned

    def _trained_on(self, label: Callable[[Dataset | TrainedOn], str]) -> str | None:
        before = list(map(label, self.fitted_solver.learned_before))
        if self.solver.learns_from == "nothing":
            return " + ".join(before) or None
        if self._learned is not None:
            return " + ".join([self._folds.label, *before])
        names = [label(self.train)] if self.train is not None else []
        if self.solver.learns_from == "passages":
            return "passages of " + " + ".join([*names, label(self.dataset)])
        return " + ".join([*names, *before])


def _dataset_of(questions: Sequence[Question]) -> Dataset:
    while isinstance(questions, EncodedDataset | SharedQuestions):
        questions = questions.questions
    assert isinstance(questions, Dataset)  # so is each part of a dataset
    return questions


MIN_SHARD_PASSAGES = 25_000
"""Fewer passages than this are scored faster than another process starts and imports its
modules.
"""

MIN_FORK_PASSAGES = 1_000
"""Fewer passages than this are not worth a fork."""


def score_in_shards(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> list[Scores]:
    """Return the solver's scores, computed by up to `jobs` processes; for a combination also those
    of each member.

    The processes are forks if the solver needs nothing but arrays and this process can be forked,
    else processes of joblib's current backend. The scores of a question depend only on that
    question, so neither changes them.
    """
    if jobs == 1 or not isinstance(questions, EncodedDataset):
        return _checked_with_members(solver, questions, jobs)
    n_passages = len(questions.arrays.passage_offsets) - 1
    n_forks = _count_forks(solver, n_passages, jobs)
    if n_forks > 1:
        shards = questions.shards(n_forks, with_questions=False)
        scored_shards = map_in_forks(partial(_checked_with_members, solver), shards)
        return [_join_shards(questions, scored) for scored in zip(*scored_shards, strict=True)]
    n_shards = n_passages // MIN_SHARD_PASSAGES
    if n_shards < 2:
        return _checked_with_members(solver, questions)
    from joblib import Parallel, delayed, effective_n_jobs

    n_shards = note_processes(min(effective_n_jobs(jobs), n_shards))
    if n_shards < 2:
        return _checked_with_members(solver, questions)
    shards = questions.shards(n_shards, with_questions=not solver.needs_only_arrays)
    with reporters(len(shards)) as reporting:
        parts = Parallel(n_jobs=n_shards)(
            delayed(reporter)(_checked_with_members, solver, shard)
            for reporter, shard in zip(reporting, shards, strict=True)
        )
    return [_join_shards(questions, scored) for scored in zip(*parts, strict=True)]


def _count_forks(solver: Solver, n_passages: int, jobs: int) -> int:
    n_forks = min(count_jobs(jobs), n_passages // MIN_FORK_PASSAGES)
    # Learned models have libraries that may have threads.
    has_arrays_only = solver.needs_only_arrays and solver.learns_from != "gold"
    return n_forks if n_forks > 1 and has_arrays_only and can_fork() else 1


def _join_shards(questions: EncodedDataset, shards: Sequence[Scores]) -> Scores:
    values = np.concatenate([shard.values for shard in shards])
    evidence = np.concatenate([shard.evidence for shard in shards])
    scores = questions.in_order(values, evidence)
    return replace(scores, relative_ties=all(shard.relative_ties for shard in shards))


def _checked_with_members(
    solver: Solver, questions: Sequence[Question], jobs: int = 1
) -> list[Scores]:
    with solver.failures():  # here, because errors of other processes come without their place
        if solver.members:
            return solver.score_with_members(questions)
        return [_checked(solver, questions, jobs)]


def _checked(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> Scores:
    """Return the solver's scores, after checking their shape."""
    scores = (
        score_questions(solver, questions) if jobs == 1 else solver.score_with_jobs(questions, jobs)
    )
    if isinstance(questions, EncodedDataset):
        offsets = questions.score_offsets
    else:
        offsets = offsets_of([len(q.candidates) for q in questions])
    if not np.array_equal(scores.offsets, offsets):
        n_candidates, n_questions = offsets[-1], len(offsets) - 1
        actual = f"{len(scores.values)} scores in {len(scores)} rows"
        raise OutputError(
            f"score_candidates of solver {solver.name!r} must return one score per candidate: got "
            f"{actual} for {n_candidates} candidates of {n_questions} questions",
            field="score_candidates",
            found=actual,
            expected=f"{n_candidates} scores in {n_questions} rows",
        )
    return scores
