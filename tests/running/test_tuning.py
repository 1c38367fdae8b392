"""Tuning out of fold, on a split and on the data themselves, and its notes and warnings."""

from __future__ import annotations

import re

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.decisions import TunedThreshold
from classic_rc.errors import DataError, UsageError
from classic_rc.folds import passage_groups
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.running.fitted_system import FittedSystem, iter_blocks
from classic_rc.running.plan import configure_solver
from classic_rc.solvers import LongestCandidate, Solver, parse_solver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

# Each passage has its own scale: its own threshold would be perfect, the other's is useless.
LOW = ("Low.", ["1", "2"], frozenset({1}))
HIGH = ("High.", ["11", "12"], frozenset({1}))


def test_thresholds_come_from_the_other_passages(dataset, says):
    questions = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH, LOW])
    (row,) = evaluate(questions, [says]).rows
    assert row.tuned_on == "cv5"
    assert sorted(row.threshold) == [1.5, 11.5]
    # By the high passage's 11.5 nothing low is selected; by the low one's 1.5 everything high is.
    assert list(row.outcomes.answers) == [[], [0, 1], []]
    assert row.metrics()["em0"] == 0


def test_equal_texts_are_never_on_both_sides(dataset, says):
    equal_passages = [("Same text.", *LOW[1:]), ("same  TEXT.", *LOW[1:])]
    with raises(UsageError) as refused:
        evaluate(dataset(Task.MULTIPLE_ANSWER, equal_passages), [says])
    assert "got 1" in str(refused.value)
    (row,) = evaluate(dataset(Task.MULTIPLE_ANSWER, [*equal_passages, HIGH]), [says]).rows
    assert list(row.outcomes.answers) == [[], [], [0, 1]]


def test_no_decision_is_fitted_on_what_it_answers(monkeypatch):
    questions = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12)
    group = dict(zip((q.id for q in questions), passage_groups(questions).tolist(), strict=True))
    fitted, decided = [], []
    fit, decide = TunedThreshold.fit, TunedThreshold.decide

    def note_fit(rule, scores, questions):
        fitted.append({group[q.id] for q in questions})
        return fit(rule, scores, questions)

    def note_decide(rule, scores, questions):
        decided.append({group[q.id] for q in questions})
        return decide(rule, scores, questions)

    monkeypatch.setattr(TunedThreshold, "fit", note_fit)
    monkeypatch.setattr(TunedThreshold, "decide", note_decide)
    evaluate(questions, [LongestCandidate()])
    assert len(fitted) == len(decided) == 5
    for learned, answered in zip(fitted, decided, strict=True):
        assert not learned & answered
        assert learned | answered == set(group.values())


def test_a_row_tuned_on_its_own_content_is_marked_and_followed_by_its_out_of_fold_row(
    dataset, says
):
    questions = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH])
    copy = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH], name="copy")
    here, cv5 = evaluate(questions, [says], tune=copy).rows
    assert (here.tuned_on, here.tuned_here, cv5.tuned_on, cv5.tuned_here) == (
        "copy",
        True,
        "cv5",
        False,
    )
    assert here.threshold == 1.5
    assert list(here.outcomes.answers) == [[1], [0, 1]]
    (alone,) = evaluate(questions, [says]).rows
    assert alone.signature == cv5.signature


def test_a_row_tuned_elsewhere_stands_alone(dataset, says):
    questions = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH])
    elsewhere = dataset(
        Task.MULTIPLE_ANSWER, [("Mid.", ["5", "6"], frozenset({1}))], name="elsewhere"
    )
    (row,) = evaluate(questions, [says], tune=elsewhere).rows
    assert (row.tuned_on, row.tuned_here, row.threshold) == ("elsewhere", False, 5.5)


def test_a_threshold_is_tuned_for_the_metric_named(dataset, says):
    """Half of the options right, and never all of a question's: F1a wants all, EM0 wants none."""
    rows = [(f"P{i}.", ["1", "2"], frozenset({0})) for i in range(4)]
    questions = dataset(Task.MULTIPLE_ANSWER, [*rows, ("E.", ["1"], frozenset())])
    by_metric = {}
    for metric in ("f1_a", "em0"):
        evaluation = evaluate(questions, [says], tune=questions, tune_metric=metric)
        by_metric[metric] = evaluation.rows[0]
    assert by_metric["f1_a"].threshold < 1
    assert by_metric["em0"].threshold >= 2
    with raises(UsageError, field="multiple-answer metric", found="quoref_f1"):
        evaluate(questions, [says], tune_metric="quoref_f1")


class RemembersPassages(Solver):
    """Tunes by remembering which passages it saw, and must never be asked about one of them."""

    def __init__(self, *, size="tuned", decision=None):
        self.size = size
        self.decision = decision

    @property
    def tunes_parameters(self):
        return True

    def tune(self, questions):
        self.seen_ = {q.passage.text for q in questions}
        self.size_ = len(self.seen_)
        return super().tune(questions)

    def score_candidates(self, questions):
        if hasattr(self, "decision_"):
            assert not {q.passage.text for q in questions} & self.seen_
        return Scores.from_lists([[float(len(c.text)) for c in q.candidates] for q in questions])


def test_parameters_come_from_the_other_passages():
    questions = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10)
    (row,) = evaluate(questions, [RemembersPassages()]).rows
    assert row.tuned_on == "cv5"
    assert row.tuned_params == {"size": [8] * 5}
    (longest,) = evaluate(questions, [LongestCandidate()]).rows
    assert row.metrics() == longest.metrics()
    assert row.outcomes.answers == longest.outcomes.answers
    assert row.no_evidence == 0


def test_a_window_is_tuned_where_told_and_said(dataset):
    questions = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10)
    tuning_data = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10, seed=1, name="other")
    race = parse_solver("sliding-window:race")
    (row,) = evaluate(questions, [race], tune=tuning_data).rows
    assert (row.tuned_on, row.tuned_here) == ("other", False)
    window = row.tuned_params["window"]
    fixed = parse_solver(f"sliding-window,analyzer=treebank,window={window}")
    assert evaluate(questions, [fixed]).rows[0].metrics() == row.metrics()
    best = evaluate(tuning_data, [fixed]).rows[0].metrics()["accuracy"]
    for size in (2, 5, 11, 30):
        fixed = parse_solver(f"sliding-window,analyzer=treebank,window={size}")
        assert evaluate(tuning_data, [fixed]).rows[0].metrics()["accuracy"] <= best
    here, cv5 = evaluate(questions, [race], tune=questions).rows
    assert here.tuned_here
    assert isinstance(here.tuned_params["window"], int)
    assert len(cv5.tuned_params["window"]) == 5
    assert here.metrics()["accuracy"] >= cv5.metrics()["accuracy"]


def test_a_window_and_a_threshold_are_not_tuned_together():
    questions = synthetic_dataset(Task.MULTIPLE_ANSWER)
    race = parse_solver("sliding-window:race")
    with raises(UsageError) as refused:
        evaluate(questions, [race])
    assert "threshold" in str(refused.value)
    (row,) = evaluate(questions, [race], threshold=2.0).rows
    assert (row.threshold, row.tuned_on) == (2.0, "cv5")
    assert "threshold:2.0" in row.signature


def test_cross_fitted_scores_stand_in_the_questions_order():
    questions = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10)
    scores = LongestCandidate().score_candidates(questions)
    for solver in (LongestCandidate(), RemembersPassages()):
        system = FittedSystem(configure_solver(solver, questions), questions, cross_fit=True)
        (block,) = iter_blocks(questions)
        scored = system.score(block)
        assert np.array_equal(scored.values, scores.values)
        assert np.array_equal(scored.offsets, scores.offsets)
        assert [p.question_id for p in system.decide(block, scored)] == [q.id for q in questions]
        solvers = {id(system.solver_of(i)) for i in range(len(questions))}
        assert len(solvers) == (5 if solver.tunes_parameters else 1)


@pytest.mark.parametrize("tune", [True, False])
def test_parameters_are_not_tuned_on_generated_spans(tune):
    questions = synthetic_dataset(Task.SPAN)
    with raises(UsageError, field="solver", found="sliding-window"):
        evaluate(questions, [parse_solver("sliding-window:race")], tune=questions if tune else None)


def test_tuning_data_must_fit(dataset, says):
    questions = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH])
    with raises(UsageError, field="tuning data", found="cloze", expected="multiple-answer"):
        evaluate(questions, [says], tune=synthetic_dataset(Task.CLOZE))
    hidden = dataset(Task.MULTIPLE_ANSWER, [LOW, (*HIGH[:2], None)], name="test")
    with raises(DataError, source="test", problem=re.compile("1 of 2 questions .* tuned")):
        evaluate(questions, [says], tune=hidden)


def test_shared_passages_and_questions_are_counted(dataset, says):
    questions = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH])
    rows = [("low.", ["5"], frozenset({0})), ("New.", ["5"], frozenset())]
    shares = dataset(Task.MULTIPLE_ANSWER, rows, name="dev")
    assert evaluate(questions, [says], tune=shares).warnings == (
        "tuning data dev has 1 of 2 questions of made, or their passages",
    )
    apart = dataset(Task.MULTIPLE_ANSWER, [("New.", ["5"], frozenset({0}))], name="dev")
    assert evaluate(questions, [says], tune=apart).warnings == ()
    assert evaluate(questions, [says], tune=questions).warnings == (
        "tuning data made is the data that is reported",
    )


def test_what_nothing_uses_is_named(dataset, says):
    single = synthetic_dataset(Task.SINGLE_CHOICE)
    unused_data = synthetic_dataset(Task.SINGLE_CHOICE, seed=5, name="other")
    unused_options = {
        "train": unused_data,
        "tune": unused_data,
        "threshold": 1.0,
        "tune_metric": "em0",
    }
    unused = [
        w
        for w in evaluate(single, [LongestCandidate()], **unused_options).warnings
        if "not used" in w
    ]
    assert [warning.partition(" is not used: ")[0] for warning in unused] == [
        "training data other",
        "tuning data other",
        "the threshold 1.0",
        "the metric 'em0'",
    ]
    multiple_answer = dataset(Task.MULTIPLE_ANSWER, [LOW, HIGH])
    (warning,) = evaluate(multiple_answer, [says], ties="first").warnings
    assert warning.startswith("the tie policy 'first' is not used")
