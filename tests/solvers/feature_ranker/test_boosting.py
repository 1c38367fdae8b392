"""The boosted trees of the ranker: columns, choice of their number, saved, explained."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels.logistic import Features
from classic_rc.kernels.trees import Trees
from classic_rc.questions import Dataset, Task
from classic_rc.solvers import FeatureRanker
from classic_rc.solvers.feature_ranker.boosting import (
    Forest,
    choose_n_trees,
    grow_trees,
    learn_bins,
    tree_columns,
)
from classic_rc.solvers.feature_ranker.training import Cases, Learner, weighted_sums
from classic_rc.testing import synthetic_dataset
from tests.depth import examples
from tests.solvers.feature_ranker.builders import (
    FIXED,
    SIZES,
    TASKS,
    assert_a_loaded_solver_is_equal,
    assert_numbers_add_up,
    random_values,
)

BOOSTED: dict[str, Any] = {**FIXED, "trees": 5}


@cache
def lessons(task: Task) -> Dataset:
    return synthetic_dataset(task, n_passages=150, seed=1)


@cache
def fitted(task: Task) -> FeatureRanker:
    return FeatureRanker(**BOOSTED).fit(lessons(task))


@settings(max_examples=examples(10, 60))
@given(SIZES, st.integers(0, 10**6))
def test_columns_compare_a_candidate_with_the_others(sizes, seed):
    values, offsets = random_values(sizes, seed, 1)
    feature, standard, lead, types, counts = tree_columns(values, np.arange(len(sizes)), offsets)
    assert np.array_equal(feature, values[:, 0])
    for q, (start, stop) in enumerate(pairwise(offsets)):
        of_question = values[start:stop, 0].tolist()
        assert set(types[start:stop]) <= {q}
        assert set(counts[start:stop]) <= {len(of_question)}
        for i, value in enumerate(of_question):
            others = of_question[:i] + of_question[i + 1 :]
            assert lead[start + i] == (value - max(others) if others else 0)
        assert standard[start:stop].sum() == pytest.approx(0)


def questions_of(n: int, noise: float, start: float) -> tuple[Learner, np.ndarray]:
    """Return questions whose right option is the only one with both of two features, but for noise.

    The learner has one column, what the sum of both features says, times `start`.
    """
    rng = np.random.default_rng(0)
    features_of = rng.integers(0, 3, (n, 4))  # neither, the first or the second
    right = rng.integers(0, 4, n)
    is_noisy = rng.random(n) < noise
    with_both = np.where(is_noisy, rng.integers(0, 4, n), right)
    features_of[np.arange(n), with_both] = 3
    values = np.stack([features_of & 1, features_of >> 1], axis=-1)
    values = values.reshape(-1, 2).astype(float)
    offsets = np.arange(0, 4 * n + 1, 4)
    types = np.zeros(n, dtype=np.int64)
    _, bins = learn_bins(values, types, offsets)
    is_right = np.arange(4) == right[:, None]
    cases = Cases.of(is_right.astype(np.int64).ravel(), offsets, one_is_right=True)
    features = Features(values.sum(axis=1, keepdims=True) * start, None)
    questions = np.arange(n)
    return Learner(features, cases, offsets, questions % 5, questions // 3), bins


def scores_with(learner: Learner, bins: np.ndarray, n_trees: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the linear scores, and those with some trees."""
    weights, _ = learner.fit(0.001)
    scores = weighted_sums(learner.features, weights, np.arange(len(bins[0])))
    trees = Trees.join(islice(grow_trees(bins, learner.cases, scores), n_trees))
    ungrouped = np.zeros(len(bins), dtype=np.int64)
    return scores, scores + trees.sums(bins, ungrouped, 1)[:, 0]


def test_a_gain_in_the_loss_alone_is_no_reason_for_trees():
    learner, bins = questions_of(1500, noise=0.3, start=0.25)
    assert choose_n_trees(learner, bins, 0.001) == 0
    scores, boosted = scores_with(learner, bins, 10)
    assert learner.cases.loss(boosted) < learner.cases.loss(scores)
    assert np.array_equal(learner.cases.hits(boosted), learner.cases.hits(scores))


def test_trees_learn_what_the_first_scores_do_not_say():
    learner, bins = questions_of(1500, noise=0.3, start=0)
    n_trees = choose_n_trees(learner, bins, 0.001)
    scores, boosted = scores_with(learner, bins, n_trees)
    assert learner.cases.loss(boosted) < learner.cases.loss(scores)
    assert learner.cases.hits(boosted).mean() > 0.7


def test_no_trees_are_used_where_there_is_nothing_to_learn():
    assert choose_n_trees(*questions_of(1500, noise=1, start=0), 0.001) == 0


def test_a_gain_on_one_passage_is_no_reason_for_trees():
    learner, bins = questions_of(300, noise=0.3, start=0)
    assert choose_n_trees(learner, bins, 0.001) > 0
    passages = np.where(learner.folds == 0, 0, learner.passages)
    assert choose_n_trees(learner._replace(passages=passages), bins, 0.001) == 0


@pytest.mark.parametrize("is_held", [True, False])
def test_no_trees_without_questions_on_both_sides(is_held):
    learner, bins = questions_of(50, noise=0, start=0)
    cases = learner.cases.select((learner.folds == 0) == is_held)
    assert choose_n_trees(learner._replace(cases=cases), bins, 0.001) == 0


def test_equal_best_options_share_a_hit():
    right, offsets = np.array([1, 0, 0, 1, 0]), np.array([0, 3, 5])
    cases = Cases.of(right, offsets, one_is_right=True)
    assert cases.hits(np.array([2.0, 2.0, 1.0, 0.0, 1.0])).tolist() == [0.5, 0.0]


@pytest.mark.parametrize("task", TASKS)
def test_trees_change_the_scores(task):
    solver, dataset = fitted(task), lessons(task)
    linear = FeatureRanker(**{**FIXED, "trees": 0}).fit(dataset)
    assert solver.signature_facts()["trees"] == 5
    assert "trees" not in linear.signature_facts()
    scores = solver.score_candidates(dataset)
    assert not np.array_equal(scores.values, linear.score_candidates(dataset).values)


@pytest.mark.parametrize("task", TASKS)
def test_trees_are_saved_and_explained(task, tmp_path):
    assert_a_loaded_solver_is_equal(fitted(task), lessons(task), tmp_path / "ranker.npz")
    assert_numbers_add_up(fitted(task), lessons(task)[:5])


@pytest.mark.parametrize("task", TASKS)
def test_scores_do_not_depend_on_other_questions_or_the_order_of_options(task):
    solver, dataset = fitted(task), lessons(task)
    scores = solver.score_candidates(dataset)
    for i in range(0, 60, 7):
        question, values = dataset[i], scores[i]
        assert np.array_equal(solver.score_candidates([question]).values, values)
        turned = replace(question, candidates=question.candidates[::-1], gold=None)
        assert np.allclose(solver.score_candidates([turned]).values[::-1], values, atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_the_same_bits_are_learned_from_questions_in_another_order(task):
    dataset = lessons(task)
    turned = FeatureRanker(**BOOSTED).fit(list(dataset)[::-1])
    scores = [solver.score_candidates(dataset) for solver in (fitted(task), turned)]
    assert np.array_equal(scores[0].values, scores[1].values)
    (_, arrays), (_, expected) = turned.fitted_state(), fitted(task).fitted_state()
    assert arrays.keys() == expected.keys()
    assert all(np.array_equal(arrays[name], expected[name]) for name in arrays)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("edges", lambda a: a[1:]),
        ("splits", lambda a: np.add(a, [1, 0, 0])),
        ("splits", lambda a: np.subtract(a, [1, 0, 0])),
        ("splits", lambda a: np.add(a, [0, 1000, 0])),
        ("splits", lambda a: a[1:]),
        ("steps", lambda a: a[1:]),
    ],
)
def test_trees_that_do_not_match_are_refused(name, change):
    solver = fitted(Task.SINGLE_CHOICE)
    arrays = solver.forest_.arrays()
    n_features = len(solver.columns_)
    assert len(Forest.restore(arrays, n_features).trees.splits) == 5
    name = f"trees.{name}"
    with pytest.raises(ValueError, match=r"."):
        Forest.restore({**arrays, name: change(arrays[name])}, n_features)
