"""Sketches of published splits, by which their texts are recognised in other data.

Some come with the package. ``classic-rc fetch`` adds those of what it downloads to the cache; there
a sketch replaces the one of the same name that comes with the package.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from classic_rc.datasets.fetch import NamedSplit, is_split_cached
from classic_rc.io.cache import cache_folder
from classic_rc.io.members import read_stored_arrays
from classic_rc.io.text import write_file
from classic_rc.questions import Dataset
from classic_rc.sketches import Sketch

SHIPPED = Path(__file__).with_name("sketches")
"""The folder of the sketches that come with the package."""

_SUFFIX = ".npz"


def known_sketches() -> Iterator[Sketch]:
    """Yield the sketches of published splits, in the order of their names, such as ``race:train``.

    A sketch in the cache that cannot be read, such as one of an older release, is left out.
    """
    for cached, shipped in _files_by_name().values():
        sketch = None if cached is None else _read_cached(cached)
        if sketch is None and shipped is not None:
            sketch = _read_shipped(shipped)
        if sketch is not None:
            yield sketch


def sketched_names() -> list[str]:
    """Return the names of the splits that have a sketch, without reading it."""
    return list(_files_by_name())


def keep_sketch(split: NamedSplit, read: Callable[[NamedSplit], Dataset]) -> bool:
    """Write the sketch of a split that `read` reads to the cache; return whether it was made
    now.
    """
    path = sketch_file(split.name, _cached_folder())
    if not is_split_cached(split) or (path.is_file() and _read_cached(path) is not None):
        return False
    write_sketch(Sketch.of(read(split), split.name), path)
    return True


def write_sketch(sketch: Sketch, path: Path) -> None:
    """Write a sketch to a file: the same data gives the same bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, **sketch.to_arrays())  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, buffer.getvalue())


def read_sketch(path: Path) -> Sketch:
    """Read a sketch. Broken content raises errors that have no common base class."""
    return Sketch.from_arrays(read_stored_arrays(path.read_bytes(), str(path)))


def sketch_file(name: str, folder: Path) -> Path:
    """Return the file of the sketch of a split.

    Examples
    --------
    >>> sketch_file("mctest:mc160.dev", Path("sketches")).as_posix()
    'sketches/mctest/mc160.dev.npz'
    """
    dataset, _, split = name.partition(":")
    return folder / dataset / f"{split}{_SUFFIX}"


def _cached_folder() -> Path:
    return cache_folder() / "sketches"


def _files_by_name() -> dict[str, tuple[Path | None, Path | None]]:
    """Return the cached and the shipped sketch of each split that has one."""
    cached, shipped = _sketches_below(_cached_folder()), _sketches_below(SHIPPED)
    names = sorted({*cached, *shipped})
    return {name: (cached.get(name), shipped.get(name)) for name in names}


def _sketches_below(folder: Path) -> dict[str, Path]:
    paths = folder.glob(f"*/*{_SUFFIX}")
    return {f"{path.parent.name}:{path.name.removesuffix(_SUFFIX)}": path for path in paths}


_read_shipped = cache(read_sketch)


def _read_cached(path: Path) -> Sketch | None:
    try:
        return read_sketch(path)
    except Exception:  # broken archives and arrays raise errors that have no common base class
        return None
