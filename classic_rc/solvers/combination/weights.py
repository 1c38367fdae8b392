"""How much each of several solvers' scores counts: normalisation, search and stacking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.predictions import Scores
from classic_rc.solvers.learning import one_thread

_SHARES = np.arange(51) / 50
_EQUAL = 1e-12


class Weighting(NamedTuple):
    """A linear rule over members' scores.

    Parameters
    ----------
    weights : sequence of float, length n_members
        What a unit of each member's score adds.
    evidence_weights : sequence of float, length n_members
        What it adds that the member has evidence.
    bias : float
        What every candidate has.
    """

    weights: Sequence[float]
    evidence_weights: Sequence[float]
    bias: float = 0.0

    @classmethod
    def of_scores(cls, weights: Sequence[float]) -> Weighting:
        """The weighted sum of scores alone."""
        return cls([float(weight) for weight in weights], [0.0] * len(weights))

    def shares(self, scored: Sequence[Scores]) -> list[NDArray[np.float64]]:
        """What each member adds to each candidate's score, each of shape (n_candidates,)."""
        return [
            weight * scores.values + of_evidence * scores.evidence
            for weight, of_evidence, scores in zip(self.weights, self.evidence_weights, scored, strict=True)
        ]

    def total(self, scored: Sequence[Scores]) -> Scores:
        """The combined scores, with evidence where any member has some."""
        # Added member by member: a candidate's sum is rounded alike, whatever is scored beside it.
        values = np.full(len(scored[0].values), self.bias)
        for share in self.shares(scored):
            values += share
        return Scores(values, scored[0].offsets, np.any([scores.evidence for scores in scored], axis=0))


def within_questions(scores: Scores) -> Scores:
    r"""Scores as :math:`(s - \mu) / \sigma`, with the mean and the standard deviation of the question's candidates.

    They are 0 where all candidates of a question score alike.
    """
    counts = np.diff(scores.offsets)
    question = np.repeat(np.arange(len(counts)), counts)
    # Summed in rising order, so that a mean does not depend on the order of the candidates.
    order = np.lexsort((scores.values, question))
    rising, of = scores.values[order], question[order]
    mean = np.bincount(of, rising, len(counts)) / np.maximum(counts, 1)
    deviations = (rising - mean[of]) ** 2
    deviation = np.sqrt(np.bincount(of, deviations, len(counts)) / np.maximum(counts, 1))
    apart = np.zeros(len(counts), dtype=np.bool_)
    apart[of[1:][(rising[1:] > rising[:-1]) & (of[1:] == of[:-1])]] = True
    divisor = np.where(apart & (deviation > 0), deviation, np.inf)[question]
    return Scores((scores.values - mean[question]) / divisor, scores.offsets, scores.evidence)


def spread(values: NDArray[np.float64]) -> float:
    """The standard deviation of some scores; 1 where there is none to divide by."""
    deviation = float(values.std()) if len(values) else 0.0
    return deviation or 1.0


def search_shares(objective: Callable[[NDArray[np.float64]], float], n_members: int) -> NDArray[np.float64]:
    """The shares, none negative and 1 in sum, that are best for an objective: coordinate search on a grid.

    It begins with equal shares. Member by member it tries 0, 0.02, …, 1 for the one and what remains for the
    others, in the proportion that they have, and goes round until nothing improves. For two members that is every
    point of the grid. Of points equally good, the most even is taken, so that a member that does no good alone
    settles nothing.

    Parameters
    ----------
    objective : callable
        From shares, ndarray of shape (n_members,), to what is to be high.
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
            tried = [_with_share(shares, member, float(share)) for share in _SHARES]
            values = np.array([objective(point) for point in tried])
            if values.max() > best + _EQUAL:
                best = float(values.max())
                shares = min((tried[i] for i in np.flatnonzero(values >= best - _EQUAL)), key=np.max)
        if n_members == 2 or best <= before + _EQUAL:
            return shares


def _with_share(shares: NDArray[np.float64], member: int, share: float) -> NDArray[np.float64]:
    others = np.delete(shares, member)
    others = others / others.sum() if others.sum() > 0 else np.full(len(others), 1 / len(others))
    return np.insert((1 - share) * others, member, share)


def stack(scored: Sequence[Scores], right: NDArray[np.int64], C: float) -> Weighting:
    """Logistic regression over members' standardised scores and evidence flags (after Clark et al. 2016).

    Parameters
    ----------
    scored : sequence of Scores
        Each member's, of the training questions.
    right : ndarray of int64, shape (n_candidates,)
        1 for right candidates, 0 for the others.
    C : float
        The inverse strength of the L2 regularisation of all weights but the bias.

    Returns
    -------
    Weighting
        For scores as they are: its total is the log-odds of being right.
    """
    from sklearn.linear_model import LogisticRegression

    centres = [float(scores.values.mean()) for scores in scored]
    scales = [spread(scores.values) for scores in scored]
    columns = [(s.values - centre) / scale for s, centre, scale in zip(scored, centres, scales, strict=True)]
    columns += [scores.evidence.astype(np.float64) for scores in scored]
    learner = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-8, max_iter=1000)
    with one_thread():
        learner.fit(np.column_stack(columns), right)
    learned = learner.coef_[0].tolist()
    weights = [weight / scale for weight, scale in zip(learned, scales, strict=False)]
    bias = float(learner.intercept_[0]) - sum(w * centre for w, centre in zip(weights, centres, strict=True))
    return Weighting(weights, learned[len(scored) :], bias)
