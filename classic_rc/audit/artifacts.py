"""Artifacts and shortcuts: how far fixed rules and learners get that read only part of the input."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.learned import (
    CHARACTERS,
    LEARNING_ERRORS,
    MOST_SOLVER_TRAINING,
    MOST_TRAINING,
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
from classic_rc.audit.measuring import Measure, PartialResult
from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules import CONTEXT_RULES, TEXT_RULES, rules_of_table
from classic_rc.audit.rules.partial_input import PartialInput
from classic_rc.datasets.registry import TrainingData, as_dataset
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.forks import count_jobs
from classic_rc.evaluation.plan import fold_plan, require_same_task, separate_data
from classic_rc.folds import passage_groups
from classic_rc.io.progress import Progress
from classic_rc.protocol import Protocol
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

SAMPLE_NOTE = (
    f"more than {MANY_QUESTIONS:,} questions: regressions learn in two folds, each from an evenly spread sample of "
    f"at most {MOST_TRAINING:,} questions (words of {MOST_SOLVER_TRAINING:,})"
)
"""What is said of :data:`MANY_QUESTIONS`: all questions are answered, but not all are learned from."""


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
    search = PartialSearch(
        dataset,
        train=train,
        cv=cv,
        group=group,
        level=level,
        analyzer=analyzer,
        regressions=regressions,
        jobs=jobs,
        progress=progress,
        shared=shared,
    )
    search.try_rules()
    search.try_regressions()
    return search.results()


class PartialSearch:
    """The work of :func:`measure_partial_inputs`, which can be interrupted: then it has results of what was tried.

    The parameters are those of the function.

    Attributes
    ----------
    missing : tuple of str
        What was not tried yet; empty in the end.
    """

    def __init__(
        self,
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
    ) -> None:
        self._dataset, self._group, self._level, self._analyzer = dataset, group, level, analyzer
        self._uses_regressions, self._jobs = regressions, jobs
        self._progress, self._shared = progress or Progress(), shared or EncodingCache()
        self._train = as_dataset(train)
        uses_samples = self._train is None and cv is None and len(dataset) > MANY_QUESTIONS
        self._learning = Protocol(train=self._train, cv=2 if uses_samples else cv, group=group, drop_overlap=True)
        self._overlap: tuple[str, ...] = ()
        self._learned_from = fold_plan(self._learning).label if self._train is None else self._train.name
        self._metric = MEASURED_TASKS.get(dataset.task, "") if dataset.task is not None else ""
        self._left_out: dict[str, str] = {}
        self._warnings: list[str] = []
        if uses_samples and regressions:
            self._warnings.append(SAMPLE_NOTE)
        self._measure: Measure | None = None
        self._teacher: Learning | None = None
        self._uses_folds = False
        self.missing: tuple[str, ...] = ("artifacts and shortcuts",)

    def try_rules(self) -> None:
        """Try the fixed rules, then the counts."""
        dataset, train = self._dataset, self._train
        groups = passage_groups(dataset, self._group)
        reason = _blocking_reason(dataset, groups)
        if reason is not None:
            self._left_out = {row.name: reason for row in PARTIAL_INPUTS}
            self._warnings, self.missing = [], ()
            return
        if train is not None:
            require_same_task(train, dataset, "training")
            self._progress.stage("training data")
            self._learning, self._overlap = separate_data(self._learning, dataset)
        self._progress.stage("fixed rules")
        table = OptionTable.of(dataset, self._analyzer)
        table.memory["questions"] = self._shared.of(dataset)
        self._measure = measure = Measure(table, groups[table.rows], self._level)
        surface = frozenset(SURFACE_RULES)
        rules = (*rules_of_table(table), *TEXT_RULES, *CONTEXT_RULES)
        for i, rule in enumerate(rules):
            self._progress.stage(f"fixed rules, {i} of {len(rules)}")
            self.missing = (f"{len(rules) - i} of {len(rules)} fixed rules", "all that learns")
            start = time.perf_counter()
            assert rule.score is not None
            scores = np.asarray(rule.score(table), dtype=np.float64)
            if self._uses_regressions and rule in surface:
                table.memory.setdefault("surface ranks", {})[rule.name] = surface_ranks(table, scores)
            measure.add(rule, scores, False, time.perf_counter() - start)
        for line in measure.summary():
            self._progress.finished(f"{dataset.name}, so far: {line}")
        self._progress.stage("values of questions and options to count")
        counts = list(cell_rows(table))
        self._progress.stage("near duplicates of passages, for folds")
        self._teacher = teacher = _learning(table, self._learning, self._shared, self._analyzer)
        self._learn(counts, teacher, measure, after=[row for row, _ in self._regressions(table)])

    def try_regressions(self) -> None:
        """Try what takes longest; :meth:`try_rules` has to come before."""
        measure, teacher = self._measure, self._teacher
        if measure is None or teacher is None:
            return
        regressions = self._regressions(measure.table)
        self._learn(regressions, teacher, measure, after=())
        self._progress.stage("tests")
        fold_warning = fold_plan(self._learning).groups(self._dataset).warning if self._uses_folds else None
        self._warnings += [*self._overlap, *([fold_warning] if fold_warning else [])]

    def _regressions(self, table: OptionTable) -> list[_Learner]:
        return list(_regressions(table)) if self._uses_regressions else []

    def _learn(
        self, learners: Sequence[_Learner], teacher: Learning, measure: Measure, after: Sequence[PartialInput]
    ) -> None:
        names = [row.name for row in (*(row for row, _ in learners), *after)]
        self.missing = _missing(names)
        if learners:
            self._progress.stage(f"learning from {names[0]}, 1 of {len(names)}")
        results = _run_learners(learners, teacher, self._shared, self._jobs)
        for i, ((row, _), outcome, seconds) in enumerate(results, start=1):
            if isinstance(outcome, str):
                self._left_out[row.name] = outcome
            else:
                self._uses_folds = self._train is None
                if measure.add(row, outcome, self._train is None, seconds) and row.group in _REGRESSIONS:
                    self._progress.finished(f"{self._dataset.name}, so far: {measure.rows[-1].sentence}")
            self.missing = _missing(names[i:])
            if i < len(learners):
                self._progress.stage(f"learning from {names[i]}, {i + 1} of {len(names)}")
            self._progress(len(self._dataset))

    def results(self) -> PartialInputs:
        """Return the results of what was tried. P-values are adjusted for no more than that."""
        measure = self._measure
        return PartialInputs(
            () if measure is None else measure.results(),
            self._left_out,
            self._metric,
            self._learned_from,
            self._level,
            None if measure is None else measure.majority,
            0 if measure is None else measure.rare,
            self._analyzer,
            tuple(dict.fromkeys(self._warnings)),
        )


def _missing(names: Sequence[str]) -> tuple[str, ...]:
    return (f"learning from {'; '.join(names)}",) if names else ()


_REGRESSIONS = frozenset({"learned", "learned shortcuts"})


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


def _learning(table: OptionTable, protocol: Protocol, shared: EncodingCache, analyzer: str) -> Learning:
    if (train := as_dataset(protocol.train)) is not None:
        return Learning(table, OptionTable.of(train, analyzer), (), shared)
    place = np.full(len(table.dataset), -1, dtype=np.int64)
    place[table.rows] = np.arange(len(table))
    folds = [
        (place[others][place[others] >= 0], place[own][place[own] >= 0])
        for others, own in fold_plan(protocol).folds(table.dataset)
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
    with one_thread():
        pool = ThreadPoolExecutor(n_threads)
        left, started = iter(learners), deque[tuple[_Learner, Future[tuple[Floats | str, float]]]]()
        try:
            while True:
                # Few are started ahead of time, because each returns a number for every option.
                ahead = islice(left, 2 * n_threads - len(started))
                started.extend([(learner, pool.submit(run, learner)) for learner in ahead])
                if not started:
                    break
                learner, result = started.popleft()
                yield learner, *result.result()
        except BaseException:
            # After an interruption nobody waits for learners: they end with their fold.
            learning.stopped.set()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
