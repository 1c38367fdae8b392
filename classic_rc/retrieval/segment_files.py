"""Opens the files of segments, each verified once per state of the file: layout, checksum, and ranges of values."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.io.hashing import sha256_of_text
from classic_rc.io.json import parse_json
from classic_rc.io.text import read_text
from classic_rc.retrieval.manifest import (
    ALIGNMENT,
    REBUILD_HINT,
    Arrays,
    StoredFile,
    check_stream,
    map_file,
    open_file,
    write_json,
)

VERIFIED = "verified.json"
"""The file that names the verified states of a large index's segment files. It may be removed at any time."""

_METHOD = "verified by method 1"
"""Changed with every change of what is verified, so that files are verified again."""

_NOTED_BYTES = 2**25
"""The size from which an index gets a file of verified states. Each process verifies smaller ones by itself."""

_SETTLED_NANOSECONDS = 2 * 10**9
"""The age from which a change of a file always alters its times: file systems count in steps of up to 2 seconds."""

_CHUNK = 2**20

_UNSIGNED = ("u1", "u2", "u4", "u8")
_ELEMENTS: Mapping[str, tuple[str, ...]] = {
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

_verified: dict[Path, str] = {}
"""The last verified state of each file that this process opened."""


def open_segment_files(
    folder: Path, files: Sequence[StoredFile], *, content_checked: bool = False
) -> list[dict[str, NDArray[Any]]]:
    """Return the arrays of each segment file, read-only and verified.

    A file is read as a whole the first time. After that it is read when it is used, for as long as its size, its
    times and its inode stay the same: this process remembers that, and so does the file :data:`VERIFIED` of a large
    index.

    Parameters
    ----------
    folder : Path
    files : sequence of StoredFile
    content_checked : bool
        Whether the caller has just compared the checksums.

    Raises
    ------
    DataError
        A file is missing, its content has changed, or its arrays are not those of a segment.
    """
    notes: dict[str, str] | None = None
    found, opened = dict[str, str](), []
    for stored in files:
        path = folder / stored.name
        with open_file(path) as file:
            arrays = map_file(path, file, stored)
            check_layout(path, stored)
            state = _describe_state(file, stored)
            if content_checked or _verified.get(path) != state:
                if notes is None:
                    notes = {} if content_checked else _read_notes(folder)
                if notes.get(stored.name) != state:
                    start = time.time_ns()
                    if not content_checked:
                        check_stream(path, file, stored)
                    # A mapping of its own: its pages leave the memory of the process with it.
                    check_values(path, map_file(path, file, stored))
                    if not content_checked and _is_settled(file, start):
                        found[stored.name] = _verified[path] = state
                else:
                    _verified[path] = state
        opened.append(arrays)
    if found and sum(stored.size for stored in files) >= _NOTED_BYTES:
        _write_notes(folder, {**(notes or {}), **found})
    return opened


def check_layout(path: Path, stored: StoredFile) -> None:
    """Check that a table describes the arrays of a segment: all of them, one after the other, of matching lengths.

    Raises
    ------
    DataError
        The table is not that of a segment file.
    """
    table = stored.arrays
    if missing := [name for name in _ELEMENTS if name not in table]:
        raise DataError("the array is missing", source=str(path), field=missing[0], hint=REBUILD_HINT)
    if unknown := [name for name in table if name not in _ELEMENTS]:
        raise DataError("not an array of a segment", source=str(path), field=unknown[0], hint=REBUILD_HINT)
    lengths = {name: array.length for name, array in table.items()}
    expected = {
        "term_offsets": lengths["term_keys"] + 1,
        "posting_offsets": lengths["term_keys"] + 1,
        "posting_codes": lengths["posting_sentences"],
        "code_lengths": lengths["code_counts"],
        "totals": 3,
        "sentence_offsets": lengths["places"] + 1,
        "input_offsets": lengths["input_starts"] + 1,
        # Labels have no other array: at least the offset 0 is there.
        "label_offsets": max(lengths["label_offsets"], 1),
    }
    start = 0
    for name, types in _ELEMENTS.items():
        dtype, length, offset = table[name]
        if not re.fullmatch(f"[<>|]({'|'.join(types)})", dtype):
            _fail(path, name, f"elements of type {dtype[:20]!r}", " or ".join(types))
        if length != expected.get(name, length):
            _fail(path, name, f"{length:,} elements", f"{expected[name]:,}")
        if offset != start:
            _fail(path, name, f"a start at byte {offset:,}", f"{start:,}")
        size = length * int(dtype[2:])
        start += size + -size % ALIGNMENT
    if start != stored.size:
        _fail(path, None, f"arrays of {start:,} bytes", f"{stored.size:,}, the size of the file")


def check_values(path: Path, arrays: Arrays) -> None:
    """Check that every number in the arrays of a segment is in its range, so that a search cannot leave an array.

    Raises
    ------
    DataError
        A number is not.
    """
    n_sentences, n_with_terms, n_tokens = arrays["totals"].tolist()
    n_expected = len(arrays["places"])
    if n_sentences != n_expected or not 0 <= n_with_terms <= n_sentences or n_tokens < n_with_terms:
        _fail(path, "totals", f"{n_sentences}, {n_with_terms}, {n_tokens}", f"the counts of {n_expected} sentences")
    targets = {"posting": "posting_sentences"}
    for name in ("term", "posting", "sentence", "input", "label"):
        _check_offsets(path, f"{name}_offsets", arrays, len(arrays[targets.get(name, f"{name}_data")]))
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
        hint=REBUILD_HINT,
    )


def _describe_state(file: BinaryIO, stored: StoredFile) -> str:
    """Return a hash of what identifies a file and its content."""
    status = os.fstat(file.fileno())
    times = status.st_mtime_ns, status.st_ctime_ns
    return sha256_of_text(repr((_METHOD, tuple(stored), status.st_size, *times, status.st_ino)))


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
    if not isinstance(notes, dict):
        return {}
    return {name: state for name, state in notes.items() if isinstance(state, str)}


def _write_notes(folder: Path, notes: Mapping[str, str]) -> None:
    with suppress(UsageError):  # this user may only read the folder
        write_json(folder / VERIFIED, dict(notes))
