"""Numbers in the pages are what the commands above them print, on the datasets' own files.

A comment comes before a block of ``classic-rc`` commands:

* ``<!-- tested -->``: the next Markdown table has rows for the ``-s`` values, and perhaps others.
  Its columns are metrics as ``run`` prints them, or datasets, whose cells are then accuracies.
* ``<!-- tested: output -->``: the next block is the beginning of what the commands print.
* ``<!-- tested: numbers -->``: every number with two decimals in the next table is one that the
  commands print.

With ``, slow`` at its end, the test has the marker ``slow``; on the page of the feature ranker,
``ci``.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from classic_rc.cli.main import main

pytestmark = pytest.mark.ci  # real data

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = re.compile(
    r"^<!-- tested(?:: (\w+))?(, slow)? -->\n```\n(.*?)^```\n(.*?)(?=^<!-- tested|\Z)",
    re.MULTILINE | re.DOTALL,
)
FILES = re.compile(
    r"(?<![\w/.-])(?:annotations|dream|mcscript|mctest|multirc|quoref|race|record)/[^\s,;:\]\"']+"
)
VALUE = re.compile(r"[+-]?\d[\d.]*( \[[\d., -]+\])?$")


class Shown(NamedTuple):
    """Commands, and the table or block that follows them."""

    kind: str
    slow: bool
    commands: list[str]
    text: str


def marked(text: str) -> list[Shown]:
    """Everything in a page that is marked as tested."""
    blocks = []
    for kind, slow, block, rest in MARK.findall(text):
        pattern = r"```\n(.*?)```" if kind == "output" else r"((?:^\|.*\n)+)"
        (first, *_) = re.findall(
            pattern, rest, re.MULTILINE | re.DOTALL if kind == "output" else re.MULTILINE
        )
        blocks.append(Shown(kind, bool(slow), block.replace("\\\n", " ").splitlines(), first))
    return blocks


def output(command: str, capsys: pytest.CaptureFixture[str], width: int = 10_000) -> str:
    """What a command prints in lines of a width, without comments behind it."""
    program, *arguments = shlex.split(command, comments=True)
    assert program == "classic-rc"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        assert main([*arguments, "--quiet"]) == 0
    return capsys.readouterr().out


def printed_rows(text: str) -> dict[str, list[dict[str, str]]]:
    """The rows that ``run`` prints for each dataset, in order: column names to cells."""
    row_of = {}
    for dataset, header, body in re.findall(
        r"^(\S+) \(.*\n(system .*)\n-+\n((?:\S.*\n)+)", text, re.MULTILINE
    ):
        names = re.split(r" {2,}", header)
        # no headings
        rows = [re.split(r" {2,}", line) for line in body.splitlines() if not line.startswith("[")]
        assert all(len(row) in (len(names), len(names) - 1) for row in rows)
        row_of[dataset] = [dict(zip(names, row, strict=False)) for row in rows]
    return row_of


def results(
    command: str, capsys: pytest.CaptureFixture[str]
) -> dict[tuple[str, str], dict[str, str]]:
    """Run a command: by dataset and ``-s`` value, what it prints."""
    arguments = shlex.split(command, comments=True)
    specs = [arguments[i + 1] for i, argument in enumerate(arguments) if argument == "-s"]
    rows_of = {}
    for dataset, rows in printed_rows(output(command, capsys)).items():
        # of one solver they are in the order of -s, of two they are in the order of blocks
        remaining = list(rows)
        for spec in specs:
            solver = re.split("[:,]", spec)[0]
            rows_of[dataset, spec] = next(
                r for r in remaining if re.split("[:,]", r["system"])[0] == solver
            )
            remaining.remove(rows_of[dataset, spec])
    return rows_of


def agrees(claimed: str, printed: str) -> bool:
    """Return whether a value is the printed one; bounds of an interval may be shown with more
    decimals.
    """
    (value, *bounds), (printed_value, *own_bounds) = (
        re.findall(r"-?[\d.]+", text) for text in (claimed, printed)
    )
    return value == printed_value and all(
        abs(float(a) - float(b)) < 0.051 for a, b in zip(bounds, own_bounds, strict=False)
    )


def check_rows(claim: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    header, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in claim.text.splitlines()
    )
    measured: dict[tuple[str, str], dict[str, str]] = {}
    for command in claim.commands:
        measured |= results(command, capsys)
    datasets = {dataset for dataset, _ in measured}
    compared = 0
    for first, *cells in rows:
        name = re.match(r"`(.*?)`", first)
        if name is None:  # a row of words, such as a published figure
            continue
        spec_values = {
            d: values for (d, spec), values in measured.items() if spec == name.group(1)
        } or {d: values for (d, spec), values in measured.items() if spec.startswith(name.group(1))}
        if not spec_values:  # a row that needs what these commands do not, such as WordNet
            continue
        for column, cell in zip(header[1:], cells, strict=True):
            value = cell.replace("†", "").replace("*", "").strip()
            if not VALUE.match(value):
                continue
            dataset = column.lower().replace(" ", ".")
            if dataset in datasets:
                printed = spec_values[dataset]["Acc."]
            else:
                values = next(iter(spec_values.values())) if len(spec_values) == 1 else {}
                if column not in values:  # not what `run` prints, such as a difference or a time
                    continue
                printed = values[column]
            assert agrees(value, printed), (first, column)
            compared += 1
    assert compared


def marks(page: Path, claim: Shown) -> list[pytest.MarkDecorator]:
    if claim.slow:
        return [pytest.mark.slow]
    return [pytest.mark.ci] if page.stem == "feature-ranker" else []  # it fits for long


PARTS = [
    pytest.param(claim, id=f"{page.stem}-{number}", marks=marks(page, claim))
    for page in sorted(DOCS.rglob("*.md"))
    for number, claim in enumerate(marked(page.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("claim", PARTS)
def test_the_page_has_what_its_commands_print(claim, shared_data, monkeypatch, capsys):
    monkeypatch.chdir(shared_data)
    for path in FILES.findall(" ".join(claim.commands)):
        assert (shared_data / path).exists()
    if not claim.kind:
        check_rows(claim, capsys)
        return
    width = 100 if claim.kind == "output" else 10_000
    printed = "".join(output(command, capsys, width) for command in claim.commands)
    if claim.kind == "output":
        assert printed.startswith(claim.text)
    else:
        assert claim.kind == "numbers"
        numbers = set(re.findall(r"(?<![\d.,])\d+\.\d\d(?!\d)", claim.text))
        assert numbers
        assert numbers - set(re.findall(r"(?<![\d.,])\d+\.\d\d(?!\d)", printed)) == set()


@pytest.mark.parametrize(
    ("kind", "block"),
    [
        ("", "\n| | Acc. |\n|---|---:|\n| `sw+d` | 41.68† |\n"),
        (": output", "\n```\nsample:single-choice (json)\n```\n"),
        (": numbers", "\n| `sw+d` accuracy 41.68 |\n"),
    ],
)
def test_a_wrong_number_is_found(kind, block, tmp_path, monkeypatch, capsys):
    command = f"<!-- tested{kind} -->\n```\nclassic-rc run sample:single-choice -s sw+d\n```\n"
    (claim,) = marked(command + block)
    assert not claim.slow
    with pytest.raises(AssertionError):
        test_the_page_has_what_its_commands_print(claim, tmp_path, monkeypatch, capsys)
    (right,) = marked((command + block).replace("41.68", "41.67").replace("(json)\n", ""))
    if kind != ": output":
        test_the_page_has_what_its_commands_print(right, tmp_path, monkeypatch, capsys)
