"""The source of every module: which part may import which, and the types that docstrings name."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "classic_rc"

ASSIGNMENTS = PACKAGE / "commands" / "grade" / "assignments"

# Lowest first. A module imports from its own level or from those below it.
LEVELS = (
    {"errors", "_version"},
    {"plugins", "parameters", "equality", "option_labels", "work"},
    {"kernels"},
    {"questions", "predictions"},
    {"io"},
    {"tables"},
    {"text"},
    {"near_duplicates", "folds", "facts"},
    {"sketches"},
    {"encodings", "protocol"},
    {"datasets", "formats"},
    {"metrics"},
    {"retrieval"},
    {"decisions"},
    {"solvers"},
    {"identity"},
    {"systems"},
    {"results"},
    {"running"},
    {"reports", "plots"},
    {"testing", "harness"},
    {"cli"},
    {"commands"},
    {"cli.main", "__init__", "__main__"},
)
ARCHITECTURE = Path(__file__).resolve().parents[1] / "docs" / "architecture.md"
LEVEL = {package: level for level, parts in enumerate(LEVELS) for package in parts}
COMMAND_LINE = LEVEL["__main__"]
"""A `__main__` module is a command line too, whatever package it is in: nothing imports it."""
USER_LEVEL = LEVEL["testing"]
"""Written as a user would write it: from here up, no private name of another part is imported."""
KERNEL_PACKAGES = {"numpy", "scipy"}

HEAVY = {
    *(
        "sklearn",
        "scipy",
        "nltk",
        "pandas",
        "matplotlib",
        "joblib",
        "tqdm",
        "jinja2",
        "pooch",
        "threadpoolctl",
    ),
    *(
        "rank_bm25",
        "pyserini",
        "jnius",
        "opensearchpy",
        "datasets",
        "pyarrow",
        "dask",
        "distributed",
        "lm_eval",
    ),
}
NAMED_FROM_BELOW = {("identity", "classic_rc.running.evaluate")}
"""Texts that name a module above: identity reads the source of the pipeline, and imports nothing
of it.
"""
MAY_LOAD_HEAVY = {
    "kernels": {"scipy"},
    "harness.model": {"lm_eval"},
}
"""Modules that need a heavy package to be defined at all; the command line imports them when it
runs one.
"""


@dataclass(frozen=True)
class Import:
    module: str  # that imports, without the package's name: "solvers.base"
    line: int
    target: str  # that is imported: "classic_rc.questions.Question"
    on_load: bool  # runs when the module is imported, not when a function is called
    in_string: bool = False  # "classic_rc.solvers.trivial:Random" in a registry

    @property
    def part(self) -> str:
        return self.module.split(".")[0]

    @property
    def level(self) -> int | None:
        if self.module == "cli.main" or self.module.endswith("__main__"):
            return COMMAND_LINE
        return LEVEL.get(self.part)

    @property
    def package(self) -> str:
        return self.target.split(".")[0]

    @property
    def target_part(self) -> str:
        name = self.target.split(".")[1] if "." in self.target else "__init__"
        return (
            name if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file() else "__init__"
        )

    def __str__(self) -> str:
        return f"{self.module} (line {self.line}) imports {self.target}"


def imports_of(
    source: str | ast.Module, module: str, *, is_package: bool = False
) -> Iterator[Import]:
    """Every import in a module's source: nested ones, those for type checkers, and modules named
    in strings.
    """
    parents = (
        [*("classic_rc." + module).split("."), ""]
        if is_package
        else ("classic_rc." + module).split(".")
    )
    ahead: list[tuple[ast.AST, bool]] = [
        (source if isinstance(source, ast.Module) else ast.parse(source), True)
    ]

    def targets(node: ast.AST) -> list[str]:
        match node:
            case ast.Import():
                return [alias.name for alias in node.names]
            case ast.ImportFrom():
                origin = parents[: len(parents) - node.level] if node.level else []
                base = ".".join([*origin, *([node.module] if node.module else [])])
                return [f"{base}.{alias.name}" for alias in node.names]
            case ast.Constant(value=str(text)) if text.startswith("classic_rc."):
                dotted = text.replace(":", ".")
                return [dotted] if all(word.isidentifier() for word in dotted.split(".")) else []
        return []

    while ahead:
        node, on_load = ahead.pop()
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant):
            for target in targets(node):
                yield Import(module, node.lineno, target, on_load, isinstance(node, ast.Constant))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            ahead += [
                *((child, False) for child in node.body),
                *((child, on_load) for child in node.orelse),
            ]
        else:
            inner = on_load and not isinstance(
                node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
            )
            ahead += [(child, inner) for child in ast.iter_child_nodes(node)]


@cache
def sources() -> dict[str, tuple[ast.Module, bool]]:
    """Every module by its name without the package's ("solvers.base"), parsed, and whether it is
    a package.
    """
    source_of = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        if ASSIGNMENTS in file.parents and file.name != "checks.py":
            continue  # what students start from is a user's file
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__" and len(parts) > 1
        module = ".".join(parts[:-1] if is_package else parts)
        source_of[module] = ast.parse(file.read_text(encoding="utf-8")), is_package
    return source_of


@cache
def all_imports() -> tuple[Import, ...]:
    return tuple(
        import_
        for module, (tree, is_package) in sources().items()
        for import_ in imports_of(tree, module, is_package=is_package)
    )


def fault(import_: Import) -> str | None:
    """What is wrong with an import, if anything."""
    if (
        import_.part == "kernels"
        and import_.package not in KERNEL_PACKAGES | sys.stdlib_module_names | {"classic_rc"}
    ):
        return f"{import_}: kernels import NumPy and SciPy only"
    if import_.package != "classic_rc" or (
        import_.in_string and (import_.module, import_.target) in NAMED_FROM_BELOW
    ):
        return None
    if (
        import_.in_string and import_.module == "cli.registry"
    ):  # names of commands; nothing is imported
        return None
    if import_.part == "kernels" and import_.target_part not in ("kernels", "work"):
        return f"{import_}: kernels import NumPy and SciPy only"
    if import_.level is None:
        return f"{import_}: {import_.part} has no level"
    if import_.part == import_.target_part != "commands":
        return None
    if (problem := crossing(import_)) is not None:
        return problem
    target_level = LEVEL.get(
        "cli.main" if import_.target.startswith("classic_rc.cli.main") else import_.target_part
    )
    if target_level is None or target_level > import_.level:
        return f"{import_}: {import_.target_part} is above {import_.part}"
    if import_.level >= USER_LEVEL:
        private = [
            name
            for name in import_.target.split(".")
            if name.startswith("_") and not name.endswith("__")
        ]
        return (
            f"{import_}: it is private" if private and import_.target_part != "_version" else None
        )
    return None


def crossing(import_: Import) -> str | None:
    """What is wrong with an import of a command by another one; `report` shows what the others
    find.
    """
    _, package, command, *_ = [*import_.target.split("."), "", ""]
    home = (
        import_.module.split(".")[1]
        if import_.part == "commands" and "." in import_.module
        else None
    )
    if package != "commands" or not command or command == home or home in (None, "report"):
        return None
    return f"{import_}: the command {home} imports the command {command}"


def graph(imports: Iterable[Import], modules: Iterable[str]) -> dict[str, set[str]]:
    """The modules that each module imports.

    Names in strings do not count here. A registry's "module:Class" is looked up when a user asks
    for the name, long after both modules are loaded, and the registry's code knows nothing of the
    class; an import, wherever it is written, says that one module's code cannot be read without the
    other's.
    """
    module_names = set(modules)
    arrows: dict[str, set[str]] = {module: set() for module in module_names}
    for import_ in imports:
        if import_.package != "classic_rc" or import_.in_string:
            continue
        target = import_.target.removeprefix("classic_rc").removeprefix(".")
        # from the name that is imported to the module that has it
        while target and target not in module_names:
            target = target.rpartition(".")[0]
        target = target or "__init__"
        if target != import_.module:
            arrows[import_.module].add(target)
    return arrows


def cycles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module."""
    reached = {module: reachable(module, arrows) for module in arrows}
    components = {
        tuple(sorted(member for member in reached[module] if module in reached[member]))
        for module in arrows
        if module in reached[module]
    }
    return [list(component) for component in sorted(components)]


def reachable(module: str, arrows: dict[str, set[str]]) -> set[str]:
    """The modules that the arrows from `module` lead to, at any distance."""
    seen: set[str] = set()
    ahead = set(arrows[module])
    while ahead:
        step = ahead.pop()
        seen.add(step)
        ahead |= arrows[step] - seen
    return seen


def assigns_all(tree: ast.Module) -> bool:
    names = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return any(name.id == "__all__" for name in names)


def is_heavy(import_: Import) -> bool:
    allowed = MAY_LOAD_HEAVY.get(import_.module, set()) | MAY_LOAD_HEAVY.get(import_.part, set())
    return import_.on_load and import_.package in HEAVY - allowed


def test_imports_follow_the_layers():
    assert [problem for import_ in all_imports() if (problem := fault(import_))] == []


def test_no_modules_import_each_other_in_a_cycle():
    assert cycles(graph(all_imports(), sources())) == []


def test_heavy_packages_are_imported_where_they_are_used():
    assert [str(import_) for import_ in all_imports() if is_heavy(import_)] == []


def test_only_packages_have_an_all():
    assert [
        module
        for module, (tree, is_package) in sources().items()
        if not is_package and assigns_all(tree)
    ] == ["__init__"]


PRIMITIVES = {"gzip", "zlib", "bz2", "lzma", "tarfile", "zipfile", "tempfile"}
EXCEPTIONS = {
    ("datasets.text_store", "tempfile"),
    ("commands.grade.autograder", "zipfile"),
    ("commands.grade.isolation", "tempfile"),
    ("testing.reader_check", "tempfile"),
    ("solvers.spans.texts", "zlib"),
}
"""Texts of large datasets are in a file without a name. An autograder is a zip in memory.
Submissions run, and readers are tried, in folders of their own. A checksum compresses nothing.
"""


def test_only_io_opens_compresses_and_replaces_files():
    called = (
        (import_.module, import_.package, import_.target)
        for import_ in all_imports()
        if import_.part != "io"
    )
    assert {
        (module, package) for module, package, _ in called if package in PRIMITIVES
    } == EXCEPTIONS
    replaces = (
        module
        for module, (tree, _) in sources().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "replace"
        and ast.unparse(node.value) == "os"
    )
    assert {module.split(".")[0] for module in replaces} == {"io"}


TYPE = re.compile(
    r"^(?:Returns|Yields)\n-+\n([A-Z]\w+)$|^\w+ : ([A-Z]\w+)(?:, optional)?$", re.MULTILINE
)
FROM_ELSEWHERE = {"None", "Namespace"}


def test_types_in_docstrings_are_names_of_the_code():
    defined = {
        *dir(builtins),
        *FROM_ELSEWHERE,
        *(documented.target.split(".")[-1] for documented in all_imports()),
    }
    mentions: list[tuple[str, str]] = []
    for module, (tree, _) in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                defined.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                defined.update(target.id for target in targets if isinstance(target, ast.Name))
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                documented = TYPE.findall(ast.get_docstring(node) or "")
                mentions += [(f"{module}: {node.name}", a or b) for a, b in documented]
    assert len(mentions) > 80
    assert [(where, name) for where, name in mentions if name not in defined] == []


def test_the_table_of_levels_in_the_architecture_is_the_one_here():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]*) \|", text, re.MULTILINE)
    listed = []
    for _, parts in rows:
        names = re.findall(r"`([^`]*)`", parts)
        listed.append({name.removesuffix(".py").strip("/").replace("/", ".") for name in names})
    assert listed == list(LEVELS)


def test_every_module_has_a_level():
    modules = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert modules <= set(LEVEL)
    assert sum(map(len, LEVELS)) == len(LEVEL)  # and one only


PLANTED = [
    ("solvers.bad", "from classic_rc.running import evaluate"),
    ("solvers.bad", "def f():\n    import classic_rc.results.evaluation"),
    (
        "solvers.bad",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..running import evaluate",
    ),
    ("solvers.bad", "CHECKS = {'words': 'classic_rc.commands.check.audit:check_dataset'}"),
    ("solvers.bad", "from classic_rc import load"),
    ("metrics.bad", "class A:\n    from classic_rc import predictions, solvers"),
    ("text.bad", "from .. import metrics"),
    ("questions", "from classic_rc.text.spans import Spans"),
    ("kernels.bad", "from classic_rc.errors import UsageError"),
    ("kernels.bad", "import sklearn.utils"),
    ("kernels.bad", "def f():\n    from classic_rc.plugins import Registry"),
    ("running.bad", "from classic_rc.cli.main import main"),
    ("cli.bad", "from classic_rc.solvers.base import _helper"),
    ("helpers", "from classic_rc.errors import UsageError"),
    ("commands.table.bad", "from classic_rc.commands.floor import floor_page"),
    ("commands.table.bad", "def f():\n    from ..check.audit import check_dataset"),
    ("commands.fit", "PAGES = {'one': 'classic_rc.commands.report.page:page_html'}"),
    ("results.bad", "from classic_rc.commands.check import check_dataset"),
    ("cli.options", "from classic_rc.commands.run import command"),
    ("commands.list", "from classic_rc.cli.main import main"),
]


@pytest.mark.parametrize(("module", "source"), PLANTED)
def test_a_planted_violation_is_found(module, source):
    assert len([import_ for import_ in imports_of(source, module) if fault(import_)]) == 1


ALLOWED = [
    ("solvers.good", "from classic_rc.text.encode import encode\nfrom .base import Solver"),
    ("solvers.good", "SOLVERS = {'random': 'classic_rc.solvers.trivial:Random'}"),
    ("decisions", "import numpy as np\nfrom classic_rc.kernels.ragged import segment_max"),
    ("kernels.good", "import math\nimport numpy as np\nfrom classic_rc.kernels import reference"),
    ("formats.good", "'classic_rc.solvers. The words of a docstring are not an import'"),
    ("formats.good", "from classic_rc._version import __version__"),
    ("__main__", "from classic_rc.cli.main import main"),
    ("commands.report.good", "from classic_rc.commands.check import check_dataset"),
    ("commands.table.good", "from classic_rc.commands.table.paper import make_paper_table"),
    ("commands.list", "from classic_rc.cli.registry import COMMANDS"),
    ("cli.registry", "COMMANDS = {'run': 'classic_rc.commands.run.command'}"),
]


@pytest.mark.parametrize(("module", "source"), ALLOWED)
def test_an_allowed_import_is_not(module, source):
    assert [problem for import_ in imports_of(source, module) if (problem := fault(import_))] == []


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ({"a": "from .b import x", "b": "from .a import y"}, [["a", "b"]]),
        ({"a": "from . import b", "b": "def f():\n    from classic_rc.a import y"}, [["a", "b"]]),
        (
            {"a": "import classic_rc.b", "b": "if TYPE_CHECKING:\n    from .a import y"},
            [["a", "b"]],
        ),
        (
            {"a": "from .b import x", "b": "from .c import x", "c": "from .a import x"},
            [["a", "b", "c"]],
        ),
        (
            {
                "a": "from .b import x",
                "b": "from .a import x",
                "c": "from .d import x; from .a import x",
                "d": "from .c import x",
            },
            [["a", "b"], ["c", "d"]],
        ),
        ({"p": "from classic_rc.p.m import x", "p.m": "from classic_rc.p import n", "p.n": ""}, []),
        (
            {"p": "from classic_rc.p.m import x", "p.m": "from classic_rc.p import x"},
            [["p", "p.m"]],
        ),
        ({"a": "from .b import x", "b": "TABLE = {'x': 'classic_rc.a:X'}"}, []),
        ({"a": "from .b import x", "b": "from .c import x", "c": "import numpy"}, []),
    ],
)
def test_a_planted_cycle_is_found(planted, expected):
    packages = {
        name for name in planted if any(module.startswith(f"{name}.") for module in planted)
    }
    imports = [
        import_
        for name, source in planted.items()
        for import_ in imports_of(source, name, is_package=name in packages)
    ]
    assert cycles(graph(imports, planted)) == expected


@pytest.mark.parametrize(
    ("source", "has_one"),
    [
        ("__all__ = ['f']", True),
        ("__all__: list[str] = []", True),
        ("if x:\n    __all__ += ['f']", True),
        ("from classic_rc import __all__ as names", False),
        ("x = classic_rc.__all__", False),
    ],
)
def test_a_planted_all_is_found(source, has_one):
    assert assigns_all(ast.parse(source)) is has_one


def test_a_relative_import_in_a_package_starts_from_the_package():
    (import_,) = imports_of("from .base import Solver", "solvers", is_package=True)
    assert import_.target == "classic_rc.solvers.base.Solver"


@pytest.mark.parametrize(
    ("module", "source", "heavy"),
    [
        ("text.bad", "import nltk.stem", True),
        ("text.bad", "try:\n    import nltk\nexcept ImportError:\n    nltk = None", True),
        ("text.good", "def f():\n    import nltk.stem", False),
        ("text.good", "if TYPE_CHECKING:\n    import pandas", False),
        ("kernels.good", "from scipy import sparse", False),
        ("kernels.good", "import scipy.sparse", False),
        ("solvers.base", "from sklearn.base import BaseEstimator", True),
    ],
)
def test_a_planted_heavy_import_is_found(module, source, heavy):
    assert any(is_heavy(import_) for import_ in imports_of(source, module)) is heavy


def test_the_command_line_starts_without_heavy_packages():
    code = f"import sys, classic_rc.cli.main; print(*sorted({HEAVY!r} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stdout.split() == []
