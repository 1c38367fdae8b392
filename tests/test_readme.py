"""What the README and the pages that continue it show is true; their Python examples run as
doctests.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from classic_rc.cli.main import build_parser, main
from classic_rc.commands.grade import Isolation

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
USAGE, SOLVER_PAGE, SPEED = (
    (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name in ("usage.md", "solvers.md", "speed.md")
)
WANTED = re.findall(r"^\| .* \| `((?:classic-rc|python) .*)` \|$", TEXT, re.MULTILINE)


def test_the_first_block_holds_the_two_commands():
    block = re.search(r"```bash\n(.*?)```", TEXT, re.DOTALL).group(1).splitlines()
    assert len(block) == 2
    assert block[0].endswith(".venv/bin/classic-rc run sample")
    assert block[1].endswith(".venv/bin/python -m pytest -n auto --dist loadfile")
    assert TEXT[: TEXT.index(block[1])].count("\n") < 20  # on the first screen


def test_the_table_is_the_one_that_the_command_prints(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    command = re.search(r"`classic-rc (run [^`]*)` prints", TEXT).group(1)
    printed = re.search(r"```\n(sample:single-choice.*?)```", TEXT, re.DOTALL).group(1)
    assert main([*command.split(), "--quiet"]) == 0
    assert capsys.readouterr().out.startswith(printed)


def test_there_is_a_command_for_each_of_six_wishes():
    assert len(WANTED) == 6
    assert TEXT.partition(WANTED[-1])[0].count("\n") < 50


@pytest.mark.parametrize(
    "command", [c for c in WANTED if c.startswith("classic-rc ") and "grade" not in c]
)
def test_what_somebody_wants_is_one_command_with_the_sample(command, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


def test_grading_is_one_command(tmp_path, monkeypatch):
    (command,) = (c for c in WANTED if c.startswith("classic-rc grade"))
    template = (
        ROOT / "classic_rc" / "commands" / "grade" / "assignments" / "solver" / "my_solver.py"
    )
    (tmp_path / "submissions").mkdir()
    shutil.copy(template, tmp_path / "submissions")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "classic_rc.commands.grade.choose_isolation", lambda **rest: Isolation("none")
    )
    assert main(shlex.split(command)[1:]) == 0
    grades = (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert len(grades) == 2
    assert grades[1].startswith("my_solver,my_solver.py,0,0,10,25.00,")


def test_python_is_one_line(capsys):
    (command,) = (c for c in WANTED if c.startswith("python -c"))
    program, option, code = shlex.split(command)
    assert (program, option) == ("python", "-c")
    exec(code, {})
    assert capsys.readouterr().out == "0.4166666666666667\n"


PAGES = [ROOT / "README.md", ROOT / "data" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix()
)
def test_every_command_line_is_one_that_the_program_takes(page, capsys):
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^classic-rc ([a-z].*?)(?:\s+#.*|\s+\|.*)?$", text, re.MULTILINE):
        if not line.endswith("--help"):
            assert build_parser().parse_args(shlex.split(line)).command
    assert capsys.readouterr().err == ""  # no old name


def test_every_command_is_described():
    from classic_rc.cli.registry import COMMANDS

    for name in COMMANDS:
        assert f"| `classic-rc {name} " in USAGE, name


@pytest.mark.parametrize("name", ["speed", "scale", "retrieval"])
def test_the_figures_are_the_measured_ones(name):
    from benchmarks.report import BEGIN, DOCS, END, RESULTS, sections

    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    block = page.partition(BEGIN.format(name))[2].partition(END.format(name))[0]
    assert block.strip() == sections(json.loads(RESULTS.read_text(encoding="utf-8")))[name].strip()


def test_every_solver_is_described():
    from classic_rc.solvers import SOLVERS

    for name in SOLVERS:
        assert f"`{name}`" in SOLVER_PAGE
