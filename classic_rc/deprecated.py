"""Old public names: they still work for one minor release, with a warning that names the new one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any


def find_deprecated(package: str, name: str, moved: Mapping[str, str]) -> Any:
    """Return the object that an old name of a package means, with a DeprecationWarning.

    Parameters
    ----------
    package : str
        The package with the old name; its ``__getattr__`` calls this function.
    name : str
        The requested name.
    moved : mapping of str to str
        For each old name, ``"module:new name"``.

    Raises
    ------
    AttributeError
        The name is not an old one.
    """
    if name not in moved:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module, _, new = moved[name].partition(":")
    warnings.warn(f"{package}.{name} is now {module}.{new}", DeprecationWarning, stacklevel=3)
    return getattr(import_module(module), new)
