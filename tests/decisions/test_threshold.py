from __future__ import annotations

import re

import pytest
from sklearn.base import clone

from classic_rc.decisions import Threshold, TunedThreshold
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.metrics import SELECTION_METRICS
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from tests.errors import raises


@pytest.fixture
def one_wrong_on_top(question):
    """Five options from the best down: wrong, right, right, wrong, wrong."""
    query = question(5, frozenset({1, 2}), Task.MULTIPLE_ANSWER)
    return Scores.from_lists([[0.9, 0.7, 0.5, 0.1, -0.1]]), [query]


def test_a_threshold_selects_what_is_above_it(answers, question):
    query = question(3, frozenset({0}), Task.MULTIPLE_ANSWER)
    assert answers(Threshold(value=1.0), [1.0, 1.5, 0.0], query).answers == (frozenset({1}),)


def test_a_threshold_is_not_for_single_choice(answers):
    with raises(UsageError, field="questions", found="single-choice", expected="multiple-answer"):
        answers(Threshold(value=1.0), [1.0])


def test_an_untuned_threshold_is_an_error(answers, question):
    tuned = TunedThreshold()
    assert tuned.needs_fit
    with raises(NotFittedError, field="decision", found="TunedThreshold") as caught:
        answers(tuned, [1.0], question(1, frozenset({0}), Task.MULTIPLE_ANSWER))
    assert "Threshold(value=" in str(caught.value)
    assert "--threshold" in str(caught.value)


@pytest.mark.parametrize(
    ("metric", "threshold", "score"),
    [
        ("f1_a", 0.3, 4 / 5),
        ("f1_m", 0.3, 4 / 5),
        ("em0", 0.9, 0),
        ("em1", 0.3, 1),
        ("accuracy", 0.3, 4 / 5),
    ],
)
def test_each_metric_has_its_best_threshold(one_wrong_on_top, metric, threshold, score):
    tuned = TunedThreshold(metric=metric).fit(*one_wrong_on_top)
    assert not tuned.needs_fit
    assert tuned.best_threshold_ == pytest.approx(threshold)
    assert tuned.best_score_ == pytest.approx(score)


def test_of_equally_good_thresholds_the_highest_is_taken(question):
    questions = [question(3, frozenset({2}), Task.MULTIPLE_ANSWER)]
    scores = Scores.from_lists([[0.7, 0.6, 0.2]])
    # Nothing or everything selected: two or two labels of three wrong; one in between is no better.
    assert TunedThreshold(metric="accuracy").fit(scores, questions).best_threshold_ == 0.7
    # By the grid, every value of 0.7 and more selects as little.
    assert TunedThreshold(metric="accuracy", cuts="multirc2018").fit(
        scores, questions
    ).best_threshold_ == (pytest.approx(0.98))


def test_the_released_grid_has_only_its_own_values(one_wrong_on_top, question):
    tuned = TunedThreshold(cuts="multirc2018").fit(*one_wrong_on_top)
    assert tuned.best_threshold_ == pytest.approx(0.48)  # the highest below 0.5
    questions = [question(2, frozenset({0}), Task.MULTIPLE_ANSWER)]
    beyond = TunedThreshold(cuts="multirc2018").fit(Scores.from_lists([[7.0, 5.0]]), questions)
    assert beyond.best_score_ == pytest.approx(2 / 3)
    assert TunedThreshold().fit(Scores.from_lists([[7.0, 5.0]]), questions).best_score_ == 1


def test_parameters_are_cloned_and_fits_are_not(one_wrong_on_top):
    tuned = TunedThreshold(metric="em1", cuts="multirc2018").fit(*one_wrong_on_top)
    copy = clone(tuned)
    assert (copy.metric, copy.cuts) == ("em1", "multirc2018")
    assert copy.needs_fit


def test_a_threshold_is_tuned_for_metrics_of_selections(one_wrong_on_top):
    for name in SELECTION_METRICS:
        TunedThreshold(metric=name).fit(*one_wrong_on_top)
    facts = {
        "field": "multiple-answer metric",
        "found": "quoref_f1",
        "expected": re.compile("accuracy, em0"),
    }
    with raises(UsageError, **facts):
        TunedThreshold(metric="quoref_f1").fit(*one_wrong_on_top)


def test_unknown_cut_points_are_refused(one_wrong_on_top):
    with raises(UsageError, field="cuts", found="all", expected="one of exact, multirc2018"):
        TunedThreshold(cuts="all").fit(*one_wrong_on_top)


def test_infinite_scores_have_nothing_halfway(question):
    questions = [question(2, frozenset({0}), Task.MULTIPLE_ANSWER)]
    scores = Scores.from_lists([[1.0, float("inf")]])
    with raises(UsageError, field="scores", found="inf"):
        TunedThreshold().fit(scores, questions)
    assert TunedThreshold(cuts="multirc2018").fit(scores, questions).best_score_ == pytest.approx(
        2 / 3
    )


def test_gold_must_be_known_and_of_choices(question):
    scores = Scores.from_lists([[1.0, 2.0]])
    with raises(DataError, where="question q", problem=re.compile("hidden")):
        TunedThreshold().fit(scores, [question(2, None, Task.MULTIPLE_ANSWER)])
    with raises(UsageError, field="questions", found="cloze"):
        TunedThreshold().fit(scores, [question(2, ("option 1",), Task.CLOZE)])
