"""The API reference: it names every public module, and is what its script makes."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path

import pytest

import classic_rc

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
make_api = importlib.util.module_from_spec(spec)
sys.modules["make_api"] = make_api  # where dataclasses look for what annotations name
spec.loader.exec_module(make_api)


@pytest.fixture(scope="module")
def listed():
    return make_api.modules()


def test_the_index_is_what_the_script_makes(listed):
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    assert text == make_api.index(listed), "run python docs/make_api.py"


def test_every_public_module_is_in_it(listed):
    found = {module.name for module in pkgutil.walk_packages(classic_rc.__path__, "classic_rc.")}
    public = {name for name in found if not any(part.startswith("_") for part in name.split("."))}
    public = {name for name in public if not name.startswith("classic_rc.cli")}
    exporting = {name for name in public if getattr(importlib.import_module(name), "__all__", None)}
    assert {module.name for module in listed} == exporting | {"classic_rc"}


def test_every_module_says_what_it_is_for(listed):
    assert [module.name for module in listed if not module.summary.endswith((".", ":"))] == []


def test_a_module_has_a_page_with_its_signatures_and_docstrings(tmp_path):
    make_api.main(str(tmp_path / "api"))
    page = (tmp_path / "api" / "classic_rc.testing.contract.md").read_text(encoding="utf-8")
    assert page.startswith("# classic_rc.testing.contract\n\nWhat every solver must do.\n")
    assert "```text\ncheck_solver(solver: Solver, *, tasks: Sequence[Task] | None=None, " in page
    page = (tmp_path / "api" / "classic_rc.solvers.sliding.md").read_text(encoding="utf-8")
    assert "class SlidingWindowDistance(self, *, analyzer: Any='word'" in page
    assert "### SlidingWindowDistance.score_candidates" in page
    page = (tmp_path / "api" / "classic_rc.kernels.weights.md").read_text(encoding="utf-8")
    assert "## SCALE\n\nThe integer that stands for a weight of 1." in page
