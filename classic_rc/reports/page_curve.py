"""Precision against recall as a drawing that stands in the page itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from classic_rc.evaluation.curves import PrecisionRecallCurve
from classic_rc.reports.html import escaped

_SIDE, _LEFT, _BOTTOM, _MARGIN = 360, 44, 40, 12
_COLOURS, _DASHES = 7, 5
"""How many the style sheet has; they have no common divisor, so that 35 systems pass before two look the same."""


def curve_html(curves: Sequence[PrecisionRecallCurve], chosen: Sequence[PrecisionRecallCurve]) -> str:
    """A figure with the curves, a point where each system decides, and the legend.

    Parameters
    ----------
    curves : sequence of PrecisionRecallCurve
        All of one average.
    chosen : sequence of PrecisionRecallCurve
        Single points; one of a curve's name is drawn in its look. Their order is the legend's.
    """
    names = list(dict.fromkeys(c.name for c in (*chosen, *curves)))
    look = {name: f"c{i % _COLOURS} d{i % _DASHES}" for i, name in enumerate(names)}
    width, height = _LEFT + _SIDE + _MARGIN, _MARGIN + _SIDE + _BOTTOM
    drawing = [
        f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-labelledby="curve-title">',
        '<title id="curve-title">Precision against recall; the points are in the table below</title>',
        *_axes(),
        *(f'<path class="{look[curve.name]}" d="{_path(curve)}"/>' for curve in curves),
        *(_point(point, look[point.name]) for point in chosen),
        "</svg>",
    ]
    drawn = {curve.name for curve in curves}
    entries = (
        '<li><svg width="34" height="12" aria-hidden="true">'
        + (f'<path class="{look[name]}" d="M1 6H33"/>' if name in drawn else "")
        + f'<circle class="{look[name]}" cx="17" cy="6" r="4"/></svg> {escaped(name)}</li>'
        for name in names
    )
    return "\n".join(["<figure>", *drawing, f'<ul class="key">{"".join(entries)}</ul>', "</figure>"])


def _axes() -> Iterator[str]:
    left, right, bottom, top = _x(0), _x(1), _y(0), _y(1)
    for tenths in range(0, 11, 2):
        x, y = _x(tenths / 10), _y(tenths / 10)
        yield f'<path class="grid" d="M{x:g} {bottom:g}V{top:g}M{left:g} {y:g}H{right:g}"/>'
        yield f'<text x="{x:g}" y="{bottom + 16:g}" text-anchor="middle">{tenths / 10:g}</text>'
        yield f'<text x="{left - 6:g}" y="{y + 4:g}" text-anchor="end">{tenths / 10:g}</text>'
    yield f'<text x="{_x(0.5):g}" y="{bottom + 34:g}" text-anchor="middle">recall</text>'
    yield f'<text transform="rotate(-90)" x="{-_y(0.5):g}" y="12" text-anchor="middle">precision</text>'


def _path(curve: PrecisionRecallCurve) -> str:
    """Steps to half a pixel, without the points that stand where the last one does."""
    points = np.round(2 * np.column_stack([_x(curve.recall), _y(curve.precision)])) / 2
    moved = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))
    (x, y), *others = points[moved].tolist()
    return f"M{x:g} {y:g}" + "".join(f"V{y:g}H{x:g}" for x, y in others)


def _point(point: PrecisionRecallCurve, look: str) -> str:
    x, y = _x(point.recall[0]), _y(point.precision[0])
    return f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'


def _x(recall: Any) -> Any:
    return _LEFT + recall * _SIDE


def _y(precision: Any) -> Any:
    return _MARGIN + (1 - precision) * _SIDE
