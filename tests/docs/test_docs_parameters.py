"""The page of parameters has every solver, parameter and value, and is what its script makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from classic_rc.solvers import SOLVERS
from classic_rc.solvers.registry import SOLVER_ENTRIES

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_parameters", DOCS / "make_parameters.py")
assert spec is not None
assert spec.loader is not None
make_parameters = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_parameters)

TEXT = (DOCS / "parameters.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_script_makes():
    assert make_parameters.page() == TEXT, "run python docs/make_parameters.py"


@pytest.mark.parametrize("name", SOLVER_ENTRIES)
def test_a_solvers_section_names_its_parameters_and_their_values(name):
    section = TEXT.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    assert list(rows) == list(SOLVERS[name].parameters)
    for parameter, declared in SOLVERS[name].parameters.items():
        assert all(repr(value) in rows[parameter] for value in declared.allowed)
        assert declared.is_file is ("a path" in rows[parameter])
