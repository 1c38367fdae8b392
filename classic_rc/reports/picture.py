"""The picture of an audit: coverage against precision, a point a cue, its name beside it, with the bound drawn.

As in Gardner et al. 2021, the lines show how far from chance a cue of so many questions could be by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from classic_rc.audit.cues import Cue, Kind, phrase
from classic_rc.reports.html import escape_html

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 800, 400, 56, 48, 16, 290
_LINE = 14  # pixels between two names
_NAME_WIDTH = 34
_STEPS = 60
_COLOURS = {Kind.ARTIFACT: "#b3261e", Kind.SHORTCUT: "#1f5fa8", Kind.GOLD_ORDER: "#6b6b6b", Kind.DEFECT: "#000"}


def cue_picture(cues: Sequence[Cue]) -> str:
    """Return the picture of one cue or more as SVG; it needs no other file."""
    least = min(min(cue.coverage for cue in cues), 0.01) / 1.5
    span = -math.log10(least)

    def x(coverage: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (math.log10(max(coverage, least)) + span) / span

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
        parts.append(line(_LEFT, y(tick), _WIDTH - _RIGHT, y(tick), grid))
        parts.append(f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{100 * tick:g}</text>')
    for tick in (0.001, 0.01, 0.1, 1):
        if tick >= least:
            parts.append(line(x(tick), y(0), x(tick), y(1), grid))
            parts.append(f'<text x="{x(tick):.1f}" y="{y(0) + 18:.1f}" text-anchor="middle">{100 * tick:g}</text>')
    middle = (_WIDTH - _RIGHT + _LEFT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">coverage, % of questions</text>')
    parts.append(
        f'<text transform="translate(14 {y(0.5):.0f}) rotate(-90)" text-anchor="middle">precision, %</text>'
    )
    parts.append(line(_LEFT, y(first.chance), _WIDTH - _RIGHT, y(first.chance), dashed))
    for sign in (-1, 1):
        points = []
        for i in range(_STEPS + 1):
            coverage = 10 ** (-span * (1 - i / _STEPS))
            deviation = math.sqrt(first.chance * (1 - first.chance) / (coverage * total))
            points.append((x(coverage), y(min(max(first.chance + sign * first.bound * deviation, 0), 1))))
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="#666"/>')
    for cue, place in _place_names(cues, [y(cue.precision) for cue in cues]):
        left, top = x(cue.coverage), y(cue.precision)
        name = phrase(cue.name)
        name = name if len(name) <= _NAME_WIDTH else f"{name[: _NAME_WIDTH - 1]}…"
        name = escape_html(f"{name} ({cue.direction})")
        colour = _COLOURS[cue.kind]
        parts.append(line(left + 5, top, left + 12, place, f'stroke="{colour}" stroke-width="0.6"'))
        parts.append(f'<circle cx="{left:.1f}" cy="{top:.1f}" r="4.5" fill="{colour}"/>')
        parts.append(f'<text x="{left + 14:.1f}" y="{place + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"])


def _place_names(cues: Sequence[Cue], heights: Sequence[float]) -> Iterator[tuple[Cue, float]]:
    """Yield the cues from above, each with the height of its name; names do not cover each other."""
    lowest = _HEIGHT - _BOTTOM
    places = sorted(zip(heights, range(len(cues)), strict=True))
    used: list[float] = []
    for height, _ in places:
        used.append(max(height, used[-1] + _LINE) if used else height)
    for i in range(len(used) - 1, -1, -1):
        used[i] = min(used[i], lowest - _LINE * (len(used) - 1 - i))
    for (_, number), place in zip(places, used, strict=True):
        yield cues[number], place
