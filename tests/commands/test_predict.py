"""``classic-rc predict`` writes what official scorers read, and scores on request."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from classic_rc import load
from classic_rc.errors import UsageError
from classic_rc.formats.jsonl import JSONLinesFormat
from classic_rc.kernels.arrays import small_blocks
from tests.command_line import answers_csv


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("sample:single-choice", '{"id": "lantern.1", "answer": "'),
        ("sample:multiple-answer", '{"id": "bakery.1", "answer": ["A", "'),
        (
            "superglue-multirc",
            '{"idx": 4, "passage": {"questions": [{"idx": 9, "answers": [{"idx": 30, "label":',
        ),
        ("superglue-record", '{"idx": 7, "label": "'),
        ("span", '{"id": "beans", "answer": "'),
    ],
)
def test_without_a_format_the_datasets_own_is_written(cli, data, name, beginning):
    done = cli("predict", data(name), "-s", "sw+d")
    assert done.code == 0
    assert done.out.startswith(beginning)


def test_scores_are_written_on_request(cli, own_files):
    mctest = own_files / "mctest" / "sample.dev.tsv"
    lines = cli("predict", mctest, "-s", "sw+d:mctest160", "--scores").out.splitlines()
    scores = [[cell.split(",") for cell in line.split("\t")] for line in lines]
    assert np.shape(scores) == (3, 4, 4)
    assert all(number.strip()[-6] == "." for number in scores[0][0])
    rows = cli("predict", own_files / "multirc" / "sample.json", "-s", "sw+d", "--scores").json
    assert not {score for row in rows for score in row["scores"]} <= {0, 1}
    for name in ("sample:single-choice", "sample:cloze"):
        row = json.loads(cli("predict", name, "-s", "sw+d", "--scores").out.partition("\n")[0])
        assert set(row) == {"question_id", "candidate", "text", "score", "evidence"}


def test_scores_are_refused_where_a_format_has_none(cli, data, own_files):
    record = data("superglue-record")
    cli("predict", record, "-s", "sw+d", "--scores", "--format", "superglue").fails(
        2,
        "--format jsonl",
        field="--format",
        found="superglue",
        expected="a format that holds scores",
    )
    assert cli("predict", record, "-s", "sw+d", "--scores", "--format", "jsonl").code == 0
    mctest = own_files / "mctest" / "sample.dev.tsv"
    cli("predict", mctest, "-s", "sw+d", "--format", "mctest-scores").fails(
        2,
        "--scores",
        field="--format",
        found="mctest-scores",
        expected="a format that holds decisions",
    )
    for name in ("span", "sample:multi-span"):
        cli("predict", data(name), "-s", "sw+d", "--scores").fails(2, field="--scores")


UNUSED = [
    ("sample:multiple-answer", "sw+d", ["--scores", "--threshold", "0.5"], "--threshold"),
    ("sample:multiple-answer", "sw+d", ["--scores", "--tune-metric", "em0"], "--tune-metric"),
    ("sample:single-choice", "sw+d", ["--scores", "--ties", "first"], "--ties"),
    ("sample:single-choice", "sw+d", ["--threshold", "0.5"], "--threshold"),
    ("sample:multiple-answer", "all-positive", ["--threshold", "0.3"], "--threshold"),
    ("sample:multiple-answer", "sw+d", ["--ties", "first"], "--ties"),
    (
        "sample:multiple-answer",
        "sw+d",
        ["--threshold", "3", "--tune-metric", "em0"],
        "--tune-metric",
    ),
    ("sample:cloze", "sw+d", ["--tune-metric", "em0"], "--tune-metric"),
    ("sample:cloze", "sw+d", ["--threshold", "exact"], "--threshold"),
    ("sample:multi-span", "sw+d,margin=1", ["--ties", "first"], "--ties"),
]


@pytest.mark.parametrize(("data", "solver", "options", "refused"), UNUSED)
def test_an_option_without_effect_is_refused(cli, data, solver, options, refused):
    cli("predict", data, "-s", solver, *options).fails(2, f"leave out {refused}", field=refused)


def test_decision_options_are_honoured(cli, multiple_answer):
    def selected(*options):
        done = cli("predict", multiple_answer, "-s", "longest", *options)
        assert done.code == 0
        return [json.loads(line)["answer"] for line in done.out.splitlines()]

    assert selected("--threshold", "7.5") == [[], ["A", "B"], ["B"], ["A"]]
    assert selected("--threshold", "99") == [[], [], [], []]
    assert selected("--tune-metric", "em0", "--tune", multiple_answer) != selected(
        "--tune", multiple_answer
    )


def test_predict_needs_no_gold(cli, hidden, write):
    for options in ([], ["--scores"]):
        assert cli("predict", hidden, "-s", "sw+d", *options).code == 0
    rows = [
        {"passage": f"p{i}", "question": "q", "candidates": ["a", "bb"], "task": "multiple-answer"}
        for i in (1, 2)
    ]
    multiple_hidden = write("several-hidden.jsonl", rows)
    assert cli("predict", multiple_hidden, "-s", "longest", "--scores").code == 0
    done = cli("predict", multiple_hidden, "-s", "longest")
    done.fails(2, "gold", "--tune")
    decided = cli(
        "predict", multiple_hidden, "-s", "longest", "--format", "jsonl", "--threshold", "1.5"
    ).out
    assert [json.loads(line)["selected"] for line in decided.splitlines()] == [False, True] * 2
    assert "score" not in json.loads(decided.partition("\n")[0])
    tuned = cli("predict", multiple_hidden, "-s", "longest", "--tune", "sample:multiple-answer")
    assert tuned.code == 0


def test_predict_says_where_one_of_equals_is_written(cli, write):
    rows = [{"passage": "p", "question": "q", "candidates": ["aa", "bb"], "gold": 1}]
    tied = write("tied.jsonl", rows)
    done = cli("predict", tied, "-s", "longest")
    assert done.messages("note", "best score", "1 questions")
    assert cli("predict", tied, "-s", "longest", "--quiet").err == ""
    assert cli("predict", tied, "-s", "longest", "--scores").err == ""


def test_predict_says_where_one_of_several_answers_is_written(cli, tmp_path):
    ids = [question.id for question in load("sample:single-choice")]
    (tmp_path / "s.csv").write_text(answers_csv(product(ids, "BA")), encoding="utf-8")
    done = cli("predict", "sample:single-choice", "-s", tmp_path / "s.csv")
    answers = [json.loads(line)["answer"] for line in done.out.splitlines()]
    assert answers == ["B"] * len(ids)
    assert done.messages("note", f"several answers to {len(ids)} questions")


@pytest.mark.parametrize("fails", [False, True])
def test_large_data_is_written_block_by_block_and_only_whole(
    cli, single, tmp_path, monkeypatch, fails
):
    """A file appears when it is complete: not before, and not if a later block fails."""
    out, written = tmp_path / "out", []
    complete, render = (
        cli("predict", single, "-s", "sw+d", "--format", "jsonl").out,
        JSONLinesFormat.render,
    )

    def watched(*block):
        assert not out.exists()
        written.append(block)
        if fails and len(written) > 1:
            raise UsageError("no")
        return render(*block)

    monkeypatch.setattr(JSONLinesFormat, "render", watched)
    with small_blocks(100):
        done = cli("predict", single, "-s", "sw+d", "--format", "jsonl", "-o", out)
    assert (done.code, len(written)) == ((2, 2) if fails else (0, 2))
    assert [path.name for path in tmp_path.glob("*out*")] == ([] if fails else ["out"])
    assert fails or out.read_text() == complete
