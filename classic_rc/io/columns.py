"""Parquet and Arrow files, read as rows batch by batch, so that a file is never in memory as a
whole.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError, MissingPackageError
from classic_rc.io.files import column_format, sha256_of, sha256_of_bytes, sha256_of_listing
from classic_rc.io.values import PLAIN_VALUES, BytesError, Convert, column_converter, keep_value

SUFFIXES = (".parquet", ".arrow", ".feather", ".ipc", ".arrows")
"""The usual extensions. What a file is, its first bytes say."""

_SUFFIX = "|".join(map(re.escape, SUFFIXES))
_SHARD = re.compile(rf"(.+)-(\d+)-of-(\d+)({_SUFFIX})")
_ALL_SHARDS = re.compile(rf"(.+)-\*-of-(\d+)({_SUFFIX})")
_BATCH = 1000  # rows that are Python objects at a time


@dataclass(frozen=True)
class SavedDataset:
    """Files that are one dataset: those in a folder of ``save_to_disk`` of the package
    ``datasets``, or shards.
    """

    files: tuple[str, ...]  # the paths, in order
    split: str | None = None  # as the dataset notes it


def find_saved(folder: str) -> SavedDataset | None:
    """Return the files and the split of a folder of ``save_to_disk``; None for any other folder.

    The folder of a DatasetDict has one such folder for each split.
    """
    try:
        state = json.loads(Path(folder, "state.json").read_text(encoding="utf-8"))
        names = [str(entry["filename"]) for entry in state["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError):  # a file with this name can be anything
        return None
    paths = tuple(os.path.join(folder, os.path.basename(name)) for name in names)
    for path in paths:
        if not os.path.isfile(path):
            raise DataError(
                "a file of the dataset is missing", source=path, expected="the file in state.json"
            )
    place = Path(os.path.abspath(folder))
    is_one_of_several = (place.parent / "dataset_dict.json").is_file()
    split = place.name if is_one_of_several else state.get("_split")
    return SavedDataset(paths, str(split) if split else None) if paths else None


def join_shards(paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the shards among files of columns, by the name that means all of them.

    Examples
    --------
    >>> join_shards(["dev-00000-of-00001.parquet", "train-1-of-2.parquet", "train-0-of-2.parquet"])
    {'train-*-of-2.parquet': ('train-0-of-2.parquet', 'train-1-of-2.parquet')}
    """
    groups: dict[tuple[str, int], dict[int, str]] = {}
    for path in paths:
        if match := _SHARD.fullmatch(path):
            name = f"{match[1]}-*-of-{match[3]}{match[4]}"
            groups.setdefault((name, int(match[3])), {})[int(match[2])] = path
    joined: dict[str, tuple[str, ...]] = {}
    for (name, n_shards), shards in groups.items():
        numbers = sorted(shards)
        if len(numbers) > 1 and numbers == list(range(n_shards)):
            joined[name] = tuple(shards[number] for number in numbers)
    return joined


def find_shards(name: str) -> tuple[str, ...] | None:
    """Return the files that a name such as ``train-*-of-00002.parquet`` means; None for other
    names.
    """
    folder = os.path.dirname(name)
    if not _ALL_SHARDS.fullmatch(name) or not os.path.isdir(folder or "."):
        return None
    paths = [os.path.join(folder, base) for base in os.listdir(folder or ".")]
    return join_shards(paths).get(name)


@dataclass(frozen=True)
class ColumnarRows:
    """The rows of a Parquet file or of Arrow files.

    Rows are plain Python values, as JSON has them: missing numbers are None, dates and decimals are
    texts, and the numbers of a ``ClassLabel`` of ``datasets`` are the names of their classes,
    unless the names only count (``0``, ``1``, …; ``False``, ``True``; ``option_a``, ``option_b``,
    …). Columns of bytes (images, sound) are left out.
    """

    source: str  # in error messages
    files: tuple[str | bytes, ...]  # paths, or the content of a member of an archive

    @cached_property
    def sha256(self) -> str:
        """The hex sha256 of the file; for several files, of the list of their sha256."""
        digests = [sha256_of_bytes(f) if isinstance(f, bytes) else sha256_of(f) for f in self.files]
        if len(digests) == 1:
            return digests[0]
        names = [os.path.basename(file) for file in self.files if isinstance(file, str)]
        return sha256_of_listing(zip(names, digests, strict=True))

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The names of the columns that are not read, because they have bytes."""
        with self._opened(self.files[0]) as (schema, _):
            converters = _row_converters(schema)
            return tuple(name for name in schema.names if name not in converters)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of all files."""
        for file in self.files:
            with self._opened(file) as (schema, batches):
                yield from plain_rows(schema, batches(list(_row_converters(schema))))

    @contextmanager
    def _opened(
        self, file: str | bytes
    ) -> Iterator[tuple[Any, Callable[[Sequence[str]], Iterator[Any]]]]:
        """Open a file: its schema, and a function that yields batches of the named columns."""
        try:
            import pyarrow
        except ImportError as error:
            raise MissingPackageError(
                "pyarrow", needed_for=f"reading {self.source}", extra="hf"
            ) from error
        try:
            with (
                pyarrow.BufferReader(file)
                if isinstance(file, bytes)
                else pyarrow.memory_map(file) as content
            ):
                yield _open(content)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            source = self.source
            if isinstance(file, str) and len(self.files) > 1:
                source = file
            first_line = str(error).partition("\n")[0]
            raise DataError(
                "the file is damaged or incomplete",
                source=source,
                found=first_line[:120].rstrip("."),
                expected="a whole Parquet or Arrow file",
            ) from None


def plain_rows(schema: Any, batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of Arrow's record batches as plain values (see :class:`ColumnarRows`), without
    columns of bytes.
    """
    converters = _row_converters(schema)
    changing = {name: f for name, f in converters.items() if f is not keep_value}
    for batch in batches:
        for row in batch.select(list(converters)).to_pylist():
            for name, convert in changing.items():
                row[name] = convert(row[name])
            yield row


def _open(content: Any) -> tuple[Any, Callable[[Sequence[str]], Iterator[Any]]]:
    """Return the schema, and the function that yields batches of the named columns."""
    from pyarrow import ipc, parquet

    kind = column_format(content.read(8))
    content.seek(0)
    if kind == "Parquet":
        file = parquet.ParquetFile(content, pre_buffer=False)
        return file.schema_arrow, lambda columns: file.iter_batches(
            _BATCH, columns=columns, use_threads=False
        )
    reader = ipc.open_file(content) if kind == "Arrow" else ipc.open_stream(content)
    stored = map(reader.get_batch, range(reader.num_record_batches)) if kind == "Arrow" else reader

    def batches(columns: Sequence[str]) -> Iterator[Any]:
        for batch in stored:
            for start in range(0, batch.num_rows, _BATCH):
                yield batch.slice(start, _BATCH).select(columns)

    return reader.schema, batches


def _row_converters(schema: Any) -> dict[str, Convert]:
    """Return the functions that make the values of columns plain, without columns of bytes."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
    except (KeyError, ValueError, TypeError):
        features = None
    features = features if isinstance(features, dict) else {}  # what `datasets` notes
    converters: dict[str, Convert] = {}
    for column in schema:
        try:
            convert = column_converter(column.type, features.get(column.name))
            converters[column.name] = convert
        except BytesError:
            continue
        except TypeError as error:
            raise DataError(
                "unknown type of a column",
                field=column.name,
                found=str(error),
                expected=PLAIN_VALUES,
                hint="Convert the column to text, or leave it out",
            ) from None
    return converters
