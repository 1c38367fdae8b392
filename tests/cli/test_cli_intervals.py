"""``run --intervals`` and ``score --intervals``."""

from __future__ import annotations

import csv
import io
import json

import pytest


@pytest.fixture
def many(write):
    """Forty questions about as many passages."""
    rows = [
        {
            "passage": f"Owl {i} ate a mouse.",
            "question": "What?",
            "candidates": ["mouse", "a bat at night"],
            "gold": i % 3 // 2,
        }
        for i in range(40)
    ]
    return write("many.jsonl", rows)


def test_every_row_gets_them(cli, many):
    done = cli("run", many, "-s", "random", "-s", "longest", "--intervals", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.run["resampling"] == {"level": 0.95, "resamples": 10_000, "seed": 0, "groups": 40, "group": None}
    assert done.rows[0]["intervals"] == {"accuracy": [0.5, 0.5]}
    low, high = done.rows[1]["intervals"]["accuracy"]
    assert low < done.rows[1]["metrics"]["accuracy"] < high


def test_they_are_in_the_table_the_csv_and_the_record(cli, many, tmp_path):
    args = ("run", many, "-s", "longest", "--intervals", "200")
    table = cli(*args, "--save", tmp_path / "saved").out
    assert "longest  32.50 [" in table
    assert "95 % interval: 200 resamples of 40 passages, seed 0" in table
    (record,) = csv.DictReader(io.StringIO(cli(*args, "--format", "csv").out))
    kept = json.loads((tmp_path / "saved" / "run.json").read_text(encoding="utf-8"))["runs"][0]["rows"][0]
    assert [float(record["accuracy_low"]), float(record["accuracy_high"])] == kept["intervals"]["accuracy"]


def test_without_the_option_there_are_none(cli, many):
    done = cli("run", many, "-s", "longest", "--format", "json")
    assert done.run["resampling"] is None
    assert done.rows[0]["intervals"] == {}
    assert "[" not in cli("run", many, "-s", "longest").out


def test_the_seed_is_that_of_everything_drawn(cli, many):
    args = ("run", many, "-s", "longest", "--intervals", "100", "--format", "json")
    zero, none, one = (cli(*args, *seed).rows[0]["intervals"] for seed in (["--seed", 0], [], ["--seed", 1]))
    assert zero == none != one


def test_group_keeps_passages_together(cli, write):
    rows = [
        {
            "passage": f"{i}",
            "question": "?",
            "candidates": ["a", "bb"],
            "gold": i // 20,
            "meta": {"author": i // 20},
        }
        for i in range(40)
    ]
    done = cli(
        "run", write("a.jsonl", rows), "-s", "longest", "--intervals", "--group", "author", "--format", "json"
    )
    assert done.rows[0]["intervals"] == {"accuracy": [0, 1]}
    assert done.run["resampling"]["group"] == "author"


def test_few_passages_are_warned_about(cli, single):
    done = cli("run", single, "-s", "longest", "--intervals")
    assert "warning: intervals are likely too narrow: 2 passages are fewer than 30" in done.err
    assert "likely too narrow, with fewer than 30" in done.out
    assert cli("run", single, "-s", "longest", "--intervals", "--quiet").err == ""


@pytest.mark.parametrize("n", ["0", "-5", "many"])
def test_a_wrong_number_is_refused(cli, single, n):
    done = cli("run", single, f"--intervals={n}")
    assert done.code == 2
    assert "is no number of resamples (name DATA before this option)" in done.err


def test_score_has_them_too(cli, many, tmp_path):
    cli("predict", many, "-s", "longest", "-o", tmp_path / "longest.jsonl")
    scored = cli("score", many, tmp_path / "longest.jsonl", "--intervals", "300", "--format", "json")
    run = cli("run", many, "-s", "longest", "--intervals", "300", "--ties", "first", "--format", "json")
    assert scored.rows[0]["intervals"] == run.rows[0]["intervals"]
