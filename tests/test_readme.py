"""What the README shows is true, and its Python examples run as doctests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from classic_rc.cli.main import build_parser, main

README = Path(__file__).resolve().parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_first_block_holds_the_two_commands():
    block = re.search(r"```bash\n(.*?)```", TEXT, re.DOTALL).group(1).splitlines()
    assert len(block) == 2
    assert block[0].endswith(".venv/bin/classic-rc run sample")
    assert block[1].endswith(".venv/bin/python -m pytest")
    assert TEXT[: TEXT.index(block[1])].count("\n") < 20  # on the first screen


def test_the_table_is_the_one_that_the_command_prints(capsys):
    shown = re.search(r"```\n(sample:single-choice.*?)```", TEXT, re.DOTALL).group(1)
    assert main(["run", "sample:single-choice", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith(shown)


@pytest.mark.parametrize("line", re.findall(r"^classic-rc (.*?)(?:\s+#.*)?$", TEXT, re.MULTILINE))
def test_every_command_line_is_one_that_the_program_takes(line):
    args = build_parser().parse_args(line.split())
    assert args.command


def test_the_speeds_are_the_measured_ones():
    from benchmarks.report import BEGIN, END, RESULTS, readme_section

    section = TEXT.partition(BEGIN)[2].partition(END)[0]
    assert section.strip() == readme_section(json.loads(RESULTS.read_text(encoding="utf-8"))).strip()


def test_every_solver_is_described():
    from classic_rc.solvers import SOLVERS

    for name in SOLVERS:
        assert f"`{name}`" in TEXT
