"""Hostile submissions: none earns a point, nothing outside is touched, and nobody else's grade
changes.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from classic_rc.cli.main import main
from classic_rc.commands.grade import Isolation, Limits, choose_isolation, grade_folder, isolation
from classic_rc.commands.grade.isolation import bubblewrap_problem, make_folder
from classic_rc.commands.grade.sandbox import Sandbox
from classic_rc.commands.grade.stories import made_stories
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.errors import UsageError
from tests.commands.grade.attacks import attacks
from tests.errors import raises

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "classic_rc"
TOKEN = "sesame-7261"
ATTACKS = attacks()
HONEST = "def add(a, b):\n    return a + b\n"
needs_bubblewrap = pytest.mark.skipif(
    bubblewrap_problem() is not None, reason=str(bubblewrap_problem())
)
LIMITS = Limits(seconds=3, memory_bytes=2**29)


@pytest.fixture
def place():
    """A folder that other users can enter, with a secret and a file of results."""
    folder = Path(tempfile.mkdtemp(prefix="place-"))
    folder.chmod(0o755)
    (folder / "secret.txt").write_text(TOKEN, encoding="utf-8")
    (folder / "results.json").write_text("untouched", encoding="utf-8")
    (folder / "class").mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def fill(place: Path, port: int) -> Path:
    """Write all attacks between two honest files."""
    for name, source in ({"a_honest": HONEST, "z_honest": HONEST} | ATTACKS).items():
        source = source.replace("SECRET", f"{place}/secret.txt").replace(
            "RESULTS", f"{place}/results.json"
        )
        source = source.replace("TOKEN", TOKEN).replace("PORT", str(port))
        (place / "class" / f"{name}.py").write_text(source, encoding="utf-8")
    return place / "class"


def untouched(place: Path) -> list[tuple[str, int, int]]:
    paths = sorted([place, *place.rglob("*")])
    return [(str(path), path.stat().st_mode, path.stat().st_size) for path in paths]


def test_there_are_at_least_fifty_attacks():
    assert len(ATTACKS) >= 50


@needs_bubblewrap
@pytest.mark.ci
def test_no_attack_earns_a_point_under_bubblewrap(place, monkeypatch):
    monkeypatch.setenv("SESAME", TOKEN)
    with socket.create_server(("127.0.0.1", 0)) as server:
        folder = fill(place, server.getsockname()[1])
        (folder / "link.py").symlink_to(place / "secret.txt")
        before = untouched(place)
        grading = grade_folder(
            folder, HERE / "adding.py", limits=LIMITS, isolation=Isolation("bubblewrap")
        )
    earned = {grade.student: grade.earned for grade in grading.grades}
    assert earned.pop("a_honest") == earned.pop("z_honest") == 10
    assert earned == dict.fromkeys([*sorted(ATTACKS), "link"], 0)
    assert untouched(place) == before
    assert processes_of(place) == []
    assert list(Path(tempfile.gettempdir()).glob(f"classic-rc-grade-{os.getpid()}-*")) == []


def processes_of(place: Path) -> list[str]:
    """The processes whose command line names a folder of graders of this process, or sleeps for
    a detached child.
    """
    process_ids = []
    for entry in Path("/proc").iterdir():
        try:
            command_line = (
                (entry / "cmdline").read_text(errors="replace") if entry.name.isdecimal() else ""
            )
        except OSError:
            continue
        if f"classic-rc-grade-{os.getpid()}-" in command_line or "/box/worker.py" in command_line:
            process_ids.append(command_line)
    return process_ids


def test_without_bubblewrap_it_is_refused_unless_unsafe(monkeypatch):
    monkeypatch.setattr(isolation, "bubblewrap_problem", lambda: "bubblewrap is not installed")
    with raises(
        UsageError,
        field="isolation",
        args=re.compile("bubblewrap is not installed.*--container.*--unsafe"),
    ):
        choose_isolation()
    monkeypatch.setattr(isolation, "is_root", lambda: False)
    assert choose_isolation(unsafe=True).kind == "none"
    with raises(UsageError, field="--unsafe", found="grades.csv"):
        choose_isolation(unsafe=True, closed=["grades.csv"])


def test_a_container_is_a_command_in_front(tmp_path):
    """No engine runs here: a program that takes the place of one shows what it would be asked."""
    engine = tmp_path / "engine"
    engine.write_text(
        f'#!/bin/sh\nset -e\ntest -d "$2"\nshift 3\nexec \'{sys.executable}\' "$@"\n',
        encoding="utf-8",
    )
    engine.chmod(0o755)
    isolation = choose_isolation(container=f"{engine} run {{folder}}")
    with Sandbox({"a.py": HONEST.encode()}, "a.py", isolation) as box:
        box.load()
        assert box.call("add", 1, 2) == 3


def test_what_a_killed_grader_left_is_swept(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process in (ended.pid, os.getpid()):
        (tmp_path / f"classic-rc-grade-{process}-x" / "deep").mkdir(parents=True)
    folder = make_folder()
    remaining = [path.name for path in tmp_path.iterdir()]
    assert sorted(remaining) == sorted([f"classic-rc-grade-{os.getpid()}-x", folder.name])


@pytest.fixture
def closed(place):
    """A copy of the package that only root can read, and who runs it."""
    private = place / "private"
    private.mkdir(mode=0o700)
    shutil.copytree(PACKAGE, private / "classic_rc", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "adding.py", private)
    (place / "results").mkdir(mode=0o700)
    for name in ("secret.txt", "results.json"):
        (place / name).chmod(0o600)
    no_bubblewrap = place / "bin"
    no_bubblewrap.mkdir()
    for name in ("bash", "cat", "chmod", "mkdir", "rm", "dirname"):
        (no_bubblewrap / name).symlink_to(shutil.which(name) or name)

    def run(python: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(no_bubblewrap),
            "PYTHONPATH": str(private),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [str(python), "-m", "classic_rc", "grade", *map(str, arguments)]
        return subprocess.run(
            command,
            env=environment | {"SESAME": TOKEN},
            cwd=private,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.ci
def test_no_attack_earns_a_point_as_another_user(place, closed, public_python):
    folder = fill(place, 1)
    # /tmp may change its date
    for name in ("becomes_root", "network", "alters_rights", "deep_folders"):
        assert (folder / f"{name}.py").is_file()
    (place / "grades").mkdir(mode=0o700)
    before = untouched(place)
    done = closed(
        public_python,
        folder,
        "--assignment",
        "adding.py",
        "--unsafe",
        "--timeout",
        3,
        "-o",
        place / "grades" / "g.csv",
    )
    assert done.returncode == 0, done.stderr
    grades = csv.DictReader((place / "grades" / "g.csv").open(encoding="utf-8"))
    rows = {row["student"]: row for row in grades}
    assert {row["isolation"] for row in rows.values()} <= {"other user", ""}
    earned = {name: row["points"] for name, row in rows.items()}
    assert earned.pop("a_honest") == earned.pop("z_honest") == "10", done.stderr
    assert earned == dict.fromkeys(ATTACKS, "0")
    (place / "grades" / "g.csv").unlink()
    assert [entry[:2] for entry in untouched(place)] == [entry[:2] for entry in before]
    assert (place / "results.json").read_text(encoding="utf-8") == "untouched"
    assert [
        path for path in Path("/proc").glob("[0-9]*") if owner_of(path) in range(61184, 65520)
    ] == []
    open_to_all = [
        path for folder in ("/tmp", "/var/tmp", "/dev/shm") for path in Path(folder).glob("*")
    ]
    assert [path for path in open_to_all if owner_of(path) in range(61184, 65520)] == []


@needs_bubblewrap
def test_a_students_declaration_gives_no_rules_and_runs_no_code(tmp_path, capsys):
    """A folder that is handed in may say that it is of easier rules, or of an assignment of its
    own.
    """
    folder = tmp_path / "ann"
    folder.mkdir()
    shutil.copy(HERE / "solutions" / "window.py", folder / "my_window.py")
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    arguments = ["grade", str(folder), "--one", "--unsafe", "--assignment", "window"]
    (folder / "assignment.json").write_text(
        '{"assignment": "window", "rules": {}}', encoding="utf-8"
    )
    assert main([*arguments, "--seed", "77"]) == 1
    assert "0 of 10 points" in capsys.readouterr().out
    (folder / "assignment.json").write_text('{"assignment": "evil.py"}', encoding="utf-8")
    assert main([*arguments, "--seed", "77"]) == 1
    assert main(arguments[:4]) == 2
    assert not (tmp_path / "ran").exists()


def owner_of(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:
        return 0


@pytest.mark.ci
def test_what_another_user_could_reach_is_refused(place, closed, public_python):
    (place / "class" / "ann.py").write_text(HONEST, encoding="utf-8")
    arguments = (place / "class", "--assignment", "adding.py", "--unsafe", "-o")
    (place / "open").mkdir(mode=0o777)
    (place / "open").chmod(0o777)
    done = closed(public_python, *arguments, place / "open" / "g.csv")
    assert done.returncode == 2
    assert f"students' code could reach {place}/open" in done.stderr
    (place / "class").chmod(0o755)  # of other students
    done = closed(public_python, *arguments, place / "results" / "g.csv")
    assert f"students' code could reach {place}/class: " in done.stderr
    (place / "class").chmod(0o700)
    (place / "private").chmod(0o755)
    done = closed(public_python, *arguments, place / "results" / "g.csv")
    assert done.returncode == 2
    assert re.search(
        r"students' code could reach \S+/private/classic_rc, .*: close them with `chmod -R go-rwx",
        done.stderr,
    )


SENDS = """
import classic_rc

class Mine(classic_rc.Solver):
    def score_candidates(self, questions):
        text = questions[0].passage.text
        number = int.from_bytes(text[:3].encode(), "big")
        try:
            open("/tmp/seen", "w").write(text)
            open("{place}/results/results.json", "w").write('{{"score": 10}}')
        except OSError:
            pass
        code = compile("raise {error}(" + repr(text) + ")", __file__, "exec")
        exec(code.replace(co_firstlineno=number))

import __main__, gc
for own in gc.get_objects():  # names that the grader would tell: what was imported for the file
    if type(own).__name__ == "_Submission":
        own.added = ["Ada", "Ben"]
"""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("error", "message"), [("ValueError", "an error (ValueError)"), ("Own", "an error (NameError)")]
)
def test_hidden_questions_are_not_sent_home(place, closed, public_python, error, message):
    """Neither in words nor in numbers of lines; and results cannot be written."""
    (place / "private" / "hidden.jsonl").write_text(
        to_jsonl(data := made_stories(3, 4)), encoding="utf-8"
    )
    source = SENDS.format(place=place, error=error)
    (place / "class" / "ann.py").write_text(source, encoding="utf-8")
    done = closed(
        public_python,
        *(
            place / "class" / "ann.py",
            "--assignment",
            "solver",
            "--unsafe",
            "--data",
            "hidden.jsonl",
        ),
        *("--gradescope", place / "results"),
    )
    assert done.returncode == 1, done.stderr
    results = json.loads((place / "results" / "results.json").read_text(encoding="utf-8"))
    assert results["score"] == 0
    assert results["tests"][0]["output"].splitlines()[0] == message
    page = done.stdout + done.stderr + json.dumps(results)
    assert not re.search(r"line \d", page)
    assert "imported" not in page
    for question in data:
        assert question.query not in page
        assert question.passage.text[:20] not in page
