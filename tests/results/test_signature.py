"""The signature: the same signature has the same numbers, and another choice has another
signature.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from classic_rc import __version__, evaluate
from classic_rc.decisions import Argmax
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.results.signature import (
    Signature,
    changed_params,
    file_digest,
    file_signature,
    plain_params,
)
from classic_rc.solvers import (
    LongestCandidate,
    Random,
    SavedSolver,
    SlidingWindow,
    Solver,
    parse_solver,
)
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import stop_words
from classic_rc.text.spans import SpanGenerator

DATASET = synthetic_dataset(Task.SINGLE_CHOICE, name="dev")
SEVERAL = synthetic_dataset(Task.MULTIPLE_ANSWER, name="several")
OTHER = synthetic_dataset(Task.MULTIPLE_ANSWER, seed=1, name="other")
SHORT = DATASET.fingerprint[:8]


def row_of(dataset, spec, **options):
    solver = parse_solver(spec) if isinstance(spec, str) else spec
    return evaluate(dataset, [solver], **options).rows[0]


def test_it_says_what_it_takes_to_get_the_number_again():
    row = row_of(DATASET, "sw+d:mctest160", ties="first")
    assert row.signature == (
        f"solver:sw+d|variant:mctest160|analyzer:mctest|ties:first|data:{DATASET.fingerprint}|questions:24|"
        f"version:{__version__}"
    )
    assert (
        row.short_signature == f"sw+d|v:mctest160|a:mctest|t:first|d:{SHORT}|n:24|rc:{__version__}"
    )


@pytest.mark.parametrize(
    ("spec", "options", "field"),
    [
        ("sliding-window,window=5", {}, "window:5"),
        ("sliding-window,analyzer=word+porter", {}, "analyzer:word+porter"),
        ("sliding-window,inverse_counts=corpus", {}, "inverse_counts:corpus"),
        ("sw+d,distance_weight=3", {}, "distance_weight:3"),
        ("sw+d,stop_words=lucene", {}, "stop_words:lucene"),
        ("sw+d", {"ties": "strict"}, "ties:strict"),
        ("sw+d", {"ties": "random", "seed": 4}, "seed:4"),
        (LongestCandidate(decision=Argmax(tie_tolerance=0.5)), {}, "tie_tolerance:0.5"),
    ],
)
def test_each_choice_is_a_part_and_none_is_without_it(spec, options, field):
    row = row_of(DATASET, spec, **options)
    assert field in row.signature.split("|")
    plain = row_of(DATASET, spec.partition(",")[0] if isinstance(spec, str) else "longest")
    assert field not in plain.signature


def test_tuning_and_training_data_go_by_their_content():
    tuned = row_of(SEVERAL, "longest", tune=OTHER)
    assert f"tuned_on:other@{OTHER.fingerprint[:8]}" in tuned.signature.split("|")
    assert "tuned_for:f1_a" in tuned.signature.split("|")
    assert "threshold" not in tuned.signature
    assert "tuned_on:cv5" in row_of(SEVERAL, "longest").signature.split("|")
    assert "threshold:2.5" in row_of(SEVERAL, "longest", threshold=2.5).signature.split("|")
    trained = row_of(DATASET, "constant-position:majority", train=DATASET)
    assert f"trained_on:dev@{SHORT}" in trained.signature.split("|")
    corpus = row_of(DATASET, "sliding-window:mcobzarenco")
    assert f"trained_on:passages of dev@{SHORT}" in corpus.signature.split("|")


def test_spans_and_split_are_parts():
    spans = synthetic_dataset(Task.SPAN)
    short, long = (
        row_of(spans, "sw+d", spans=SpanGenerator(max_tokens=k)).signature for k in (2, 3)
    )
    assert short != long
    assert "max_tokens=2" in short


def test_an_expectation_says_so_and_has_no_seed():
    assert "expected:yes" in row_of(DATASET, Random(seed=4)).signature.split("|")
    assert "seed" not in row_of(DATASET, Random(seed=4)).signature


def test_the_same_number_on_another_machine_has_the_same_signature(tmp_path):
    def signature_with(folder, words):
        stop_words.cache_clear()
        file = tmp_path / folder / "stop.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(words, encoding="utf-8")
        return row_of(DATASET, f"sw+d,stop_words={file}").signature

    here = signature_with("here", "the\nof\n")
    assert "stop_words:stop.txt@" in here
    assert signature_with("there", "the\nof\n") == here
    assert signature_with("there", "the\n") != here


def test_a_files_scores_go_by_their_content(tmp_path):
    file = tmp_path / "theirs.jsonl"
    lines = (json.dumps({"id": question.id, "answer": "A"}) for question in DATASET)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (row,) = evaluate(DATASET, [str(file)]).rows
    assert f"file:{file_digest(str(file))}" in row.signature.split("|")
    assert f"file:{file_digest(str(file))[:8]}" in row.short_signature.split("|")
    assert str(tmp_path) not in row.signature
    assert row.params == {"path": str(file)}
    assert changed_params(SavedSolver(path=str(file)), None)["path"] == file_signature(str(file))
    assert file_signature(str(file)) == f"theirs.jsonl@{file_digest(str(file))[:8]}"
    assert file_signature("no such file") == file_digest("no such file") == "no such file"


class Needs(Solver):
    """A constructor that takes no decision and has a parameter without a default."""

    def __init__(self, *, scale, path=None):
        self.scale = scale
        self.path = path

    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


def test_parameters_without_default_are_always_a_part():
    row = row_of(DATASET, Needs(scale=float("inf")))
    assert "scale:inf" in row.signature.split("|")
    assert "path" not in row.signature
    assert plain_params(Needs(scale=float("inf"))) == {"scale": "inf", "path": None}


def test_parameters_that_a_variant_says_are_left_to_its_name():
    assert changed_params(parse_solver("sw+d:mctest500"), "mctest500") == {"analyzer": "mctest"}
    assert changed_params(parse_solver("sw+d:mctest500,window=3"), None) == {
        "analyzer": "mctest",
        "window": 3,
        "stop_words": "mctest",
    }
    assert changed_params(SlidingWindow(), None) == {"analyzer": "word"}


PRINT = """
import classic_rc
data = classic_rc.load("sample:single-choice")
specs = ("sw+d,window=4,stop_words=lucene", "sw+d:mcobzarenco", "longest")
solvers = [classic_rc.parse_solver(spec) for spec in specs]
for row in classic_rc.evaluate(data, solvers, ties="random", seed=3).rows:
    print(row.signature, row.metrics())
"""


@pytest.mark.ci
def test_it_is_the_same_in_every_process():
    def output(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PRINT]
        return subprocess.run(command, capture_output=True, check=True, env=environment).stdout

    assert output("0") == output("1")
    assert len(output("0").splitlines()) == 3


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("sw+d:mctest160", {"ties": "first"}),
        ("sliding-window,window=5,analyzer=word+porter", {}),
        ("random", {"seed": 3}),
        ("combination,solvers=[sw+d; longest],weights=[1; 2]", {}),
        ("constant-position:majority", {"train": DATASET}),
    ],
)
def test_a_signature_is_read_back(spec, options):
    row = row_of(DATASET, spec, **options)
    signature = Signature.parse(row.signature)
    assert str(signature) == row.signature
    assert signature.short == row.short_signature
    with_short_digest = row.signature.replace(DATASET.fingerprint, SHORT)
    assert str(Signature.parse(row.short_signature)) == with_short_digest
    assert signature.parts["data"] == DATASET.fingerprint


def test_a_bar_in_a_value_ends_no_part():
    signature = Signature({"solver": "sw+d", "stop_words": "a|b.txt@0123", "questions": "3"})
    assert Signature.parse(str(signature)) == signature
    with pytest.raises(ValueError, match="not a signature: ''"):
        Signature.parse("")
