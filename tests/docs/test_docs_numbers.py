"""Tables in the pages are what the commands above them print, on the datasets' own files.

A comment ``<!-- tested -->`` in a page, or ``<!-- tested, slow -->``, comes before a block of ``classic-rc run``
commands. The next Markdown table has a row for each ``-s`` value of them. Its columns are metrics as the command
prints them, or datasets, whose cells are then accuracies.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from classic_rc.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = re.compile(
    r"^<!-- tested(, slow)? -->\n```\n(.*?)^```\n(.*?)(?=^<!-- tested|^```|\Z)", re.MULTILINE | re.DOTALL
)
VALUE = re.compile(r"[+-]?\d[\d.]*( \[[\d., -]+\])?$")


class MarkedTable(NamedTuple):
    """A block of commands and the table that follows it."""

    commands: list[str]
    header: list[str]
    rows: list[list[str]]


def marked_tables(text: str) -> list[tuple[MarkedTable, bool]]:
    """Every marked table of a page, and whether it is slow."""
    found = []
    for slow, block, rest in MARK.findall(text):
        (lines, *_) = (lines.splitlines() for lines in re.findall(r"(?:^\|.*\n)+", rest, re.MULTILINE))
        header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
        found.append((MarkedTable(block.replace("\\\n", " ").splitlines(), header, rows), bool(slow)))
    return found


def printed_rows(output: str) -> dict[str, list[dict[str, str]]]:
    """The rows that a command prints for each dataset, in order: column names to cells."""
    found = {}
    for dataset, header, body in re.findall(r"^(\S+) \(.*\n(system .*)\n-+\n((?:\S.*\n)+)", output, re.MULTILINE):
        names = re.split(r" {2,}", header)
        rows = [re.split(r" {2,}", line) for line in body.splitlines()]
        assert all(len(row) in (len(names), len(names) - 1) for row in rows)
        found[dataset] = [dict(zip(names, row, strict=False)) for row in rows]
    return found


def results(command: str, capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, str]]:
    """Run a command: by dataset and ``-s`` value, what it prints."""
    program, *arguments = shlex.split(command)
    assert program == "classic-rc"
    assert main([*arguments, "--quiet"]) == 0
    specs = [arguments[i + 1] for i, argument in enumerate(arguments) if argument == "-s"]
    found = {}
    for dataset, rows in printed_rows(capsys.readouterr().out).items():
        remaining = iter(rows)
        for spec in specs:
            solver, _, variant = spec.partition(",")[0].partition(":")
            row = next(row for row in remaining if row["system"].partition(":")[0] == solver)
            assert row["system"].partition(":")[2] in (variant, "") or not variant
            found[dataset, spec] = row
    return found


TABLES = [
    pytest.param(table, id=f"{page.stem}-{number}", marks=[pytest.mark.slow] if slow else [])
    for page in sorted(DOCS.rglob("*.md"))
    for number, (table, slow) in enumerate(marked_tables(page.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_what_its_commands_print(table, shared_data, monkeypatch, capsys):
    monkeypatch.chdir(shared_data)
    found: dict[tuple[str, str], dict[str, str]] = {}
    for command in table.commands:
        found |= results(command, capsys)
    compared = 0
    for row in table.rows:
        name = re.match(r"`(.*?)`", row[0])
        if name is None:  # a row of words, such as a published figure
            continue
        own = {dataset: cells for (dataset, spec), cells in found.items() if spec.startswith(name.group(1))}
        exact = {dataset: cells for (dataset, spec), cells in found.items() if spec == name.group(1)}
        own = exact or own
        assert own, f"no command runs {name.group(1)}"
        for column, cell in zip(table.header[1:], row[1:], strict=True):
            shown = cell.replace("†", "").replace("*", "").strip()
            dataset = column.lower().replace(" ", ".")
            if not VALUE.match(shown):
                continue
            if dataset in {name for name, _ in found}:
                assert own[dataset]["Acc."] == shown, (row[0], column)
            else:
                (cells,) = own.values()
                assert cells[column] == shown, (row[0], column)
            compared += 1
    assert compared


def test_a_wrong_number_is_found(tmp_path, monkeypatch, capsys):
    block = "<!-- tested -->\n```\nclassic-rc run sample:single-choice -s sw+d\n```\n"
    text = block + "\n| | Acc. |\n|---|---:|\n| `sw+d` | 41.68† |\n"
    ((table, slow),) = marked_tables(text)
    assert not slow
    with pytest.raises(AssertionError, match="Acc"):
        test_a_table_is_what_its_commands_print(table, tmp_path, monkeypatch, capsys)
