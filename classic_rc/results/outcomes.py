"""A row of results: one system's outcome on every question, the facts about it, and the
collector of outcomes.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics.base import METRICS, Metric, ScoreMetric, primary_metric
from classic_rc.predictions import Answer, AnswerCounts, ChosenOptions, Prediction, Scores
from classic_rc.questions import Dataset, Question, Task, candidate_texts
from classic_rc.results.resampling import ALPHA
from classic_rc.results.signature import Signature
from classic_rc.solvers.base import Solver
from classic_rc.systems import OUT_OF_FOLD, System
from classic_rc.tables.model import baseline_letter

# Fields that a row of several runs keeps only if all runs agree, and their values otherwise.
_OF_ONE_RUN: Mapping[str, Any] = {
    "seed": None,
    "threshold": None,
    "tuned_params": {},
    "option_orders": None,
}
_TRIVIAL_SYSTEMS = frozenset({"random", "constant-position", "longest", "shortest", "majority"})
_NAMED_SYSTEMS = 3
N_ORDERS = 5
"""The number of orders of the options that are drawn, with the seeds 0 to 4. The given order is
one more.
"""


@dataclass(frozen=True)
class Outcomes:
    """A system's outcome on every question, in the dataset's order; all numbers of a row follow
    from it.
    """

    # By metric name, shape (n_questions, n_statistics); of several runs (n_questions, n_runs,
    # n_statistics).
    statistics: Mapping[str, NDArray[np.float64]]
    # candidates that share the best score, in the run with most, shape (n_questions,)
    n_tied: NDArray[np.int64]
    # candidates in the answer, expected ones for a draw, shape (n_questions,)
    n_selected: NDArray[np.float64]
    n_candidates: NDArray[np.int64]  # shape (n_questions,)
    # Whether the passage contributed to any candidate's score, shape (n_questions,); None without
    # scores.
    evidence: NDArray[np.bool_] | None
    # Candidate indices or texts, the first of a tie; None for no answer; of several runs a list of
    # them.
    answers: tuple[Any, ...]

    @property
    def runs(self) -> int:
        """The number of runs of the system, whose mean counts."""
        run_counts = [rows.shape[1] for rows in self.statistics.values() if rows.ndim == 3]
        return max(run_counts, default=1)

    @classmethod
    def join(cls, runs: Sequence[Outcomes]) -> Outcomes:
        """Return the outcomes of several runs of one system."""
        first = runs[0]
        statistics = {}
        for name in first.statistics:
            parts = [outcomes.statistics[name] for outcomes in runs]
            by_run = [rows if rows.ndim == 3 else rows[:, np.newaxis] for rows in parts]
            statistics[name] = np.concatenate(by_run, axis=1)
        answers = []
        for outcomes in runs:
            lists = outcomes.answers if outcomes.runs > 1 else [[a] for a in outcomes.answers]
            answers.append(lists)
        joined = tuple(list(itertools.chain(*lists)) for lists in zip(*answers, strict=True))
        n_tied = np.max([outcomes.n_tied for outcomes in runs], axis=0)
        n_runs = [outcomes.runs for outcomes in runs]
        n_selected = np.average([outcomes.n_selected for outcomes in runs], axis=0, weights=n_runs)
        return cls(statistics, n_tied, n_selected, first.n_candidates, first.evidence, joined)

    def part(self, mask: NDArray[np.bool_]) -> Outcomes:
        """Return the outcomes on some of the questions."""
        return Outcomes(
            statistics={name: rows[mask] for name, rows in self.statistics.items()},
            n_tied=self.n_tied[mask],
            n_selected=self.n_selected[mask],
            n_candidates=self.n_candidates[mask],
            evidence=None if self.evidence is None else self.evidence[mask],
            answers=tuple(itertools.compress(self.answers, mask)),
        )


class Block(StrEnum):
    """What a system had learned from before it answered. Comparing systems of different blocks is
    not fair.

    Tables show the blocks in this order.
    """

    UNTRAINED = "learns nothing"
    TRAINED = "trained"
    GIVEN = "given scores"
    PUBLISHED = "published"

    @classmethod
    def of(cls, solver: Solver) -> Block:
        """Return the block of a fitted solver's row."""
        if solver.is_trained:
            return cls.TRAINED
        return cls.GIVEN if solver.has_given_scores else cls.UNTRAINED

    @property
    def heading(self) -> str:
        """The line above the block's rows in a table."""
        return _HEADINGS[self]


_HEADINGS = {
    Block.UNTRAINED: "learns nothing from gold answers",
    Block.TRAINED: "trained on gold answers",
    Block.GIVEN: "given scores or answers, of unknown training",
    Block.PUBLISHED: "published by others",
}


class Tested(NamedTuple):
    """The test of a row against the baselines, on all questions or on a group of them."""

    metric: str = ""
    p_value: float | None = (
        None  # adjusted, of the difference from the one baseline; None if it was not tested
    )
    beats: tuple[
        int, ...
    ] = ()  # of several baselines, those that the row is significantly better than

    @property
    def is_significant(self) -> bool:
        """Whether the row differs significantly from the one baseline."""
        return self.p_value is not None and self.p_value < ALPHA

    @property
    def mark(self) -> str:
        """The mark in tables: an asterisk, or a letter for each baseline that the row is better
        than.
        """
        return "*" if self.is_significant else "".join(map(baseline_letter, self.beats))


UNTESTED = Tested()


@dataclass(frozen=True)
class Row:
    """One system's results on one dataset."""

    solver: str  # its name
    variant: str | None  # its name; None if the parameters are not those of a published variant
    params: Mapping[str, Any]  # all constructor parameters
    signature: str  # everything that is needed to reproduce the numbers
    short_signature: str
    outcomes: Outcomes
    expected: bool = False  # whether the metrics are expectations over random draws, in closed form
    ties: str | None = None  # the tie policy; None if answers come from a threshold
    seed: int | None = None  # of the random draws; None without draws
    threshold: float | list[float] | None = (
        None  # that was used; a list with one per fold if it was cross-fitted
    )
    tuned_on: str | None = None  # the name of the data; "cv5" if tuned out of fold
    tuned_here: bool = False  # whether it was tuned on the same data that it reports
    # The chosen value of each tuned parameter, by name; a list with one per fold if tuned out of
    # fold.
    tuned_params: Mapping[str, Any] = field(default_factory=dict)
    trained_on: str | None = None  # the name of the data; "cv5" if learned out of fold
    # Whether it learned from gold of other datasets only, and not from another split of the one
    # that it reports.
    trained_elsewhere: bool = False
    # Questions that it learned from, or whose passages it learned from in gold answers, shape
    # (n_questions,); None if there are none.
    copied: NDArray[np.bool_] | None = None
    # The lowest and the highest primary metric over several orders of the options; None if it
    # learned nothing, or its scores do not depend on the order.
    option_orders: tuple[float, float] | None = None
    # whether it learned from gold, from nothing, or its scores were given
    block: Block = Block.UNTRAINED
    caveats: tuple[
        str, ...
    ] = ()  # from fitting, for example that a learner stopped before it converged
    answers: AnswerCounts | None = None  # of a file of answers: how many of them say something
    # of "read", "encode", "fit" and "score": wall time
    seconds: Mapping[str, float] = field(default_factory=dict)
    label: str | None = None  # the name of the row, if it is not that of its solver and variant

    @classmethod
    def join(cls, name: str, runs: Sequence[Row]) -> Row:
        """Return the row of several runs of one system; what differs between them is a list in
        `params`.
        """
        first = runs[0]
        if len(runs) == 1:
            return replace(first, label=name)
        answers = [row.answers for row in runs if row.answers is not None]
        signature = Signature.join([Signature.parse(row.signature) for row in runs])
        params: dict[str, Any] = {}
        for key in first.params:
            values = [row.params.get(key) for row in runs]
            is_same = all(value == values[0] for value in values)
            params[key] = values[0] if is_same else values
        differing = {}
        for key, placeholder in _OF_ONE_RUN.items():
            if any(getattr(row, key) != getattr(first, key) for row in runs):
                differing[key] = placeholder
        caveats = dict.fromkeys(caveat for row in runs for caveat in row.caveats)
        seconds = {step: sum(row.seconds.get(step, 0.0) for row in runs) for step in first.seconds}
        return replace(
            first,
            label=name,
            params=params,
            signature=str(signature),
            short_signature=signature.short,
            outcomes=Outcomes.join([row.outcomes for row in runs]),
            copied=join_copies(row.copied for row in runs),
            **differing,
            caveats=tuple(caveats),
            answers=AnswerCounts.join(answers) if answers else None,
            seconds=seconds,
        )

    @classmethod
    def join_renamed(cls, rows: Iterable[Row], new: Mapping[str, str]) -> tuple[Row, ...]:
        """Return the renamed rows; rows with the same new name are runs of one system and become
        one row.
        """
        runs_by_name: dict[str, list[Row]] = {}
        for row in rows:
            runs_by_name.setdefault(new.get(row.name, row.name), []).append(row)
        return tuple(cls.join(name, runs) for name, runs in runs_by_name.items())

    def deviation(
        self, metric: Metric, questions: NDArray[np.bool_] | slice = slice(None)
    ) -> float | None:
        """Return the standard deviation of a metric over the runs; None for one run, or without
        questions.
        """
        rows = self.statistics[metric.name][questions]
        if self.runs == 1 or not len(rows):
            return None
        return float(metric.of_runs(rows).std(ddof=1))

    @property
    def runs(self) -> int:
        """The number of runs of the system, whose mean counts."""
        return self.outcomes.runs

    @property
    def statistics(self) -> Mapping[str, NDArray[np.float64]]:
        """Each metric's statistics, one row per question; see :class:`Outcomes`."""
        return self.outcomes.statistics

    @property
    def is_chance(self) -> bool:
        """Whether it is the random baseline in expectation."""
        return self.expected and self.solver == "random"

    def part(self, mask: NDArray[np.bool_]) -> Row:
        """Return the row on some of the questions."""
        copied = None if self.copied is None else join_copies([self.copied[mask]])
        return replace(self, outcomes=self.outcomes.part(mask), copied=copied)

    def lacks_answers(self, mask: NDArray[np.bool_], task: Task) -> bool:
        """Return whether answers of the system's file to some of these questions count as wrong
        because they say nothing.
        """
        counts, outcomes = self.answers, self.outcomes
        if counts is None or not counts.note:
            return False
        if mask.all():
            return True
        has_shares = (
            task not in (Task.MULTIPLE_ANSWER, Task.MULTI_SPAN) and outcomes.evidence is None
        )
        if has_shares:  # of each question's samples that say something
            return bool((outcomes.n_selected[mask] < 1 - 1e-9).any())
        if counts.answers > len(mask) * self.runs:  # unknown which of several samples say something
            return True
        if outcomes.evidence is not None:  # the answers were read as scores
            return not outcomes.evidence[mask].all()
        answers = itertools.compress(outcomes.answers, mask)
        return any(answer is None or (self.runs > 1 and None in answer) for answer in answers)

    @property
    def name(self) -> str:
        """The name in tables and records; no two rows of an evaluation share one."""
        return self.kind if self.label is None else self.label

    @property
    def kind(self) -> str:
        """The solver with its variant."""
        return f"{self.solver}:{self.variant}" if self.variant else self.solver

    def metrics(self, questions: NDArray[np.bool_] | slice = slice(None)) -> dict[str, float]:
        """Return every metric by name, as a fraction, over all questions or over those of a
        mask.
        """
        return {
            name: METRICS[name].aggregate(rows[questions])
            for name, rows in self.outcomes.statistics.items()
        }

    @property
    def tie_rate(self) -> float | None:
        """The share of questions with several best candidates; None if no best candidate is
        chosen.
        """
        if self.ties is None:
            return None
        n_tied = self.outcomes.n_tied
        return float((n_tied > 1).mean()) if len(n_tied) else 0.0

    @property
    def selected_share(self) -> float | None:
        """The share of all candidates that are in the answers; None if there are no candidates."""
        total = self.outcomes.n_candidates.sum()
        return float(self.outcomes.n_selected.sum() / total) if total else None

    @property
    def no_evidence(self) -> int | None:
        """Number of questions where the passage contributed to no candidate's score; None if
        unknown.
        """
        return None if self.outcomes.evidence is None else int((~self.outcomes.evidence).sum())


def join_copies(masks: Iterable[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    """Return the questions that are in any of the masks of copies, or None if there are none."""
    nonempty = [mask for mask in masks if mask is not None and mask.any()]
    return np.logical_or.reduce(nonempty) if nonempty else None


def to_plain(value: Any) -> Any:
    """Return a value as plain data for JSON: mappings and tuples become dicts and lists."""
    if isinstance(value, AnswerCounts):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: to_plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return list(map(to_plain, value))
    return str(value) if isinstance(value, StrEnum) else value


def join_runs(rows: Sequence[Row], systems: Iterable[System]) -> tuple[Row, ...]:
    """Return the rows with those of the runs of one system as one row, where all of them have
    one.
    """
    row_names = {row.name for row in rows}
    runs: dict[str, list[str]] = {}
    for system in systems:
        for end in () if system.run_of is None else ("", OUT_OF_FOLD):
            runs.setdefault(f"{system.run_of}{end}", []).append(f"{system.name}{end}")
    complete = {name: members for name, members in runs.items() if row_names.issuperset(members)}
    return Row.join_renamed(
        rows, {member: name for name, members in complete.items() for member in members}
    )


class OutcomeTally:
    """A collector of the outcomes of questions, block by block."""

    def __init__(self, metrics: Sequence[Metric], n_questions: int) -> None:
        self._metrics = metrics
        self._statistics: dict[str, NDArray[np.float64]] = {}
        self._n_tied = np.ones(n_questions, dtype=np.int64)
        self._n_selected = np.zeros(n_questions)
        self._n_candidates = np.zeros(n_questions, dtype=np.int64)
        self._evidence: NDArray[np.bool_] | None = np.zeros(n_questions, dtype=np.bool_)
        self._answers = np.full(n_questions, None, dtype=object)

    def add(
        self,
        index: NDArray[np.int64],
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        scores: Scores | None,
        *,
        are_draws: bool = False,
    ) -> None:
        """Measure the predictions for the questions at positions `index`.

        The evidence flags of `scores` mark the candidates that the passage contributed to. With
        `are_draws` they are one random draw, and the predictions an expectation over draws. A
        metric that needs scores refuses to do without them.
        """
        for metric in self._metrics:
            if isinstance(metric, ScoreMetric) and scores is not None and not are_draws:
                rows = metric.statistics_of_scores(questions, scores)
            else:
                rows = metric.statistics(questions, predictions)
            if metric.name not in self._statistics:
                shape = len(self._n_tied), rows.shape[1]
                self._statistics[metric.name] = np.zeros(shape)
            self._statistics[metric.name][index] = rows
        if scores is None:
            self._evidence = None
        elif self._evidence is not None:
            n_flags = np.concatenate(([0], np.cumsum(scores.evidence)))  # before each candidate
            starts, ends = scores.offsets[:-1], scores.offsets[1:]
            self._evidence[index] = n_flags[ends] > n_flags[starts]
        if isinstance(predictions, ChosenOptions):
            self._add_choices(index, predictions)
        else:
            self._add_answers(index, predictions)

    def _add_choices(self, index: NDArray[np.int64], choices_of_questions: ChosenOptions) -> None:
        n_answers = np.diff(choices_of_questions.offsets)
        self._n_tied[index], self._n_candidates[index] = (
            choices_of_questions.n_tied,
            choices_of_questions.n_candidates,
        )
        self._n_selected[index] = n_answers > 0
        # few distinct choices, so few lists
        choices = np.full(choices_of_questions.n_candidates.max(initial=0), None, dtype=object)
        for option in range(len(choices)):
            choices[option] = [option]
        # An expectation over draws has more answers than ties: no single answer exists.
        is_single = (n_answers > 0) & (n_answers <= choices_of_questions.n_tied)
        starts = choices_of_questions.offsets[:-1]
        firsts = choices_of_questions.options[starts[is_single]]
        self._answers[index[is_single]] = choices[firsts]

    def _add_answers(self, index: NDArray[np.int64], predictions: Sequence[Prediction]) -> None:
        self._n_tied[index] = [p.n_tied for p in predictions]
        self._n_selected[index] = [_expected_selections(p) for p in predictions]
        self._n_candidates[index] = [p.n_candidates for p in predictions]
        plain: dict[Answer, list[Any]] = {}  # equal answers share one list
        for i, prediction in zip(index.tolist(), predictions, strict=True):
            if 0 < len(prediction.answers) <= prediction.n_tied:
                answer = prediction.answers[0]
                if answer not in plain:
                    plain[answer] = plain_answer(answer)
                self._answers[i] = plain[answer]

    def outcomes(self) -> Outcomes:
        """Return the collected outcomes."""
        return Outcomes(
            self._statistics,
            self._n_tied,
            self._n_selected,
            self._n_candidates,
            self._evidence,
            tuple(self._answers.tolist()),
        )


def _expected_selections(prediction: Prediction) -> float:
    if prediction.selection_probability is not None:
        return prediction.selection_probability * prediction.n_candidates
    if prediction.weights:
        sizes = [len(answer) for answer in prediction.answers]
        return float(np.average(sizes, weights=prediction.weights)) * prediction.answered_share
    return float(len(prediction.answers[0])) if prediction.answers else 0.0


def plain_answer(answer: Answer) -> list[Any]:
    """Return an answer as plain data: sorted candidate indices, or texts."""
    return sorted(answer) if isinstance(answer, frozenset) else list(answer)


def trivial_note(dataset: Dataset, rows: Sequence[Row]) -> str | None:
    """Return a sentence if the best constant position, or a length, beats a system; None otherwise.

    The position is chosen on the data itself, so it shows how uneven the order of the options is.
    Of options of equal length, each has an equal part of the credit.
    """
    systems = [row for row in rows if row.solver not in _TRIVIAL_SYSTEMS]
    if dataset.task is not Task.SINGLE_CHOICE or not systems:
        return None
    sizes, lengths, right = array("q"), array("q"), array("q")
    golds = Counter(question.gold for question in dataset)  # many questions have the same
    positions: Counter[int] = Counter()
    for gold, n in golds.items():
        positions.update({option: n for option in gold or () if isinstance(option, int)})
    for question in dataset:
        options = [option for option in question.gold or () if isinstance(option, int)]
        right.extend([len(lengths) + option for option in options])
        texts = candidate_texts(question.candidates)
        lengths.extend(map(len, texts))
        sizes.append(len(texts))
    # Of positions that are right equally often, the first counts.
    position = min(positions, key=lambda option: (-positions[option], option), default=0)
    longest = _credit_of_ends(np.maximum, sizes, lengths, right)
    shortest = _credit_of_ends(np.minimum, sizes, lengths, right)
    totals = {
        f"always option {position + 1}": positions[position],
        "the longest option": longest,
        "the shortest option": shortest,
    }
    n_questions = len(dataset)
    best, what = max((total / n_questions, kind) for kind, total in totals.items())
    measured = [(row.name, row.metrics().get("accuracy", 1.0)) for row in systems]
    beaten = [f"{name} ({100 * value:.2f})" for name, value in measured if value < best]
    if not beaten:
        return None
    more = f" and {len(beaten) - _NAMED_SYSTEMS} more" if len(beaten) > _NAMED_SYSTEMS else ""
    return (
        f"{what} reaches an accuracy of {100 * best:.2f}, above "
        f"{', '.join(beaten[:_NAMED_SYSTEMS])}{more}"
    )


def _credit_of_ends(
    end: np.ufunc, sizes: array[int], lengths: array[int], right: array[int]
) -> float:
    """Return the sum over questions of the share of right options among the longest or the
    shortest ones.
    """
    counts, values = np.array(sizes, np.int64), np.array(lengths, np.int64)
    counts = counts[counts > 0]
    if not len(counts):
        return 0.0
    question = np.repeat(np.arange(len(counts)), counts)
    is_end = values == end.reduceat(values, offsets_of(counts)[:-1])[question]
    is_right = np.bincount(np.array(right, np.int64), minlength=len(values)) > 0
    n_ends = np.bincount(question[is_end], minlength=len(counts))
    n_right_ends = np.bincount(question[is_end & is_right], minlength=len(counts))
    return float(np.sum(n_right_ends / n_ends))


# --------------------------------------------------------------------------------------------------
# How far a learner's result moves if the options of each question come in another order

_N_TRIED = 200
"""If a solver's scores of this many questions do not depend on the order, the others are not
scored again.
"""

_ROUNDING = 1e-9
"""Sums in another order differ by less."""


def reorder_options(
    questions: Sequence[Question], seed: int
) -> tuple[list[Question], NDArray[np.int64]]:
    """Return the questions with their options in a drawn order and without gold, and where each
    option was.

    Option i of all copies is option ``places[i]`` of all questions.
    """
    sizes = np.array([len(question.candidates) for question in questions], dtype=np.int64)
    draws = uniform_draws(text_keys(question.id for question in questions), sizes, seed)
    places = np.lexsort((draws, np.repeat(np.arange(len(sizes)), sizes)))
    copies = []
    starts = offsets_of(sizes)[:-1].tolist()
    for question, start, size in zip(questions, starts, sizes.tolist(), strict=True):
        order = (places[start : start + size] - start).tolist()
        candidates = tuple(question.candidates[i] for i in order)
        copies.append(replace(question, candidates=candidates, gold=None))
    return copies, places


def range_over_orders(
    questions: Sequence[Question],
    scores: Scores,
    score_reordered: Callable[[NDArray[np.int64], int], NDArray[np.float64]],
    decide: Callable[[Scores], Sequence[Prediction]],
) -> tuple[float, float] | None:
    """Return the lowest and the highest result over the given order of the options and
    :data:`N_ORDERS` others.

    It is in the task's primary metric; None if the scores do not depend on the order.
    `score_reordered` takes the positions of some questions and the seed of an order, and returns
    the scores that their options have in that order, flat, with the options in the given order.
    """
    spread = np.linspace(0, len(scores) - 1, _N_TRIED).round()
    tried = np.unique(spread.astype(np.int64))
    expected = scores.take(tried).values
    if np.allclose(score_reordered(tried, 0), expected, rtol=_ROUNDING, atol=_ROUNDING):
        return None
    metric = primary_metric(questions[0])
    results = [metric(questions, decide(scores))]
    everything = np.arange(len(scores))
    for seed in range(N_ORDERS):
        reordered = score_reordered(everything, seed)
        results.append(metric(questions, decide(replace(scores, values=reordered))))
    return min(results), max(results)
