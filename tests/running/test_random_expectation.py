"""The closed-form expectation of random answers equals the mean over many draws, on every task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.metrics import metrics_for
from classic_rc.questions import Dataset, Task
from classic_rc.solvers import Random
from classic_rc.testing import synthetic_dataset
from classic_rc.text.spans import SpanGenerator

DRAWS = 200


@pytest.mark.parametrize("task", list(Task))
def test_expectation_is_the_mean_of_the_draws(task):
    dataset = synthetic_dataset(task, n_passages=4)
    spans = SpanGenerator(max_tokens=2)
    (row,) = evaluate(dataset, [Random()], spans=spans).rows
    assert row.expected
    if task.has_spans:
        spans_of = {id(p): tuple(spans(p)) for p in dataset.passages}
        dataset = Dataset([replace(q, candidates=spans_of[id(q.passage)]) for q in dataset])
    for metric in metrics_for(task):
        draws = (Random(seed=seed).predict(dataset) for seed in range(DRAWS))
        # shape (draws, questions, statistics)
        drawn = np.array([metric.statistics(dataset, predictions) for predictions in draws])
        means = drawn.mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(DRAWS)
        expected = row.outcomes.statistics[metric.name].mean(axis=0)
        distance = np.abs(means.mean(axis=0) - expected)
        assert (distance <= 4.5 * error + 1e-12).all(), metric.name


@pytest.mark.parametrize("task", list(Task))
def test_the_expectation_has_no_seed_and_no_order(task):
    dataset = synthetic_dataset(task)
    order = np.random.default_rng(0).permutation(len(dataset))
    shuffled = Dataset([dataset[i] for i in order])
    (row,) = evaluate(dataset, [Random(seed=0)]).rows
    for questions, seed in ((dataset, 1), (shuffled, 0)):
        (other_row,) = evaluate(questions, [Random(seed=seed)]).rows
        assert other_row.metrics() == pytest.approx(row.metrics(), abs=1e-12)
        if questions is dataset:
            assert other_row.signature == row.signature
    assert row.seed is None
