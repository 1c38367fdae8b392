"""Grading: each submission runs in a sandbox, and what it answers is compared out here."""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import default_decision
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.resampling import Interval, percentile_interval, resample_means
from classic_rc.folds import passage_groups
from classic_rc.io.printable import csv_cell, printable
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import primary_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset
from classic_rc.solvers.random import Random
from classic_rc.solvers.specs import parse_solver
from classic_rc.teaching.assignment import Assignment, Check, CheckFailedError, Submission, load_assignment
from classic_rc.teaching.sandbox import Level, Limits, Sandbox, SubmissionError
from classic_rc.teaching.signs import find_signs
from classic_rc.teaching.submissions import AlikePair, HandedIn, alike_pairs, find_submissions, read_submission

DEFAULT_ASSIGNMENT = "solver"
ISOLATED = (Level.NAMESPACES, Level.LANDLOCK)
"""The levels at which a student's code cannot read the grader's files."""

DEFAULT_LIMITS = Limits()
UNSAFE = (*ISOLATED, Level.PROCESS, Level.NONE)
_MAX_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check.

    Parameters
    ----------
    name, title : str
        The check's name, and the first line of its docstring.
    points : float
        What the check is worth.
    earned : float
        From 0 to `points`.
    problem : str or None
        Why points are missing; None if none are.
    details : str
        More for the student: the smallest counterexample, the traceback, what the code printed.
    """

    name: str
    title: str
    points: float
    earned: float
    problem: str | None = None
    details: str = ""

    @property
    def passed(self) -> bool:
        """Whether the check found nothing wrong."""
        return self.problem is None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a student's solver reaches on the questions of the grading, as fractions.

    Parameters
    ----------
    value : float
        Accuracy, or the task's metric.
    interval : Interval or None
        Of 95 %, over resampled passages; None with fewer than two passages.
    reference : str
        The solver that it is compared with.
    difference : float
        The student's value minus the reference's, on the same questions.
    difference_interval : Interval or None
    """

    value: float
    interval: Interval | None
    reference: str
    difference: float
    difference_interval: Interval | None

    def __str__(self) -> str:
        def bounds(interval: Interval | None) -> str:
            return "" if interval is None else " ({:.2f} to {:.2f})".format(*(100 * bound for bound in interval))

        value, difference = f"{100 * self.value:.2f}", f"{100 * self.difference:+.2f}"
        return (
            f"accuracy {value}{bounds(self.interval)}, {difference}{bounds(self.difference_interval)} "
            f"against {self.reference}"
        )


@dataclass(frozen=True, slots=True)
class Grade:
    """The outcome of all checks of one submission.

    Parameters
    ----------
    student, file : str
        As in :class:`~classic_rc.teaching.submissions.HandedIn`.
    checks : tuple of CheckResult
        The same checks in the same order for all students.
    level : Level or None
        How far the student's process was isolated; None if nothing ran.
    signs : tuple of str
        What is suspicious in the code, or in what it did.
    problem : str or None
        Why it is not gradable.
    accuracy : Accuracy or None
        None if the assignment names no reference, or the file has no working solver.
    """

    student: str
    file: str
    checks: tuple[CheckResult, ...]
    level: Level | None = None
    signs: tuple[str, ...] = ()
    problem: str | None = None
    accuracy: Accuracy | None = None

    @property
    def n_passed(self) -> int:
        """The number of checks that passed."""
        return sum(check.passed for check in self.checks)

    @property
    def earned(self) -> float:
        """The points."""
        return sum(check.earned for check in self.checks)

    @property
    def points(self) -> float:
        """The most points."""
        return sum(check.points for check in self.checks)

    @property
    def score(self) -> float:
        """The share of the points, from 0 to 1."""
        return self.earned / self.points if self.points else 0.0


@dataclass(frozen=True, slots=True)
class Grading:
    """The grades of a class.

    Parameters
    ----------
    assignment : Assignment
    seed : int
        Made the questions and cases; the same seed repeats the grading.
    grades : tuple of Grade
        Sorted by the names of the students' files or folders.
    alike : tuple of AlikePair
        Submissions with nearly the same code.
    """

    assignment: Assignment
    seed: int
    grades: tuple[Grade, ...]
    alike: tuple[AlikePair, ...]


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
    advance: Callable[[Grade], None] = lambda grade: None,
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
        Called with each grade as soon as it is known.

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
    grades = []
    for one in found:
        grades.append(setting.grade(one))
        advance(grades[-1])
    return Grading(loaded, setting.seed, tuple(grades), tuple(alike_pairs(found, loaded.template)))


def new_seed() -> int:
    """Return a seed that nobody can know before."""
    return secrets.randbelow(10**6)


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
        make_questions = getattr(assignment.module, "make_questions", None)
        self.questions = data if data is not None or make_questions is None else make_questions(seed)
        self.is_hidden = data is not None
        self.train = train
        self.reference = getattr(assignment.module, "REFERENCE", None)

    def grade(self, one: HandedIn) -> Grade:
        signs = set(find_signs(one.files, _public_texts()))
        if one.problem is not None:
            checks = tuple(_nothing(check, "not gradable") for check in self.assignment.checks)
            return Grade(one.student, one.file, checks, None, tuple(sorted(signs)), one.problem)
        accuracy = None
        with Sandbox(one.files, one.main, self.limits, self.levels, self.assignment.packages) as sandbox:
            try:
                names = sandbox.load()
            except SubmissionError as error:
                checks = tuple(_failed(check, error) for check in self.assignment.checks)
            else:
                submission = Submission(sandbox, names, self.seed, self.questions, self.train, is_hidden=self.is_hidden)
                checks = self._run_checks(submission)
                accuracy = self._measure(submission)
            signs |= {_SIGNS_OF_EVENTS.get(event, event) for event in sandbox.events}
            return Grade(one.student, one.file, checks, sandbox.level, tuple(sorted(signs)), None, accuracy)

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
            return compare_solvers(submission, self.reference)
        except (SubmissionError, CheckFailedError):
            return None


_SIGNS_OF_EVENTS = {"exit": "ends its process", "channel": "writes to the grader's channel"}


def _nothing(check: Check, problem: str) -> CheckResult:
    return CheckResult(check.name, check.title, check.points, 0.0, problem)


def _run(check: Check, submission: Submission) -> CheckResult:
    try:
        share = check.run(submission)
    except Exception as error:
        return _failed(check, error)
    if share is None:
        return CheckResult(check.name, check.title, check.points, check.points)
    share = min(max(float(share), 0.0), 1.0)
    problem = None if share == 1 else f"{100 * share:.0f} % of the points"
    return CheckResult(check.name, check.title, check.points, share * check.points, problem)


def _failed(check: Check, error: Exception) -> CheckResult:
    """Return the result of a check that raised: the student's mistake, or the student's error."""
    details = ""
    if isinstance(error, SubmissionError):
        problem, details = error.problem, error.traceback
        if error.printed:
            details += f"printed before:\n{error.printed}"
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


@cache
def _public_texts() -> frozenset[str]:
    """Return the ids and the longer options of the questions that come with the package."""
    from classic_rc.datasets.registry import load

    texts = set()
    for question in load("sample:single-choice"):
        texts.add(question.id)
        texts.update(candidate.text for candidate in question.candidates if len(candidate.text) > 8)
    return frozenset(texts)


def grades_csv(grading: Grading) -> str:
    """Return the grades as CSV, one row for each student.

    The columns: student, file, score (0 to 1), points, accuracy with its interval and the difference from the
    reference (in percent), the level of isolation, signs, submissions with nearly the same code, and for each check
    ``passed`` or the reason.
    """
    alike: dict[str, list[str]] = {}
    for pair in grading.alike:
        for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
            alike.setdefault(one, []).append(f"{other} ({100 * pair.share:.0f} %)")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [check.name for check in grading.assignment.checks]
    head = ["student", "file", "score", "points", "of", "accuracy", "low", "high", "reference", "difference"]
    head += ["difference low", "difference high", "isolation", "signs", "alike", "not gradable"]
    writer.writerow(map(csv_cell, [*head, *names]))
    for grade in grading.grades:
        outcomes = ["passed" if check.passed else f"{check.earned:g}: {check.problem}" for check in grade.checks]
        cells = [grade.student, grade.file, f"{grade.score:.4g}", f"{grade.earned:g}", f"{grade.points:g}"]
        cells += [*_accuracy_cells(grade.accuracy), grade.level or "", "; ".join(grade.signs)]
        cells += ["; ".join(alike.get(grade.student, [])), grade.problem or ""]
        writer.writerow(map(csv_cell, [*cells, *outcomes]))
    return out.getvalue()


def _accuracy_cells(accuracy: Accuracy | None) -> list[str]:
    if accuracy is None:
        return [""] * 7
    bounds = [f"{100 * bound:.2f}" for bound in accuracy.interval or ()] or ["", ""]
    differences = [f"{100 * bound:.2f}" for bound in accuracy.difference_interval or ()] or ["", ""]
    value, difference = f"{100 * accuracy.value:.2f}", f"{100 * accuracy.difference:.2f}"
    return [value, *bounds, accuracy.reference, difference, *differences]


def grades_json(grading: Grading) -> dict[str, Any]:
    """Return the grades as plain data, ready for JSON."""
    return {
        "assignment": grading.assignment.name,
        "seed": grading.seed,
        "grades": [_plain(asdict(grade)) | {"score": grade.score} for grade in grading.grades],
        "alike": [pair._asdict() for pair in grading.alike],
    }


def gradescope_json(grade: Grade) -> dict[str, Any]:
    """Return one student's grade in the form that Gradescope's autograder reads from ``results.json``."""
    tests = [
        {
            "name": check.title or check.name,
            "score": check.earned,
            "max_score": check.points,
            "status": "passed" if check.passed else "failed",
            "output": "\n".join(part for part in (check.problem or "", check.details) if part),
        }
        for check in grade.checks
    ]
    result: dict[str, Any] = {"score": grade.earned, "tests": tests}
    if grade.problem is not None:
        result["output"] = f"not gradable: {grade.problem}"
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
