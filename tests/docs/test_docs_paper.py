"""The page on a paper's table shows what its commands print."""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
from pathlib import Path

import pytest

from classic_rc import load
from classic_rc.cli.main import build_parser, main
from tests.running.test_runs import write_answers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
COMMANDS, SHOWN, OTHERS, LAYOUT, LAYOUT_SHOWN, RUNS, RELEASE = re.findall(
    r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the runs that the page saves."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in COMMANDS.splitlines()[:2]:
            assert main([*shlex.split(command)[1:], "--quiet"]) == 0
    return folder


@pytest.mark.parametrize(
    ("line", "table"), [(COMMANDS.splitlines()[2], SHOWN), (LAYOUT, LAYOUT_SHOWN)]
)
def test_the_table_is_what_the_commands_print(line, table, runs, monkeypatch, capsys):
    monkeypatch.chdir(runs)
    monkeypatch.setenv("COLUMNS", "100")
    program, *arguments = shlex.split(line)
    assert program == "classic-rc"
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr().out == table


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


def test_files_of_one_name_are_one_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dataset = load("sample:single-choice")
    for n, name in enumerate("abc", start=2):
        write_answers(tmp_path / f"{name}.jsonl", dataset, [i % n > 0 for i in range(len(dataset))])
    assert main([*shlex.split(RUNS)[1:], "--quiet"]) == 0
    assert "mean of 3 runs" in capsys.readouterr().out


def test_a_release_makes_its_table_again(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(runs)
    write, renewed = RELEASE.splitlines()
    folder, *commands, sums = renewed.split(" && ")
    assert main([*shlex.split(write)[1:], "--quiet"]) == 0
    shutil.move(shlex.split(folder)[1], tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for command in commands:
        assert main([*shlex.split(command)[1:], "--quiet"]) == 0
    assert shlex.split(sums) == ["sha256sum", "-c", "SHA256SUMS"]
    for line in Path("SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(Path(name).read_bytes()).hexdigest() == digest
