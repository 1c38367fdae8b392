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
        bounds = self.interval and [round(bound, 6) for bound in self.interval]
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
    share = min(1.0, max_questions / max(int(sizes.sum()), 1))
    # A group is chosen where the share of all groups so far reaches the next whole number.
    reached = np.floor(np.arange(len(sizes) + 1) * share)
    return reached[1:] > reached[:-1]


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
        self.groups = np.unique(groups, return_inverse=True)[1]
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
        if any(q.query.strip() for q in self.table.questions):
            has.add("question")
        if any(text.strip() for text in self.table.passages[0]):
            has.add("passage")
        return tuple(self.row(name, sees) for name, sees in INPUTS.items() if sees <= has)

    def row(self, name: str, sees: frozenset[str]) -> HeaderRow:
        """Return the row of a learner that sees a part of the input."""
        hits = self.predict(sees)
        chance = float(self._chance[self.asked].mean())
        groups = np.unique(self.groups[self.asked], return_inverse=True)[1]
        return HeaderRow(name, float(hits.mean()), chance, mean_interval(hits, groups))

    def predict(self, sees: frozenset[str]) -> Floats:
        """Return the share of right options that a learner with this input finds, out of fold."""
        table, questions = self.table, self.asked
        sizes = table.sizes[questions]
        options = ragged_indices(table.offsets[questions], sizes)
        offsets = offsets_of(sizes)
        sparse, dense = self._inputs(sees, options)
        n_sparse = sparse.shape[1]
        target = table.right[options] / np.repeat(table.n_right[questions], sizes)
        hits = np.zeros(len(questions))
        fold = self.fold[questions]
        folds = np.unique(fold).tolist()
        for k in tracked(folds, len(folds), share=0.3):
            learn, held_out = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            rows = ragged_indices(offsets[learn], sizes[learn])
            w = _fit(sparse[rows], dense[rows], target[rows], offsets_of(sizes[learn]))
            rows = ragged_indices(offsets[held_out], sizes[held_out])
            scores = sparse[rows] @ w[:n_sparse] + dense[rows] @ w[n_sparse:]
            is_right = target[rows] > 0
            # Scores that differ by rounding errors only are ties.
            hits[held_out] = share_found(np.round(scores, 9), is_right, sizes[held_out])
        return hits

    def _inputs(self, sees: frozenset[str], options: Integers) -> tuple[csr_matrix, Floats]:
        """Return the sparse and dense features of some options that a learner sees."""
        from scipy.sparse import csr_matrix, hstack

        features = self.features
        families = features.families
        is_seen = [f.sees <= sees and f.source is not FeatureSource.PIECE for f in families]
        seen = np.array(is_seen, dtype=bool)
        parts = [csr_matrix((len(options), 0))]
        for numbers, ones in features.parts():
            if seen[numbers].any():
                parts.append(ones.select(options)[:, np.flatnonzero(seen[numbers])])
        if "question" in sees and self._has_pairs:
            parts.append(self._pairs)
        sparse = hstack(parts, format="csr", dtype=np.float64)
        dense = features.dense[options][:, seen[features.n_sparse :]]
        return sparse, dense.astype(np.float64)

    @cached_property
    def _pairs(self) -> csr_matrix:
        return _word_pairs(self.table, self.asked)


def _fit(sparse: csr_matrix, dense: Floats, target: Floats, offsets: Integers) -> Floats:
    """Fit a conditional logit with an L2 penalty, by some steps of L-BFGS."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    question = np.repeat(np.arange(len(sizes)), sizes)
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
        if steps:
            _, change, rho = steps[-1]
            direction *= 1 / (rho * float(change @ change))
        else:
            direction *= 1 / np.abs(gradient).sum()
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
        curvature = float(step @ change)
        if curvature > 0:
            steps.append((step, change, 1 / curvature))
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
    place = np.arange(len(order)) - offsets[question]
    # Equal scores at the border share their right options.
    ordered = scores[order]
    border = ordered[offsets[:-1] + m - 1]
    is_tied = ordered == border[question]
    is_above = ~is_tied & (place < m[question])
    is_right = right[order]

    def count(flags: NDArray[np.bool_]) -> NDArray[Any]:
        return np.bincount(question, flags, minlength=len(sizes))

    n_wanted = m - count(is_above)
    share = n_wanted * count(is_tied & is_right) / count(is_tied)
    return (count(is_right & is_above) + share) / m


def _word_pairs(table: OptionTable, questions: Integers) -> csr_matrix:
    """Return each pair of a word of the question and a word of the option, if some options have
    it.
    """
    from scipy.sparse import csr_matrix

    tokens, offsets = table.tokens
    q_tokens, q_offsets = table.encode([table.questions[i].query for i in questions.tolist()])
    n = len(table.encoder.vocabulary) + 1
    sizes = table.sizes[questions]
    options = ragged_indices(table.offsets[questions], sizes)
    text = table.text_index[options]
    question = np.repeat(np.arange(len(questions)), sizes)
    q_counts = np.minimum(np.diff(q_offsets), _MOST_WORDS)
    counts = np.minimum(np.diff(offsets)[text], _MOST_WORDS)
    blocks = list(runs_of(counts * q_counts[question], _BLOCK_PAIRS))

    def pairs(start: int, stop: int) -> tuple[Integers, Integers]:
        """Return the options of pairs, and their codes."""
        block_counts = counts[start:stop]
        row = np.repeat(np.arange(start, stop), block_counts)
        words = tokens[ragged_indices(offsets[text[start:stop]], block_counts)]
        question_of_row = question[row]
        per_word = q_counts[question_of_row]
        question_words = q_tokens[ragged_indices(q_offsets[question_of_row], per_word)]
        codes = question_words.astype(np.int64) * n + np.repeat(words, per_word)
        return np.repeat(row, per_word), codes

    block_codes = ((pairs(*block)[1], None) for block in blocks)
    codes = frequent_codes(block_codes, n**2, _LEAST_PAIRS)
    entries = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for block in blocks:
        row, code = pairs(*block)
        place, is_known = look_up(code, codes)
        entries.append((row[is_known], place[is_known]))
    rows, columns = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    data = np.ones(len(rows), dtype=np.float32)
    shape = len(options), max(len(codes), 1)
    matrix = csr_matrix((data, (rows, columns)), shape=shape)
    matrix.data[:] = 1  # a pair that an option has several times was added up
    matrix, _ = without_constants(matrix, offsets_of(sizes))
    return matrix[:, np.unique(matrix.indices)]
