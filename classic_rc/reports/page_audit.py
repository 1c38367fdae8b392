"""What the one-page report shows of an audit: findings, duplicates and defects, as plain values for templates.

Lists are bounded, so that no page is too large for a browser; what is left out is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from classic_rc.audit.artifacts import PartialInputs
from classic_rc.audit.check import CheckReport
from classic_rc.audit.duplicates import DuplicateFinding, DuplicatePair
from classic_rc.audit.integrity import Severity
from classic_rc.audit.measuring import PartialResult, Verdict
from classic_rc.audit.without_copies import ScoreWithout, copied_questions
from classic_rc.metrics.base import METRICS
from classic_rc.reports.checks import (
    balance_notes,
    best_of_the_rest,
    definitions,
    group_left_out,
    word_table,
)
from classic_rc.reports.duplicates import scores_without_table
from classic_rc.tables.model import format_p_value, format_percent, format_points

_SHOWN_FINDINGS = 12
_SHOWN_EXAMPLES = 5
_SHOWN_FOLLOWERS = 6
_SHOWN_PAIRS = 5
_EXAMPLE_LETTERS = 120
_DIFF_LETTERS = 240


class Tile(NamedTuple):
    """A number at the top of the page, with a link to its section."""

    section: str
    number: str
    name: str
    is_bad: bool


def audit_tiles(check: CheckReport) -> list[Tile]:
    """Return the numbers of findings that open the page."""
    leaks = [leak for leak in check.leaks() if leak.follows_from is None]
    by_verdict = [sum(leak.verdict is verdict for leak in leaks) for verdict in Verdict]
    n_copies = int(copied_questions(check.dataset, check.findings).sum())
    n_errors = sum(f.count for f in _defects(check) if f.kind.severity is Severity.ERROR)
    numbers = zip(("artifacts", "shortcuts"), by_verdict, strict=True)
    return [
        *(Tile("leaks", f"{n:,}", name, n > 0) for name, n in numbers if check.partial_inputs.results),
        Tile("duplicates" if n_copies else "defects", f"{n_copies:,}", "copied questions", n_copies > 0),
        Tile("defects", f"{n_errors:,}", "errors in the data", n_errors > 0),
    ]


def findings_section(check: CheckReport) -> dict[str, Any]:
    """Return artifacts and shortcuts, each with its rule, figures and examples, and what is said about all."""
    partial = check.partial_inputs
    leading = [leak for leak in check.leaks() if leak.follows_from is None]
    texts = {question.id: question.text for question in reversed(check.dataset.questions)}
    words = check.words
    return {
        "found": [_finding(leak, partial, texts) for leak in leading[:_SHOWN_FINDINGS]],
        "n_more": max(len(leading) - _SHOWN_FINDINGS, 0),
        "n_tried": len(partial.results),
        "majority": None if partial.majority is None else format_percent(partial.majority, 1),
        "notes": [
            *(best_of_the_rest(partial) if partial.results else ()),
            *(definitions(partial) if partial.results else ()),
            *(f"not tried ({reason}): {names}" for names, reason in group_left_out(partial)),
        ],
        "words": word_table(words) if words is not None and words.words else None,
        "balance": [] if check.balance is None else list(balance_notes(check.balance)),
    }


def _finding(leak: PartialResult, partial: PartialInputs, texts: dict[str, str]) -> dict[str, Any]:
    followers = [result.name for result in partial.findings if result.follows_from == leak.name]
    gain = f"{format_points(leak.gain)} points"
    if leak.interval is not None:
        gain += f" [{format_points(leak.interval.low)}, {format_points(leak.interval.high)}]"
    start, end = sorted((100 * leak.chance, 100 * leak.value))
    return {
        "verdict": str(leak.verdict),
        "rule": leak.rule,
        "name": leak.name,
        "sees": ", ".join(leak.sees),
        "learned": leak.learned,
        "metric": METRICS[partial.metric].label,
        "value": format_percent(leak.value, 1),
        "chance": format_percent(leak.chance, 1),
        "bar": (round(start, 2), round(end - start, 2), round(100 * leak.chance, 2)),
        "gain": gain,
        "p": format_p_value(leak.p_holm),
        "answers": len(leak.answered),
        "left": leak.remaining,
        "examples": [(id_, _shorten(texts.get(id_, ""))) for id_ in leak.answered[:_SHOWN_EXAMPLES]],
        "followers": followers[:_SHOWN_FOLLOWERS],
        "n_more_followers": max(len(followers) - _SHOWN_FOLLOWERS, 0),
    }


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXAMPLE_LETTERS else f"{line[: _EXAMPLE_LETTERS - 1]}…"


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
