"""Registries of named things: the package's own, and plug-ins that other installed packages add by entry points."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from classic_rc.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


T = TypeVar("T")

_NAME = re.compile(r"[\w.+-]+")


class PluginWarning(UserWarning):
    """A plug-in cannot be used; everything else still works."""


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from names to this package's own entries, followed by plug-ins.

    It searches other packages only for a name that is not its own, or to list all names. It imports only the
    plug-ins that are used. A plug-in cannot take one of our own names, and a name that two packages offer is
    invalid. Iteration skips an unusable plug-in with one warning; looking it up by name raises UsageError.

    Parameters
    ----------
    kind : str
        The kind of entry: ``"solver"`` means the entry point group ``classic_rc.solvers``.
    own : mapping
        The entries by name, or ``"module:name"`` of an entry that is imported and accepted on first use.
    accept : callable
        Takes a name and the object that an entry point refers to, and returns the entry to register. It raises
        UsageError for an object that does not fit.
    """

    def __init__(self, kind: str, own: Mapping[str, T | str], accept: Callable[[str, Any], T]) -> None:
        self.kind = kind
        self._own = dict(own)
        self._accept = accept
        self._loaded: dict[str, T] = {}
        self._faults: dict[str, str] = {}
        self._told: set[str] = set()

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own_thing(name)
        if name not in self._offered:
            raise KeyError(name)
        if self._has_loaded(name):
            return self._loaded[name]
        self._told.add(name)
        raise UsageError(self._faults[name])

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._offered

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for name in self._offered:
            if self._has_loaded(name):
                yield name
            elif name not in self._told:
                self._told.add(name)
                warnings.warn(self._faults[name], PluginWarning, stacklevel=2)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def package_of(self, name: str) -> str | None:
        """Return the package and version that a plug-in comes from, or None for our own entries."""
        return None if name in self._own else " and ".join(map(_package, self._offered[name]))

    def _own_thing(self, name: str) -> T:
        """Return one of our own entries, imported on first use."""
        thing = self._own[name]
        if isinstance(thing, str):
            module, _, attribute = thing.partition(":")
            thing = self._own[name] = self._accept(name, getattr(import_module(module), attribute))
        return thing

    @cached_property
    def _offered(self) -> dict[str, list[EntryPoint]]:
        """The entry points of other packages, by name. A package that is found twice counts once."""
        from importlib.metadata import entry_points

        offered: dict[str, dict[tuple[str, str], EntryPoint]] = {}
        for point in sorted(entry_points(group=f"classic_rc.{self.kind}s"), key=lambda point: point.name):
            if point.name in self._own:
                fault = self._fault(point.name, _package(point), "that name is classic_rc's own")
                warnings.warn(fault, PluginWarning, stacklevel=2)
            else:
                offered.setdefault(point.name, {}).setdefault((_package(point), point.value), point)
        return {name: list(points.values()) for name, points in offered.items()}

    def _has_loaded(self, name: str) -> bool:
        """Load a plug-in, or remember why it cannot be used."""
        if name not in self._loaded and name not in self._faults:
            point, *others = self._offered[name]
            try:
                if others:
                    raise UsageError("two packages give that name: uninstall one")
                if not _NAME.fullmatch(name):
                    raise UsageError("a name is made of letters, digits and . _ + -")
                self._loaded[name] = self._accept(name, point.load())
            except (Exception, SystemExit) as error:  # The import of a foreign package can raise anything.
                reason = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
                self._faults[name] = self._fault(name, self.package_of(name), reason)
        return name in self._loaded

    def _fault(self, name: str, package: str | None, reason: str) -> str:
        return f"{self.kind} {name!r} of {package} cannot be used: {reason}"


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
