"""Arrays that count what NumPy does with them: bytes, operations, gathers, sorts and calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar
from unittest import mock

import numpy as np

from benchmarks.limit_machine import Machine, n_comparisons


class Passes:
    """The passes over arrays that a function makes, and the least time that the machine needs for
    them.

    A pass reads its operands and writes its result. Its least time is that of its bytes or of its
    operations, whichever is longer, at the rates for arrays of its size: small ones are in the
    cache. Views and allocations cost nothing here.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.bytes = 0
        self.operations = 0.0  # one per element of a result, gathered element or comparison
        self.calls = 0
        self.seconds = 0.0  # of the bytes and operations
        self.slowest: dict[str, float] = {}  # the seconds by NumPy function

    def stream(self, name: str, operands: list[Any], results: list[Any]) -> None:
        """Count a pass that reads and writes arrays from beginning to end, with an operation per
        element.
        """
        arrays = [*operands, *results]
        size = sum(a.nbytes for a in arrays)
        largest = max(arrays, key=lambda a: a.size, default=None)
        n, itemsize = (
            (0, 1) if largest is None or name in _MOVES else (largest.size, largest.itemsize)
        )
        self._add(name, size, n, self._machine.stream(size, n, itemsize))

    def gather(
        self, name: str, operands: list[Any], results: list[Any], n: int, table: Any
    ) -> None:
        """Count a pass that accesses `n` elements of a table in any order."""
        size = sum(a.nbytes for a in (*operands, *results)) + n * table.itemsize
        seconds = max(self._machine.stream(size, 0), self._machine.gather(n, table.nbytes))
        self._add(name, size, n, seconds)

    def sort(self, name: str, array: Any, n_arrays: int = 2) -> None:
        """Count a sort."""
        comparisons = n_comparisons(array.size)
        self._add(
            name,
            n_arrays * array.nbytes,
            comparisons,
            self._machine.sort(comparisons, array.nbytes),
        )

    def _add(self, name: str, size: int, n_operations: float, seconds: float) -> None:
        self.bytes += size
        self.operations += n_operations
        self.calls += 1
        self.seconds += seconds
        self.slowest[name] = self.slowest.get(name, 0) + seconds


_SORTS = {"sort", "argsort", "unique", "lexsort"}
_MOVES = {"astype", "concatenate", "fill", "full", "ones", "repeat", "setitem", "tile", "tolist"}
"""Passes without an operation."""

_VIEWS = {"array_split", "broadcast_to", "ndim", "ravel", "reshape", "shape", "size", "split"}


class CountedArray(np.ndarray):
    """An array whose passes are counted in the :class:`Passes` of :func:`counting`."""

    passes: ClassVar[Passes | None] = None

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **options: Any
    ) -> Any:
        operands, targets = _plain(inputs), _plain(out)
        if targets:
            options["out"] = targets
        result = getattr(ufunc, method)(*operands, **_plain(options))
        arrays = _arrays(operands)
        if method == "at":
            _count("gather", f"{ufunc.__name__}.at", arrays[1:], [], len(arrays[1]), arrays[0])
            return None
        read = arrays[:1] if method in ("reduce", "reduceat", "accumulate") else arrays
        _count("stream", ufunc.__name__, read, _arrays(result))
        return out[0] if len(out) == 1 else _counted(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = function(*_plain(args), **_plain(kwargs))
        _count_function(function.__name__, _arrays((_plain(args), _plain(kwargs))), result)
        given = kwargs.get("out")
        return given if given is not None else _counted(result)

    def __getitem__(self, key: Any) -> Any:
        key = _plain(key)
        result = np.asarray(self)[key]
        self._count_access("getitem", key, _arrays(result))
        return _counted(result)

    def __setitem__(self, key: Any, value: Any) -> None:
        key, value = _plain(key), _plain(value)
        plain = np.asarray(self)
        plain[key] = value
        if not self._count_access("setitem", key, _arrays(value)):
            target = np.asarray(plain[key])
            # `a[i:j] += b` ends with an assignment of a slice to itself, which NumPy leaves out.
            if not (isinstance(value, np.ndarray) and value.ctypes.data == target.ctypes.data):
                _count("stream", "setitem", _arrays(value), [target])

    def _count_access(self, name: str, key: Any, values: list[Any]) -> bool:
        """Count an access by an index array or a mask; return whether it is one."""
        keys = _arrays(key)
        if not keys:
            return False
        if keys[0].dtype == np.bool_:
            _count("stream", f"{name} by mask", [keys[0], np.asarray(self)], values)
        else:
            _count("gather", name, keys, values, max(k.size for k in keys), np.asarray(self))
        return True


def _method(name: str) -> Callable[..., Any]:
    def run(self: CountedArray, *args: Any, **kwargs: Any) -> Any:
        plain, args, kwargs = np.asarray(self), _plain(args), _plain(kwargs)
        result = getattr(plain, name)(*args, **kwargs)
        _count_function(
            name, [plain, *_arrays((args, kwargs))], plain if result is None else result
        )
        return _counted(result)

    return run


for _name in (
    *("argsort", "astype", "cumsum", "fill", "nonzero", "partition", "repeat"),
    *("searchsorted", "sort", "take", "tolist"),
):
    setattr(CountedArray, _name, _method(_name))


def _count_function(name: str, operands: list[Any], result: Any) -> None:
    results = _arrays(result)
    if name == "searchsorted":
        table, wanted = operands[0], results[0] if results else np.zeros(1)
        steps = int(wanted.size * max(math.log2(max(table.size, 1)), 1))
        _count("gather", name, operands[1:], results, steps, table)
    elif name == "take":
        _count("gather", name, operands[1:], results, operands[1].size, operands[0])
    elif name == "bincount":
        _count("gather", name, operands, [], operands[0].size, results[0])
    elif name in _SORTS:
        _count("sort", name, operands[0], len(operands) + len(results))
    elif name not in _VIEWS:
        _count("stream", name, operands, results)


def _count(kind: str, *arguments: Any) -> None:
    if CountedArray.passes is not None:
        getattr(CountedArray.passes, kind)(*arguments)


def _plain(value: Any) -> Any:
    """Return the value with all counted arrays as ordinary ones."""
    if isinstance(value, CountedArray):
        return value.view(np.ndarray)
    if type(value) in (tuple, list):
        return type(value)(map(_plain, value))
    return {k: _plain(v) for k, v in value.items()} if type(value) is dict else value


def _counted(value: Any) -> Any:
    """Return the value with all arrays as counted ones."""
    if isinstance(value, np.ndarray):
        return value.view(CountedArray)
    return type(value)(map(_counted, value)) if type(value) in (tuple, list) else value


def _arrays(value: Any) -> list[Any]:
    """Return the arrays in nested tuples and lists, those of one element and more."""
    if isinstance(value, np.ndarray):
        return [value] if value.ndim else []
    if isinstance(value, dict):
        value = list(value.values())
    return [a for item in value for a in _arrays(item)] if isinstance(value, tuple | list) else []


def count_arrays(value: Any) -> Any:
    """Return a (named) tuple or object of arrays with arrays that count."""
    if isinstance(value, np.ndarray):
        return value.view(CountedArray)
    if isinstance(value, tuple):
        items = [count_arrays(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


@contextmanager
def counting(machine: Machine) -> Iterator[Passes]:
    """Count all passes over arrays that come from :func:`count_arrays` or are made meanwhile."""
    passes = Passes(machine)

    def maker(function: Callable[..., Any], writes: bool) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            array = function(*_plain(args), **_plain(kwargs))
            if writes:
                passes.stream(function.__name__, [], [array])
            return array.view(CountedArray)

        return make

    made = {name: maker(getattr(np, name), name not in ("empty", "zeros")) for name in _MAKERS}
    with mock.patch.dict(vars(np), made), mock.patch.object(CountedArray, "passes", passes):
        yield passes


_MAKERS = ("arange", "empty", "zeros", "ones", "full")
