"""``classic-rc run`` on logs of lm-evaluation-harness, and with logs as systems."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from classic_rc.solvers.registry import DEFAULT_SOLVERS
from tests.harness_logs import belebele_rows, multirc_rows, write_log

VALUES = [
    [-1.0, -2.0, -3.0, -4.0],
    [-1.0, -2.0, -3.0, -4.0],
    [-1.0, -2.0, -3.0, -4.0],
    [-9.0, -8.0, -7.0, -0.1],
]
BETTER = [*VALUES[:1], VALUES[0][::-1], [-2.0, -2.0, -1.0, -2.0], VALUES[3]]
RESULTS: dict[str, Any] = {
    "results": {"made": {"acc,none": 0.5}},
    "n-shot": {"made": 0},
    "versions": {"made": 1.0},
    "lm_eval_version": "0.4.13",
    "config": {"model": "hf", "model_args": {"pretrained": "org/tiny"}},
}


@pytest.fixture
def log(tmp_path) -> Path:
    return write_log(tmp_path / "tiny", belebele_rows(VALUES), results=RESULTS)


@pytest.fixture
def better(tmp_path) -> Path:
    return write_log(tmp_path / "better", belebele_rows(BETTER))


def test_the_model_is_the_first_row_and_the_default_systems_follow(cli, log):
    done = cli("run", str(log), "--format", "json")
    assert done.code == 0, done.err
    first, *others = done.rows
    assert (first["name"], first["block"], first["metrics"]["accuracy"]) == (
        "org/tiny",
        "given scores",
        0.5,
    )
    solvers = [name.partition(":")[0] for name in DEFAULT_SOLVERS["single-choice"]]
    assert [row["solver"] for row in others] == list(dict.fromkeys(solvers))
    assert first["params"]["settings"] == {
        "few-shot": 0,
        "task version": 1.0,
        "lm-eval": "0.4.13",
        "model": "hf",
        "model_args": {"pretrained": "org/tiny"},
    }
    assert done.messages("note", "org/tiny", "0-shot", "task version 1.0", "lm-eval 0.4.13")


def test_differences_from_the_model_have_paired_intervals(cli, log):
    done = cli("run", str(log), "--format", "json")
    (run,) = done.json["runs"]
    assert run["significance"]["baseline"] == "org/tiny"
    assert run["resampling"]["resamples"] == 10_000
    pairs = {pair["first"]: pair for pair in run["differences"]}
    assert pairs.keys() == {row["name"] for row in run["rows"][1:]}
    assert {pair["second"] for pair in pairs.values()} == {"org/tiny"}
    for row in run["rows"][1:]:
        pair = pairs[row["name"]]
        assert pair["difference"] == pytest.approx(row["metrics"]["accuracy"] - 0.5)
        assert pair["interval"][0] <= pair["difference"] <= pair["interval"][1]
        assert pair["p_holm"] == pytest.approx(row["p_values"]["accuracy"])


def test_the_table_begins_with_the_model(cli, log):
    done = cli("run", str(log), "--quiet")
    lines = done.out.splitlines()
    places = [i for i, line in enumerate(lines) if line.startswith(("org/tiny ", "random "))]
    assert lines[places[0]].startswith("org/tiny ")
    assert any(line.startswith("first ") and "difference" in line for line in lines)


def test_a_name_for_the_log_itself_replaces_its_row(cli, log, better):
    done = cli("run", str(log), "-s", f"A={log}", "-s", f"B={better}", "--format", "json")
    assert [row["name"] for row in done.rows] == ["A", "B"]
    assert done.json["runs"][0]["significance"]["baseline"] == "A"


def test_logs_are_systems_on_data_from_elsewhere(cli, log, better, tmp_path):
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    data = tmp_path / "mine.jsonl"
    with data.open("w", encoding="utf-8") as out:
        for i, row in enumerate(reversed(rows)):
            doc = row["doc"]
            options = [doc[f"mc_answer{j}"].upper() for j in (4, 3, 2, 1)]
            gold = 4 - int(doc["correct_answer_num"])
            metrics_of = {
                "id": f"q{i}",
                "passage": f"{doc['flores_passage']} ",
                "question": doc["question"],
            }
            out.write(json.dumps({**metrics_of, "candidates": options, "gold": gold}) + "\n")
    done = cli(
        "run", str(data), "-s", f"A={log}", "-s", f"B={better}", "-s", "random", "--format", "json"
    )
    assert done.code == 0, done.err
    accuracies = {row["name"]: row["metrics"]["accuracy"] for row in done.rows}
    assert accuracies == {"A": 0.5, "B": 0.75, "random": 0.25}
    assert "significance" not in done.json["runs"][0]


def test_acc_norm_is_a_second_row(cli, tmp_path):
    rows = belebele_rows(VALUES)
    for row in rows:
        row["acc_norm"] = row["acc"]  # letters have equal lengths
    log = write_log(tmp_path, rows)
    done = cli("run", str(log), "--format", "json")
    assert [row["name"] for row in done.rows[:2]] == ["samples_made", "samples_made (acc_norm)"]
    assert [row["metrics"]["accuracy"] for row in done.rows[:2]] == [0.5, 0.5]
    assert done.rows[0]["signature"] != done.rows[1]["signature"]


@pytest.fixture
def multirc_log(tmp_path):
    rows = multirc_rows([[1, 0, 1], [0, 1], [1, 1]], [[1, 1, 0], [0, 0], [1, 0]])
    return write_log(tmp_path / "logs", rows)


def test_the_record_of_a_log_runs_again(cli, multirc_log, tmp_path):
    log = multirc_log
    first = cli(
        "run", str(log), "-s", "all-negative", "--save", str(tmp_path / "saved"), "--format", "json"
    )
    assert first.code == 0, first.err
    names = [row["name"] for row in first.rows]
    assert names == ["samples_made", "samples_made (yes is right)", "all-positive", "all-negative"]
    reproduced = cli("reproduce", str(tmp_path / "saved"))
    assert reproduced.code == 0, reproduced.err + reproduced.out


def test_a_log_in_an_archive_is_data_alone(cli, log, tmp_path):
    packed = tmp_path / "logs.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(log, arcname=log.name)
    done = cli("run", str(packed), "-s", "longest", "--format", "json")
    assert [row["name"] for row in done.rows] == ["longest"]
    assert done.messages("note", "the model has no row")


def test_broken_logs_end_in_one_line(cli, log):
    text = log.read_text(encoding="utf-8")
    log.write_text(text[:-50], encoding="utf-8")
    cli("run", str(log)).fails(3, "cut off", "head -n 3", where="line 4")


def test_golden_logs_have_the_accuracies_of_the_harness(cli, shared_golden):
    folder = shared_golden / "harness"
    (results,) = folder.glob("results_*.json")
    expected = json.loads(results.read_text(encoding="utf-8"))["results"]
    for task in ("race", "boolq"):
        (log,) = folder.glob(f"samples_{task}_*.jsonl")
        done = cli("run", str(log), "-s", "random", "--format", "json")
        assert done.rows[0]["name"] == "dummy"
        assert done.rows[0]["metrics"]["accuracy"] == expected[f"{task}_local"]["acc,none"]


def test_a_format_before_the_file_names_the_second_row(cli, multirc_log):
    log = multirc_log
    first = cli("run", str(log), "-s", "all-negative", "--format", "json")
    row_of = {row["name"]: row for row in first.rows}
    done = cli("run", str(log), "-s", f"harness-yes:{log}", "-s", f"B={log}", "--format", "json")
    second = next(row for row in done.rows if "(yes is right)" in row["name"])
    assert second["metrics"] == row_of["samples_made (yes is right)"]["metrics"]
    assert second["signature"] == row_of["samples_made (yes is right)"]["signature"]
    compared = cli(
        "compare", f"harness-yes:{log}", f"B={log}", "--data", str(log), "--format", "json"
    )
    (comparison,) = compared.json["comparisons"]
    assert comparison["systems"][0]["value"] == pytest.approx(second["metrics"]["f1_a"])
    assert comparison["systems"][0]["name"] == "samples_made (yes is right)"


def test_a_suite_keeps_the_formats(cli, multirc_log, tmp_path):
    log = multirc_log
    suite = tmp_path / "suite.toml"
    assert (
        cli("run", str(log), "-s", "all-negative", "--format", "suite", "-o", str(suite)).code == 0
    )
    assert "harness-yes:" in suite.read_text(encoding="utf-8")
    alone = cli("run", str(log), "-s", "longest", "--format", "json")
    expected = {row["name"]: row["metrics"] for row in alone.rows}
    for _ in range(2):  # computed, and kept
        done = cli("run", str(suite), "--save", str(tmp_path / "kept"), "--format", "json")
        assert done.code == 0, done.err
        metrics_of = {row["name"]: row["metrics"] for row in done.rows}
        for name in ("samples_made", "samples_made (yes is right)"):
            assert metrics_of[name] == expected[name]
