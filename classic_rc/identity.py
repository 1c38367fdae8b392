"""The identity of code: what a computation can run.

The package is its version, or in a checkout the digest of all its files; a plug-in is its package
and version. A user's file is followed through the local modules that it imports, deferred ones too,
without comments and docstrings. A module that code imports by a name made at run time, and a file
that it opens without naming it in a parameter, cannot be seen.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from classic_rc._version import __version__
from classic_rc.datasets.registry import READERS
from classic_rc.errors import UsageError
from classic_rc.facts import digest_of
from classic_rc.io.files import sha256_of_bytes, sha256_of_text
from classic_rc.metrics.base import METRICS
from classic_rc.plugins import Registry
from classic_rc.retrieval.registry import ENGINES
from classic_rc.solvers.base import Solver
from classic_rc.solvers.codec import FindFile
from classic_rc.solvers.registry import SOLVERS

_REQUIRED = ["numpy", "scipy", "scikit-learn", "nltk", "joblib"]
"""Packages of others that numbers may follow from, if the metadata of this one is not here."""
_ONLY_SHOWN = frozenset(
    {"IPython", "classic_rc", "jinja2", "matplotlib", "pandas", "platformdirs", "pooch", "tqdm"}
)
_NUMERIC_EXTRAS = re.compile(r"extra == .(zh|lucene|pyserini)\b")
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
    code, plugins = _LocalCode(), {}
    if solver is not None and solver["params"] is None:
        raise _unidentified(solver["spec"], "a parameter is an object in memory")
    registered: list[tuple[Registry[Any], Any]]
    registered = [(READERS, reader), *((METRICS, metric) for metric in metrics)]
    for plain in _solvers_in(solver):
        if "code" in plain:
            if not (path := find(plain["code"])):
                raise _unidentified(plain["class"], "its file changed after it was imported")
            code.add(Path(path))
        elif "solver" not in plain:
            code.add(_file_of_class(plain["class"]))
        for name in (plain.get("solver"), *plain.get("runs", ()), *plain["params"].values()):
            registered += [(SOLVERS, name), (ENGINES, name)]
    for registry, name in registered:
        is_entry = isinstance(name, str) and name in registry
        if is_entry and (package := registry.package_of(name)) is not None:
            plugins[name] = package
    packages = dict(sorted({**_own_packages(), **code.packages}.items()))
    return Identity(digest_of([_package_digest(), code.digests, plugins]), packages)


def digest_of_class(cls: type[Solver]) -> str | None:
    """Return the name of a user's file, with a digest of it and of the local modules that it
    imports, or None.
    """
    code = _LocalCode()
    try:
        file = Path(cls.source_file or _file_of_class(f"{cls.__module__}.{cls.__qualname__}"))
        code.add(file)
    except UnidentifiedCodeError:
        return None
    return f"{file.name}@{digest_of(code.digests)[:8]}"


@cache
def _package_digest() -> str:
    """Return the version of an installed package, or the digest of a checkout's files."""
    if not __version__.endswith("+dev"):
        return __version__
    folder = Path(__file__).parent
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return digest_of(
        {str(file.relative_to(folder)): sha256_of_bytes(file.read_bytes()) for file in files}
    )


@cache
def _own_packages() -> dict[str, str]:
    """Return the versions of the installed packages that numbers may follow from, by name."""
    try:
        required = metadata.requires("classic_rc") or []
    except metadata.PackageNotFoundError:
        required = _REQUIRED
    versions: dict[str, str] = {}
    for line in required:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        is_numeric = "extra ==" not in line or _NUMERIC_EXTRAS.search(line)
        if is_numeric and name not in _ONLY_SHOWN:
            versions |= _installed(name)
    return versions


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
    module, name = None, path
    while module is None and "." in name:  # the class may be in another class
        name = name.rpartition(".")[0]
        module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        raise _unidentified(
            path, "the class is in no file (write it to one, and name it FILE.py:Class)"
        )
    return Path(file)


class _LocalCode:
    """Users' files, and the local modules that they import."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}  # by name of the module
        self.packages: dict[str, str] = {}  # versions of installed packages, by name
        self._specs: dict[str, ModuleSpec | None] = {}

    def add(self, file: Path) -> None:
        """Add a user's file, and the modules next to it that it imports."""
        name = file.name
        while name in self.digests:  # of another folder
            name += "+"
        ahead = [(name, file, "")]
        while ahead:
            name, path, package = ahead.pop()
            parents = package.split(".")
            for level, target in self._read(name, path):
                before = parents[: len(parents) - level + 1] if level else []
                ahead += self._find_new([*before, *target.split(".")], str(file.parent))

    def _find_new(self, parts: list[str], folder: str) -> Iterator[tuple[str, Path, str]]:
        """Yield the local modules of a dotted name that were not found before: the name, the file,
        and the package.
        """
        for i in range(len(parts)):
            parent = ".".join(parts[:i])
            name = ".".join(parts[: i + 1])
            if name not in self._specs:
                spec = self._specs[name] = self._find(name, self._specs.get(parent), folder)
                if spec is not None and spec.has_location:
                    is_package = spec.submodule_search_locations is not None
                    yield name, Path(str(spec.origin)), name if is_package else parent
            if self._specs[name] is None:
                return

    def _find(self, name: str, parent: ModuleSpec | None, folder: str) -> ModuleSpec | None:
        """Find a local module; None if there is none, or if it is not local."""
        if parent is not None:
            places = parent.submodule_search_locations
            return PathFinder.find_spec(name, list(places)) if places else None
        spec = _find_top(name, [folder])
        if spec is None or name == "classic_rc":
            return None
        places = [str(spec.origin)] if spec.has_location else spec.submodule_search_locations
        is_installed, is_standard = _home_of(places[0]) if places else (False, True)
        if is_installed and name not in _ONLY_SHOWN:
            self.packages |= _installed(name)
        return None if is_installed or is_standard else spec

    def _read(self, name: str, file: Path) -> list[tuple[int, str]]:
        """Take a file's digest, and return what it imports."""
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
        return imports


_FIRST_READ: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""The digest of the file of each imported module, when it was first read here."""


def _find_top(name: str, folders: list[str]) -> ModuleSpec | None:
    """Return the specification of a top-level module as an import finds it, or next to a user's
    file.
    """
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # `__main__`, and modules that were made by hand, have none
        spec = None
    return spec or PathFinder.find_spec(name, folders)


@cache
def _home_of(place: str) -> tuple[bool, bool]:
    """Return whether a path is of an installed package, and whether it is of Python's library."""
    path = Path(place).resolve()
    is_installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return is_installed, any(map(path.is_relative_to, _STANDARD))


@cache
def _installed(top: str) -> dict[str, str]:
    """Return the version of the package of this name, or that has a top-level module of it."""
    try:
        return {top: metadata.version(top)}
    except metadata.PackageNotFoundError:
        return {name: metadata.version(name) for name in _packages_of_modules().get(top, ())}


@cache
def _packages_of_modules() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def _read_source(file: Path) -> tuple[str, list[tuple[int, str]]]:
    """Return the digest of a file's code, and what it imports: each name with the number of dots
    before it.
    """
    data = file.read_bytes()
    if file.suffix not in SOURCE_SUFFIXES:  # compiled
        return sha256_of_bytes(data), []
    tree = ast.parse(data)
    imports = list(dict.fromkeys(_strip(tree)))
    return sha256_of_text(ast.unparse(tree)), imports


def _is_text(statement: ast.AST) -> bool:
    """Return whether a statement is only a text, such as a docstring."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


def _strip(node: Any) -> Iterator[tuple[int, str]]:
    """Remove texts that are statements, docstrings among them, and yield what is imported at run
    time.
    """
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        body = getattr(node, name, None)
        if not isinstance(body, list):
            continue
        body[:] = [statement for statement in body if not _is_text(statement)]
        is_typing = (
            isinstance(node, ast.If)
            and name == "body"
            and "TYPE_CHECKING" in ast.unparse(node.test)
        )
        for statement in body:
            imports = list(_strip(statement))
            if isinstance(statement, ast.Import):
                imports += [(0, alias.name) for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom):
                base = f"{statement.module}." if statement.module else ""
                imports += [(statement.level, base + alias.name) for alias in statement.names]
            yield from () if is_typing else imports
