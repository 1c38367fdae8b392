"""The sweep over all cut points equals trying each one, and costs no more than one sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.decisions import Threshold, TunedThreshold, cut_points, sweep_thresholds
from classic_rc.metrics import SELECTION_METRICS
from classic_rc.metrics.multirc import F1Macro
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from tests.depth import examples
from tests.simulated import scored_options

METRICS = pytest.mark.parametrize("name", SELECTION_METRICS)

NEIGHBOURS = [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0)]
EXTREMES = [5e-324, 1e17, -1e17, 1.7e308, -1.7e308]
some_floats = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from(NEIGHBOURS + EXTREMES),
    st.floats(allow_nan=False, allow_infinity=False),
)


def decide_above(threshold, scores, questions):
    return Threshold(value=threshold).decide(scores, questions)


@METRICS
@settings(max_examples=examples(25, 150))
@given(case=scored_options(some_floats))
def test_the_sweep_equals_trying_every_threshold(name, case):
    scores, questions = case
    metric, thresholds = SELECTION_METRICS[name], cut_points(scores)
    values = metric.from_means(sweep_thresholds(metric, scores, questions, thresholds))
    tried = []
    for threshold in thresholds.tolist():
        tried.append(metric(questions, decide_above(threshold, scores, questions)))
    assert values == pytest.approx(tried, abs=1e-12)

    tuned = TunedThreshold(metric=name).fit(scores, questions)
    best = pytest.approx(max(tried), abs=1e-12)
    assert tuned.best_score_ == best
    assert metric(questions, tuned.decide(scores, questions)) == best
    # The first of the best, up to the last digits: thresholds fall.
    earlier = np.array(tried)[thresholds > tuned.best_threshold_]
    assert (earlier < max(tried)).all()


@given(scored_options(some_floats))
def test_no_selection_is_missing_and_none_is_tried_twice(case):
    scores, _ = case
    thresholds = cut_points(scores)
    assert (np.diff(thresholds) < 0).all()
    n_above = [(scores.values > t).sum() for t in thresholds]
    ranks = [(scores.values > v).sum() for v in np.unique(scores.values)]
    assert sorted(set(n_above)) == n_above
    assert set(n_above) == {*ranks, len(scores.values)}


@given(
    scored_options(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])),
    st.lists(st.floats(allow_nan=False), max_size=5),
)
def test_any_thresholds_can_be_asked_for_in_any_order(case, thresholds):
    scores, questions = case
    metric = F1Macro()
    means = sweep_thresholds(metric, scores, questions, np.array(thresholds))
    for threshold, row in zip(thresholds, means, strict=True):
        decided = decide_above(threshold, scores, questions)
        expected = metric.statistics(questions, decided).mean(axis=0)
        assert row == pytest.approx(expected, abs=1e-12)


def test_the_released_grid_falls_from_0_98_in_75_steps():
    grid = cut_points(Scores.from_lists([[5.0]]), "multirc2018")
    assert len(grid) == 75
    assert grid[[0, -1]] == pytest.approx([0.98, -0.5])
    assert np.diff(grid) == pytest.approx(-0.02)


class CountedF1(F1Macro):
    """F1m that counts how many selections it is asked about."""

    n_asked = 0

    def of_counts(self, counts):
        self.n_asked += len(counts.tp)
        return super().of_counts(counts)


@pytest.mark.parametrize("n_questions", [10, 1000])
def test_each_candidate_is_looked_at_once_whatever_the_number_of_cuts(question, n_questions):
    rng = np.random.default_rng(0)
    scores = Scores.from_lists(rng.random((n_questions, 4)))
    questions = [question(4, frozenset({0, 2}), Task.MULTIPLE_ANSWER) for _ in range(n_questions)]
    metric = CountedF1()
    thresholds = cut_points(scores)
    assert len(thresholds) == 4 * n_questions + 1
    assert sweep_thresholds(metric, scores, questions, thresholds).shape == (4 * n_questions + 1, 2)
    assert metric.n_asked == n_questions + 4 * n_questions
