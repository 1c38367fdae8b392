"""``python -m benchmarks.report``: write the tables of ``benchmarks/results.json`` into the
pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks import ROOT
from benchmarks.timing import Table

RESULTS = ROOT / "benchmarks" / "results.json"
DOCS = ROOT / "docs"

BEGIN, END = "<!-- {}: python -m benchmarks.report -->\n", "<!-- end of {} -->\n"

SCALE = (
    "Building an index of generated sentences",
    "What two processes gain on this machine",
    "Opening and searching an index of generated sentences",
    "The largest real text: all sentences of RACE, MultiRC, MCTest and DREAM",
)
RETRIEVAL = ("BM25 of pyserini and of classic_rc, the ten best sentences",)


def markdown(table: Table) -> str:
    """Return a table as Markdown, with its title above and its notes below."""
    lines = [table["header"], ["---"] + ["---:"] * (len(table["header"]) - 1), *table["rows"]]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    notes = list(table["notes"])
    if load := table.get("load"):
        notes.append(f"Load of the machine: {load[0]:.1f} to {load[1]:.1f}.")
    return "\n".join([f"**{table['title']}**", "", *cells, *(f"\n{note}" for note in notes), ""])


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def sections(results: dict[str, Any]) -> dict[str, str]:
    """Return what each page has between its two comments. The page of speeds has all tables that
    no other page has; those where another program is better lead it.
    """
    tables = {t["title"]: t for measured in results["benchmarks"].values() for t in measured}
    speed = [table for title, table in tables.items() if title not in (*SCALE, *RETRIEVAL)]
    lost = [table for table in speed if table.get("lost")]
    others = [table for table in speed if not table.get("lost")]
    return {
        "speed": "\n".join(
            [
                *("## Where another program is better", "", *map(markdown, lost)),
                *("## All other tables", "", *map(markdown, others)),
                *_machines([*lost, *others]),
            ]
        ),
        "scale": _section([tables[title] for title in SCALE]),
        "retrieval": _section([tables[title] for title in RETRIEVAL]),
    }


def _section(tables: list[Table]) -> str:
    return "\n".join([*map(markdown, tables), *_machines(tables)])


def _machines(tables: list[Table]) -> Iterator[str]:
    """Yield what the tables were measured with: one line, or one for each machine or version
    with its tables.
    """
    titles: dict[str, list[str]] = {}
    for table in tables:
        machine = table["environment"]
        packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
        own = f"Python {machine['python']}, {machine['cores']} cores; {packages}."
        titles.setdefault(own, []).append(table["title"])
    for machine, of in titles.items():
        yield machine if len(titles) == 1 else f"* {'; '.join(of)}: {machine}"
    if not all(table.get("load") for table in tables):
        yield "\nWhere a table has no load of the machine, it was not recorded."


def main() -> None:
    """Write the sections into the pages."""
    for name, text in sections(json.loads(RESULTS.read_text(encoding="utf-8"))).items():
        page = DOCS / f"{name}.md"
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = page.read_text(encoding="utf-8").partition(begin)
        page.write_text(
            f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}",
            encoding="utf-8",
            newline="\n",
        )


if __name__ == "__main__":
    main()
