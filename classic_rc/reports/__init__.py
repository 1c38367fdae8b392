"""Tables of results, in the forms that people and programs read."""

from classic_rc.reports.comparison import comparison_csv, comparison_tables
from classic_rc.reports.results import results_csv, results_table
from classic_rc.reports.tables import FORMATS, Table, render

__all__ = [
    "FORMATS",
    "Table",
    "comparison_csv",
    "comparison_tables",
    "render",
    "results_csv",
    "results_table",
]
