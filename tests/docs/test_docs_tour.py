"""The tour as a notebook: made from the page, valid, with the page's outputs and with plots.

The page's doctest runs its code; `.ci/docs` runs the notebook.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_notebook", DOCS / "make_notebook.py")
assert spec is not None
assert spec.loader is not None
make_notebook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_notebook)

NOTEBOOK = json.loads((DOCS / "tour.ipynb").read_text(encoding="utf-8"))
PAGE = (DOCS / "tour.md").read_text(encoding="utf-8")
WANTED = [
    example
    for block in re.findall(r"^```python\n(.*?)^```\n", PAGE, re.MULTILINE | re.DOTALL)
    for example in make_notebook.sources(block)
]


def plain(cell):
    return {key: value for key, value in cell.items() if key not in ("execution_count", "outputs")}


def test_it_is_made_of_the_page():
    cells = make_notebook.notebook(PAGE)["cells"]
    assert list(map(plain, NOTEBOOK["cells"])) == list(map(plain, cells)), (
        "run python docs/make_notebook.py"
    )


def test_it_is_a_notebook():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", id_) for id_ in ids)


def test_its_cells_show_what_the_page_shows():
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell, (source, want) in zip(cells, WANTED, strict=True):
        assert "".join(cell["source"]) == source
        if want:  # a kernel breaks long lines at other places
            assert make_notebook.shown(cell).split() == want.split()


def test_it_has_plots_a_table_and_exercises():
    outputs = [output for cell in NOTEBOOK["cells"] for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", ()) for output in outputs) == 2
    assert any(
        "<td>44.79</td>" in "".join(output.get("data", {}).get("text/html", ()))
        for output in outputs
    )
    exercises = [source for source, _ in WANTED if source.startswith("def my_")]
    assert (
        len(exercises)
        == len([source for source, _ in WANTED if source.startswith("def solved_")])
        == 3
    )


def test_a_cell_that_differs_is_found():
    notebook = json.loads(json.dumps(NOTEBOOK))
    assert make_notebook.differences(NOTEBOOK, notebook) == []
    number, changed = next(
        (i, cell) for i, cell in enumerate(notebook["cells"]) if make_notebook.shown(cell)
    )
    changed["outputs"] = []
    assert make_notebook.differences(NOTEBOOK, notebook) == [NOTEBOOK["cells"][number]["id"]]
    notebook["cells"].pop()
    assert make_notebook.differences(NOTEBOOK, notebook)[-1] == "their number"


def test_a_cell_ends_where_the_page_shows_an_output():
    block = (
        ">>> a = 1\n>>> a\n1\n>>> b = 2\n>>> for i in (a, b):\n...     print(i)\n1\n2\n>>> c = 3\n"
    )
    assert make_notebook.sources(block) == [
        ("a = 1\na", "1"),
        ("b = 2\nfor i in (a, b):\n    print(i)", "1\n2"),
        ("c = 3", ""),
    ]
