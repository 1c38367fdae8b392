"""The identity of code: what a computation can run, as a digest of its sources without comments and
docstrings.

Imports are followed as they are written, deferred ones too. A module that code imports by a name
made at run time, and a file that it opens without naming it in a parameter, cannot be seen.
"""

from __future__ import annotations

import ast
import json
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from classic_rc.datasets.registry import READERS
from classic_rc.errors import UsageError
from classic_rc.facts import digest_of
from classic_rc.io.files import sha256_of_bytes, sha256_of_text
from classic_rc.io.text import write_file
from classic_rc.metrics.base import METRICS
from classic_rc.plugins import Registry
from classic_rc.retrieval.registry import ENGINES
from classic_rc.solvers.base import Solver
from classic_rc.solvers.codec import FindFile
from classic_rc.solvers.registry import SOLVERS

_PIPELINE = "classic_rc.running.evaluate"
_ONLY_SHOWN = frozenset({"IPython", "jinja2", "matplotlib", "pandas", "pooch", "tqdm"})
"""Packages of others that display and download; no number follows from them."""
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
"""The distribution of a module of another name; other names are searched for, which takes
longer.
"""
_STANDARD = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))


class UnidentifiedCodeError(UsageError):
    """Code is in no file, or is not the code that its file has."""


@dataclass(frozen=True)
class Identity:
    """What a computation can run."""

    digest: str  # of the sources, and of the names and versions of plug-ins
    packages: Mapping[str, str]  # versions of the installed packages that they import, by name


def identify(
    solver: Mapping[str, Any] | None,
    reader: str | None,
    find: FindFile,
    metrics: Iterable[str] = (),
) -> Identity:
    """Return the identity of a system on a dataset. It runs no code of a user.

    `solver` is from :func:`~classic_rc.solvers.codec.solver_to_record`; without it, the system is a
    file of predictions. `find` returns the path of a kept file, or an empty text. A class or a
    value that is in no file, or a file that changed after it was imported, is an
    UnidentifiedCodeError.
    """
    sources = _Sources()
    sources.add(_PIPELINE)
    if reader is not None:
        sources.add_entry(READERS, reader)
    for metric in metrics:
        sources.add_entry(METRICS, metric)
    if solver is not None and solver["params"] is None:
        raise _unidentified(solver["spec"], "a parameter is an object in memory")
    for plain in _solvers_in(solver):
        if "code" in plain:
            if not (path := find(plain["code"])):
                raise _unidentified(plain["class"], "its file changed after it was imported")
            sources.add_file(Path(path))
        elif "solver" not in plain:
            sources.add_file(_file_of_class(plain["class"]))
        for name in (plain.get("solver"), *plain.get("runs", ()), *plain["params"].values()):
            if isinstance(name, str):
                sources.add_entry(SOLVERS, name)
                sources.add_entry(ENGINES, name)
    return Identity(
        digest_of([sources.digests, sources.plugins]), dict(sorted(sources.packages.items()))
    )


def digest_of_class(cls: type[Solver]) -> str | None:
    """Return the name of a user's file, with a digest of it and of the local modules that it
    imports, or None.
    """
    sources = _Sources({"classic_rc": False})
    try:
        file = Path(cls.source_file or _file_of_class(f"{cls.__module__}.{cls.__qualname__}"))
        sources.add_file(file)
    except UnidentifiedCodeError:
        return None
    return f"{file.name}@{digest_of(sources.digests)[:8]}"


def _unidentified(what: str, reason: str) -> UnidentifiedCodeError:
    return UnidentifiedCodeError(
        f"the code of {what} cannot be identified: {reason}", field="solver", found=what
    )


def _solvers_in(plain: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every solver in the plain data of a solver."""
    if isinstance(plain, list):
        for item in plain:
            yield from _solvers_in(item)
    elif isinstance(plain, Mapping):
        if plain.get("kind", "solver") == "solver":
            yield plain
            yield from _solvers_in(list(plain["params"].values()))
        yield from _solvers_in(plain.get("items"))


def _file_of_class(path: str) -> Path:
    """Return the file of a class that is in no registry, by its dotted name."""
    modules = (sys.modules.get(path.rsplit(".", n)[0]) for n in range(1, path.count(".") + 1))
    file = next(
        (getattr(module, "__file__", None) for module in modules if module is not None), None
    )
    if file is None or not Path(file).is_file():
        raise _unidentified(
            path, "the class is in no file (write it to one, and name it FILE.py:Class)"
        )
    return Path(file)


class _Sources:
    """The source files that modules reach; `counts` says of top-level modules whether theirs are
    among them.
    """

    def __init__(self, counts: Mapping[str, bool] | None = None) -> None:
        self.digests: dict[str, str] = {}  # by name of the module
        self.plugins: dict[str, str] = {}  # package and version, by name
        self.packages: dict[str, str] = {}  # versions of installed packages, by name
        self._counts = {"classic_rc": True} if counts is None else dict(counts)
        self._specs: dict[str, ModuleSpec | None] = {}
        self._folders: list[str] = []  # of users' files
        self._ahead: list[str] = []
        self._added: set[str] = set()

    def add_entry(self, registry: Registry[Any], name: str) -> None:
        """Add an entry of a registry, if it has one of this name."""
        if (module := registry.module_of(name)) is not None:
            if (package := registry.package_of(name)) is not None:
                self.plugins[name] = package
                self._counts[module.partition(".")[0]] = True  # where it is installed, too
            self.add(module)

    def add_file(self, file: Path) -> None:
        """Add a user's file, and the modules next to it that it imports."""
        name = file.name
        while name in self.digests:  # of another folder
            name += "+"
        self._folders.append(str(file.parent))
        self._read(name, file, "")
        self.add("")

    def add(self, name: str) -> None:
        """Add a module, the packages that it is in, and all that they import."""
        self._ahead.append(name)
        while self._ahead:
            name = self._ahead.pop()
            if name in self._added:
                continue
            self._added.add(name)
            parts = name.split(".")
            for i in range(len(parts)):
                prefix = ".".join(parts[: i + 1])
                if prefix not in self._specs:
                    self._specs[prefix] = self._visit(prefix)
                if self._specs[prefix] is None:
                    break

    def _visit(self, name: str) -> ModuleSpec | None:
        """Find a module and read it; None if there is none, or if it does not count."""
        package, _, last = name.rpartition(".")
        spec: ModuleSpec | None = None
        if not package:
            spec = _find_top(name, self._folders) if name else None
            if spec is None or not self._does_count(name, spec):
                return None
        elif (
            parent := self._specs[package]
        ) is not None and parent.submodule_search_locations is not None:
            spec = PathFinder.find_spec(name, list(parent.submodule_search_locations))
            # perhaps a name that is imported on first use
            if spec is None and package.startswith("classic_rc"):
                home = getattr(getattr(import_module(package), last, None), "__module__", None)
                self._ahead += [home] if isinstance(home, str) else []
        if spec is not None and spec.has_location:
            is_package = spec.submodule_search_locations is not None
            self._read(name, Path(str(spec.origin)), name if is_package else package)
            if is_package and name.startswith("classic_rc."):
                self._add_data_files(name, Path(str(spec.origin)).parent)
        return spec

    def _add_data_files(self, package: str, folder: Path) -> None:
        """Take the digests of a package's data files, such as stop lists."""
        for file in folder.iterdir():
            if file.is_dir() and file.name != "__pycache__" and not (file / "__init__.py").exists():
                self._add_data_files(f"{package}/{file.name}", file)
            elif file.is_file() and file.suffix not in (*SOURCE_SUFFIXES, ".pyc"):
                self.digests[f"{package}/{file.name}"] = sha256_of_bytes(file.read_bytes())

    def _does_count(self, top: str, spec: ModuleSpec) -> bool:
        """Return whether its sources count: the package, plug-ins, and modules that no package
        installed.
        """
        if top not in self._counts:
            places = (
                [str(spec.origin)]
                if spec.has_location
                else list(spec.submodule_search_locations or ())
            )
            is_installed, is_standard = _home_of(places[0]) if places else (False, True)
            if is_installed and top not in _ONLY_SHOWN:
                self.packages |= _installed(top)
            self._counts[top] = not (is_installed or is_standard)
        return self._counts[top]

    def _read(self, name: str, file: Path, package: str) -> None:
        """Take a file's digest and go on with what it imports; relative imports start from
        `package`.
        """
        try:
            digest, imports = _read_source(file)
        except (OSError, SyntaxError, ValueError) as error:
            raise _unidentified(str(file), f"it cannot be read ({error})") from None
        module = sys.modules.get(name)
        if module is None or getattr(module, "__file__", None) != str(file):
            module = ModuleType(name)  # it is not imported yet
        if _FIRST_READ.setdefault(module, digest) != digest:
            raise _unidentified(str(file), "it changed after it was imported (start Python again)")
        self.digests[name] = digest
        parents = package.split(".")
        for level, target in imports:
            self._ahead.append(
                ".".join([*parents[: len(parents) - level + 1], target]) if level else target
            )


_FIRST_READ: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""The digest of the file of each imported module, when it was first read here."""


def _find_top(name: str, folders: list[str]) -> ModuleSpec | None:
    """Return the specification of a top-level module as an import finds it, or next to a user's
    file.
    """
    try:
        found = find_spec(name)
    except (ImportError, ValueError):  # `__main__`, and modules that were made by hand, have none
        found = None
    return found or PathFinder.find_spec(name, folders)


@cache
def _home_of(place: str) -> tuple[bool, bool]:
    """Return whether a path is of an installed package, and whether it is of Python's library."""
    path = Path(place).resolve()
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return is_installed, any(map(path.is_relative_to, _STANDARD))


@cache
def _installed(top: str) -> dict[str, str]:
    """Return the version of the package that has a top-level module, by its name."""
    name = _DISTRIBUTIONS.get(top, top)
    try:
        return {name: metadata.version(name)}
    except metadata.PackageNotFoundError:
        return {
            name: metadata.version(name) for name in metadata.packages_distributions().get(top, ())
        }


# --------------------------------------------------------------------------------------------------
# What counts of a source file

_known: dict[str, Any] = {}
"""The digest of the code and the imports of each file that was read, by the file's sha256."""


def read_known_sources(file: Path) -> None:
    """Read what earlier runs found: to parse all that a run can reach takes as long as its
    start.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(file.read_bytes())
        _known.update(kept["sources"] if kept["rules"] == _rules() else {})


def write_known_sources(file: Path) -> None:
    """Write what was found in source files, unless the file has as much."""
    text = json.dumps({"rules": _rules(), "sources": dict(sorted(_known.items()))})
    with suppress(OSError, UsageError):  # it is not needed
        if not file.exists() or file.stat().st_size < len(text):
            write_file(file, text)


@cache
def _rules() -> str:
    return f"{sys.version_info[:2]} {sha256_of_bytes(Path(__file__).read_bytes())}"


def _read_source(file: Path) -> tuple[str, list[tuple[int, str]]]:
    """Return the digest of a file's code, and what it imports: each name with the number of dots
    before it.
    """
    data = file.read_bytes()
    key = sha256_of_bytes(data)
    if file.suffix not in SOURCE_SUFFIXES:  # compiled
        return key, []
    if key not in _known:
        tree = ast.parse(data)
        imports = list(dict.fromkeys([*_strip(tree), *_dotted_uses(tree)]))
        _known[key] = sha256_of_text(ast.unparse(tree)), imports
    digest, imports = _known[key]
    return digest, imports


def _strip(node: Any) -> Iterator[tuple[int, str]]:
    """Remove texts that are statements, docstrings among them, and yield what is imported at run
    time.
    """
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        body = getattr(node, name, None)
        if not isinstance(body, list):
            continue
        body[:] = [
            s
            for s in body
            if not (isinstance(s, ast.Expr) and isinstance(getattr(s.value, "value", 0), str))
        ]
        is_typing = (
            isinstance(node, ast.If)
            and name == "body"
            and "TYPE_CHECKING" in ast.unparse(node.test)
        )
        for statement in body:
            found = list(_strip(statement))
            if isinstance(statement, ast.Import):
                found += [(0, alias.name) for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom):
                base = f"{statement.module}." if statement.module else ""
                found += [(statement.level, base + alias.name) for alias in statement.names]
            yield from () if is_typing else found


def _dotted_uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield names below our modules, which may be imported on first use:
    ``classic_rc.solvers.IRSolver``.
    """
    aliases = [
        alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    ]
    names = {
        alias.asname or alias.name: alias.name
        for alias in aliases
        if alias.name.startswith("classic_rc")
    }
    for node in ast.walk(tree) if names else ():
        if isinstance(node, ast.Attribute):
            top, _, rest = ast.unparse(node).partition(".")
            if top in names:
                yield 0, f"{names[top]}.{rest}"
