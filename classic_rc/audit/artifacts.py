"""Artifacts and shortcuts: how far fixed rules and learners get that read only part of the input."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.learned import (
    CHARACTERS,
    LEARNING_ERRORS,
    PASSAGE_WORDS,
    QUESTION_WORDS,
    SOLVER_ROWS,
    SURFACE,
    Learning,
    cell_rows,
    score_characters,
    score_passage_words,
    score_question_words,
    score_surface,
    score_with,
    surface_ranks,
)
from classic_rc.audit.null import Tails, class_moments, class_tails, deflated, permutation_tails, weighted_holm
from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules import CONTEXT_RULES, TEXT_RULES, rules_of_table
from classic_rc.audit.rules.partial_input import PartialInput
from classic_rc.datasets.joined import TrainingData, as_dataset
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.forks import count_jobs
from classic_rc.evaluation.plan import LearningData, require_same_task
from classic_rc.evaluation.resampling import Interval
from classic_rc.folds import passage_groups
from classic_rc.io.progress import Progress
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.learning import one_thread
from classic_rc.text.encode import encode

PARTIAL_INPUTS: tuple[PartialInput, ...] = (
    *TEXT_RULES,
    *CONTEXT_RULES,
    CHARACTERS,
    *(row for row, _ in SOLVER_ROWS),
    QUESTION_WORDS,
    PASSAGE_WORDS,
    SURFACE,
)
"""The partial inputs of every check. Others depend on the data: positions, answers before, ids and meta data,
frequent characters and words."""

SURFACE_RULES = [rule for rule in (*TEXT_RULES, *CONTEXT_RULES) if not {"question", "passage"} & set(rule.sees)]
"""The rules that the learner over all surface cues combines."""

MEASURED_TASKS: Mapping[Task, str] = {
    Task.SINGLE_CHOICE: "accuracy",
    Task.MULTIPLE_ANSWER: "f1_a",
    Task.CLOZE: "em",
}
"""The metric of each task. Span questions have none: gold cannot be moved to another span."""

MANY_QUESTIONS = 50_000
"""With more questions, two folds are enough to learn from."""

MIN_GROUPS = 10
"""With fewer passages or groups there is no interval: their variance says too little."""

SIGNIFICANCE = 0.05
_REDUNDANT = 0.01
"""A finding whose p-value next to a stronger one is above this follows from the stronger one."""


_ABOUT_EQUAL = 0.015
"""Findings whose gains differ by less are about as strong as each other."""

_AS_SURE = 0.3
"""Of findings about as strong, one whose p-value has far fewer zeros is more likely to be there by chance."""

_DERIVED_DISCOUNT = 0.05
"""A word that right options share makes their words the most common ones, and moves them in the alphabet."""

_COUNTS_DISCOUNT = 0.6
"""Counts learn whatever words a leak brings with it. A fixed rule that gains nearly as much says it better."""

_KINDS = (
    "order",
    "fields",
    "position",
    "numbers",
    "marks",
    "words",
    "capitals",
    "white space",
    "punctuation",
    "endings",
    "characters",
    "letters",
    "length",
    "remainders",
    "reuse",
    "similarity",
    "question",
    "passage",
    "alphabet",
    "derived",
    "counts",
    "hashes",
    "learned",
    "learned shortcuts",
)
"""The groups of rules, the most specific first: a full stop at the end also makes more sentences."""


class Verdict(StrEnum):
    """What it means that a partial input tells the right option."""

    ARTIFACT = "artifact"
    """The passage is not seen: the question is answered without reading."""
    SHORTCUT = "shortcut"
    """The passage is seen, but the question is not, or not all of it."""


@dataclass(frozen=True, slots=True)
class PartialResult:
    """The result of one partial input on a dataset.

    Parameters
    ----------
    name : str
    sees : tuple of str
        What it reads.
    group : str
        The rules that share a part of the error level with it.
    learned : bool
        Whether it learned from gold (out of fold, or from training data).
    rule : str
        What it says of the right option.
    value, chance, gain : float
        The metric, its expectation when gold is permuted, and their difference, as fractions. If all questions have
        the same options, chance is the share of the most frequent answer.
    interval : Interval or None
        The gain's 95 % interval, from the variance between passages; None with fewer than :data:`MIN_GROUPS`.
    p, p_holm : float
        The p-value, and the same adjusted for all partial inputs of the dataset.
    verdict : Verdict or None
        None if it is no finding.
    follows_from : str or None
        The name of a stronger finding that explains this one.
    answered : tuple of str
        The ids of the questions that it answers: it singles out right options.
    remaining : int
        The number of questions that it does not answer.
    seconds : float
        Wall time.
    """

    name: str
    sees: tuple[str, ...]
    group: str
    learned: bool
    rule: str
    value: float
    chance: float
    gain: float
    interval: Interval | None
    p: float
    p_holm: float
    verdict: Verdict | None
    follows_from: str | None
    answered: tuple[str, ...] = field(repr=False)
    remaining: int
    seconds: float

    @property
    def sentence(self) -> str:
        """The rule and its figures in one line."""
        where = ", out of fold" if self.learned else ""
        return f"the right option {self.rule}: {100 * self.value:.1f} %{where}, chance {100 * self.chance:.1f} %"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; of the ids that it answers the first five."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "answered"}
        plain["sees"] = list(self.sees)
        plain["interval"] = self.interval and list(self.interval)
        plain["verdict"] = None if self.verdict is None else str(self.verdict)
        return {**plain, "answers": len(self.answered), "examples": list(self.answered[:5])}


@dataclass(frozen=True, slots=True)
class PartialInputs:
    """The results of all partial inputs on a dataset.

    Parameters
    ----------
    results : tuple of PartialResult
        All that were tested: findings first, the strongest first. Empty if none could be tried.
    left_out : mapping of str to str
        The reason for each partial input that was not tried, by name.
    metric : str
        The metric of all results.
    learned_from : str
        The name of the training data, or ``"cv5"`` for learning out of fold.
    level : float
        A finding has at least this gain (or loss, for a fixed rule), in points.
    majority : float or None
        The share of the most frequent answer if all questions have the same options.
    rare : int
        The number of rules that tell apart the options of too few questions to reach `level`.
    analyzer : str
        What makes words.
    warnings : tuple of str
        Warnings for the reader of the numbers.
    """

    results: tuple[PartialResult, ...]
    left_out: Mapping[str, str]
    metric: str
    learned_from: str
    level: float
    majority: float | None = None
    rare: int = 0
    analyzer: str = "word"
    warnings: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[PartialResult, ...]:
        """The artifacts and shortcuts, the strongest first."""
        return tuple(result for result in self.results if result.verdict is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        plain["left_out"], plain["warnings"] = dict(self.left_out), list(self.warnings)
        return {**plain, "results": [result.to_dict() for result in self.results]}


def measure_partial_inputs(
    dataset: Dataset,
    *,
    train: TrainingData | None = None,
    cv: int | None = None,
    group: str | None = None,
    level: float = 5.0,
    analyzer: str = "word",
    regressions: bool = True,
    jobs: int = 1,
    progress: Progress | None = None,
    shared: EncodingCache | None = None,
) -> PartialInputs:
    """Answer a dataset from partial inputs, and compare the results with chance.

    The null hypothesis is that the partial input does not indicate which option is right. Gold is then permuted
    within each question, with the same number of right options (:func:`.null.permutation_tails`). If all questions
    have the same options (yes and no), gold is permuted between questions, so that chance is the share of the most
    frequent answer (:func:`.null.class_tails`). Fixed rules are tested on both sides with exact p-values. Rows that
    learn are tested on one side, because balanced data put them below chance. Out of fold, their p-value
    allows for folds that learn from each other (:func:`.null.deflated`).

    All rows are one family of Holm's procedure. Each group of rules has the same share of the error level
    (:func:`.null.weighted_holm`), so that many rules of one kind (every key of meta data) leave the others their
    power. Rules that tell apart the options of too few questions to reach `level` are not tested; that does not
    depend on gold. A finding is significant at 0.05 and is at least `level` points from chance.

    Parameters
    ----------
    dataset : Dataset
    train : Dataset or sequence of Dataset, optional
        The training data; several datasets become one. What it shares with `dataset` is left out.
    cv : int, optional
        Number of folds of whole passages to learn in without `train`; 5 by default, 2 for more than
        :data:`MANY_QUESTIONS` questions.
    group : str, optional
        A key of `meta` (article, author) whose equal values stay together, in folds and in intervals.
    level : float
        The least distance from chance of a finding, in points.
    analyzer : str
        Makes words of the texts.
    regressions : bool
        Whether to learn logistic regressions too, which take most of the time; else only rules and counts.
    jobs : int
        The number of learners that run at the same time, in threads; -1 for one for each core. The results do not
        depend on it.
    progress : Progress, optional
        Gets the stages, and the number of questions after each learner.
    shared : EncodingCache, optional
        Encodings to share with other checks of the dataset.

    Returns
    -------
    PartialInputs

    Raises
    ------
    UsageError
        Both `train` and `cv` are given, nothing is left of `train` or it is of another task, or no question has the
        `group`.
    """
    progress, shared = progress or Progress(), shared or EncodingCache()
    progress.stage("near duplicates")
    train = as_dataset(train)
    if train is None and cv is None and len(dataset) > MANY_QUESTIONS:
        cv = 2
    learning = LearningData(train=train, cv=cv, group=group, drop_overlap=True)
    learned_from = learning.folds.label if train is None else train.name
    metric = MEASURED_TASKS.get(dataset.task, "") if dataset.task is not None else ""
    groups = passage_groups(dataset, group)
    reason = _blocking_reason(dataset, groups)
    if reason is not None:
        left_out = {row.name: reason for row in PARTIAL_INPUTS}
        return PartialInputs((), left_out, metric, learned_from, level, analyzer=analyzer)
    if train is not None:
        require_same_task(train, dataset, "training")
        learning = learning.separate_from(dataset)
    table = OptionTable.of(dataset, analyzer)
    table.memory["questions"] = shared.of(dataset)
    progress.stage("fixed rules")
    measure = _Measure(table, groups[table.rows], level)
    surface = frozenset(SURFACE_RULES)
    fixed = (*rules_of_table(table), *TEXT_RULES, *CONTEXT_RULES)
    for rule in fixed:
        start = time.perf_counter()
        assert rule.score is not None
        scores = np.asarray(rule.score(table), dtype=np.float64)
        if regressions and rule in surface:
            table.memory.setdefault("surface ranks", {})[rule.name] = surface_ranks(table, scores)
        measure.add(rule, scores, False, time.perf_counter() - start)
    progress.stage("learning from partial inputs")
    teacher = _learning(table, learning, shared, analyzer)
    left_out = {}
    learners = [*cell_rows(table), *(_regressions(table) if regressions else ())]
    for (row, _), outcome, seconds in _run_learners(learners, teacher, shared, jobs):
        if isinstance(outcome, str):
            left_out[row.name] = outcome
        else:
            measure.add(row, outcome, train is None, seconds)
        progress(len(dataset))
    progress.stage("tests")
    uses_folds = train is None and not left_out.keys() >= {row.name for row, _ in learners}
    fold_warning = learning.folds.groups(dataset).warning if uses_folds else None
    warnings = [*learning.notes, *([fold_warning] if fold_warning else [])]
    results = measure.results()
    return PartialInputs(
        results,
        left_out,
        metric,
        learned_from,
        level,
        measure.majority,
        measure.rare,
        analyzer,
        tuple(dict.fromkeys(warnings)),
    )


def _blocking_reason(dataset: Dataset, groups: NDArray[np.int64]) -> str | None:
    """Return the reason why no partial input can be tried on a dataset, or None."""
    if dataset.task is None:
        return "the dataset has no questions"
    if dataset.task not in MEASURED_TASKS:
        return f"not for {dataset.task} questions"
    if any(question.gold is None for question in dataset):
        return "gold answers are hidden"
    if groups.max() < 1:
        return "at least two different passages or groups are needed"
    return None if any(len(q.candidates) > 1 for q in dataset) else "no question has two options"


def _learning(table: OptionTable, data: LearningData, shared: EncodingCache, analyzer: str) -> Learning:
    if data.train is not None:
        return Learning(table, OptionTable.of(data.train, analyzer), (), shared)
    place = np.full(len(table.dataset), -1, dtype=np.int64)
    place[table.rows] = np.arange(len(table))
    folds = [
        (place[others][place[others] >= 0], place[own][place[own] >= 0])
        for others, own in data.folds.folds(table.dataset)
    ]
    return Learning(table, None, folds, shared)


_Learner = tuple[PartialInput, Callable[[Learning], Floats]]


def _regressions(table: OptionTable) -> Iterator[_Learner]:
    """Yield the rows that learn a logistic regression."""
    yield QUESTION_WORDS, score_question_words
    yield PASSAGE_WORDS, score_passage_words
    if table.constant_class is None:
        yield CHARACTERS, score_characters
        yield SURFACE, score_surface(SURFACE_RULES)
    for row, solver in SOLVER_ROWS:
        if table.dataset.task in solver.tasks and (
            table.constant_class is None or "question" in " ".join(row.sees)
        ):
            yield row, score_with(solver)


def _run_learners(
    learners: Sequence[_Learner], learning: Learning, shared: EncodingCache, jobs: int
) -> Iterator[tuple[_Learner, Floats | str, float]]:
    """Yield each learner with its scores (or the reason why it has none) and its wall time, in order."""

    def run(learner: _Learner) -> tuple[Floats | str, float]:
        start = time.perf_counter()
        try:
            return learner[1](learning), time.perf_counter() - start
        except LEARNING_ERRORS as error:
            return str(error), time.perf_counter() - start

    n_threads = min(len(learners), count_jobs(jobs))
    if n_threads < 2:
        for learner in learners:
            yield learner, *run(learner)
        return
    # These calls fill caches that all of them read, so no thread does the work again.
    encode(shared.of(learning.table.dataset), learning.table.analyzer)
    _ = learning.table.words, learning.table.text_index
    with one_thread(), ThreadPoolExecutor(n_threads) as pool:
        results = [pool.submit(run, learner) for learner in learners]
        try:
            for learner, result in zip(learners, results, strict=True):
                yield learner, *result.result()
        finally:
            pool.shutdown(cancel_futures=True)


# Measuring


@dataclass(frozen=True, slots=True)
class _Row:
    """A measured partial input, before it is known which others there are."""

    rule: PartialInput
    order: int
    below: bool
    selected: NDArray[np.bool_]  # of each option
    value: float
    chance: float
    residual: Floats  # of each question: its part of the metric's numerator, minus the expectation
    scale: float  # the denominator of the metric
    p: float
    deflate: bool
    seconds: float

    @property
    def gain(self) -> float:
        return self.value - self.chance


class _Measure:
    """Measures selections of options, and tests all of them together."""

    def __init__(self, table: OptionTable, groups: Integers, level: float) -> None:
        self.table, self.level = table, level
        self.groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
        self.rows: list[_Row] = []
        self.rare = 0
        self.leaders: list[_Row] = []
        self.expected_share = table.n_right / table.sizes
        self.classes = table.constant_class
        self.majority: float | None = None
        if self.classes is not None:
            k = int(table.sizes[0])
            self.gold_class = self.classes.reshape(-1, k)[np.arange(len(table)), table.gold]
            self.majority = float(np.bincount(self.gold_class, minlength=k).max() / len(table))

    def add(self, rule: PartialInput, scores: Floats, deflate: bool, seconds: float) -> None:
        """Measure the selection that scores make, unless it can never be a finding."""
        row = self._measure(rule, scores, deflate, seconds)
        if row is None:
            self.rare += 1
            return
        self.rows.append(row)

    def _measure(self, rule: PartialInput, scores: Floats, deflate: bool, seconds: float) -> _Row | None:
        table = self.table
        selected = table.selection(scores)
        tails = self._tails(selected, bool(rule.below))
        if tails is None:
            return None
        below = bool(rule.below) and tails.lower < tails.upper
        if below and (rule.flips or (self.classes is not None and table.sizes[0] == 2)):
            selected = table.selection(-scores)
        value, chance, residual, scale = self._value(selected)
        p = tails.two_sided if rule.below else (deflated(tails.upper) if deflate else tails.upper)
        return _Row(rule, len(self.rows), below, selected, value, chance, residual, scale, p, deflate, seconds)

    def _counts(self, selected: NDArray[np.bool_]) -> tuple[Integers, Integers]:
        return (
            self.table.sum(selected.astype(np.int64)),
            self.table.sum((selected & self.table.right).astype(np.int64)),
        )

    def _tails(self, selected: NDArray[np.bool_], is_fixed: bool) -> Tails | None:
        """Return the tails of a selection; None if it tells apart the options of too few questions."""
        table = self.table
        n_selected, hits = self._counts(selected)
        if self.classes is not None:
            credit = self._credit(selected)
            if is_fixed and np.ptp(credit, axis=0).max() < 1e-9:
                return None
            return class_tails(credit, self.gold_class)
        if is_fixed and self._reach(n_selected) < self.level / 100:
            return None
        weights = np.ones(len(table)) if table.selects_several else 1 / np.maximum(n_selected, 1)
        return permutation_tails(table.sizes, table.n_right, n_selected, hits, weights)

    def _reach(self, n_selected: Integers) -> float:
        """Return how far from chance a selection can be at most."""
        table = self.table
        most = np.minimum(n_selected, table.n_right)
        least = np.maximum(n_selected + table.n_right - table.sizes, 0)
        expected = n_selected * self.expected_share
        weights, scale = self._weights(n_selected)
        return float(max(((most - expected) * weights).sum(), ((expected - least) * weights).sum()) / max(scale, 1))

    def _weights(self, n_selected: Integers) -> tuple[Floats, float]:
        """Return the metric's weight of a hit in each question, and its denominator."""
        table = self.table
        if table.selects_several:  # F1 over all options: 2 TP / (selected + right)
            return np.full(len(table), 2.0), float(n_selected.sum() + table.n_right.sum())
        return 1 / np.maximum(n_selected, 1), float(len(table))

    def _value(self, selected: NDArray[np.bool_]) -> tuple[float, float, Floats, float]:
        n_selected, hits = self._counts(selected)
        weights, scale = self._weights(n_selected)
        scale = max(scale, 1.0)
        expected = weights * n_selected * self.expected_share
        value, chance = float((weights * hits).sum() / scale), float(expected.sum() / scale)
        if self.majority is not None:
            chance, expected = self.majority, np.full(len(self.table), self.majority)
        residual = weights * hits - expected
        if self.table.selects_several:  # the delta method: the denominator varies too
            residual = residual - (value - chance) * (n_selected + self.table.n_right)
        else:
            residual = residual - (value - chance)
        return value, chance, residual, scale

    def _interval(self, row: _Row) -> Interval | None:
        n_groups = int(self.groups.max(initial=-1)) + 1
        if n_groups < MIN_GROUPS:
            return None
        sums = np.bincount(self.groups, weights=row.residual, minlength=n_groups)
        error = 1.959964 * float(np.sqrt((sums**2).sum() * n_groups / (n_groups - 1))) / row.scale
        return Interval(row.gain - error, row.gain + error)

    def results(self) -> tuple[PartialResult, ...]:
        """Return all results with adjusted p-values and verdicts, findings first."""
        sizes: dict[str, int] = {}
        for row in self.rows:
            sizes[row.rule.group] = sizes.get(row.rule.group, 0) + 1
        adjusted = weighted_holm([row.p for row in self.rows], [1 / sizes[row.rule.group] for row in self.rows])
        found: list[tuple[_Row, float]] = []
        others: list[tuple[_Row, float]] = []
        for row, p in zip(self.rows, adjusted.tolist(), strict=True):
            is_found = p <= SIGNIFICANCE and 100 * abs(row.gain) >= self.level and (row.gain > 0 or row.below)
            (found if is_found else others).append((row, p))
        results = []
        for row, p, leader in self._explain(found):
            verdict = Verdict.SHORTCUT if row.rule.reads_passage else Verdict.ARTIFACT
            results.append(self._result(row, p, verdict, None if leader is None else self._name(leader)))
        results.sort(key=lambda result: result.follows_from is not None)
        return (*results, *(self._result(row, p, None, None) for row, p in others))

    def _explain(self, found: list[tuple[_Row, float]]) -> Iterator[tuple[_Row, float, _Row | None]]:
        """Yield findings, the strongest first, with the stronger one that each follows from.

        Fixed rules and counts come before regressions, which say less. Of rules that are about as strong, the
        one that says most comes first.
        """
        for learned in (False, True):
            left = [item for item in found if item[0].rule.group.startswith("learned") is learned]
            while left:
                best = max(map(self._strength, left))
                near = [item for item in left if self._strength(item) >= best - _ABOUT_EQUAL]
                surest = max(self._surprise(item) for item in near)
                near = [item for item in near if self._surprise(item) >= _AS_SURE * surest]
                leader = min(near, key=self._vagueness)
                follower_of = self._leader_of(leader[0])
                left.remove(leader)
                yield (*leader, follower_of)
                if follower_of is None:
                    self.leaders.append(leader[0])

    @staticmethod
    def _surprise(item: tuple[_Row, float]) -> float:
        """Return the number of zeros of the p-value, at most 300."""
        return -float(np.log10(max(item[0].p, 1e-300)))

    @staticmethod
    def _vagueness(item: tuple[_Row, float]) -> tuple[bool, int, int]:
        """Return a key that is smaller the more a rule says: counts of values say less than fixed rules."""
        return not item[0].rule.below, _KINDS.index(item[0].rule.group), item[0].order

    @staticmethod
    def _strength(item: tuple[_Row, float]) -> float:
        """Return the distance from chance; less for rules that other leaks set off."""
        gain, group = abs(item[0].gain), item[0].rule.group
        if group == "counts":
            return gain * _COUNTS_DISCOUNT
        return gain - (_DERIVED_DISCOUNT if group in ("derived", "alphabet") else 0)

    def _leader_of(self, row: _Row) -> _Row | None:
        return next((leader for leader in self.leaders if self._follows(row, leader)), None)

    @staticmethod
    def _name(row: _Row) -> str:
        return row.rule.below if row.below else row.rule.name

    def _follows(self, row: _Row, leader: _Row) -> bool:
        """Return whether a finding adds nothing to a stronger one.

        Gold is permuted within the options that the stronger one selects, and within the others. If all questions
        have the same options, it is permuted between questions that the stronger one answers alike.
        """
        table = self.table
        if leader.rule.reads_passage and not row.rule.reads_passage:
            return False  # an artifact needs no passage, so no shortcut explains it
        if self.classes is not None:
            answers = np.unique(self._credit(leader.selected), axis=0, return_inverse=True)[1].reshape(-1)
            deviation, variance = self._class_deviation(row, answers)
            overall, full_variance = self._class_deviation(row, np.zeros(len(table), dtype=np.int64))
        else:
            n_selected = table.sum(row.selected.astype(np.int64))
            weights = np.ones(len(table)) if table.selects_several else 1 / np.maximum(n_selected, 1)
            deviation, variance = self._deviation(row, weights, (leader.selected, ~leader.selected))
            overall, full_variance = self._deviation(row, weights, (np.ones_like(row.selected),))
        if variance <= 1e-9:
            return True
        from scipy.stats import norm

        z = deviation / np.sqrt(variance)
        p = float(norm.sf(z / np.sqrt(2))) if not row.rule.below else 2 * float(norm.sf(abs(z)))
        # What the leader decides already is no room for another rule, so the share of the variance is the measure.
        return p > _REDUNDANT or abs(deviation) < 0.5 * abs(overall) * variance / full_variance

    def _credit(self, selected: NDArray[np.bool_]) -> Floats:
        """Return the credit of a selection if each class is right, shape (n_questions, n_classes)."""
        table = self.table
        assert self.classes is not None
        k = int(table.sizes[0])
        credit = np.zeros(len(selected))
        n_selected = np.maximum(table.sum(selected.astype(np.int64)), 1)
        credit[table.question * k + self.classes] = selected / n_selected[table.question]
        return credit.reshape(-1, k)

    def _class_deviation(self, row: _Row, strata: Integers) -> tuple[float, float]:
        """Return credit minus expectation, and variance, if gold is permuted between questions of a stratum."""
        credit, deviation, variance = self._credit(row.selected), 0.0, 0.0
        for stratum in range(int(strata.max()) + 1):
            own = strata == stratum
            if own.sum() > 1:
                moments = class_moments(credit[own], self.gold_class[own])
                deviation, variance = deviation + moments[0], variance + moments[1]
        return deviation, variance

    def _deviation(self, row: _Row, weights: Floats, sides: Sequence[NDArray[np.bool_]]) -> tuple[float, float]:
        """Return a selection's credit minus its expectation, and its variance, if gold is permuted within sides."""
        table, deviation, variance = self.table, 0.0, 0.0
        for side in sides:
            k, g, s, h = (
                table.sum((flags & side).astype(np.int64)).astype(np.float64)
                for flags in (np.ones_like(side), table.right, row.selected, row.selected & table.right)
            )
            k = np.maximum(k, 1)
            mean = s * g / k
            deviation += float((weights * (h - mean)).sum())
            variance += float((weights**2 * mean * (1 - g / k) * (k - s) / np.maximum(k - 1, 1)).sum())
        return deviation, variance

    def _result(self, row: _Row, p: float, verdict: Verdict | None, follows: str | None) -> PartialResult:
        rule, table = row.rule, self.table
        answered: tuple[str, ...] = ()
        n_selected, hits = self._counts(row.selected)
        is_never = row.below and not rule.flips
        # A rule that right options never meet answers where all that it selects is wrong.
        good = (hits == 0) if is_never else (hits == n_selected) if table.selects_several else (hits > 0)
        good &= (n_selected > 0) & (n_selected < table.sizes)
        if verdict is not None:
            answered = tuple(table.questions[i].id for i in np.flatnonzero(good).tolist())
        return PartialResult(
            self._name(row),
            rule.sees,
            rule.group,
            not rule.below,
            rule.below if row.below else rule.above,
            row.value,
            row.chance,
            row.gain,
            self._interval(row),
            row.p,
            p,
            verdict,
            follows,
            answered,
            len(table) - int(good.sum()),
            row.seconds,
        )
