"""Lesson 21: a regression tree for gradient boosting, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence


def best_first_tree(
    bins: Sequence[Sequence[int]],
    columns: Sequence[int],
    gradient: Sequence[float],
    curvature: Sequence[float],
    n_leaves: int,
    min_curvature: float,
    penalty: float,
    shrinkage: float,
) -> tuple[list[tuple[int, int, int, float, float]], list[list[int]]]:
    """Grow a tree that lowers a loss with these first and second derivatives.

    A leaf whose rows have the sums G and H lowers the loss by G^2 / 2(H + penalty), with the value
    -G / (H + penalty) (Chen and Guestrin 2016, equations 5 and 6). The next split is the one that
    lowers it most (Shi 2007, best first), of equal ones that of the earliest leaf, column and cut.

    Parameters
    ----------
    bins : sequence of sequence of int
        The bins of each row, for each column.
    columns : sequence of int
        The columns to use, ascending.
    gradient, curvature : sequence of float
        One for each row. All sums of them are exact.
    n_leaves : int
        The most leaves.
    min_curvature : float
        The least sum of curvatures in a leaf.
    penalty, shrinkage : float

    Returns
    -------
    splits : list of tuple
        Leaf, column, cut, and how much the values of the two leaves differ from that of the divided
        one. Rows whose bin is above the cut are in the new leaf.
    leaves : list of list of int
        The rows of each leaf.

    Examples
    --------
    >>> best_first_tree([[0, 0, 1]], [0], [-1.0, -1.0, 2.0], [1.0, 1.0, 1.0], 2, 1.0, 0.0, 0.5)
    ([(0, 0, 0, 0.5, -1.0)], [[0, 1], [2]])
    """

    def sums(rows: Sequence[int]) -> tuple[float, float]:
        return sum(gradient[i] for i in rows), sum(curvature[i] for i in rows)

    def value(rows: Sequence[int]) -> float:
        g, h = sums(rows)
        return -shrinkage * g / (h + penalty)

    leaves = [list(range(len(gradient)))]
    splits: list[tuple[int, int, int, float, float]] = []
    while len(leaves) < n_leaves:
        largest, best = 0.0, None
        for leaf, rows in enumerate(leaves):
            g, h = sums(rows)
            for column in columns:
                for cut in sorted({bins[column][i] for i in rows}):
                    low_rows = [i for i in rows if bins[column][i] <= cut]
                    g_low, h_low = sums(low_rows)
                    g_high, h_high = g - g_low, h - h_low
                    if h_low < min_curvature or h_high < min_curvature:
                        continue
                    gain = g_low * g_low / (h_low + penalty)
                    gain += g_high * g_high / (h_high + penalty)
                    gain -= g * g / (h + penalty)
                    if gain > largest:
                        largest, best = gain, (leaf, column, cut)
        if best is None:
            break
        leaf, column, cut = best
        rows = leaves[leaf]
        low = [i for i in rows if bins[column][i] <= cut]
        high = [i for i in rows if bins[column][i] > cut]
        low_step, high_step = (value(side) - value(rows) for side in (low, high))
        splits.append((*best, low_step, high_step))
        leaves[leaf] = low
        leaves.append(high)
    return splits, leaves
