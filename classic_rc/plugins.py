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
    """A plug-in cannot be used; everything else works."""


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

    def package_of(self, name: str) -> str | None:
        """Return the package and version that a plug-in comes from, or None for our own entries."""
        return None if name in self._own else " and ".join(map(_package_and_version, self._entry_points[name]))

    def _own_entry(self, name: str) -> T:
        """Return one of our own entries, imported on first use."""
        entry = self._own[name]
        if isinstance(entry, str):
            module, _, attribute = entry.partition(":")
            entry = self._own[name] = self._accept(name, getattr(import_module(module), attribute))
        return entry

    @cached_property
    def _entry_points(self) -> dict[str, list[EntryPoint]]:
        """The entry points of other packages, by name. A package that is found twice counts once."""
        from importlib.metadata import entry_points

        offered: dict[str, dict[tuple[str, str], EntryPoint]] = {}
        for point in sorted(entry_points(group=f"classic_rc.{self.kind}s"), key=lambda point: point.name):
            if point.name in self._own:
                fault = self._describe_fault(
                    point.name, _package_and_version(point), "classic_rc has an entry of that name"
                )
                warnings.warn(fault, PluginWarning, stacklevel=2)
            else:
                offered.setdefault(point.name, {}).setdefault((_package_and_version(point), point.value), point)
        return {name: list(points.values()) for name, points in offered.items()}

    def _try_to_load(self, name: str) -> bool:
        """Load a plug-in, or remember why it cannot be used."""
        if name not in self._loaded and name not in self._faults:
            point, *others = self._entry_points[name]
            try:
                if others:
                    raise UsageError("two packages have a plug-in of that name: uninstall one of them")
                if not _NAME.fullmatch(name):
                    raise UsageError("a name may have only letters, digits and . _ + -")
                self._loaded[name] = self._accept(name, point.load())
            except (Exception, SystemExit) as error:  # The import of a foreign package can raise anything.
                reason = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
                self._faults[name] = self._describe_fault(name, self.package_of(name), reason)
        return name in self._loaded

    def _describe_fault(self, name: str, package: str | None, reason: str) -> str:
        return f"{self.kind} {name!r} of {package} cannot be used: {reason}"


def check_class(name: str, found: Any, base: Any) -> Any:
    """Return the class that is registered under a name, after the checks that all kinds of classes share.

    Raises
    ------
    UsageError
        It is not a subclass of `base`, it lacks a method, or its attribute `name` differs.
    """
    expected = f"a subclass of {base.__module__.rpartition('.')[0]}.{base.__name__}"
    if not (isinstance(found, type) and issubclass(found, base)):
        raise UsageError(f"it is not {expected}", found=repr(found), expected=expected)
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise UsageError(f"its class does not implement {', '.join(missing)}", expected=", ".join(missing))
    own_name = getattr(found, "name", None)
    if own_name != name:
        raise UsageError(
            f"its class is named {own_name!r}: the entry point must have the same name",
            field="name",
            found=str(own_name),
            expected=name,
        )
    return found


def _package_and_version(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"
