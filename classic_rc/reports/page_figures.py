"""The figures of the one-page report, as numbers that the templates draw: SVG that is readable without colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from classic_rc.evaluation.curves import PrecisionRecallCurve
from classic_rc.evaluation.results import Evaluation
from classic_rc.solvers.random import Random
from classic_rc.tables.model import format_percent

_WIDTH = 100
"""The length of an axis from 0 to 100 %, in units of its drawing."""


def overview_drawing(evaluation: Evaluation) -> dict[str, Any]:
    """Return the values that the chart of all systems needs: a bar and an interval each, and the line of chance.

    Parameters
    ----------
    evaluation : Evaluation
    """
    metric = evaluation.primary
    rows = []
    chance = None
    for row in evaluation.rows:
        value, interval = row.metrics()[metric.name], row.intervals.get(metric.name)
        if row.solver == Random.name:
            chance = round(_WIDTH * value, 2)
        bounds = None if interval is None else (round(_WIDTH * interval.low, 2), round(_WIDTH * interval.high, 2))
        rows.append((row.name, round(_WIDTH * value, 2), bounds, format_percent(value, 1)))
    has_intervals = any(bounds is not None for _, _, bounds, _ in rows)
    return {"metric": metric.label, "rows": rows, "chance": chance, "has_intervals": has_intervals}


_SIDE, _LEFT, _BOTTOM, _MARGIN = 360, 44, 40, 12
_COLOURS, _DASHES = 7, 5
"""How many of each the style sheet has. Their numbers are coprime, so 35 systems have different looks."""


def curve_drawing(curves: Sequence[PrecisionRecallCurve], chosen: Sequence[PrecisionRecallCurve]) -> dict[str, Any]:
    """Return the values that the figure's template needs: curves, a point where each system decides, a legend.

    Parameters
    ----------
    curves : sequence of PrecisionRecallCurve
        All macro or all micro averages.
    chosen : sequence of PrecisionRecallCurve
        Single points, in the order of the legend. A point with a curve's name has that curve's look.
    """
    names = list(dict.fromkeys(c.name for c in (*chosen, *curves)))
    look = {name: f"c{i % _COLOURS} d{i % _DASHES}" for i, name in enumerate(names)}
    drawn = {curve.name for curve in curves}
    ticks = [tenths / 10 for tenths in range(0, 11, 2)]
    return {
        "width": _LEFT + _SIDE + _MARGIN,
        "height": _MARGIN + _SIDE + _BOTTOM,
        "frame": (_x(0), _x(1), _y(1), _y(0)),
        "ticks": [(_x(value), _y(value), value) for value in ticks],
        "paths": [(look[curve.name], _svg_path(curve)) for curve in curves],
        "points": [
            (look[p.name], f"{_x(p.recall[0]):.1f}", f"{_y(p.precision[0]):.1f}", names.index(p.name) + 1)
            for p in chosen
        ],
        "key": [(look[name], name, name in drawn) for name in names],
    }


def _svg_path(curve: PrecisionRecallCurve) -> str:
    """Return a curve's steps as an SVG path, rounded to half a pixel, without repeated points."""
    points = np.round(2 * np.column_stack([_x(curve.recall), _y(curve.precision)])) / 2
    moved = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))
    (x, y), *others = points[moved].tolist()
    return f"M{x:g} {y:g}" + "".join(f"V{y:g}H{x:g}" for x, y in others)


def _x(recall: Any) -> Any:
    return _LEFT + recall * _SIDE


def _y(precision: Any) -> Any:
    return _MARGIN + (1 - precision) * _SIDE
