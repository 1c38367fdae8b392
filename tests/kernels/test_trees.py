"""Trees: equal to plain Python to the bit, whatever the order of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels.reference import best_first_tree
from classic_rc.kernels.trees import (
    N_BINS,
    Growth,
    JoinedBins,
    Trees,
    bin_edges,
    bin_values,
    draw_pairs,
    grow_tree,
    pack_sums,
)
from tests.depth import examples

GROWTH = Growth(n_leaves=6, least=0.5, penalty=0.75)
UNGROUPED = np.zeros(5, dtype=np.int64)


def rows_of(n: int, seed: int, n_columns: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return bins, gradients and curvatures that are the same after rounding."""
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(1, N_BINS + 1, (n_columns, 1))
    bins = rng.integers(0, n_bins, (n_columns, n)).astype(np.uint8)
    gradient = rng.integers(-(2**12), 2**12, n) / 2**12
    return bins, gradient, rng.integers(0, 2**10, n) / 2**12


@settings(max_examples=examples(20, 200))
@given(
    n=st.integers(0, 60),
    seed=st.integers(0, 10**6),
    pairs=st.sets(st.integers(0, 2), min_size=1).map(sorted),
)
def test_a_tree_is_that_of_plain_python_to_the_bit(n, seed, pairs):
    bins, gradient, curvature = rows_of(n, seed)
    columns = [*pairs, *(pair + 3 for pair in pairs if pair < 2)]
    joined = JoinedBins.of(bins, np.arange(n))
    tree, added = grow_tree(joined, np.array(pairs), gradient, curvature, GROWTH)
    plain_rows = (rows.tolist() for rows in (gradient, curvature))
    expected, leaves = best_first_tree(bins.tolist(), columns, *plain_rows, *GROWTH[:4])
    n_splits = len(expected)
    (splits,), (steps,) = tree
    grown = zip(splits[:n_splits].tolist(), steps[:n_splits].tolist(), strict=True)
    assert [(*split, *split_steps) for split, split_steps in grown] == expected
    assert splits[n_splits:, 0].tolist() == [*range(n_splits + 1, GROWTH.n_leaves)]
    assert not steps[n_splits:].any()
    assert np.allclose(tree.sums(bins, UNGROUPED, 1)[:, 0], added, rtol=0, atol=1e-12)
    assert all(len(set(added[rows])) == 1 for rows in leaves if rows)


def test_the_histogram_of_many_rows_is_the_sum_of_those_of_few():
    bins, gradient, curvature = rows_of(4000, 0)
    joined, packed = JoinedBins.of(bins, np.arange(4000)), pack_sums(gradient, curvature).packed
    pairs = np.array([0, 2])
    parts = [joined.histograms(pairs, packed, rows) for rows in np.split(np.arange(4000), 4)]
    assert np.array_equal(joined.histograms(pairs, packed, slice(None)), np.sum(parts, axis=0))


@settings(max_examples=examples(5, 30))
@given(seed=st.integers(0, 10**6))
def test_the_order_of_rows_changes_no_bit(seed):
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, N_BINS, (9, 4000), dtype=np.uint8)
    gradient = rng.normal(size=4000) + bins[3] / 50 - 0.6
    curvature = rng.random(4000)
    pairs = draw_pairs(5, seed, GROWTH._replace(share=0.7))

    def grow(rows):
        return grow_tree(JoinedBins.of(bins, rows), pairs, gradient[rows], curvature[rows], GROWTH)

    order = rng.permutation(4000)
    tree, added = grow(np.arange(4000))
    reordered, added_in_order = grow(order)
    assert np.array_equal(added[order], added_in_order)
    assert tree.steps.all()
    assert all(map(np.array_equal, tree, reordered))


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e12])
@pytest.mark.parametrize("n", [1, 1000, 300_000])
def test_packed_sums_are_exact(n, scale):
    rng = np.random.default_rng(n)
    gradient, curvature = rng.normal(size=n), rng.random(n) * scale
    sums = pack_sums(gradient, curvature)
    total = sums.packed.sum(keepdims=True)
    assert total[0] == sums.packed[::-1].cumsum()[-1]
    rounded = np.stack(sums.unpack(sums.packed))  # short binary fractions
    assert np.stack(sums.unpack(total))[:, 0].tolist() == rounded.sum(axis=1).tolist()
    assert rounded[0].sum() == pytest.approx(gradient.sum(), abs=n**0.5 * 0.01)


def test_groups_add_up_to_what_a_tree_adds():
    bins, gradient, curvature = rows_of(500, 1)
    joined = JoinedBins.of(bins, np.arange(500))
    tree, added = grow_tree(joined, np.arange(3), gradient, curvature, GROWTH)
    by_group = tree.sums(bins, np.arange(5) % 3, 3)
    assert np.allclose(by_group.sum(axis=1), added, rtol=0, atol=1e-12)
    assert by_group.any(axis=0).sum() > 1


@settings(max_examples=examples(20, 200))
@given(
    values=st.lists(st.sampled_from([-1.0, 0.0, 1 / 3, 0.5, 2.0, 7.0]), max_size=300),
    seed=st.integers(0, 10**6),
)
def test_rounding_changes_no_bin(values, seed):
    exact = np.array(values)
    noise = np.random.default_rng(seed).uniform(-1e-15, 1e-15, len(values))
    edges = bin_edges(exact + noise)
    assert len(edges) == N_BINS - 1
    assert (np.diff(edges[edges < np.finfo(float).max]) > 0).all()
    bins = bin_values(exact, edges)
    assert np.array_equal(bins, bin_values(exact + noise, edges))
    assert np.array_equal(bins, bin_values(exact - noise, edges))


def test_edges_are_between_quantiles():
    values = np.random.default_rng(0).permutation(6400) / 7
    counts = np.bincount(bin_values(values, bin_edges(values)))
    assert counts.tolist() == [100] * N_BINS


def test_each_tree_draws_its_pairs():
    growth = Growth(share=0.25)
    draws = [draw_pairs(40, number, growth).tolist() for number in range(50)]
    assert {len(draw) for draw in draws} == {10}
    assert set().union(*draws) == set(range(40))
    assert draws[7] == draw_pairs(40, 7, growth).tolist()


def test_joined_trees_add_what_each_tree_adds():
    bins, gradient, curvature = rows_of(300, 2)
    joined, group_of = JoinedBins.of(bins, np.arange(300)), np.arange(5) % 2
    pairs = np.arange(3)[:, None]
    trees = [grow_tree(joined, pair, gradient, curvature, GROWTH)[0] for pair in pairs]
    expected = sum(tree.sums(bins, group_of, 2) for tree in trees)
    forest = Trees.join(trees)
    assert np.array_equal(forest.sums(bins, group_of, 2), expected)
    assert np.array_equal(forest.sums(bins[:, 7:9], group_of, 2), expected[7:9])
