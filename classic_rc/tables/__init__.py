"""Tables of results: one class, and the formats that write it: plain text, Markdown, LaTeX, CSV
and HTML.
"""

from classic_rc.tables.model import (
    TABLE_FORMATS,
    Cell,
    Column,
    RowGroup,
    Table,
    records_csv,
    render,
)

__all__ = ["TABLE_FORMATS", "Cell", "Column", "RowGroup", "Table", "records_csv", "render"]
