"""Signs in a student's code of something else than the work that was asked for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from classic_rc.teaching.submissions import own_names, parse_source

_MODULES = {
    **dict.fromkeys(("asyncio", "concurrent", "threading", "_thread"), "threads"),
    **dict.fromkeys(("http", "socket", "ssl", "urllib"), "the network"),
    **dict.fromkeys(("marshal", "pickle", "codeop"), "code in data"),
    **dict.fromkeys(("multiprocessing", "pty", "subprocess"), "processes"),
    **dict.fromkeys(("importlib", "runpy", "pkgutil"), "modules by name"),
    **dict.fromkeys(("ctypes", "_ctypes", "mmap"), "foreign memory"),
    "atexit": "code at the end",
    "builtins": "builtins",
    "gc": "objects of others",
    "inspect": "frames of others",
    "resource": "limits",
    "signal": "signals",
}
_ATTRIBUTES = {
    **dict.fromkeys(("fork", "system", "popen"), "starts processes"),
    **dict.fromkeys(("settrace", "setprofile"), "watches other code"),
    **dict.fromkeys(("__subclasses__", "__base__", "__bases__", "__mro__"), "looks for classes of others"),
    **dict.fromkeys(("__globals__", "__dict__"), "looks for variables of others"),
    **dict.fromkeys(("_getframe", "f_back", "tb_frame"), "looks into frames of others"),
    "_exit": "ends its process",
    "__code__": "looks into code of others",
    "__builtins__": "uses builtins",
    "gold": "asks for gold",
    "meta_path": "changes the import system",
}
_ATTRIBUTES_OF: dict[str, dict[str, str | None]] = {
    "os": dict.fromkeys(
        "write fdopen dup dup2 pipe kill killpg setsid listdir scandir walk chdir chmod open symlink link".split()
    ),
    "sys": {"modules": "uses sys.modules", "exit": "ends its process"},
    "classic_rc": dict.fromkeys("solvers kernels evaluation parse_solver load evaluate".split()),
}
"""What is told of parts of modules; by default, that they are used."""

_NAMES = {
    **dict.fromkeys(("exec", "eval", "compile"), "uses code in data"),
    **dict.fromkeys(("exit", "quit"), "ends its process"),
    **dict.fromkeys(("__builtins__", "SystemExit", "BaseException"), "uses {}"),
    **dict.fromkeys(("dir", "vars", "globals"), "looks through names ({})"),
    "__import__": "uses modules by name",
    "open": "opens files",
}
_NUMBERS = {"float", "int", "str", "list", "dict", "float64", "ndarray", "bool"}
_OWN = ("classic_rc.text", "classic_rc.questions", "classic_rc.predictions", "classic_rc.errors")
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
        imported, own = dict(_imported(tree)), own_names(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if node.id in _NAMES and node.id not in own:
                    signs.add(_NAMES[node.id].format(node.id))
            else:
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
            yield from _signs_of_part(node.module, alias.name)
    elif isinstance(node, ast.Attribute):
        module = imported.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if module is not None and isinstance(node.ctx, ast.Store | ast.Del):
            yield f"replaces {module}.{node.attr}"
        yield from _signs_of_part(module or "", node.attr)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        first = node.args[0]
        module = imported.get(first.id) if isinstance(first, ast.Name) else None
        if module is not None and node.func.id == "setattr":
            yield f"replaces a part of {module}"
        if module is not None and node.func.id == "getattr" and not isinstance(node.args[-1], ast.Constant):
            yield "uses modules by name"
    elif isinstance(node, ast.FunctionDef) and node.name == "__del__":
        yield "has code that runs at the end (__del__)"
    elif isinstance(node, ast.ClassDef):
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            if name in _NUMBERS:
                yield f"makes a class of {name}"


def _signs_of_module(name: str) -> Iterator[str]:
    top = name.partition(".")[0]
    if top in _MODULES:
        yield f"uses {_MODULES[top]} ({top})"
    if top == "classic_rc" != name and not name.startswith(_OWN):
        yield f"imports {name}"


def _signs_of_part(module: str, name: str) -> Iterator[str]:
    if name in _ATTRIBUTES:
        yield _ATTRIBUTES[name]
    parts = _ATTRIBUTES_OF.get(module, {})
    if name in parts:
        yield parts[name] or f"uses {module}.{name}"
