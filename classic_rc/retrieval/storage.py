"""The files of an index folder: segments, which describe and check themselves, and the manifest
that lists them.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.io.files import sha256_of_text
from classic_rc.io.json import describe_value, parse_json
from classic_rc.io.text import read_text, replace_file, write_file
from classic_rc.retrieval.texts import StoredTexts, fingerprint
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.work import tracked

INDEX_FORMAT = 2
"""Increased with every change of the written files or of what analyzers make of text."""

MANIFEST = "manifest.json"

VERIFIED = "verified.json"
"""The file that names the states of segment files that were verified. It may be removed at any
time.
"""

SEGMENTS = "segment-*"
"""The pattern of the names of segment files, complete or not."""

Arrays = Mapping[str, NDArray[Any]]

REBUILD_HINT = "Remove the folder of the index and build it again, with `classic-rc index`"
"""The hint for outdated indexes and damaged manifests."""

REPAIR_HINT = (
    "Repeat the command that built the index: it builds damaged and missing segments again"
)
"""The hint for damaged segments."""

_KIND = "classic_rc sentence index"
_CHECKSUM = "checksum"
_SAMPLE = (
    "Mrs. O'Neil's 3 dogs weren't running; she'd paid $1,234.50 for them in the U.S., at 9:30 "
    "a.m.!\nGeneralizations, ponies, flies, hopefully: agreed, sized, controlling. “Zoë’s naïve "
    "café” – 東京 e-mail_x"
)

_ALIGNMENT = 64
_DIGEST_SIZE = 32
_TAIL_SIZE = 8 + _DIGEST_SIZE  # the length of the table, and the sha256 of all before it
_READ_AT_ONCE = 2**20

_SETTLED_NANOSECONDS = 2 * 10**9
"""The age from which a change of a file always alters its times: file systems count in steps of
up to 2 seconds.
"""

_ARRAYS = (
    "term_data term_offsets term_keys posting_offsets posting_sentences posting_codes "
    "code_counts code_lengths totals sentence_data sentence_offsets "
    "input_data input_offsets input_starts label_data label_offsets places"
).split()
"""The arrays of a segment file, in their order."""


class StoredSegment(NamedTuple):
    """A segment file, as the manifest lists it."""

    name: str
    size: int  # in bytes
    sha256: str  # of the content without the last 32 bytes, which are this digest


def segment_key(texts: StoredTexts, places: Arrays, analyzer: Analyzer) -> str:
    """Return a hash of what a segment is built from: the sentences, their places, and the
    analyzer.
    """
    version = INDEX_FORMAT, analyzer.signature, _hash_sample(analyzer)
    digest = hashlib.sha256(repr(version).encode())
    texts.hash_into(digest)
    for name, array in places.items():
        digest.update(repr((name, array.dtype.str, len(array))).encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()[:24]


def segment_name(key: str) -> str:
    """Return the name of the file of a segment. Builds never write other content under one name."""
    return f"segment-{key}.bin"


def write_segment(folder: Path, key: str, arrays: Arrays) -> StoredSegment:
    """Write a segment to one file, which appears only when it is complete and on the disk.

    The arrays come first, each at a multiple of 64 bytes; then a table with their types and lengths
    as JSON, the length of the table in eight bytes, and the sha256 of all that.
    """
    path = folder / segment_name(key)
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    digest = hashlib.sha256()
    table = [[arrays[name].dtype.str, len(arrays[name])] for name in _ARRAYS]
    try:
        with open(temporary, "wb") as file:
            for name in _ARRAYS:
                data = np.ascontiguousarray(arrays[name]).view(np.uint8).data
                for chunk in (data, bytes(-len(data) % _ALIGNMENT)):
                    file.write(chunk)
                    digest.update(chunk)
            described = json.dumps({"key": key, "arrays": table}).encode()
            tail = described + len(described).to_bytes(8, "little")
            digest.update(tail)
            file.write(tail + digest.digest())
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        replace_file(temporary, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    return StoredSegment(path.name, size, digest.hexdigest())


def find_segment(folder: Path, key: str) -> StoredSegment | None:
    """Return the segment that was written under a key, or None if it is missing or damaged."""
    path = folder / segment_name(key)
    try:
        with open_file(path) as file:
            stored = StoredSegment(path.name, *_read_end(path, file))
            _verify(path, file)
            return stored if _map_arrays(file)[0] == key else None
    except DataError:
        return None


def map_segment(folder: Path, stored: StoredSegment) -> Arrays:
    """Return the arrays of a segment file, read-only and not verified."""
    with open_file(folder / stored.name) as file:
        _check_listed(folder / stored.name, file, stored)
        return _map_arrays(file)[1]


def _check_listed(path: Path, file: BinaryIO, stored: StoredSegment) -> None:
    """Check that a file is the one that the manifest lists, by its size and the digest at its
    end.
    """
    size, sha256 = _read_end(path, file)
    if size != stored.size:
        raise _damage_error(path, f"{size:,} bytes", f"{stored.size:,}")
    if sha256 != stored.sha256:
        raise _damage_error(path, f"sha256 {sha256[:16]}", stored.sha256[:16])


def open_segments(
    folder: Path, segments: Sequence[StoredSegment], *, thoroughly: bool = False
) -> list[Arrays]:
    """Return the arrays of segment files, read-only and verified; the operating system reads them
    when needed.

    A file is read as a whole the first time, or with `thoroughly`. After that, only what is used is
    read, for as long as the file's size, times and inode stay the same; the file :data:`VERIFIED`
    remembers these.
    """
    notes, new = ({} if thoroughly else _read_notes(folder)), dict[str, str]()
    opened: list[Arrays] = []
    for stored in tracked(segments, len(segments)):
        path = folder / stored.name
        with open_file(path) as file:
            _check_listed(path, file, stored)
            state, start = _describe_state(file, stored), time.time_ns()
            if notes.get(stored.name) != state:
                _verify(path, file)
                if _is_settled(file, start):
                    new[stored.name] = state
            opened.append(_map_arrays(file)[1])
    if new and not thoroughly:
        with suppress(UsageError):  # this user may only read the folder
            write_file(folder / VERIFIED, json.dumps({**notes, **new}))
    return opened


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file of an index."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # to open a named pipe would wait for a writer
            raise DataError("not a regular file", source=str(path), hint=REPAIR_HINT)
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror})", source=str(path), hint=REPAIR_HINT
        ) from None


def _read_end(path: Path, file: BinaryIO) -> tuple[int, str]:
    """Return the size of a segment file, and the digest that it ends with."""
    size = os.fstat(file.fileno()).st_size
    if size <= _TAIL_SIZE:
        raise _damage_error(path, f"{size:,} bytes", "a segment")
    file.seek(size - _DIGEST_SIZE)
    return size, file.read(_DIGEST_SIZE).hex()


def _verify(path: Path, file: BinaryIO) -> None:
    """Check the digest of a segment file: the content is what :func:`write_segment` wrote."""
    size, expected = _read_end(path, file)
    file.seek(0)
    digest, n_unread = hashlib.sha256(), size - _DIGEST_SIZE
    while n_unread > 0 and (block := file.read(min(n_unread, _READ_AT_ONCE))):
        digest.update(block)
        n_unread -= len(block)
    if digest.hexdigest() != expected:
        raise _damage_error(path, f"sha256 {digest.hexdigest()[:16]}", expected[:16])


def _map_arrays(file: BinaryIO) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the key and the arrays of a segment file that was verified, now or before."""
    # NumPy's memmap, because joblib passes it to its workers as a path.
    content = np.asarray(np.memmap(file, mode="r"))
    end = len(content) - _TAIL_SIZE
    n_described = int.from_bytes(content[end : end + 8].tobytes(), "little")
    table = json.loads(content[end - n_described : end].tobytes())
    arrays, start = dict[str, NDArray[Any]](), 0
    for name, (dtype, length) in zip(_ARRAYS, table["arrays"], strict=True):
        stop = start + length * np.dtype(dtype).itemsize
        arrays[name] = content[start:stop].view(dtype)
        start = stop + -stop % _ALIGNMENT
    return table["key"], arrays


def _damage_error(path: Path, found: str, expected: str) -> DataError:
    return DataError(
        "changed since the index was built",
        source=str(path),
        found=found,
        expected=expected,
        hint=REPAIR_HINT,
    )


def _describe_state(file: BinaryIO, stored: StoredSegment) -> str:
    """Return a hash of what identifies a file and its content."""
    status = os.fstat(file.fileno())
    times = status.st_mtime_ns, status.st_ctime_ns
    return sha256_of_text(repr((INDEX_FORMAT, tuple(stored), *times, status.st_ino)))


def _is_settled(file: BinaryIO, now: int) -> bool:
    """Return whether a change after `now`, in nanoseconds, gives the file other times."""
    status = os.fstat(file.fileno())
    return max(status.st_mtime_ns, status.st_ctime_ns) < now - _SETTLED_NANOSECONDS


def _read_notes(folder: Path) -> dict[str, str]:
    """Return the verified state of each file by its name; nothing if there is no readable note."""
    path = folder / VERIFIED
    try:
        notes = parse_json(read_text(path), str(path)) if path.is_file() else {}
    except (DataError, OSError):
        return {}
    return notes if isinstance(notes, dict) else {}


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """The sizes of an index."""

    sentences: int = 0
    with_terms: int = 0  # sentences with an index term
    tokens: int = 0  # index terms in all sentences, repetitions counted
    text_bytes: int = 0  # of the sentences in UTF-8
    with_nul: int = 0  # sentences with the character NUL
    with_replacement: int = 0  # sentences with U+FFFD, which replaces bytes that were not UTF-8

    def __add__(self, other: IndexCounts) -> IndexCounts:
        return IndexCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of an index folder."""

    analyzer: str  # its specification
    analyzer_signature: str  # its signature when the index was built
    analyzer_sample: str  # a hash of what it made of a sample text then
    segments: tuple[StoredSegment, ...] = ()
    fingerprint: str = fingerprint(())  # hex sha256 of the sentences, in order
    n_terms: int = 0  # distinct index terms
    counts: IndexCounts = IndexCounts()

    @classmethod
    def empty(cls, analyzer: Analyzer) -> Self:
        """Return the manifest of an index without sentences."""
        return cls(analyzer.spec, analyzer.signature, _hash_sample(analyzer))

    def summary(self, folder: str | os.PathLike[str]) -> str:
        """Return one line about the index in a folder."""
        n_bytes = sum(segment.size for segment in self.segments)
        return (
            f"{os.fspath(folder)}: {self.counts.sentences:,} sentences, {self.counts.tokens:,} "
            f"tokens, {self.n_terms:,} terms; {self.counts.text_bytes / 1e6:,.1f} MB of text, "
            f"{n_bytes / 1e6:,.1f} MB on disk; {self.analyzer_signature}; fingerprint "
            f"{self.fingerprint[:8]}"
        )

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, replacing an older one."""
        values = {"kind": _KIND, "format": INDEX_FORMAT, **asdict(self)}
        values["segments"] = [segment._asdict() for segment in self.segments]
        text = json.dumps({**values, _CHECKSUM: _hash_values(values)}, indent=1)
        write_file(folder / MANIFEST, text + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest of a folder."""
        source = str(folder / MANIFEST)
        try:
            values = parse_json(read_text(source), source)
        except DataError as error:
            facts = {"where": error.where, "found": error.found, "expected": error.expected}
            raise DataError(error.problem, source=source, hint=REBUILD_HINT, **facts) from None
        for field, expected in (("kind", _KIND), ("format", INDEX_FORMAT)):
            actual = values.get(field) if isinstance(values, dict) else values
            if actual != expected:
                raise DataError(
                    "not a manifest of an index of this version",
                    source=source,
                    field=field,
                    found=describe_value(actual),
                    expected=repr(expected),
                    hint=REBUILD_HINT,
                )
        if values.pop(_CHECKSUM, None) != _hash_values(values):
            raise DataError("changed since it was written", source=source, hint=REBUILD_HINT)
        del values["kind"], values["format"]
        segments = tuple(StoredSegment(**segment) for segment in values.pop("segments"))
        return cls(**values | {"segments": segments, "counts": IndexCounts(**values["counts"])})

    def check_analyzer(self, source: str, *, thoroughly: bool) -> Analyzer:
        """Return the analyzer of the index, after a check that it has not changed since the build.

        `thoroughly` checks what it makes of a sample text, too.
        """
        analyzer = get_analyzer(self.analyzer)
        now, then = analyzer.signature, self.analyzer_signature
        if now == then and thoroughly:
            now, then = _hash_sample(analyzer), self.analyzer_sample
        if now != then:
            problem = f"{analyzer.spec} has changed since the index was built"
            raise DataError(
                problem,
                source=source,
                field="analyzer",
                found=now,
                expected=then,
                hint=REBUILD_HINT,
            )
        return analyzer


def _hash_values(values: Mapping[str, Any]) -> str:
    return sha256_of_text(json.dumps(values, sort_keys=True))


def _hash_sample(analyzer: Analyzer) -> str:
    return sha256_of_text(" ".join(analyzer.analyze(_SAMPLE)))[:16]


def read_folder(
    folder: Path, *, thoroughly: bool = False
) -> tuple[Manifest, Analyzer, list[Arrays]]:
    """Open an index folder: its manifest, its analyzer, and the arrays of its segments.

    `thoroughly` verifies all files.
    """
    if not os.path.exists(folder / MANIFEST):
        _refuse_folder(folder)
    manifest = Manifest.read(folder)
    analyzer = manifest.check_analyzer(str(folder), thoroughly=thoroughly)
    segments = open_segments(folder, manifest.segments, thoroughly=thoroughly)
    return manifest, analyzer, segments


def _refuse_folder(folder: Path) -> NoReturn:
    if os.path.isdir(folder) and any(folder.glob(SEGMENTS)):
        raise DataError(
            "the index is unfinished",
            source=str(folder),
            hint="Repeat the command that builds it: it continues after the finished segments",
        )
    raise DataError(
        "no index" if os.path.isdir(folder) else "no such folder",
        source=str(folder),
        expected=f"a folder with {MANIFEST}",
        hint="Build one with `classic-rc index CORPUS -o DIR`",
    )
