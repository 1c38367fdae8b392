"""Solvers see only the data that they declare to learn from, and never the gold that is
reported.
"""

from __future__ import annotations

from typing import ClassVar

import pytest

from classic_rc import evaluate
from classic_rc.datasets import join_datasets
from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.results.outcomes import Block
from classic_rc.running.evaluate import predict
from classic_rc.solvers import ConstantPosition, ScoreFile, Solver, parse_solver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises


class Watches(Solver):
    """Keeps what fit shows it in a list outside, which no clone can lose."""

    shown: ClassVar[list]

    def __init__(self, *, name_of_list="seen", decision=None):
        self.name_of_list = name_of_list
        self.decision = decision

    def fit(self, questions, y=None):
        type(self).shown = list(questions)
        return self

    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


class WatchesPassages(Watches):
    learns_from = "passages"


class WatchesGold(Watches):
    learns_from = "gold"


DEV = synthetic_dataset(Task.SINGLE_CHOICE, name="dev")
TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=1, name="train")


@pytest.mark.parametrize("train", [None, TRAIN])
def test_who_learns_nothing_sees_no_gold(train):
    (row,) = evaluate(DEV, [Watches()], train=train).rows
    assert [q.id for q in Watches.shown] == [q.id for q in DEV]
    assert all(q.gold is None for q in Watches.shown)
    assert row.trained_on is None


def test_who_learns_from_passages_sees_all_of_them_and_no_gold():
    (row,) = evaluate(DEV, [WatchesPassages()], train=TRAIN).rows
    assert [q.passage for q in WatchesPassages.shown] == [q.passage for q in (*TRAIN, *DEV)]
    assert all(q.gold is None and q.candidates == () for q in WatchesPassages.shown)
    assert row.trained_on == "passages of train + dev"
    (alone,) = evaluate(DEV, [WatchesPassages()]).rows
    assert alone.trained_on == "passages of dev"
    assert alone.signature != row.signature


def test_who_learns_from_gold_sees_the_training_data_alone():
    (row,) = evaluate(DEV, [WatchesGold()], train=TRAIN).rows
    assert WatchesGold.shown == list(TRAIN)
    assert row.trained_on == "train"
    with raises(UsageError) as refused:
        evaluate(DEV, [WatchesGold()])
    assert "WatchesGold learns from gold" in str(refused.value)
    with raises(
        UsageError, field="training data", found="cloze", expected="single-choice"
    ) as refused:
        evaluate(DEV, [WatchesGold()], train=synthetic_dataset(Task.CLOZE))
    assert {"synthetic", "dev"} <= set(str(refused.value).split())


def test_several_datasets_to_learn_from_are_one():
    other = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=3, seed=2, name="more")
    (row,) = evaluate(DEV, [WatchesGold()], train=[TRAIN, other]).rows
    assert [q.text for q in WatchesGold.shown] == [q.text for q in (*TRAIN, *other)]
    assert row.trained_on == "train + more"
    (joined,) = evaluate(DEV, [WatchesGold()], train=join_datasets([TRAIN, other])).rows
    assert joined.signature == row.signature
    assert evaluate(DEV, [WatchesGold()], train=[TRAIN]).rows[0].trained_on == "train"
    predict(DEV, WatchesGold(), train=[TRAIN, other])
    assert len(WatchesGold.shown) == len(TRAIN) + len(other)
    with raises(UsageError, field="datasets"):
        evaluate(DEV, [WatchesGold()], train=[TRAIN, synthetic_dataset(Task.CLOZE)])


def test_the_same_holds_for_predictions():
    for solver, shown in ((Watches(), list(DEV)), (WatchesPassages(), [*TRAIN, *DEV])):
        predict(DEV, solver, train=TRAIN)
        assert [q.id for q in type(solver).shown] == [q.id for q in shown]
        assert all(q.gold is None for q in type(solver).shown)


def test_a_majority_position_is_the_training_datas():
    (row,) = evaluate(DEV, [ConstantPosition(position="majority")], train=TRAIN).rows
    right = [min(q.gold) for q in TRAIN]
    most_often = max(range(max(right) + 1), key=lambda position: (right.count(position), -position))
    (fixed,) = evaluate(DEV, [ConstantPosition(position=most_often)]).rows
    assert row.metrics() == fixed.metrics()


class Members(Watches):
    """A combination of the solvers in `combined`."""

    combined: tuple = ()
    members = property(lambda self: self.combined)


def test_only_what_learns_from_gold_is_trained():
    for solver, block in (
        (Watches(), Block.UNTRAINED),
        (WatchesPassages(), Block.UNTRAINED),
        (WatchesGold(), Block.TRAINED),
        (ConstantPosition(), Block.UNTRAINED),
        (ConstantPosition(position="majority"), Block.TRAINED),
    ):
        (row,) = evaluate(DEV, [solver], train=TRAIN).rows
        assert row.block is block, solver
    (row,) = evaluate(DEV, [WatchesGold()], cv=2).rows
    assert row.block is Block.TRAINED


@pytest.mark.parametrize(
    ("members", "block"),
    [
        ([Watches()], Block.UNTRAINED),
        ([Watches(), ScoreFile()], Block.GIVEN),
        ([ScoreFile(), WatchesGold()], Block.TRAINED),
    ],
)
def test_a_combination_is_what_its_members_are(members, block, monkeypatch):
    monkeypatch.setattr(Members, "combined", tuple(members))
    assert Block.of(Members()) is block


def test_a_tuned_threshold_is_no_training():
    several = synthetic_dataset(Task.MULTIPLE_ANSWER, name="several")
    elsewhere = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=4, seed=1, name="elsewhere")
    (row,) = evaluate(several, [parse_solver("sw+d")], train=elsewhere, tune=elsewhere).rows
    assert (row.tuned_on, row.block) == ("elsewhere", Block.UNTRAINED)
    assert row.threshold is not None


def test_training_on_the_reported_data_is_warned_about():
    (warning,) = evaluate(DEV, [ConstantPosition(position="majority")], train=DEV).warnings
    assert warning == "training data dev is the data that is reported"
    # the empty passage stands in every synthetic dataset
    apart = TRAIN.filter(lambda q: q.passage.text)
    assert evaluate(DEV, [ConstantPosition(position="majority")], train=apart).warnings == ()


def test_each_dataset_is_fitted_by_itself():
    solver = parse_solver("sw+d:mcobzarenco")
    whole = evaluate(DEV, [solver]).rows[0].outcomes.answers
    first, second = DEV[:12], DEV[12:]
    parts = [evaluate(part, [solver]).rows[0].outcomes.answers for part in (first, second)]
    again = evaluate(second, [solver]).rows[0].outcomes.answers
    assert parts[1] == again
    assert len(parts[0]) + len(parts[1]) == len(whole)
