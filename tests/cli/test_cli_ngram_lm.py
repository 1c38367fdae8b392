"""The n-gram language model from the command line: learned, kept, run, explained."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize("spec", ["ngram-lm", "ngram-lm,order=2,corpus=passages+queries,cache_weight=0.1"])
def test_a_language_model_is_run_from_its_file(cli, tmp_path, spec):
    model = tmp_path / "model"
    done = cli("fit", "sample:cloze", "-s", spec, "-o", model)
    assert done.code == 0
    assert f"run it with -s saved,path={model}" in done.err
    saved = cli("run", "sample:cloze", "-s", f"saved,path={model}", "--format", "json")
    anew = cli("run", "sample:cloze", "-s", spec, "--train", "sample:cloze", "--format", "json")
    assert saved.row("saved:ngram-lm")["metrics"] == anew.row("ngram-lm")["metrics"]


def test_a_damaged_language_model_is_refused(cli, tmp_path):
    model = tmp_path / "model"
    cli("fit", "sample:cloze", "-s", "ngram-lm", "-o", model)
    content = model.read_bytes()
    model.write_bytes(content[: len(content) // 2])
    done = cli("run", "sample:cloze", "-s", f"saved,path={model}")
    assert (done.code, done.out) == (3, "")
    assert "it is no saved solver, or it was cut off or changed" in done.err


def test_a_text_file_is_learned_and_kept(cli, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The old lighthouse stood on the rock.\nNora waited there.\n", encoding="utf-8")
    done = cli("fit", "sample:single-choice", "-s", f"ngram-lm,corpus={text}", "-o", tmp_path / "model")
    assert done.code == 0
    text.unlink()
    done = cli("run", "sample:single-choice", "-s", f"saved,path={tmp_path / 'model'}", "--format", "json")
    assert "corpus:text.txt@" in done.row("saved:ngram-lm")["signature"]


@pytest.mark.parametrize("shape", ["single-choice", "multiple-answer", "cloze", "multi-span"])
def test_it_runs_on_every_kind_of_question(cli, shape):
    done = cli("run", f"sample:{shape}", "-s", "ngram-lm,normalise=length", "--format", "json")
    assert done.code == 0
    assert done.row("ngram-lm")["metrics"]


def test_predictions_and_explanations(cli):
    done = cli("predict", "sample:cloze", "-s", "ngram-lm")
    assert done.code == 0
    assert done.out.count("\n") > 3
    explained = cli(
        "explain", "sample:cloze", json.loads(done.out.splitlines()[0])["question_id"], "-s", "ngram-lm"
    )
    assert "log p(" in explained.out
    assert "other words" in explained.out


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        ("ngram-lm,order=7", 2, "parameter 'order' of ngram-lm must be one of 1, 2, 3, 4, 5, got 7"),
        ("ngram-lm,corpus=none.txt", 2, "there is no file 'none.txt'"),
        ("ngram-lm,scoring=partial", 2, "single-choice questions have none"),
        ("ngram-lm,corpus=queries", 2, "learns from gold answers"),
    ],
)
def test_what_cannot_be_is_one_sentence(cli, spec, code, message):
    done = cli("run", "sample:single-choice", "-s", spec)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
