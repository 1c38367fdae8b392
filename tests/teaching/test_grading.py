"""Grading: the grade of each kind of file, and what a hostile file cannot do to the others."""

from __future__ import annotations

import csv
import io
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.teaching.grading import CheckResult, Grade, grade_file, grade_folder, grades_csv
from classic_rc.testing.__main__ import main
from tests.errors import raises

CHECKER = '''
"""A checker of nothing in particular."""
from os.path import join  # what is imported is no check

def check_has_answer(submission):
    """There is an answer."""
    assert hasattr(submission, "answer"), "define answer"

def check_knows(submission):
    """The answer is 42."""
    assert submission.answer() == 42, f"answer() is not 42 but {submission.answer()}"
'''

GOOD = "def answer():\n    return 42\n"


@pytest.fixture
def graded(tmp_path):
    """Grades by student of the files given by name."""
    checker = tmp_path / "checker.py"
    checker.write_text(CHECKER, encoding="utf-8")

    def grade(timeout: float = 60.0, **sources: str) -> dict[str, Grade]:
        folder = tmp_path / "submissions"
        folder.mkdir()
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        return {grade.student: grade for grade in grade_folder(folder, checker, timeout=timeout)}

    return grade


def problems(grade: Grade) -> list[str | None]:
    return [check.problem for check in grade.checks]


def test_each_check_counts_by_itself(graded):
    grades = graded(right=GOOD, wrong="def answer():\n    return 41\n", none="")
    assert [(name, grade.score) for name, grade in grades.items()] == [("none", 0), ("right", 1), ("wrong", 0.5)]
    assert problems(grades["wrong"]) == [None, "answer() is not 42 but 41"]
    assert [(c.name, c.title) for c in grades["right"].checks] == [
        ("has_answer", "There is an answer"),
        ("knows", "The answer is 42"),
    ]
    assert problems(grades["none"]) == [
        "define answer",
        "AttributeError: module 'submission' has no attribute 'answer'",
    ]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1\ny = x +\n", "SyntaxError: invalid syntax (line 2)"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module' (line 1)"),
        ("import sys\nsys.exit(0)", "ends the program (sys.exit or quit)"),
        ("import os\nos._exit(3)", "ended its process (exit code 3)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 1)"),
        ("assert 1 == 2, 'no'", "AssertionError: no (line 1)"),
        ("def f():\n    return f()\nf()", "RecursionError: maximum recursion depth exceeded (line 2)"),
        ("raise ValueError('a\\n\\x1b[31mb')", r"ValueError: a \x1b[31mb (line 1)"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E", "E (line 3)"),
    ],
)
def test_an_error_is_one_line(graded, source, problem):
    assert problems(graded(student=source)["student"]) == [problem] * 2


def test_a_long_message_is_cut(graded):
    (told, _) = problems(graded(student="raise ValueError('x' * 10**7)")["student"])
    assert len(told) == 300


def test_what_was_passed_before_the_end_stays_passed(graded):
    source = "import os\ndef answer():\n    os._exit(0)\n"
    assert problems(graded(student=source)["student"]) == [None, "ended its process (exit code 0)"]


def test_a_loop_is_ended_and_the_others_are_graded(graded):
    grades = graded(timeout=5, loop="def answer():\n    while True: pass\n", right=GOOD)
    assert problems(grades["loop"]) == [None, "took longer than 5 s"]
    assert grades["right"].score == 1


def test_what_a_file_prints_goes_nowhere(graded, capfd):
    source = "import os, sys\nfor _ in range(50):\n    print('x' * 10**6)\n    os.write(2, b'y' * 10**5)\n" + GOOD
    assert graded(student=source)["student"].score == 1
    assert capfd.readouterr() == ("", "")


def test_a_file_that_floods_the_channel_is_read_to_its_limit(graded):
    source = "import os\nfor n in range(3, 9):\n    try:\n        os.write(n, b'[' * 10**7 + b'\\n')\n"
    source += "    except OSError:\n        pass\n" + GOOD
    assert set(problems(graded(student=source)["student"])) == {"ended its process (exit code 0)"}


def test_a_file_may_delete_the_folder_that_it_runs_in(graded):
    source = "import os, shutil\nshutil.rmtree(os.getcwd(), ignore_errors=True)\n" + GOOD
    grades = graded(student=source, xother=GOOD)
    assert [grade.score for grade in grades.values()] == [1, 1]


def test_a_file_runs_in_a_temporary_folder_of_its_own(graded, tmp_path):
    source = "import os, tempfile\nopen('left.txt', 'w').close()\nopen(__file__, 'a').close()\n"
    source += "seen = sorted(os.listdir()), tempfile.gettempdir() == os.getcwd()\nraise ValueError(seen)\n"
    (told, _) = problems(graded(student=source)["student"])
    assert told == "ValueError: (['left.txt', 'student.py'], True) (line 5)"
    assert not list(tmp_path.rglob("left.txt"))


def test_a_file_named_like_a_module_does_not_take_its_place(graded):
    assert graded(json=GOOD, numpy=GOOD)["json"].score == 1


def test_a_file_that_rewrites_the_others_changes_no_grade(graded, tmp_path):
    source = f"""
import pathlib
for file in pathlib.Path({str(tmp_path)!r}).rglob("*.py"):
    file.write_text("def answer(): return 0")
"""
    grades = graded(a_first=source, b_right=GOOD, c_wrong="def answer():\n    return 7\n")
    assert [grade.score for grade in grades.values()] == [0, 1, 0.5]
    assert problems(grades["c_wrong"])[1] == "answer() is not 42 but 7"


@pytest.mark.skipif(os.name == "nt", reason="there, what outlives its parent cannot be found")
@pytest.mark.parametrize("then", ["", "while True: pass", "os._exit(0)"])
def test_processes_that_a_file_starts_are_ended_with_it(graded, then):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        child = f"import socket, time; s = socket.create_connection({server.getsockname()!r})\n"
        child += "print('connected', flush=True); time.sleep(600)"
        source = "import os, subprocess, sys\n"
        source += f"child = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)\n"
        source += f"child.stdout.readline()\n{then}\n{GOOD}"
        graded(timeout=10, student=source)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(60)
            assert connection.recv(1) == b""  # the system has closed it


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_that_goes_on_reporting_is_not_waited_for(graded):
    source = "import os, time\nif os.fork() == 0:\n    time.sleep(600)\n" + GOOD
    assert graded(timeout=30, student=source)["student"].score == 1


def test_a_folder_a_student_must_have_one_file(graded, tmp_path):
    for name, files in {"ann": ["solver.py"], "bob": ["a.py", "b.py"], "eve": ["notes.txt"]}.items():
        (tmp_path / "submissions" / name).mkdir(parents=True)
        for file in files:
            (tmp_path / "submissions" / name / file).write_text(GOOD, encoding="utf-8")
    grades = grade_folder(tmp_path / "submissions", tmp_path / "checker.py")
    assert [(g.student, g.file, g.score) for g in grades] == [
        ("ann", "ann/solver.py", 1),
        ("bob", "bob", 0),
        ("eve", "eve", 0),
    ]
    assert str(problems(grades[1])[0]).endswith("several .py files: a.py, b.py")
    assert str(problems(grades[2])[0]).endswith("no .py file")


def test_two_submissions_of_one_name_are_refused(graded, tmp_path):
    graded(ann=GOOD)
    (tmp_path / "submissions" / "ann").mkdir()
    with raises(DataError, source=str(tmp_path / "submissions"), found="ann"):
        grade_folder(tmp_path / "submissions", tmp_path / "checker.py")


def test_a_folder_without_submissions_is_refused(tmp_path):
    with raises(DataError, source=str(tmp_path), expected=re.compile(r"\.py file"), hint=None):
        grade_folder(tmp_path)
    with raises(DataError, source=str(tmp_path / "nowhere"), hint=re.compile("folder")):
        grade_folder(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1\nraise OSError('gone')", "OSError: gone (line 2)"),
        ("def helper(submission): pass", "check_"),
        ("import os; os._exit(5)", "(exit code 5)"),
    ],
)
def test_a_broken_checker_is_said_to_be(tmp_path, source, problem):
    (tmp_path / "checker.py").write_text(source, encoding="utf-8")
    (tmp_path / "ann.py").write_text(GOOD, encoding="utf-8")
    checker = tmp_path / "checker.py"
    with raises(UsageError, field="checker", found=str(checker)) as refused:
        grade_file(tmp_path / "ann.py", checker)
    assert problem in str(refused.value)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_time_limit_is_positive(tmp_path, timeout):
    with raises(UsageError, field="timeout", found=str(timeout)):
        grade_folder(tmp_path, timeout=timeout)


def test_the_rows_are_harmless_csv():
    checks = (
        CheckResult("a", "A", None),
        CheckResult("b", "B", 'it says "no", twice'),
        CheckResult("c", "C", None),
    )
    rows = list(csv.reader(io.StringIO(grades_csv([Grade("=HYPERLINK(1)", "=1.py", checks)]))))
    assert rows == [
        ["student", "file", "score", "passed", "failed", "a", "b", "c"],
        ["'=HYPERLINK(1)", "'=1.py", "0.6667", "2", "1", "passed", 'failed: it says "no", twice', "passed"],
    ]


def test_the_command_line_grades_and_checks(graded, tmp_path, capsys):
    graded(ann=GOOD, bob="def answer():\n    return 0\n")
    checker, output = str(tmp_path / "checker.py"), tmp_path / "grades.csv"
    folder = tmp_path / "submissions"
    assert main(["grade", str(folder), "--checker", checker, "-o", str(output)]) == 0
    assert output.read_text(encoding="utf-8").splitlines()[1:] == [
        "ann,ann.py,1,2,0,passed,passed",
        "bob,bob.py,0.5,1,1,passed,failed: answer() is not 42 but 0",
    ]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[0] == "classic-rc: ann: 2 of 2 checks passed"
    assert main(["check", str(folder / "ann.py"), "--checker", checker]) == 0
    assert main(["check", str(folder / "bob.py"), "--checker", checker]) == 1
    assert "FAILED: The answer is 42\n        answer() is not 42 but 0\n" in capsys.readouterr().out
    assert main(["check", str(folder / "eve.py"), "--checker", checker]) == 3
    assert main(["grade", str(folder), "--checker", checker, "-o", str(tmp_path)]) == 2


SOLVER = """
from classic_rc import Scores, Solver

class Mine(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([self.score_one(q, c) for c in q.candidates] for q in questions)
    def score_one(self, question, candidate):
        return {}
"""


def test_solvers_are_what_is_checked_by_default(tmp_path):
    """As a program, from a folder from which the package could not be imported if it were not installed."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "two.py").write_text(SOLVER.format(0) + SOLVER.format(0).replace("Mine", "Other"), encoding="utf-8")
    (folder / "weak.py").write_text(SOLVER.format("len(candidate.text)"), encoding="utf-8")
    (folder / "peeks.py").write_text(SOLVER.format("len(question.gold or ())"), encoding="utf-8")
    command = [sys.executable, "-m", "classic_rc.testing", "grade", str(folder)]
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    peeks, two, weak = csv.DictReader(io.StringIO(done.stdout))
    assert weak["score"] == "0.6667"
    assert weak["beats_sliding_window"] == "failed: accuracy 25.00 is not above the 44.79 of sliding-window"
    assert two["defines_a_solver"].startswith("failed: ")
    assert two["defines_a_solver"].endswith("classic_rc.Solver; found: Mine, Other")
    assert "must not depend on gold" in peeks["keeps_the_contract"]


def test_a_file_that_is_not_python_is_refused(tmp_path):
    (tmp_path / "mine.ipynb").write_text("{}", encoding="utf-8")
    with raises(DataError, source=str(tmp_path / "mine.ipynb"), expected=re.compile(r"\.py$")):
        grade_file(tmp_path / "mine.ipynb")
