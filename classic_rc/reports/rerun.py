"""A run record beside what came out when it was run again, as tables."""

from __future__ import annotations

from typing import Any

from classic_rc.evaluation.rerun import Rerun, RowCheck, RunCheck
from classic_rc.reports.tables import Table

_IDS_SHOWN = 3


def rerun_tables(result: Rerun) -> list[Table]:
    """For each dataset a table of its rows; of what differs, old and new in full precision.

    Parameters
    ----------
    result : Rerun

    Returns
    -------
    list of Table
    """
    return [_table(run) for run in result.runs]


def _table(run: RunCheck) -> Table:
    header = ["system", "", "number", "recorded", "now", "questions", "first of them"]
    rows = [cells for row in run.rows for cells in _cells(row)]
    different = sum(not row.same for row in run.rows)
    verdict = (
        f"{different} of {len(run.rows)} rows differ" if different else f"all {len(run.rows)} rows are the same"
    )
    title = f"{run.dataset} · {run.n_questions:,} questions · {verdict}"
    if not different:
        header, rows = header[:2], [cells[:2] for cells in rows]
    return Table(title, header, rows, frozenset({0, 1, 2, 6}))


def _cells(row: RowCheck) -> list[list[str]]:
    """One line where a row is the same; else one for each number that is not."""
    if row.same:
        return [[row.system, "same", "", "", "", "", ""]]
    ids = ", ".join(row.questions[:_IDS_SHOWN]) + (", …" if len(row.questions) > _IDS_SHOWN else "")
    lines = [[d.what, _shown(d.recorded), _shown(d.now)] for d in row.differences] or [["no metric", "", ""]]
    return [
        [row.system, "differs", *line, str(len(row.questions)), ids] if i == 0 else ["", "", *line, "", ""]
        for i, line in enumerate(lines)
    ]


def _shown(value: Any) -> str:
    return "–" if value is None else repr(value) if isinstance(value, float) else str(value)
