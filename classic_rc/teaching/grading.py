"""Grading: each submission runs in a sandbox, and what it answers is compared out here."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import default_decision
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.resampling import percentile_interval, resample_means
from classic_rc.folds import passage_groups
from classic_rc.io.text import printable
from classic_rc.metrics.base import Metric, primary_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset
from classic_rc.solvers.random import Random
from classic_rc.solvers.specs import parse_solver
from classic_rc.teaching.assignment import Assignment, Check, CheckFailedError, Submission, load_assignment
from classic_rc.teaching.grades import Accuracy, CheckResult, Grade, Grading
from classic_rc.teaching.sandbox import Level, Limits, Sandbox, SubmissionError
from classic_rc.teaching.signs import SignFinder
from classic_rc.teaching.submissions import HandedIn, alike_pairs, find_submissions, read_submission

DEFAULT_ASSIGNMENT = "solver"
ISOLATED = (Level.NAMESPACES, Level.LANDLOCK)
"""The levels at which a student's code cannot read the grader's files."""

DEFAULT_LIMITS = Limits()
UNSAFE = (*ISOLATED, Level.PROCESS, Level.NONE)
_MAX_MESSAGE = 300


def grade_file(
    file: str | PathLike[str],
    assignment: str | PathLike[str] = DEFAULT_ASSIGNMENT,
    *,
    limits: Limits = DEFAULT_LIMITS,
    seed: int | None = None,
    data: Dataset | None = None,
    train: Dataset | None = None,
    levels: Sequence[Level] = ISOLATED,
) -> Grade:
    """Grade one submission.

    Parameters
    ----------
    file : str or path
        A Python file, a notebook, or a student's folder.
    assignment, limits, seed, data, train, levels
        See :func:`grade_folder`.

    Raises
    ------
    DataError
        The file does not exist.
    UsageError
        As in :func:`grade_folder`.
    """
    path = Path(file)
    if not path.exists():
        raise DataError("no such file or folder", source=str(path))
    loaded = load_assignment(assignment)
    setting = _Setting(loaded, limits, new_seed() if seed is None else seed, data, train, tuple(levels))
    return setting.grade(read_submission(path, loaded.main))


def grade_folder(
    folder: str | PathLike[str],
    assignment: str | PathLike[str] = DEFAULT_ASSIGNMENT,
    *,
    limits: Limits = DEFAULT_LIMITS,
    seed: int | None = None,
    data: Dataset | None = None,
    train: Dataset | None = None,
    levels: Sequence[Level] = ISOLATED,
    advance: Callable[[Grading], None] = lambda grading: None,
) -> Grading:
    """Grade the submissions of a class, one after the other, each in a process of its own.

    Parameters
    ----------
    folder : str or path
        It has a Python file, a notebook or a folder for each student.
    assignment : str or path
        The name of an assignment of the package, or a teacher's file.
    limits : Limits
        For each submission.
    seed : int, optional
        Makes the questions and cases; by default a new one for each grading, so that nobody can know them.
    data : Dataset, optional
        The hidden questions, with gold; by default fresh questions of the assignment's own.
    train : Dataset, optional
        The questions that students' solvers learn from.
    levels : sequence of Level
        The levels of isolation that will do, the strongest first.
    advance : callable
        Called with the grades that are known, after each of them.

    Returns
    -------
    Grading

    Raises
    ------
    DataError
        The folder does not exist, it has no submissions, or two submissions have the same name.
    UsageError
        The assignment does not work, the system cannot isolate a process, or the time limit is not positive.
    """
    loaded = load_assignment(assignment)
    found = find_submissions(folder, loaded.main)
    setting = _Setting(loaded, limits, new_seed() if seed is None else seed, data, train, tuple(levels))
    alike = tuple(alike_pairs(found, loaded.template))
    grading = Grading(loaded, setting.seed, (), alike)
    for one in found:
        grading = Grading(loaded, setting.seed, (*grading.grades, setting.grade(one)), alike)
        advance(grading)
    return grading


def new_seed() -> int:
    """Return a seed that nobody can know before."""
    return secrets.randbelow(2**31)


def grading_questions(assignment: Assignment, seed: int) -> Dataset:
    """Return the fresh questions of a grading.

    Raises
    ------
    UsageError
        The assignment makes no questions.
    """
    if (make_questions := getattr(assignment.module, "make_questions", None)) is None:
        raise UsageError(
            f"the assignment {assignment.name} makes no questions", field="assignment", found=assignment.name
        )
    questions = make_questions(seed)
    assert isinstance(questions, Dataset)
    return questions


class _Setting:
    """All that the submissions of one grading have in common."""

    def __init__(
        self,
        assignment: Assignment,
        limits: Limits,
        seed: int,
        data: Dataset | None,
        train: Dataset | None,
        levels: Sequence[Level],
    ) -> None:
        if not limits.seconds > 0:
            raise UsageError(
                f"the time limit must be a positive number of seconds, got {limits.seconds:g}",
                field="timeout",
                found=f"{limits.seconds:g}",
            )
        self.assignment, self.limits, self.levels, self.seed = assignment, limits, tuple(levels), seed
        self.questions = data
        if data is None and hasattr(assignment.module, "make_questions"):
            self.questions = grading_questions(assignment, seed)
        self.is_hidden = data is not None
        self.train = train
        self.reference = getattr(assignment.module, "REFERENCE", None)
        if data is not None:
            _check_data(data)
        if self.reference is not None and self.questions is not None:
            reference_statistics(self.reference, self.questions, train)  # An error here is no student's.
        self.signs = SignFinder(assignment.file, assignment.template, data, has_train=train is not None)

    def grade(self, one: HandedIn) -> Grade:
        if one.problem is not None:
            checks = tuple(_nothing(check, "not gradable") for check in self.assignment.checks)
            return Grade(one.student, one.file, checks, None, self.signs.find(one.files), one.problem)
        accuracy = None
        with Sandbox(one.files, one.main, self.limits, self.levels, self.assignment.packages) as sandbox:
            try:
                names = sandbox.load()
            except SubmissionError as error:
                checks = self._not_loaded(error)
            else:
                submission = Submission(
                    sandbox, names, self.seed, self.questions, self.train, is_hidden=self.is_hidden
                )
                checks = self._run_checks(submission)
                accuracy = self._measure(submission)
            signs = self.signs.find(one.files, sandbox.events)
            return Grade(one.student, one.file, checks, sandbox.level, signs, None, accuracy)

    def _not_loaded(self, error: SubmissionError) -> tuple[CheckResult, ...]:
        first, *others = (_failed(check, error) for check in self.assignment.checks)
        if error.problem.startswith("ModuleNotFoundError"):
            packages = ", ".join(self.assignment.packages)
            told = f"your file may import Python's standard library, {packages} and parts of classic_rc"
            first = replace(first, details=f"{first.details}\n{told}")
        return first, *(replace(other, details="") for other in others)

    def _run_checks(self, submission: Submission) -> tuple[CheckResult, ...]:
        results: dict[str, CheckResult] = {}
        for check in self.assignment.checks:
            missing = [name for name in check.needs if not results[name].passed]
            if missing:
                results[check.name] = _nothing(check, f"counts when {', '.join(missing)} passes")
            else:
                results[check.name] = _run(check, submission)
        return tuple(results.values())

    def _measure(self, submission: Submission) -> Accuracy | None:
        """Compare the student's solver with the reference on the questions of this grading."""
        if self.reference is None or submission.questions is None:
            return None
        try:
            submission.sandbox.begin_check()
            return compare_solvers(submission, self.reference)
        except (SubmissionError, CheckFailedError):
            return None


def _check_data(data: Dataset) -> None:
    """Check that questions can be put to a student's solver and have answers."""
    if data.task is None or data.task.has_spans:
        raise UsageError(
            f"students' solvers choose among candidates, but {data.name} has questions of the task {data.task}",
            field="--data",
            found=str(data.task),
            expected="single-choice, multiple-answer or cloze",
        )
    missing = next((question.id for question in data if question.gold is None), None)
    if missing is not None:
        raise UsageError(
            f"the questions need gold: question {missing} of {data.name} has none",
            field="--data",
            found=missing,
            expected="questions with gold",
        )


def _nothing(check: Check, problem: str) -> CheckResult:
    return CheckResult(check.name, check.title, check.points, 0.0, problem, ran=False)


def _run(check: Check, submission: Submission) -> CheckResult:
    try:
        submission.sandbox.begin_check()
        share = check.run(submission)
        share = 1.0 if share is None else float(share)
    except UsageError:  # A new process does not start: that is no student's.
        raise
    except Exception as error:
        return _failed(check, error)
    share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
    problem = None if share == 1 else f"{100 * share:.0f} % of the points"
    return CheckResult(check.name, check.title, check.points, share * check.points, problem)


def _failed(check: Check, error: Exception) -> CheckResult:
    """Return the result of a check that raised: the student's mistake, or the student's error."""
    details = ""
    if isinstance(error, SubmissionError):
        problem, details = error.problem, error.details.strip("\n")
    elif isinstance(error, CheckFailedError):
        problem, details = error.problem, error.details
    elif isinstance(error, AssertionError):
        problem = str(error) or "the check failed"
    else:  # A wrong type that the check has not looked for: the answer of the student's code made it fail.
        problem = f"the answer is not what the check expects ({type(error).__name__}: {error})"
    line = " ".join(printable(problem).split())[:_MAX_MESSAGE]
    return CheckResult(check.name, check.title, check.points, 0.0, line, details)


def compare_solvers(submission: Submission, reference: str) -> Accuracy:
    """Compare a student's solver with one of the package on the questions of the grading.

    Parameters
    ----------
    submission : Submission
        With questions.
    reference : str
        A solver such as ``sliding-window``. It learns from what the student's solver learns from.

    Returns
    -------
    Accuracy

    Raises
    ------
    SubmissionError, CheckFailedError
        The student's solver fails.
    """
    questions = submission.questions
    assert questions is not None
    own = question_statistics(questions, Scores.from_lists(submission.score(questions)))
    other = reference_statistics(reference, questions, submission.train)
    metric, groups = _metric(questions), passage_groups(questions)
    value, floor = metric.aggregate(own), metric.aggregate(other)
    if groups.max(initial=-1) < 1:
        return Accuracy(value, None, reference, value - floor, None)
    means = resample_means(np.hstack([own, other]), groups)
    first, second = (metric.from_means(part) for part in np.hsplit(means, 2))
    interval, difference = percentile_interval(first), percentile_interval(first - second)
    return Accuracy(value, interval, reference, value - floor, difference)


@lru_cache(maxsize=8)
def reference_statistics(reference: str, questions: Dataset, train: Dataset | None) -> NDArray[np.float64]:
    """Return what a solver of the package reaches; the same for all students of a grading.

    Returns
    -------
    ndarray of float64, shape (n_questions, n_statistics)
        As :func:`question_statistics` returns it.
    """
    solver = parse_solver(reference).fit(questions if train is None else train)
    if isinstance(solver, Random):
        return _metric(questions).statistics(questions, solver.expectation(questions))
    return question_statistics(questions, solver.score_candidates(questions))


def question_statistics(questions: Dataset, scores: Scores) -> NDArray[np.float64]:
    """Return the statistics of the task's metric for each question, decided by the task's rule.

    Returns
    -------
    ndarray of float64, shape (n_questions, n_statistics)
        For single choice: the credit of each question; k tied best options have 1/k.
    """
    assert questions.task is not None
    predictions = default_decision(questions.task).fit(scores, questions).decide(scores, questions)
    return _metric(questions).statistics(questions, predictions)


def _metric(questions: Dataset) -> Metric:
    assert questions.task is not None
    return primary_metric(questions.task)
