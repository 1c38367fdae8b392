"""Figures for papers and notebooks, drawn with matplotlib (the extra `plot`).

Each function takes results and returns a matplotlib figure. A notebook shows the figure, and
:func:`save` writes it to a file. The command line draws the same figures. matplotlib loads only
when a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from classic_rc.results.breakdown import Breakdown
    from classic_rc.results.curves import PrecisionRecallCurve


def precision_recall(curves: PrecisionRecallCurve | Sequence[PrecisionRecallCurve]) -> Figure:
    """Draw precision against recall: a curve for scores, a point for decided answers.

    Grey lines connect points of equal F1. The figure is as wide as one column of a paper.

    Parameters
    ----------
    curves : PrecisionRecallCurve or sequence of them
        Curves of the same average, all macro or all micro.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UsageError
        There is no curve, or macro and micro averages are mixed.
    MissingPackageError
        Matplotlib is not installed.

    Examples
    --------
    >>> from classic_rc import load, parse_solver, plots
    >>> from classic_rc.results.curves import PrecisionRecallCurve
    >>> data = load("sample:multiple-answer")
    >>> scores = parse_solver("sw+d").fit(data).score_candidates(data)
    >>> figure = plots.precision_recall(PrecisionRecallCurve.from_scores(scores, data, "SW+D"))
    """
    from classic_rc.reports.figures import precision_recall_figure
    from classic_rc.results.curves import PrecisionRecallCurve

    return precision_recall_figure([curves] if isinstance(curves, PrecisionRecallCurve) else curves)


def breakdown(breakdowns: Breakdown | Sequence[Breakdown]) -> Figure:
    """Draw bars of a metric with their intervals by group, one panel per breakdown.

    Without systems, the bars are the shares of the groups among the questions. Groups with few
    questions are pale.

    Parameters
    ----------
    breakdowns : Breakdown or sequence of them
        Breakdowns of the same systems and metric, from :func:`classic_rc.results.break_down`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UsageError
        There is no breakdown.
    MissingPackageError
        Matplotlib is not installed.

    Examples
    --------
    >>> from classic_rc import evaluate, load, parse_solver, plots
    >>> from classic_rc.results import break_down, group_questions
    >>> data = load("sample:single-choice")
    >>> results = evaluate(data, [parse_solver("sw+d")]).results
    >>> figure = plots.breakdown(break_down(results, group_questions(data, "question-type"), n=100))
    """
    from classic_rc.reports.figures import breakdown_figure
    from classic_rc.results.breakdown import Breakdown

    return breakdown_figure([breakdowns] if isinstance(breakdowns, Breakdown) else breakdowns)


def save(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure to a file. The file has no date, so the same results give the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : str or path
        A file name that ends in ``.pdf`` (with embedded fonts), ``.png`` or ``.svg`` (with text as
        outlines).

    Raises
    ------
    UsageError
        The name has another ending, or the file cannot be written.
    """
    from classic_rc.io.text import write_file
    from classic_rc.reports.figures import FIGURE_FORMATS, figure_bytes

    path = Path(path)
    form = path.suffix.lower().removeprefix(".")
    if form not in FIGURE_FORMATS:
        suffixes = ", ".join(f".{suffix}" for suffix in FIGURE_FORMATS)
        expected = f"a file name that ends in one of {suffixes}"
        raise UsageError(
            f"cannot write a figure to {path}: expected {expected}",
            field="path",
            found=str(path),
            expected=expected,
        )
    write_file(path, figure_bytes(figure, form))
