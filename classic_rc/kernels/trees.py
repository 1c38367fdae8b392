"""Boosted regression trees over binned columns, grown best first from histograms of exact sums.

Friedman 2001 (gradient boosting), with the second-order gain and leaf values of Chen and Guestrin
2016 (XGBoost, equations 5 and 7), leaves split best first (Shi 2007).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import sums_by
from classic_rc.kernels.draws import uniform_draws

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bins = NDArray[np.uint8]

N_BINS = 64
"""The most bins of a column."""
_SAME = 1e-9
"""Values that differ by less, or by less in units of the column's largest, are in one bin."""
_FINEST = 20
"""The binary digits of the largest gradient and curvature, at most."""
_MANTISSA = 53
"""The binary digits of a float64, up to which integers are exact."""
_BLOCK_ROWS = 2**11
"""The rows whose leaves in all trees are found at a time, at least."""
_BLOCK_LEAVES = 2**15
"""The leaves that are found at a time, where trees are few: they stay in the cache."""
_FEW_ROWS = 2**11
"""Fewer rows are counted in each column: a joint histogram has more places than they."""


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
    k + 1. The root is leaf 0 and has the value 0. A tree with fewer splits ends with splits of its
    later leaves, which have no rows, and steps of 0.
    """

    splits: NDArray[np.int32]  # (n_trees, n_splits, 3): leaf, column, cut
    # (n_trees, n_splits, 2): the change of the value in the divided leaf and in the new one
    steps: Floats

    @classmethod
    def join(cls, trees: Iterable[Trees]) -> Trees:
        """Return all trees in one."""
        return cls(*map(np.concatenate, zip(*trees, strict=True)))

    def sums(self, bins: Bins, group_of: Integers, n_groups: int) -> Floats:
        """Return what all trees add to each row, by the groups of the columns that they divide.

        Parameters
        ----------
        bins : ndarray of uint8, shape (n_columns, n_rows)
        group_of : ndarray of int, shape (n_columns,)
        n_groups : int

        Returns
        -------
        ndarray of float64, shape (n_rows, n_groups)
        """
        amounts = self._leaf_amounts(group_of, n_groups)
        result = np.zeros((bins.shape[1], n_groups))
        n_rows = max(_BLOCK_ROWS, _BLOCK_LEAVES // max(len(amounts), 1))
        for start in range(0, len(result), n_rows):
            where = slice(start, start + n_rows)
            for tree_amounts, leaves in zip(amounts, self._leaves(bins[:, where]), strict=True):
                result[where] += tree_amounts[leaves]
        return result

    def _leaves(self, bins: Bins) -> Bins:
        """Return the leaf of each row in each tree: shape (n_trees, n_rows)."""
        # As bins, leaves have one byte: a tree has at most 256.
        leaves = np.zeros((len(self.splits), bins.shape[1]), dtype=np.uint8)
        for new, split in enumerate(np.moveaxis(self.splits, 1, 0), 1):
            leaf = split[:, [0]].astype(np.uint8)
            cut = split[:, [2]].astype(np.uint8)
            moves = (leaves == leaf) & (bins[split[:, 1]] > cut)
            leaves += moves * (np.uint8(new) - leaf)  # faster than an assignment to some rows
        return leaves

    def _leaf_amounts(self, group_of: Integers, n_groups: int) -> Floats:
        """Return what each leaf adds, by group: shape (n_trees, n_splits + 1, n_groups)."""
        n_trees, n_splits, _ = self.splits.shape
        trees = np.arange(n_trees)
        amounts = np.zeros((n_trees, n_splits + 1, n_groups))
        for k in range(n_splits):
            leaf, column, _ = self.splits[:, k].T
            group = group_of[column]
            amounts[:, k + 1] = amounts[trees, leaf]
            amounts[trees, leaf, group] += self.steps[:, k, 0]
            amounts[trees, k + 1, group] += self.steps[:, k, 1]
        return amounts


def bin_edges(values: Floats) -> Floats:
    """Return 63 ascending edges between quantiles of a column's values.

    An edge is in the middle between two different values, so that rounding moves no value that
    occurs in `values` to another bin. Edges that are not needed are the largest number, at the end.
    """
    edges = np.full(N_BINS - 1, np.finfo(np.float64).max)
    if not len(values):
        return edges
    ordered = np.sort(values)
    places = np.arange(1, N_BINS) * len(ordered) // N_BINS
    lower = ordered[np.maximum(places - 1, 0)]
    tolerance = _SAME * max(1.0, abs(ordered[0]), abs(ordered[-1]))
    after = np.searchsorted(ordered, lower + tolerance, side="right")
    has_larger = after < len(ordered)
    lower, after = lower[has_larger], after[has_larger]
    # Values that rounding alone distinguishes are a chain below `after`: the edge is above it.
    last_equal = np.maximum(lower, ordered[after - 1])
    middles = np.unique((last_equal + ordered[after]) / 2)
    edges[: len(middles)] = middles
    return edges


def bin_values(values: Floats, edges: Floats) -> Bins:
    """Return how many edges are below each value."""
    return np.searchsorted(edges, values, side="left").astype(np.uint8)


def draw_pairs(n_pairs: int, number: int, growth: Growth) -> Integers:
    """Return the pairs of columns, ascending, that tree `number` can use."""
    # They depend on the number alone: not on the data, the order of fits, or a seed.
    draws = uniform_draws(np.array([number], dtype=np.uint64), np.array([n_pairs]), 0)
    n_drawn = max(1, round(growth.share * n_pairs))
    return np.sort(np.argsort(draws, kind="stable")[:n_drawn])


class JoinedBins(NamedTuple):
    """The bins of pairs of columns: one histogram of both costs as much as that of one column."""

    joint: NDArray[np.uint16]  # (n_pairs, n_rows): 64 times the first bin, plus the second

    @classmethod
    def of(cls, bins: Bins, rows: Integers) -> JoinedBins:
        """Join columns p and p + n_pairs in pair p; of an odd number, the last has no second."""
        n_pairs = -(-len(bins) // 2)
        joint = np.empty((n_pairs, len(rows)), dtype=np.uint16)
        for pair in range(n_pairs):
            np.multiply(bins[pair][rows], N_BINS, out=joint[pair], dtype=np.uint16)
        for pair, second in enumerate(bins[n_pairs:]):
            joint[pair] += second[rows]
        return cls(joint)

    def bins(self, column: int, rows: Integers) -> NDArray[np.uint16]:
        """Return the bins of some rows in a column."""
        is_second, pair = divmod(column, len(self.joint))
        joint = self.joint[pair][rows]
        return joint % N_BINS if is_second else joint // N_BINS

    def histograms(self, pairs: Integers, packed: Floats, rows: Integers | slice) -> Floats:
        """Return the sums over some rows for each bin of the columns of some pairs, the second ones
        after the first: shape (2 * n_drawn, 64).
        """
        weights = packed[rows]
        n_drawn = 2 * len(pairs)
        if len(weights) < _FEW_ROWS:
            few = np.stack([self.joint[pair][rows] for pair in pairs.tolist()])
            places = np.empty((2, *few.shape), dtype=np.intp)
            np.floor_divide(few, N_BINS, out=places[0])
            np.bitwise_and(few, N_BINS - 1, out=places[1])
            places += N_BINS * np.arange(n_drawn).reshape(2, -1, 1)
            sums = sums_by(places.ravel(), np.tile(weights, n_drawn), n_drawn * N_BINS)
            return sums.reshape(-1, N_BINS)
        joint = np.empty((len(pairs), N_BINS, N_BINS))
        for i, pair in enumerate(pairs.tolist()):
            pair_sums = np.bincount(self.joint[pair][rows], weights, N_BINS**2)
            joint[i] = pair_sums.reshape(N_BINS, N_BINS)
        return np.concatenate((joint.sum(axis=2), joint.sum(axis=1)))


class PackedSums(NamedTuple):
    """Gradient and curvature of each row as one integer: curvature * 2**shift + gradient."""

    packed: Floats  # shape (n_rows,)
    shift: int
    places: tuple[int, int]  # the binary places of gradients and of curvatures

    def unpack(self, packed: Floats) -> tuple[Floats, Floats]:
        """Return the gradients and the curvatures of some sums of packed rows."""
        curvature = np.rint(np.ldexp(packed, -self.shift))
        gradient = packed - np.ldexp(curvature, self.shift)
        g_places, h_places = self.places
        return np.ldexp(gradient, -g_places), np.ldexp(curvature, -h_places)


def pack_sums(gradient: Floats, curvature: Floats) -> PackedSums:
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
        g = np.rint(np.ldexp(gradient, places[0]))
        h = np.rint(np.ldexp(curvature, places[1]))
        shift = int(np.abs(g).sum()).bit_length() + 1
        excess = shift + int(h.sum() + 1).bit_length() - _MANTISSA
        if excess <= 0:
            return PackedSums(np.ldexp(h, shift) + g, shift, (places[0], places[1]))
        places[0] -= excess // 2
        places[1] -= excess - excess // 2


class _Leaf(NamedTuple):
    rows: Integers
    histogram: Floats | None  # packed sums, shape (n_columns, N_BINS); None: no split is possible
    value: float
    gain: float  # of the best split
    place: int  # of its last bin in the histogram


def grow_tree(
    bins: JoinedBins,
    pairs: Integers,
    gradient: Floats,
    curvature: Floats,
    growth: Growth,
) -> tuple[Trees, Floats]:
    r"""Grow a tree that lowers a loss with these derivatives; also return what it adds to each row.

    The value of a leaf with the sums G and H is :math:`-\eta G / (H + \lambda)`, and the tree adds
    it minus that of the root. The next split is the one with the largest gain

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

    def total(rows: Integers) -> tuple[float, float]:
        (g,), (h,) = sums.unpack(sums.packed[rows].sum(keepdims=True))
        return float(g), float(h)

    def can_split(rows: Integers) -> bool:
        return total(rows)[1] >= 2 * growth.least

    def grow(rows: Integers, histogram: Floats | None) -> _Leaf:
        g, h = total(rows)
        value = -growth.shrinkage * g / (h + growth.penalty)
        if histogram is None or h < 2 * growth.least:
            return _Leaf(rows, None, value, 0.0, 0)
        return _Leaf(rows, histogram, value, *_best_split(histogram, sums, growth))

    n_splits = growth.n_leaves - 1
    splits = np.zeros((n_splits, 3), dtype=np.int32)
    steps = np.zeros((n_splits, 2))
    splits[:, 0] = np.arange(1, growth.n_leaves)
    every_row = np.arange(len(gradient))
    root = grow(every_row, bins.histograms(pairs, sums.packed, slice(None)))
    leaves = [root]
    for k in range(n_splits):
        divided = max(range(len(leaves)), key=lambda i: leaves[i].gain)
        rows, histogram, value, gain, place = leaves[divided]
        if histogram is None or gain <= 0:
            break
        drawn, cut = divmod(place, N_BINS)
        splits[k] = divided, columns[drawn], cut
        moves = bins.bins(int(columns[drawn]), rows) > cut
        sides = [rows[~moves], rows[moves]]
        halves: list[Floats | None] = [None, None]
        smaller = int(len(sides[1]) < len(sides[0]))
        if any(map(can_split, sides)):
            counted = bins.histograms(pairs, sums.packed, sides[smaller])
            # Sums are exact, so the difference is what counting the larger side would give.
            halves = [counted, histogram - counted]
        new = [grow(side, halves[i ^ smaller]) for i, side in enumerate(sides)]
        steps[k] = [leaf.value - value for leaf in new]
        leaves[divided] = new[0]
        leaves.append(new[1])
    added = np.empty(len(gradient))
    for leaf in leaves:
        added[leaf.rows] = leaf.value - root.value
    return Trees(splits[None], steps[None]), added


def _best_split(histogram: Floats, sums: PackedSums, growth: Growth) -> tuple[float, int]:
    """Return the largest gain and the flat place of the bin after which the leaf is split."""
    g, h = sums.unpack(histogram.cumsum(axis=1))
    all_g, all_h = g[:, -1:], h[:, -1:]
    gains = g * g / (h + growth.penalty)
    gains += (all_g - g) ** 2 / (all_h - h + growth.penalty)
    gains -= all_g * all_g / (all_h + growth.penalty)
    gains[(h < growth.least) | (all_h - h < growth.least)] = 0.0
    place = int(gains.argmax())
    return float(gains.flat[place]), place
