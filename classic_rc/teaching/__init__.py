"""Assignments: check the files of students and grade them."""

from classic_rc.teaching.grading import SOLVER_CHECKS, CheckResult, Grade, grade_file, grade_folder, grades_csv

__all__ = ["SOLVER_CHECKS", "CheckResult", "Grade", "grade_file", "grade_folder", "grades_csv"]
