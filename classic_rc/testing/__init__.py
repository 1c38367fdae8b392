"""For tests, ours and our users': synthetic questions, what every solver must do, and grading of files."""

from classic_rc.teaching.grading import Checked, Grade, grade_file, grade_folder
from classic_rc.testing.contract import check_solver
from classic_rc.testing.synthetic import synthetic_dataset

__all__ = ["Checked", "Grade", "check_solver", "grade_file", "grade_folder", "synthetic_dataset"]
