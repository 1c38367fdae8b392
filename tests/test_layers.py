"""The import layers: which part of the package may import which, checked on the source of every module."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "classic_rc"

# A layer may import what its arrow names, and whatever those may import in their turn.
ARROWS = {
    "cli": {"reports"},
    "reports": {"analysis"},
    "analysis": {"evaluation"},
    "evaluation": {"solvers", "datasets"},
    "solvers": {"decisions", "retrieval"},
    "decisions": {"metrics"},
    "metrics": {"formats", "folds", "overlap"},
    "formats": {"predictions"},
    "overlap": {"predictions"},
    "folds": {"predictions"},
    "predictions": {"questions"},
    "retrieval": {"text"},
    "datasets": {"text"},
    "text": {"predictions"},
    "questions": {"errors"},
    "files": {"errors"},
    "kernels": set(),
    "plugins": {"errors"},
    "display": {"errors", "printable"},
    "errors": set(),
    "printable": set(),
    "progress": {"printable"},
    "_version": set(),
}
SHARED = {"kernels", "files", "plugins", "display", "errors", "printable", "progress", "_version"}
"""What every layer but these may import besides."""
SURFACES = {"__init__", "__main__", "cli", "testing"}
"""What users touch: may import anything that is public."""
KERNEL_PACKAGES = {"numpy", "scipy"}

HEAVY = {
    *("sklearn", "scipy", "nltk", "pandas", "matplotlib", "joblib", "tqdm"),
    *("rank_bm25", "pyserini", "jnius", "opensearchpy", "datasets", "dask"),
}
MAY_LOAD_HEAVY = {
    "kernels": {"scipy"},
    "decisions": {"sklearn"},
    "solvers.base": {"sklearn"},
    "evaluation.prepare": {"sklearn"},
    "evaluation.tuning": {"sklearn"},
    "testing": {"sklearn"},
}
"""Modules that need a heavy package to be defined at all; the command line imports them when it runs one."""


@dataclass(frozen=True)
class Import:
    module: str  # that imports: "solvers.base"
    line: int
    target: str  # that is imported: "classic_rc.questions.Question"
    on_load: bool  # runs when the module is imported, not when a function is called

    @property
    def layer(self) -> str:
        return self.module.split(".")[0]

    @property
    def package(self) -> str:
        return self.target.split(".")[0]

    @property
    def target_layer(self) -> str:
        name = self.target.split(".")[1] if "." in self.target else "__init__"
        return name if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file() else "__init__"

    def __str__(self) -> str:
        return f"{self.module} (line {self.line}) imports {self.target}"


def imports_of(source: str, module: str, *, is_package: bool = False) -> Iterator[Import]:
    """Every import in a module's source: nested ones, those for type checkers, and modules named in strings."""
    parents = [*("classic_rc." + module).split("."), ""] if is_package else ("classic_rc." + module).split(".")

    def walk(node: ast.AST, on_load: bool) -> Iterator[Import]:
        for target in targets(node):
            yield Import(module, node.lineno, target, on_load)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            branches = [(child, False) for child in node.body] + [(child, on_load) for child in node.orelse]
        else:
            inner = on_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            branches = [(child, inner) for child in ast.iter_child_nodes(node)]
        for child, child_on_load in branches:
            yield from walk(child, child_on_load)

    def targets(node: ast.AST) -> list[str]:
        match node:
            case ast.Import():
                return [alias.name for alias in node.names]
            case ast.ImportFrom():
                origin = parents[: len(parents) - node.level] if node.level else []
                base = ".".join([*origin, *([node.module] if node.module else [])])
                return [f"{base}.{alias.name}" for alias in node.names]
            case ast.Constant(value=str(text)) if text.startswith("classic_rc."):  # a registry's lazy import
                dotted = text.replace(":", ".")
                return [dotted] if all(part.isidentifier() for part in dotted.split(".")) else []
        return []

    return walk(ast.parse(source), True)


def all_imports() -> list[Import]:
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__" and len(parts) > 1
        module = ".".join(parts[:-1] if is_package else parts)
        source = file.read_text(encoding="utf-8")
        found += imports_of(source, module, is_package=is_package)
    return found


def reachable(layer: str) -> set[str]:
    """The layers that the arrows from `layer` lead to, at any distance."""
    seen: set[str] = set()
    ahead = set(ARROWS[layer])
    while ahead:
        step = ahead.pop()
        seen.add(step)
        ahead |= ARROWS[step] - seen
    return seen


def fault(found: Import) -> str | None:
    """What is wrong with an import, if anything."""
    if found.layer == "kernels" and found.package not in KERNEL_PACKAGES | sys.stdlib_module_names | {"classic_rc"}:
        return f"{found}: kernels import NumPy and SciPy only"
    if found.package != "classic_rc" or found.layer == found.target_layer:
        return None
    if found.layer in SURFACES:
        private = [name for name in found.target.split(".") if name.startswith("_") and not name.endswith("__")]
        return f"{found}: it is private" if private and found.target_layer != "_version" else None
    if found.layer not in ARROWS:
        return f"{found}: {found.layer} has no place among the layers"
    shared = set() if found.layer in SHARED else SHARED
    if found.target_layer not in reachable(found.layer) | shared:
        return f"{found}: {found.layer} may not import {found.target_layer}"
    return None


def is_heavy(found: Import) -> bool:
    allowed = MAY_LOAD_HEAVY.get(found.module, set()) | MAY_LOAD_HEAVY.get(found.layer, set())
    return found.on_load and found.package in HEAVY - allowed


def test_imports_follow_the_layers():
    assert [problem for found in all_imports() if (problem := fault(found))] == []


def test_heavy_packages_are_imported_where_they_are_used():
    assert [str(found) for found in all_imports() if is_heavy(found)] == []


def test_every_module_has_a_place_among_the_layers():
    modules = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert modules <= set(ARROWS) | SURFACES


def test_the_arrows_have_no_circle_and_keep_solvers_and_all_below_them_from_datasets():
    assert [layer for layer in ARROWS if layer in reachable(layer)] == []
    assert [layer for layer in ("solvers", *reachable("solvers")) if "datasets" in reachable(layer)] == []
    assert reachable("cli") == set(ARROWS) - SHARED - {"cli"} | {"errors"}


PLANTED = [
    ("solvers.bad", "from classic_rc.datasets import load"),
    ("solvers.bad", "def f():\n    import classic_rc.datasets.race"),
    ("solvers.bad", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..datasets import load"),
    ("solvers.bad", "READERS = {'race': 'classic_rc.datasets.race:read'}"),
    ("metrics.bad", "class A:\n    from classic_rc import predictions, solvers"),
    ("text.bad", "from .. import metrics"),
    ("questions", "from classic_rc.text.spans import Spans"),
    ("errors", "from classic_rc.questions import Task"),
    ("formats.bad", "from classic_rc import __version__"),
    ("kernels.bad", "from classic_rc.errors import UsageError"),
    ("kernels.bad", "import sklearn.utils"),
    ("evaluation.bad", "from classic_rc.cli.main import main"),
    ("cli.bad", "from classic_rc.solvers.base import _helper"),
    ("helpers", "from classic_rc.errors import UsageError"),
]


@pytest.mark.parametrize(("module", "source"), PLANTED)
def test_a_planted_violation_is_found(module, source):
    assert len([found for found in imports_of(source, module) if fault(found)]) == 1


ALLOWED = [
    ("solvers.good", "from classic_rc.text.encode import encode\nfrom .base import Solver"),
    ("evaluation.good", "from classic_rc.datasets import load\nfrom classic_rc.errors import DataError"),
    ("decisions", "import numpy as np\nfrom classic_rc.kernels.ragged import segment_max"),
    ("kernels.good", "import math\nimport numpy as np\nfrom classic_rc.kernels import reference"),
    ("cli.good", "def f():\n    from classic_rc.datasets.race import read"),
    ("formats.good", "'classic_rc.solvers. The words of a docstring are not an import'"),
    ("formats.good", "from classic_rc._version import __version__"),
]


@pytest.mark.parametrize(("module", "source"), ALLOWED)
def test_an_allowed_import_is_not(module, source):
    assert [problem for found in imports_of(source, module) if (problem := fault(found))] == []


def test_a_relative_import_in_a_package_starts_from_the_package():
    (found,) = imports_of("from .base import Solver", "solvers", is_package=True)
    assert found.target == "classic_rc.solvers.base.Solver"


@pytest.mark.parametrize(
    ("module", "source", "heavy"),
    [
        ("text.bad", "import nltk.stem", True),
        ("text.bad", "try:\n    import nltk\nexcept ImportError:\n    nltk = None", True),
        ("evaluation.bad", "class A:\n    from scipy import stats", True),
        ("text.good", "def f():\n    import nltk.stem", False),
        ("text.good", "if TYPE_CHECKING:\n    import pandas", False),
        ("text.good", "from classic_rc import datasets", False),
        ("kernels.good", "from scipy import sparse", False),
        ("solvers.base", "from sklearn.base import BaseEstimator", False),
        ("solvers.bad", "from sklearn.base import BaseEstimator", True),
    ],
)
def test_a_planted_heavy_import_is_found(module, source, heavy):
    assert any(is_heavy(found) for found in imports_of(source, module)) is heavy


def test_the_command_line_starts_without_heavy_packages():
    code = f"import sys, classic_rc.cli.main; print(*sorted({HEAVY!r} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.split() == []
