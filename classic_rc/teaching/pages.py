"""Pages of HTML: one for each student, and one for the teacher of a class."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import quote

from classic_rc._version import __version__
from classic_rc.evaluation.resampling import Interval
from classic_rc.reports.html import fill_template
from classic_rc.tables import Column, RowGroup, Table
from classic_rc.teaching.grades import Accuracy, CheckResult, Grade, Grading

STUDENTS = "students"
"""The folder of the students' pages, beside the teacher's page."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A student in the teacher's table."""

    grade: Grade
    page: str
    accuracy: str
    difference: str
    remarks: tuple[str, ...]


def student_page(grading: Grading, grade: Grade) -> str:
    """Return the page of one student: points, what each check found, and accuracy against the reference.

    Signs and alike submissions are the teacher's; they are not on it.

    Parameters
    ----------
    grading : Grading
    grade : Grade
        One of its grades.

    Returns
    -------
    str
        HTML that loads nothing else.
    """
    return fill_template(
        "grade.html",
        data=None,
        title=grading.assignment.title,
        grade=grade,
        accuracy=None if grade.accuracy is None else _accuracy_facts(grade.accuracy),
        look=_look,
        seed=None if grading.assignment.has_files else grading.seed,  # it is the secret of data that are handed out
        version=__version__,
    )


def class_page(grading: Grading) -> str:
    """Return the teacher's page: points, accuracy, isolation, signs and alike submissions of the whole class.

    Parameters
    ----------
    grading : Grading

    Returns
    -------
    str
        HTML that loads nothing else; it links to the students' pages in the folder ``students`` beside it.
    """
    alike = {name for pair in grading.alike for name in (pair.first, pair.second)}
    rows = [_row(grade, grade.student in alike) for grade in grading.grades]
    reference = next((grade.accuracy.reference for grade in grading.grades if grade.accuracy is not None), None)
    return fill_template(
        "grades.html",
        data=None,
        title=grading.assignment.title,
        facts=_class_facts(grading),
        rows=rows,
        reference=reference,
        checks=_checks_table(grading),
        alike=grading.alike,
        version=__version__,
    )


def _look(check: CheckResult) -> str:
    return "right" if check.passed else "partly" if check.earned > 0 else "wrong" if check.ran else ""


def _accuracy_facts(accuracy: Accuracy) -> list[tuple[str, str]]:
    return [
        ("accuracy", _with_bounds(accuracy.value, accuracy.interval)),
        (f"minus {accuracy.reference}", _with_bounds(accuracy.difference, accuracy.difference_interval, "+")),
    ]


def _with_bounds(value: float, interval: Interval | None, sign: str = "") -> str:
    """Return a fraction and its interval in percent."""
    shown = f"{100 * value:{sign}.2f} %"
    if interval is not None:
        shown += f" ({100 * interval[0]:{sign}.2f} to {100 * interval[1]:{sign}.2f})"
    return shown.replace("-", "−")


def _class_facts(grading: Grading) -> list[tuple[str, str]]:
    grades = grading.grades
    full = sum(grade.earned == grade.points for grade in grades)
    facts = [("submissions", str(len(grades))), ("with all points", str(full))]
    if grades:
        facts.append(
            ("mean share of the points", f"{100 * sum(grade.score for grade in grades) / len(grades):.0f} %")
        )
    if ungraded := sum(grade.problem is not None for grade in grades):
        facts.append(("not gradable", str(ungraded)))
    return [*facts, ("seed", str(grading.seed))]


def _row(grade: Grade, is_alike: bool) -> _Row:
    remarks = [] if grade.problem is None else [f"not gradable: {grade.problem}"]
    remarks += [*grade.signs, *(["has nearly the same code as another"] if is_alike else [])]
    accuracy, difference = "", ""
    if grade.accuracy is not None:
        accuracy = _with_bounds(grade.accuracy.value, grade.accuracy.interval)
        difference = _with_bounds(grade.accuracy.difference, grade.accuracy.difference_interval, "+")
    return _Row(grade, quote(os.fsencode(f"{STUDENTS}/{grade.student}.html")), accuracy, difference, tuple(remarks))


def _checks_table(grading: Grading) -> Table:
    """Count the students who passed each check."""
    counts = [
        sum(grade.checks[i].passed for grade in grading.grades) for i in range(len(grading.assignment.checks))
    ]
    rows = [
        (check.title or check.name, f"{check.points:g}", count)
        for check, count in zip(grading.assignment.checks, counts, strict=True)
    ]
    columns = [Column("check"), Column("points", "number"), Column("students who passed", "count")]
    return Table("Checks", columns, [RowGroup(rows)])
