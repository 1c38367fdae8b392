"""Grading: the grade of each kind of file, the forms of grades, and what the command does."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

import classic_rc.kernels.reference.distance
from classic_rc.cli.main import main
from classic_rc.datasets.jsonl import to_jsonl
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.resampling import Interval
from classic_rc.questions import Task
from classic_rc.teaching import (
    Accuracy,
    CheckResult,
    Grade,
    Grading,
    Level,
    Limits,
    class_page,
    grade_file,
    grade_folder,
    grades_csv,
    grades_json,
    gradescope_json,
    load_assignment,
    student_page,
)
from classic_rc.teaching.sandbox import Sandbox, SubmissionError
from classic_rc.teaching.stories import made_stories
from classic_rc.teaching.submissions import alike_pairs, find_submissions, notebook_source
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

ADDING = Path(__file__).with_name("adding.py")
SOLUTIONS = Path(__file__).with_name("solutions")
ANY_LEVEL = list(Level)
GOOD = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def grade(tmp_path):
    """The grade of one file with a source."""

    def graded(source: str | bytes, name: str = "student.py", **setting) -> Grade:
        (tmp_path / name).write_bytes(source.encode() if isinstance(source, str) else source)
        return grade_file(tmp_path / name, ADDING, seed=1, levels=ANY_LEVEL, **setting)

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
    assert (wrong.earned, wrong.score, [check.passed for check in wrong.checks]) == (2, 0.2, [True, False])
    assert re.fullmatch(r"add\((\d+), (\d+)\) is -?\d+ and should be \d+", problems(wrong)[1])
    assert problems(grade("x = 1\n")) == ["define add(a, b)", "counts when has_add passes"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1\ny = x +\n", "SyntaxError: invalid syntax (line 2)"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module' (line 1)"),
        ("import sys\nsys.exit(0)", "SystemExit: ends the program (sys.exit or quit) (line 2)"),
        ("import os\nos._exit(3)", "ends its process (exit code 3)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt (line 1)"),
        ("def f():\n    return f()\nf()", "RecursionError: maximum recursion depth exceeded (line 2)"),
        ("raise ValueError('a\\n\\x1b[31mb')", r"ValueError: a \x1b[31mb (line 1)"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E", "E (line 3)"),
    ],
)
def test_an_error_on_load_is_one_line_in_each_check(grade, source, problem):
    found = grade(source)
    assert problems(found) == [problem] * 2
    assert found.earned == 0


def test_an_error_has_the_students_traceback_and_what_was_printed(grade):
    helper = "def helper(a):\n    print('a is', a)\n    return a / 0\n\n\n"
    found = grade(f"{helper}def add(a, b):\n    return helper(a)\n")
    failed = found.checks[1]
    assert failed.problem == "ZeroDivisionError: division by zero (line 3)"
    assert 'File "student.py", line 7, in add\n    return helper(a)' in failed.details
    assert re.search(r"\nprinted before:\na is \d+$", failed.details)


def test_a_long_message_is_cut(grade):
    assert len(problems(grade("raise ValueError('x' * 10**7)"))[0]) == 300


def test_time_is_that_of_the_student_alone():
    source = b"def wait(s):\n    import time\n    time.sleep(s)\n"
    with Sandbox({"a.py": source}, "a.py", Limits(1.5), ANY_LEVEL) as box:
        box.load()
        left = box._seconds_left
        box.call("wait", 0.1)
        assert box._seconds_left < left - 0.09
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


def test_an_endless_loop_loses_one_check(tmp_path):
    source = "def sliding_window(passage, question, candidate):\n    while True:\n        pass\n\n\n"
    right = (SOLUTIONS / "window.py").read_text(encoding="utf-8")
    (tmp_path / "ann.py").write_text(right + "\n\n" + source, encoding="utf-8")
    found = grade_file(tmp_path / "ann.py", "window", limits=Limits(seconds=4.5), levels=ANY_LEVEL)
    assert [check.earned for check in found.checks] == [0, 0, 3, 2]
    assert problems(found)[0].endswith("takes longer than 1.5 s")


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
    found = grade_file(tmp_path / "ann.py", "ties", levels=ANY_LEVEL)
    assert (found.earned, found.signs) == (10, ())


def test_the_packages_own_code_is_flagged(tmp_path):
    reference = Path(classic_rc.kernels.reference.distance.__file__).read_text(encoding="utf-8")
    (tmp_path / "ann.py").write_text(reference.replace("places", "found"), encoding="utf-8")
    found = grade_file(tmp_path / "ann.py", "window", levels=ANY_LEVEL)
    assert "has a long piece of the package's own code" in found.signs
    assert grade_file(SOLUTIONS / "window.py", "window", levels=ANY_LEVEL).signs == ()


@pytest.mark.parametrize("name", ["json", "numpy", "random", "statistics"])
def test_a_file_named_like_a_module_does_not_take_its_place(grade, name):
    source = f"import random\nimport numpy\n\n{GOOD}\nrandom.random()\nnumpy.ones(2)\n"
    assert grade(source, f"{name}.py").earned == 10


def test_notebooks_are_graded(grade):
    cells = ("%matplotlib inline\n!pip install x\nimport math", "%%time\nprint(1)", GOOD, "?math\nadd(1, 2)")
    assert grade(notebook(*cells), "ann.ipynb").earned == 10
    assert "pass  # %matplotlib inline" in notebook_source(notebook(*cells).encode())


def test_what_only_looks_like_a_command_to_the_notebook_stays():
    cells = ('def f():\n    """Why?\n    """\n', "x = (7\n    % 4)", "# why?\nx = 1")
    assert [cell in notebook_source(notebook(*cells).encode()) for cell in cells] == [True] * 3
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
    found = grade(content, name)
    assert (found.problem, found.earned, found.points, found.level) == (problem, 0, 10, None)


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
    grades = {grade.student: grade for grade in grade_folder(folder, ADDING, levels=ANY_LEVEL).grades}
    assert {name for name, own in grades.items() if own.earned} == {"ann", "bob"}
    assert grades["eve"].problem == "the folder has several files and none is named main.py: a.py, b.py"
    assert grades["joe"].problem == "the folder has no .py file and no notebook; it has notes.txt"
    assert problems(grades["_kim"])[0] == "define add(a, b)"  # a name that is imported is not defined


def test_two_submissions_of_one_name_are_refused(group):
    folder = group(ann=GOOD)
    (folder / "ann").mkdir()
    with raises(DataError, source=str(folder), found="ann"):
        grade_folder(folder, ADDING)


def test_a_folder_without_submissions_is_refused(tmp_path):
    with raises(DataError, source=str(tmp_path), expected=re.compile("a file or a folder")):
        grade_folder(tmp_path)
    with raises(DataError, source=str(tmp_path / "nowhere"), hint=re.compile("folder")):
        grade_folder(tmp_path / "nowhere")


def test_alike_submissions_are_found_under_other_names_of_variables(group):
    work = "def add(a, b):\n    total = 0\n    for step in (a, b):\n        total += step * 1\n    return total\n"
    other = "import math\n\n\ndef add(a, b):\n    powers = math.exp(a / 100), math.exp(b / 100)\n"
    other += "    return round(math.log(math.prod(powers)) * 100)\n"
    copy = '"""Mine."""\n' + work.replace("total", "summe").replace("step", "x") + "# my own work\n"
    found = find_submissions(group(ann=work, bob=copy, eve=other))
    assert [(pair.first, pair.second, pair.share) for pair in alike_pairs(found)] == [("ann", "bob", 1)]
    assert alike_pairs(found, work.encode()) == []  # all of it was given


def test_neither_padding_nor_bytes_that_are_no_text_hide_a_copy(tmp_path):
    work, padding = ((SOLUTIONS / f"{name}.py").read_bytes() for name in ("window", "bm25"))
    for name, source in {"ann": work, "bob": b"# \xe9\n" + work + padding, "eve": padding}.items():
        (tmp_path / f"{name}.py").write_bytes(source)
    pairs = {(pair.first, pair.second) for pair in alike_pairs(find_submissions(tmp_path))}
    assert pairs == {("ann", "bob"), ("bob", "eve")}


def test_the_same_seed_repeats_a_grading(group):
    folder = group(ann="def add(a, b):\n    return a\n")
    first, second = (grade_folder(folder, ADDING, seed=7, levels=ANY_LEVEL) for _ in range(2))
    assert first.grades == second.grades
    other = grade_folder(folder, ADDING, seed=8, levels=ANY_LEVEL)
    assert problems(other.grades[0]) != problems(first.grades[0])


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = 1\nraise OSError('gone')", "OSError: gone"),
        ("def helper(submission): pass", "check_"),
        ("TEMPLATE = 'no.py'\ndef check_a(submission): pass", "no.py"),
        (
            "from classic_rc.teaching import check\n@check(needs='b')\ndef check_a(submission): pass",
            "needs 'b', which does not exist",
        ),
    ],
)
def test_a_broken_assignment_is_said_to_be(tmp_path, source, problem):
    (tmp_path / "checker.py").write_text(source, encoding="utf-8")
    with raises(UsageError, field="assignment", found=str(tmp_path / "checker.py")) as refused:
        load_assignment(tmp_path / "checker.py")
    assert problem in str(refused.value)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_time_limit_is_positive(grade, seconds):
    with raises(UsageError, field="timeout", found=f"{seconds:g}"):
        grade(GOOD, limits=Limits(seconds=seconds))


def test_data_have_choices_and_gold(grade):
    with raises(UsageError, field="--data", found="span"):
        grade(GOOD, data=synthetic_dataset(Task.SPAN, seed=1))


@pytest.mark.parametrize(
    ("share", "earned"), [("0.25", 2), ("7", 8), ("-1", 0), ("float('nan')", 0), ("'half'", 0)]
)
def test_a_check_may_give_a_share_of_its_points(tmp_path, share, earned):
    source = f"from classic_rc.teaching import check\n@check(points=8)\ndef check_a(submission): return {share}\n"
    (tmp_path / "own.py").write_text(source, encoding="utf-8")
    (tmp_path / "ann.py").write_text(GOOD, encoding="utf-8")
    assert grade_file(tmp_path / "ann.py", tmp_path / "own.py", levels=ANY_LEVEL).earned == earned


SOLVER = """
import classic_rc

class Mine(classic_rc.Solver):
    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists([self.score_one(q, c) for c in q.candidates] for q in questions)
    def score_one(self, question, candidate):
        return {}
"""


def test_a_solver_sees_neither_gold_nor_ids(tmp_path):
    (tmp_path / "peeks.py").write_text(SOLVER.format("len(question.gold or ())"), encoding="utf-8")
    data = made_stories(3, 4)
    grade = grade_file(tmp_path / "peeks.py", "solver", data=data, levels=ANY_LEVEL)
    assert grade.earned == 0
    assert grade.accuracy is not None
    assert grade.accuracy.value == 0.25
    own = SOLVER.format("0").replace("return 0", "raise ValueError(question.id)")
    (tmp_path / "ids.py").write_text(own, encoding="utf-8")
    found = grade_file(tmp_path / "ids.py", "solver", levels=ANY_LEVEL)
    assert problems(found)[0].startswith("ValueError: question 0 (line")
    assert "passage: " in found.checks[0].details


@pytest.mark.parametrize(
    "told",
    [
        "raise ValueError(seen[0])",
        "print(seen[0]); return seen[0]",
        "raise type(seen[0], (Exception,), {})",
        "open(__file__, 'w').write((chr(10) + 'raise E #' + seen[0]) * 99); raise ValueError",
    ],
)
def test_hidden_questions_are_not_quoted_by_errors(tmp_path, told):
    """Neither by the check that asks them nor by a later one, and a quotation is flagged."""
    source = "seen = []\n" + SOLVER.format("0").replace("return 0", f"seen.append(question.query); {told}")
    (tmp_path / "ann.py").write_text(f"{source}\ndef later(): raise ValueError(str(seen))\n", encoding="utf-8")
    own = "def check_first(submission): submission.score(submission.questions)\n"
    own += "def check_second(submission): submission.later()\n"
    (tmp_path / "own.py").write_text(own, encoding="utf-8")
    data = made_stories(3, 4)
    grade = grade_file(tmp_path / "ann.py", tmp_path / "own.py", data=data, levels=ANY_LEVEL)
    page = json.dumps(gradescope_json(grade))
    assert grade.earned == 0
    assert [text for question in data for text in (question.query, question.passage.text) if text in page] == []
    quoted = "quotes hidden questions in an error or a print"
    assert quoted in grade.signs
    assert problems(grade)[1] == "ValueError: [] (line 11)"


def test_accuracy_is_compared_with_the_reference(tmp_path):
    (tmp_path / "same.py").write_text(SOLVER.format("0"), encoding="utf-8")
    found = grade_file(tmp_path / "same.py", "solver", seed=3, levels=ANY_LEVEL).accuracy
    assert (round(found.value, 4), found.interval) == (0.25, Interval(0.25, 0.25))
    assert found.reference == "sliding-window"
    assert round(found.difference, 4) == -0.1571


GRADES = (
    Grade(
        "=HYPERLINK(1)",
        "=1.py",
        (CheckResult("a", "It <adds>", 4, 4), CheckResult("b", "B", 6, 1.5, 'it says "no"', "add(1, 2)\n<script>")),
        Level.LANDLOCK,
        ("uses os.kill",),
        accuracy=Accuracy(0.5, Interval(0.4, 0.6), "random", -0.1, None),
    ),
    Grade("bob", "bob.zip", (CheckResult("a", "", 4, 0, "not gradable"),) * 2, problem="it is a .zip"),
)


@pytest.fixture
def grading() -> Grading:
    return Grading(load_assignment(ADDING), 5, GRADES, ())


def test_the_rows_are_harmless_csv(grading):
    first, second = csv.DictReader(io.StringIO(grades_csv(grading)))
    assert first == {
        **{"student": "'=HYPERLINK(1)", "file": "'=1.py", "score": "0.55", "points": "5.5", "of": "10"},
        **{"accuracy": "50.00", "low": "40.00", "high": "60.00", "reference": "random", "difference": "-10.00"},
        **{"difference low": "", "difference high": "", "isolation": "landlock", "signs": "uses os.kill"},
        **{"alike": "", "not gradable": "", "has_add": "passed", "adds": '1.5: it says "no"'},
    }
    assert (second["not gradable"], second["isolation"], second["points"]) == ("it is a .zip", "", "0")


def test_json_has_everything(grading):
    found = json.loads(json.dumps(grades_json(grading)))
    assert (found["assignment"], found["seed"], found["alike"]) == ("adding", 5, [])
    assert found["grades"][0]["checks"][1]["details"] == "add(1, 2)\n<script>"
    assert found["grades"][0]["score"] == 0.55


def test_gradescopes_form():
    assert gradescope_json(GRADES[0]) == {
        "score": 5.5,
        "tests": [
            {"name": "It <adds>", "score": 4, "max_score": 4, "status": "passed", "output": ""},
            {
                "name": "B",
                "score": 1.5,
                "max_score": 6,
                "status": "failed",
                "output": 'it says "no"\nadd(1, 2)\n<script>',
            },
        ],
        "extra_data": {"isolation": "landlock", "signs": ["uses os.kill"]},
    }
    assert gradescope_json(GRADES[1])["output"] == "not gradable: it is a .zip"


def test_pages_show_what_each_reader_needs(grading):
    page = student_page(grading, GRADES[0])
    assert "5.5 of 10 points" in page
    assert "It &lt;adds&gt;" in page
    assert "add(1, 2)\n&lt;script&gt;" in page
    assert "50.00 % (40.00 to 60.00)" in page
    assert "−10.00 %" in page
    assert "os.kill" not in page
    assert "seed 5" in page
    secret = Grading(load_assignment("leak"), 5, GRADES, ())
    assert "seed" not in student_page(secret, GRADES[0])
    overview = class_page(grading)
    assert 'href="students/%3DHYPERLINK%281%29.html"' in overview
    assert all(text in overview for text in ("uses os.kill", "not gradable: it is a .zip", "landlock", "5.5 of 10"))
    assert "http" not in re.sub(r'http-equiv="', "", page + overview)


def run(*arguments: object) -> int:
    return main(["grade", *map(str, arguments), "--assignment", str(ADDING), "--unsafe"])


def test_the_command_grades_a_class(group, tmp_path, capsys):
    folder, output = group(ann=GOOD, bob="def add(a, b):\n    return 0\n"), tmp_path / "grades.csv"
    pages, scope = tmp_path / "pages", tmp_path / "gradescope"
    assert run(folder, "-o", output, "--seed", 4, "--html", pages, "--gradescope", scope) == 0
    rows = list(csv.DictReader(output.open(encoding="utf-8")))
    assert [(row["student"], row["points"]) for row in rows] == [("ann", "10"), ("bob", "2")]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "classic-rc: note: adding, --seed 4",
        "classic-rc: ann: 10 of 10 points",
        "classic-rc: bob: 2 of 10 points",
    ]
    made = sorted(path.relative_to(tmp_path).as_posix() for root in (pages, scope) for path in root.rglob("*.*"))
    assert made == [
        *("gradescope/ann/results.json", "gradescope/bob/results.json"),
        *("pages/index.html", "pages/students/ann.html", "pages/students/bob.html"),
    ]
    assert run(folder, "--format", "json", "--quiet") == 0
    assert [grade["student"] for grade in json.loads(capsys.readouterr().out)["grades"]] == ["ann", "bob"]


def test_the_command_tells_one_student(group, tmp_path, capsys):
    folder = group(ann=GOOD, bob="import os\ndef add(a, b):\n    return 0\n")
    assert run(folder / "ann.py", "--quiet") == 0
    assert capsys.readouterr().out.endswith("passed adds: It adds (8 of 8 points)\n10 of 10 points\n")
    assert run(folder / "bob.py", "--quiet", "--gradescope", tmp_path) == 1
    told = capsys.readouterr().out
    assert re.search(r"FAILED adds: It adds \(0 of 8 points\)\n        add\(\d+, \d+\) is 0 and should be", told)
    assert json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["score"] == 2
    assert run(folder / "none.py") == 3


def test_names_of_files_may_be_anything(tmp_path, capsys):
    folder = tmp_path / "class"
    folder.mkdir()
    names = ["a b&c", "it's <i>", "\u05e9", "x" * 252, *([] if sys.platform in ("win32", "darwin") else ["\udcff"])]
    for name in names:
        (folder / f"{name}.py").write_text(GOOD, encoding="utf-8")
    output, pages = tmp_path / "grades.csv", tmp_path / "pages"
    assert run(folder, "-o", output, "--html", pages, "--quiet") == 2  # one name is too long for a page
    assert "File name too long" in capsys.readouterr().err
    rows = list(csv.DictReader(output.open(encoding="utf-8")))
    assert [row["points"] for row in rows] == ["10"] * len(names)
    linked = re.findall(r'href="(students/[^"]+)"', (pages / "index.html").read_text(encoding="utf-8"))
    there = [os.path.isfile(pages / os.fsdecode(unquote_to_bytes(link))) for link in linked]
    assert sorted(there) == [False] + [True] * (len(names) - 1)


def test_what_is_known_is_written_when_a_grading_is_interrupted(group, tmp_path, monkeypatch):
    folder, output = group(ann=GOOD, bob=GOOD), tmp_path / "grades.csv"
    from classic_rc.teaching import grading

    graded = grading._Setting.grade

    def interrupted(self, one):
        if one.student == "bob":
            raise KeyboardInterrupt
        return graded(self, one)

    monkeypatch.setattr(grading._Setting, "grade", interrupted)
    assert run(folder, "-o", output, "--quiet") == 130
    assert [row["student"] for row in csv.DictReader(output.open(encoding="utf-8"))] == ["ann"]


def test_a_template_that_earns_points_is_warned_of(group, tmp_path, capsys):
    source = "TEMPLATE = 'mine.py'\ndef check_a(submission):\n    submission.add(1, 2)\n"
    (tmp_path / "own.py").write_text(source, encoding="utf-8")
    (tmp_path / "mine.py").write_text(GOOD, encoding="utf-8")
    arguments = ["grade", str(group(ann=GOOD)), "--assignment", str(tmp_path / "own.py"), "--unsafe"]
    assert main(arguments) == 0
    assert re.search(r"warning: \S+mine\.py, .* earns 1 of 1 points as it is \(a\)", capsys.readouterr().err)


def test_wrong_uses_of_the_command_are_said(group, tmp_path, capsys):
    folder = group(ann=GOOD)
    for arguments, told in (
        ((), "nothing to grade"),
        ((folder, "--html", folder / "ann.py"), "it is not a folder"),
        ((folder, "--html", folder / "pages"), "counts as a student's"),
        ((folder, "-o", folder / "grades.csv"), "counts as a student's"),
        ((folder, "-o", tmp_path), "it is a folder"),
        (("--questions", tmp_path / "q.jsonl"), "--seed N"),
        ((folder, "--timeout", "0"), "time limit"),
    ):
        assert run(*arguments) == 2
        assert told in capsys.readouterr().err


def test_the_command_takes_hidden_data(tmp_path, capsys):
    for name, seed in (("secret", 3), ("train", 4)):
        (tmp_path / f"{name}.jsonl").write_text(to_jsonl(made_stories(seed, 5)), encoding="utf-8")
    learns = SOLVER.format("len(self.seen)").replace("    def", "    def fit(self, dataset):\n", 1)
    learns = learns.replace("dataset):\n", "dataset):\n        self.seen = [q.gold for q in dataset]\n    def", 1)
    (tmp_path / "ann.py").write_text(learns, encoding="utf-8")
    data = ("--data", str(tmp_path / "secret.jsonl"), "--train", str(tmp_path / "train.jsonl"))
    assert main(["grade", str(tmp_path / "ann.py"), *data, "--unsafe", "--quiet"]) == 1
    assert "accuracy 25.00" in capsys.readouterr().out
    assert main(["grade", str(tmp_path / "ann.py"), *data[:2], "--unsafe", "--quiet"]) == 1
    assert "AttributeError (line" in capsys.readouterr().out


def test_questions_of_a_grading_can_be_looked_at(tmp_path):
    file = tmp_path / "questions.jsonl"
    assert main(["grade", "--questions", str(file), "--seed", "3"]) == 0
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [row["question"] for row in rows[:3]] == [question.query for question in made_stories(3, 100)[:3]]


def test_a_hand_out_has_no_checks(tmp_path, capsys):
    assert main(["grade", "--assignment", "leak", "--hand-out", str(tmp_path / "leak"), "--seed", "5"]) == 0
    assert sorted(path.name for path in (tmp_path / "leak").iterdir()) == ["README.md", "leak.jsonl", "my_leak.py"]
    assert "--seed 5" in capsys.readouterr().err
    assert main(["grade", "--assignment", "leak", "--hand-out", str(tmp_path / "leak")]) == 2
