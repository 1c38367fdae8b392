"""What the one-page report shows of an audit: findings, duplicates and defects, as plain values for
templates.

Lists are bounded, so that no page is too large for a browser; what is left out is counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from classic_rc._version import __version__
from classic_rc.commands.check.audit import CheckReport
from classic_rc.commands.check.cues import Cue, CueKind, phrase
from classic_rc.commands.check.duplicates import DuplicateFinding, DuplicatePair
from classic_rc.commands.check.integrity import Finding
from classic_rc.commands.check.tables import cue_table, dispute_table, header_table
from classic_rc.reports.html import escape_html, fill_template, safe_markup
from classic_rc.reports.result_tables import breakdown_table
from classic_rc.results.breakdown import Breakdown
from classic_rc.results.result_table import dataset_title

_SHOWN_PAIRS = 5
_DIFF_LETTERS = 240


def findings_section(check: CheckReport, places: Mapping[str, str]) -> dict[str, Any]:
    """Return the header, the picture of the cues, their table, and each with its examples and
    their places.
    """
    table, picture = cue_table(check, has_details=False, max_cues=None), None
    if check.cues:
        picture = safe_markup(cue_picture(check.cues))
    else:
        table = table.select("name")  # the columns of numbers are empty
    return {
        "header": header_table(check),
        "disputes": dispute_table(check),
        "picture": picture,
        "table": table,
        "cues": [_cue(cue, places) for cue in check.cues],
    }


def check_part(
    check: CheckReport,
    scores: Breakdown | None = None,
    places: Mapping[str, str] = MappingProxyType({}),
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
    return fill_template("check.html", __package__, **values)


def _cue(cue: Cue, places: Mapping[str, str]) -> dict[str, Any]:
    figures = (
        f"coverage {100 * cue.coverage:.1f} %, precision {100 * cue.precision:.1f} %, "
        f"alone {100 * cue.accuracy:.1f} %, chance {100 * cue.chance:.1f} %, z {cue.z:.1f}, p "
        f"{cue.p:.3f}, id {cue.id}"
    )
    examples = []
    for example in cue.examples:
        verdict = "right" if example.right else "wrong"
        place, pieces = places.get(example.id), _pieces(example.option)
        examples.append((example.id, place, verdict, pieces))
    return {
        "kind": str(cue.kind),
        "sentence": cue.sentence,
        "advice": cue.advice,
        "figures": figures,
        "examples": examples,
    }


def _pieces(marked: str) -> list[tuple[str, bool]]:
    """Return the pieces of an example, and whether each is the cue."""
    parts = re.split(r"\[\[(.*?)\]\]", marked)
    return [(piece, i % 2 == 1) for i, piece in enumerate(parts) if piece]


def duplicates_section(check: CheckReport, scores: Breakdown | None) -> dict[str, Any] | None:
    """Return the kinds of duplicates, each with its least similar pairs, and the scores without
    them.
    """
    kinds = []
    for finding in check.defects:
        if isinstance(finding, DuplicateFinding):
            pairs = sorted(finding.pairs, key=lambda pair: pair.similarity)[:_SHOWN_PAIRS]
            kinds.append({**Finding.to_dict(finding), "pairs": [_pair(pair) for pair in pairs]})
    if not kinds:
        return None
    return {"kinds": kinds, "scores": None if scores is None else breakdown_table(scores)}


def _pair(pair: DuplicatePair) -> dict[str, Any]:
    """Return a pair with its difference as pieces of text, each with ``del``, ``ins`` or
    nothing.
    """
    # the last may be cut off
    pieces = re.split(r"(\[-.*?(?:-\]|$)|\{\+.*?(?:\+\}|$))", pair.diff(_DIFF_LETTERS))
    marks = {"[-": ("del", "-]"), "{+": ("ins", "+}")}
    diff = []
    for i, piece in enumerate(pieces):
        mark, text = "", piece
        if i % 2:
            mark, end = marks[piece[:2]]
            text = piece[2:].removesuffix(end)
        if text:
            diff.append((mark, text))
    similarity = f"{pair.similarity:.2f}"
    return {"id": pair.id, "other": pair.other, "similarity": similarity, "diff": diff}


def defects_section(check: CheckReport) -> list[dict[str, Any]]:
    """Return the defects, each with its first places or ids."""
    defects = []
    for finding in other_defects(check):
        places = [*map(_without_folder, finding.places)] or list(finding.examples)
        defects.append({**finding.to_dict(), "places": places})
    return defects


def other_defects(check: CheckReport) -> list[Any]:
    """Return the findings that are no duplicates."""
    return [finding for finding in check.defects if not isinstance(finding, DuplicateFinding)]


def _without_folder(place: str) -> str:
    """Return a place without the path of the folder, which is private."""
    path, comma, rest = place.partition(", ")
    return re.split(r"[\\/]", path)[-1] + comma + rest


# --------------------------------------------------------------------------------------------------
# The picture: coverage against precision, a point a cue. As in Gardner et al. 2021, lines show how
# far from chance a cue of so many questions could be by chance.

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 800, 400, 56, 48, 16, 290
_LINE = 14  # pixels between two names
_NAME_WIDTH = 34
_STEPS = 60
_COLOURS = {
    CueKind.ARTIFACT: "#b3261e",
    CueKind.SHORTCUT: "#1f5fa8",
    CueKind.GOLD_ORDER: "#6b6b6b",
    CueKind.ANSWER_TYPE: "#6b6b6b",
    CueKind.DEFECT: "#000",
}


def cue_picture(cues: Sequence[Cue]) -> str:
    """Return the picture of one cue or more as SVG; it needs no other file."""
    lowest = min(min(cue.coverage for cue in cues), 0.01) / 1.5
    span = -math.log10(lowest)
    right = _WIDTH - _RIGHT

    def x(coverage: float) -> float:
        return _LEFT + (right - _LEFT) * (math.log10(max(coverage, lowest)) + span) / span

    def y(precision: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - precision)

    def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'

    first = cues[0]
    total = first.n_questions / first.coverage
    grid, dashed = 'stroke="#ddd"', 'stroke="#666" stroke-dasharray="4 3"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="12" width="100%">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        "<title>Coverage and precision of the cues</title>",
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(line(_LEFT, y(tick), right, y(tick), grid))
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{100 * tick:g}</text>'
        )
    for tick in (0.001, 0.01, 0.1, 1):
        if tick >= lowest:
            parts.append(line(x(tick), y(0), x(tick), y(1), grid))
            parts.append(
                f'<text x="{x(tick):.1f}" y="{y(0) + 18:.1f}" '
                f'text-anchor="middle">{100 * tick:g}</text>'
            )
    middle = (right + _LEFT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">coverage, % of questions</text>'
    )
    parts.append(
        f'<text transform="translate(14 {y(0.5):.0f}) rotate(-90)" text-anchor="middle">precision, '
        "%</text>"
    )
    has_one_chance = len({cue.about for cue in cues}) == 1
    if has_one_chance:
        parts.append(line(_LEFT, y(first.chance), right, y(first.chance), dashed))
    for sign in (-1, 1) if has_one_chance else ():
        points = []
        for i in range(_STEPS + 1):
            coverage = 10 ** (-span * (1 - i / _STEPS))
            deviation = math.sqrt(first.chance * (1 - first.chance) / (coverage * total))
            precision = first.chance + sign * first.bound * deviation
            points.append(f"{x(coverage):.1f},{y(min(max(precision, 0), 1)):.1f}")
        path = " ".join(points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="#666"/>')
    for cue, place in _place_names(cues, [y(cue.precision) for cue in cues]):
        centre, top = x(cue.coverage), y(cue.precision)
        name = phrase(cue.name)
        name = name if len(name) <= _NAME_WIDTH else f"{name[: _NAME_WIDTH - 1]}…"
        name = escape_html(f"{name} ({cue.direction})")
        colour = _COLOURS[cue.kind]
        parts.append(
            line(centre + 5, top, centre + 12, place, f'stroke="{colour}" stroke-width="0.6"')
        )
        parts.append(f'<circle cx="{centre:.1f}" cy="{top:.1f}" r="4.5" fill="{colour}"/>')
        parts.append(
            f'<text x="{centre + 14:.1f}" y="{place + 4:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"])


def _place_names(cues: Sequence[Cue], heights: Sequence[float]) -> Iterator[tuple[Cue, float]]:
    """Yield the cues from above, each with the height of its name; names do not cover each
    other.
    """
    lowest = _HEIGHT - _BOTTOM
    places = sorted(zip(heights, range(len(cues)), strict=True))
    used: list[float] = []
    for height, _ in places:
        used.append(max(height, used[-1] + _LINE) if used else height)
    for n_below, i in enumerate(reversed(range(len(used)))):
        used[i] = min(used[i], lowest - _LINE * n_below)
    for (_, number), place in zip(places, used, strict=True):
        yield cues[number], place
