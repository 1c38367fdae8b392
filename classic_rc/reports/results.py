"""The table of results, with published figures if asked for."""

from __future__ import annotations

from classic_rc.evaluation.results import Evaluation, evaluation_table
from classic_rc.reports.published import published_cells
from classic_rc.tables import Table


def results_table(evaluation: Evaluation, published: bool = False) -> Table:
    """Return the results of one dataset as a table: a row per system, metrics in percent, groups by main metric.

    Systems that learn nothing, trained systems, given scores and published figures are separate blocks of rows
    (:class:`~classic_rc.evaluation.results.RowGroup`), with headings if there are several. Rows keep their order
    within a block.

    Parameters
    ----------
    evaluation : Evaluation
    published : bool
        Also show published figures of the same data and metrics, a row per system and source.

    Returns
    -------
    Table
    """
    return evaluation_table(evaluation, published_cells(evaluation) if published else ())
