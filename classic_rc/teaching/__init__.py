"""Assignments: check the files of students and grade them."""

from classic_rc.teaching.assignment import (
    Assignment,
    CheckFailedError,
    Submission,
    check,
    list_assignments,
    load_assignment,
)
from classic_rc.teaching.feedback import compare_function, own_function, questions_lost
from classic_rc.teaching.grades import (
    Accuracy,
    CheckResult,
    Grade,
    Grading,
    grades_csv,
    grades_json,
    gradescope_json,
)
from classic_rc.teaching.grading import grade_file, grade_folder
from classic_rc.teaching.pages import class_page, student_page
from classic_rc.teaching.sandbox import Level, Limits, SubmissionError

__all__ = [
    "Accuracy",
    "Assignment",
    "CheckFailedError",
    "CheckResult",
    "Grade",
    "Grading",
    "Level",
    "Limits",
    "Submission",
    "SubmissionError",
    "check",
    "class_page",
    "compare_function",
    "grade_file",
    "grade_folder",
    "grades_csv",
    "grades_json",
    "gradescope_json",
    "list_assignments",
    "load_assignment",
    "own_function",
    "questions_lost",
    "student_page",
]
