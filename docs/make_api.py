"""Makes the API reference from the source: api.md, a line a module; or a page for each module in a folder.

python docs/make_api.py
python docs/make_api.py FOLDER
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs" / "api.md"

HEAD = """# API reference

Every public module with what it is for and the names that it exports. `help(classic_rc.evaluate)` shows the rest;
`python docs/make_api.py FOLDER` writes a page with all docstrings for each of these modules. This page is made by
`python docs/make_api.py`.
"""

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Module:
    """What a module's source says of itself."""

    name: str
    tree: ast.Module

    @property
    def text(self) -> str:
        return ast.get_docstring(self.tree) or ""

    @property
    def summary(self) -> str:
        return " ".join(self.text.partition("\n\n")[0].split())

    @property
    def exports(self) -> list[str]:
        """The names in ``__all__``."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return list(ast.literal_eval(node.value))
        return []

    def definitions(self) -> Iterator[Definition]:
        """The functions and classes that it exports and defines itself."""
        own = {node.name: node for node in self.tree.body if isinstance(node, Definition)}
        return (own[name] for name in self.exports if name in own)

    def constants(self) -> Iterator[tuple[str, str]]:
        """The other names that it exports and says something of, and what it says."""
        body = self.tree.body
        for node, after in zip(body, body[1:], strict=False):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
                name = ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
                if name in self.exports and isinstance(after.value, ast.Constant):
                    yield name, cleandoc(str(after.value.value))


def modules() -> list[Module]:
    """The modules that export names, but for the command line's."""
    found = []
    for file in sorted((ROOT / "classic_rc").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        if not name.startswith("classic_rc.cli") and not name.rpartition(".")[2].startswith("_"):
            module = Module(name, ast.parse(file.read_text(encoding="utf-8")))
            if module.exports:
                found.append(module)
    return sorted(found, key=lambda module: (module.name.split(".")[:2], module.name))


def index(listed: list[Module]) -> str:
    lines, package = [HEAD.rstrip()], ""
    for module in listed:
        own = ".".join(module.name.split(".")[:2])
        if own != package and any(other.name.startswith(f"{own}.") for other in listed):
            lines += ["", f"## {own}"]
        if own != package:
            lines += ["", "| module | what | names |", "|---|---|---|"]
        package = own
        names = ", ".join(f"`{name}`" for name in module.exports)
        summary = module.summary.replace("|", "\\|")
        lines.append(f"| `{module.name}` | {summary} | {names} |")
    return "\n".join(lines) + "\n"


def page(module: Module) -> str:
    """A module's page: its docstring, then a section for each name that it defines and exports."""
    parts = [f"# {module.name}", module.text]
    parts += [f"## {name}\n\n{text}" for name, text in module.constants()]
    for node in module.definitions():
        parts += [f"## {node.name}", described(node)]
        if isinstance(node, ast.ClassDef):
            methods = [own for own in node.body if isinstance(own, ast.FunctionDef)]
            shown = [own for own in methods if not own.name.startswith("_") and ast.get_docstring(own)]
            parts += [part for own in shown for part in (f"### {node.name}.{own.name}", described(own))]
    return "\n\n".join(part for part in parts if part) + "\n"


def described(node: Definition) -> str:
    """A signature and a docstring, as they stand."""
    if isinstance(node, ast.ClassDef):
        made = next((own for own in node.body if isinstance(own, ast.FunctionDef) and own.name == "__init__"), None)
        signature = f"class {node.name}" + (f"({ast.unparse(made.args)})" if made else "")
    else:
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        signature = f"{node.name}({ast.unparse(node.args)}){returns}"
    return f"```text\n{signature}\n\n{ast.get_docstring(node) or ''}".rstrip() + "\n```"


def main(folder: str | None = None) -> None:
    if folder is None:
        INDEX.write_text(index(modules()), encoding="utf-8", newline="\n")
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    for module in modules():
        Path(folder, f"{module.name}.md").write_text(page(module), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
