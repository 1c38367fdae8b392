"""Grades: the outcome of checks, and the forms in which a teacher needs it: CSV, JSON,
Gradescope's, and pages.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import quote

from classic_rc._version import __version__
from classic_rc.commands.grade.assignment import Assignment
from classic_rc.commands.grade.similarity import ClassSimilarity
from classic_rc.io.text import csv_cell
from classic_rc.reports.explanations import explanation_text, question_values
from classic_rc.reports.html import fill_template
from classic_rc.results.resampling import Interval
from classic_rc.solvers.explanation import Explanation
from classic_rc.tables import Column, RowGroup, Table

STUDENTS = "students"
"""The folder of the students' pages, next to the teacher's page."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check; it did not run if one that it needs has failed, or nothing can
    be graded.
    """

    name: str
    title: str
    points: float
    earned: float
    problem: str | None = None
    details: str = ""
    ran: bool = True
    explained: tuple[tuple[Explanation, ...], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the check found nothing wrong."""
        return self.problem is None

    @property
    def text(self) -> str:
        """The details, and the questions that show them, each explained by one system or
        several.
        """
        parts = [self.details]
        for explanations in self.explained:
            is_marked = any(
                candidate.marks
                for explanation in explanations
                for candidate in explanation.candidates
            )
            parts += [] if is_marked else [f"passage: {explanations[0].question.passage.text}"]
            parts.append(explanation_text(*explanations))
        return "\n".join(filter(None, parts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return asdict(replace(self, details=self.text, explained=()))

    @property
    def verdict(self) -> str:
        """What the student reads: passed, failed or not run."""
        return "passed" if self.passed else "failed" if self.ran else "not run"


@dataclass(frozen=True, slots=True)
class AccuracyGain:
    """What a solver reaches on the questions of the grading, minus a reference too, as fractions.

    The intervals are of 95 %, over passages; None with fewer than two passages.
    """

    value: float
    interval: Interval | None
    reference: str
    difference: float
    difference_interval: Interval | None

    def shown(self) -> tuple[str, str]:
        """Return the value and the difference in percent, with their intervals."""
        return _bounds(self.value, self.interval), _bounds(
            self.difference, self.difference_interval, "+"
        )

    def __str__(self) -> str:
        value, difference = self.shown()
        return f"accuracy {value}, {difference} against {self.reference}"


def _bounds(value: float, interval: Interval | None, sign: str = "") -> str:
    text = f"{100 * value:{sign}.2f}"
    if interval is None:
        return text
    low, high = (100 * bound for bound in interval)
    return f"{text} ({low:{sign}.2f} to {high:{sign}.2f})"


@dataclass(frozen=True, slots=True)
class Grade:
    """The outcome of all checks of one submission.

    `problem` says why it is not gradable, `note` what the grader has done for the file. The
    isolation is empty if nothing ran, and there is no accuracy without a working solver.
    """

    student: str
    file: str
    checks: tuple[CheckResult, ...]
    isolation: str = ""
    problem: str | None = None
    note: str = ""
    accuracy: AccuracyGain | None = None

    @property
    def earned(self) -> float:
        """The points."""
        return sum(check.earned for check in self.checks)

    @property
    def points(self) -> float:
        """The most points."""
        return sum(check.points for check in self.checks)

    @property
    def reason(self) -> str:
        """Why points are missing, in a line; empty if none are."""
        if self.problem is not None:
            return f"not gradable: {self.problem}"
        failed = [check for check in self.checks if check.ran and not check.passed]
        more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        return f"{failed[0].name}: {failed[0].problem}{more}" if failed else ""

    @property
    def score(self) -> float:
        """The share of the points, from 0 to 1."""
        return self.earned / self.points if self.points else 0.0


@dataclass(frozen=True, slots=True)
class Grading:
    """The grades of a class, sorted by students; the same seed repeats them."""

    assignment: Assignment
    seed: int
    grades: tuple[Grade, ...]
    similarity: ClassSimilarity = field(default_factory=ClassSimilarity)

    def remarks(self, grade: Grade) -> list[str]:
        """Return what a teacher should look at for one student."""
        return [*filter(None, [grade.reason]), *self.remarks_on_code(grade)]

    def remarks_on_code(self, grade: Grade) -> list[str]:
        """Return what is similar, and what the grader has imported."""
        return [*self.similarity.of(grade.student), *filter(None, [grade.note])]


def grades_csv(grading: Grading) -> str:
    """Return the grades as CSV, one row for each student, with a column for each check."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = [
        "student",
        "file",
        "score",
        "points",
        "of",
        "accuracy",
        "low",
        "high",
        "reference",
        "difference",
    ]
    head += ["difference low", "difference high", "isolation", "similar", "note", "not gradable"]
    head += [check.name for check in grading.assignment.checks]
    writer.writerow(map(csv_cell, head))
    for grade in grading.grades:
        outcomes = [
            "passed" if check.passed else f"{check.earned:g}: {check.problem}"
            for check in grade.checks
        ]
        cells = [grade.student, grade.file, f"{grade.score:.4g}"]
        cells += [f"{grade.earned:g}", f"{grade.points:g}", *_accuracy_cells(grade.accuracy)]
        similar = "; ".join(grading.similarity.of(grade.student))
        cells += [grade.isolation, similar, grade.note, grade.problem or "", *outcomes]
        writer.writerow(map(csv_cell, cells))
    return out.getvalue()


def _accuracy_cells(accuracy: AccuracyGain | None) -> list[str]:
    if accuracy is None:
        return [""] * 7
    return [
        *_percent_cells(accuracy.value, accuracy.interval),
        accuracy.reference,
        *_percent_cells(accuracy.difference, accuracy.difference_interval),
    ]


def _percent_cells(value: float, interval: Interval | None) -> list[str]:
    cells = [f"{100 * float(fraction):.2f}" for fraction in (value, *(interval or ()))]
    return cells if interval else [*cells, "", ""]


def grades_json(grading: Grading) -> dict[str, Any]:
    """Return the grades as plain data, ready for JSON."""
    return {
        "assignment": grading.assignment.name,
        "rules": dict(grading.assignment.choice),
        "seed": grading.seed,
        "grades": [_plain(grade) for grade in grading.grades],
        "similarity": asdict(grading.similarity),
    }


def _plain(grade: Grade) -> dict[str, Any]:
    checks = [check.to_dict() for check in grade.checks]
    return asdict(replace(grade, checks=())) | {"checks": checks, "score": grade.score}


def gradescope_json(grade: Grade, similar: Sequence[str] = ()) -> dict[str, Any]:
    """Return one student's grade in the form that Gradescope's autograder reads from
    ``results.json``.

    Only teachers see `similar`, what the code has in common with other code.
    """
    tests = []
    for check in grade.checks:
        test = {
            "name": check.title or check.name,
            "score": check.earned,
            "max_score": check.points,
            "status": "passed" if check.passed else "failed",
            "output": "\n".join(filter(None, [check.problem, check.text])),
            "visibility": "visible",
        }
        tests.append(test)
    result: dict[str, Any] = {
        "score": grade.earned,
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"isolation": grade.isolation, "similar": [*similar]},
    }
    problem = grade.problem and f"not gradable: {grade.problem}"
    if output := "; ".join(filter(None, [problem, grade.note])):
        result["output"] = output
    if grade.accuracy is not None:
        result["leaderboard"] = [
            {"name": "accuracy", "value": round(100 * grade.accuracy.value, 2), "order": "desc"}
        ]
    return result


def student_page(grading: Grading, grade: Grade) -> str:
    """Return the HTML page of one student: points, what each check found, and accuracy. Flags
    are not on it.
    """
    return fill_template(
        "grade.html",
        __package__,
        title=grading.assignment.title,
        grade=grade,
        look=_look,
        views=_views,
        version=__version__,
    )


def _look(check: CheckResult) -> str:
    return (
        "right" if check.passed else "partly" if check.earned > 0 else "wrong" if check.ran else ""
    )


def _views(check: CheckResult) -> list[dict[str, Any]]:
    return [question_values(*explanations) for explanations in check.explained]


def class_page(grading: Grading) -> str:
    """Return the teacher's HTML page of a class; it links to the students' pages in the folder
    ``students``.
    """
    grades, checks = grading.grades, grading.assignment.checks
    check_rows = []
    for i, check in enumerate(checks):
        n_passed = sum(grade.checks[i].passed for grade in grades)
        check_rows.append((check.title, f"{check.points:g}", n_passed))
    columns = [Column("check"), Column("points", "number"), Column("students who passed", "count")]
    n_with_all_points = sum(grade.earned == grade.points for grade in grades)
    n_not_gradable = sum(grade.problem is not None for grade in grades)
    facts = [
        ("submissions", str(len(grades))),
        ("with all points", str(n_with_all_points)),
        ("not gradable", str(n_not_gradable)),
        ("similarity", grading.similarity.distribution),
        ("seed", str(grading.seed)),
    ]
    student_rows = []
    for grade in grades:
        link = quote(os.fsencode(f"{STUDENTS}/{grade.student}.html"))
        student_rows.append((grade, link, grading.remarks(grade)))
    accuracies = (grade.accuracy for grade in grades if grade.accuracy is not None)
    return fill_template(
        "grades.html",
        __package__,
        title=grading.assignment.title,
        facts=[*facts, *grading.assignment.choice.items()],
        rows=student_rows,
        reference=next((accuracy.reference for accuracy in accuracies), None),
        checks=Table("Checks", columns, [RowGroup(check_rows)]),
        matches=grading.similarity.matches,
        version=__version__,
    )
