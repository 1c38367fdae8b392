"""Assignments: check the files of students and grade them."""

from classic_rc.teaching.assignment import (
    Assignment,
    Check,
    CheckFailedError,
    Function,
    Submission,
    list_assignments,
    load_assignment,
)
from classic_rc.teaching.grades import (
    Accuracy,
    CheckResult,
    Grade,
    Grading,
    class_page,
    grades_csv,
    grades_json,
    gradescope_json,
    student_page,
)
from classic_rc.teaching.grading import grade_file, grade_folder
from classic_rc.teaching.isolation import Isolation, Limits, choose_isolation
from classic_rc.teaching.sandbox import SubmissionError

__all__ = [
    "Accuracy",
    "Assignment",
    "Check",
    "CheckFailedError",
    "CheckResult",
    "Function",
    "Grade",
    "Grading",
    "Isolation",
    "Limits",
    "Submission",
    "SubmissionError",
    "choose_isolation",
    "class_page",
    "grade_file",
    "grade_folder",
    "grades_csv",
    "grades_json",
    "gradescope_json",
    "list_assignments",
    "load_assignment",
    "student_page",
]
