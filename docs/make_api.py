"""Make pages from the source: api.md (a line per name), packages.md (a line per file), or pages in
a folder.

python docs/make_api.py
python docs/make_api.py FOLDER

Public names are those in `__all__` of the packages' `__init__` files. A name's text comes from the
module that defines it. The script imports a package only if its `__all__` is computed, and for
pages also to see its classes.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # this checkout, whatever is installed
INDEX = ROOT / "docs" / "api.md"
FILES = ROOT / "docs" / "packages.md"

HEAD = """# API reference

Every package with the names that it exports and what each is for. Other names are internal and may
change. `help(classic_rc.evaluate)` shows the rest; `python docs/make_api.py FOLDER` writes a page
with all signatures and docstrings for each of these packages. This page is made by
`python docs/make_api.py`.
"""
FILES_HEAD = """# The files of each package

One idea a file, one screen a package. [architecture.md](architecture.md) says how the packages fit
together, and which files an addition touches. This page is made by `python docs/make_api.py`.
"""
VERSION = "The version of the package, as in `classic-rc --version`."

Definition = ast.FunctionDef | ast.ClassDef
Constant = ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Module:
    """The source of a module: its docstring, its public names, definitions and imports."""

    name: str
    is_package: bool
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def text(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @property
    def public(self) -> list[str]:
        """The names in a package's ``__all__``; for another module, its documented names without
        an underscore.
        """
        if not self.is_package:
            return [
                name
                for name, (_, text) in self.defined().items()
                if text and not name.startswith("_")
            ]
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                try:
                    return list(ast.literal_eval(node.value))
                except ValueError:  # a computed list
                    return list(import_module(self.name).__all__)
        return []

    def defined(self) -> dict[str, tuple[Definition | Constant, str]]:
        """Return the functions, classes and constants that the module defines, with their
        docstrings.
        """
        found: dict[str, tuple[Definition | Constant, str]] = {}
        for node, after in zip(self.tree.body, [*self.tree.body[1:], None], strict=True):
            if isinstance(node, Definition):
                found[node.name] = node, ast.get_docstring(node) or ""
            elif isinstance(node, Constant):
                name = ast.unparse(
                    node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                )
                text = ""
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    text = cleandoc(str(after.value.value))
                found[name] = node, text
        return found

    def imported(self) -> dict[str, tuple[str, str]]:
        """Return the imported names (those for type checkers too), each with its module and its
        name there.
        """
        nodes = [
            node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) and node.module
        ]
        return {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in nodes
            for alias in node.names
        }


@dataclass(frozen=True)
class Name:
    """An exported name and where it comes from."""

    name: str
    home: str  # the module that defines it; for a module, the module itself
    origin: str  # its name in that module; empty for a module
    text: str  # its docstring; empty if it has none
    node: Definition | Constant | ast.Module

    @property
    def summary(self) -> str:
        return summary(self.text)


@cache
def sources() -> dict[str, Module]:
    """Return every module of the package by name."""
    found = {}
    for file in sorted((ROOT / "classic_rc").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = Module(name, parts[-1] == "__init__", file.read_text(encoding="utf-8"))
    return found


@cache
def modules() -> list[Module]:
    """Return the packages that export names and the modules that they export, sorted by name."""
    packages = {module.name for module in sources().values() if module.is_package and module.public}
    named = [name for package in packages for name in names(sources()[package])]
    exported = {name.home for name in named if isinstance(name.node, ast.Module)}
    return [sources()[name] for name in sorted(packages | exported)]


def names(module: Module) -> list[Name]:
    """Return the public names of a package or module.

    Raises
    ------
    LookupError
        A package exports a name that it neither defines nor imports.
    """
    return [resolved(module, name) for name in module.public]


def resolved(module: Module, name: str) -> Name:
    """Follow a name of a module through imports to the module that defines it."""
    if name == "__version__":
        return Name(
            name, f"{module.name}._version", name, VERSION, ast.Assign([], ast.Constant(VERSION))
        )
    if name in module.defined():
        node, text = module.defined()[name]
        return Name(name, module.name, name, text, node)
    home, origin = module.imported().get(name) or (lazy_home(module, name), name)
    if f"{home}.{origin}" in sources():
        own = sources()[f"{home}.{origin}"]
        return Name(name, own.name, "", own.text, own.tree)
    return resolved(sources()[home], origin)


def lazy_home(module: Module, name: str) -> str:
    """Return the module of a class or function that a package imports on first use."""
    try:
        home = getattr(import_module(module.name), name).__module__
    except (ImportError, AttributeError):
        raise LookupError(
            f"{module.name} exports {name}, which it neither defines nor imports"
        ) from None
    return str(home)


def summary(text: str) -> str:
    """Return the first paragraph in one line, with cross-references as code."""
    return re.sub(r":[a-z]+:`~?([^`]*)`", r"`\1`", " ".join(text.partition("\n\n")[0].split()))


def index() -> str:
    """Return the content of api.md."""
    lines = [HEAD.rstrip()]
    for module in modules():
        lines += [
            "",
            f"## {module.name}",
            "",
            summary(module.text),
            "",
            "| name | what it is |",
            "|---|---|",
        ]
        for name in names(module):
            lines.append(f"| `{name.name}` | " + name.summary.replace("|", "\\|") + " |")
    return "\n".join(lines) + "\n"


def files() -> str:
    """Return the content of packages.md."""
    lines = [FILES_HEAD.rstrip()]
    for package in (module for module in sources().values() if module.is_package):
        own = [file for file in sources().values() if file.name.rpartition(".")[0] == package.name]
        own = [file for file in own if not file.is_package and not file.name.endswith(".__main__")]
        if own and not package.name.startswith("classic_rc.commands.grade.assignments"):
            lines += ["", f"## {package.name}", "", "| file | what it has |", "|---|---|"]
            lines += [
                f"| `{file.name.rpartition('.')[2]}.py` | {summary(file.text)} |" for file in own
            ]
    return "\n".join(lines).replace("\\", "\\\\") + "\n"


def page(module: Module) -> str:
    """Return a package's page: its docstring, then a section for each exported name."""
    parts = [f"# {module.name}", module.text]
    for name in names(module):
        parts.append(f"## {name.name}")
        if name.origin and name.home != module.name and name.name != "__version__":
            parts.append(f"Defined in `{name.home}`.")
        if isinstance(name.node, Definition):
            parts.append(described(name.node, name.home))
        elif isinstance(name.node, ast.Module):
            parts.append(f"A module with a page of its own: {name.summary}")
        else:
            parts.append(name.text)
        if isinstance(name.node, ast.ClassDef):
            methods = [own for own in name.node.body if isinstance(own, ast.FunctionDef)]
            shown = [
                own for own in methods if not own.name.startswith("_") and ast.get_docstring(own)
            ]
            parts += [
                part for own in shown for part in (f"### {name.name}.{own.name}", described(own))
            ]
    return "\n\n".join(part for part in parts if part) + "\n"


def described(node: Definition, home: str = "") -> str:
    """Return the signature and the docstring of a definition, if a class in the module `home`,
    as a text block.
    """
    text = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        declared_fields = "\n".join(field_lines(node, home))
        text = f"{text}\n\n{declared_fields}" if declared_fields else text
        made = next(
            (
                own
                for own in node.body
                if isinstance(own, ast.FunctionDef) and own.name == "__init__"
            ),
            None,
        )
        signature = f"class {node.name}" + (f"({ast.unparse(made.args)})" if made else "")
        if made is None and (
            declared := getattr(found := made_class(home, node.name), "parameters", None)
        ):
            types = found.__init__.__annotations__
            keywords = [
                f"{name}: {types[name]} = {own.default!r}" for name, own in declared.items()
            ]
            signature, text = f"class {node.name}(*, {', '.join(keywords)})", found.__doc__ or ""
    else:
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        signature = f"{node.name}({ast.unparse(node.args)}){returns}"
    return f"```text\n{signature}\n\n{text}".rstrip() + "\n```"


def field_lines(node: ast.ClassDef, home: str) -> list[str]:
    """Return the declarations of a class's public fields, each after the comment above it or
    before its own.
    """
    lines = sources()[home].source.encode().splitlines()  # offsets of nodes are in bytes
    found: list[str] = []
    for own in node.body:
        if isinstance(own, ast.AnnAssign) and not ast.unparse(own.target).startswith("_"):
            first = own.lineno - 1
            while lines[first - 1].lstrip().startswith(b"# "):
                first -= 1
            found += [lines[i].decode().strip() for i in range(first, own.end_lineno or own.lineno)]
    return found if any("# " in line for line in found) else []


def made_class(home: str, name: str) -> Any:
    """Return a class, or None if its module needs a package that is missing."""
    try:
        return getattr(import_module(home), name)
    except ImportError:
        return None


def main(folder: str | None = None) -> None:
    if folder is None:
        INDEX.write_text(index(), encoding="utf-8", newline="\n")
        FILES.write_text(files(), encoding="utf-8", newline="\n")
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for module in modules():
        Path(folder, f"{module.name}.md").write_text(page(module), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Write docs/api.md, or one page for each module into a folder."
    )
    parser.add_argument("folder", nargs="?")
    main(parser.parse_args().folder)
