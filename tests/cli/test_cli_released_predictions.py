"""``classic-rc score`` on released predictions, and on gold itself."""

from __future__ import annotations

import json

import pytest

from classic_rc.datasets import load
from classic_rc.formats import write_predictions
from classic_rc.metrics import metrics_for
from classic_rc.predictions import Prediction
from classic_rc.questions import Task

RELEASED = {
    "human-01": (86.44, 83.77, 56.56),
    "lucene_paragraphs": (64.25, 60.04, 7.45),
    "simpleLR": (66.53, 63.18, 11.75),
    "allOnes": (61.00, 59.95, 0.84),
}


@pytest.mark.parametrize("name", RELEASED)
def test_released_multirc_predictions(cli, shared_data, name):
    folder = shared_data / "multirc"
    done = cli(
        "score", folder / "dev_83-fixedIds.json", folder / "baseline-scores" / f"{name}.json", "--format", "json"
    )
    metrics = done.row("score-file")["metrics"]
    assert tuple(round(100 * metrics[metric], 2) for metric in ("f1_m", "f1_a", "em0")) == RELEASED[name]


def test_released_multirc_scores_have_their_best_threshold_found(cli, shared_data):
    folder = shared_data / "multirc"
    raw = folder / "baseline-scores" / "raw" / "lucene_paragraphs-raw.json"
    dev = folder / "dev_83-fixedIds.json"
    here, cv5 = cli("score", dev, raw, "--tune", dev, "--tune-metric", "f1_m", "--format", "json").rows[:2]
    fixed = cli("score", dev, raw, "--threshold", here["threshold"], "--format", "json").row("score-file")
    assert here["tuned_here"]
    assert fixed["metrics"] == here["metrics"]
    assert here["metrics"]["f1_m"] >= cv5["metrics"]["f1_m"]
    assert here["metrics"]["f1_m"] >= 0.6425


FILES = [
    ("mctest/mc160.dev.tsv", None),
    ("mctest/mc500.train.tsv", None),
    ("race/RACE-train-dev.tar.gz", "dev"),
    ("multirc/dev_83-fixedIds.json", None),
    ("multirc/train_456-fixedIds.json", None),
    ("multirc/superglue/val.jsonl", None),
    ("record/record_explorer_123.json", None),
    ("record/record_fixture_12.json", None),
    ("record/superglue_format_example.jsonl", None),
    ("quoref/quoref-dev-v0.1.json", None),
    ("dream/dev.json", None),
    ("mcscript/dev-data.xml", None),
]


def gold_answer(question):
    if question.task is Task.MULTIPLE_ANSWER:
        return question.gold
    if question.task is Task.SINGLE_CHOICE:
        return frozenset({min(question.gold)})
    return question.gold if question.task is Task.MULTI_SPAN else question.gold[:1]


@pytest.mark.parametrize(("file", "split"), FILES)
def test_gold_scores_100_under_every_metric(cli, shared_data, tmp_path, file, split):
    path = shared_data / file
    dataset = load(path, split=split)
    gold = [Prediction(q.id, (gold_answer(q),), n_candidates=len(q.candidates)) for q in dataset]
    form = "mctest-answers" if dataset.reader == "mctest" else None
    write_predictions(tmp_path / "gold", dataset, None, gold, form)
    options = ["--split", split] if split else []
    done = cli("score", path, tmp_path / "gold", *options, "--format", "json", "--quiet")
    metrics = done.row("score-file")["metrics"]
    assert metrics == dict.fromkeys([metric.name for metric in metrics_for(dataset.task)], 1.0)


def test_released_scores_are_an_mctest_score_file(cli, shared_data, tmp_path):
    data = shared_data / "mctest" / "mc160.dev.tsv"
    released = shared_data / "mctest" / "scores" / "Baseline_SW_D" / "mc160.dev.scores"
    done = cli("predict", data, "-s", "sw+d:mctest160", "-o", tmp_path / "ours.scores")
    assert done.code == 0
    rows = [
        json.loads(cli("score", data, path, "--format", "json").out)["runs"][0]["rows"][0]
        for path in (released, tmp_path / "ours.scores")
    ]
    assert round(100 * rows[0]["metrics"]["accuracy"], 2) == 60.21
    assert rows[0]["metrics"] == rows[1]["metrics"]
    assert rows[0]["tie_rate"] == rows[1]["tie_rate"]
