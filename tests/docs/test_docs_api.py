"""The API reference documents exactly the exported names, and is what its script makes."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import classic_rc

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
assert spec is not None
assert spec.loader is not None
make_api = importlib.util.module_from_spec(spec)
sys.modules["make_api"] = make_api  # where dataclasses look for what annotations name
spec.loader.exec_module(make_api)


@pytest.fixture(scope="module")
def modules():
    return {module.name: module for module in make_api.modules()}


@pytest.fixture(scope="module")
def exported(modules):
    return [(module.name, name) for module in modules.values() for name in make_api.names(module)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    make_api.main(str(folder))
    return {file.stem: file.read_text(encoding="utf-8") for file in folder.iterdir()}


@pytest.mark.parametrize(
    ("page", "make"), [("api.md", make_api.index), ("packages.md", make_api.files)]
)
def test_the_pages_are_what_the_script_makes(page, make):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == make(), "run python docs/make_api.py"


def test_every_file_says_what_it_has():
    assert "| |" not in re.sub(" +", " ", make_api.files())


def test_every_package_that_exports_names_is_in_it(modules):
    package_names = {
        info.name
        for info in pkgutil.walk_packages(classic_rc.__path__, "classic_rc.")
        if info.ispkg
    }
    packages = [importlib.import_module(name) for name in ("classic_rc", *package_names)]
    exporting = {package.__name__ for package in packages if getattr(package, "__all__", None)}
    values = [
        getattr(package, name) for package in packages for name in getattr(package, "__all__", ())
    ]
    assert set(modules) == exporting | {
        value.__name__ for value in values if isinstance(value, ModuleType)
    }


def test_nothing_but_what_is_exported_is_promised(modules):
    index = make_api.index()
    for module in modules:
        section = re.search(
            rf"^## {re.escape(module)}\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL
        )
        promised = re.findall(r"^\| `(.*?)` \|", section.group(1), re.MULTILINE)
        names = getattr(importlib.import_module(module), "__all__", None)
        if names is None:  # a module of its own, which a package exports as a whole
            assert not any(name.startswith("_") for name in promised)
        else:
            assert sorted(promised) == sorted(set(names)), module


def test_every_name_is_what_the_reference_says_it_is(exported):
    for module, name in exported:
        value = getattr(importlib.import_module(module), name.name)
        home = importlib.import_module(name.home)
        assert value is (getattr(home, name.origin) if name.origin else home), (module, name.name)


def test_every_name_is_documented(pages, exported):
    assert [name.name for _, name in exported if not name.summary.endswith((".", ":", "?"))] == []
    assert [
        name.name for module, name in exported if f"\n## {name.name}\n" not in pages[module]
    ] == []


def test_every_package_says_what_it_is_for(modules):
    texts = {name: make_api.summary(module.text) for name, module in modules.items()}
    assert [name for name, text in texts.items() if not text.endswith((".", ":"))] == []


def test_a_package_has_a_page_with_its_signatures_and_docstrings(pages, modules):
    assert set(pages) == set(modules)
    page = pages["classic_rc.testing"]
    assert page.startswith(
        f"# classic_rc.testing\n\n{modules['classic_rc.testing'].text.splitlines()[0]}"
    )
    assert "Defined in `classic_rc.testing.solver_check`.\n\n```text\n" in page
    assert "```text\ncheck_solver(solver: Solver, *, tasks: Sequence[Task] | None=None, " in page
    page = pages["classic_rc.solvers"]
    assert "class SlidingWindowDistance(*, analyzer: Any = 'word'" in page
    assert "distance_weight : a finite number, default 11.0\n    The cost of a distance" in page
    assert "### SlidingWindowDistance.score_candidates" in page
    page = pages["classic_rc.kernels"]
    assert re.search(
        r"## SCALE\n\n(Defined in .*\n\n)?The integer that represents a weight of 1\.", page
    )


def test_a_module_that_a_package_exports_has_a_page(pages):
    assert "## plots\n\nA module with a page of its own: Figures for papers" in pages["classic_rc"]
    assert pages["classic_rc.plots"].startswith("# classic_rc.plots\n\nFigures for papers")
    assert "precision_recall(curves: " in pages["classic_rc.plots"]


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("__all__ = ['gone']", "exports gone"),
        ("__all__ = ['f']\nfrom classic_rc.errors import g as f", "exports g"),
    ],
)
def test_an_export_that_nothing_defines_is_an_error(source, error):
    module = make_api.Module("classic_rc.planted", True, source)
    with pytest.raises(LookupError, match=error):
        make_api.names(module)
