"""Make tour.ipynb from tour.md: prose and code become cells, with the outputs of a Jupyter kernel.

python docs/make_notebook.py
python docs/make_notebook.py --check

`--check` runs the notebook too, but writes nothing: it fails if the file is not what is made,
images apart. Both need the extra `docs`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
SOURCE, NOTEBOOK = FOLDER / "tour.md", FOLDER / "tour.ipynb"

SKIPPED = "  # doctest: +SKIP"
"""Marks a line of the page that is for the notebook alone, such as a figure to be shown."""


def notebook(text: str) -> dict[str, Any]:
    """Return the notebook (nbformat 4.5), without outputs, of a page whose code blocks are
    doctests.

    A cell ends at each output on the page, so that the notebook shows the output too.
    """
    cells = []
    for number, part in enumerate(
        re.split(r"^```python\n(.*?)^```\n", text, flags=re.MULTILINE | re.DOTALL)
    ):
        if number % 2:
            cells += [("code", source) for source, _ in sources(part)]
        elif part.strip():
            cells.append(("markdown", part.strip()))
    return {
        "cells": [cell(kind, source, number) for number, (kind, source) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def sources(block: str) -> list[tuple[str, str]]:
    """Return a block's code, split after each example that has an output, with these outputs."""
    found, open_ = [], ""
    for example in DocTestParser().parse(block):
        if isinstance(example, Example):
            open_ += example.source.replace(SKIPPED, "")
            if example.want:
                found.append((open_.rstrip("\n"), example.want.rstrip("\n")))
                open_ = ""
    return [*found, (open_.rstrip("\n"), "")] if open_ else found


def cell(kind: str, source: str, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made | {"source": source.splitlines(keepends=True)}


def executed(made: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of a kernel, which runs this checkout.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        A cell raises.
    """
    import nbformat
    from nbclient import NotebookClient

    os.environ["PYTHONPATH"] = str(FOLDER.parent)
    read = nbformat.reads(json.dumps(made), as_version=4)
    plain: dict[str, Any] = json.loads(nbformat.writes(NotebookClient(read, timeout=300).execute()))
    for one in plain["cells"]:
        one["metadata"] = {}  # the times of the run
    return plain | {"metadata": made["metadata"]}


def shown(one: dict[str, Any]) -> str:
    """Return the text that a cell shows; an image is a word."""
    texts = []
    for output in one.get("outputs", []):
        data = output.get("data", {"text/plain": output.get("text", "")})
        texts.append("image" if "image/png" in data else "".join(data["text/plain"]))
    return "".join(texts)


def differences(made: dict[str, Any], kept: dict[str, Any]) -> list[str]:
    """Return the ids of the cells that differ in code, prose or output."""
    pairs = zip(made["cells"], kept["cells"], strict=False)
    found = [a["id"] for a, b in pairs if (a["source"], shown(a)) != (b["source"], shown(b))]
    return found if len(made["cells"]) == len(kept["cells"]) else [*found, "their number"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Make docs/tour.ipynb from docs/tour.md.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if the file differs"
    )
    check = parser.parse_args().check
    made = executed(notebook(SOURCE.read_text(encoding="utf-8")))
    if check:
        found = differences(made, json.loads(NOTEBOOK.read_text(encoding="utf-8")))
        print(
            f"{NOTEBOOK.name}: {len(made['cells'])} cells run, "
            f"{len(found)} differ {', '.join(found)}".rstrip()
        )
        return 1 if found else 0
    text = json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    NOTEBOOK.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
