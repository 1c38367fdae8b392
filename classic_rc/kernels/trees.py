"""Boosted regression trees over binned columns, grown best first from histograms of exact sums.

Friedman 2001 (gradient boosting), with the second-order gain and leaf values of Chen and Guestrin
2016 (XGBoost, equations 5 and 7), leaves split best first (Shi 2007).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.draws import uniform_draws

N_BINS = 64
"""The most bins of a column."""
_SAME = 1e-9
"""Values that differ by less, or by less in units of the column's largest, are in one bin."""
_FINEST = 20
"""The binary digits of the largest gradient and curvature, at most."""
_MANTISSA = 53


class Growth(NamedTuple):
    """How trees are grown."""

    n_leaves: int = 63  # of a tree, at most
    least: float = 50.0  # the least sum of curvatures in a leaf
    penalty: float = 10.0  # what is added to the curvature of a leaf
    shrinkage: float = 0.05  # the factor of the leaves' values
    share: float = 0.25  # the share of the columns that a tree can use


class Trees(NamedTuple):
    """Trees as sequences of splits, all of the same length.

    Split k divides a leaf: the rows whose bin in a column is above a cut move to the new leaf
    k + 1. The root is leaf 0 and has the value 0. What is not split has the splits (k + 1, 0, 0),
    which divide leaves without rows, and the values 0.
    """

    splits: NDArray[np.int32]  # (n_trees, n_splits, 3): leaf, column, cut
    # (n_trees, n_splits, 2): of the divided and of the new leaf
    values: NDArray[np.float64]

    @classmethod
    def join(cls, trees: Iterable[Trees]) -> Trees:
        """Return all trees in one."""
        return cls(*map(np.concatenate, zip(*trees, strict=True)))

    def leaves(self, bins: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the leaf of each row in each tree: shape (n_trees, n_rows) for bins of shape
        (n_columns, n_rows).
        """
        result = np.zeros((len(self.splits), bins.shape[1]), dtype=np.uint8)
        for new, split in enumerate(np.moveaxis(self.splits, 1, 0), 1):
            leaf, cut = split[:, 0, None].astype(np.uint8), split[:, 2, None].astype(np.uint8)
            moves = (result == leaf) & (bins[split[:, 1]] > cut)
            result += moves * (np.uint8(new) - leaf)  # faster than an assignment to some rows
        return result

    def leaf_values(self, group_of: NDArray[np.integer], n_groups: int) -> NDArray[np.float64]:
        """Return the value of each leaf as a sum over groups, given the group of each column.

        The change of the value at a split belongs to the group of its column: shape (n_trees,
        n_splits + 1, n_groups).
        """
        n_trees, n_splits, _ = self.splits.shape
        every = np.arange(n_trees)
        amounts = np.zeros((n_trees, n_splits + 1, n_groups))
        totals = np.zeros((n_trees, n_splits + 1))
        for k in range(n_splits):
            leaf, column, _ = self.splits[:, k].T
            group, before = group_of[column], totals[every, leaf]
            amounts[:, k + 1] = amounts[every, leaf]
            for side, place in enumerate((leaf, k + 1)):
                amounts[every, place, group] += self.values[:, k, side] - before
                totals[every, place] = self.values[:, k, side]
        return amounts


def bin_edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return at most 63 ascending edges between quantiles of a column's values.

    An edge is in the middle between two different values, so that rounding moves no value that
    occurs in `values` to another bin.
    """
    if not len(values):
        return np.empty(0)
    ordered = np.sort(values)
    places = np.arange(1, N_BINS) * len(ordered) // N_BINS
    lower = ordered[np.maximum(places - 1, 0)]
    tolerance = _SAME * max(1.0, abs(ordered[0]), abs(ordered[-1]))
    after = np.searchsorted(ordered, lower + tolerance, side="right")
    lower, after = lower[after < len(ordered)], after[after < len(ordered)]
    # Values that rounding alone distinguishes are a chain below `after`: the edge is above it.
    return np.unique((np.maximum(lower, ordered[after - 1]) + ordered[after]) / 2)


def bin_values(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return how many edges are below each value."""
    return np.searchsorted(edges, values, side="left").astype(np.uint8)


def draw_pairs(n_pairs: int, number: int, growth: Growth) -> NDArray[np.int64]:
    """Return the pairs of columns, ascending, that tree `number` can use."""
    draws = uniform_draws(np.array([number], dtype=np.uint64), np.array([n_pairs]), 0)
    n_drawn = max(1, round(growth.share * n_pairs))
    return np.sort(np.argsort(draws, kind="stable")[:n_drawn])


class JoinedBins(NamedTuple):
    """The bins of pairs of columns: one histogram of both costs as much as that of one column."""

    joint: NDArray[np.uint16]  # (n_pairs, n_rows): 64 times the first bin, plus the second

    @classmethod
    def of(cls, bins: NDArray[np.uint8], rows: NDArray[np.integer]) -> JoinedBins:
        """Join columns p and p + n_pairs in pair p; of an odd number, the last has no second."""
        n_pairs = -(-len(bins) // 2)
        joint = np.empty((n_pairs, len(rows)), dtype=np.uint16)
        for pair in range(n_pairs):
            np.multiply(bins[pair][rows], N_BINS, out=joint[pair], dtype=np.uint16)
        for pair, second in enumerate(bins[n_pairs:]):
            joint[pair] += second[rows]
        return cls(joint)

    def bins(self, column: int, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Return the bins of some rows in a column."""
        is_second, pair = divmod(column, len(self.joint))
        joint = self.joint[pair][rows]
        return joint % N_BINS if is_second else joint // N_BINS

    def histograms(
        self, pairs: NDArray[np.int64], packed: NDArray[np.float64], rows: NDArray[np.intp] | slice
    ) -> NDArray[np.float64]:
        """Return the sums over some rows for each bin of the columns of some pairs, the second ones
        after the first: shape (2 * n_drawn, 64).
        """
        weights = packed[rows]
        joint = np.stack(
            [np.bincount(self.joint[pair][rows], weights, N_BINS**2) for pair in pairs.tolist()]
        ).reshape(-1, N_BINS, N_BINS)
        return np.concatenate((joint.sum(axis=2), joint.sum(axis=1)))


class PackedSums(NamedTuple):
    """Gradient and curvature of each row as one integer: curvature * 2**shift + gradient."""

    packed: NDArray[np.float64]  # shape (n_rows,)
    shift: int
    places: tuple[int, int]  # the binary places of gradients and of curvatures

    def unpack(
        self, packed: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradients and the curvatures of some sums of packed rows."""
        curvature = np.rint(np.ldexp(packed, -self.shift))
        gradient = packed - np.ldexp(curvature, self.shift)
        return np.ldexp(gradient, -self.places[0]), np.ldexp(curvature, -self.places[1])


def pack_sums(gradient: NDArray[np.float64], curvature: NDArray[np.float64]) -> PackedSums:
    """Round gradients and curvatures, which are not negative, so that their sums are exact.

    Examples
    --------
    >>> sums = pack_sums(np.array([0.5, -0.25]), np.array([0.25, 0.125]))
    >>> sums.unpack(sums.packed.sum(keepdims=True))
    (array([0.25]), array([0.375]))
    """
    # Any sum of gradients has at most the size A, the sum of their sizes, and any sum of curvatures
    # is from 0 to their sum B. With 2**shift > 2 A, a packed sum has only one reading. Its size is
    # below (B + 1) * 2**shift <= 2**53: in float64, all sums are exact, in any order.
    largest = [np.abs(values).max(initial=0.0) for values in (gradient, curvature)]
    places = [_FINEST - int(np.frexp(size)[1]) for size in largest]
    while True:
        g, h = np.rint(np.ldexp(gradient, places[0])), np.rint(np.ldexp(curvature, places[1]))
        shift = int(np.abs(g).sum()).bit_length() + 1
        excess = shift + int(h.sum() + 1).bit_length() - _MANTISSA
        if excess <= 0:
            return PackedSums(np.ldexp(h, shift) + g, shift, (places[0], places[1]))
        places[0] -= excess // 2
        places[1] -= excess - excess // 2


class _Leaf(NamedTuple):
    rows: NDArray[np.intp]
    histogram: NDArray[np.float64]  # packed sums, shape (n_columns, N_BINS)
    gain: float  # of the best split
    place: int  # of its last bin in the histogram


def grow_tree(
    bins: JoinedBins,
    pairs: NDArray[np.int64],
    gradient: NDArray[np.float64],
    curvature: NDArray[np.float64],
    growth: Growth,
) -> tuple[Trees, list[NDArray[np.intp]]]:
    r"""Grow a tree that lowers a loss with these derivatives; also return the rows of each leaf.

    The value of a leaf with the sums G and H is :math:`-\eta (G / (H + \lambda) - G_0 / (H_0 +
    \lambda))`, the second ones of the root. The next split is the one with the largest gain

    .. math:: \frac{G_l^2}{H_l + \lambda} + \frac{G_r^2}{H_r + \lambda} - \frac{G^2}{H + \lambda}

    of equal ones the one of the earliest leaf, column and cut.

    Parameters
    ----------
    bins : JoinedBins
    pairs : ndarray of int
        The pairs of columns to use, ascending.
    gradient, curvature : ndarray of float64, shape (n_rows,)
        First and second derivatives; rounded to binary fractions so that their sums are exact.
    growth : Growth
    """
    sums = pack_sums(gradient, curvature)
    columns = np.concatenate((pairs, pairs + len(bins.joint)))

    def value(histogram: NDArray[np.float64]) -> float:
        g, h = sums.unpack(histogram.sum(axis=-1, keepdims=True))
        return float(-growth.shrinkage * g[0] / (h[0] + growth.penalty))

    def grow(rows: NDArray[np.intp], histogram: NDArray[np.float64]) -> _Leaf:
        return _Leaf(rows, histogram, *_best_split(histogram, sums, growth))

    everything = np.arange(len(gradient))
    leaves = [grow(everything, bins.histograms(pairs, sums.packed, slice(None)))]
    base = value(leaves[0].histogram[0])
    n_splits = growth.n_leaves - 1
    splits, values = np.zeros((n_splits, 3), dtype=np.int32), np.zeros((n_splits, 2))
    splits[:, 0] = np.arange(1, growth.n_leaves)
    while len(leaves) < growth.n_leaves:
        leaf = max(range(len(leaves)), key=lambda i: leaves[i].gain)
        rows, histogram, gain, place = leaves[leaf]
        if gain <= 0:
            break
        drawn, cut = divmod(place, N_BINS)
        moves = bins.bins(int(columns[drawn]), rows) > cut
        sides = [rows[~moves], rows[moves]]
        splits[len(leaves) - 1] = leaf, columns[drawn], cut
        parts = np.split(histogram[drawn], [cut + 1])
        values[len(leaves) - 1] = [value(part) - base for part in parts]
        fewer = int(len(sides[1]) < len(sides[0]))
        counted = bins.histograms(pairs, sums.packed, sides[fewer])
        halves = [counted, histogram - counted]
        leaves[leaf], new = (grow(sides[i], halves[i ^ fewer]) for i in range(2))
        leaves.append(new)
    return Trees(splits[None], values[None]), [leaf.rows for leaf in leaves]


def _best_split(
    histogram: NDArray[np.float64], sums: PackedSums, growth: Growth
) -> tuple[float, int]:
    """Return the largest gain and the flat place of the bin after which the leaf is split."""
    g, h = sums.unpack(histogram.cumsum(axis=1))
    all_g, all_h = g[:, -1:], h[:, -1:]
    gains = g * g / (h + growth.penalty)
    gains += (all_g - g) ** 2 / (all_h - h + growth.penalty)
    gains -= all_g * all_g / (all_h + growth.penalty)
    gains[(h < growth.least) | (all_h - h < growth.least)] = 0.0
    place = int(gains.argmax())
    return float(gains.flat[place]), place
