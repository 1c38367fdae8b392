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

METRICS = pytest.mark.parametrize("metric", SELECTION_METRICS.values(), ids=SELECTION_METRICS)

some_floats = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from(
        [1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 5e-324, 1e17, -1e17, 1.7e308, -1.7e308]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def scored(draw, numbers=some_floats):
    rows = draw(st.lists(st.lists(numbers, max_size=5), min_size=1, max_size=6))
    gold = [
        draw(st.frozensets(st.integers(0, len(row) - 1))) if row else frozenset() for row in rows
    ]
    return Scores.from_lists(rows), gold


@METRICS
@settings(max_examples=examples(25, 150))
@given(case=scored())
def test_the_sweep_equals_trying_every_threshold(question, metric, case):
    scores, gold = case
    questions = [
        question(len(row), right, Task.MULTIPLE_ANSWER, f"q{i}")
        for i, (row, right) in enumerate(zip(scores, gold, strict=True))
    ]
    thresholds = cut_points(scores)
    values = metric.from_means(sweep_thresholds(metric, scores, questions, thresholds))
    tried = [
        metric(questions, Threshold(value=t).decide(scores, questions)) for t in thresholds.tolist()
    ]
    assert values == pytest.approx(tried, abs=1e-12)

    name = next(name for name, registered in SELECTION_METRICS.items() if registered is metric)
    tuned = TunedThreshold(metric=name).fit(scores, questions)
    assert tuned.best_score_ == pytest.approx(max(tried), abs=1e-12)
    assert metric(questions, tuned.decide(scores, questions)) == pytest.approx(
        max(tried), abs=1e-12
    )
    # The first of the best, up to the last digits: thresholds fall.
    earlier = [
        value for value, t in zip(tried, thresholds, strict=True) if t > tuned.best_threshold_
    ]
    assert all(value < max(tried) for value in earlier)


@given(scored())
def test_no_selection_is_missing_and_none_is_tried_twice(case):
    scores, _ = case
    thresholds = cut_points(scores)
    assert (np.diff(thresholds) < 0).all()
    n_above = [(scores.values > t).sum() for t in thresholds]
    ranks = [(scores.values > v).sum() for v in np.unique(scores.values)]
    assert sorted(set(n_above)) == n_above
    assert set(n_above) == {*ranks, len(scores.values)}


@given(
    scored(st.integers(-2, 2).map(lambda n: n / 2)),
    st.lists(st.floats(allow_nan=False), max_size=5),
)
def test_any_thresholds_can_be_asked_for_in_any_order(question, case, thresholds):
    scores, gold = case
    questions = [
        question(len(r), g, Task.MULTIPLE_ANSWER) for r, g in zip(scores, gold, strict=True)
    ]
    means = sweep_thresholds(F1Macro(), scores, questions, np.array(thresholds))
    for t, row in zip(thresholds, means, strict=True):
        single = (
            F1Macro()
            .statistics(questions, Threshold(value=t).decide(scores, questions))
            .mean(axis=0)
        )
        assert row == pytest.approx(single, abs=1e-12)


def test_the_released_grid():
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
