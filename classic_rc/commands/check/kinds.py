"""What a finding is: a kind of defect with its severity, and how often a dataset has it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

EXAMPLES = 3
"""How many ids a finding names."""


class Severity(StrEnum):
    """How much a finding matters; fixed for each kind, independent of its count."""

    ERROR = "error"
    """These questions cannot measure anything, or their gold contradicts itself."""
    WARNING = "warning"
    """Scores are likely to be higher, lower or more certain than they should be."""
    NOTE = "note"
    """Legal, and worth knowing."""


@dataclass(frozen=True, slots=True)
class DefectKind:
    """A kind of defect."""

    name: str
    severity: Severity
    what: str  # what is counted
    why: str  # why it matters


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of defect with its occurrences in a dataset."""

    kind: DefectKind
    count: int  # of questions or passages
    examples: tuple[str, ...]  # ids of the first three of them
    places: tuple[
        str, ...
    ] = ()  # file, line or JSON path, and id of the first three, if reading skipped what is bad
    detail: str = ""  # what follows the count

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        kind = self.kind
        return {
            "kind": kind.name,
            "severity": str(kind.severity),
            "what": kind.what,
            "why": kind.why + self.detail,
            "count": self.count,
            "examples": list(self.examples),
            "places": list(self.places),
        }
