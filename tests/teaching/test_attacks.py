"""Attacks, one file each: none earns a point, each is flagged, and nobody else's grade changes."""

from __future__ import annotations

import re
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from classic_rc.errors import UsageError
from classic_rc.teaching import Level, Limits, grade_file, grade_folder
from classic_rc.teaching.sandbox import Sandbox
from tests.errors import raises

HERE = Path(__file__).parent
ATTACKS = sorted(HERE.glob("attacks/*.py"))
HONEST = "def add(a, b):\n    return a + b\n"


def header(source: str, key: str) -> str | None:
    found = re.search(rf"^# {key}: (.*)$", source, re.MULTILINE)
    return found and found[1]


def is_reached(level: Level) -> bool:
    try:
        with Sandbox({"a.py": b""}, "a.py", levels=[level]):
            return True
    except UsageError:
        return False


REACHED = [level for level in (Level.NAMESPACES, Level.LANDLOCK) if is_reached(level)]
needs_isolation = pytest.mark.skipif(not REACHED, reason="this system can isolate no process")
LEVELS = REACHED or [Level.NAMESPACES]


@pytest.fixture
def checks(tmp_path) -> Path:
    """The checker's file, which everybody may read."""
    file = tmp_path / "checks.py"
    shutil.copy(HERE / "adding.py", file)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        with suppress(PermissionError):
            folder.chmod(folder.stat().st_mode | 0o55)
    return file


ON_OTHERS = ("changed_rights", "deep_folders", "detached_child", "fork_bomb", "signals", "threads_go_on")
"""What could change the grades of others."""

AT_LEVELS = [
    (path, level)
    for path in ATTACKS
    if path.stem not in ON_OTHERS
    for level in (LEVELS if header(path.read_text(encoding="utf-8"), "at") == "every level" else LEVELS[:1])
]
"""What stays within its process need not be tried at every level."""


@needs_isolation
@pytest.mark.parametrize(("attack", "level"), AT_LEVELS, ids=lambda own: getattr(own, "stem", None))
def test_an_attack_earns_nothing_and_is_flagged(attack, level, checks, tmp_path):
    source = attack.read_text(encoding="utf-8").replace("CHECKS_FILE", str(checks))
    (tmp_path / attack.name).write_text(source, encoding="utf-8")
    limits = Limits(seconds=float(header(source, "seconds") or 60), memory_bytes=2**29)
    grade = grade_file(
        tmp_path / attack.name, header(source, "assignment") or checks, limits=limits, seed=1, levels=[level]
    )
    earned = {check.name: check.earned for check in grade.checks}
    earned.pop("has_add", None)
    assert sum(earned.values()) == 0, earned
    sign = header(source, "sign")
    assert sign is not None
    assert any(sign in own for own in grade.signs), grade.signs
    assert grade.level is level


@needs_isolation
def test_a_source_that_is_deeper_than_a_parser_can_go_is_read_to_its_limit(checks, tmp_path):
    """It is no file of its own: linters cannot read it either."""
    (tmp_path / "deep.py").write_text(f"{HONEST}\nx = {'-' * 10**5}1\n", encoding="utf-8")
    grade = grade_file(tmp_path / "deep.py", checks)
    assert grade.earned == 0
    assert "deep.py is no Python that can be parsed" in grade.signs


@needs_isolation
@pytest.mark.parametrize("level", LEVELS)
def test_an_honest_solution_gets_full_marks(level, checks, tmp_path):
    source = "import numpy as np\n\n\ndef add(a, b):\n    print('adding')\n    return np.add(a, b)\n"
    (tmp_path / "honest.py").write_text(source, encoding="utf-8")
    grade = grade_file(tmp_path / "honest.py", checks, levels=[level])
    assert (grade.earned, grade.points, grade.signs) == (10, 10, ())


@needs_isolation
@pytest.mark.parametrize("level", LEVELS)
def test_nobody_elses_grade_changes(level, checks, tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("a_honest", "z_honest"):
        (folder / f"{name}.py").write_text(HONEST, encoding="utf-8")
    for name in ON_OTHERS:
        shutil.copy(HERE / "attacks" / f"{name}.py", folder)
    (folder / "link.py").symlink_to(checks)
    grading = grade_folder(folder, checks, limits=Limits(seconds=3), levels=[level])
    earned = {grade.student: grade.earned for grade in grading.grades}
    assert earned.pop("a_honest") == earned.pop("z_honest") == 10
    assert earned.keys() == {*ON_OTHERS, "link"}
    assert max(earned.values()) == 2  # there is a function add
    for name in ON_OTHERS:
        sign = header((HERE / "attacks" / f"{name}.py").read_text(encoding="utf-8"), "sign")
        assert any(sign in own for own in next(grade.signs for grade in grading.grades if grade.student == name))
    assert {grade.student: grade.problem for grade in grading.grades}["link"] == "it is a link to somewhere else"


@needs_isolation
@pytest.mark.parametrize("level", LEVELS)
def test_no_process_outlives_its_grading(level):
    """A child that has left its parents' group runs until its folder is gone."""
    source = b"""
import os, time

def start():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("alive", "w") as file:
                while True:
                    file.write("x")
                    file.flush()
                    time.sleep(0.01)
        os._exit(0)
"""
    marker = "classic-rc-"
    with Sandbox({"a.py": source}, "a.py", levels=[level]) as sandbox:
        sandbox.load()
        sandbox.call("start")
        folder = Path(sandbox._folder.name)
        assert marker in folder.name
        assert running_below(folder)
    assert not running_below(folder)
    assert not folder.exists()


def running_below(folder: Path) -> list[str]:
    """The processes whose command line names a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and str(folder) in (entry / "cmdline").read_text(errors="replace"):
                found.append(entry.name)
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such level")
@pytest.mark.parametrize("level", [Level.PROCESS, Level.NONE])
def test_weak_levels_work_where_they_are_allowed(level, checks, tmp_path):
    (tmp_path / "honest.py").write_text(HONEST, encoding="utf-8")
    grade = grade_file(tmp_path / "honest.py", checks, levels=[level])
    assert (grade.earned, grade.level) == (10, level)


def test_a_level_that_is_not_reached_is_refused(checks, tmp_path):
    (tmp_path / "honest.py").write_text(HONEST, encoding="utf-8")
    told = re.compile(r"container of docs/assignments/README\.md, or add --unsafe")
    with raises(UsageError, field="isolation", args=told):
        grade_file(tmp_path / "honest.py", checks, levels=[])
