"""The modules, functions, files and link targets that documents and docstrings name exist."""

from __future__ import annotations

import ast
import dis
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import BENCHMARKS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "classic_rc"
FOLDERS = ("classic_rc", "docs", "benchmarks", "tools", "data", "tests")

# The changelog names what once was; docs/api.md is made from the source.
PAGES = sorted(
    {
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs").rglob("*.ipynb"),
        *(ROOT / "data").glob("*.md"),
        *(ROOT / "classic_rc").rglob("*.md"),
        *(ROOT / "benchmarks").rglob("*.md"),
    }
)
LINKED = [*PAGES, ROOT / "CHANGELOG.md"]
SOURCES = sorted(
    path
    for folder in ("classic_rc", "docs", "benchmarks", "tools")
    for path in (ROOT / folder).rglob("*.py")
)
# its paths are those of the folders that it works in
RECORDER = ROOT / "tools" / "recorder_commands.py"

FOLDERS_OF_CODE = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
DOTTED = re.compile(r"(?<![\w./@-])classic_rc(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*)?")
PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./-]*\w")
MODULE_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS_OF_CODE)})/[\w/]+\.py\b")
SCRIPT = re.compile(r"python -m\s+((?:benchmarks|tools)(?:\.[a-z]\w*)*)\b(?!\.)(?: ([a-z][-\w]*))?")
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]+)\)")
ROLE = re.compile(r":(?:mod|class|func|meth|attr|data|exc|obj):`~?([^`<>]+)`")
KINDS = ("readers", "engines", "analyzers", "perturbations", "similarities", "table_formats")
NO_PYTHON_NAMES = {*(f"classic_rc.{kind}" for kind in KINDS), "classic_rc.ascii"}
"""A group of entry points, and what errors in the terminal's encoding are handed to."""


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(path: Path) -> str:
    """What people read of a page: of a notebook, its cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


@cache
def looked_up(dotted: str) -> Any:
    """The object of a dotted name.

    Raises
    ------
    LookupError
        There is none.
    """
    parts = dotted.replace(":", ".").split(".")  # a registry's "module:Class" too
    for n in range(len(parts), 0, -1):
        name = ".".join(parts[:n])
        try:
            looked_at = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not name.startswith(str(error.name)):
                raise
            continue
        return attribute(looked_at, parts[n:])
    raise LookupError(dotted)


def attribute(owner: Any, names: list[str]) -> Any:
    for i, name in enumerate(names):
        if hasattr(owner, name):
            owner = getattr(owner, name)
        elif i == len(names) - 1 and name in fields_of(owner):
            return None
        else:
            raise LookupError(name)
    return owner


def fields_of(cls: Any) -> set[str]:
    """A class's annotated fields, and what its methods set on themselves."""
    if not isinstance(cls, type):
        return set()
    field_names: set[str] = set()
    for base in cls.__mro__:
        field_names |= set(inspect.get_annotations(base))
        codes = [value.__code__ for value in vars(base).values() if hasattr(value, "__code__")]
        field_names |= {
            step.argval
            for code in codes
            for step in dis.get_instructions(code)
            if step.opname == "STORE_ATTR"
        }
    return field_names


def exists(dotted: str) -> bool:
    try:
        looked_up(dotted)
    except LookupError:
        return False
    return True


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def classes_above(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Each string of a module, with the names of the classes that it is in."""

    def walk(node: ast.AST, classes: list[str]) -> Iterator[tuple[str, list[str]]]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, classes
        inner = [*classes, node.name] if isinstance(node, ast.ClassDef) else classes
        for child in ast.iter_child_nodes(node):
            yield from walk(child, inner)

    return walk(tree, [])


def unresolved_roles(source: str, module: str) -> list[str]:
    r"""The cross-references (``:func:`name```) of a module that lead nowhere.

    A name is looked up in the class that names it, in the module, and in full; one that begins with
    a point may be anywhere below the module's package, as in Sphinx.
    """
    package = module.rpartition(".")[0]
    missing = []
    for text, classes in classes_above(ast.parse(source)) if ROLE.search(source) else ():
        for target in ROLE.findall(text):
            name = target.rstrip("()")
            if name.startswith("."):
                places = [f"{package}{name}", f"{module}{name}", f"classic_rc{name}"]
            elif name.split(".")[0] in ("numpy", "scipy", "sklearn", "matplotlib", "pandas"):
                continue
            else:
                places = [name] if name.startswith("classic_rc.") else [f"{module}.{name}"]
                places += [
                    f"{module}.{'.'.join(classes[: n + 1])}.{name}" for n in range(len(classes))
                ]
            if not any(map(exists, places)):
                missing.append(target)
    return missing


def slugs(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text_of(page), flags=re.M | re.S), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def broken_links(text: str, page: Path) -> list[str]:
    broken = []
    for link in LINK.findall(text):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in slugs(target)
        ):
            broken.append(link)
    return broken


def missing_names(text: str) -> list[str]:
    return [
        name
        for name in dict.fromkeys(DOTTED.findall(text))
        if name not in NO_PYTHON_NAMES and not exists(name)
    ]


def missing_paths(text: str) -> list[str]:
    """The paths from the repository's root, and of modules from the package, that no file or
    folder has.
    """
    paths = [ROOT / path for path in PATH.findall(text)] + [
        PACKAGE / path for path in MODULE_PATH.findall(text)
    ]
    return [shown(path) for path in dict.fromkeys(paths) if not path.exists()]


def missing_scripts(text: str) -> list[str]:
    """The modules of benchmarks and tools that a command runs but that are not there, and names
    of no benchmark.
    """
    missing = []
    for module, name in dict.fromkeys(SCRIPT.findall(text)):
        path = ROOT.joinpath(*module.split("."))
        if not path.with_suffix(".py").is_file() and not (path / "__main__.py").is_file():
            missing.append(module)
        elif module == "benchmarks" and name and name not in BENCHMARKS:
            missing.append(f"{module} {name}")
    return missing


def faults(paths: list[Path], find: Callable[[Path], list[str]]) -> dict[str, list[str]]:
    """What is wrong in each file where something is."""
    return {shown(path): problems for path in paths if (problems := find(path))}


def test_every_dotted_name_exists():
    assert faults([*PAGES, *SOURCES], lambda path: missing_names(text_of(path))) == {}


def test_every_file_that_is_named_exists():
    paths = [path for path in (*PAGES, *SOURCES) if path != RECORDER]
    assert faults(paths, lambda path: missing_paths(text_of(path))) == {}


def test_every_script_that_is_named_exists():
    assert faults([*PAGES, *SOURCES], lambda path: missing_scripts(text_of(path))) == {}


def test_every_cross_reference_leads_somewhere():
    paths = [path for path in SOURCES if PACKAGE in path.parents]
    assert (
        faults(
            paths, lambda path: unresolved_roles(path.read_text(encoding="utf-8"), module_of(path))
        )
        == {}
    )


def test_every_relative_link_leads_somewhere():
    assert faults(LINKED, lambda page: broken_links(text_of(page), page)) == {}


@pytest.mark.parametrize(
    ("find", "text", "missing"),
    [
        (missing_names, "`classic_rc.solvers.SlidingWindow` and classic_rc.folds.", []),
        (
            missing_names,
            "classic_rc.questions.Question.passage, classic_rc.results.breakdown.Group.cells",
            [],
        ),
        (
            missing_names,
            "`classic_rc.gone`, classic_rc.folds.gone",
            ["classic_rc.gone", "classic_rc.folds.gone"],
        ),
        (
            missing_names,
            "'classic_rc.folds:Overlap', 'classic_rc.folds:Gone'",
            ["classic_rc.folds:Gone"],
        ),
        (missing_names, "https://example.org/classic_rc.gone", []),
        (missing_paths, "docs/tour.md, `classic_rc/text/` and kernels/arrays.py", []),
        (
            missing_paths,
            "docs/gone.md and `kernels/gone.py`",
            ["docs/gone.md", "classic_rc/kernels/gone.py"],
        ),
        (
            missing_scripts,
            "`python -m benchmarks spans`, `python -m tools.recorder record X`, python -m "
            "benchmarks.\n",
            [],
        ),
        (missing_scripts, "`python -m\nbenchmarks.studies.NAME`, `python -m benchmarks` times", []),
        (
            missing_scripts,
            "python -m benchmarks.gone and python -m tools",
            ["benchmarks.gone", "tools"],
        ),
        (missing_scripts, "python -m benchmarks audit-nulls X", ["benchmarks audit-nulls"]),
    ],
)
def test_planted_names_and_paths_are_found(find, text, missing):
    assert find(text) == missing


@pytest.mark.parametrize(
    ("role", "leads"),
    [
        (":class:`Overlap`", True),
        (":func:`~classic_rc.folds.find_overlap`", True),
        (":func:`.text.encode.encode`", True),
        (":meth:`split`", False),
        (":func:`gone`", False),
        (":func:`.text.encode.gone`", False),
    ],
)
def test_planted_cross_references_are_found(role, leads):
    assert (unresolved_roles(f'"""See {role}."""', "classic_rc.folds") == []) is leads


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("tour.md", True),
        ("../README.md", True),
        ("tour.md#questions-as-arrays", True),
        ("https://example.org/gone", True),
        ("gone.md", False),
        ("tour.md#gone", False),
        ("#gone", False),
    ],
)
def test_planted_links_are_found(link, leads):
    page = ROOT / "docs" / "spans.md"
    assert (broken_links(f"[a page]({link})", page) == []) is leads
