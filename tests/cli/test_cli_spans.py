"""Span questions on the command line: ceilings, several spans, official files, fitted solvers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from classic_rc.datasets import load
from classic_rc.evaluation import evaluate
from classic_rc.solvers import parse_solver

STORIES = [
    (
        "Nora met Omar and Pia in Oslo. Omar paid.",
        [("Who paid?", ["Omar"]), ("Whom did Nora meet?", ["Omar", "Pia"])],
    ),
    (
        "The letter to Ida was sent by Ulf. Ida smiled.",
        [("Who sent the letter?", ["Ulf"]), ("Who smiled?", ["Ida"])],
    ),
    ("Kaj and Lea sang in 1990. The hall was full.", [("Who sang?", ["Kaj", "Lea"]), ("When?", ["1990"])]),
    ("Old Mats sold the boat to Ruth.", [("Who sold the boat?", ["Mats"]), ("Who has the boat now?", ["Ruth"])]),
]


@pytest.fixture
def quoref(write) -> Path:
    """Four passages in Quoref's layout."""
    paragraphs = [
        {
            "context": context,
            "context_id": f"c{p}",
            "qas": [
                {
                    "id": f"c{p}q{q}",
                    "question": question,
                    "answers": [{"text": text, "answer_start": context.index(text)} for text in gold],
                }
                for q, (question, gold) in enumerate(asked)
            ],
        }
        for p, (context, asked) in enumerate(STORIES)
    ]
    return write("quoref.json", json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))


SPAN_SOLVERS = ["span-sw", "span-sw:squad2016-distance", "span-lr"]


def test_a_run_says_what_the_spans_allow(cli, quoref):
    done = cli("run", quoref, "-s", "random")
    assert done.code == 0
    assert "note: quoref: a perfect choice among the candidate spans would score EM 100.00, F1 100.00" in done.err
    assert "a perfect choice of one span a question, EM 75.00, F1 87.50" in done.err
    assert "perfect" not in cli("run", quoref, "-s", "random", "--quiet").err
    assert "perfect" not in cli("run", "sample:single-choice", "-s", "random").err


@pytest.mark.parametrize("solver", SPAN_SOLVERS)
@pytest.mark.parametrize("more", [[], ["--relative-threshold", "0.5"]])
def test_a_written_file_scores_what_a_run_says(cli, quoref, tmp_path, solver, more):
    options = ["-s", solver, "--cv", "2", "--ties", "first", *more]  # a file holds the first of a tie
    ran = cli("run", quoref, *options, "--format", "json")
    assert ran.code == 0, ran.err
    file = tmp_path / "predictions.json"
    assert cli("predict", quoref, *options, "-o", file).code == 0
    written = json.loads(file.read_text(encoding="utf-8"))
    assert all(isinstance(texts, list) and texts for texts in written.values())
    assert more or max(map(len, written.values())) == 1
    scored = cli("score", quoref, file, "--format", "json")
    assert scored.rows[0]["metrics"] == ran.rows[0]["metrics"]


def test_the_relative_threshold_is_for_several_spans(cli, quoref):
    plain, near = (
        cli("run", quoref, "-s", "span-sw", "--format", "json", *more).rows[0]
        for more in ([], ["--relative-threshold", "1000"])
    )
    assert "relative_threshold:1000.0" in near["signature"]
    assert near["selected_share"] > plain["selected_share"]
    assert near["params"]["decision"] == {"rule": "RelativeThreshold", "margin": 1000.0, "max_spans": None}
    unused = cli("run", "sample:single-choice", "-s", "sliding-window", "--relative-threshold", "1")
    assert "the relative threshold 1 is not used" in unused.err
    assert cli("run", quoref, "-s", "span-sw", "--relative-threshold", "-1").code == 2


def test_fitted_before_it_answers_as_fitted_now(cli, quoref, tmp_path):
    file = tmp_path / "lr.npz"
    assert cli("fit", quoref, "-s", "span-lr,negatives=5", "-o", file).code == 0
    saved = cli("run", quoref, "-s", f"saved,path={file}", "--format", "json")
    now = cli("run", quoref, "-s", "span-lr,negatives=5", "--train", quoref, "--format", "json")
    assert saved.rows[0]["metrics"] == now.rows[0]["metrics"]
    assert "learned from the data that is reported" in saved.err


@pytest.mark.parametrize("solver", SPAN_SOLVERS)
def test_scores_can_be_explained(cli, quoref, solver):
    done = cli("explain", quoref, "c0q1", "-s", solver, "--train", quoref, "--format", "json")
    assert done.code == 0, done.err
    explained = {c["text"]: c for c in json.loads(done.out)["candidates"]}
    assert explained["Pia"]["numbers"]
    assert [mark["kind"] for mark in explained["Pia"]["marks"]].count("candidate") == 1


def test_span_solvers_are_for_spans(cli):
    for solver in SPAN_SOLVERS:
        done = cli("run", "sample:single-choice", "-s", solver)
        assert done.code == 2
        assert "is for multi-span and span questions" in done.err


def test_quorefs_predictions_score_what_evaluate_says(cli, shared_data, tmp_path):
    """A few passages of Quoref, written in its official form and scored as any submission."""
    whole = json.loads((shared_data / "quoref" / "quoref-dev-v0.1.json").read_text(encoding="utf-8"))
    part = tmp_path / "part.json"
    part.write_text(json.dumps({**whole, "data": whole["data"][:4]}), encoding="utf-8")
    file = tmp_path / "predictions.json"
    assert cli("predict", part, "-s", "span-sw", "--ties", "first", "-o", file).code == 0
    scored = cli("score", part, file, "--format", "json").rows[0]["metrics"]
    assert scored == evaluate(load(part), [parse_solver("span-sw")], ties="first").rows[0].metrics()
