"""Grading: each submission runs in a sandbox, and what it answers is compared out here."""

from __future__ import annotations

import ast
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.grade.assignment import (
    Assignment,
    Check,
    CheckFailedError,
    Submission,
    load_assignment,
)
from classic_rc.commands.grade.feedback import compare_function
from classic_rc.commands.grade.grades import AccuracyGain, CheckResult, Grade, Grading
from classic_rc.commands.grade.isolation import DEFAULT_LIMITS, Isolation, Limits, choose_isolation
from classic_rc.commands.grade.sandbox import Sandbox, SubmissionError
from classic_rc.commands.grade.similarity import find_similar, parse_source
from classic_rc.commands.grade.submissions import HandedIn, find_submissions, read_submission
from classic_rc.decisions import default_decision
from classic_rc.errors import DataError, UsageError
from classic_rc.folds import passage_groups
from classic_rc.io.text import printable
from classic_rc.kernels import reference as lessons
from classic_rc.metrics.base import Metric, primary_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset
from classic_rc.results.intervals import interval_of, resample_ratios
from classic_rc.results.resampling import Resampling
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.specs import parse_solver
from classic_rc.solvers.trivial import Random


def grade_file(
    file: str | PathLike[str], assignment: Assignment | str | PathLike[str], **setting: Any
) -> Grade:
    """Grade one submission: a Python file, a notebook, or a student's folder. See
    :func:`grade_folder`.
    """
    (grade,) = grade_one(file, assignment, **setting).grades
    return grade


def grade_one(
    file: str | PathLike[str], assignment: Assignment | str | PathLike[str], **setting: Any
) -> Grading:
    """Grade one submission, and compare it with known code. See :func:`grade_folder`."""
    if not Path(file).exists():
        raise DataError("no such file or folder", source=str(file))
    grader = Grader(load_assignment(assignment), **setting)
    loaded = grader.assignment
    return grader.grade_all(
        [read_submission(Path(file), loaded.main, loaded.suffixes)], is_class=False
    )


def grade_folder(
    folder: str | PathLike[str],
    assignment: Assignment | str | PathLike[str],
    *,
    advance: Callable[[Grading], None] = lambda grading: None,
    **setting: Any,
) -> Grading:
    """Grade the submissions of a class, one after the other, each in a process of its own.

    Parameters
    ----------
    folder : str or path
        It has a Python file, a notebook or a folder for each student.
    assignment : Assignment, str or path
        With the rules of the class; or the name of one of the package, or a teacher's file.
    advance : callable
        Called with the grades that are known, after each of them.
    **setting
        `limits` for each submission; the `seed` of questions and cases (by default a new one);
        hidden questions as `data` (by default fresh ones); `train`, from which solvers learn; the
        `isolation` (by default bubblewrap).

    Raises
    ------
    DataError
        The folder does not exist, it has no submissions, or two submissions have the same name.
    UsageError
        The assignment does not work, most files do not fit it, or the system cannot isolate a
        process.
    """
    grader = Grader(load_assignment(assignment), **setting)
    return grader.grade_all(
        find_submissions(folder, grader.assignment.main, grader.assignment.suffixes), advance
    )


def new_seed() -> int:
    """Return a seed that cannot be known before."""
    return secrets.randbelow(2**31)


@dataclass(frozen=True)
class Grader:
    """All that the submissions of one grading have in common."""

    assignment: Assignment
    limits: Limits = DEFAULT_LIMITS
    seed: int = field(default_factory=new_seed)
    data: Dataset | None = None
    train: Dataset | None = None
    isolation: Isolation = field(default_factory=choose_isolation)

    def __post_init__(self) -> None:
        if not self.limits.seconds > 0:
            message = (
                f"the time limit must be a positive number of seconds, got {self.limits.seconds:g}"
            )
            raise UsageError(message, field="timeout", found=f"{self.limits.seconds:g}")
        if self.data is not None:
            _check_data(self.data)

    def grade_all(
        self,
        submissions: Sequence[HandedIn],
        advance: Callable[[Grading], None] = lambda grading: None,
        *,
        is_class: bool = True,
    ) -> Grading:
        """Grade submissions; stop if most of a class do not fit the assignment.

        One that does not fit is told by each check what it defines, and what is wanted.
        """
        assignment = self.assignment
        if is_class:
            self._check_fit(submissions)
        questions = self.data
        if questions is None and assignment.make_questions is not None:
            questions = assignment.make_questions(self.seed)
        if assignment.floor is not None and questions is not None:
            reference_statistics(
                assignment.floor, questions, self.train
            )  # An error here is no student's.
        lesson_files = Path(lessons.__file__).parent.glob("*.py")
        references = {f"{file.name} of the package": file.read_bytes() for file in lesson_files}
        references["the reference of your class"] = assignment.source().encode()
        texts: dict[str, dict[str, bytes]] = {}
        for submission in submissions:
            texts[submission.student] = {}
            for name, content in submission.files.items():
                if name.endswith((".py", ".md")):
                    texts[submission.student][name] = content
        similarity = find_similar(texts, assignment.start(), references)
        grading = Grading(assignment, self.seed, (), similarity)
        for submission in submissions:
            grading = replace(grading, grades=(*grading.grades, self._grade(submission, questions)))
            advance(grading)
        return grading

    def _check_fit(self, submissions: Sequence[HandedIn]) -> None:
        """Stop if most files define nothing of what the assignment asks: it is another one's."""
        assignment = self.assignment
        expected = {*assignment.functions} | _defined(parse_source(assignment.start()))
        sources = (submission.files.get(submission.main) for submission in submissions)
        trees = [
            tree for source in sources if source is not None and (tree := parse_source(source))
        ]
        misfits = [tree for tree in trees if tree.body and not _defined(tree) & expected]
        if expected and 2 * len(misfits) > len(trees):
            message = (
                f"define none of {', '.join(sorted(expected - {'class'}))}: they are not "
                f"submissions to {assignment.name}"
            )
            problem = f"{len(misfits)} of {len(trees)} files {message}"
            raise UsageError(
                problem,
                field="--assignment",
                found=assignment.name,
                expected="the assignment that was handed out",
            )

    def _grade(self, handed_in: HandedIn, questions: Dataset | None) -> Grade:
        checks = self.assignment.checks
        if handed_in.problem is not None:
            results = tuple(_nothing(check, "not gradable") for check in checks)
            return Grade(handed_in.student, handed_in.file, results, problem=handed_in.problem)
        accuracy = None
        with Sandbox(
            handed_in.files, handed_in.main, self.isolation, self.limits, self.assignment.packages
        ) as box:
            try:
                names = box.load()
            except SubmissionError as error:
                first = self._failed(checks[0], error)
                if error.problem.startswith("ModuleNotFoundError"):
                    message = (
                        "your file may import the standard library and "
                        f"{', '.join(self.assignment.packages)}"
                    )
                    first = replace(first, details=f"{first.details}\n{message}".strip())
                others = (_nothing(check, "the file does not load") for check in checks[1:])
                return Grade(
                    handed_in.student, handed_in.file, (first, *others), self.isolation.kind
                )
            is_hidden = self.data is not None
            submission = Submission(
                box, names, self.assignment, self.seed, questions, self.train, is_hidden
            )
            results = self.run_checks(submission)
            if self.assignment.floor is not None and questions is not None:
                try:
                    box.begin_check()
                    accuracy = compare_solvers(submission, questions, self.assignment.floor)
                except (SubmissionError, CheckFailedError):
                    pass
            note = ""
            if box.added and not is_hidden:  # The names come from the student's process.
                note = f"imported for the file, which does not: {', '.join(box.added)}"
        return Grade(
            handed_in.student, handed_in.file, results, self.isolation.kind, None, note, accuracy
        )

    def run_checks(self, submission: Submission) -> tuple[CheckResult, ...]:
        """Run the checks in their order; one whose needs are not met does not run."""
        results: dict[str, CheckResult] = {}
        for check in self.assignment.checks:
            missing = [name for name in check.needs if not results[name].passed]
            if missing:
                results[check.name] = _nothing(check, f"counts when {', '.join(missing)} passes")
            else:
                results[check.name] = self._run(check, submission)
        return tuple(results.values())

    def _run(self, check: Check, submission: Submission) -> CheckResult:
        try:
            submission.sandbox.begin_check()
            outcome: float | None = 1.0
            if isinstance(check.run, str):
                compare_function(submission, check.run, check.where)
            else:
                outcome = check.run(submission)
            share = 1.0 if outcome is None else float(outcome)
        except UsageError:  # A new process does not start: that is no student's.
            raise
        except Exception as error:
            is_students = isinstance(error, SubmissionError | AssertionError)
            if isinstance(check.run, str) and not is_students:
                message = f"the check {check.name} does not work: {type(error).__name__}: {error}"
                raise UsageError(message, field="assignment", found=self.assignment.name) from error
            return self._failed(check, error)
        share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
        problem = None if share == 1 else f"{100 * share:.0f} % of the points"
        return CheckResult(check.name, check.title, check.points, share * check.points, problem)

    def _failed(self, check: Check, error: Exception) -> CheckResult:
        """Return the result of a check that raised: the student's mistake, or the student's error.

        With hidden questions, nothing in it is of the student's choice: it could quote them.
        """
        explained: tuple[tuple[Explanation, ...], ...] = ()
        if isinstance(error, SubmissionError | CheckFailedError):
            problem, details = error.problem, error.details
            explained = error.explained if isinstance(error, CheckFailedError) else ()
        elif isinstance(error, AssertionError):
            problem, details = str(error) or "the check failed", ""
        # A wrong type that the check has not looked for: the answer of the student's code made it
        # fail.
        else:
            problem, details = (
                f"the answer is not what the check expects ({type(error).__name__}: {error})",
                "",
            )
        if self.data is not None:
            problem = error.summary if isinstance(error, SubmissionError) else "the check failed"
            details, explained = (
                "what your code said is left out: it could quote hidden questions",
                (),
            )
        line = " ".join(printable(problem).split())[:300]
        return CheckResult(
            check.name,
            check.title,
            check.points,
            0.0,
            line,
            details.strip("\n"),
            explained=explained,
        )


def _defined(tree: ast.Module | None) -> set[str]:
    """Return the names that a file defines, and ``class`` if one of them is a class."""
    defined = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined |= {node.name} | ({"class"} if isinstance(node, ast.ClassDef) else set())
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.ImportFrom):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    defined.add(inner.id)
                elif isinstance(inner, ast.alias):
                    defined.add(inner.asname or inner.name)
    return defined


def _check_data(data: Dataset) -> None:
    """Check that questions can be put to a student's solver and have answers."""
    if data.task is None or data.task.has_spans:
        message = (
            f"students' solvers choose among candidates, but {data.name} has questions of the task "
            f"{data.task}"
        )
        expected = "single-choice, multiple-answer or cloze"
        raise UsageError(message, field="--data", found=str(data.task), expected=expected)
    missing = next((question.id for question in data if question.gold is None), None)
    if missing is not None:
        message = f"the questions need gold: question {missing} of {data.name} has none"
        raise UsageError(message, field="--data", found=missing, expected="questions with gold")


def _nothing(check: Check, problem: str) -> CheckResult:
    return CheckResult(check.name, check.title, check.points, 0.0, problem, ran=False)


def compare_solvers(submission: Submission, questions: Dataset, reference: str) -> AccuracyGain:
    """Compare a student's solver with one of the package, which learns from what the student's
    learns from.
    """
    student_statistics = question_statistics(
        questions, Scores.from_lists(submission.score(questions))
    )
    floor_statistics = reference_statistics(reference, questions, submission.train)
    metric, groups = _metric(questions), passage_groups(questions)
    value, floor = metric.aggregate(student_statistics), metric.aggregate(floor_statistics)
    resampling = Resampling.of(groups)
    if resampling.n_groups < 2:
        return AccuracyGain(value, None, reference, value - floor, None)
    drawn = resample_ratios(
        [(metric, student_statistics), (metric, floor_statistics)], groups, resampling
    )
    interval = interval_of(metric, [student_statistics], drawn[:1], groups)
    difference = interval_of(metric, [student_statistics, floor_statistics], drawn, groups)
    return AccuracyGain(value, interval, reference, value - floor, difference)


@lru_cache(maxsize=8)
def reference_statistics(
    reference: str, questions: Dataset, train: Dataset | None
) -> NDArray[np.float64]:
    """Return what a solver of the package reaches; the same for all students of a grading."""
    solver = parse_solver(reference).fit(questions if train is None else train)
    if isinstance(solver, Random):
        return _metric(questions).statistics(questions, solver.expectation(questions))
    return question_statistics(questions, solver.score_candidates(questions))


def question_statistics(questions: Dataset, scores: Scores) -> NDArray[np.float64]:
    """Return the statistics of the task's metric for each question; for single choice, its
    credit.
    """
    assert questions.task is not None
    predictions = default_decision(questions.task).fit(scores, questions).decide(scores, questions)
    return _metric(questions).statistics(questions, predictions)


def _metric(questions: Dataset) -> Metric:
    assert questions.task is not None
    return primary_metric(questions)
