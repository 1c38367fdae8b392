"""Registries of named things: the package's own, and plug-ins that other installed packages add
by entry points.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from classic_rc.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


T = TypeVar("T")

_NAME = re.compile(r"[\w.+-]+")

VIEWS: dict[str, str] = {}
"""For a class by name, the function that makes its HTML in notebooks (``"module:name"``).

The package's ``__init__`` fills it: pages are made far above the values that they show.
"""


class Viewed:
    """A class whose values have a picture in notebooks: that of :data:`VIEWS`."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        name = next(base.__name__ for base in type(self).__mro__ if base.__name__ in VIEWS)
        html: str = _import_object(VIEWS[name])(self)
        return html


def names_on_use(
    package: str, homes: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose public names are imported on
    first use.

    The imports below ``if TYPE_CHECKING:`` in its ``__init__.py`` say which module has each name.
    No name may also be that of a module of the package. `homes` has the modules of names that no
    import lists.
    """

    @cache
    def home_of() -> dict[str, str]:
        import ast

        homes_by_name, spec = dict(homes), sys.modules[package].__spec__
        source = spec and getattr(spec.loader, "get_source", None)
        for block in ast.parse((source and source(package)) or "").body:
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
                imports = (line for line in block.body if isinstance(line, ast.ImportFrom))
                homes_by_name |= {
                    name.name: str(line.module) for line in imports for name in line.names
                }
        return homes_by_name

    def get_name(name: str) -> Any:
        home = None if name.startswith("__") else home_of().get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(home), name)

    return get_name, lambda: sorted(sys.modules[package].__all__)


class PluginWarning(UserWarning):
    """A plug-in cannot be used; everything else works."""


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from names to this package's own entries, followed by plug-ins.

    It searches other packages only for a name that is not its own, or to list all names. It imports
    only the plug-ins that are used. A plug-in cannot take one of our own names, and a name that two
    packages offer is invalid. Iteration skips an unusable plug-in with one warning; looking it up
    by name raises UsageError.

    Parameters
    ----------
    kind : str
        The kind of entry: ``"solver"`` means the entry point group ``classic_rc.solvers``.
    own : mapping
        The entries by name, or ``"module:name"`` of an entry that is imported and accepted on first
        use.
    accept : callable
        Takes a name and the object that an entry point refers to, and returns the entry to
        register. It raises UsageError for an object that does not fit. See :func:`accept_instances`
        and :func:`accept_classes`.
    """

    def __init__(
        self, kind: str, own: Mapping[str, T | str], accept: Callable[[str, Any], T]
    ) -> None:
        self.kind = kind
        self._own = dict(own)
        self._accept = accept
        self._loaded: dict[str, T] = {}
        self._faults: dict[str, str] = {}
        self._reported: set[str] = set()

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own_entry(name)
        if name not in self._entry_points:
            raise KeyError(name)
        if self._try_to_load(name):
            return self._loaded[name]
        self._reported.add(name)
        raise UsageError(self._faults[name], field=self.kind, found=name)

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._entry_points

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for name in self._entry_points:
            if self._try_to_load(name):
                yield name
            elif name not in self._reported:
                self._reported.add(name)
                warnings.warn(self._faults[name], PluginWarning, stacklevel=2)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def group(self) -> str:
        """The name of the entry point group: ``classic_rc.solvers``,
        ``classic_rc.table_formats``.
        """
        plural = f"{self.kind}s"
        if self.kind.endswith("y"):
            plural = f"{self.kind[:-1]}ies"
        return f"classic_rc.{plural.replace(' ', '_')}"

    @property
    def own(self) -> Mapping[str, T]:
        """The package's own entries, in order. Reading it searches no other package."""
        return {name: self._own_entry(name) for name in self._own}

    def package_of(self, name: str) -> str | None:
        """Return the package and version that a plug-in comes from, or None for our own entries."""
        if name in self._own:
            return None
        return " and ".join(map(_package_and_version, self._entry_points[name]))

    def _own_entry(self, name: str) -> T:
        """Return one of our own entries, imported on first use."""
        entry = self._own[name]
        if isinstance(entry, str):
            entry = self._own[name] = self._accept(name, _import_object(entry))
        return entry

    @cached_property
    def _entry_points(self) -> dict[str, list[EntryPoint]]:
        """The entry points of other packages, by name. A package that is found twice counts
        once.
        """
        offered: dict[str, dict[tuple[str, str], EntryPoint]] = {}
        points = _scan_entry_points(tuple(sys.path)).get(self.group, ())
        for point in sorted(points, key=lambda point: point.name):
            if point.name in self._own:
                fault = self._describe_fault(
                    point.name, _package_and_version(point), "classic_rc has an entry of that name"
                )
                warnings.warn(fault, PluginWarning, stacklevel=2)
            else:
                offered.setdefault(point.name, {}).setdefault(
                    (_package_and_version(point), point.value), point
                )
        return {name: list(points.values()) for name, points in offered.items()}

    def _try_to_load(self, name: str) -> bool:
        """Load a plug-in, or remember why it cannot be used."""
        if name not in self._loaded and name not in self._faults:
            point, *others = self._entry_points[name]
            try:
                if others:
                    raise UsageError(
                        "two packages have a plug-in of that name: uninstall one of them"
                    )
                if not _NAME.fullmatch(name):
                    raise UsageError("a name may have only letters, digits and . _ + -")
                self._loaded[name] = self._accept(name, point.load())
            except (
                Exception,
                SystemExit,
            ) as error:  # The import of a foreign package can raise anything.
                reason = str(error)
                if not isinstance(error, UsageError):
                    reason = f"{type(error).__name__}: {reason}"
                self._faults[name] = self._describe_fault(name, self.package_of(name), reason)
        return name in self._loaded

    def _describe_fault(self, name: str, package: str | None, reason: str) -> str:
        return f"{self.kind} {name!r} of {package} cannot be used: {reason}"


@cache
def _scan_entry_points(path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of all kinds in the packages on the path, by group: one search
    serves all.
    """
    from importlib.metadata import entry_points

    everything = entry_points()
    groups = [group for group in everything.groups if group.startswith("classic_rc.")]
    return {group: tuple(everything.select(group=group)) for group in groups}


def by_name(*entries: T) -> dict[str, T]:
    """Return entries by their attribute `name`, in order."""
    return {entry.name: entry for entry in entries}  # type: ignore[attr-defined]


def accept_instances(base: str) -> Callable[[str, Any], Any]:
    """Return an `accept` for instances of a class, or for subclasses that are made without
    arguments.

    Parameters
    ----------
    base : str
        Its public name, ``"module:Class"``. The module is imported when the first entry is looked
        up.
    """

    def accept(name: str, plugin: Any) -> Any:
        kind = _import_object(base)
        entry = plugin
        if isinstance(plugin, type) and issubclass(plugin, kind):
            entry = _complete_class(plugin)()
        if not isinstance(entry, kind):
            public = base.replace(":", ".")
            raise UsageError(
                f"it is not an instance of {public}", found=repr(plugin), expected=public
            )
        return _check_name(name, entry)

    return accept


def accept_classes(base: str) -> Callable[[str, Any], Any]:
    """Return an `accept` for the subclasses of the class ``"module:Class"`` that have all
    methods.
    """

    def accept(name: str, plugin: Any) -> Any:
        if not (isinstance(plugin, type) and issubclass(plugin, _import_object(base))):
            public = base.replace(":", ".")
            raise UsageError(
                f"it is not a subclass of {public}", found=repr(plugin), expected=public
            )
        return _check_name(name, _complete_class(plugin))

    return accept


def _import_object(home: str) -> Any:
    module, _, attribute = home.partition(":")
    return getattr(import_module(module), attribute)


def _complete_class(cls: type) -> type:
    """Return a class, or raise UsageError if it has abstract methods."""
    if missing := ", ".join(sorted(getattr(cls, "__abstractmethods__", ()))):
        raise UsageError(f"its class does not implement {missing}", expected=missing)
    return cls


def _check_name(name: str, entry: Any) -> Any:
    if entry.name != name:
        raise UsageError(
            f"it is named {entry.name!r}: the entry point must have the same name",
            field="name",
            found=entry.name,
            expected=name,
        )
    return entry


def _package_and_version(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
