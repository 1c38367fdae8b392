"""Lesson 15: the objectives of logistic regression and of conditional logit, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence


def binary_objective(
    weights: Sequence[float], rows: Sequence[Sequence[float]], right: Sequence[int], C: float
) -> tuple[float, list[float]]:
    """Return the penalised log loss of binary logistic regression, and its gradient.

    A row x is right with the probability p = 1 / (1 + exp(-w x)). Its loss is -log p if it is
    right, and -log(1 - p) if it is wrong; the penalty is w w / 2C. This is LIBLINEAR's objective
    (Fan et al. 2008, equation 1) divided by C.

    Parameters
    ----------
    weights : sequence of float
        One for each column.
    rows : sequence of sequence of float
    right : sequence of int
        1 for right rows, 0 for the others.
    C : float
        The inverse strength of the penalty.

    Returns
    -------
    objective : float
    gradient : list of float

    Examples
    --------
    >>> objective, gradient = binary_objective([0.0], [[2.0], [1.0]], [1, 0], C=1.0)
    >>> round(objective, 4), gradient
    (1.3863, [-0.5])
    """
    objective = sum(w * w for w in weights) / (2 * C)
    gradient = [w / C for w in weights]
    for row, is_right in zip(rows, right, strict=True):
        margin = sum(w * x for w, x in zip(weights, row, strict=True))
        p = 1 / (1 + math.exp(-margin))
        objective -= math.log(p if is_right else 1 - p)
        for j, x in enumerate(row):
            gradient[j] += (p - is_right) * x
    return objective, gradient


def conditional_objective(
    weights: Sequence[float], questions: Sequence[tuple[Sequence[Sequence[float]], int]], C: float
) -> tuple[float, list[float]]:
    """Return the penalised log loss of conditional logit, and its gradient.

    Row j of a question is its right one with the probability p_j = exp(w x_j) / sum_k exp(w x_k)
    (McFadden 1974). The question's loss is -log p of the right row; the penalty is w w / 2C.

    Parameters
    ----------
    weights : sequence of float
        One for each column.
    questions : sequence of (sequence of sequence of float, int)
        The rows of each question, and the index of the right one.
    C : float
        The inverse strength of the penalty.

    Returns
    -------
    objective : float
    gradient : list of float

    Examples
    --------
    >>> objective, gradient = conditional_objective([0.0], [([[2.0], [1.0]], 0)], C=1.0)
    >>> round(objective, 4), gradient
    (0.6931, [-0.5])
    """
    objective = sum(w * w for w in weights) / (2 * C)
    gradient = [w / C for w in weights]
    for rows, right in questions:
        margins = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in rows]
        powers = [math.exp(margin) for margin in margins]
        objective -= math.log(powers[right] / sum(powers))
        for i, (row, power) in enumerate(zip(rows, powers, strict=True)):
            for j, x in enumerate(row):
                gradient[j] += (power / sum(powers) - (i == right)) * x
    return objective, gradient
