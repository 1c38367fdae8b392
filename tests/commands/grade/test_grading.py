"""Grading: the grade of each kind of file, the forms of grades, and what the command does."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from classic_rc.cli.main import main
from classic_rc.commands.grade import (
    AccuracyGain,
    CheckResult,
    Grade,
    Grading,
    Isolation,
    Limits,
    SubmissionError,
    class_page,
    grade_file,
    grade_folder,
    grades_csv,
    grades_json,
    gradescope_json,
    load_assignment,
    student_page,
)
from classic_rc.commands.grade.feedback import explain_scores
from classic_rc.commands.grade.isolation import remove_folder
from classic_rc.commands.grade.sandbox import Sandbox
from classic_rc.commands.grade.similarity import ClassSimilarity, Match
from classic_rc.commands.grade.stories import made_stories
from classic_rc.commands.grade.submissions import notebook_source
from classic_rc.datasets import load
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Task
from classic_rc.reports.html import escape_html
from classic_rc.results.resampling import Interval
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

ADDING = Path(__file__).with_name("adding.py")
SOLUTIONS = Path(__file__).with_name("solutions")
TRUSTED = Isolation("none")
GOOD = "def add(a, b):\n    return a + b\n"


@pytest.fixture(autouse=True)
def trusted(monkeypatch):
    """The code of these tests is ours: it runs as the tests do, on any system."""
    monkeypatch.setattr("classic_rc.commands.grade.choose_isolation", lambda **rest: TRUSTED)


@pytest.fixture
def grade(tmp_path):
    """The grade of one file with a source."""

    def graded(source: str | bytes, name: str = "student.py", **setting) -> Grade:
        (tmp_path / name).write_bytes(source.encode() if isinstance(source, str) else source)
        return grade_file(tmp_path / name, ADDING, seed=1, isolation=TRUSTED, **setting)

    return graded


@pytest.fixture
def group(tmp_path):
    """A folder with the files given by name."""

    def make(**sources: str) -> Path:
        folder = tmp_path / "class"
        folder.mkdir()
        for name, source in sources.items():
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        return folder

    return make


def problems(grade: Grade) -> list[str | None]:
    return [check.problem for check in grade.checks]


def notebook(*cells: str) -> str:
    sources = [cell.splitlines(keepends=True) for cell in cells]
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})


def test_points_are_of_checks_and_a_gate_holds_back_what_needs_it(grade):
    assert grade(GOOD).earned == 10
    wrong = grade("def add(a, b):\n    return a - b\n")
    assert wrong.earned == wrong.score == 0
    assert [check.passed for check in wrong.checks] == [True, False]
    assert re.fullmatch(r"add\((\d+), (\d+)\) is -?\d+ and should be \d+", problems(wrong)[1])
    assert problems(grade("x = 1\n")) == ["define add(a, b)", "counts when has_add passes"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1\ny = x +\n", "SyntaxError: invalid syntax (line 2)"),
        ("import sys\nsys.exit(0)", "SystemExit: ends the program (sys.exit or quit) (line 2)"),
        ("import os\nos._exit(3)", "ends its process (exit code 3)"),
        ("raise ValueError('a\\n\\x1b[31mb')", r"ValueError: a \x1b[31mb (line 1)"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E", "E (line 3)"),
    ],
)
def test_an_error_on_load_is_one_line_in_each_check(grade, source, problem):
    graded = grade(source)
    assert problems(graded) == [problem, "the file does not load"]
    assert graded.earned == 0


def test_an_error_has_the_students_traceback_and_what_was_printed(grade):
    helper = "def helper(a):\n    print('a is', a)\n    return a / 0\n\n\n"
    graded = grade(f"{helper}def add(a, b):\n    return helper(a)\n")
    failed = graded.checks[1]
    assert failed.problem == "ZeroDivisionError: division by zero (line 3)"
    assert 'File "student.py", line 7, in add\n    return helper(a)' in failed.details
    assert re.search(r"\nprinted before:\na is \d+$", failed.details)


def test_a_long_message_is_cut(grade):
    assert len(problems(grade("raise ValueError('x' * 10**7)"))[0]) == 300


def test_time_is_that_of_the_student_alone():
    source = (
        b"import time\nsleep = time.sleep\ndef sleeps(s):\n    sleep(s)\n"
        b"def wait(s):\n    end = time.process_time() + s\n"
        b"    while time.process_time() < end:\n        pass\n"
    )
    with Sandbox({"a.py": source}, "a.py", TRUSTED, Limits(1.5)) as box:
        box.load()
        before = box.seconds_left
        box.call("wait", 0.1)
        assert box.seconds_left < before - 0.09
        box.begin_check()
        box.call("sleeps", 0.7)  # by the clock, a check may take ten times its 0.5 s
        box.begin_check()
        for seconds in (60, 0):  # no call of the check works after the first
            with pytest.raises(SubmissionError, match=r"takes longer than 0\.5 s"):
                box.call("wait", seconds)
        box.begin_check()
        assert box.call("wait", 0) is None
        with pytest.raises(SubmissionError, match=r"takes longer than 0\.5 s"):
            box.call("wait", 60)
        box.begin_check()
        with pytest.raises(SubmissionError, match=r"takes longer than 1\.5 s in all"):
            box.call("wait", 60)
        box.begin_check()
        with pytest.raises(SubmissionError, match=r"takes longer than 1\.5 s in all"):
            box.call("wait", 0)


def test_a_file_that_only_waits_is_ended_by_the_clock():
    source = b"def f():\n    import time\n    time.sleep(600)\n"
    with Sandbox({"a.py": source}, "a.py", TRUSTED, Limits(3, patience=1)) as box:
        box.load()
        box.begin_check()
        with pytest.raises(SubmissionError, match="takes longer than 1 s"):
            box.call("f")


@pytest.mark.ci
def test_a_busy_grader_fails_no_right_work(tmp_path):
    """Time is the processor's, so other processes cost a student nothing."""
    drawn = load_assignment("ties").drawn(3)
    (tmp_path / "ann.py").write_text(drawn.source(), encoding="utf-8")
    n_busy = 6 * (os.cpu_count() or 1)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n_busy)]
    try:
        loaded = grade_file(tmp_path / "ann.py", drawn, seed=3, limits=Limits(6), isolation=TRUSTED)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert loaded.earned == 10
    assert loaded == grade_file(tmp_path / "ann.py", drawn, seed=3, isolation=TRUSTED)


def test_an_endless_loop_loses_one_check(tmp_path):
    source = (
        "def sliding_window(passage, question, candidate):\n    while True:\n        pass\n\n\n"
    )
    right = (SOLUTIONS / "window.py").read_text(encoding="utf-8")
    (tmp_path / "ann.py").write_text(right + "\n\n" + source, encoding="utf-8")
    graded = grade_file(
        tmp_path / "ann.py", "window", limits=Limits(seconds=4.5), isolation=TRUSTED
    )
    assert [check.earned for check in graded.checks] == [0, 0, 3, 2]
    assert problems(graded)[0].endswith("takes longer than 1.5 s")


@pytest.mark.parametrize("name", ["json", "numpy"])
def test_a_file_named_like_a_module_does_not_take_its_place(grade, name):
    source = f"import random\nimport numpy\n\n{GOOD}\nrandom.random()\nnumpy.ones(2)\n"
    assert grade(source, f"{name}.py").earned == 10


def test_notebooks_are_graded(grade):
    cells = (
        "%matplotlib inline\n!pip install x\nimport math",
        "%%time\nprint(1)",
        GOOD,
        "?math\nadd(1, 2)",
    )
    assert grade(notebook(*cells), "ann.ipynb").earned == 10
    assert "pass  # %matplotlib inline" in notebook_source(notebook(*cells).encode())


def test_what_only_looks_like_a_command_to_the_notebook_stays():
    cells = ('def f():\n    """Why?\n    """\n', "x = (7\n    % 4)", "# why?\nx = 1")
    source = notebook_source(notebook(*cells).encode())
    assert all(cell in source for cell in cells)
    assert "# %%time\nx = 1" in notebook_source(notebook("%%time\nx = 1").encode())
    assert "pass  # files = !ls" in notebook_source(notebook("files = !ls").encode())


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.py", "  \n", "it is empty"),
        ("a.ipynb", notebook(), "it is empty"),
        ("a.ipynb", "{}", "it is not a Jupyter notebook"),
        ("a.ipynb", "[" * 10**5, "it is not a Jupyter notebook"),
        ("a.zip", "PK", "it is a .zip, not a .py file or a notebook"),
        ("a.py", "x = 1\n" * 2**18, "it has more than 256 kB"),
    ],
)
def test_what_cannot_be_graded_has_a_row_with_the_reason(grade, name, content, problem):
    graded = grade(content, name)
    assert (graded.problem, graded.earned, graded.points, graded.isolation) == (problem, 0, 10, "")


def test_a_student_may_have_a_folder_with_a_main_file(group):
    folder = group(ann=GOOD)
    for name, files in {
        "bob": {"main.py": "from helper import add", "helper.py": GOOD, "data.txt": ""},
        "_kim": {"main.py": "from math import hypot as add"},
        "eve": {"a.py": GOOD, "b.py": GOOD},
        "joe": {"notes.txt": "x"},
    }.items():
        (folder / name).mkdir()
        for file, content in files.items():
            (folder / name / file).write_text(content, encoding="utf-8")
    grades = {
        grade.student: grade for grade in grade_folder(folder, ADDING, isolation=TRUSTED).grades
    }
    assert {name for name, graded in grades.items() if graded.earned} == {"ann", "bob"}
    assert (
        grades["eve"].problem
        == "the folder has several files, and not one that is add.py: a.py, b.py"
    )
    assert grades["joe"].problem == "the folder has no .py file and no notebook; it has notes.txt"
    # a name that is imported is not defined
    assert problems(grades["_kim"])[0] == "define add(a, b)"


def test_a_folder_of_folders_has_a_row(group):
    folder = group(ann=GOOD)
    deep = folder / "deep"
    deep.mkdir()
    here = os.getcwd()
    os.chdir(deep)
    for _ in range(1100):
        os.mkdir("deeper")
        os.chdir("deeper")
    os.chdir(here)
    ann, nested = grade_folder(folder, ADDING, isolation=TRUSTED).grades
    remove_folder(deep)
    assert ann.earned == 10
    assert nested.problem == "the folder has no .py file and no notebook; it has deeper"


def test_two_submissions_of_one_name_are_refused(group):
    folder = group(ann=GOOD)
    (folder / "ann").mkdir()
    with raises(DataError, source=str(folder), found="ann"):
        grade_folder(folder, ADDING, isolation=TRUSTED)


def test_a_folder_without_submissions_is_refused(tmp_path):
    with raises(DataError, source=str(tmp_path), expected=re.compile("a file or a folder")):
        grade_folder(tmp_path, ADDING, isolation=TRUSTED)
    with raises(DataError, source=str(tmp_path / "nowhere"), hint=re.compile("folder")):
        grade_folder(tmp_path / "nowhere", ADDING, isolation=TRUSTED)


def test_the_same_seed_repeats_a_grading(group):
    folder = group(ann="def add(a, b):\n    return a\n")
    first, second = (grade_folder(folder, ADDING, seed=7, isolation=TRUSTED) for _ in range(2))
    assert first.grades == second.grades
    other_seed = grade_folder(folder, ADDING, seed=8, isolation=TRUSTED)
    assert problems(other_seed.grades[0]) != problems(first.grades[0])


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_is_positive(grade, seconds):
    with raises(UsageError, field="timeout", found=f"{seconds:g}"):
        grade(GOOD, limits=Limits(seconds=seconds))


def test_data_have_choices_and_gold(grade):
    with raises(UsageError, field="--data", found="span"):
        grade(GOOD, data=synthetic_dataset(Task.SPAN, seed=1))


def test_a_check_may_give_a_share_of_its_points(tmp_path):
    shares = ["0.25", "7", "-1", "float('nan')", "'half'"]
    checks = "".join(
        f"Check('{i}', 8, 'A', lambda submission: {share})," for i, share in enumerate(shares)
    )
    source = (
        "from classic_rc.commands.grade import Assignment, Check\n"
        f"ASSIGNMENT = Assignment('A', 'a.py', ({checks}))\n"
    )
    (tmp_path / "own.py").write_text(source, encoding="utf-8")
    (tmp_path / "ann.py").write_text(GOOD, encoding="utf-8")
    graded = grade_file(tmp_path / "ann.py", tmp_path / "own.py", isolation=TRUSTED)
    assert [check.earned for check in graded.checks] == [2, 8, 0, 0, 0]


SOLVER = """
import classic_rc

class Mine(classic_rc.Solver):
    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists(
            [self.score_one(q, c) for c in q.candidates] for q in questions
        )
    def score_one(self, question, candidate):
        return {}
"""


GRADES = (
    Grade(
        "=HYPERLINK(1)",
        "=1.py",
        (
            CheckResult("has_add", "It <adds>", 4, 4),
            CheckResult("adds", "B", 6, 1.5, 'it says "no"', "add(1)\n<script>"),
        ),
        "bubblewrap",
        note="imported for the file, which does not: math",
        accuracy=AccuracyGain(0.5, Interval(0.4, 0.6), "random", -0.1, None),
    ),
    Grade(
        "bob", "bob.zip", (CheckResult("a", "", 4, 0, "not gradable"),) * 2, problem="it is a .zip"
    ),
)


@pytest.fixture
def grading() -> Grading:
    match = Match("bob", "known: solution of window", 0.71, 60, "lines 1-9 of bob.py")
    return Grading(
        load_assignment(ADDING),
        5,
        GRADES,
        ClassSimilarity((match,), (("=HYPERLINK(1)", "bob"),), (0.7,)),
    )


def test_the_rows_are_harmless_csv(grading):
    first, second = csv.DictReader(io.StringIO(grades_csv(grading)))
    assert first == {
        "student": "'=HYPERLINK(1)",
        "file": "'=1.py",
        "score": "0.55",
        "points": "5.5",
        "of": "10",
        "accuracy": "50.00",
        "low": "40.00",
        "high": "60.00",
        "reference": "random",
        "difference": "-10.00",
        "difference low": "",
        "difference high": "",
        "isolation": "bubblewrap",
        "similar": "nearly the same code: bob",
        "note": "imported for the file, which does not: math",
        "not gradable": "",
        "has_add": "passed",
        "adds": '1.5: it says "no"',
    }
    assert (second["not gradable"], second["isolation"], second["points"]) == (
        "it is a .zip",
        "",
        "0",
    )
    assert second["similar"].startswith(
        "known: solution of window: 71 % of the code, 60 parts in a row; lines 1-9 of"
    )


def test_questions_that_show_a_mistake_are_explained(grading):
    question = load("sample:single-choice")[0]
    explanation = explain_scores(question, yours=[1.0, 0.0, 0.0, 0.0], right=[0.0, 0.0, 1.0, 0.0])
    check = CheckResult(
        "scores", "the scores", 4, 0, "other scores", "one line", explained=(explanation,)
    )
    grade = Grade("ann", "ann.py", (check,))
    page = student_page(grading, grade)
    assert page.count('<form class="explained"') == 1
    assert re.sub("<.*?>", "", page).count(escape_html(question.passage.text)) == 1
    assert re.findall('<p class="verdict"><span class="badge (.*?)">', page) == ["wrong", "right"]
    assert check.text.startswith(f"one line\npassage: {question.passage.text}\n")
    assert "answer: WRONG. A “under the bridge” wins by 1 over" in check.text
    (graded,) = grades_json(Grading(grading.assignment, 1, (grade,)))["grades"]
    assert graded["checks"][0]["details"] == check.text
    assert check.text in gradescope_json(grade)["tests"][0]["output"]


def test_json_has_everything(grading):
    record = json.loads(json.dumps(grades_json(grading)))
    assert (record["assignment"], record["seed"], record["similarity"]["shares"]) == (
        "adding",
        5,
        [0.7],
    )
    assert record["grades"][0]["checks"][1]["details"] == "add(1)\n<script>"
    assert record["grades"][0]["score"] == 0.55


def test_grades_are_written_in_the_form_of_gradescope():
    first, second = map(gradescope_json, GRADES)
    assert first == {
        **{"score": 5.5, "visibility": "visible", "stdout_visibility": "hidden"},
        "tests": [
            {
                "name": "It <adds>",
                "score": 4,
                "max_score": 4,
                "status": "passed",
                "output": "",
                "visibility": "visible",
            },
            {
                **{
                    "name": "B",
                    "score": 1.5,
                    "max_score": 6,
                    "status": "failed",
                    "visibility": "visible",
                },
                "output": 'it says "no"\nadd(1)\n<script>',
            },
        ],
        "extra_data": {"isolation": "bubblewrap", "similar": []},
        "output": "imported for the file, which does not: math",
        "leaderboard": [{"name": "accuracy", "value": 50.0, "order": "desc"}],
    }
    assert second["output"] == "not gradable: it is a .zip"
    assert "leaderboard" not in second


def test_pages_show_what_each_reader_needs(grading):
    page = student_page(grading, GRADES[0])
    for phrase in (
        "5.5 of 10 points",
        "It &lt;adds&gt;",
        "add(1)\n&lt;script&gt;",
        "50.00 (40.00 to 60.00)",
        "-10.00",
    ):
        assert phrase in page
    assert "bob" not in page
    overview = class_page(grading)
    assert 'href="students/%3DHYPERLINK%281%29.html"' in overview
    for phrase in (
        "not gradable: it is a .zip",
        "bubblewrap",
        "5.5 of 10",
        "71 % of the code",
        "changes no points",
    ):
        assert phrase in overview
    assert "http" not in re.sub(r'http-equiv="', "", page + overview)


def run(*arguments: object) -> int:
    return main(["grade", *map(str, arguments), "--assignment", str(ADDING), "--unsafe"])


def test_the_command_grades_a_class(group, tmp_path, capsys):
    folder, output = group(ann=GOOD, bob="def add(a, b):\n    return 0\n"), tmp_path / "grades.csv"
    pages, scope = tmp_path / "pages", tmp_path / "gradescope"
    assert run(folder, "-o", output, "--seed", 4, "--html", pages, "--gradescope", scope) == 0
    rows = list(csv.DictReader(output.open(encoding="utf-8")))
    assert [(row["student"], row["points"]) for row in rows] == [("ann", "10"), ("bob", "0")]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "classic-rc: note: Adding, --seed 4, isolation: none",
        "classic-rc: ann: 10 of 10 points",
        "classic-rc: bob: 0 of 10 points",
    ]
    files = [*pages.rglob("*.*"), *scope.rglob("*.*")]
    file_names = sorted(path.relative_to(tmp_path).as_posix() for path in files)
    assert file_names == [
        *("gradescope/ann/results.json", "gradescope/bob/results.json"),
        *("pages/index.html", "pages/students/ann.html", "pages/students/bob.html"),
    ]
    assert run(folder, "--format", "json", "--quiet") == 0
    assert [grade["student"] for grade in json.loads(capsys.readouterr().out)["grades"]] == [
        "ann",
        "bob",
    ]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def add(a, b:", "has_add: SyntaxError"),
        ("def plus(a, b):\n    return a + b\n", "has_add: define add(a, b)"),
        ("while True:\n    pass\n", "has_add: takes longer than 1 s"),
        ("def add(a, b):\n    while True:\n        pass\n", "adds: takes longer than 0.333 s"),
        ("def add(a, b):\n    raise KeyError(a)\n", "adds: KeyError"),
        ("def add(a, b):\n    return 0\n", "adds: add("),
        ("", "not gradable: "),
    ],
)
def test_each_row_of_the_index_that_misses_points_has_a_reason(group, source, reason):
    folder = group(ann=GOOD, bob=source)
    grading = grade_folder(folder, ADDING, seed=1, isolation=TRUSTED, limits=Limits(seconds=1))
    right, wrong = re.findall(
        r"<bdi>(?:ann|bob)</bdi></a></th>\n<td>(.*?) of 10</td>\n"
        r"<td class=\"left(?: long)?\">(.*?)</td>",
        class_page(grading),
    )
    assert right == ("10", "")
    assert wrong[0] == "0"
    assert wrong[1].startswith(reason)


def test_the_command_tells_one_student(group, tmp_path, capsys):
    folder = group(ann=GOOD, bob="import os\ndef add(a, b):\n    return 0\n")
    assert run(folder / "ann.py", "--quiet") == 0
    assert capsys.readouterr().out.endswith(
        "passed adds: It adds (10 of 10 points)\n10 of 10 points\n"
    )
    assert run(folder / "bob.py", "--quiet", "--gradescope", tmp_path) == 1
    printed = capsys.readouterr().out
    assert re.search(
        r"FAILED adds: It adds \(0 of 10 points\)\n        add\(\d+, \d+\) is 0 and should be",
        printed,
    )
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["score"] == 0
    assert run(folder / "none.py") == 3


def test_names_of_files_may_be_anything(tmp_path, capsys):
    folder = tmp_path / "class"
    folder.mkdir()
    names = [
        "a b&c",
        "it's <i>",
        "\u05e9",
        "x" * 252,
        *([] if sys.platform in ("win32", "darwin") else ["\udcff"]),
    ]
    for name in names:
        (folder / f"{name}.py").write_text(GOOD, encoding="utf-8")
    output, pages = tmp_path / "grades.csv", tmp_path / "pages"
    # one name is too long for a page
    assert run(folder, "-o", output, "--html", pages, "--quiet") == 2
    assert "File name too long" in capsys.readouterr().err
    rows = list(csv.DictReader(output.open(encoding="utf-8")))
    assert [row["points"] for row in rows] == ["10"] * len(names)
    linked = re.findall(
        r'href="(students/[^"]+)"', (pages / "index.html").read_text(encoding="utf-8")
    )
    there = [os.path.isfile(pages / os.fsdecode(unquote_to_bytes(link))) for link in linked]
    assert sorted(there) == [False] + [True] * (len(names) - 1)


def test_what_is_known_is_written_when_a_grading_is_interrupted(group, tmp_path, monkeypatch):
    folder, output = group(ann=GOOD, bob=GOOD), tmp_path / "grades.csv"
    from classic_rc.commands.grade import grading

    graded = grading.Grader._grade

    def interrupted(self, submission, questions):
        if submission.student == "bob":
            raise KeyboardInterrupt
        return graded(self, submission, questions)

    monkeypatch.setattr(grading.Grader, "_grade", interrupted)
    assert run(folder, "-o", output, "--quiet") == 130
    assert [row["student"] for row in csv.DictReader(output.open(encoding="utf-8"))] == ["ann"]


def test_wrong_uses_of_the_command_are_said(group, tmp_path, capsys):
    folder = group(ann=GOOD)
    for arguments, message in (
        ((), "nothing to grade"),
        ((folder, "--html", folder / "ann.py"), "expected a folder"),
        ((folder, "--html", folder / "pages"), "counts as a student's"),
        ((folder, "-o", folder / "grades.csv"), "counts as a student's"),
        ((folder, "-o", tmp_path), "it is a folder"),
        ((folder, "--timeout", "0"), "seconds above 0"),
    ):
        assert run(*arguments) == 2
        assert message in capsys.readouterr().err


def test_a_missing_import_costs_one_message(tmp_path):
    right = (SOLUTIONS / "window.py").read_text(encoding="utf-8")
    (tmp_path / "ann.py").write_text(
        right.replace("from collections import Counter\n", ""), encoding="utf-8"
    )
    graded = grade_file(tmp_path / "ann.py", "window", isolation=TRUSTED)
    assert (graded.earned, graded.note) == (10, "imported for the file, which does not: Counter")
    (tmp_path / "ann.py").write_text(f"import pandas\n{right}", encoding="utf-8")
    graded = grade_file(tmp_path / "ann.py", "window", isolation=TRUSTED)
    assert graded.checks[0].details.endswith("your file may import the standard library and numpy")
    assert problems(graded)[1:] == ["the file does not load"] * 3


def test_answers_may_be_any_numbers_and_any_lists(tmp_path):
    source = """
from decimal import Decimal
from fractions import Fraction

def best(scores): return (i for i, score in enumerate(scores) if max(scores) - score <= 1e-9)
def credit(scores, gold): return Fraction(gold in set(best(scores)), len(list(best(scores))))
def accuracy(questions, policy):
    def first(scores, gold): return next(best(scores)) == gold
    def strict(scores, gold): return list(best(scores)) == [gold]
    rule = {"partial": credit, "first": first, "strict": strict}[policy]
    total = sum(Fraction(rule(*question)) for question in questions)
    return Decimal(total.numerator) / Decimal(total.denominator * len(questions))
"""
    (tmp_path / "ann.py").write_text(source, encoding="utf-8")
    assert grade_file(tmp_path / "ann.py", "ties", isolation=TRUSTED).earned == 10


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1\nraise OSError('gone')", "OSError: gone"),
        ("def helper(submission): pass", "ASSIGNMENT"),
        ("CHECKS = (Check('a', 1, 'A', 'f'),)", "'f'"),
        (
            "CHECKS = (Check('a', 1, 'A', print, needs=('b',)),)",
            "needs 'b', which is not an earlier check",
        ),
    ],
)
def test_a_broken_assignment_is_said_to_be(tmp_path, source, problem):
    text = "from classic_rc.commands.grade import Assignment, Check\n" + source
    text += "\nASSIGNMENT = Assignment('A', 'a.py', CHECKS)\n" if "CHECKS" in source else ""
    (tmp_path / "checker.py").write_text(text, encoding="utf-8")
    with raises(UsageError, field="assignment", found=str(tmp_path / "checker.py")) as refused:
        load_assignment(tmp_path / "checker.py")
    assert problem in str(refused.value)


def test_a_solver_sees_neither_gold_nor_ids(tmp_path):
    (tmp_path / "peeks.py").write_text(SOLVER.format("len(question.gold or ())"), encoding="utf-8")
    data = made_stories(3, 4)
    grade = grade_file(tmp_path / "peeks.py", "solver", data=data, isolation=TRUSTED)
    assert (grade.earned, grade.accuracy.value) == (0, 0.25)
    assert grade.checks[0].problem == "the check failed"  # of hidden questions nothing is told
    source = SOLVER.format("0").replace("return 0", "raise ValueError(question.id)")
    (tmp_path / "ids.py").write_text(source, encoding="utf-8")
    graded = grade_file(tmp_path / "ids.py", "solver", isolation=TRUSTED)
    assert problems(graded)[0].startswith("ValueError: question 0 (line")


def test_accuracy_is_compared_with_the_floor_and_training_is_given(tmp_path):
    learns = SOLVER.format("len(self.seen)").replace(
        "    def",
        "    def fit(self, dataset):\n        self.seen = [q.gold for q in dataset]\n    def",
        1,
    )
    (tmp_path / "ann.py").write_text(learns, encoding="utf-8")
    hidden, train = made_stories(3, 5), made_stories(4, 5)
    trained = grade_file(tmp_path / "ann.py", "solver", data=hidden, train=train, isolation=TRUSTED)
    assert str(trained.accuracy).startswith("accuracy 25.00 (25.00 to 25.00), -")
    untrained = grade_file(tmp_path / "ann.py", "solver", data=hidden, isolation=TRUSTED)
    assert untrained.accuracy is None
    assert untrained.checks[0].problem == "an error (AttributeError)"


def test_the_command_never_guesses(group, tmp_path, capsys):
    """Not which assignment it is, nor that files of another one belong to it."""
    folder = group(ann=(SOLUTIONS / "window.py").read_text(encoding="utf-8"), bob=GOOD)
    assert main(["grade", str(folder)]) == 2
    assert "which assignment?" in capsys.readouterr().err
    assert main(["grade", str(folder), "--assignment", "ties"]) == 2
    assert "2 of 2 files define none of accuracy, best, credit" in capsys.readouterr().err
    assert (
        main(
            ["grade", "--assignment", "window", "--hand-out", str(tmp_path / "out"), "--seed", "5"]
        )
        == 0
    )
    assert "--seed 5" in capsys.readouterr().err
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["README.md", "assignment.json", "my_window.py"]
    assert main(["grade", "--assignment", "window", "--hand-out", str(tmp_path / "out")]) == 2
    source = load_assignment("window").drawn(5).source()
    (tmp_path / "out" / "my_window.py").write_text(source, encoding="utf-8")
    # by the rules that its folder says
    assert main(["grade", str(tmp_path / "out" / "my_window.py")]) == 0
    assert (
        main(["grade", "--assignment", "leak", "--hand-out", str(tmp_path / "leak"), "--seed", "5"])
        == 0
    )
    assert main(["grade", str(tmp_path / "leak" / "my_leak.py")]) == 2  # which leak was planted
    assert "--seed N" in capsys.readouterr().err
    assert main(["grade", str(tmp_path / "leak" / "my_leak.py"), "--seed", "5"]) == 1
    shutil.copy(tmp_path / "out" / "my_window.py", folder)
    assert (
        main(
            [
                "grade",
                str(folder),
                "--assignment",
                "window",
                "--seed",
                "5",
                "-o",
                str(tmp_path / "g.csv"),
            ]
        )
        == 0
    )
    grades = csv.DictReader((tmp_path / "g.csv").open(encoding="utf-8"))
    rows = {row["student"]: row["points"] for row in grades}
    assert rows == {"ann": "0", "bob": "0", "my_window": "10"}


@pytest.mark.parametrize(
    "message", ["[]", "{", '{"assignment": 1}', '{"assignment": "window", "seed": "x"}']
)
def test_a_broken_declaration_is_said_to_be(tmp_path, message, capsys):
    (tmp_path / "ann.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "assignment.json").write_text(message, encoding="utf-8")
    assert main(["grade", str(tmp_path / "ann.py")]) == 3
    assert "no declaration of an assignment" in capsys.readouterr().err
    (tmp_path / "assignment.json").write_text(
        '{"assignment": "ties", "rules": {"share": "2"}}', encoding="utf-8"
    )
    assert main(["grade", str(tmp_path / "ann.py")]) == 2
    assert "it has no rule share: 2" in capsys.readouterr().err
