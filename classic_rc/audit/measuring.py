"""Measuring partial inputs: their results, tests against chance, and which finding follows from which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.null import Tails, class_moments, class_tails, deflated, permutation_tails, weighted_holm
from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules.partial_input import PartialInput
from classic_rc.evaluation.resampling import Interval
from classic_rc.io.json import Seconds

MIN_GROUPS = 10
"""With fewer passages or groups there is no interval: their variance says too little."""

SIGNIFICANCE = 0.05
_REDUNDANT = 0.01
"""A finding whose p-value next to a stronger one is above this follows from the stronger one."""

_TOGETHER = 4
"""So many of the strongest findings explain others together."""

_SHOWN_SO_FAR = 5

_ABOUT_EQUAL = 0.015
"""Findings whose gains differ by less are about as strong as each other."""

_AS_SURE = 0.3
"""Of findings about as strong, one whose p-value has far fewer zeros is more likely to be there by chance."""

_FAR_SURER, _NEARLY = 1.5, 0.75
"""The cause of a stronger finding has so many times the zeros in its p-value, and so much of the gain."""

_DERIVED_DISCOUNT = 0.05
"""A word that right options share makes their words the most common ones, and moves them in the alphabet."""

_COUNTS_DISCOUNT = 0.6
"""Counts learn whatever words a leak brings with it. A fixed rule that gains nearly as much says it better."""

_KINDS = (
    "order",
    "fields",
    "position",
    "numbers",
    "marks",
    "words",
    "capitals",
    "white space",
    "punctuation",
    "endings",
    "characters",
    "length",
    "letters",
    "remainders",
    "reuse",
    "similarity",
    "question",
    "passage",
    "alphabet",
    "derived",
    "counts",
    "hashes",
    "learned",
    "learned shortcuts",
)
"""The groups of rules, the most specific first: a full stop at the end also makes more sentences."""


class Verdict(StrEnum):
    """What it means that a partial input tells the right option."""

    ARTIFACT = "artifact"
    """The passage is not seen: the question is answered without reading."""
    SHORTCUT = "shortcut"
    """The passage is seen, but the question is not, or not all of it."""


def _verdict_of(rule: PartialInput) -> Verdict:
    return Verdict.SHORTCUT if rule.reads_passage else Verdict.ARTIFACT


@dataclass(frozen=True, slots=True)
class PartialResult:
    """The result of one partial input on a dataset.

    Parameters
    ----------
    name : str
    sees : tuple of str
        What it reads.
    group : str
        The rules that share a part of the error level with it.
    learned : bool
        Whether it learned from gold (out of fold, or from training data).
    rule : str
        What it says of the right option.
    value, chance, gain : float
        The metric, its expectation when gold is permuted, and their difference, as fractions. If all questions have
        the same options, chance is the share of the most frequent answer.
    interval : Interval or None
        The gain's 95 % interval, from the variance between passages; None with fewer than :data:`MIN_GROUPS`.
    p, p_holm : float
        The p-value, and the same adjusted for all partial inputs of the dataset.
    verdict : Verdict or None
        None if it is no finding.
    follows_from : str or None
        The name of a stronger finding that explains this one.
    answered : tuple of str
        The ids of the questions that it answers: it singles out right options.
    remaining : int
        The number of questions that it does not answer.
    seconds : float
        Wall time.
    """

    name: str
    sees: tuple[str, ...]
    group: str
    learned: bool
    rule: str
    value: float
    chance: float
    gain: float
    interval: Interval | None
    p: float
    p_holm: float
    verdict: Verdict | None
    follows_from: str | None
    answered: tuple[str, ...] = field(repr=False)
    remaining: int
    seconds: float

    @property
    def sentence(self) -> str:
        """The rule and its figures in one line."""
        where = ", out of fold" if self.learned else ""
        return f"the right option {self.rule}: {100 * self.value:.1f} %{where}, chance {100 * self.chance:.1f} %"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; of the ids that it answers the first five."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "answered"}
        plain["sees"], plain["seconds"] = list(self.sees), Seconds(rule=self.seconds)
        plain["interval"] = self.interval and list(self.interval)
        plain["verdict"] = None if self.verdict is None else str(self.verdict)
        return {**plain, "answers": len(self.answered), "examples": list(self.answered[:5])}


@dataclass(frozen=True, slots=True)
class _Row:
    """A measured partial input, before it is known which others there are."""

    rule: PartialInput
    order: int
    below: bool
    packed: NDArray[np.uint8]  # bits of each option, the first of them whether it is selected: rows are many
    n_options: int
    value: float
    chance: float
    p: float
    deflate: bool
    seconds: float

    @property
    def selected(self) -> NDArray[np.bool_]:
        """Whether each option is selected."""
        return np.unpackbits(self.packed[0], count=self.n_options).astype(np.bool_)

    @property
    def levels(self) -> Integers:
        """A number for each option; options with equal numbers are alike to the rule."""
        bits = np.unpackbits(self.packed, axis=1, count=self.n_options)
        return np.asarray((1 << np.arange(len(bits))) @ bits.astype(np.int64), dtype=np.int64)

    @property
    def gain(self) -> float:
        return self.value - self.chance

    @property
    def sentence(self) -> str:
        """What it says of the right option, and how far that gets, in one line."""
        said = self.rule.below if self.below else self.rule.above
        return f"the right option {said}: {100 * self.value:.1f} %, chance {100 * self.chance:.1f} %"


_Counts = tuple[Integers, Integers]


class Measure:
    """Measures selections of options, and tests all of them together."""

    def __init__(self, table: OptionTable, groups: Integers, level: float) -> None:
        self.table, self.level = table, level
        self.groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
        self.rows: list[_Row] = []
        self.rare = 0
        self._overall: dict[int, tuple[float, float]] = {}
        self._alike: dict[tuple[int, ...], tuple[Integers, NDArray[np.int32]]] = {}
        self.expected_share = table.n_right / table.sizes
        self.classes = table.constant_class
        self.majority: float | None = None
        if self.classes is not None:
            k = int(table.sizes[0])
            self.gold_class = self.classes.reshape(-1, k)[np.arange(len(table)), table.gold]
            self.majority = float(np.bincount(self.gold_class, minlength=k).max() / len(table))

    def add(self, rule: PartialInput, scores: Floats, deflate: bool, seconds: float) -> bool:
        """Measure the selection that scores make, unless it can never be a finding; return whether it can."""
        row = self._measure(rule, scores, deflate, seconds)
        if row is None:
            self.rare += 1
            return False
        self.rows.append(row)
        return True

    def summary(self) -> Iterator[str]:
        """Yield the strongest findings so far, one line each."""
        found = [row for row, p in self._adjusted() if self._is_finding(row, p)]
        for row in sorted(found, key=lambda row: -abs(row.gain))[:_SHOWN_SO_FAR]:
            yield f"{_verdict_of(row.rule)}: {row.sentence}"
        if len(found) > _SHOWN_SO_FAR:
            yield f"and {len(found) - _SHOWN_SO_FAR} more findings"
        elif not found:
            yield f"no finding among {len(self.rows):,} partial inputs"

    def _measure(self, rule: PartialInput, scores: Floats, deflate: bool, seconds: float) -> _Row | None:
        table = self.table
        selected = table.selection(scores)
        counts = self._counts(selected)
        tails = self._tails(selected, counts, bool(rule.below))
        if tails is None:
            return None
        below = bool(rule.below) and tails.lower < tails.upper
        if below and (rule.flips or (self.classes is not None and table.sizes[0] == 2)):
            selected = table.selection(-scores)
            counts = self._counts(selected)
        value, chance, _ = self._value(counts)
        p = tails.two_sided if rule.below else (deflated(tails.upper) if deflate else tails.upper)
        packed = np.packbits(self._bits(selected, scores), axis=1)
        return _Row(rule, len(self.rows), below, packed, len(selected), value, chance, p, deflate, seconds)

    def _bits(self, selected: NDArray[np.bool_], scores: Floats) -> NDArray[np.bool_]:
        """Return what other rules are compared with, shape (n_bits, n_options).

        To be above the mean says little of an option among many. Where several may be right, the quarters of the
        ranks are kept too: the second longest option of six is right more often than the fifth.
        """
        table = self.table
        if not table.selects_several:
            return selected[None]
        quarter = (4 * table.rank(scores) / table.sizes[table.question]).astype(np.int64)
        return np.stack([selected, quarter % 2 == 1, quarter >= 2])

    def _counts(self, selected: NDArray[np.bool_]) -> _Counts:
        """Return how many options of each question are selected, and how many of them are right."""
        return (
            self.table.sum(selected.astype(np.int64)),
            self.table.sum((selected & self.table.right).astype(np.int64)),
        )

    def _tails(self, selected: NDArray[np.bool_], counts: _Counts, is_fixed: bool) -> Tails | None:
        """Return the tails of a selection; None if it tells apart the options of too few questions."""
        table = self.table
        n_selected, hits = counts
        if self.classes is not None:
            credit = self._credit(selected)
            if is_fixed and np.ptp(credit, axis=0).max() < 1e-9:
                return None
            return class_tails(credit, self.gold_class)
        if is_fixed and self._reach(n_selected) < self.level / 100:
            return None
        weights = np.ones(len(table)) if table.selects_several else 1 / np.maximum(n_selected, 1)
        return permutation_tails(table.sizes, table.n_right, n_selected, hits, weights)

    def _reach(self, n_selected: Integers) -> float:
        """Return how far from chance a selection can be at most."""
        table = self.table
        most = np.minimum(n_selected, table.n_right)
        least = np.maximum(n_selected + table.n_right - table.sizes, 0)
        expected = n_selected * self.expected_share
        weights, scale = self._weights(n_selected)
        return float(max(((most - expected) * weights).sum(), ((expected - least) * weights).sum()) / max(scale, 1))

    def _weights(self, n_selected: Integers) -> tuple[Floats, float]:
        """Return the metric's weight of a hit in each question, and its denominator."""
        table = self.table
        if table.selects_several:  # F1 over all options: 2 TP / (selected + right)
            return np.full(len(table), 2.0), float(n_selected.sum() + table.n_right.sum())
        return 1 / np.maximum(n_selected, 1), float(len(table))

    def _value(self, counts: _Counts) -> tuple[float, float, Floats]:
        """Return the metric, its expectation, and what each question adds to their difference, roughly."""
        n_selected, hits = counts
        weights, scale = self._weights(n_selected)
        scale = max(scale, 1.0)
        expected = weights * n_selected * self.expected_share
        value, chance = float((weights * hits).sum() / scale), float(expected.sum() / scale)
        if self.majority is not None:
            chance, expected = self.majority, np.full(len(self.table), self.majority)
        residual = weights * hits - expected
        if self.table.selects_several:  # the delta method: the denominator varies too
            residual = residual - (value - chance) * (n_selected + self.table.n_right)
        else:
            residual = residual - (value - chance)
        return value, chance, residual / scale

    def _interval(self, gain: float, residual: Floats) -> Interval | None:
        n_groups = int(self.groups.max(initial=-1)) + 1
        if n_groups < MIN_GROUPS:
            return None
        sums = np.bincount(self.groups, weights=residual, minlength=n_groups)
        error = 1.959964 * float(np.sqrt((sums**2).sum() * n_groups / (n_groups - 1)))
        return Interval(gain - error, gain + error)

    def results(self) -> tuple[PartialResult, ...]:
        """Return all results with adjusted p-values and verdicts, findings first."""
        found: list[tuple[_Row, float]] = []
        others: list[tuple[_Row, float]] = []
        for row, p in self._adjusted():
            (found if self._is_finding(row, p) else others).append((row, p))
        results = []
        for row, p, leader in self._explain(found):
            results.append(
                self._result(row, p, _verdict_of(row.rule), None if leader is None else self._name(leader))
            )
        results.sort(key=lambda result: result.follows_from is not None)
        return (*results, *(self._result(row, p, None, None) for row, p in others))

    def _adjusted(self) -> Iterator[tuple[_Row, float]]:
        """Yield all rows with their adjusted p-values."""
        sizes = Counter(row.rule.group for row in self.rows)
        adjusted = weighted_holm([row.p for row in self.rows], [1 / sizes[row.rule.group] for row in self.rows])
        return zip(self.rows, adjusted.tolist(), strict=True)

    def _is_finding(self, row: _Row, p: float) -> bool:
        return p <= SIGNIFICANCE and 100 * abs(row.gain) >= self.level and (row.gain > 0 or row.below)

    def _explain(self, found: list[tuple[_Row, float]]) -> Iterator[tuple[_Row, float, _Row | None]]:
        """Yield findings, the strongest first, with the stronger one that each follows from.

        Fixed rules and counts come before regressions, which say less. Of rules that are about as strong, the
        one that says most comes first.
        """
        leaders: list[_Row] = []
        for learned in (False, True):
            left = [item for item in found if item[0].rule.group.startswith("learned") is learned]
            while left:
                best = max(map(self._strength, left))
                near = [item for item in left if self._strength(item) >= best - _ABOUT_EQUAL]
                surest = max(self._surprise(item) for item in near)
                near = [item for item in near if self._surprise(item) >= _AS_SURE * surest]
                next_ = self._cause_of(min(near, key=self._vagueness), left)
                leader = self._leader_of(next_[0], leaders)
                left.remove(next_)
                yield (*next_, leader)
                if leader is None:
                    leaders.append(next_[0])

    def _cause_of(self, strongest: tuple[_Row, float], left: Sequence[tuple[_Row, float]]) -> tuple[_Row, float]:
        """Return the far surer finding that the strongest one follows from; without any, the strongest itself.

        A cue in a quarter of the questions also shifts rules that answer all of them, such as shares of letters.
        These win by what they guess right elsewhere, and their p-values are far larger.
        """
        surer = [
            item
            for item in left
            if self._surprise(item) >= _FAR_SURER * self._surprise(strongest)
            and self._strength(item) >= _NEARLY * self._strength(strongest)
        ]
        causes = [item for item in surer if self._follows(strongest[0], [item[0]])]
        if causes:
            surest = max(map(self._surprise, causes))
            return min((item for item in causes if self._surprise(item) >= 0.95 * surest), key=self._vagueness)
        return strongest

    @staticmethod
    def _surprise(item: tuple[_Row, float]) -> float:
        """Return the number of zeros of the p-value, at most 300."""
        return -float(np.log10(max(item[0].p, 1e-300)))

    @staticmethod
    def _vagueness(item: tuple[_Row, float]) -> tuple[bool, int, int]:
        """Return a key that is smaller the more a rule says: counts of values say less than fixed rules."""
        return not item[0].rule.below, _KINDS.index(item[0].rule.group), item[0].order

    @staticmethod
    def _strength(item: tuple[_Row, float]) -> float:
        """Return the distance from chance; less for rules that other leaks set off."""
        gain, group = abs(item[0].gain), item[0].rule.group
        if group == "counts":
            return gain * _COUNTS_DISCOUNT
        return gain - (_DERIVED_DISCOUNT if group in ("derived", "alphabet") else 0)

    def _leader_of(self, row: _Row, leaders: Sequence[_Row]) -> _Row | None:
        """Return the stronger finding that explains a finding, alone or with the strongest others."""
        # An artifact needs no passage, so no shortcut explains it.
        leaders = [leader for leader in leaders if row.rule.reads_passage or not leader.rule.reads_passage]
        alone = next((leader for leader in leaders if self._follows(row, [leader])), None)
        if alone is None and len(leaders) > 1 and self._follows(row, leaders[:_TOGETHER]):
            return min(leaders[:_TOGETHER], key=lambda leader: self._given(row, [leader])[0])
        return alone

    @staticmethod
    def _name(row: _Row) -> str:
        return row.rule.below if row.below else row.rule.name

    def _follows(self, row: _Row, leaders: Sequence[_Row]) -> bool:
        """Return whether a finding adds nothing to stronger ones."""
        from scipy.stats import norm

        deviation, variance = self._given(row, leaders)
        if row.order not in self._overall:
            self._overall[row.order] = self._given(row, [])
        overall, full_variance = self._overall[row.order]
        if variance <= 1e-9:
            return True
        z = deviation / np.sqrt(variance)
        p = float(norm.sf(z / np.sqrt(2))) if not row.rule.below else 2 * float(norm.sf(abs(z)))
        # What the leaders decide already is no room for another rule, so the share of the variance is the measure.
        return p > _REDUNDANT or abs(deviation) < 0.5 * abs(overall) * variance / full_variance

    def _given(self, row: _Row, leaders: Sequence[_Row]) -> tuple[float, float]:
        """Return a finding's credit minus its expectation, and its variance, given the selections of others.

        Gold is permuted within the options of a question that the others select alike. If all questions have the
        same options, it is permuted between questions that the others answer alike.
        """
        table, deviation, variance = self.table, 0.0, 0.0
        if self.classes is not None:
            credit = self._credit(row.selected)
            answers = np.hstack([np.zeros((len(table), 1)), *(self._credit(leader.selected) for leader in leaders)])
            strata = np.unique(answers, axis=0, return_inverse=True)[1].reshape(-1)
            for stratum in range(int(strata.max()) + 1):
                own = strata == stratum
                if own.sum() > 1:
                    moments = class_moments(credit[own], self.gold_class[own])
                    deviation, variance = deviation + moments[0], variance + moments[1]
            return deviation, variance
        question, cells = self._cells(tuple(leaders))
        selected = row.selected
        k, g, s, h = (
            np.bincount(cells[kept], minlength=len(question)).astype(np.float64)
            for kept in (slice(None), table.right, selected, selected & table.right)
        )
        weights = self._weights(self._counts(selected)[0])[0][question]
        mean = s * g / k
        of_mean = mean * (1 - g / k) * (k - s) / np.maximum(k - 1, 1)
        return float((weights * (h - mean)).sum()), float((weights**2 * of_mean).sum())

    def _cells(self, leaders: tuple[_Row, ...]) -> tuple[Integers, NDArray[np.int32]]:
        """Return the question of each cell, and the cell of each option: options of a question that are alike."""
        key = tuple(leader.order for leader in leaders)
        if key not in self._alike:
            codes = self.table.question.astype(np.int64)
            for leader in leaders:
                codes = (codes << len(leader.packed)) + leader.levels
            _, first, cells = np.unique(codes, return_index=True, return_inverse=True)
            self._alike[key] = (self.table.question[first], cells.reshape(-1).astype(np.int32))
        return self._alike[key]

    def _credit(self, selected: NDArray[np.bool_]) -> Floats:
        """Return the credit of a selection if each class is right, shape (n_questions, n_classes)."""
        table = self.table
        assert self.classes is not None
        k = int(table.sizes[0])
        credit = np.zeros(len(selected))
        n_selected = np.maximum(table.sum(selected.astype(np.int64)), 1)
        credit[table.question * k + self.classes] = selected / n_selected[table.question]
        return credit.reshape(-1, k)

    def _result(self, row: _Row, p: float, verdict: Verdict | None, follows: str | None) -> PartialResult:
        rule, table = row.rule, self.table
        answered: tuple[str, ...] = ()
        n_selected, hits = self._counts(row.selected)
        is_never = row.below and not rule.flips
        # A rule that right options never meet answers where all that it selects is wrong.
        good = (hits == 0) if is_never else (hits == n_selected) if table.selects_several else (hits > 0)
        good &= (n_selected > 0) & (n_selected < table.sizes)
        if verdict is not None:
            answered = tuple(table.questions[i].id for i in np.flatnonzero(good).tolist())
        return PartialResult(
            self._name(row),
            rule.sees,
            rule.group,
            not rule.below,
            rule.below if row.below else rule.above,
            row.value,
            row.chance,
            row.gain,
            self._interval(row.gain, self._value((n_selected, hits))[2]),
            row.p,
            p,
            verdict,
            follows,
            answered,
            len(table) - int(good.sum()),
            row.seconds,
        )
