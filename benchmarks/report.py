"""The tables of docs/speed.md and scale.md, from ``benchmarks/results.json``: ``python -m benchmarks.report``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from benchmarks import ROOT
from benchmarks.timing import Table

RESULTS = ROOT / "benchmarks" / "results.json"
DOCS = ROOT / "docs"

BEGIN, END = "<!-- {}: python -m benchmarks.report -->\n", "<!-- end of {} -->\n"

SPEED = (
    "SW+D, four options a question",
    "Sliding window, all sizes 2..30",
    "SW+D of one question on a 350-token passage",
    "Encoding real text, compared with plain dictionaries",
    "From the file to the table of SW+D",
    "Dense features of the feature ranker",
    "Whole commands on generated 350-token passages, 4 questions a passage",
    "What this machine does at most, 10^9 a second of one core",
    "Kernels and the machine's limit, a unit",
    "The best sentence with a term of question and option, queries a CPU second",
    "Indexing, MB of text a CPU second",
    "Peak memory of indexing and searching, MB",
)
SCALE = (
    "Building an index of generated sentences",
    "What two processes gain on this machine",
    "Opening and searching an index of generated sentences",
)
PAGES = {"speed": SPEED, "scale": SCALE}
"""The titles of the tables of each page, in order."""


def markdown(table: Table) -> str:
    """Return a table as Markdown, with its title above and its notes below."""
    lines = [table["header"], ["---"] + ["---:"] * (len(table["header"]) - 1), *table["rows"]]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join([f"**{table['title']}**", "", *cells, *(f"\n{note}" for note in table["notes"]), ""])


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def section(titles: Sequence[str], results: dict[str, Any]) -> str:
    """Return the section of a page between the two comments."""
    tables = {t["title"]: t for tables in results["benchmarks"].values() for t in tables}
    machine = results["environment"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    lines = [markdown(tables[title]) for title in titles]
    return "\n".join([*lines, f"Python {machine['python']}, {machine['cores']} cores; {packages}.\n"])


def main() -> None:
    """Write the sections into the pages."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    for name, titles in PAGES.items():
        page = DOCS / f"{name}.md"
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = page.read_text(encoding="utf-8").partition(begin)
        text = before + begin + "\n" + section(titles, results) + "\n" + end + rest.partition(end)[2]
        page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
