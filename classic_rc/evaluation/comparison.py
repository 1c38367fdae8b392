"""What a comparison of systems found: differences, gains over chance, who solves what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from classic_rc.evaluation.contest import Contest
from classic_rc.evaluation.paired import NULL_HYPOTHESES
from classic_rc.evaluation.resampling import Interval, Resampling
from classic_rc.evaluation.solved import Region
from classic_rc.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class Standing:
    """One system's number, and how far it is above chance; all as fractions.

    Parameters
    ----------
    name, signature : str
    value : float
    interval : Interval or None
        None where there are fewer than two groups to resample.
    gain : float or None
        ``value - chance``; None for chance itself, and where it is not known.
    gain_interval : Interval or None
        Of the gain, both resampled together.
    relative_gain : float or None
        ``(value - chance) / chance``.
    """

    name: str
    signature: str
    value: float
    interval: Interval | None
    gain: float | None
    gain_interval: Interval | None
    relative_gain: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems on the same questions.

    Parameters
    ----------
    first, second : str
    difference : float
        The first's metric less the second's, as a fraction.
    interval : Interval or None
        Of the difference: the paired bootstrap.
    p : float
        Two-sided.
    exact : bool
        Whether `p` comes from counting everything that could happen, not from draws.
    p_holm : float
        Adjusted for all pairs of the comparison.
    wins, ties, losses : int
        Questions that, each taken alone, the first answers better than the second, as well, and worse.
    """

    first: str
    second: str
    difference: float
    interval: Interval | None
    p: float
    exact: bool
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found out about systems on one dataset.

    Parameters
    ----------
    contest : Contest
    metric : Metric
        What is compared.
    test : str
        A name in :data:`~classic_rc.evaluation.paired.NULL_HYPOTHESES`.
    resampling : Resampling
        Of intervals; a permutation test draws as often.
    chance : float or None
        What `random` scores, in expectation.
    standings : tuple of Standing
        A system each, in the order given.
    pairs : tuple of Pair
        All of them.
    solved_by : str
        The metric that says which questions are solved.
    regions : tuple of Region
        Who solves what; empty where no set of solved questions can be told.
    left_out : tuple of str
        Systems that the regions leave out: expectations, and all beyond the fourth.
    """

    contest: Contest
    metric: Metric
    test: str
    resampling: Resampling
    chance: float | None
    standings: tuple[Standing, ...]
    pairs: tuple[Pair, ...]
    solved_by: Metric
    regions: tuple[Region, ...]
    left_out: tuple[str, ...]

    @property
    def null_hypothesis(self) -> str:
        """What the test assumes until the data speak against it."""
        return NULL_HYPOTHESES[self.test]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        contest = self.contest
        return {
            "dataset": {
                "name": contest.dataset,
                "task": str(contest.task),
                "fingerprint": contest.fingerprint,
                "questions": len(contest.groups),
            },
            "metric": self.metric.name,
            "resampling": self.resampling.to_dict(),
            "test": {"name": self.test, "null_hypothesis": self.null_hypothesis, "adjusted": "holm"},
            "chance": self.chance,
            "systems": [_plain(standing) for standing in self.standings],
            "pairs": [_plain(pair) for pair in self.pairs],
            "overlap": {
                "solved_by": self.solved_by.name,
                "regions": [_plain(region) for region in self.regions],
                "left_out": list(self.left_out),
            },
        }


def _plain(found: Standing | Pair | Region) -> Mapping[str, Any]:
    """As plain data: intervals and tuples as lists."""
    fields = ((name, getattr(found, name)) for name in found.__slots__)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields}
