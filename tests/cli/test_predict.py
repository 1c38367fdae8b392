"""``classic-rc predict`` writes every format."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    ("name", "beginning"),
    [
        ("sample:single-choice", '{"question_id": "lantern.1", "candidate": 0'),
        ("superglue-multirc", '{"idx": 4, "passage": {"questions": [{"idx": 9, "answers": [{"idx": 30, "label":'),
        ("span", '{"question_id": "beans", "text": "'),
    ],
)
def test_without_a_format_the_datasets_own_is_written(cli, data, name, beginning):
    done = cli("predict", data(name), "-s", "sw+d")
    assert done.code == 0
    assert done.out.startswith(beginning)


def test_the_official_format_of_each_dataset_is_the_default(cli, own_files):
    scores = cli("predict", own_files / "mctest" / "sample.dev.tsv", "-s", "sw+d:mctest160").out
    lines = scores.splitlines()
    assert len(lines) == 3
    assert all(len(line.split("\t")) == 4 for line in lines)
    assert all(len(cell.split(",")) == 4 for line in lines for cell in line.split("\t"))
    assert all(number.strip()[-6] == "." for number in lines[0].split("\t")[0].split(","))
    (first, *_) = cli("predict", own_files / "multirc" / "sample.json", "-s", "sw+d").json
    assert set(first) == {"pid", "qid", "scores"}


def test_predict_needs_no_gold(cli, hidden, write):
    for options in ([], ["--decide"]):
        assert cli("predict", hidden, "-s", "sw+d", *options).code == 0
    rows = [
        {"passage": f"p{i}", "question": "q", "candidates": ["a", "bb"], "task": "multiple-answer"} for i in (1, 2)
    ]
    several = write("several-hidden.jsonl", rows)
    assert cli("predict", several, "-s", "longest").code == 0
    done = cli("predict", several, "-s", "longest", "--decide")
    done.fails(2, "gold", "--tune")
    decided = cli("predict", several, "-s", "longest", "--decide", "--threshold", "1.5").out
    assert [json.loads(line)["selected"] for line in decided.splitlines()] == [False, True] * 2
    tuned = cli("predict", several, "-s", "longest", "--decide", "--tune", "sample:multiple-answer")
    assert tuned.code == 0


def test_predict_says_where_one_of_equals_is_written(cli, write):
    rows = [{"passage": "p", "question": "q", "candidates": ["aa", "bb"], "gold": 1}]
    tied = write("tied.jsonl", rows)
    done = cli("predict", tied, "-s", "longest", "--decide")
    assert done.messages("note", "best score", "1 questions")
    assert cli("predict", tied, "-s", "longest", "--decide", "--quiet").err == ""
    assert cli("predict", tied, "-s", "longest").err == ""


def test_random_predicts_what_its_seed_draws(cli):
    draws = [cli("predict", "sample:single-choice", "-s", "random", "--seed", seed).out for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]


def test_predict_learns_from_training_data(cli, single, write):
    lasts = write("train.jsonl", [{"passage": "p", "question": "q", "candidates": ["a", "b", "c"], "gold": 2}])
    done = cli("predict", single, "-s", "constant-position:majority", "--train", lasts, "--decide")
    selected = [json.loads(line)["selected"] for line in done.out.splitlines()]
    assert selected == [False, False, True] * 3


def test_a_window_is_tuned_out_of_fold_where_there_is_nothing_else(cli, single):
    scores = cli("predict", single, "-s", "sliding-window:race")
    assert scores.code == 0
    assert len(scores.out.splitlines()) == 9


def test_predict_writes_the_same_in_any_number_of_processes(cli, monkeypatch):
    import joblib

    from classic_rc.evaluation import fitted_system as scoring

    monkeypatch.setattr(scoring, "MIN_SHARD_PASSAGES", 1)
    with joblib.parallel_config(backend="threading"):
        one, two = (cli("predict", "sample:cloze", "-s", "sw+d", "--jobs", jobs).out for jobs in (1, 2))
    assert one == two
