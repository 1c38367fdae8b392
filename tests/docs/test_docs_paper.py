"""The page on a paper's table shows what its commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from classic_rc.cli.main import build_parser, main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
COMMANDS, SHOWN, OTHERS = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the runs that the page saves."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in COMMANDS.splitlines()[:2]:
            assert main([*shlex.split(command)[1:], "--quiet"]) == 0
    return folder


def test_the_table_is_what_the_commands_print(runs, monkeypatch, capsys):
    monkeypatch.chdir(runs)
    monkeypatch.setenv("COLUMNS", "100")
    program, *arguments = shlex.split(COMMANDS.splitlines()[2])
    assert program == "classic-rc"
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().out == SHOWN


@pytest.mark.parametrize("line", OTHERS.splitlines())
def test_every_other_command_runs(line, runs, monkeypatch):
    monkeypatch.chdir(runs)
    arguments = shlex.split(line, comments=True)[1:]
    if "--figure" in arguments:
        pytest.importorskip("matplotlib")
    assert build_parser().parse_args(arguments).command == "table"
    assert main([*arguments, "--quiet"]) == 0
    if "-o" in arguments:
        assert Path(arguments[arguments.index("-o") + 1]).stat().st_size > 100
