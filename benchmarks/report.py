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
FIRST = ("The 10 best sentences with a term of either, queries a CPU second",)
"""Where another program is faster: these lead the page of speeds, which has all tables that no
other page has.
"""


def markdown(table: Table) -> str:
    """Return a table as Markdown, with its title above and its notes below."""
    lines = [table["header"], ["---"] + ["---:"] * (len(table["header"]) - 1), *table["rows"]]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join(
        [f"**{table['title']}**", "", *cells, *(f"\n{note}" for note in table["notes"]), ""]
    )


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def sections(results: dict[str, Any]) -> dict[str, str]:
    """Return what each page has between its two comments."""
    tables = {t["title"]: t for own in results["benchmarks"].values() for t in own}
    speed = dict.fromkeys(
        (*FIRST, *(title for title in tables if title not in (*SCALE, *RETRIEVAL)))
    )
    pages = {"speed": speed, "scale": SCALE, "retrieval": RETRIEVAL}
    return {
        page: "\n".join(
            [
                *(markdown(tables[title]) for title in titles),
                *_machines([tables[t] for t in titles]),
            ]
        )
        for page, titles in pages.items()
    }


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
