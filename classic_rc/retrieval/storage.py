"""The files of an index folder: segments, which describe and check themselves, and the manifest that lists them."""

from __future__ import annotations

import hashlib
import json
import os
import re
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
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.io.text import read_text, replace_file, write_file
from classic_rc.retrieval.texts import StoredTexts, fingerprint
from classic_rc.text.analyzers import Analyzer, get_analyzer

INDEX_FORMAT = 2
"""Increased with every change of the written files or of what analyzers make of text."""

MANIFEST = "manifest.json"

VERIFIED = "verified.json"
"""The file that names the states of segment files that were verified. It may be removed at any time."""

SEGMENTS = "segment-*"
"""The pattern of the names of segment files, complete or not."""

Arrays = Mapping[str, NDArray[Any]]

REBUILD_HINT = "Remove the folder of the index and build it again, with `classic-rc index`"
"""The hint for outdated indexes and damaged manifests."""

REPAIR_HINT = "Repeat the command that built the index: it builds damaged and missing segments again"
"""The hint for damaged segments."""

_KIND = "classic_rc sentence index"
_CHECKSUM = "checksum"
_SAMPLE = (
    "Mrs. O'Neil's 3 dogs weren't running; she'd paid $1,234.50 for them in the U.S., at 9:30 a.m.!\n"
    "Generalizations, ponies, flies, hopefully: agreed, sized, controlling. “Zoë’s naïve café” – 東京 e-mail_x"
)

_ALIGNMENT = 64
_DIGEST_SIZE = 32
_TAIL_SIZE = 8 + _DIGEST_SIZE  # the length of the table, and the sha256 of all before it
_CHUNK = 2**20

_SETTLED_NANOSECONDS = 2 * 10**9
"""The age from which a change of a file always alters its times: file systems count in steps of up to 2 seconds."""

_UNSIGNED = ("u1", "u2", "u4", "u8")
_ARRAYS: Mapping[str, tuple[str, ...]] = {
    "term_data": ("u1",),
    "term_offsets": ("i8",),
    "term_keys": ("u8",),
    "posting_offsets": ("i4", "i8"),
    "posting_sentences": ("i4",),
    "posting_codes": _UNSIGNED[:3],
    "code_counts": ("i4",),
    "code_lengths": ("i4",),
    "totals": ("i8",),
    "sentence_data": ("u1",),
    "sentence_offsets": _UNSIGNED,
    "input_data": ("u1",),
    "input_offsets": _UNSIGNED,
    "input_starts": ("i4",),
    "label_data": ("u1",),
    "label_offsets": _UNSIGNED,
    "places": ("i4", "i8"),
}
"""The arrays of a segment file in their order, with NumPy's types that each may have."""


class StoredSegment(NamedTuple):
    """A segment file, as the manifest lists it."""

    name: str
    size: int  # in bytes
    sha256: str  # of the content without the last 32 bytes, which are this digest


def segment_key(texts: StoredTexts, places: Arrays, analyzer: Analyzer) -> str:
    """Return a hash of what a segment is built from: the sentences, their places, and the analyzer."""
    digest = hashlib.sha256(repr((INDEX_FORMAT, analyzer.signature, _hash_sample(analyzer))).encode())
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

    The arrays come first, each at a multiple of 64 bytes; then a table with their types and lengths as JSON, the
    length of the table in eight bytes, and the sha256 of all that.

    Raises
    ------
    UsageError
        The operating system refuses the write.
    """
    path = folder / segment_name(key)
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    digest, table = hashlib.sha256(), [[arrays[name].dtype.str, len(arrays[name])] for name in _ARRAYS]
    try:
        with open(temporary, "wb") as file:
            for name in _ARRAYS:
                data = np.ascontiguousarray(arrays[name]).view(np.uint8).data
                for part in (data, bytes(-len(data) % _ALIGNMENT)):
                    file.write(part)
                    digest.update(part)
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
            content, found, arrays, digest = _map_segment(path, file)
            _verify(path, content, arrays)
    except DataError:
        return None
    return StoredSegment(path.name, len(content), digest.hex()) if found == key else None


def map_segment(folder: Path, stored: StoredSegment) -> Arrays:
    """Return the arrays of a segment file, read-only and not verified.

    Raises
    ------
    DataError
        The file is missing, or is not the one that the manifest lists.
    """
    with open_file(folder / stored.name) as file:
        return _map_listed(folder / stored.name, file, stored)[1]


def _map_listed(path: Path, file: BinaryIO, stored: StoredSegment) -> tuple[NDArray[np.uint8], Arrays]:
    size = os.fstat(file.fileno()).st_size
    if size != stored.size:
        raise _damage_error(path, f"{size:,} bytes", f"{stored.size:,}")
    content, _, arrays, digest = _map_segment(path, file)
    if digest.hex() != stored.sha256:
        raise _damage_error(path, f"sha256 {digest.hex()[:16]}", stored.sha256[:16])
    return content, arrays


def open_segments(folder: Path, segments: Sequence[StoredSegment], *, thoroughly: bool = False) -> list[Arrays]:
    """Return the arrays of segment files, read-only and verified; the operating system reads them when needed.

    A file is read as a whole the first time. After that, only what is used is read, for as long as the file's size,
    times and inode stay the same; the file :data:`VERIFIED` remembers these.

    Parameters
    ----------
    folder : Path
    segments : sequence of StoredSegment
    thoroughly : bool
        Whether to verify all files again.

    Raises
    ------
    DataError
        A file is missing, its content has changed, or its arrays are not those of a segment.
    """
    notes, new, opened = ({} if thoroughly else _read_notes(folder)), dict[str, str](), []
    for stored in segments:
        path = folder / stored.name
        with open_file(path) as file:
            opened.append(_map_listed(path, file, stored)[1])
            state, start = _describe_state(file, stored), time.time_ns()
            if notes.get(stored.name) != state:
                # A mapping of its own: its pages leave the memory of the process with it.
                _verify(path, *_map_listed(path, file, stored))
                if _is_settled(file, start):
                    new[stored.name] = state
    if new and not thoroughly:
        with suppress(UsageError):  # this user may only read the folder
            write_file(folder / VERIFIED, json.dumps({**notes, **new}))
    return opened


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
            raise DataError("not a regular file", source=str(path), hint=REPAIR_HINT)
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror})", source=str(path), hint=REPAIR_HINT) from None


def _map_segment(path: Path, file: BinaryIO) -> tuple[NDArray[np.uint8], str, dict[str, NDArray[Any]], bytes]:
    """Return the bytes of a segment file, its key and its arrays, and the digest that it ends with."""
    size = os.fstat(file.fileno()).st_size
    # NumPy's memmap, because joblib passes it to its workers as a path.
    content = np.asarray(np.memmap(file, mode="r")) if size else np.empty(0, np.uint8)
    end = size - _TAIL_SIZE
    n_described = int.from_bytes(content[max(end, 0) : max(end, 0) + 8].tobytes(), "little")
    if not 0 < n_described <= end:
        _fail(path, None, "no table of arrays", "one at the end of the file")
    text = content[end - n_described : end].tobytes().decode("utf-8", "replace")
    try:
        table = Node(parse_json(text, str(path)), str(path))
        rows = [(row.text(0), row.integer(1)) for row in table.items("arrays")]
        key = table.text("key")
    except DataError as error:
        raise _damage_error(path, str(error.found or error.problem), "the table of its arrays") from None
    if len(rows) != len(_ARRAYS):
        _fail(path, None, f"{len(rows)} arrays", str(len(_ARRAYS)))
    arrays, start = dict[str, NDArray[Any]](), 0
    for (name, types), (dtype, length) in zip(_ARRAYS.items(), rows, strict=True):
        if not re.fullmatch(f"[<>|]({'|'.join(types)})", dtype):
            _fail(path, name, f"elements of type {dtype[:20]!r}", " or ".join(types))
        n_bytes = length * int(dtype[2:])
        if length < 0 or start + n_bytes > end - n_described:
            _fail(path, name, f"{length:,} elements", "elements within the file")
        arrays[name] = content[start : start + n_bytes].view(dtype)
        start += n_bytes + -n_bytes % _ALIGNMENT
    if start != end - n_described:
        _fail(path, None, f"arrays of {start:,} bytes", f"{end - n_described:,}")
    return content, key, arrays, content[size - _DIGEST_SIZE :].tobytes()


def _verify(path: Path, content: NDArray[np.uint8], arrays: Arrays) -> None:
    """Check the digest of a segment file, and that every number is in its range: no search can leave an array."""
    digest = hashlib.sha256(content[:-_DIGEST_SIZE].data).hexdigest()
    expected = content[-_DIGEST_SIZE:].tobytes().hex()
    if digest != expected:
        raise _damage_error(path, f"sha256 {digest[:16]}", expected[:16])
    lengths = {name: len(array) for name, array in arrays.items()}
    for name, length in {
        "term_offsets": lengths["term_keys"] + 1,
        "posting_offsets": lengths["term_keys"] + 1,
        "posting_codes": lengths["posting_sentences"],
        "code_lengths": lengths["code_counts"],
        "totals": 3,
        "sentence_offsets": lengths["places"] + 1,
        "input_offsets": lengths["input_starts"] + 1,
        "label_offsets": max(lengths["label_offsets"], 1),  # labels have no other array
    }.items():
        if lengths[name] != length:
            _fail(path, name, f"{lengths[name]:,} elements", f"{length:,}")
    n_sentences, n_with_terms, n_tokens = arrays["totals"].tolist()
    if n_sentences != lengths["places"] or not 0 <= n_with_terms <= n_sentences or n_tokens < n_with_terms:
        found = f"{n_sentences}, {n_with_terms}, {n_tokens}"
        _fail(path, "totals", found, f"the counts of {lengths['places']} sentences")
    for name in ("term", "posting", "sentence", "input", "label"):
        end = lengths["posting_sentences" if name == "posting" else f"{name}_data"]
        _check_offsets(path, f"{name}_offsets", arrays, end)
    for name in ("sentence", "input", "label"):
        _check_texts(path, name, arrays)
    _check_ascending(path, "term_keys", arrays["term_keys"])
    _check_range(path, "posting_sentences", arrays["posting_sentences"], 0, n_sentences)
    _check_posting_order(path, arrays["posting_sentences"], arrays["posting_offsets"])
    _check_codes(path, arrays, n_tokens)
    starts = arrays["input_starts"]
    _check_range(path, "input_starts", starts, 0, n_sentences)
    if starts[:1].any() or (np.diff(starts) <= 0).any() or (n_sentences and not len(starts)):
        _fail(path, "input_starts", "other starts", "0, then larger ones")
    _check_range(path, "places", arrays["places"], 1 - len(arrays["label_offsets"]), None)
    if any((part == 0).any() for part in _chunks(arrays["places"])):
        _fail(path, "places", "0", "a line from 1, or a label below 0")


def _check_offsets(path: Path, name: str, arrays: Arrays, end: int) -> None:
    offsets = arrays[name]
    if offsets[0] != 0 or offsets[-1] != end:
        _fail(path, name, f"offsets from {offsets[0]} to {offsets[-1]}", f"from 0 to {end}")
    _check_ascending(path, name, offsets)


def _check_ascending(path: Path, name: str, numbers: NDArray[Any]) -> None:
    if any((part[1:] < part[:-1]).any() for part in _chunks(numbers, overlap=1)):
        _fail(path, name, "a number below the one before", "ascending numbers")


def _check_range(path: Path, name: str, numbers: NDArray[Any], first: int, end: int | None) -> None:
    if not len(numbers):
        return
    least, most = int(numbers.min()), int(numbers.max())
    if least < first or (end is not None and most >= end):
        limits = f"from {first}" if end is None else f"from {first} to {end - 1}"
        _fail(path, name, str(least if least < first else most), limits)


def _check_texts(path: Path, name: str, arrays: Arrays) -> None:
    """Check that each text is UTF-8, which may spell lone surrogates."""
    data, offsets = arrays[f"{name}_data"], arrays[f"{name}_offsets"]
    start = 0
    while start < len(offsets) - 1:
        # Texts of about one chunk, at least one text.
        limit = np.searchsorted(offsets, int(offsets[start]) + _CHUNK, side="right")
        end = max(start + 1, min(int(limit) - 1, len(offsets) - 1))
        first, last = int(offsets[start]), int(offsets[end])
        block = data[first:last]
        begins = offsets[start:end].astype(np.int64) - first
        begins = begins[begins < len(block)]
        try:
            block.tobytes().decode("utf-8", "surrogatepass")
            whole = not (block[begins] & 0xC0 == 0x80).any()
        except UnicodeDecodeError:
            whole = False
        if not whole:
            _fail(path, f"{name}_data", f"other bytes between {first:,} and {last:,}", "UTF-8")
        start = end


def _check_posting_order(path: Path, sentences: NDArray[Any], offsets: NDArray[Any]) -> None:
    """Check that sentences ascend within each term."""
    start = 1
    for part in _chunks(sentences, overlap=1):
        falls = np.flatnonzero(part[1:] <= part[:-1]) + start
        if (offsets[np.searchsorted(offsets, falls)] != falls).any():
            _fail(path, "posting_sentences", "a sentence not above the one before", "ascending numbers in a term")
        start += len(part) - 1


def _check_codes(path: Path, arrays: Arrays, n_tokens: int) -> None:
    counts, lengths = arrays["code_counts"], arrays["code_lengths"]
    if len(counts) and (counts.min() < 1 or (lengths < counts).any()):
        _fail(path, "code_counts", "another count", "from 1 to the length of the sentence")
    _check_range(path, "posting_codes", arrays["posting_codes"], 0, len(counts))
    uses = np.zeros(len(counts), dtype=np.int64)
    for part in _chunks(arrays["posting_codes"]):
        uses += np.bincount(part, minlength=len(counts))
    found = int((uses * counts).sum())
    if found != n_tokens:
        _fail(path, "posting_codes", f"{found:,} tokens", f"{n_tokens:,}")


def _chunks(array: NDArray[Any], overlap: int = 0) -> Iterator[NDArray[Any]]:
    """Yield the parts of an array; each begins with the last `overlap` elements of the part before."""
    for start in range(0, len(array), _CHUNK):
        yield array[max(0, start - overlap) : start + _CHUNK]


def _fail(path: Path, field: str | None, found: str, expected: str) -> NoReturn:
    raise DataError(
        "not the arrays of a segment",
        source=str(path),
        field=field,
        found=found,
        expected=expected,
        hint=REPAIR_HINT,
    )


def _damage_error(path: Path, found: str, expected: str) -> DataError:
    return DataError(
        "changed since the index was built", source=str(path), found=found, expected=expected, hint=REPAIR_HINT
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
            f"{os.fspath(folder)}: {self.counts.sentences:,} sentences, {self.counts.tokens:,} tokens, "
            f"{self.n_terms:,} terms; {self.counts.text_bytes / 1e6:,.1f} MB of text, {n_bytes / 1e6:,.1f} MB on "
            f"disk; {self.analyzer_signature}; fingerprint {self.fingerprint[:8]}"
        )

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder, replacing an older one."""
        values = {"kind": _KIND, "format": INDEX_FORMAT, **asdict(self)}
        values["segments"] = [segment._asdict() for segment in self.segments]
        write_file(folder / MANIFEST, json.dumps({**values, _CHECKSUM: _hash_values(values)}, indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the manifest of a folder.

        Raises
        ------
        DataError
            It is missing or damaged, or has another version of the format.
        """
        path = folder / MANIFEST
        try:
            return cls._parse(Node(parse_json(read_text(path), str(path)), str(path)))
        except DataError as error:
            facts = {name: getattr(error, name) for name in ("where", "field", "found", "expected")}
            raise DataError(error.problem, source=str(path), hint=REBUILD_HINT, **facts) from None

    @classmethod
    def _parse(cls, node: Node) -> Self:
        for field, expected in (("kind", _KIND), ("format", INDEX_FORMAT)):
            if (found := node.get(field)) != expected:
                raise node.error(
                    "not a manifest of an index of this version",
                    field=field,
                    found=describe_value(found),
                    expected=repr(expected),
                )
        counts = node.child("counts")
        manifest = cls(
            node.text("analyzer"),
            node.text("analyzer_signature"),
            node.text("analyzer_sample"),
            tuple(_parse_segment(part) for part in node.items("segments")),
            node.text("fingerprint"),
            _parse_size(node, "n_terms"),
            IndexCounts(*(_parse_size(counts, f.name) for f in fields(IndexCounts))),
        )
        if not manifest.segments:
            raise node.error("no segments", field="segments", found="an empty list", expected="at least one")
        if node.text(_CHECKSUM) != _hash_values(node.value):
            raise node.error(
                "changed since it was written", found="other values", expected="the values of its checksum"
            )
        return manifest

    def check_analyzer(self, source: str, *, thoroughly: bool) -> Analyzer:
        """Return the analyzer of the index, after a check that it has not changed since the build.

        Parameters
        ----------
        source : str
            The index, as error messages name it.
        thoroughly : bool
            Whether to check what it makes of a sample text, too.

        Raises
        ------
        DataError
            It has changed since the index was built.
        """
        analyzer = get_analyzer(self.analyzer)
        now, then = analyzer.signature, self.analyzer_signature
        if now == then and thoroughly:
            now, then = _hash_sample(analyzer), self.analyzer_sample
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


def _parse_segment(node: Node) -> StoredSegment:
    name = node.text("name")
    if not re.fullmatch(r"segment-[0-9a-f]{24}\.bin", name):
        raise node.error(
            "not the name of a segment file", field="name", found=describe_value(name), expected=segment_name("…")
        )
    return StoredSegment(name, _parse_size(node, "size"), node.text("sha256"))


def _parse_size(node: Node, key: str) -> int:
    size = node.integer(key)
    if not 0 <= size < 2**63:
        expected = "a whole number from 0 to 2**63 - 1"
        raise node.error("not a size", field=key, found=describe_value(size), expected=expected)
    return size


def _hash_values(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != _CHECKSUM}
    return sha256_of_text(json.dumps(rest, sort_keys=True))


def _hash_sample(analyzer: Analyzer) -> str:
    return sha256_of_text(" ".join(analyzer.analyze(_SAMPLE)))[:16]


def read_folder(folder: Path, *, thoroughly: bool = False) -> tuple[Manifest, Analyzer, list[Arrays]]:
    """Open an index folder: its manifest, its analyzer, and the arrays of its segments.

    Parameters
    ----------
    folder : Path
    thoroughly : bool
        Whether to verify all files, and to compare all sentences with the manifest.

    Raises
    ------
    DataError
        There is no finished index; a file is missing or has changed; the index has another version, or its analyzer
        has changed.
    """
    if not os.path.exists(folder / MANIFEST):
        _refuse_folder(folder)
    manifest = Manifest.read(folder)
    analyzer = manifest.check_analyzer(str(folder), thoroughly=thoroughly)
    segments = open_segments(folder, manifest.segments, thoroughly=thoroughly)
    totals = sum((arrays["totals"] for arrays in segments), np.zeros(3, dtype=np.int64)).tolist()
    counts = manifest.counts
    _check_value(folder, "counts", [counts.sentences, counts.with_terms, counts.tokens], totals)
    if thoroughly:
        digest = hashlib.sha256()
        for arrays in segments:
            StoredTexts.of_arrays(arrays, "sentence").hash_into(digest)
        _check_value(folder, "fingerprint", manifest.fingerprint, digest.hexdigest())
    return manifest, analyzer, segments


def _check_value(folder: Path, field: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise DataError(
            "does not match the segment files",
            source=str(folder / MANIFEST),
            field=field,
            found=str(found),
            expected=str(expected),
            hint=REBUILD_HINT,
        )


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
