"""Expectations over random answers: equal to their plain twin to the last bit, for any number of
options.
"""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from classic_rc.metrics import get_metric, metrics_for, selection_metric
from classic_rc.metrics.base import gold_of
from classic_rc.metrics.multirc import OptionCounts
from classic_rc.predictions import Prediction
from classic_rc.questions import Task
from classic_rc.solvers import Random

SELECTION_METRICS = [*metrics_for(Task.MULTIPLE_ANSWER), selection_metric("accuracy")]


def plain_selections(metric, questions, predictions):
    """The statistics of independent selections, with a tuple for each pair of tp and fp."""
    outcomes = []
    for i, (question, prediction) in enumerate(zip(questions, predictions, strict=True)):
        n_right, n = len(question.gold), len(question.candidates)
        for tp, of_tp in plain_binomial(n_right, prediction):
            for fp, of_fp in plain_binomial(n - n_right, prediction):
                outcomes.append((i, of_tp * of_fp, tp, fp, n_right, n))
    place, weight, *counts = np.array(outcomes, dtype=np.float64).T
    values = weight[:, None] * metric.of_counts(OptionCounts(*counts))
    rows = np.zeros((len(questions), values.shape[1]))
    np.add.at(rows, place.astype(np.int64), values)
    return rows


def plain_binomial(n, prediction):
    probability = prediction.selection_probability
    mass = np.ones(1)
    for _ in range(n):
        mass = np.convolve(mass, (1 - probability, probability))
    return enumerate(mass.tolist())


def plain_answers(metric, questions, predictions):
    """The weighted mean of the values of the answers."""
    rows = np.zeros((len(questions), 1))
    for i, (question, prediction) in enumerate(zip(questions, predictions, strict=True)):
        values = [metric.value(gold_of(question), answer) for answer in prediction.answers]
        if values:
            mean = np.average(values, weights=prediction.weights)
            rows[i, 0] = mean * prediction.answered_share
    return rows


@pytest.mark.parametrize("seed", range(300))
def test_random_selections_equal_their_twin(ask, seed):
    rng = random.Random(seed)
    questions, predictions = [], []
    for i in range(rng.randint(1, 8)):
        n = rng.choice((rng.randint(0, 6), rng.randint(0, 30)))
        gold = frozenset(rng.sample(range(n), rng.randint(0, n)))
        questions.append(ask(Task.MULTIPLE_ANSWER, gold, n, f"q{i}"))
        probability = rng.choice((0.5, 0.5, 0.0, 1.0, rng.uniform(0.05, 0.95)))
        predictions.append(Prediction(f"q{i}", (), selection_probability=probability))
    for metric in SELECTION_METRICS:
        expected = plain_selections(metric, questions, predictions)
        assert metric.statistics(questions, predictions).tolist() == expected.tolist(), metric.name


@pytest.mark.parametrize("task", [Task.CLOZE, Task.SPAN])
def test_random_texts_equal_their_twin(ask, task):
    rng = random.Random(0)
    questions = []
    for _ in range(300):
        gold = rng.choices([f"boat {i}" for i in range(10)], k=rng.randint(1, 3))
        questions.append(ask(task, tuple(gold), rng.randint(1, 30)))
    predictions = Random().expectation(questions)
    for name in ("em", "f1"):
        metric = get_metric(name)
        expected = plain_answers(metric, questions, predictions)
        assert metric.statistics(questions, predictions).tolist() == expected.tolist(), name


@pytest.mark.parametrize(("n_questions", "n_options"), [(300, 200), (1, 20_000)])
def test_many_options_need_little_memory(ask, n_questions, n_options):
    rng = random.Random(0)
    others = [rng.randint(0, n_options) for _ in range(n_questions - 1)]
    rights = [n_options // 2, *others]
    questions = [ask(Task.MULTIPLE_ANSWER, frozenset(range(r)), n_options) for r in rights]
    predictions = Random().expectation(questions)
    tracemalloc.start()
    rows = {m.name: m.statistics(questions, predictions) for m in SELECTION_METRICS}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    precision, recall = rows["f1_m"].T
    assert precision == pytest.approx([r / n_options for r in rights], abs=1e-12)
    assert recall == pytest.approx([0.5 if r else 1 for r in rights], abs=1e-12)
    expected = [[r / 2, n_options / 2, r] for r in rights]
    assert rows["f1_a"].ravel() == pytest.approx(np.ravel(expected), rel=1e-12)
    assert rows["em0"] == pytest.approx(0, abs=1e-40)
    assert rows["em1"] == pytest.approx(0, abs=1e-40)
    assert rows["accuracy"][:, 0] == pytest.approx(n_options / 2, rel=1e-12)
