"""The benchmarks import what exists, and each other in one direction; the table of them all is
above, and nothing imports it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS

ROOT = Path(__file__).resolve().parents[2]


def read_sources(folder: Path) -> dict[str, str]:
    """The source of each module below a folder of the repository, by the module's name."""
    sources = {}
    for path in folder.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        sources[module] = path.read_text(encoding="utf-8")
    return sources


def imported_names(module: str, source: str) -> Iterator[str]:
    """Every name that a module imports, at its head or in a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import in line {node.lineno}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules that each module imports. An import names a module, or something in one."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        graph[module] = set()
        for name in imported_names(module, source):
            target = name if name in sources else name.rpartition(".")[0]
            if target in sources:
                graph[module].add(target)
    return graph


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """The modules of a cycle, from one of them back to it, or none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


SOURCES = read_sources(ROOT / "benchmarks")
GRAPH = import_graph(SOURCES)


def test_benchmarks_do_not_import_each_other_in_a_cycle():
    assert find_cycle(GRAPH) == []


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_what_a_benchmark_imports_at_its_head_exists(module):
    import_module(module)


def test_nothing_imports_the_table_of_benchmarks():
    assert [module for module, targets in GRAPH.items() if "benchmarks.__main__" in targets] == []


def test_the_table_has_every_benchmark():
    runnable = {module for module, source in SOURCES.items() if "\ndef run(" in source}
    assert {f"benchmarks.{name}" for name in BENCHMARKS} == runnable


@pytest.mark.parametrize(
    ("planted", "members"),
    [
        ({"b.x": "from b.y import f", "b.y": "from b.x import g"}, {"b.x", "b.y"}),
        ({"b.x": "from b import y", "b.y": "def f():\n    import b.x"}, {"b.x", "b.y"}),
        (
            {"b.x": "import b.y", "b.y": "from b.z import f", "b.z": "from b.x import g"},
            {"b.x", "b.y", "b.z"},
        ),
        ({"b": "from b.x import f", "b.x": "from b import ROOT"}, {"b", "b.x"}),
        ({"b.x": "from b.x import f"}, {"b.x"}),
        (
            {"b": "", "b.x": "from b import ROOT, y", "b.y": "import numpy\nfrom b import ROOT"},
            set(),
        ),
    ],
)
def test_a_planted_cycle_is_found(planted, members):
    assert set(find_cycle(import_graph(planted))) == members
