"""Gradescope's autograder, run in a folder as Gradescope documents it; and the assignment that
runs commands again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pytest

import classic_rc
from classic_rc.cli.main import main
from classic_rc.commands.grade import Isolation, grade_file, load_assignment
from classic_rc.commands.grade.stories import made_stories
from classic_rc.datasets.own_files import to_jsonl

pytestmark = pytest.mark.ci  # each test starts interpreters

SOLUTIONS = Path(__file__).with_name("solutions")
TRUSTED = Isolation("none")


@pytest.fixture
def autograder(public_python):
    """A folder like /autograder: run_autograder, source/, submission/ and results/; run as root,
    without bubblewrap.
    """
    root = Path(tempfile.mkdtemp(prefix="autograder-"))
    root.chmod(0o755)
    tools = root / "bin"
    tools.mkdir()
    for name in ("bash", "cat", "chmod", "mkdir", "rm", "dirname", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    (tools / "python3").symlink_to(public_python)

    def upload(*arguments: str) -> None:
        patient = ["--timeout", "600"]  # a check gets a third of it, however busy the machine is
        assert (
            main(["grade", *arguments, *patient, "--autograder", str(root / "autograder.zip")]) == 0
        )
        with zipfile.ZipFile(root / "autograder.zip") as archive:
            archive.extractall(root / "source")
        (root / "autograder.zip").unlink()
        shutil.copy(root / "source" / "run_autograder", root)
        (root / "run_autograder").chmod(0o755)
        for name in ("submission", "results"):
            (root / name).mkdir(mode=0o755)
        (root / "submission_metadata.json").write_text("{}", encoding="utf-8")

    def run(**files: str) -> dict:
        shutil.rmtree(root / "submission")
        (root / "submission").mkdir()
        for name, source in files.items():
            (root / "submission" / name.replace("_dot_", ".")).write_text(source, encoding="utf-8")
        done = subprocess.run(
            [root / "run_autograder"],
            cwd=root,
            env={"PATH": str(tools)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))

    upload.root, upload.run = root, run
    yield upload
    shutil.rmtree(root)


def test_an_autograder_writes_results_whatever_was_submitted(autograder):
    autograder("--assignment", "window", "--seed", "77")
    drawn = load_assignment("window").drawn(77)
    right = autograder.run(my_window_dot_py=drawn.source())
    assert right["score"] == 10, right
    assert right["extra_data"]["isolation"] == "other user"
    assert "the reference of your class: 100 %" in right["extra_data"]["similar"][0]
    assert [test["visibility"] for test in right["tests"]] == ["visible"] * 4
    published = (SOLUTIONS / "window.py").read_text(encoding="utf-8")
    wrong = [autograder.run(my_window_dot_py=published) for _ in range(2)]
    assert wrong[0] == wrong[1]  # the same cases on every regrade
    assert wrong[0]["score"] == 0
    assert re.search(r"likely cause: ", wrong[0]["tests"][2]["output"])
    assert autograder.run(notes_dot_txt="nothing")["output"].startswith(
        "not gradable: the folder has no .py file"
    )
    assert autograder.run(my_window_dot_py="def f(:")["score"] == 0
    unrelated = autograder.run(other_dot_py="x = 1")
    assert (
        unrelated["tests"][0]["output"]
        == "the file does not define sliding_window; it defines x; wanted: sliding_window, word_distance"
    )
    spies = f"""
import os, pathlib
FOUND = []
for place in ("source", "source/private/assignment.json", "results", "run_autograder", "submission_metadata.json"):
    try:
        path = pathlib.Path("{autograder.root}", place)
        FOUND.append(str(list(path.iterdir()) if path.is_dir() else path.read_text()))
    except OSError:
        pass
try:
    pathlib.Path("{autograder.root}/results/results.json").write_text('{{"score": 10}}')
except OSError:
    pass
def sliding_window(*args): return str(FOUND)
def word_distance(*args): os._exit(0)
"""
    spied = autograder.run(my_window_dot_py=spies)
    assert spied["score"] == 0
    assert "found:    '[]'" in spied["tests"][0]["output"]


def test_an_autograder_has_hidden_questions_and_a_leaderboard(autograder, tmp_path):
    (tmp_path / "hidden.jsonl").write_text(to_jsonl(made_stories(3, 30)), encoding="utf-8")
    autograder("--assignment", "solver", "--seed", "5", "--data", str(tmp_path / "hidden.jsonl"))
    results = autograder.run(my_solver_dot_py=(SOLUTIONS / "solver.py").read_text(encoding="utf-8"))
    assert results["score"] == 10, results
    (entry,) = results["leaderboard"]
    assert entry["name"] == "accuracy"
    assert 50 < entry["value"] < 100


def test_the_zip_has_the_documented_files(tmp_path):
    for name in ("one", "two"):
        assert (
            main(
                [
                    "grade",
                    "--assignment",
                    "ties",
                    "--seed",
                    "3",
                    "--autograder",
                    str(tmp_path / f"{name}.zip"),
                ]
            )
            == 0
        )
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = archive.namelist()
        assert names[:3] == ["setup.sh", "run_autograder", "private/assignment.json"]
        assert all(archive.getinfo(name).external_attr >> 16 & stat.S_IXUSR for name in names[:2])
        assert "private/classic_rc/__main__.py" in names
        for name in names[:2]:
            checked = subprocess.run(["bash", "-n"], input=archive.read(name), check=False)
            assert checked.returncode == 0
        assert json.loads(archive.read(names[2])) == {"assignment": "ties", "seed": 3}


def test_the_zip_has_a_teachers_rules_and_data_as_they_were_read(tmp_path):
    for name in ("reference.py", "rules.toml"):
        shutil.copy(load_assignment("window").file.with_name(name), tmp_path)
    shutil.copy(load_assignment("window").file, tmp_path / "own.py")
    (tmp_path / "other.py").write_text("", encoding="utf-8")
    hidden = "text,q,a,b,right\n" + "Ada took a lamp.,Who?,Ada,Ben,a\n"
    (tmp_path / "hidden.csv").write_text(hidden, encoding="utf-8")
    data = [
        "--data",
        str(tmp_path / "hidden.csv"),
        "--fields",
        "passage=text,question=q,candidates=a+b,gold=right",
    ]
    arguments = ["grade", "--assignment", str(tmp_path / "own.py"), "--seed", "3", *data]
    assert main([*arguments, "--autograder", str(tmp_path / "a.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        top_names = {name for name in archive.namelist() if name.count("/") == 1}
        assert top_names == {
            f"private/{n}"
            for n in ("assignment.json", "own.py", "reference.py", "rules.toml", "data.jsonl")
        }
        assert json.loads(archive.read("private/data.jsonl"))["candidates"] == ["Ada", "Ben"]
        assert b'--data "$own/data.jsonl"' in archive.read("run_autograder")


@pytest.fixture
def audit(tmp_path):
    """A folder of an honest audit of data with an artefact, to change and to grade."""
    folder = tmp_path / "ann"
    folder.mkdir()
    rows = [json.loads(line) for line in to_jsonl(made_stories(8, 20)).splitlines()]
    for row in rows:
        row["candidates"][row["gold"][0]] += " indeed"
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "data.jsonl").write_text(text, encoding="utf-8")
    dataset = classic_rc.load(folder / "data.jsonl")
    floor = {
        name: 100 * classic_rc.parse_solver(name).score(dataset)
        for name in ("longest", "sliding-window")
    }
    floor = {"random": 25.0} | {name: round(value, 2) for name, value in floor.items()}
    from classic_rc.commands.check import check_dataset

    cues = check_dataset(dataset, header=False).cues
    assert any(cue.label != cue.name for cue in cues)
    labels = [cue.label for cue in cues]
    numbers = " and ".join(f"{name} has {value:.2f}" for name, value in floor.items())
    text = (
        f"# Stories\n\n{numbers}. {'; '.join(labels)} "
        + "This is what the data are and what they are worth. " * 12
    )
    (folder / "page.md").write_text(text, encoding="utf-8")
    settings = {
        "DATA": "data.jsonl",
        "COMMANDS": [
            "classic-rc run data.jsonl -s random -s longest -s sliding-window",
            "classic-rc check data.jsonl",
        ],
        "FLOOR": floor,
        "ARTEFACTS": labels,
    }

    def graded(**changed):
        lines = [f"{key} = {value!r}" for key, value in (settings | changed).items()]
        (folder / "my_audit.py").write_text("\n".join(lines), encoding="utf-8")
        grade = grade_file(folder, "baseline-and-audit", isolation=TRUSTED)
        return grade.earned, {
            check.name: check.problem for check in grade.checks if not check.passed
        }

    graded.folder, graded.floor = folder, floor
    graded.names = [cue.name for cue in cues]
    return graded


def test_an_honest_audit_has_all_points(audit):
    """Artefacts are named as the table prints them, or as JSON has them."""
    assert audit() == audit(ARTEFACTS=audit.names) == (10, {})


@pytest.mark.parametrize(
    ("changed", "earned", "name", "message"),
    [
        ({"DATA": "../data.jsonl"}, 0, "data", "DATA must name"),
        ({"FLOOR": {}}, 6, "floor", "FLOOR must have"),
        ({"ARTEFACTS": ["is the third option"]}, 6, "artefacts", "is not found by check"),
        (
            {"COMMANDS": ["classic-rc run data.jsonl", "rm -rf data.jsonl"]},
            8,
            "commands",
            "must have",
        ),
        (
            {"COMMANDS": ["classic-rc check data.jsonl", "classic-rc run data.jsonl -o x.py"]},
            8,
            "commands",
            "a command is",
        ),
        (
            {"COMMANDS": ["classic-rc check data.jsonl", "classic-rc run data.jsonl -s no-such"]},
            8,
            "commands",
            "exit code 2",
        ),
    ],
)
def test_a_wrong_or_cheating_audit_is_told_what(audit, changed, earned, name, message):
    labels, problems = audit(**changed)
    assert labels == earned
    assert message in problems[name], problems


def test_the_page_of_an_audit_mentions_what_was_found(audit):
    (audit.folder / "page.md").write_text("word " * 200, encoding="utf-8")
    assert audit()[0] == 9
    (audit.folder / "page.md").unlink()
    assert "it has 0" in audit()[1]["page"]
    (audit.folder / "numpy.py").write_text(
        f"open({str(audit.folder / 'ran')!r}, 'w')", encoding="utf-8"
    )
    audit()
    # nothing of theirs is imported by what is run again
    assert not os.path.exists(audit.folder / "ran")
