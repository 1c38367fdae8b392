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


class NotesQuestions(Solver):
    """Keeps what fit shows it in a list outside, which no clone can lose."""

    fitted_questions: ClassVar[list]

    def __init__(self, *, name_of_list="seen", decision=None):
        self.name_of_list = name_of_list
        self.decision = decision

    def fit(self, questions, y=None):
        type(self).fitted_questions = list(questions)
        return self

    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


class NotesPassages(NotesQuestions):
    learns_from = "passages"


class NotesGold(NotesQuestions):
    learns_from = "gold"


DEV = synthetic_dataset(Task.SINGLE_CHOICE, name="dev")
TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=1, name="train")


@pytest.mark.parametrize("train", [None, TRAIN])
def test_who_learns_nothing_sees_no_gold(train):
    (row,) = evaluate(DEV, [NotesQuestions()], train=train).rows
    assert [q.id for q in NotesQuestions.fitted_questions] == [q.id for q in DEV]
    assert all(q.gold is None for q in NotesQuestions.fitted_questions)
    assert row.trained_on is None


def test_who_learns_from_passages_sees_all_of_them_and_no_gold():
    (row,) = evaluate(DEV, [NotesPassages()], train=TRAIN).rows
    passages = [q.passage for q in NotesPassages.fitted_questions]
    assert passages == [q.passage for q in (*TRAIN, *DEV)]
    assert all(q.gold is None and q.candidates == () for q in NotesPassages.fitted_questions)
    assert row.trained_on == "passages of train + dev"
    (alone,) = evaluate(DEV, [NotesPassages()]).rows
    assert alone.trained_on == "passages of dev"
    assert alone.signature != row.signature


def test_who_learns_from_gold_sees_the_training_data_alone():
    (row,) = evaluate(DEV, [NotesGold()], train=TRAIN).rows
    assert NotesGold.fitted_questions == list(TRAIN)
    assert row.trained_on == "train"
    with raises(UsageError) as refused:
        evaluate(DEV, [NotesGold()])
    assert "NotesGold learns from gold" in str(refused.value)
    with raises(
        UsageError, field="training data", found="cloze", expected="single-choice"
    ) as refused:
        evaluate(DEV, [NotesGold()], train=synthetic_dataset(Task.CLOZE))
    assert {"synthetic", "dev"} <= set(str(refused.value).split())


def test_several_datasets_to_learn_from_are_one():
    more = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=3, seed=2, name="more")
    (row,) = evaluate(DEV, [NotesGold()], train=[TRAIN, more]).rows
    texts = [q.text for q in NotesGold.fitted_questions]
    assert texts == [q.text for q in (*TRAIN, *more)]
    assert row.trained_on == "train + more"
    (joined,) = evaluate(DEV, [NotesGold()], train=join_datasets([TRAIN, more])).rows
    assert joined.signature == row.signature
    assert evaluate(DEV, [NotesGold()], train=[TRAIN]).rows[0].trained_on == "train"
    predict(DEV, NotesGold(), train=[TRAIN, more])
    assert len(NotesGold.fitted_questions) == len(TRAIN) + len(more)
    with raises(UsageError, field="datasets"):
        evaluate(DEV, [NotesGold()], train=[TRAIN, synthetic_dataset(Task.CLOZE)])


def test_the_same_holds_for_predictions():
    for solver, expected in ((NotesQuestions(), list(DEV)), (NotesPassages(), [*TRAIN, *DEV])):
        predict(DEV, solver, train=TRAIN)
        assert [q.id for q in type(solver).fitted_questions] == [q.id for q in expected]
        assert all(q.gold is None for q in type(solver).fitted_questions)


def test_a_majority_position_is_the_training_datas():
    (row,) = evaluate(DEV, [ConstantPosition(position="majority")], train=TRAIN).rows
    right = [min(q.gold) for q in TRAIN]
    most_often = max(sorted(set(right)), key=right.count)  # of equal ones the first
    (fixed,) = evaluate(DEV, [ConstantPosition(position=most_often)]).rows
    assert row.metrics() == fixed.metrics()


class Members(NotesQuestions):
    """A combination of the solvers in `combined`."""

    combined: tuple = ()
    members = property(lambda self: self.combined)


def test_only_what_learns_from_gold_is_trained():
    for solver, block in (
        (NotesQuestions(), Block.UNTRAINED),
        (NotesPassages(), Block.UNTRAINED),
        (NotesGold(), Block.TRAINED),
        (ConstantPosition(), Block.UNTRAINED),
        (ConstantPosition(position="majority"), Block.TRAINED),
    ):
        (row,) = evaluate(DEV, [solver], train=TRAIN).rows
        assert row.block is block, solver
    (row,) = evaluate(DEV, [NotesGold()], cv=2).rows
    assert row.block is Block.TRAINED


@pytest.mark.parametrize(
    ("members", "block"),
    [
        ([NotesQuestions()], Block.UNTRAINED),
        ([NotesQuestions(), ScoreFile()], Block.GIVEN),
        ([ScoreFile(), NotesGold()], Block.TRAINED),
    ],
)
def test_a_combination_is_what_its_members_are(members, block, monkeypatch):
    monkeypatch.setattr(Members, "combined", tuple(members))
    assert Block.of(Members()) is block


def test_a_tuned_threshold_is_no_training():
    multiple_answer = synthetic_dataset(Task.MULTIPLE_ANSWER, name="several")
    elsewhere = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=4, seed=1, name="elsewhere")
    (row,) = evaluate(multiple_answer, [parse_solver("sw+d")], train=elsewhere, tune=elsewhere).rows
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
    answers = evaluate(DEV, [solver]).rows[0].outcomes.answers
    first, second = DEV[:12], DEV[12:]
    parts = [evaluate(half, [solver]).rows[0].outcomes.answers for half in (first, second)]
    second_answers = evaluate(second, [solver]).rows[0].outcomes.answers
    assert parts[1] == second_answers
    assert len(parts[0]) + len(parts[1]) == len(answers)
