"""The weights of a combination: normalising the members' scores, searching for weights, and stacking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.predictions import Scores
from classic_rc.solvers.learning import one_thread

_SHARES = np.arange(51) / 50
_TOLERANCE = 1e-12


class Weighting(NamedTuple):
    """A linear rule over the members' scores and evidence flags."""

    weights: Sequence[float]  # length n_members: the weight of each member's score
    evidence_weights: Sequence[float]  # length n_members: added if the member has evidence
    bias: float = 0.0  # added to every candidate

    @classmethod
    def of_scores(cls, weights: Sequence[float]) -> Weighting:
        """Return the rule that weighs only the scores."""
        return cls([float(weight) for weight in weights], [0.0] * len(weights))

    def shares(self, scored: Sequence[Scores]) -> list[NDArray[np.float64]]:
        """Return what each member adds to the candidates' scores: arrays of shape (n_candidates,)."""
        return [
            weight * scores.values + evidence_weight * scores.evidence
            for weight, evidence_weight, scores in zip(self.weights, self.evidence_weights, scored, strict=True)
        ]

    def total(self, scored: Sequence[Scores]) -> Scores:
        """Return the combined scores, with evidence if any member has evidence."""
        # Member by member, so that a candidate's sum has the same rounding in any batch.
        values = np.full(len(scored[0].values), self.bias)
        for share in self.shares(scored):
            values += share
        return Scores(values, scored[0].offsets, np.any([scores.evidence for scores in scored], axis=0))


def standardise_within_questions(scores: Scores) -> Scores:
    r"""Return :math:`(s - \mu) / \sigma`, with the mean and the standard deviation of the question's candidates.

    If all candidates of a question have the same score, they get 0.
    """
    counts = np.diff(scores.offsets)
    question = np.repeat(np.arange(len(counts)), counts)
    # Sum in ascending order, so that a mean does not depend on the order of the candidates.
    order = np.lexsort((scores.values, question))
    ascending, owner = scores.values[order], question[order]
    mean = np.bincount(owner, ascending, len(counts)) / np.maximum(counts, 1)
    squares = (ascending - mean[owner]) ** 2
    deviation = np.sqrt(np.bincount(owner, squares, len(counts)) / np.maximum(counts, 1))
    # The deviation of equal scores may come out as a tiny number instead of 0, so look for a real difference.
    differ = np.zeros(len(counts), dtype=np.bool_)
    differ[owner[1:][(ascending[1:] > ascending[:-1]) & (owner[1:] == owner[:-1])]] = True
    divisor = np.where(differ & (deviation > 0), deviation, np.inf)[question]
    return Scores((scores.values - mean[question]) / divisor, scores.offsets, scores.evidence)


def nonzero_deviation(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of some scores, or 1 if it is 0, so that it can be a divisor."""
    deviation = float(values.std()) if len(values) else 0.0
    return deviation or 1.0


def search_shares(objective: Callable[[NDArray[np.float64]], float], n_members: int) -> NDArray[np.float64]:
    """Find the non-negative shares with sum 1 that maximise an objective, by coordinate search on a grid.

    The search starts with equal shares. Member by member, it tries the shares 0, 0.02, …, 1 for this member and
    divides the rest among the others in their current proportion. It repeats until nothing improves. For two
    members this covers the whole grid. Of equally good points it uses the most even one, so that a tie does not
    give all the weight to one member.

    Parameters
    ----------
    objective : callable
        Maps shares, an ndarray of shape (n_members,), to the value to maximise.
    n_members : int

    Returns
    -------
    ndarray of float64, shape (n_members,)
    """
    shares = np.full(n_members, 1 / n_members)
    best = objective(shares)
    while True:
        before = best
        for member in range(n_members if n_members > 2 else 1):
            points = [_with_share(shares, member, float(share)) for share in _SHARES]
            values = np.array([objective(point) for point in points])
            if values.max() > best + _TOLERANCE:
                best = float(values.max())
                shares = min((points[i] for i in np.flatnonzero(values >= best - _TOLERANCE)), key=np.max)
        if n_members == 2 or best <= before + _TOLERANCE:
            return shares


def _with_share(shares: NDArray[np.float64], member: int, share: float) -> NDArray[np.float64]:
    """Return the shares with `share` for one member; the others divide the rest in their current proportion."""
    others = np.delete(shares, member)
    others = others / others.sum() if others.sum() > 0 else np.full(len(others), 1 / len(others))
    return np.insert((1 - share) * others, member, share)


def stack(scored: Sequence[Scores], right: NDArray[np.int64], C: float) -> Weighting:
    """Fit a logistic regression over members' standardised scores and evidence flags (after Clark et al. 2016).

    Parameters
    ----------
    scored : sequence of Scores
        Each member's scores of the training questions.
    right : ndarray of int64, shape (n_candidates,)
        1 for right candidates, 0 for the others.
    C : float
        The inverse strength of the L2 regularisation of all weights except the bias.

    Returns
    -------
    Weighting
        Weights for the scores before standardisation. The total is the log-odds that a candidate is right.
    """
    from sklearn.linear_model import LogisticRegression

    centres = [float(scores.values.mean()) for scores in scored]
    scales = [nonzero_deviation(scores.values) for scores in scored]
    columns = [(s.values - centre) / scale for s, centre, scale in zip(scored, centres, scales, strict=True)]
    columns += [scores.evidence.astype(np.float64) for scores in scored]
    learner = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-8, max_iter=1000)
    with one_thread():
        learner.fit(np.column_stack(columns), right)
    coefficients = learner.coef_[0].tolist()
    # The scales and centres move into the weights and the bias. `coefficients` is longer than `scales`: the
    # evidence weights follow the score weights.
    weights = [weight / scale for weight, scale in zip(coefficients, scales, strict=False)]
    bias = float(learner.intercept_[0]) - sum(w * centre for w, centre in zip(weights, centres, strict=True))
    return Weighting(weights, coefficients[len(scored) :], bias)
