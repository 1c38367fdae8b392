"""``classic-rc perturb``, ``run --perturbed`` and ``list perturbations``: files, tables and exit
codes.
"""

from __future__ import annotations

import json
import re

import pytest

from classic_rc.datasets import PERTURBATIONS, load, perturb_dataset


def test_a_copy_can_be_run(cli, single, tmp_path):
    copy = tmp_path / "copy.jsonl"
    done = cli("perturb", single, "--with", "no-question", "-o", copy)
    assert (done.code, done.out) == (0, "")
    assert done.messages("note", "3 of 3 questions have no word left")
    assert [q.text for q in load(copy)] == ["", "", ""]
    assert (
        cli("run", copy, "-s", "sw", "--format", "json").row("sliding-window")["metrics"][
            "accuracy"
        ]
        >= 0
    )
    assert cli("perturb", single, "--with", "no-question", "-o", copy, "--quiet").err == ""


def test_options_reach_the_copy(cli, single, tmp_path):
    copy, mine = tmp_path / "copy.jsonl", tmp_path / "mine.txt"
    mine.write_text("fence\n", encoding="utf-8")
    assert (
        cli(
            "perturb", single, "--with", "no-function-words", "-o", copy, "--function-words", mine
        ).code
        == 0
    )
    assert (
        load(copy).fingerprint
        == perturb_dataset(load(single), "no-function-words", function_words=str(mine)).fingerprint
    )
    assert cli("perturb", single, "--with", "shuffled-words", "-o", copy, "--seed", 7).code == 0
    assert (
        load(copy).fingerprint
        == perturb_dataset(load(single), "shuffled-words", seed=7).fingerprint
    )


def test_a_task_for_the_harness_is_written_as_yaml(cli, single, tmp_path):
    rows = tmp_path / "my copy.jsonl"
    done = cli("perturb", single, "--with", "no-passage", "-o", rows, "--format", "lm-eval")
    assert done.code == 0
    assert "--tasks my_copy --include_path" in done.err
    task = (tmp_path / "my copy.yaml").read_text(encoding="utf-8")
    assert f'"test": {json.dumps(str(rows))}' in task
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 3
    cli(
        "perturb", single, "--with", "no-passage", "-o", tmp_path / "a.yaml", "--format", "lm-eval"
    ).fails(2, field="--output", expected=str(tmp_path / "a.jsonl"))
    cloze = tmp_path / "cloze.jsonl"
    cli(
        "perturb", "sample:cloze", "--with", "no-question", "-o", cloze, "--format", "lm-eval"
    ).fails(2, field="--format")
    assert not cloze.exists()


def test_usage_errors_of_perturb_are_named(cli, single, tmp_path):
    copy = tmp_path / "copy.jsonl"
    cli("perturb", single, "-o", copy).fails(2, "--with")
    cli("perturb", single, "--with", "no-question").fails(2, "--output")
    cli("perturb", single, "--with", "no-questions", "-o", copy).fails(
        2, "no-question", field="perturbation"
    )
    cli("perturb", "sample:cloze", "--with", "no-passage", "-o", copy).fails(
        2, field="perturbation"
    )
    cli("perturb", single, "--with", "no-question", "-o", single).fails(2, field="--output")
    cli("perturb", tmp_path / "none.jsonl", "--with", "no-question", "-o", copy).fails(3)
    assert not copy.exists()


def test_every_system_is_shown_beside_its_perturbed_selves(cli):
    done = cli(
        "run", "--perturbed", "sample:single-choice", "-s", "A=sw+d", "-s", "surface-lr", "--cv", 3
    )
    assert done.code == 0
    assert "[A]" in done.out
    assert "[surface-lr; learned from cv3]" in done.out
    assert done.out.count("\nshuffled-words ") == 2
    assert done.out.count("\noriginal ") == 2
    assert "learners are trained and tuned on original data" in done.out


def test_some_perturbations_are_written_as_json_and_csv(cli, tmp_path):
    args = (
        "run",
        "sample:single-choice",
        "-s",
        "sw",
        "--perturbed",
        "no-question,shuffled-words",
        "--intervals",
        50,
    )
    (perturbed,) = cli(*args, "--format", "json").json["perturbed"]
    assert [score["perturbation"] for score in perturbed["scores"]] == [
        "no-question",
        "shuffled-words",
    ]
    assert [len(score["by_seed"]) for score in perturbed["scores"]] == [1, 5]
    assert perturbed["resampling"]["resamples"] == 50
    records = cli(*args, "--format", "csv").records
    assert [record["perturbation"] for record in records] == [
        "original",
        "no-question",
        "shuffled-words",
    ]
    assert float(records[1]["difference"]) == perturbed["scores"][0]["difference"]
    assert r"\toprule" in cli(*args, "--format", "latex").out
    out = tmp_path / "table.md"
    assert cli(*args, "--format", "markdown", "-o", out).out == ""
    assert "| no-question |" in out.read_text(encoding="utf-8")


def test_the_value_of_perturbed_is_optional(cli, single):
    for args in (("--perturbed", single), (single, "--perturbed"), ("--perturbed=all", single)):
        assert "options-only" in cli("run", *args, "-s", "longest").out
    for args in (("--perturbed", "no-passage", single), (single, "--perturbed=no-passage")):
        out = cli("run", *args, "-s", "longest").out
        assert "no-passage" in out
        assert "options-only" not in out
    cli("run", single, "--perturbed=no-pasage", "-s", "longest").fails(
        2, "no-passage", field="perturbation"
    )


@pytest.mark.parametrize(
    "option",
    [
        ("--save", "folder"),
        ("--by", "kind"),
        ("--baseline", "random"),
        ("--published",),
        ("--format", "suite", "-o", "suite.toml"),
    ],
)
def test_options_that_do_not_apply_are_refused(cli, single, option):
    cli("run", single, "--perturbed", "no-passage", "-s", "sw", *option).fails(2, field=option[0])


def test_a_file_of_answers_is_refused_with_what_to_do(cli, single, tmp_path):
    answers = tmp_path / "answers.jsonl"
    assert cli("predict", single, "-s", "sw", "-o", answers, "--format", "jsonl").code == 0
    done = cli("run", single, "--perturbed", "no-passage", "-s", answers, "-s", "sw")
    assert done.code == 0
    assert re.search(r"^not measured: answers: .*classic-rc perturb", done.out, re.MULTILINE)
    cli("run", single, "--perturbed", "no-passage", "-s", answers).fails(2, field="systems")


def test_the_list_of_perturbations_says_what_a_reader_loses(cli):
    records = cli("list", "perturbations", "--format", "csv").records
    assert [record["name"] for record in records] == list(PERTURBATIONS)
    assert all("A reader loses" in record["description"] for record in records)
