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
        # shape (draws, questions, statistics)
        drawn = np.array(
            [
                metric.statistics(dataset, Random(seed=seed).predict(dataset))
                for seed in range(DRAWS)
            ]
        )
        means = drawn.mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(DRAWS)
        expected = row.outcomes.statistics[metric.name].mean(axis=0)
        assert (np.abs(means.mean(axis=0) - expected) <= 4.5 * error + 1e-12).all(), metric.name


@pytest.mark.parametrize("task", list(Task))
def test_the_expectation_has_no_seed_and_no_order(task):
    dataset = synthetic_dataset(task)
    shuffled = Dataset([dataset[i] for i in np.random.default_rng(0).permutation(len(dataset))])
    rows = [
        evaluate(d, [Random(seed=s)]).rows[0]
        for d, s in ((dataset, 0), (dataset, 1), (shuffled, 0))
    ]
    for other_row in rows[1:]:
        assert other_row.metrics() == pytest.approx(rows[0].metrics(), abs=1e-12)
    assert rows[0].signature == rows[1].signature
    assert rows[0].seed is None
