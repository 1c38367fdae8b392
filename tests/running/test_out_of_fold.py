"""Learning out of fold: a question is answered by a solver that has not seen its passage's gold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.decisions import Argmax, ExpectedF1, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.running.evaluate import predict
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import ConstantPosition, LongestCandidate, SpanRanker
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.own_solvers import Remembers

DATA = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, name="data")
SPANS = add_span_candidates(synthetic_dataset(Task.SPAN, n_passages=12, name="spans"))
MULTIPLE = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, name="several")


def test_no_question_is_answered_by_who_has_seen_it():
    scores = predict(DATA, Remembers(), decide=False, cv=5).scores
    assert not scores.values.any()
    assert predict(DATA, Remembers(), decide=False, train=DATA).scores.values.any()


@pytest.mark.parametrize("plan", [FoldPlan(3), FoldPlan(5), FoldPlan(4, "shelf")])
def test_a_solver_learns_from_all_other_folds(plan):
    shelves = [int(q.id[1 : q.id.index(",")]) // 2 for q in DATA]
    pairs = zip(DATA, shelves, strict=True)
    dataset = replace(DATA, questions=[replace(q, meta={"shelf": n}) for q, n in pairs])
    learned = []

    class NotesFolds(Remembers):
        def fit(self, questions, y=None):
            learned.append({q.id for q in questions})
            return super().fit(questions)

    (row,) = evaluate(dataset, [NotesFolds()], cv=plan.n_folds, group=plan.group).rows
    assert row.trained_on == plan.label
    assert f"trained_on:{plan.label}" in row.signature
    assert len(learned) == plan.n_folds
    groups = passage_groups(dataset, plan.group)
    left_out = [{q.id for q in dataset} - ids for ids in learned]
    assert set.union(*left_out) == {q.id for q in dataset}
    group_of = dict(zip((q.id for q in dataset), groups.tolist(), strict=True))
    groups_of_folds = [{group_of[id_] for id_ in ids} for ids in left_out]
    assert sum(map(len, groups_of_folds)) == len(set(group_of.values()))


def test_a_fold_learns_just_as_from_training_data():
    scores = predict(DATA, ConstantPosition(position="majority"), decide=False, cv=5).scores
    for others, fold in FoldPlan().folds(DATA):
        train = replace(DATA, questions=[DATA[i] for i in others])
        held_out = replace(DATA, questions=[DATA[i] for i in fold])
        solver = ConstantPosition(position="majority")
        alone = predict(held_out, solver, decide=False, train=train)
        assert np.array_equal(scores.take(fold).values, alone.scores.values)


def test_what_a_fit_leaves_to_be_said_is_said_once():
    evaluation = evaluate(DATA, [Remembers()], cv=5)
    assert evaluation.warnings == ("Remembers: it only remembers",)
    assert evaluation.rows[0].caveats == ("it only remembers",)
    assert evaluation.to_dict()["rows"][0]["caveats"] == ["it only remembers"]


def test_a_threshold_is_tuned_on_the_other_folds_out_of_fold_scores():
    (row,) = evaluate(MULTIPLE, [Remembers()], cv=3).rows
    assert row.tuned_on == row.trained_on == "cv3"
    assert len(row.threshold) == 3


def test_each_folds_solver_is_tuned_on_tuning_data():
    tune = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=4, seed=2, name="tune")
    (row,) = evaluate(MULTIPLE, [Remembers()], cv=3, tune=tune).rows
    assert (row.trained_on, row.tuned_on) == ("cv3", "tune")
    assert len(row.threshold) == 3
    alone = TunedThreshold().fit(Remembers().fit([]).score_candidates(tune), tune)
    assert row.threshold == [alone.best_threshold_] * 3


def test_folds_serve_thresholds_of_solvers_that_learn_nothing():
    (row,) = evaluate(MULTIPLE, [LongestCandidate()], cv=4).rows
    assert (row.tuned_on, row.trained_on, len(row.threshold)) == ("cv4", None, 4)


def test_folds_that_nobody_uses_are_said():
    (warning,) = evaluate(DATA, [LongestCandidate()], cv=4).warnings
    assert "4 folds are not used" in warning


def test_training_data_and_folds_exclude_each_other():
    with raises(UsageError, field="cv", found="5"):
        evaluate(DATA, [Remembers()], cv=5, train=DATA)


def test_nothing_is_learned_from_hidden_gold():
    hidden = replace(DATA, questions=[replace(q, gold=None) for q in DATA])
    with raises(UsageError, field="dataset", found="data"):
        predict(hidden, Remembers(), cv=5)


def test_spans_are_learned_out_of_fold_a_block_at_a_time():
    spans = synthetic_dataset(Task.SPAN, n_passages=6)

    class Counts(Remembers):
        def score_candidates(self, questions):
            seen = {q.id: float(q.id in self.seen_) for q in questions}
            return Scores.from_lists([seen[q.id]] * len(q.candidates) for q in questions)

    (row,) = evaluate(spans, [Counts()], cv=3).rows
    assert row.trained_on == "cv3"


def test_overlap_is_told_and_left_out_if_wanted():
    train = replace(DATA[:9], name="train")
    rest = replace(DATA, questions=DATA.questions[3:], name="rest")
    with_overlap = evaluate(rest, [Remembers()], train=train)
    shared = "training data train has 6 of 33 questions of rest, or their passages"
    assert with_overlap.warnings[0] == shared
    assert with_overlap.rows[0].metrics()["accuracy"] > 0
    left_out = evaluate(rest, [Remembers()], train=train, drop_overlap=True)
    assert left_out.warnings[0] == f"{shared}: 6 of its questions are left out"
    assert left_out.rows[0].signature != with_overlap.rows[0].signature
    with raises(UsageError) as refused:
        evaluate(DATA, [Remembers()], train=train, drop_overlap=True)
    assert "left of train" in str(refused.value)


@pytest.mark.parametrize("how", [{"cv": 3}, {"train": SPANS}])
def test_systems_that_differ_in_their_decision_learn_once(how, monkeypatch):
    learned, fit = [], SpanRanker.fit

    def watched(self, questions, y=None):
        learned.append(self.decision)
        return fit(self, questions)

    monkeypatch.setattr(SpanRanker, "fit", watched)
    systems = [SpanRanker(epochs=1), SpanRanker(epochs=1, decision=Argmax(ties="first"))]
    together = evaluate(SPANS, systems, **how).rows
    assert len(learned) == how.get("cv", 1)
    assert all(isinstance(decision, ExpectedF1) for decision in learned)
    for system, row in zip(systems, together, strict=True):
        (alone,) = evaluate(SPANS, [system], **how).rows
        assert row.signature == alone.signature
        assert row.metrics() == alone.metrics()
        assert row.tuned_params == alone.tuned_params
    assert ["decision:expected-f1" in row.signature for row in together] == [True, False]
    assert [row.ties for row in together] == [None, "first"]


def test_each_fold_answers_with_the_constants_of_its_own_solver(monkeypatch):
    constants = iter([0.5, 1.0, 2.0])

    def fit(self, scores, questions):
        self.scale_, self.exact_ = next(constants), 0.0
        return self

    used = []

    def decide(self, scores, questions):
        used.append((self.scale_, len(questions)))
        return Argmax().decide(scores, questions)

    monkeypatch.setattr(ExpectedF1, "fit", fit)
    monkeypatch.setattr(ExpectedF1, "decide", decide)
    evaluate(SPANS, [SpanRanker(epochs=1)], cv=3)
    assert sorted(scale for scale, _ in used) == [0.5, 1.0, 2.0]
    assert sum(n for _, n in used) == len(SPANS)
