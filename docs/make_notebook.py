"""Make tour.ipynb from tour.md: prose and code become cells, without outputs.

python docs/make_notebook.py
"""

from __future__ import annotations

import json
import re
from doctest import DocTestParser, Example
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SOURCE, NOTEBOOK = FOLDER / "tour.md", FOLDER / "tour.ipynb"

SHOWN = "evaluation"
"""The code of the last cell, whose output only a notebook shows."""


def notebook(text: str) -> dict[str, Any]:
    """Return the notebook (nbformat 4.5) of a page whose code blocks are doctests.

    A cell ends at each output on the page, so that the notebook shows the output too.
    """
    cells = []
    for number, part in enumerate(re.split(r"^```python\n(.*?)^```\n", text, flags=re.MULTILINE | re.DOTALL)):
        if number % 2:
            cells += [("code", source) for source in sources(part)]
        elif part.strip():
            cells.append(("markdown", part.strip()))
    cells.append(("code", SHOWN))
    return {
        "cells": [cell(kind, source, number) for number, (kind, source) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def sources(block: str) -> list[str]:
    """Return a block's code, split after each example that has an output."""
    found, open_ = [], ""
    for example in DocTestParser().parse(block):
        if isinstance(example, Example):
            open_ += example.source
            if example.want:
                found.append(open_.rstrip("\n"))
                open_ = ""
    return [*found, open_.rstrip("\n")] if open_ else found


def cell(kind: str, source: str, number: int) -> dict[str, Any]:
    made: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made | {"source": source.splitlines(keepends=True)}


def dumped(text: str) -> str:
    return json.dumps(notebook(text), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(dumped(SOURCE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
