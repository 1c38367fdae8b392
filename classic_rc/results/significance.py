"""Tests of systems against baselines: the settings, and the families that Holm's method adjusts."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import METRICS, Metric
from classic_rc.results.intervals import renumber
from classic_rc.results.outcomes import Tested
from classic_rc.results.resampling import ALPHA, holm, permutation_test
from classic_rc.tables.model import LETTERS
from classic_rc.work import tracked


@dataclass(frozen=True, slots=True)
class Significance:
    """The settings of the significance tests of an evaluation."""

    # The rows that the others are compared with. With several, all pairs with one of them are a
    # family.
    baselines: tuple[str, ...]
    metric: str = ""  # the primary metric, the only one that is tested
    tests: int = 1  # number of tests: the family that Holm's method adjusts for
    n: int = 10_000  # random swaps of whole groups of passages, unless all swaps are fewer
    seed: int = 0
    group: str | None = (
        None  # the key of `meta` whose equal values stay together, as equal passages do
    )

    @property
    def has_letters(self) -> bool:
        """Whether a letter for each of several baselines takes the place of asterisks."""
        return len(self.baselines) > 1

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        facts, (first, *others) = asdict(self), self.baselines
        del facts["baselines"]
        return {"baseline": first, **facts, **({"others": others} if others else {})}

    @property
    def note(self) -> str:
        """A sentence that explains the mark in a table."""
        what = "passages" if self.group is None else f"groups of passages ({self.group})"
        kind = "pairs" if self.has_letters else "systems"
        systems = "one test per column"
        if self.tests > 1:
            systems = f"Holm over the {self.tests:,} {kind} of a column"
        label = METRICS[self.metric].label
        mark = f"*: {label} differs from {self.baselines[0]}"
        if self.has_letters:
            letters = zip(self.baselines, LETTERS, strict=False)
            baselines = ", ".join(f"{name} ({letter})" for name, letter in letters)
            mark = f"letters: {label} is better than that of {baselines}"
        return (
            f"{mark}, p < {ALPHA:g} "
            f"(two-sided, up to {self.n:,} swaps of whole {what}, seed {self.seed}; {systems}; "
            "other metrics are not tested)"
        )


def family_pairs(names: Sequence[str], baselines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of a row and a baseline; two baselines are one pair, because the test has
    two sides.
    """
    bases = [names.index(name) for name in baselines if name in names]
    pairs = []
    for base in bases:
        for i in range(len(names)):
            if i > base or (i < base and i not in bases):
                pairs.append((i, base))
    return pairs


def family_tests(
    metric: Metric,
    rows: Sequence[NDArray[np.float64]],
    names: Sequence[str],
    baselines: Sequence[str],
    groups: NDArray[np.int64],
    *,
    n: int = 10_000,
    seed: int = 0,
    left_out: AbstractSet[str] = frozenset(),
) -> list[Tested]:
    """Test rows against one baseline or several; Holm's method adjusts the p-values of all pairs
    together.

    `rows` are the metric's statistics of each system of `names`, and `groups` the groups of
    passages of the questions. Baselines without a row, and the systems of `left_out`, are not
    tested.
    """
    pairs = []
    for i, base in family_pairs(names, baselines):
        if left_out.isdisjoint((names[i], names[base])):
            pairs.append((i, base))
    passages = renumber(groups)  # a subset of the questions lacks some passages
    tested = []
    for i, base in tracked(pairs, len(pairs)):
        test = permutation_test(metric, rows[i], rows[base], passages, n=n, seed=seed)
        tested.append(test.p)
    p_values: list[float | None] = [None] * len(rows)
    beats: list[list[int]] = [[] for _ in rows]
    values = [metric.aggregate(statistics) for statistics in rows]
    for (i, base), p in zip(pairs, holm(tested).tolist(), strict=True):
        if len(baselines) == 1:
            p_values[i] = p
        elif p < ALPHA:
            # The test has two sides: the values say which row is better.
            better, worse = (i, base) if values[i] > values[base] else (base, i)
            if names[worse] in baselines:
                beats[better].append(baselines.index(names[worse]))
    tests = zip(p_values, beats, strict=True)
    return [Tested(metric.name, p, tuple(sorted(beaten))) for p, beaten in tests]
