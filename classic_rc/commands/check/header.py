"""What it takes to answer: how often learners that read only a part of the input are right, out
of fold.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.families import FeatureSource
from classic_rc.commands.check.feature_matrix import FeatureMatrix, without_constants
from classic_rc.commands.check.option_arrays import Floats, Integers, OptionTable
from classic_rc.commands.check.text_features import frequent_codes
from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan
from classic_rc.kernels.arrays import look_up, offsets_of, ragged_indices, runs_of
from classic_rc.results.mean_intervals import mean_interval
from classic_rc.results.resampling import Interval
from classic_rc.work import tracked

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

INPUTS: dict[str, frozenset[str]] = {
    "options only": frozenset({"options"}),
    "question and options": frozenset({"options", "question"}),
    "passage and options": frozenset({"options", "passage"}),
    "all": frozenset({"options", "question", "passage"}),
}
"""What each row of the header sees."""

MOST_QUESTIONS = 10_000
"""A larger dataset is represented by about this many questions, evenly spread over the groups of
passages.
"""

_PENALTY = 8.0
_MOST_STEPS, _MEMORY, _SUFFICIENT, _SHORTEST, _LEAST_DECREASE = 30, 6, 1e-4, 1e-3, 1e-5
_MOST_WORDS = 40  # of a question or option, in pairs
_LEAST_PAIRS, _BLOCK_PAIRS = 3, 2**19


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """How often a learner that sees a part of the input is right, as fractions."""

    input: str
    accuracy: float  # of as many answers as are right, the share that is
    chance: float
    interval: Interval | None  # 95 %, over groups of passages

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        bounds = None if self.interval is None else [round(x, 6) for x in self.interval]
        return {
            "input": self.input,
            "accuracy": round(self.accuracy, 6),
            "chance": round(self.chance, 6),
            "interval": bounds,
        }


def spread_evenly(sizes: Integers, max_questions: int) -> NDArray[np.bool_]:
    """Return which questions represent all of them: evenly spread groups, with about
    `max_questions` questions.

    Examples
    --------
    >>> spread_evenly(np.array([3, 3, 3, 3, 3, 3]), 9).tolist()
    [False, True, False, True, False, True]
    """
    numbers, share = np.arange(len(sizes)), min(1.0, max_questions / max(int(sizes.sum()), 1))
    return np.floor((numbers + 1) * share) > np.floor(numbers * share)


class Header:
    """Learners out of fold over the features of an audit; `chance` is how often guessing is
    right, by question.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        chance: Floats,
        *,
        folds: int = 5,
        group: str | None = None,
        has_pairs: bool = True,
    ) -> None:
        self.features, self.table = features, features.table
        self._has_pairs = has_pairs
        self._chance = chance
        groups = FoldPlan(folds, group).groups(self.table.dataset).numbers[self.table.rows]
        self.groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
        n_groups = int(self.groups.max(initial=-1)) + 1
        if n_groups < 2:
            raise UsageError(
                "a header needs at least two different passages or groups", field="questions"
            )
        is_kept_group = spread_evenly(np.bincount(self.groups), MOST_QUESTIONS)
        self.asked = np.flatnonzero(is_kept_group[self.groups])
        # The groups that are kept are counted for the folds: their own numbers are evenly spread.
        self.fold = (np.cumsum(is_kept_group) - 1)[self.groups] % min(folds, n_groups)

    def measure(self) -> tuple[HeaderRow, ...]:
        """Return the rows for which there is input."""
        has = {"options"}
        has |= {"question"} if any(q.query.strip() for q in self.table.questions) else set()
        has |= {"passage"} if any(text.strip() for text in self.table.passages[0]) else set()
        return tuple(self.row(name, sees) for name, sees in INPUTS.items() if sees <= has)

    def row(self, name: str, sees: frozenset[str]) -> HeaderRow:
        """Return the row of a learner that sees a part of the input."""
        hits = self.predict(sees)
        groups = np.unique(self.groups[self.asked], return_inverse=True)[1].reshape(-1)
        return HeaderRow(
            name,
            float(hits.mean()),
            float(self._chance[self.asked].mean()),
            mean_interval(hits, groups),
        )

    def predict(self, sees: frozenset[str]) -> Floats:
        """Return the share of right options that a learner with this input finds, out of fold."""
        from scipy.sparse import csr_matrix, hstack

        table, features = self.table, self.features
        questions = self.asked
        options = ragged_indices(table.offsets[:-1][questions], table.sizes[questions])
        offsets = offsets_of(table.sizes[questions])
        seen = np.array(
            [f.sees <= sees and f.source is not FeatureSource.PIECE for f in features.families],
            dtype=bool,
        )
        sparse = hstack(
            [
                csr_matrix((len(options), 0)),
                *(
                    ones.select(options)[:, np.flatnonzero(seen[own])]
                    for own, ones in features.parts()
                    if seen[own].any()
                ),
                *([self._pairs] if "question" in sees and self._has_pairs else []),
            ],
            format="csr",
            dtype=np.float64,
        )
        dense = features.dense[options][:, seen[features.n_sparse :]].astype(np.float64)
        target = table.right[options] / np.repeat(table.n_right[questions], table.sizes[questions])
        hits = np.zeros(len(questions))
        fold = self.fold[questions]
        folds = np.unique(fold).tolist()
        for k in tracked(folds, len(folds), share=0.3):
            learn, own = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            rows, held_out_rows = (
                ragged_indices(offsets[:-1][q], np.diff(offsets)[q]) for q in (learn, own)
            )
            w = _fit(
                sparse[rows],
                dense[rows],
                target[rows],
                offsets_of(np.diff(offsets)[learn]),
            )
            scores = (
                sparse[held_out_rows] @ w[: sparse.shape[1]]
                + dense[held_out_rows] @ w[sparse.shape[1] :]
            )
            sizes = np.diff(offsets)[own]
            hits[own] = share_found(np.round(scores, 9), target[held_out_rows] > 0, sizes)
        return hits

    @cached_property
    def _pairs(self) -> csr_matrix:
        return _word_pairs(self.table, self.asked)


def _fit(sparse: csr_matrix, dense: Floats, target: Floats, offsets: Integers) -> Floats:
    """Fit a conditional logit with an L2 penalty, by some steps of L-BFGS."""
    starts, question = offsets[:-1], np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    n_sparse = sparse.shape[1]
    transposed = sparse.T

    def objective(w: Floats) -> tuple[float, Floats]:
        scores = sparse @ w[:n_sparse] + dense @ w[n_sparse:]
        scores -= np.maximum.reduceat(scores, starts)[question]
        odds = np.exp(scores)
        totals = np.add.reduceat(odds, starts)
        losses = np.log(totals) - np.add.reduceat(target * scores, starts)
        residual = odds / totals[question] - target
        gradient = _PENALTY * w
        gradient[:n_sparse] += transposed @ residual
        gradient[n_sparse:] += dense.T @ residual
        return float(losses.sum() + _PENALTY / 2 * w @ w), gradient

    w = np.zeros(n_sparse + dense.shape[1])
    value, gradient = objective(w)
    product = np.empty_like(w)
    # steps, changes of the gradient, 1 / product
    steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    # mirrored items may leave nothing to learn
    for _ in range(_MOST_STEPS if gradient.any() else 0):
        direction, factors = -gradient, []
        for s, y, rho in reversed(steps):
            factors.append(rho * float(s @ direction))
            direction -= np.multiply(factors[-1], y, out=product)
        direction *= (
            1 / (steps[-1][2] * float(steps[-1][1] @ steps[-1][1]))
            if steps
            else 1 / np.abs(gradient).sum()
        )
        for s, y, rho in steps:
            factor = factors.pop() - rho * float(y @ direction)
            direction += np.multiply(factor, s, out=product)
        slope, length = float(gradient @ direction), 1.0
        while True:
            new_value, new_gradient = objective(w + length * direction)
            if new_value <= value + _SUFFICIENT * length * slope or length < _SHORTEST:
                break
            length /= 2
        step, change = length * direction, new_gradient - gradient
        if float(step @ change) > 0:
            steps.append((step, change, 1 / float(step @ change)))
        w, decrease = w + step, value - new_value
        value, gradient = new_value, new_gradient
        if decrease < _LEAST_DECREASE * abs(value):
            break
    return w


def share_found(scores: Floats, right: NDArray[np.bool_], sizes: Integers) -> Floats:
    """Return the share of right options among the m best of each question, which has m right
    ones.
    """
    offsets = offsets_of(sizes)
    question = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((-scores, question))
    m = np.add.reduceat(right.astype(np.int64), offsets[:-1])
    place = np.arange(len(order)) - offsets[:-1][question]
    # Equal scores at the border share their right options.
    ordered = scores[order]
    border = ordered[offsets[:-1] + m - 1]
    tied = ordered == border[question]
    above = np.bincount(
        question, right[order] & ~tied & (place < m[question]), minlength=len(sizes)
    )
    n_tied = np.bincount(question, tied, minlength=len(sizes))
    right_tied = np.bincount(question, tied & right[order], minlength=len(sizes))
    n_wanted = m - np.bincount(question, ~tied & (place < m[question]), minlength=len(sizes))
    return (above + n_wanted * right_tied / n_tied) / m


def _word_pairs(table: OptionTable, questions: Integers) -> csr_matrix:
    """Return each pair of a word of the question and a word of the option, if some options have
    it.
    """
    from scipy.sparse import csr_matrix

    tokens, offsets = table.tokens
    q_tokens, q_offsets = table.encode([table.questions[i].query for i in questions.tolist()])
    n = len(table.encoder.vocabulary) + 1
    options = ragged_indices(table.offsets[:-1][questions], table.sizes[questions])
    text = table.text_index[options]
    question = np.repeat(np.arange(len(questions)), table.sizes[questions])
    q_counts = np.minimum(np.diff(q_offsets), _MOST_WORDS)
    counts = np.minimum(np.diff(offsets)[text], _MOST_WORDS)
    blocks = list(runs_of(counts * q_counts[question], _BLOCK_PAIRS))

    def pairs(start: int, stop: int) -> tuple[Integers, Integers]:
        """Return the options of pairs, and their codes."""
        block_counts = counts[start:stop]
        row = np.repeat(np.arange(start, stop), block_counts)
        words = tokens[ragged_indices(offsets[:-1][text[start:stop]], block_counts)].astype(
            np.int64
        )
        per_word = q_counts[question[row]]
        question_words = q_tokens[ragged_indices(q_offsets[:-1][question[row]], per_word)].astype(
            np.int64
        )
        return np.repeat(row, per_word), question_words * n + np.repeat(words, per_word)

    codes = frequent_codes(((pairs(*block)[1], None) for block in blocks), n**2, _LEAST_PAIRS)
    entries = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for block in blocks:
        row, code = pairs(*block)
        place, is_known = look_up(code, codes)
        entries.append((row[is_known], place[is_known]))
    rows, columns = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    data = np.ones(len(rows), dtype=np.float32)
    matrix = csr_matrix((data, (rows, columns)), shape=(len(options), max(len(codes), 1)))
    matrix.data[:] = 1
    matrix, _ = without_constants(matrix, offsets_of(table.sizes[questions]))
    return matrix[:, np.unique(matrix.indices)]
