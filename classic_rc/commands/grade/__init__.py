"""``grade``: assignments; check the files of students and grade them."""

from classic_rc.commands.grade.assignment import (
    Assignment,
    Check,
    CheckFailedError,
    Function,
    Submission,
    list_assignments,
    load_assignment,
)
from classic_rc.commands.grade.grades import (
    AccuracyGain,
    CheckResult,
    Grade,
    Grading,
    class_page,
    grades_csv,
    grades_json,
    gradescope_json,
    student_page,
)
from classic_rc.commands.grade.grading import grade_file, grade_folder
from classic_rc.commands.grade.isolation import Isolation, Limits, choose_isolation
from classic_rc.commands.grade.sandbox import SubmissionError

__all__ = [
    "AccuracyGain",
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
