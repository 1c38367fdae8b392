"""What papers and releases report for systems: every figure, each with its source.

Floors are shown with it, so this module imports no NumPy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

STATUSES = ("verified", "derived", "secondary", "unverified")
"""How a figure is known.

Read at its source; computed from released files with the official metric; transcribed by several
others; recalled, and not found again at its source.
"""

SUBSETS: Mapping[str, tuple[str, str]] = {
    **{value: ("type", value) for value in ("one", "multiple", "NE", "CN", "V", "P")},
    **{value: ("level", value) for value in ("middle", "high")},
}
"""The subsets of published figures, each with its key and value in the questions' `meta`."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published figure. Unknown fields are None, and shown as ``?``."""

    system: str
    dataset: str  # as in `OfficialPart`; several are joined by "+"
    split: str  # likewise
    subset: str | None  # a key of SUBSETS; None for all questions
    n: int | None  # number of questions
    metric: str  # a name in classic_rc.metrics.METRICS
    value: Decimal | None  # in percent, with the digits that were printed
    ties: str | None  # the tie policy
    tuned_on: str | None  # the splits that it was tuned on; "nothing" if it was not tuned
    source: str
    status: str  # one of STATUSES
    note: str | None
    reproduction: str | None  # key of the Reproduction that should give the same figure
    cites: str | None = None  # key of the source's BibTeX entry, if it has one

    @property
    def share(self) -> Decimal:
        """The figure as a fraction, with the digits that were printed; NaN if it is unknown."""
        return Decimal("NaN") if self.value is None else self.value.scaleb(-2)

    @property
    def decimals(self) -> int:
        """The number of printed digits after the decimal point."""
        exponent = self.value.as_tuple().exponent if self.value is not None else 0
        return -exponent if isinstance(exponent, int) else 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plain data; the value becomes a float."""
        return {**asdict(self), "value": None if self.value is None else float(self.value)}


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How this package reproduces a published figure."""

    solver: str  # a solver specification; ``{rte}`` is a placeholder for a file that the user names
    exact: bool  # the figures are known to match to the last printed digit
    reason: str  # why they match, or why not
    ties: str | None = None  # the tie policy, if not the solver's own
    train: str | None = None  # the split of the same dataset to learn from
    tune: str | None = None  # the split to tune on
    tune_metric: str | None = None
    merged: bool = False  # a figure over several splits needs them merged into one file


@dataclass(frozen=True)
class Published:
    """All published figures and how to reproduce them."""

    # if two figures of one paper contradict each other, both are here
    rows: tuple[PublishedRow, ...]
    reproductions: Mapping[str, Reproduction]  # by key
    neural: tuple[str, ...]  # what the names of neural systems start with

    def kind(self, system: str) -> str:
        """Return whether a system is ``"human"``, ``"neural"`` or ``"classical"``."""
        if system.startswith("Human"):
            return "human"
        return "neural" if system.startswith(self.neural) else "classical"


@cache
def load_published() -> Published:
    """Return the published figures that come with the package.

    Examples
    --------
    >>> row = next(
    ...     row for row in load_published().rows if row.system == "SW" and row.dataset == "RACE"
    ... )
    >>> row.subset, row.value, row.ties
    ('middle', Decimal('37.3'), None)
    """
    text = files("classic_rc.results").joinpath("published.json").read_text(encoding="utf-8")
    plain = json.loads(text, parse_float=Decimal, parse_int=int)
    rows = []
    for row in plain["rows"]:
        key = row["source"]
        origin = {"source": plain["sources"][key], "cites": plain["cites"].get(key)}
        rows.append(PublishedRow(**{**row, **origin}))
    reproductions = {key: Reproduction(**entry) for key, entry in plain["reproductions"].items()}
    return Published(tuple(rows), reproductions, tuple(plain["neural"]))
