"""Signs in a student's code of something else than the work that was asked for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from classic_rc.teaching.submissions import parse_source

_MODULES = {
    "ctypes": "foreign memory",
    "gc": "objects of others",
    "inspect": "frames of others",
    "multiprocessing": "processes",
    "pickle": "code in data",
    "socket": "the network",
    "subprocess": "processes",
    "urllib": "the network",
    "http": "the network",
    "importlib": "modules by name",
    "marshal": "code in data",
    "builtins": "builtins",
    "atexit": "code at the end",
    "asyncio": "threads",
    "concurrent": "threads",
    "threading": "threads",
    "signal": "signals",
    "resource": "limits",
}
_ATTRIBUTES = {
    "_exit": "ends its process",
    "_getframe": "looks into frames of others",
    "modules": "uses sys.modules",
    "__subclasses__": "looks for classes of others",
    "__globals__": "looks for variables of others",
    "__code__": "looks into code of others",
    "__builtins__": "uses builtins",
    "fork": "starts processes",
    "system": "starts processes",
    "popen": "starts processes",
    "meta_path": "changes the import system",
    "settrace": "watches other code",
    "setprofile": "watches other code",
}
_OF_OS = {
    "write",
    "fdopen",
    "dup",
    "dup2",
    "pipe",
    "kill",
    "killpg",
    "setsid",
    "listdir",
    "scandir",
    "walk",
    "chdir",
    "chmod",
}
_CALLS = {
    "exec": "code in data",
    "eval": "code in data",
    "compile": "code in data",
    "__import__": "modules by name",
}
_ENDINGS = {"exit", "quit"}
_NUMBERS = {"float", "int", "str", "list", "dict", "float64", "ndarray", "bool"}
_OWN = ("classic_rc", "classic_rc.text", "classic_rc.questions", "classic_rc.predictions", "classic_rc.errors")
_MEMORISED = 3
"""So many texts of public questions in a file are no accident."""


def find_signs(files: Mapping[str, bytes], public_texts: Collection[str] = ()) -> list[str]:
    """Return what is suspicious about a student's files, each sign once.

    A sign is a reason to read the file, not a proof: the result of a check does not depend on signs.

    Parameters
    ----------
    files : mapping of str to bytes
        Python source by name.
    public_texts : collection of str
        Ids and options of public questions; a file that has several by heart was not written for other questions.

    Returns
    -------
    list of str
        Sorted; such as "ends its process", "imports classic_rc.solvers", "replaces numpy.abs".
    """
    signs: set[str] = set()
    known = 0
    for name, source in files.items():
        if (tree := parse_source(source)) is None:
            signs.add(f"{name} is no Python that can be parsed")
            continue
        imported = dict(_imported(tree))
        for node in ast.walk(tree):
            signs.update(_signs_of(node, imported))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        known += len(texts.intersection(public_texts))
    if known >= _MEMORISED:
        signs.add(f"has {known} texts of known questions by heart")
    return sorted(signs)


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the local name and the full name of each imported module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name


def _signs_of(node: ast.AST, imported: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _signs_of_module(alias.name)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from _signs_of_module(node.module)
        for alias in node.names:
            if alias.name in _ATTRIBUTES and node.module in ("os", "sys"):
                yield _ATTRIBUTES[alias.name]
            if alias.name in _OF_OS and node.module == "os":
                yield f"uses os.{alias.name}"
            if node.module == "classic_rc":
                yield from _signs_of_module(f"classic_rc.{alias.name}", is_member=True)
    elif isinstance(node, ast.Attribute):
        if node.attr in _ATTRIBUTES and not (node.attr == "modules" and not _is_name(node.value, "sys")):
            yield _ATTRIBUTES[node.attr]
        if isinstance(node.ctx, ast.Store | ast.Del) and isinstance(node.value, ast.Name):
            module = imported.get(node.value.id)
            if module is not None:
                yield f"replaces {module}.{node.attr}"
        if _is_name(node.value, "os") and node.attr in _OF_OS:
            yield f"uses os.{node.attr}"
        if _is_name(node.value, "sys") and node.attr in _ENDINGS:
            yield "ends its process"
        if _is_name(node.value, "classic_rc") and node.attr in ("parse_solver", "load", "evaluate"):
            yield f"uses classic_rc.{node.attr}"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in _CALLS:
            yield f"uses {_CALLS[node.func.id]}"
        elif node.func.id in _ENDINGS:
            yield "ends its process"
        elif node.func.id == "open":
            yield "opens files"
        elif node.func.id == "setattr" and node.args and isinstance(node.args[0], ast.Name):
            yield from (
                f"replaces a part of {module}" for name, module in imported.items() if name == node.args[0].id
            )
    elif isinstance(node, ast.Name) and node.id in ("__builtins__", "SystemExit", "BaseException"):
        yield f"uses {node.id}"
    elif isinstance(node, ast.FunctionDef) and node.name == "__del__":
        yield "has code that runs at the end (__del__)"
    elif isinstance(node, ast.ClassDef):
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            if name in _NUMBERS:
                yield f"makes a class of {name}"


def _signs_of_module(name: str, *, is_member: bool = False) -> Iterator[str]:
    top = name.partition(".")[0]
    if top in _MODULES:
        yield f"uses {_MODULES[top]} ({top})"
    if top == "classic_rc" and not is_member and not name.startswith(_OWN[1:]) and name not in _OWN:
        yield f"imports {name}"
    if is_member and name.rpartition(".")[2] in (
        "solvers",
        "kernels",
        "evaluation",
        "parse_solver",
        "load",
        "evaluate",
    ):
        yield f"imports {name}"


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
