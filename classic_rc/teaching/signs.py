"""Signs of something else than the work that was asked for, in a student's code and in what it did."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

from classic_rc.kernels import reference
from classic_rc.questions import Dataset
from classic_rc.teaching.submissions import has_piece_of, own_names, parse_source, pieces_of

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
    "os": {
        **dict.fromkeys("write fdopen dup dup2 pipe kill killpg setsid listdir scandir walk chdir chmod".split()),
        **dict.fromkeys("open symlink link".split()),
        **dict.fromkeys(("fork", "system", "popen"), "starts processes"),
    },
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
_EVENTS = {
    "answer": "answers with no plain data",
    "channel": "writes to the grader's channel",
    "disk": "fills the disk",
    "exit": "ends its process",
    "memory": "runs out of memory",
    "quote": "quotes hidden questions in an error or a print",
    "time": "takes too long",
}
_MEMORISED = 3
"""So many texts of public questions in a file are no accident."""

_SHORT = 8
"""Texts of so many characters are in a file by chance."""


class SignFinder:
    """What is suspicious about submissions to one grading.

    A sign is a reason to read the file, not a proof: the result of a check does not depend on signs.

    Parameters
    ----------
    checks : path
        The teacher's file: who copies from it has not done the work.
    template : bytes or None
        The file that students start from; its signs and its code do not count.
    data : Dataset or None
        Questions that students should not know, in addition to those of the package.
    has_train : bool
        Whether solvers learn from questions with gold, so that an honest one asks for it.
    """

    def __init__(self, checks: Path, template: bytes | None, data: Dataset | None, *, has_train: bool) -> None:
        self._known_texts = _public_texts() | (frozenset() if data is None else _texts_of(data))
        self._known_code = _code_of_kernels() | pieces_of([checks], template)
        self._given = {"asks for gold"} if has_train else set()
        self._given |= self._in_source({"template": template or b""})

    def find(self, files: Mapping[str, bytes], events: Set[str] = frozenset()) -> tuple[str, ...]:
        """Return the signs in a student's files and in what they did while they ran.

        Parameters
        ----------
        files : mapping of str to bytes
            Python source by name.
        events : set of str
            As :attr:`~classic_rc.teaching.sandbox.Sandbox.events` has them.

        Returns
        -------
        tuple of str
            Sorted; such as "ends its process", "imports classic_rc.solvers", "replaces numpy.abs".
        """
        signs = self._in_source(files) - self._given
        if has_piece_of(files, self._known_code):
            signs.add("has a long piece of the package's own code")
        return tuple(sorted(signs | _signs_of_events(events)))

    def _in_source(self, files: Mapping[str, bytes]) -> set[str]:
        signs: set[str] = set()
        known = 0
        for name, source in files.items():
            if (tree := parse_source(source)) is None:
                signs.add(f"{name} is no Python that can be parsed")
                continue
            imported, own = dict(_imported(tree)), own_names(tree) | _imported_parts(tree)
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    if node.id in _NAMES and node.id not in own:
                        signs.add(_NAMES[node.id].format(node.id))
                else:
                    signs.update(_signs_of(node, imported))
            texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            known += len(texts.intersection(self._known_texts))
        if known >= _MEMORISED:
            signs.add(f"has {known} texts of known questions by heart")
        return signs


@cache
def _code_of_kernels() -> frozenset[tuple[str, ...]]:
    return pieces_of(Path(reference.__file__).parent.glob("*.py"))


@cache
def _public_texts() -> frozenset[str]:
    from classic_rc.datasets.registry import load

    return _texts_of(load("sample:single-choice"))


def _texts_of(questions: Dataset) -> frozenset[str]:
    """Return what a file contains that has memorised questions: their ids, their texts and their longer options."""
    texts = {text for question in questions for text in (question.id, question.query)}
    texts |= {candidate.text for question in questions for candidate in question.candidates}
    return frozenset(text for text in texts if len(text) > _SHORT)


def _signs_of_events(events: Set[str]) -> set[str]:
    """Return what to tell of events; of many files that were opened, one and how many more there are."""
    kinds: dict[str, list[str]] = {}
    for event in sorted(events - _EVENTS.keys()):
        kinds.setdefault(event.partition(" ")[0], []).append(event)
    signs = {_EVENTS[event] for event in events & _EVENTS.keys()}
    for first, *more in kinds.values():
        signs.add(f"seen while it ran: {first}{f' and {len(more)} more' if more else ''}")
    return signs


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the local name and the full name of each imported module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name


def _imported_parts(tree: ast.AST) -> set[str]:
    """Return the local names of what is imported from modules, such as compile of re."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in nodes for alias in node.names}


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
