"""``classic-rc floor``: names, logs, results files and data on the command line."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from classic_rc.results.floors import load_floors


def test_golden_logs_have_the_floor_of_their_own_questions(cli, shared_golden):
    log = next((shared_golden / "harness").glob("samples_race_*.jsonl"))
    rows = {
        row["system"]: row
        for row in json.loads(cli("floor", str(log), "--format", "json").out)["floors"]
    }
    assert rows["dummy"]["accuracy"] == 0.2
    assert rows["dummy"]["above_chance"] == pytest.approx((0.2 - 0.25) / 0.75)
    best = max(rows.values(), key=lambda row: row["accuracy"])
    assert best["system"] == "lexical"
    assert best["above_floor"] == 0
    assert rows["dummy"]["above_floor"] == pytest.approx((0.2 - 0.35) / 0.65)
    results = next((shared_golden / "harness").glob("results_*.json"))
    printed = cli("floor", str(results)).out
    assert "race:" not in printed
    assert "15.6" in printed  # (22 of 60 - 1/4) / (3/4)


def test_content_is_known_whatever_the_name_of_the_file(cli, shared_data, tmp_path):
    copy = tmp_path / "mine.tsv"
    copy.write_bytes((shared_data / "mctest" / "mc160.dev.tsv").read_bytes())
    (tmp_path / "mine.ans").write_bytes((shared_data / "mctest" / "mc160.dev.ans").read_bytes())
    done = cli("floor", str(copy))
    assert "has the content of mctest:mc160.dev" in done.err
    assert "has the content of mctest:mc160.dev" in cli("floor", f"{copy},reader=mctest").err


def test_unknown_content_gets_the_commands_that_compute_it(cli, tmp_path):
    file = tmp_path / "mine.jsonl"
    row = {
        "id": "1",
        "passage": "Ann met Bob.",
        "question": "Who?",
        "candidates": ["Ann", "Eve"],
        "gold": 0,
    }
    file.write_text(json.dumps(row), encoding="utf-8")
    done = cli("floor", str(file))
    assert f"`classic-rc run {file} --intervals` computes its floor" in done.err
    assert done.out == ""


def test_data_of_other_content_verifies_nothing(cli):
    done = cli("floor", "race:dev", "--verify", "sample:single-choice")
    assert done.code == 3
    assert "the data is not race:dev, so nothing can be verified" in done.err


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json", "html"])
def test_every_format_has_the_list_and_a_dataset(cli, form):
    assert "race" in cli("floor", "--format", form).out
    printed = cli("floor", "race:dev", "--by", "level", "--format", form).out
    dataset_floor = load_floors()["race:dev"]
    share = dataset_floor.value(dataset_floor.floor)
    assert f"{100 * share:.2f}" in printed or f"{share}" in printed
    assert "high" in printed


def test_a_table_measures_from_the_records_chance_or_floor(cli, tmp_path):
    systems = ("-s", "random", "-s", "longest", "-s", "SW+D=sw+d")
    cli(
        "run",
        "sample:single-choice",
        *systems,
        "--intervals",
        "--save",
        tmp_path / "run",
        "--quiet",
    )
    values = {}
    for base in ("chance", "floor"):
        printed = cli("table", tmp_path / "run", "--above", base, "--format", "csv").out
        rows = list(csv.DictReader(printed.splitlines()))
        values |= {(row["system"], row["metric"]): float(row["value"]) for row in rows}
    share = values["SW+D", "accuracy"]
    assert values["random", "accuracy above chance"] == 0
    assert values["SW+D", "accuracy above chance"] == pytest.approx((share - 0.25) / 0.75)
    assert values["SW+D", "accuracy above floor"] == 0  # the best of the two that learn nothing
    assert values["random", "accuracy above floor"] == pytest.approx((0.25 - share) / (1 - share))
    text = cli("table", tmp_path / "run", "--above", "chance", "--decimals", "2")
    assert f"{100 * (share - 0.25) / 0.75:.2f}" in text.out
    assert "b = 25.00 (random of the record)" in text.err
    assert "Above chance: (value - chance) / (1 - chance)" in text.out
    figure = cli(
        "table",
        tmp_path / "run",
        "--above",
        "chance",
        "--figure",
        "forest",
        "-o",
        tmp_path / "f.pdf",
    )
    figure.fails(2, "leave it out with --figure", field="--above")


def test_a_record_without_a_base_takes_that_of_the_package_or_is_refused(
    cli, shared_data, tmp_path
):
    cli(
        "run",
        shared_data / "mctest" / "mc160.dev.tsv",
        "-s",
        "longest",
        "--save",
        tmp_path / "known",
        "--quiet",
    )
    done = cli("table", tmp_path / "known", "--above", "chance")
    assert "b = 25.00 (random, as `classic-rc floor mctest:mc160.dev` has it)" in done.err
    cli("run", "sample:single-choice", "-s", "longest", "--save", tmp_path / "own", "--quiet")
    cli("table", tmp_path / "own", "--above", "chance").fails(
        2, "run it with random too", field="--above"
    )


def test_the_readme_begins_with_a_floor_that_is_so():
    text = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
    assert text.index("classic-rc floor race:test") < text.index("```bash")
    sentence = re.search(
        r"chance ([\d.]+), floor ([\d.]+) \[([\d.]+), ([\d.]+)\] \((.*?)\), human ([\d.]+);", text
    ).groups()
    dataset_floor = load_floors()["race:test"]
    low, high = dataset_floor.floor.intervals[dataset_floor.metric]
    shares = [dataset_floor.value(dataset_floor.chance), dataset_floor.value(dataset_floor.floor)]
    values = [f"{100 * share:.2f}" for share in shares]
    values += [f"{100 * bound:.1f}" for bound in (low, high)]
    human = dataset_floor.best_published("human").value
    assert list(sentence) == [*values, dataset_floor.floor.system, str(human)]
