"""The tour as a notebook: made from the page, valid, without outputs, and it runs."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_notebook", DOCS / "make_notebook.py")
assert spec is not None
assert spec.loader is not None
make_notebook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_notebook)

NOTEBOOK = json.loads((DOCS / "tour.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def test_it_is_made_of_the_page():
    made = make_notebook.dumped((DOCS / "tour.md").read_text(encoding="utf-8"))
    assert (DOCS / "tour.ipynb").read_text(encoding="utf-8") == made, "run python docs/make_notebook.py"


def test_it_is_a_notebook_without_outputs():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", id_) for id_ in ids)
    for cell in NOTEBOOK["cells"]:
        common = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            assert set(cell) == common | {"execution_count", "outputs"}
            assert (cell["execution_count"], cell["outputs"]) == (None, [])
        else:
            assert set(cell) == common
        assert all(isinstance(line, str) for line in cell["source"])


def test_every_cell_runs_one_after_the_other(capsys):
    namespace: dict[str, object] = {"__name__": "__main__"}
    for source in CODE:
        exec(compile(source, "tour.ipynb", "exec"), namespace)
    assert CODE[-1] == "evaluation"
    assert "<td>44.79</td>" in namespace["evaluation"]._repr_html_()
    assert "sliding-window  0.4479" in capsys.readouterr().out


def test_a_cell_ends_where_the_page_shows_an_output():
    block = ">>> a = 1\n>>> a\n1\n>>> b = 2\n>>> for i in (a, b):\n...     print(i)\n1\n2\n>>> c = 3\n"
    assert make_notebook.sources(block) == ["a = 1\na", "b = 2\nfor i in (a, b):\n    print(i)", "c = 3"]


@pytest.mark.parametrize("page", ["tour.md", "plugins.md"])
def test_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", (DOCS / page).read_text(encoding="utf-8")):
        assert (DOCS / target).exists(), target
