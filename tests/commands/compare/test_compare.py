"""``classic-rc compare``: what can be compared, the results, and what is refused."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest


@pytest.fixture
def saved(cli, tmp_path):
    """Saves a run and gives its folder."""

    def run(name, *args):
        folder = tmp_path / name
        done = cli("run", *args, "--save", folder)
        assert done.code == 0, done.err
        return folder

    return run


@pytest.fixture
def human(cli, single, tmp_path):
    """Somebody's answers, as a file of predictions."""
    path = tmp_path / "human.jsonl"
    rows = []
    for i, answer in enumerate((1, 0, 2), start=1):
        for c in range(3):
            rows.append({"question_id": f"q{i}", "candidate": c, "selected": c == answer})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def compared(cli, *args):
    done = cli("compare", *args, "--format", "json")
    assert done.code == 0, done.err
    return done.json["comparisons"]


def names(comparison):
    return [system["name"] for system in comparison["systems"]]


def test_solvers_and_predictions_are_compared_on_data(cli, single, human):
    (comparison,) = compared(cli, human, "longest", "sw+d,window=3", "--data", single)
    assert names(comparison) == ["human", "longest", "sw+d"]
    pairs = [(pair["first"], pair["second"]) for pair in comparison["pairs"]]
    assert pairs == [*combinations(("human", "longest", "sw+d"), 2)]
    assert comparison["dataset"]["questions"] == 3
    assert comparison["systems"][0]["value"] == pytest.approx(2 / 3)
    assert comparison["chance"] == pytest.approx(1 / 3)
    assert comparison["systems"][0]["relative_gain"] == pytest.approx(1)
    assert sum(region["questions"] for region in comparison["overlap"]["regions"]) == 3
    assert len(comparison["overlap"]["regions"]) == 8
    ids = [id for region in comparison["overlap"]["regions"] for id in region["ids"]]
    assert sorted(ids) == ["q1", "q2", "q3"]


def test_a_record_without_a_run_is_refused(cli, write):
    record = write("none/run.json", '{"runs": []}')
    cli("compare", record).fails(3, source=str(record), field="runs")


def test_a_row_of_a_record_can_be_named_and_called_otherwise(cli, single, saved):
    folder = saved(
        "today", single, "-s", "random", "-s", "longest", "-s", "sw+d:mctest160", "-s", "shortest"
    )
    (comparison,) = compared(cli, f"{folder}#sw+d:mctest160", f"base={folder}#longest")
    assert names(comparison) == ["sw+d:mctest160", "base"]
    assert comparison["chance"] == pytest.approx(1 / 3)  # from the row that is not compared
    done = cli("compare", f"{folder}#longer", folder)
    done.fails(2, "'longer'", "'longest'", found="longer", expected="longest")
    assert done.out == ""


def test_each_dataset_of_records_is_compared_by_itself(cli, single, multiple_answer, saved):
    two_datasets = saved(
        "both", single, multiple_answer, "-s", "longest", "-s", "shortest", "--threshold", "3"
    )
    first, second = compared(cli, two_datasets)
    assert (first["metric"], second["metric"]) == ("accuracy", "f1_a")
    one_dataset = saved("one", single, "-s", "random")
    done = cli("compare", one_dataset, two_datasets)
    assert done.code == 0
    assert done.messages("warning", "several (4 questions, data ", "left out")


def test_other_questions_are_refused_in_one_line(cli, single, multiple_answer, saved):
    folders = [
        saved(f"{data.stem}", data, "-s", "longest", "--threshold", "3")
        for data in (single, multiple_answer)
    ]
    done = cli("compare", *folders)
    done.fails(
        2, "same questions", "longest", "single (3 questions, data ", "several (4 questions, data "
    )
    assert done.out == ""
    done = cli("compare", folders[0], "longest", "--data", multiple_answer)
    done.fails(2, "same questions", "single (3 questions, data ", "several (4 questions, data ")


@pytest.mark.parametrize(
    ("systems", "code", "facts", "fields"),
    [
        (["longest", "shortest"], 2, ["longest", "a solver", "--data DATA"], {"field": "--data"}),
        (["missing.json", "longest"], 3, ["solver"], {"source": "missing.json", "where": None}),
        (
            ["longst", "longest"],
            2,
            ["'longest'"],
            {"found": "longst", "expected": re.compile("^longest,")},
        ),
        (["longest,size=3", "longest"], 2, ["size"], {}),
    ],
)
def test_what_names_no_system_is_refused(cli, systems, code, facts, fields):
    done = cli("compare", *systems)
    done.fails(code, *facts, **fields)
    assert done.out == ""


def test_group_keeps_passages_together_and_needs_data(cli, write, saved):
    rows = []
    for i in range(40):
        row = {"passage": f"{i}", "question": "?", "candidates": ["a", "bb"], "gold": i // 20}
        rows.append({**row, "meta": {"author": i // 20}})
    data = write("authors.jsonl", rows)
    (comparison,) = compared(cli, "longest", "shortest", "--data", data, "--group", "author")
    assert comparison["resampling"]["groups"] == 2
    folder = saved("today", data, "-s", "longest", "-s", "shortest")
    cli("compare", folder, "--group", "author").fails(2, "--data DATA", field="--group")
    assert (
        compared(cli, folder, "--data", data, "--group", "author")[0]["pairs"]
        == comparison["pairs"]
    )


def test_an_output_never_replaces_an_input(cli, single, saved, human):
    folder = saved("today", single, "-s", "longest", "-s", "shortest")
    for inputs, out in (
        ([folder], folder / "run.json"),
        ([human, "longest", "--data", single], human),
    ):
        before = out.read_bytes()
        assert cli("compare", *inputs, "-o", out).code == 2
        assert out.read_bytes() == before


def test_several_metrics_are_a_comparison_each(cli, multiple_answer):
    args = (
        "longest",
        "shortest",
        "--data",
        multiple_answer,
        "--threshold",
        3,
        "--metrics",
        "em0,f1_m",
    )
    comparisons = compared(cli, *args)
    assert [comparison["metric"] for comparison in comparisons] == ["em0", "f1_m"]
    (alone,) = compared(cli, *args[:-1], "f1_m")
    assert comparisons[1] == alone
    done = cli("compare", *args)
    assert done.out.count("solved by exactly these systems") == 1
    cli("compare", *args[:-1], "f1_m,accuracy").fails(2, "accuracy", field="metric")


def test_a_metric_that_tables_show_only_by_name_has_gains_over_chance(cli, write):
    answer = {"text": "Bob", "answer_start": 8}
    question = {"id": "q", "question": "Who was met?", "answers": [answer]}
    paragraph = {"context": "Ann met Bob Lee.", "qas": [question]}
    data = write("squad.json", json.dumps({"data": [{"title": "t", "paragraphs": [paragraph]}]}))
    (comparison,) = compared(cli, "span-sw", "random", "--data", data, "--metrics", "chars_f1")
    by_name = {row["name"]: row for row in comparison["systems"]}
    solver, chance = by_name["span-sw:squad2016"], by_name["random"]
    assert solver["gain"] == pytest.approx(solver["value"] - chance["value"])


def test_a_baseline_is_a_row_or_an_argument_or_one_more_system(cli, single, saved):
    systems = ("A=sw", "longest", "--data", single)
    for baseline in ("A", "A=sw", "sw", "sliding-window"):
        (comparison,) = compared(cli, *systems, "--baseline", baseline)
        assert (comparison["baseline"], names(comparison)) == ("A", ["A", "longest"])
    (more,) = compared(cli, *systems, "--baseline", "shortest")
    assert (more["baseline"], names(more)) == ("shortest", ["A", "longest", "shortest"])
    folder = saved("today", single, "-s", "longest", "-s", "shortest")
    (recorded,) = compared(cli, folder, "--baseline", "shortest")
    assert [(p["first"], p["second"]) for p in recorded["pairs"]] == [("longest", "shortest")]
    done = cli("compare", folder, "--baseline", "shorter")
    done.fails(2, "'shortest'", field="baseline", found="shorter", expected="shortest")


def test_rows_whose_names_have_a_hash(cli, tmp_path):
    record = tmp_path / "run"
    assert (
        cli("run", "sample:single-choice", "-s", "C#=sw", "-s", "X#2=swd", "--save", record).code
        == 0
    )
    done = cli("compare", f"{record}#C#", f"{record}#X#2", "--format", "json")
    assert [row["name"] for row in done.json["comparisons"][0]["systems"]] == ["C#", "X#2"]


def test_records_with_other_groups_of_a_key_are_not_compared_by_it(cli, single, saved, write):
    folders = []
    for system, label in (("longest", "easy"), ("sw+d", "hard")):
        labels = write(f"{system}/labels.csv", f"id,kind\nq1,{label}\nq2,hard\nq3,easy\n")
        folders.append(saved(system, single, "-s", system, "--labels", labels))
    assert len(compared(cli, *folders)) == 1
    cli("compare", *folders, "--by", "kind").fails(
        2, "different groups of kind", field="by", found="kind"
    )
    cli("table", *folders, "--by", "kind").fails(
        2, "different groups of kind", field="by", found="kind"
    )
    assert compared(cli, *folders, "--data", single, "--labels", labels, "--by", "kind")


def test_the_questions_of_records_have_their_ids(cli, single, saved):
    folder = saved("today", single, "-s", "longest", "-s", "sw+d")
    (recorded,) = compared(cli, folder)
    (answered,) = compared(cli, "longest", "sw+d", "--data", single)
    assert recorded["overlap"] == answered["overlap"]
    region = next(r for r in recorded["overlap"]["regions"] if r["ids"])
    listing = f"{' + '.join(region['systems']) or 'no system'}: {region['ids'][0]}"
    assert listing in cli("compare", folder, "-v").out
    assert listing not in cli("compare", folder).out
