"""Grades: the outcome of checks, and the forms in which a teacher needs it: CSV, JSON and Gradescope's."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from typing import Any

from classic_rc.evaluation.resampling import Interval
from classic_rc.io.text import csv_cell
from classic_rc.teaching.assignment import Assignment
from classic_rc.teaching.sandbox import Level
from classic_rc.teaching.submissions import AlikePair


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
    ran : bool
        False if a check that it needs has failed, or if nothing can be graded.
    """

    name: str
    title: str
    points: float
    earned: float
    problem: str | None = None
    details: str = ""
    ran: bool = True

    @property
    def passed(self) -> bool:
        """Whether the check found nothing wrong."""
        return self.problem is None

    @property
    def verdict(self) -> str:
        """What the student reads: passed, failed or not run."""
        return "passed" if self.passed else "failed" if self.ran else "not run"


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
    seen = {"isolation": grade.level or "", "signs": list(grade.signs)}  # stored, and not shown to the student
    result: dict[str, Any] = {"score": grade.earned, "tests": tests, "extra_data": seen}
    if grade.problem is not None:
        result["output"] = f"not gradable: {grade.problem}"
    return result


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
