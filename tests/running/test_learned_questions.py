"""Which questions of a dataset a system learned from: in training data, or before the run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate, load
from classic_rc.folds import copied_questions
from classic_rc.results.result_table import row_notes
from classic_rc.results.signature import Signature
from classic_rc.running import plan
from classic_rc.solvers import SurfaceLR, save_solver
from classic_rc.solvers.base import TrainedOn

DATA = load("sample:single-choice")
TRAIN = replace(DATA[:12], name="train")
APART = replace(DATA[12:], name="rest")
IN_TRAIN = np.arange(len(DATA)) < 12


def named_rows(dataset, systems, **settings):
    return {row.name: row for row in evaluate(dataset, systems, **settings).rows}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "saved.npz"
    save_solver(SurfaceLR().fit(TRAIN), path)
    return f"saved,path={path}"


def learn(monkeypatch, mask):
    """Make the data that saved solvers learned from contain some of the questions."""
    monkeypatch.setattr(TrainedOn, "copied", lambda self, dataset: mask, raising=False)


def test_a_row_has_the_questions_that_its_training_data_has():
    rows = named_rows(DATA, ["sw+d", "surface-lr", "majority"], train=TRAIN)
    assert rows["sw+d"].copied is None
    for name in ("surface-lr", "majority"):
        assert np.array_equal(rows[name].copied, IN_TRAIN)
        assert Signature.parse(rows[name].signature).parts["copied"] == "12"
        assert row_notes(rows[name])[:2] == [
            "trained on train",
            "learned from 12 of these 24 questions (same passage or question)",
        ]
    assert "copied" not in rows["sw+d"].signature


def test_other_data_and_other_folds_have_no_copies():
    apart = named_rows(APART, ["surface-lr"], train=TRAIN)["surface-lr"]
    folds = named_rows(DATA, ["surface-lr"], cv=3)["surface-lr"]
    for row in (apart, folds):
        assert row.copied is None
        assert "copied" not in row.signature
    everything = replace(DATA, name="train")
    dropped = named_rows(APART, ["surface-lr"], train=everything, drop_overlap=True)["surface-lr"]
    assert dropped.copied is None
    assert named_rows(APART, ["surface-lr"], train=everything)["surface-lr"].copied.all()


def test_what_does_not_learn_from_gold_has_no_copies():
    rows = named_rows(DATA, ["ir:paragraphs", "random"], train=TRAIN)
    assert all(row.copied is None for row in rows.values())
    tuned = named_rows(DATA, ["combination,solvers=[sw; longest],weights=tuned"], tune=TRAIN)
    assert all(row.copied is None for row in tuned.values())


def test_the_members_of_a_combination_count():
    row = named_rows(DATA, ["combination,solvers=[sw+d; surface-lr]"], train=TRAIN)
    assert [np.array_equal(result_row.copied, IN_TRAIN) for result_row in row.values()] == [True]


def test_a_saved_solver_has_what_it_learned_before(saved, monkeypatch):
    mask = np.arange(len(DATA)) % 5 == 0
    learn(monkeypatch, mask)
    (row,) = (row for row in evaluate(DATA, [saved]).rows if row.solver.startswith("saved"))
    assert np.array_equal(row.copied, mask)
    assert not row.trained_elsewhere
    assert "trained on train" in row_notes(row)
    learn(monkeypatch, np.zeros(len(DATA), dtype=np.bool_))
    (row,) = (row for row in evaluate(DATA, [saved]).rows if row.solver.startswith("saved"))
    assert row.copied is None


def test_training_data_and_earlier_data_count_together(saved, monkeypatch):
    learn(monkeypatch, np.arange(len(DATA)) >= 20)
    systems = {"both": f"combination,solvers=[surface-lr; {saved}]"}
    row = named_rows(DATA, systems, train=TRAIN)["both"]
    assert np.flatnonzero(row.copied).tolist() == [*range(12), *range(20, 24)]


def test_copies_are_found_once_for_all_systems(monkeypatch):
    calls = []

    def count(dataset, train):
        calls.append(train.name)
        return copied_questions(dataset, train)

    monkeypatch.setattr(plan, "copied_questions", count)
    data = replace(DATA, name="fresh")
    evaluate(data, ["surface-lr", "majority", "lexical"], train=TRAIN)
    assert calls == ["train"]


def test_warnings_count_the_questions_that_are_affected(saved, monkeypatch):
    evaluation = evaluate(DATA, ["surface-lr"], train=TRAIN)
    assert "training data train has 12 of 24 questions of single-choice" in evaluation.warnings[
        0
    ].replace("sample:", "")
    learn(monkeypatch, IN_TRAIN)
    train = replace(DATA[8:16], name="train")
    unseen_half = replace(DATA[12:], name="part")
    assert evaluate(unseen_half, ["sw+d"], train=train, drop_overlap=True).warnings[0] == (
        "training data train has 4 of 12 questions of part, or their passages: 4 of its questions "
        "are left out"
    )
    learn(monkeypatch, np.ones(len(unseen_half), dtype=np.bool_))
    warnings = evaluate(unseen_half, {"old": saved}, train=train, drop_overlap=True).warnings
    assert (
        "old: drop_overlap changes nothing that it learned before this run; its value without "
        "copies is in the table"
    ) in warnings
    assert not any(
        "drop_overlap" in text for text in evaluate(unseen_half, {"old": saved}).warnings
    )


def figures_of(evaluation, group):
    """Value, interval and test of each row, by its signature."""
    figures = evaluation.measure(group=group)
    return {f.row.signature: (f.value, f.interval, f.test) for f in figures}


def test_jobs_and_the_order_of_systems_change_nothing():
    names = ["surface-lr", "sw+d", "majority"]
    evaluation = evaluate(DATA, names, train=TRAIN, intervals=50, baseline="sw+d")
    reordered = evaluate(DATA, names[::-1], train=TRAIN, intervals=50, baseline="sw+d", jobs=2)
    assert evaluation.results.shown_groups.keys() == {"without copies"}
    for group in (None, "without copies"):
        assert np.array_equal(evaluation.results.mask(group), reordered.results.mask(group))
        assert figures_of(evaluation, group) == figures_of(reordered, group)
