"""The weights of a combination: normalising the members' scores, searching for weights, and
stacking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.folds import Folds
from classic_rc.parameters import clone
from classic_rc.predictions import ABSOLUTE_TIE_TOLERANCE, RELATIVE_TIE_TOLERANCE, Scores
from classic_rc.questions import Question
from classic_rc.solvers.learning import one_thread

_SHARES = np.arange(51) / 50
_TOLERANCE = 1e-12
_USUAL_EXPONENT = 300
"""Values between 2**-300 and 2**300 have squares that float64 holds, sums of 2**400 of them too."""


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
        """Return what each member adds to the candidates' scores: arrays of shape
        (n_candidates,).
        """
        members = zip(self.weights, self.evidence_weights, scored, strict=True)
        return [
            weight * scores.values + evidence_weight * scores.evidence
            for weight, evidence_weight, scores in members
        ]

    def total(self, scored: Sequence[Scores]) -> Scores:
        """Return the combined scores, with evidence if any member has evidence."""
        # Member by member, so that a candidate's sum has the same rounding in any batch.
        values = np.full(len(scored[0].values), self.bias)
        with np.errstate(over="ignore", invalid="ignore"):  # an error below
            for share in self.shares(scored):
                values += share
        if not np.isfinite(values).all():
            largest = max(float(np.abs(scores.values).max()) for scores in scored)
            problem = (
                f"the weighted sum of scores up to {largest:g} is too large for a number: "
                "normalise the scores (normalise=question)"
            )
            raise UsageError(
                problem, field="weights", found=str(list(self.weights)), expected="finite sums"
            )
        evidence = np.any([scores.evidence for scores in scored], axis=0)
        return Scores(values, scored[0].offsets, evidence)


def standardise_within_questions(scores: Scores) -> Scores:
    r"""Return :math:`(s - \mu) / \sigma`, with the mean and the standard deviation of the
    question's candidates.

    Scores that tie count as equal, so that their rounding does not become a difference of the
    result. If all candidates of a question have the same score, they get 0.
    """
    scores = join_ties(scores)
    counts = np.diff(scores.offsets)
    question = np.repeat(np.arange(len(counts)), counts)
    values = _shrink(scores.values, question, len(counts))
    # Sum in ascending order, so that a mean does not depend on the order of the candidates.
    order = np.lexsort((values, question))
    ascending, owner = values[order], question[order]
    sizes = np.maximum(counts, 1)
    mean = np.bincount(owner, ascending, len(counts)) / sizes
    squares = (ascending - mean[owner]) ** 2
    deviation = np.sqrt(np.bincount(owner, squares, len(counts)) / sizes)
    # The deviation of equal scores may come out as a tiny number instead of 0, so look for a real
    # difference.
    differ = _have_different_scores(ascending, owner, len(counts))
    divisor = np.where(differ & (deviation > 0), deviation, np.inf)[question]
    return Scores((values - mean[question]) / divisor, scores.offsets, scores.evidence)


def _have_different_scores(
    ascending: NDArray[np.float64], question: NDArray[np.int64], n_questions: int
) -> NDArray[np.bool_]:
    """Return whether the scores of each question, which ascend, are not all equal."""
    rises = (ascending[1:] > ascending[:-1]) & (question[1:] == question[:-1])
    differ = np.zeros(n_questions, dtype=np.bool_)
    differ[question[1:][rises]] = True
    return differ


def join_ties(scores: Scores) -> Scores:
    """Return the scores with the best score of each tie in its place, at every rank of a question.

    The best candidates are those that tie with the best score; the next rank starts with the best
    of the others.
    """
    counts = np.diff(scores.offsets)
    question = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-scores.values, question))
    falling, owner = scores.values[order], question[order]
    rising = -falling
    margins = scores.margins()
    with np.errstate(over="ignore"):  # a gap above all floats is no tie
        gaps = falling[:-1] - falling[1:]
    near = (gaps > 0) & (gaps <= margins[owner[1:]])
    near &= owner[1:] == owner[:-1]
    # Only questions with a small difference need the loop over ranks.
    for q in np.unique(owner[1:][near]).tolist():
        start, stop = scores.offsets[q : q + 2].tolist()
        while start < stop:
            first = falling[start]
            n_tied = np.searchsorted(rising[start:stop], margins[q] - first, side="right")
            after = start + int(n_tied)
            falling[start:after] = first
            start = after
    values = np.empty_like(falling)
    values[order] = falling
    return Scores(values, scores.offsets, scores.evidence, scores.relative_ties)


def _shrink(
    values: NDArray[np.float64], group: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Divide each group's unusual values by a power of two: no digit changes, and their squares
    do not overflow.
    """
    largest = np.zeros(n_groups)
    np.maximum.at(largest, group, np.abs(values))
    return np.ldexp(values, -_unusual_exponent(largest)[group])


def _unusual_exponent(largest: Any) -> Any:
    """Return the exponents of the largest values, or 0 for values of a usual size."""
    exponent = np.frexp(largest)[1]
    return np.where(np.abs(exponent) > _USUAL_EXPONENT, exponent, 0)


def centre_and_scale(scores: Scores) -> tuple[float, float]:
    """Return the mean and the standard deviation of all scores, to standardise them.

    The second is 1 for no scores and for equal ones. If the scores of all questions differ by no
    more than ties do, it is at least the largest score, so that rounding does not become a
    difference.
    """
    values = scores.values
    if not len(values):
        return 0.0, 1.0
    largest = float(np.abs(values).max())
    shift = _unusual_exponent(largest)
    unit = np.ldexp(values, -shift)
    centre = float(np.ldexp(unit.mean(), shift))
    scale = float(np.ldexp(unit.std(), shift))
    low, high = float(values.min()), float(values.max())
    if low == high:
        return centre, 1.0
    tolerance = RELATIVE_TIE_TOLERANCE * largest if scores.relative_ties else ABSOLUTE_TIE_TOLERANCE
    return centre, max(1.0, largest) if high - low <= tolerance else scale


def standardise(scores: Scores, centre: float, scale: float) -> Scores:
    """Return (s - centre) / scale, for the centre and scale of :func:`centre_and_scale`."""
    largest = float(np.abs(scores.values).max(initial=0.0))
    shift = _unusual_exponent(max(largest, abs(centre)))
    values = np.ldexp(scores.values, -shift) - np.ldexp(centre, -shift)
    values /= np.ldexp(scale, -shift)
    return Scores(values, scores.offsets, scores.evidence)


def search_shares(
    objective: Callable[[NDArray[np.float64]], float], n_members: int
) -> NDArray[np.float64]:
    """Find the non-negative shares with sum 1 that maximise an objective, by coordinate search on a
    grid.

    The search starts with equal shares. Member by member, it tries the shares 0, 0.02, …, 1 for
    this member and divides the rest among the others in their current proportion. It repeats until
    nothing improves. For two members this covers the whole grid. Of equally good points it uses the
    most even one, so that a tie does not give all the weight to one member.
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
                best_points = np.flatnonzero(values >= best - _TOLERANCE)
                shares = min((points[i] for i in best_points), key=np.max)
        if n_members == 2 or best <= before + _TOLERANCE:
            return shares


def search_weights(scored: Sequence[Scores], objective: Callable[[Scores], float]) -> Weighting:
    """Return the weights that maximise an objective of the total; see :func:`search_shares`.

    The search is over shares of standardised scores, so that its grid suits members of any scale.
    The largest weight is 1.
    """
    scales = np.array([centre_and_scale(scores)[1] for scores in scored])

    def weighting_of(shares: NDArray[np.float64]) -> Weighting:
        weights = shares / scales
        return Weighting.of_scores((weights / weights.max()).tolist())

    shares = search_shares(
        lambda shares: objective(weighting_of(shares).total(scored)), len(scored)
    )
    return weighting_of(shares)


class TrainingResult:
    """The result of scores on training questions, to compare weights; `labels` are 1 for right
    candidates, else 0.

    If one answer is chosen, it is the share of questions with a right candidate; a k-way tie counts
    1/k, whatever the policy, because no draw should choose weights. If a threshold is tuned, it is
    its metric at its best value.
    """

    def __init__(self, decision: Decision, questions: Sequence[Question], labels: Scores) -> None:
        self._decision, self._questions, self._labels = decision, questions, labels

    @property
    def is_defined(self) -> bool:
        """Whether the decision can compare scores in any unit; a fixed threshold cannot."""
        return isinstance(self._decision, Argmax | TunedThreshold)

    def of(self, index: NDArray[np.int64]) -> Callable[[Scores], float]:
        """Return a function that measures scores of the questions at some positions."""
        decision = self._decision
        if isinstance(decision, TunedThreshold):
            questions = [self._questions[i] for i in index.tolist()]
            return lambda scores: clone(decision).fit(scores, questions).best_score_
        labels = self._labels.take(index)
        counts = np.diff(labels.offsets)
        owner = np.repeat(np.arange(len(counts)), counts)

        def measure(scores: Scores) -> float:
            best = scores.are_best(getattr(decision, "tie_tolerance", ABSOLUTE_TIE_TOLERANCE))
            n_tied = np.maximum(np.bincount(owner, best, len(counts)), 1)
            return float((np.bincount(owner, best * labels.values, len(counts)) / n_tied).mean())

        return measure


def total_out_of_fold(
    learn: Callable[[list[Scores], NDArray[np.int64]], Weighting],
    scored: Sequence[Scores],
    folds: Folds,
) -> Scores:
    """Return the members' weighted sum, the weights of each fold learned on the others.

    `learn` returns the weights for the members' scores of some questions, given these and their
    positions.
    """
    totals, order = [], []
    for others, held_out in folds:
        weighting = learn([scores.take(others) for scores in scored], others)
        totals.append(weighting.total([scores.take(held_out) for scores in scored]))
        order.append(held_out)
    return Scores.concatenate(totals).take(np.argsort(np.concatenate(order)))


def _with_share(shares: NDArray[np.float64], member: int, share: float) -> NDArray[np.float64]:
    """Return the shares with `share` for one member; the others divide the rest in their current
    proportion.
    """
    others = np.delete(shares, member)
    total = others.sum()
    proportions = others / total if total > 0 else np.full(len(others), 1 / len(others))
    return np.insert((1 - share) * proportions, member, share)


def stack(scored: Sequence[Scores], right: NDArray[np.int64], C: float) -> Weighting:
    """Fit a logistic regression over members' standardised scores and evidence flags (after Clark
    et al. 2016).

    `right` is 1 for right candidates, else 0; C is the inverse strength of the L2 regularisation of
    all weights except the bias. The weights are for the scores before standardisation. The total is
    the log-odds that a candidate is right.
    """
    from sklearn.linear_model import LogisticRegression

    centres, scales = zip(*(centre_and_scale(scores) for scores in scored), strict=True)
    columns = [standardise(*member).values for member in zip(scored, centres, scales, strict=True)]
    columns += [scores.evidence.astype(np.float64) for scores in scored]
    learner = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-8, max_iter=1000)
    with one_thread():
        learner.fit(np.column_stack(columns), right)
    coefficients = learner.coef_[0].tolist()
    # The scales and centres move into the weights and the bias. `coefficients` is longer than
    # `scales`: the evidence weights follow the score weights.
    weights = [weight / scale for weight, scale in zip(coefficients, scales, strict=False)]
    shift = sum(weight * centre for weight, centre in zip(weights, centres, strict=True))
    bias = float(learner.intercept_[0]) - shift
    return Weighting(weights, coefficients[len(scored) :], bias)
