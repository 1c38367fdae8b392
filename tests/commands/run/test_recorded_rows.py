"""Rows of run records as systems: ``-s NAME=FOLDER#ROW`` in ``run`` and ``report``."""

from __future__ import annotations

import json

import pytest

from tests.command_line import read_record

DATA = "sample:single-choice"


@pytest.fixture
def record(cli, tmp_path):
    """The folder of a record of two systems."""
    assert cli("run", DATA, "-s", "sw", "-s", "lexical", "--save", tmp_path / "r1").code == 0
    return tmp_path / "r1"


def _rows(folder):
    (run,) = read_record(folder)["runs"]
    return {row["name"]: row for row in run["rows"]}


def test_a_row_of_a_record_is_the_recorded_row(cli, record, tmp_path):
    second_record = tmp_path / "r2"
    systems = ("-s", f"Mine={record}#sliding-window", "-s", f"{record}/run.json#lexical")
    done = cli("run", DATA, *systems, "-s", "sw+d", "--baseline", "Mine", "--save", second_record)
    assert done.code == 0, done.err
    old, new = _rows(record), _rows(second_record)
    assert [*new] == ["Mine", "lexical", "sw+d"]
    for name, former in (("Mine", "sliding-window"), ("lexical", "lexical")):
        for key in ("metrics", "signature", "outcomes", "params"):
            assert new[name][key] == old[former][key]
    assert cli("reproduce", second_record).code == 0
    page = tmp_path / "page.html"
    assert cli("report", DATA, *systems, "-o", page).code == 0
    assert "Mine" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "row", "code", "message"),
    [
        (DATA, "", 2, "is a run record: name one of its rows"),
        (DATA, "#none", 2, "choose from lexical, sliding-window"),
        ("sample:multiple-answer", "#lexical", 2, "its questions are others"),
    ],
)
def test_what_is_no_row_is_refused_in_one_line(cli, record, data, row, code, message):
    done = cli("run", data, "-s", f"X={record}{row}", "-q")
    assert done.code == code
    assert message in done.err


def test_records_without_groups_say_so(cli, record):
    done = cli("compare", record, "--by", "level")
    assert done.code == 2
    assert "have no groups of questions: run with --by level, or add --data DATA" in done.err


def test_lists_that_differ_are_one_line(cli, tmp_path):
    folder = tmp_path / "r"
    data = "sample:multiple-answer"
    assert cli("run", data, "-s", "sw", "--save", folder).code == 0
    record = read_record(folder)
    counts = record["runs"][0]["rows"][0]["selections"]["selected"]
    counts[:] = [*counts[1:], 9]
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    done = cli("reproduce", folder)
    assert done.code == 1
    assert sum("selections.selected" in line for line in done.out.splitlines()) == 1
    assert f"of {len(counts)}, the first)" in " ".join(done.out.split())
