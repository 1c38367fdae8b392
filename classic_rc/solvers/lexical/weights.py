"""The weights of the lexical matcher's components: published, given, or learned from gold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.solvers.lexical.components import COMPONENTS
from classic_rc.solvers.one_thread import one_thread

PUBLISHED_WEIGHTS: Mapping[str, tuple[float, ...]] = {
    "mc160": (1.0, 10.0, 1.0, 1.0),
    "mc500": (1.0, 11.0, 6.0, 1.0),
}
"""By dataset; RTE scores of a file (``RTE/*.scores``), where they are added, weigh 50 and 19."""


def component_weights(weights: str) -> NDArray[np.float64]:
    """The weights that a parameter names or spells out.

    Raises
    ------
    UsageError
        It does neither.

    Examples
    --------
    >>> component_weights("mc500")
    array([ 1., 11.,  6.,  1.])
    >>> component_weights("1/10/0/0")
    array([ 1., 10.,  0.,  0.])
    """
    if isinstance(weights, str) and weights in PUBLISHED_WEIGHTS:
        return np.array(PUBLISHED_WEIGHTS[weights])
    try:
        numbers = np.array([float(number) for number in str(weights).split("/")])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != len(COMPONENTS) or not np.isfinite(numbers).all():
        names = ", ".join(map(repr, (*PUBLISHED_WEIGHTS, "learned")))
        raise UsageError(
            f"parameter 'weights' of lexical must be one of {names} or four numbers for {', '.join(COMPONENTS)} "
            f"such as '1/11/6/1', got {weights!r}"
        )
    return numbers


def learned_weights(
    scores: NDArray[np.float64], offsets: NDArray[np.int64], right: NDArray[np.int64], C: float
) -> NDArray[np.float64]:
    r"""The weights w under which right candidates outscore the wrong ones of their question.

    They minimise :math:`\frac{1}{2}\|w \sigma\|^2 + C \sum_q \frac{1}{n_q} \sum_{i,j} \log(1 + e^{-w \cdot (x_i -
    x_j)})` over the pairs of a right candidate i and a wrong one j of a question q, of which it has
    :math:`n_q`; :math:`\sigma` are the components' root mean square differences.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_candidates, n_components)
    offsets : ndarray of int64, shape (n_questions + 1,)
    right : ndarray of int64, shape (n_candidates,)
        1 for right candidates, else 0.
    C : float
        The inverse strength of the regularisation.

    Returns
    -------
    ndarray of float64, shape (n_components,)

    Raises
    ------
    DataError
        No question has both a right and a wrong candidate, or they never differ.
    """
    from sklearn.linear_model import LogisticRegression

    pairs, shares = [np.empty((0, scores.shape[1]))], [np.empty(0)]
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        own, is_right = scores[start:end], right[start:end] > 0
        differences = (own[is_right][:, None] - own[~is_right][None]).reshape(-1, scores.shape[1])
        pairs.append(differences)
        shares.append(np.full(len(differences), 1 / max(len(differences), 1)))
    x, share = np.concatenate(pairs), np.concatenate(shares)
    spread = np.sqrt((x**2).mean(axis=0)) if len(x) else np.zeros(scores.shape[1])
    if not spread.any():
        raise DataError(
            "lexical cannot learn weights: no question has a right and a wrong candidate that differ in a component"
        )
    scale = np.where(spread > 0, spread, 1.0)
    # Each pair stands there both ways round, with half its weight: a classifier takes two classes.
    learner = LogisticRegression(C=C, fit_intercept=False, tol=1e-8, max_iter=1000)
    both, right_first = np.concatenate((x, -x)) / scale, np.repeat((1, 0), len(x))
    with one_thread():
        learner.fit(both, right_first, sample_weight=np.concatenate((share, share)) / 2)
    weights: NDArray[np.float64] = learner.coef_[0] / scale
    return weights
