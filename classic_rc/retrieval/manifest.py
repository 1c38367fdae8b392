"""The files of an index folder: array files that are mapped into memory, and the manifest that describes them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.io.hashing import sha256_of_bytes, sha256_of_stream, sha256_of_text
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.io.text import read_text, replace_file
from classic_rc.text.analyzers import Analyzer, get_analyzer

INDEX_FORMAT = 1
"""Increased with every change of the written files or of what analyzers make of text."""

MANIFEST = "manifest.json"

_KIND = "classic_rc sentence index"
_CHECKSUM = "checksum"
_SAMPLE = (
    "Mrs. O'Neil's 3 dogs weren't running; she'd paid $1,234.50 for them in the U.S., at 9:30 a.m.!\n"
    "Generalizations, ponies, flies, hopefully: agreed, sized, controlling. “Zoë’s naïve café” – 東京 e-mail_x"
)

Arrays = Mapping[str, NDArray[Any]]

ALIGNMENT = 64
"""Each array of a file starts at a multiple of this number of bytes."""

REBUILD_HINT = "Remove the folder of the index and build it again, with `classic-rc index`"
"""The hint for damaged or outdated indexes."""

_Value = TypeVar("_Value")


class StoredArray(NamedTuple):
    """The place of an array in a file."""

    dtype: str  # NumPy's short form with byte order: "<i4"
    length: int  # in elements
    offset: int  # in bytes


class StoredFile(NamedTuple):
    """The content of a file of arrays."""

    name: str
    size: int  # in bytes
    sha256: str
    arrays: dict[str, StoredArray]


def quote_path(path: Path) -> str:
    """Return a path as a shell takes it, for commands in messages."""
    if os.name == "nt":  # its shells know no single quotes
        from subprocess import list2cmdline

        return list2cmdline([str(path)])
    return shlex.quote(str(path))


def write_arrays(path: Path, arrays: Arrays, *, sync: bool = True) -> StoredFile:
    """Write flat arrays to one file, which appears only when it is complete.

    All arrays go into one file because a process can have few files open: 256 on macOS.

    Parameters
    ----------
    path : Path
    arrays : mapping of str to ndarray
    sync : bool
        Whether to wait until the disk has the file. Otherwise the caller has to, before it relies on the file.

    Raises
    ------
    UsageError
        The operating system refuses the write.
    """
    temporary, digest, table, size = path.with_name(path.name + ".tmp"), hashlib.sha256(), {}, 0
    try:
        with open(temporary, "wb") as file:
            for name, array in arrays.items():
                data = np.ascontiguousarray(array).view(np.uint8).data
                padding = bytes(-len(data) % ALIGNMENT)
                table[name] = StoredArray(array.dtype.str, len(array), size)
                for part in (data, padding):
                    file.write(part)
                    digest.update(part)
                    size += len(part)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        replace_file(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    return StoredFile(path.name, size, digest.hexdigest(), table)


def map_arrays(folder: Path, stored: StoredFile) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, read-only; the operating system reads them when they are used.

    Raises
    ------
    DataError
        The file is missing, cannot be read, or has another size.
    """
    path = folder / stored.name
    with open_file(path) as file:
        return map_file(path, file, stored)


def map_file(path: Path, file: BinaryIO, stored: StoredFile) -> dict[str, NDArray[Any]]:
    """Return the arrays of an open file, as :func:`map_arrays` does. The path is for error messages."""
    size = os.fstat(file.fileno()).st_size
    if size != stored.size:
        raise _damage_error(path, f"{size:,} bytes", f"{stored.size:,}")
    # NumPy's memmap, because joblib passes it to its workers as a path.
    content = np.asarray(np.memmap(file, mode="r")) if size else np.empty(0, np.uint8)
    try:
        return {name: _view_array(content, *array) for name, array in stored.arrays.items()}
    except (TypeError, ValueError) as error:
        raise _damage_error(path, str(error), "the arrays of the manifest") from None


def check_content(folder: Path, stored: StoredFile) -> None:
    """Check the hash of a whole file.

    Raises
    ------
    DataError
        The content is not what was written.
    """
    path = folder / stored.name
    with open_file(path) as file:
        check_stream(path, file, stored)


def check_stream(path: Path, file: BinaryIO, stored: StoredFile) -> None:
    """Check the hash of an open file, as :func:`check_content` does."""
    file.seek(0)
    found = sha256_of_stream(file)
    if found != stored.sha256:
        raise _damage_error(path, f"sha256 {found[:16]}", stored.sha256[:16])


def add_checksum(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object with a checksum of its other values as its last value."""
    return {**content, _CHECKSUM: _hash_values(content)}


def has_right_checksum(content: Mapping[str, Any]) -> bool:
    """Return whether a JSON object has the values that :func:`add_checksum` got.

    Older versions of the package wrote no checksum; then this is true.
    """
    return _CHECKSUM not in content or content[_CHECKSUM] == _hash_values(content)


def _hash_values(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != _CHECKSUM}
    return sha256_of_text(json.dumps(rest, sort_keys=True))


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, which replaces an older one only when it is complete.

    Raises
    ------
    UsageError
        The operating system refuses the write.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            json.dump(value, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        replace_file(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file of an index.

    Raises
    ------
    DataError
        It is missing or cannot be read, or it is no regular file.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # to open a named pipe would wait for a writer
            raise DataError("not a regular file", source=str(path), hint=REBUILD_HINT)
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror})", source=str(path), hint=REBUILD_HINT
        ) from None


def _view_array(content: NDArray[np.uint8], dtype: str, length: int, offset: int) -> NDArray[Any]:
    if not re.fullmatch(r"[<>|][biuf][1248]", dtype):  # NumPy has types of any size, and old names that warn
        raise ValueError(f"elements of type {dtype[:20]!r}")
    part = content[offset : offset + length * np.dtype(dtype).itemsize].view(dtype)
    if len(part) != length:
        raise ValueError(f"{len(part)} elements at byte {offset}")
    return part


def _damage_error(path: Path, found: str, expected: str) -> DataError:
    return DataError(
        "changed since the index was built", source=str(path), found=found, expected=expected, hint=REBUILD_HINT
    )


@dataclass(frozen=True, slots=True)
class SegmentCounts:
    """The sizes of an index or of a segment."""

    sentences: int = 0
    with_terms: int = 0  # sentences with an index term
    tokens: int = 0  # index terms in all sentences, repetitions counted
    text_bytes: int = 0  # of the sentences in UTF-8
    with_nul: int = 0  # sentences with the character NUL
    with_replacement: int = 0  # sentences with U+FFFD, which replaces bytes that were not UTF-8

    @classmethod
    def total(cls, parts: Sequence[SegmentCounts]) -> SegmentCounts:
        """Sum counts."""
        return cls(*(sum(getattr(part, each.name) for part in parts) for each in fields(cls)))


@dataclass(frozen=True, slots=True)
class StoredSegment:
    """A segment's counts and its file."""

    counts: SegmentCounts
    file: StoredFile


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of an index folder."""

    analyzer: str  # its specification
    analyzer_signature: str  # its signature when the index was built
    analyzer_sample: str  # a hash of what it made of a sample text then
    segments: tuple[StoredSegment, ...] = ()
    fingerprint: str = sha256_of_bytes(b"")  # hex sha256 of the sentences, in order
    n_terms: int = 0  # distinct index terms
    built_from: str = ""  # a hash of the inputs and options of the last build
    # Not part of the manifest: whether the file that it was read from has the right checksum.
    is_intact: bool = field(default=True, compare=False, repr=False)

    @classmethod
    def empty(cls, analyzer: Analyzer) -> Manifest:
        """Return the manifest of an index without sentences."""
        return cls(analyzer.spec, analyzer.signature, _hash_sample(analyzer))

    @property
    def counts(self) -> SegmentCounts:
        """The counts of all segments together."""
        return SegmentCounts.total([segment.counts for segment in self.segments])

    @property
    def disk_bytes(self) -> int:
        """The size of all segment files."""
        return sum(segment.file.size for segment in self.segments)

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, replacing an older one."""
        write_json(folder / MANIFEST, add_checksum(self.to_dict()))

    def check_intact(self, folder: Path) -> None:
        """Check that the manifest that was read from a folder has its checksum.

        It is not part of :meth:`read`: an error that names the wrong value comes first.

        Raises
        ------
        DataError
            It has changed.
        """
        if not self.is_intact:
            raise _damage_error(folder / MANIFEST, "other values", "the values of its checksum")

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder.

        Raises
        ------
        DataError
            It is missing or damaged, or has another version of the format.
        """
        path = folder / MANIFEST
        return read_json(path, cls.from_node)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        segments = [
            {"counts": asdict(segment.counts), **segment.file._asdict(), "arrays": dict(segment.file.arrays)}
            for segment in self.segments
        ]
        values = {part.name: getattr(self, part.name) for part in fields(self) if part.name != "is_intact"}
        return {
            "kind": _KIND,
            "format": INDEX_FORMAT,
            "counts": asdict(self.counts),
            **values,
            "segments": segments,
        }

    @classmethod
    def from_node(cls, node: Node) -> Manifest:
        """Parse the JSON form."""
        if node.text("kind") != _KIND:
            raise node.error(
                "not a manifest of an index",
                field="kind",
                found=describe_value(node.value["kind"]),
                expected=repr(_KIND),
            )
        if node.integer("format") != INDEX_FORMAT:
            raise node.error(
                "written by another version of the program",
                field="format",
                found=str(node.value["format"])[:20],
                expected=str(INDEX_FORMAT),
                hint=REBUILD_HINT,
            )
        if not node.sequence("segments"):
            raise node.error("no segments", field="segments", found="an empty list", expected="at least one")
        return cls(
            node.text("analyzer"),
            node.text("analyzer_signature"),
            node.text("analyzer_sample"),
            tuple(_parse_segment(part, number) for number, part in enumerate(node.items("segments"))),
            node.text("fingerprint"),
            _parse_size(node, "n_terms"),
            node.text("built_from"),
            has_right_checksum(node.value),
        )


def check_analyzer(manifest: Manifest, source: str, *, thoroughly: bool) -> Analyzer:
    """Return the analyzer of an index, after a check that it has not changed since the build.

    Parameters
    ----------
    manifest : Manifest
    source : str
        The index, as error messages name it.
    thoroughly : bool
        Whether to check what it makes of a sample text, too.

    Raises
    ------
    DataError
        It has changed since the index was built.
    """
    analyzer = get_analyzer(manifest.analyzer)
    now, then = analyzer.signature, manifest.analyzer_signature
    if now == then and thoroughly:
        now, then = _hash_sample(analyzer), manifest.analyzer_sample
    if now != then:
        raise DataError(
            f"{analyzer.spec} has changed since the index was built",
            source=source,
            field="analyzer",
            found=now,
            expected=then,
            hint=REBUILD_HINT,
        )
    return analyzer


def read_json(path: Path, parse: Callable[[Node], _Value], hint: str = REBUILD_HINT) -> _Value:
    """Parse a JSON file that this package wrote.

    Parameters
    ----------
    path : Path
    parse : callable
    hint : str
        How the user can replace a damaged file.

    Raises
    ------
    DataError
        The file is missing or damaged, or `parse` rejects it.
    """
    try:
        return parse(Node(parse_json(read_text(path), str(path)), str(path)))
    except DataError as error:
        if error.hint == hint:
            raise
        raise DataError(
            error.problem,
            source=str(path),
            where=error.where,
            field=error.field,
            found=error.found,
            expected=error.expected,
            hint=hint,
        ) from None


def segment_name(number: int) -> str:
    """Return the name of the file of a segment, counted from 0."""
    return f"segment-{number:05d}.bin"


def _parse_segment(node: Node, number: int) -> StoredSegment:
    if node.text("name") != segment_name(number):
        raise node.error(
            "not the file of this segment",
            field="name",
            found=describe_value(node.value["name"]),
            expected=segment_name(number),
        )
    counts = node.child("counts")
    arrays = node.child("arrays")
    if not isinstance(arrays.value, dict):
        raise arrays.error("wrong type", found=describe_value(arrays.value), expected="an object")
    table = {
        name: StoredArray(array.text(0), _parse_size(array, 1), _parse_size(array, 2))
        for name in arrays.value
        for array in [arrays.child(name)]
    }
    file = StoredFile(node.text("name"), _parse_size(node, "size"), node.text("sha256"), table)
    return StoredSegment(SegmentCounts(*(_parse_size(counts, part.name) for part in fields(SegmentCounts))), file)


def _parse_size(node: Node, key: int | str) -> int:
    """Return the number of bytes, elements or texts at a key."""
    size = node.integer(key)
    if not 0 <= size < 2**63:
        raise node.error(
            "not a size",
            field=key if isinstance(key, str) else f"[{key}]",
            found=describe_value(size),
            expected="a whole number from 0 to 2**63 - 1",
        )
    return size


def _hash_sample(analyzer: Analyzer) -> str:
    return sha256_of_text(" ".join(analyzer.analyze(_SAMPLE)))[:16]
