"""Grading: each submission runs in a sandbox, and what it answers is compared out here."""

from __future__ import annotations

import ast
import json
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import default_decision
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.resampling import percentile_interval, resample_means
from classic_rc.folds import passage_groups
from classic_rc.io.text import printable
from classic_rc.kernels import reference as lessons
from classic_rc.metrics.base import Metric, primary_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset
from classic_rc.solvers.random import Random
from classic_rc.solvers.specs import parse_solver
from classic_rc.teaching.assignment import (
    DECLARATION,
    Assignment,
    Check,
    CheckFailedError,
    Submission,
    list_assignments,
    load_assignment,
)
from classic_rc.teaching.feedback import compare_function
from classic_rc.teaching.grades import Accuracy, CheckResult, Grade, Grading
from classic_rc.teaching.isolation import DEFAULT_LIMITS, Isolation, Limits, choose_isolation
from classic_rc.teaching.sandbox import Sandbox, SubmissionError
from classic_rc.teaching.similarity import find_similar, parse_source
from classic_rc.teaching.submissions import HandedIn, find_submissions, read_submission


def read_declaration(place: Path) -> tuple[Assignment, int | None] | None:
    """Return what a declaration says, or that of a folder or beside a file: the assignment, and perhaps a seed."""
    folders = (place, place.parent) if place.is_file() else (place,)
    found = [place] if place.name == DECLARATION else [folder / DECLARATION for folder in folders]
    file = next((file for file in found if file.is_file()), None)
    if file is None:
        return None
    try:
        told = json.loads(file.read_bytes())
        name, rules, seed = told["assignment"], dict(told.get("rules", {})), told.get("seed")
        if not isinstance(name, str) or not (seed is None or type(seed) is int):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        expected = '{"assignment": NAME, "rules": {...}} and perhaps a "seed"'
        raise DataError("no declaration of an assignment", source=str(file), expected=expected) from None
    own = name if name in list_assignments() else file.parent / name
    assignment = load_assignment(own, rules)
    return (assignment.drawn(seed) if seed is not None else assignment), seed


def grade_file(file: str | PathLike[str], assignment: Assignment | str | PathLike[str], **setting: Any) -> Grade:
    """Grade one submission: a Python file, a notebook, or a student's folder. See :func:`grade_folder`."""
    path = Path(file)
    if not path.exists():
        raise DataError("no such file or folder", source=str(path))
    own = _Setting(assignment, **setting)
    one = read_submission(path, own.assignment.main, own.assignment.suffixes)
    own.must_fit([one])
    return own.grade(one)


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
        `limits` for each submission; the `seed` of questions and cases (by default a new one); hidden questions as
        `data` (by default fresh ones); `train`, from which solvers learn; the `isolation` (by default bubblewrap).

    Raises
    ------
    DataError
        The folder does not exist, it has no submissions, or two submissions have the same name.
    UsageError
        The assignment does not work, most files do not fit it, or the system cannot isolate a process.
    """
    graders = _Setting(assignment, **setting)
    own = graders.assignment
    found = find_submissions(folder, own.main, own.suffixes)
    graders.must_fit(found)
    references = {
        f"{file.name} of the package": file.read_bytes() for file in Path(lessons.__file__).parent.glob("*.py")
    }
    references |= {"the reference of your class": own.source().encode()}
    similarity = find_similar({one.student: one.files for one in found}, own.start(), references)
    grading = Grading(own, graders.seed, (), similarity)
    for one in found:
        grading = replace(grading, grades=(*grading.grades, graders.grade(one)))
        advance(grading)
    return grading


class _Setting:
    """All that the submissions of one grading have in common."""

    def __init__(
        self,
        assignment: Assignment | str | PathLike[str],
        *,
        limits: Limits = DEFAULT_LIMITS,
        seed: int | None = None,
        data: Dataset | None = None,
        train: Dataset | None = None,
        isolation: Isolation | None = None,
    ) -> None:
        if not limits.seconds > 0:
            told = f"the time limit must be a positive number of seconds, got {limits.seconds:g}"
            raise UsageError(told, field="timeout", found=f"{limits.seconds:g}")
        own = assignment if isinstance(assignment, Assignment) else load_assignment(assignment)
        self.assignment, self.limits, self.train = own, limits, train
        self.seed = new_seed() if seed is None else seed
        self.isolation = isolation or choose_isolation()
        self.is_hidden = data is not None
        self.questions = data if data is not None or own.make_questions is None else own.make_questions(self.seed)
        if data is not None:
            _check_data(data)
        if own.floor is not None and self.questions is not None:
            reference_statistics(own.floor, self.questions, train)  # An error here is no student's.

    def must_fit(self, found: Sequence[HandedIn]) -> None:
        """Stop if most files define nothing of what the assignment asks: it is another one's."""
        wanted = {*self.assignment.functions} | _defined(parse_source(self.assignment.start()))
        trees = [tree for one in found if one.main in one.files and (tree := parse_source(one.files[one.main]))]
        misfits = [tree for tree in trees if tree.body and not _defined(tree) & wanted]
        if wanted and 2 * len(misfits) > len(trees):
            told = ", ".join(sorted(wanted - {"class"}))
            name = self.assignment.name
            problem = (
                f"{len(misfits)} of {len(trees)} files define none of {told}: they are no submissions to {name}"
            )
            raise UsageError(
                problem, field="--assignment", found=name, expected="the assignment that was handed out"
            )

    def grade(self, one: HandedIn) -> Grade:
        checks = self.assignment.checks
        if one.problem is not None:
            results = tuple(_nothing(check, "not gradable") for check in checks)
            return Grade(one.student, one.file, results, problem=one.problem)
        accuracy = None
        with Sandbox(one.files, one.main, self.isolation, self.limits, self.assignment.packages) as box:
            try:
                names = box.load()
            except SubmissionError as error:
                first = self._failed(checks[0], error)
                if error.problem.startswith("ModuleNotFoundError"):
                    told = f"your file may import Python's library and {', '.join(self.assignment.packages)}"
                    first = replace(first, details=f"{first.details}\n{told}".strip())
                others = (_nothing(check, "the file does not load") for check in checks[1:])
                return Grade(one.student, one.file, (first, *others), self.isolation.kind)
            submission = Submission(
                box, names, self.assignment, self.seed, self.questions, self.train, self.is_hidden
            )
            results = self._run_checks(submission)
            if self.assignment.floor is not None and self.questions is not None:
                try:
                    box.begin_check()
                    accuracy = compare_solvers(submission, self.questions, self.assignment.floor)
                except (SubmissionError, CheckFailedError):
                    pass
            note = ""
            if box.added and not self.is_hidden:  # The names come from the student's process.
                note = f"imported for the file, which does not: {', '.join(box.added)}"
        return Grade(one.student, one.file, results, self.isolation.kind, None, note, accuracy)

    def _run_checks(self, submission: Submission) -> tuple[CheckResult, ...]:
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
            if isinstance(check.run, str):
                found: float | None = 1.0
                compare_function(submission, check.run, check.where)
            else:
                found = check.run(submission)
            share = 1.0 if found is None else float(found)
        except UsageError:  # A new process does not start: that is no student's.
            raise
        except Exception as error:
            return self._failed(check, error)
        share = 0.0 if math.isnan(share) else min(max(share, 0.0), 1.0)
        problem = None if share == 1 else f"{100 * share:.0f} % of the points"
        return CheckResult(check.name, check.title, check.points, share * check.points, problem)

    def _failed(self, check: Check, error: Exception) -> CheckResult:
        """Return the result of a check that raised: the student's mistake, or the student's error.

        With hidden questions, nothing in it is of the student's choice: it could be a message about them.
        """
        if isinstance(error, SubmissionError | CheckFailedError):
            problem, details = error.problem, error.details
        elif isinstance(error, AssertionError):
            problem, details = str(error) or "the check failed", ""
        else:  # A wrong type that the check has not looked for: the answer of the student's code made it fail.
            problem, details = f"the answer is not what the check expects ({type(error).__name__}: {error})", ""
        if self.is_hidden:
            problem = error.summary if isinstance(error, SubmissionError) else "the check failed"
            details = "what your code said is left out: it could quote hidden questions"
        line = " ".join(printable(problem).split())[:300]
        return CheckResult(check.name, check.title, check.points, 0.0, line, details.strip("\n"))


def _defined(tree: ast.Module | None) -> set[str]:
    """Return the names that a file defines, and ``class`` if one of them is a class."""
    found = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found |= {node.name} | ({"class"} if isinstance(node, ast.ClassDef) else set())
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.ImportFrom):
            found |= {
                own.id for own in ast.walk(node) if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Store)
            }
            found |= {own.asname or own.name for own in ast.walk(node) if isinstance(own, ast.alias)}
    return found


def _check_data(data: Dataset) -> None:
    """Check that questions can be put to a student's solver and have answers."""
    if data.task is None or data.task.has_spans:
        told = f"students' solvers choose among candidates, but {data.name} has questions of the task {data.task}"
        expected = "single-choice, multiple-answer or cloze"
        raise UsageError(told, field="--data", found=str(data.task), expected=expected)
    missing = next((question.id for question in data if question.gold is None), None)
    if missing is not None:
        told = f"the questions need gold: question {missing} of {data.name} has none"
        raise UsageError(told, field="--data", found=missing, expected="questions with gold")


def _nothing(check: Check, problem: str) -> CheckResult:
    return CheckResult(check.name, check.title, check.points, 0.0, problem, ran=False)


def compare_solvers(submission: Submission, questions: Dataset, reference: str) -> Accuracy:
    """Compare a student's solver with one of the package, which learns from what the student's learns from."""
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
    """Return what a solver of the package reaches; the same for all students of a grading."""
    solver = parse_solver(reference).fit(questions if train is None else train)
    if isinstance(solver, Random):
        return _metric(questions).statistics(questions, solver.expectation(questions))
    return question_statistics(questions, solver.score_candidates(questions))


def question_statistics(questions: Dataset, scores: Scores) -> NDArray[np.float64]:
    """Return the statistics of the task's metric for each question; for single choice, its credit."""
    assert questions.task is not None
    predictions = default_decision(questions.task).fit(scores, questions).decide(scores, questions)
    return _metric(questions).statistics(questions, predictions)


def _metric(questions: Dataset) -> Metric:
    assert questions.task is not None
    return primary_metric(questions.task)


def new_seed() -> int:
    """Return a seed that nobody can know before."""
    return secrets.randbelow(2**31)
