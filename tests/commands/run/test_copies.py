"""Learners on questions that they learned from, on the command line: the second value follows
through records, tables, comparisons and suites.
"""

from __future__ import annotations

import json

import pytest

from classic_rc import load
from tests.command_line import answers_csv

DATA = load("sample:single-choice")
GROUP = "without copies"


@pytest.fixture
def train(write):
    rows = []
    for question in DATA[:12]:
        row = {
            "id": f"t{question.id}",
            "passage": question.passage.text.upper(),
            "question": question.text,
            "candidates": [candidate.text for candidate in question.candidates],
            "gold": min(question.gold),
        }
        rows.append(row)
    return write("train.jsonl", rows)


@pytest.fixture
def options(train):
    systems = [argument for name in ("sw+d", "surface-lr", "majority") for argument in ("-s", name)]
    return ["sample:single-choice", "--train", train, *systems, "--intervals", "100"]


def test_a_record_gives_both_values_everywhere(cli, options, tmp_path):
    run = cli("run", *options, "--baseline", "sw+d", "--save", tmp_path / "a")
    assert run.code == 0, run.err
    assert "copies (12)" in run.out
    assert "trained on train; learned from 12 of these 24 questions" in run.out
    (warning,) = run.messages("warning", "training data train has 12 of 24 questions of")
    assert warning.endswith("or their passages")
    records = cli("table", tmp_path / "a", "--format", "csv").records
    tested = {(record["system"], record["group"]) for record in records if record["p"]}
    others = {record["system"] for record in records} - {"sw+d"}
    assert tested == {(name, GROUP) for name in others} | {("lexical", "")}
    assert f"& all & {GROUP}" in cli("table", tmp_path / "a", "--format", "latex").out
    reproduced = cli("reproduce", tmp_path / "a", "--search", tmp_path)
    assert reproduced.code == 0, reproduced.out + reproduced.err
    compared = cli(
        "compare", f"{tmp_path / 'a'}#majority", f"{tmp_path / 'a'}#sw+d", "--format", "json"
    ).json["comparisons"]
    everything, uncopied = compared
    assert [record["dataset"]["questions"] for record in compared] == [24, 12]
    assert everything["pairs"][0]["p"] is None
    assert uncopied["pairs"][0]["p"] is not None
    assert GROUP in uncopied["dataset"]["name"]


def test_compare_trains_and_compares_without_copies(cli, train):
    done = cli("compare", "surface-lr", "sw+d", "--data", "sample:single-choice", "--train", train)
    assert done.code == 0, done.err
    assert "sample:single-choice, without copies (12 questions" in done.out
    apart = cli("compare", "surface-lr", "sw+d", "--data", "sample:single-choice", "--cv", 3)
    assert GROUP not in apart.out


def test_training_data_without_the_questions_has_no_second_value(cli, options):
    done = cli("run", *options, "--drop-overlap")
    assert done.code == 3 or "nothing is left" in done.err
    done = cli("run", "sample:single-choice", "--cv", 3, "-s", "majority")
    assert GROUP not in done.out


def test_a_suite_has_the_values_of_a_run(cli, options, write, train, tmp_path):
    write("human.csv", answers_csv((q.id, min(q.gold)) for q in DATA[6:18]))
    suite = write(
        "suite.toml",
        f"""intervals = 100
baseline = "sw+d"
[datasets.sample]
path = "sample:single-choice"
train = {json.dumps(str(train))}
[systems]
"sw+d" = "sw+d"
LR = "surface-lr"
M = "majority"
human = "human.csv,sample=12"
""",
    )
    new = {"LR": "surface-lr", "M": "majority"}
    expected_rows = {
        row["name"]: row
        for row in cli("run", *options, "--baseline", "sw+d", "--format", "json").rows
    }
    folder = tmp_path / "s"
    for more in ((), ("--jobs", 2), ()):
        done = cli("run", suite, "--save", folder, "--format", "json", *more)
        assert done.code == 0, done.err
        for row in done.rows:
            expected_row = expected_rows[new.get(row["name"], row["name"])]
            for key in ("metrics", "groups", "p_values", "signature"):
                assert row[key] == expected_row[key]
        (numbers,) = done.run["given"].values()
        assert {record["group"]: record["questions"] for record in numbers} == {None: 12, GROUP: 6}
        if more:
            folder = tmp_path / "other"
    assert cli("reproduce", folder, "--search", tmp_path).code == 0
