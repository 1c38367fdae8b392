"""The identity of code: what a computation can run, as a digest of its sources without comments and docstrings.

The imports of modules are followed as they are written, deferred ones too. A module that code imports by a name made
at run time, and a file that it opens without naming it in a parameter, cannot be seen.
"""

from __future__ import annotations

import ast
import json
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module, metadata
from importlib.machinery import SOURCE_SUFFIXES, ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from classic_rc.datasets.registry import READERS
from classic_rc.errors import UsageError
from classic_rc.io.hashing import sha256_of, sha256_of_text
from classic_rc.plugins import Registry
from classic_rc.retrieval.registry import ENGINES
from classic_rc.solvers.base import Solver
from classic_rc.solvers.codec import FindFile
from classic_rc.solvers.registry import SHORT_NAMES, SOLVERS

_OURS = "classic_rc"
_PIPELINE = "classic_rc.evaluation.evaluate"
_ONLY_SHOWN = frozenset({"IPython", "jinja2", "matplotlib", "pandas", "pooch", "tqdm"})
"""Packages of others that display and download; no number follows from them."""
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
"""The distributions of modules of another name; others are looked up, which takes longer."""
_STANDARD = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]


class UnidentifiedCodeError(UsageError):
    """Code is in no file, or not the code that its file has."""


@dataclass(frozen=True)
class Identity:
    """What a computation can run."""

    digest: str  # of the sources
    packages: Mapping[str, str]  # versions of the installed packages that they import, by name


def cell_key(settings: Mapping[str, Any], data: Mapping[str, Any], identity: str) -> str:
    """Return the key of a system's results on a dataset: the sha256 of all that they follow from."""
    return digest_of({"settings": settings, "data": data, "identity": identity})


def digest_of(plain: Any) -> str:
    """Return the sha256 of plain data, in which the order of keys has no meaning."""
    return sha256_of_text(json.dumps(plain, sort_keys=True, separators=(",", ":")))


def identify(solver: Mapping[str, Any] | None, reader: str | None, find: FindFile) -> Identity:
    """Return the identity of a system on a dataset. It runs no code of a user.

    Parameters
    ----------
    solver : mapping, optional
        From :func:`~classic_rc.solvers.codec.solver_to_record`; without it, the system is a file of predictions.
    reader : str, optional
        The name of the dataset's reader.
    find : callable
        Returns the path of a kept file, or an empty text.

    Raises
    ------
    UnidentifiedCodeError
        A class or a parameter's value is in no file, or a file changed after it was imported.
    """
    sources = _Sources()
    sources.add_module(_PIPELINE)
    if reader is not None:
        sources.add_entry(READERS, reader)
    if solver is not None and solver["params"] is None:
        raise _unidentified(solver["spec"], "a parameter is an object in memory")
    for plain in _solvers_in(solver):
        if "code" in plain:
            if not (path := find(plain["code"])):
                raise _unidentified(plain["class"], "its file changed after it was imported")
            sources.add_file(Path(path))
        elif "solver" not in plain:
            sources.add_file(_file_of_class(plain["class"]))
        for text in (plain.get("solver"), *plain.get("runs", ()), *plain["params"].values()):
            if isinstance(text, str):
                sources.add_named(text)
    return Identity(digest_of([sources.digests, sources.plugins]), dict(sorted(sources.packages.items())))


def own_code_part(solver: Solver) -> dict[str, str]:
    """Return the part of a signature about code that is not this package's: a user's file, or a plug-in."""
    cls = type(solver)
    if SOLVERS.get(cls.name) is cls:
        return plugin_part(SOLVERS, cls.name)
    if cls.__module__.startswith(f"{_OURS}."):
        return {}
    sources = _Sources(with_package=False)
    try:
        file = Path(cls.source_file or _file_of_class(f"{cls.__module__}.{cls.__qualname__}"))
        sources.add_file(file)
    except UnidentifiedCodeError:
        return {"code": "in memory"}
    return {"code": f"{file.name}@{digest_of(sources.digests)[:8]}"}


def plugin_part(registry: Registry[Any], name: str | None) -> dict[str, str]:
    """Return the part of a signature that names the package of a plug-in: ``{"plugin": "rc-last==1.2"}``."""
    package = registry.package_of(name) if name is not None and name in registry else None
    return {} if package is None else {"plugin": package.replace(" ", "==")}


def _unidentified(what: str, reason: str) -> UnidentifiedCodeError:
    return UnidentifiedCodeError(f"the code of {what} cannot be identified: {reason}", field="solver", found=what)


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
    file = next((getattr(module, "__file__", None) for module in modules if module is not None), None)
    if file is None or not Path(file).is_file():
        raise _unidentified(path, "the class is in no file (write it to one, and name it FILE.py:Class)")
    return Path(file)


# ------------------------------------------------------------------------------------------------------------------
# Following imports


class _Sources:
    """The source files that modules reach; `with_package` says whether those of this package count."""

    def __init__(self, *, with_package: bool = True) -> None:
        self.digests: dict[str, str] = {}  # by name of the module
        self.plugins: dict[str, str] = {}  # package and version, by entry
        self.packages: dict[str, str] = {}  # versions of installed packages, by name
        # Whether the sources of a top-level module count: not those of Python and of installed packages.
        self._counts: dict[str, bool] = {_OURS: with_package}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._folders: list[str] = []  # of users' files
        self._ahead: list[str] = []

    def add_entry(self, registry: Registry[Any], name: str) -> None:
        """Add an entry of a registry, if it has one of this name."""
        if (module := registry.module_of(name)) is not None:
            if (package := registry.package_of(name)) is not None:
                self.plugins[f"{registry.kind} {name}"] = package
                self._counts[module.partition(".")[0]] = True  # where it is installed, too
            self.add_module(module)

    def add_named(self, text: str) -> None:
        """Add what a text may name: a search engine, or the solver of a specification."""
        if text in ENGINES:
            self.add_module(ENGINES[text].partition(":")[0])
        name = text.partition(",")[0].partition(":")[0]
        self.add_entry(SOLVERS, SHORT_NAMES.get(name, name).partition(",")[0])

    def add_file(self, file: Path) -> None:
        """Add a user's file, and the modules next to it that it imports."""
        name = file.name
        while name in self.digests:  # of another folder
            name += "+"
        self._folders.append(str(file.parent))
        self._read(name, file, "")
        self._follow()

    def add_module(self, name: str) -> None:
        """Add a module, the packages that it is in, and what they import."""
        self._ahead.append(name)
        self._follow()

    def _follow(self) -> None:
        while self._ahead:
            parts = self._ahead.pop().split(".")
            for i in range(len(parts)):
                name = ".".join(parts[: i + 1])
                if name not in self._specs:
                    self._specs[name] = self._visit(name)
                if self._specs[name] is None:
                    break

    def _visit(self, name: str) -> ModuleSpec | None:
        """Find a module and read it; None if there is none, or if it does not count."""
        parent, _, last = name.rpartition(".")
        spec: ModuleSpec | None
        if parent:
            found_in = self._specs[parent]
            assert found_in is not None
            places = found_in.submodule_search_locations
            spec = None if places is None else PathFinder.find_spec(name, list(places))
            if spec is None and places is not None and name.startswith(f"{_OURS}."):
                self._add_home(parent, last)
        else:
            spec = _find_top(name, self._folders)
            if not self._does_count(name, spec):
                return None
        if spec is not None and spec.has_location:
            assert spec.origin is not None
            is_package = spec.submodule_search_locations is not None
            self._read(name, Path(spec.origin), name if is_package else parent)
        return spec

    def _does_count(self, top: str, spec: ModuleSpec | None) -> bool:
        if top in self._counts:
            return self._counts[top]
        places = [] if spec is None else [*(spec.submodule_search_locations or ()), spec.origin if spec.has_location else ""]
        place = Path(next(filter(None, places), "")).resolve() if any(places) else None
        is_installed = place is not None and not {"site-packages", "dist-packages"}.isdisjoint(place.parts)
        if is_installed and top not in _ONLY_SHOWN:
            name, version = _installed(top)
            self.packages[name] = version
        is_standard = place is not None and any(place.is_relative_to(folder) for folder in _STANDARD)
        self._counts[top] = place is not None and not is_installed and not is_standard
        return self._counts[top]

    def _add_home(self, package: str, name: str) -> None:
        """Add the module of a name that one of our packages imports on first use."""
        module = import_module(package)
        if hasattr(module, "__getattr__"):
            home = getattr(getattr(module, name, None), "__module__", None)
            self._ahead += [home] if isinstance(home, str) else []

    def _read(self, name: str, file: Path, package: str) -> None:
        """Take a file's digest and go on with what it imports; relative imports start from `package`."""
        try:
            status = file.stat()
            source = _read_source(file, status.st_mtime_ns, status.st_size)
        except (OSError, SyntaxError, ValueError) as error:
            raise _unidentified(str(file), f"it cannot be read ({error})") from None
        module = sys.modules.get(name)
        if module is not None and getattr(module, "__file__", None) == str(file):
            if _FIRST_READ.setdefault(module, source.digest) != source.digest:
                raise _unidentified(str(file), "it changed after it was imported (start Python again)")
        self.digests[name] = source.digest
        parents = package.split(".")
        for level, target in source.imports:
            base = parents[: len(parents) - level + 1] if level else []
            self._ahead.append(".".join([*base, target]))
        for text in source.texts:
            self.add_named(text)


_FIRST_READ: WeakKeyDictionary[ModuleType, str] = WeakKeyDictionary()
"""The digest of the file of each imported module, when it was first read here."""


def _find_top(name: str, folders: list[str]) -> ModuleSpec | None:
    """Return the specification of a top-level module as an import finds it, or next to a user's file."""
    try:
        found = find_spec(name)
    except (ImportError, ValueError):  # `__main__`, and modules that were made by hand, have none
        found = None
    return found or PathFinder.find_spec(name, folders)


@cache
def _installed(top: str) -> tuple[str, str]:
    """Return the package that has a top-level module, and its version."""
    name = _DISTRIBUTIONS.get(top, top)
    try:
        return name, metadata.version(name)
    except metadata.PackageNotFoundError:
        names = metadata.packages_distributions().get(top)
        return (names[0], metadata.version(names[0])) if names else (top, "unknown")


@dataclass(frozen=True)
class _Source:
    """What counts of a source file."""

    digest: str  # of its code, without comments and docstrings
    imports: tuple[tuple[int, str], ...]  # each with the number of dots before it
    texts: tuple[str, ...] = ()  # short ones in a user's file, which may name entries of registries


@lru_cache(maxsize=4096)
def _read_source(file: Path, mtime: int, size: int) -> _Source:
    """Read a source file as it was at a time, or a compiled module."""
    if file.suffix not in SOURCE_SUFFIXES:
        return _Source(sha256_of(file), ())
    tree = ast.parse(file.read_bytes())
    imports = list(_strip(tree))
    texts: set[str] = set()
    if not file.is_relative_to(_PACKAGE):
        imports += _dotted_uses(tree)
        nodes = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        texts = {value for value in nodes if isinstance(value, str) and len(value) < 200}
    return _Source(sha256_of_text(ast.unparse(tree)), tuple(dict.fromkeys(imports)), tuple(sorted(texts)))


_PACKAGE = Path(__file__).resolve().parents[1]
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


def _strip(node: Any) -> Iterator[tuple[int, str]]:
    """Remove texts that are statements, docstrings among them, and yield what is imported at run time."""
    for name in _BODIES:
        body = getattr(node, name, None)
        if not isinstance(body, list):  # a lambda's body, the branches of `a if b else c`
            continue
        body[:] = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(getattr(s.value, "value", 0), str))]
        is_typing = isinstance(node, ast.If) and name == "body" and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in body:
            found = list(_strip(statement))
            if isinstance(statement, ast.Import):
                found += [(0, alias.name) for alias in statement.names]
            elif isinstance(statement, ast.ImportFrom):
                base = f"{statement.module}." if statement.module else ""
                found += [(statement.level, base + alias.name) for alias in statement.names]
            yield from () if is_typing else found


def _dotted_uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names that are used below imported modules: ``classic_rc.solvers.Random``."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {alias.asname or alias.name: alias.name for node in imports for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            top, _, rest = ast.unparse(node).partition(".")
            if top in names:
                yield 0, f"{names[top]}.{rest}"
