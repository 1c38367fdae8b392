"""What the one-page report shows of an audit: findings, duplicates and defects, as plain values for templates.

Lists are bounded, so that no page is too large for a browser; what is left out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from classic_rc._version import __version__
from classic_rc.audit.check import CheckReport
from classic_rc.audit.cues import Cue, Kind
from classic_rc.audit.duplicates import DuplicateFinding, DuplicatePair
from classic_rc.audit.integrity import Severity
from classic_rc.audit.without_copies import ScoreWithout, copied_questions
from classic_rc.evaluation.results import dataset_title
from classic_rc.reports.checks import cue_table, header_table
from classic_rc.reports.html import fill_template, safe_markup
from classic_rc.reports.picture import cue_picture
from classic_rc.reports.result_tables import scores_without_table

_SHOWN_PAIRS = 5
_DIFF_LETTERS = 240


class Tile(NamedTuple):
    """A number at the top of the page, with a link to its section."""

    section: str
    number: str
    name: str
    is_bad: bool


def audit_tiles(check: CheckReport) -> list[Tile]:
    """Return the numbers of findings that open the page."""
    n_copies = int(copied_questions(check.dataset, check.findings).sum())
    n_errors = sum(f.count for f in _defects(check) if f.kind.severity is Severity.ERROR)
    counts = [(name, sum(cue.kind is kind for cue in check.cues)) for kind, name in _COUNTED]
    return [
        *(Tile("leaks", f"{n:,}", name, n > 0) for name, n in counts if check.n_features),
        Tile("duplicates" if n_copies else "defects", f"{n_copies:,}", "copied questions", n_copies > 0),
        Tile("defects", f"{n_errors:,}", "errors in the data", n_errors > 0),
    ]


_COUNTED = ((Kind.ARTIFACT, "artifacts"), (Kind.SHORTCUT, "shortcuts"))


def findings_section(check: CheckReport, places: Mapping[str, str]) -> dict[str, Any]:
    """Return the header, the picture of the cues, their table, and each with its examples and their places."""
    return {
        "header": header_table(check),
        "picture": safe_markup(cue_picture(check.cues)) if check.cues else None,
        "table": cue_table(check, whole=False, most=None),
        "cues": [_cue(cue, places) for cue in check.cues],
    }


def check_part(
    check: CheckReport, scores: Sequence[ScoreWithout] = (), places: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return all that a check found, for its own page and for the report.

    The report has scores without copies, and the anchors of questions by their ids.
    """
    return {
        "findings": findings_section(check, places),
        "duplicates": duplicates_section(check, scores),
        "defects": defects_section(check),
    }


def check_page(reports: Sequence[CheckReport]) -> str:
    """Return a page of its own about checks, as HTML that needs no other file."""
    parts = [{"title": dataset_title(report.dataset), **check_part(report)} for report in reports]
    title = ", ".join(report.dataset.name for report in reports)
    values = {"title": f"Check of {title}", "parts_of_page": parts, "version": __version__}
    return fill_template("check.html", **values)


def _cue(cue: Cue, places: Mapping[str, str]) -> dict[str, Any]:
    return {
        "kind": str(cue.kind),
        "sentence": cue.sentence,
        "advice": cue.advice,
        "figures": f"coverage {100 * cue.coverage:.1f} %, precision {100 * cue.precision:.1f} %, "
        f"alone {100 * cue.accuracy:.1f} %, chance {100 * cue.chance:.1f} %, z {cue.z:.1f}, p {cue.p:.3f}",
        "examples": [
            (e.id, places.get(e.id), "right" if e.right else "wrong", _pieces(e.option)) for e in cue.examples
        ],
    }


def _pieces(marked: str) -> list[tuple[str, bool]]:
    """Return the pieces of an example, and whether each is the cue."""
    parts = re.split(r"\[\[(.*?)\]\]", marked)
    return [(part, i % 2 == 1) for i, part in enumerate(parts) if part]


def duplicates_section(check: CheckReport, scores: Sequence[ScoreWithout]) -> dict[str, Any] | None:
    """Return the kinds of duplicates, each with its least similar pairs, and the scores without them."""
    kinds = []
    for finding in check.findings:
        if isinstance(finding, DuplicateFinding):
            pairs = sorted(finding.pairs, key=lambda pair: pair.similarity)[:_SHOWN_PAIRS]
            kinds.append(
                {
                    "severity": str(finding.kind.severity),
                    "what": finding.kind.what,
                    "why": finding.kind.why,
                    "count": finding.count,
                    "pairs": [_pair(pair) for pair in pairs],
                }
            )
    if not kinds:
        return None
    return {"kinds": kinds, "scores": scores_without_table(scores) if scores else None}


def _pair(pair: DuplicatePair) -> dict[str, Any]:
    """Return a pair with its difference as pieces of text, each with ``del``, ``ins`` or nothing."""
    pieces = re.split(r"(\[-.*?(?:-\]|$)|\{\+.*?(?:\+\}|$))", pair.diff(_DIFF_LETTERS))  # the last may be cut off
    marks = {"[-": ("del", "-]"), "{+": ("ins", "+}")}
    diff = []
    for i, piece in enumerate(pieces):
        mark, end = marks[piece[:2]] if i % 2 else ("", "")
        diff.append((mark, piece[2:].removesuffix(end) if mark else piece))
    return {
        "id": pair.id,
        "other": pair.other,
        "similarity": f"{pair.similarity:.2f}",
        "diff": [d for d in diff if d[1]],
    }


def defects_section(check: CheckReport) -> list[dict[str, Any]]:
    """Return the defects, each with its first places or ids."""
    return [
        {
            "severity": str(finding.kind.severity),
            "what": finding.kind.what,
            "why": finding.kind.why,
            "count": finding.count,
            "places": [_without_folder(place) for place in finding.places] or list(finding.examples),
        }
        for finding in _defects(check)
    ]


def _defects(check: CheckReport) -> list[Any]:
    return [finding for finding in check.findings if not isinstance(finding, DuplicateFinding)]


def _without_folder(place: str) -> str:
    """Return a place without the path of the folder, which is private."""
    path, comma, rest = place.partition(", ")
    return re.split(r"[\\/]", path)[-1] + comma + rest
