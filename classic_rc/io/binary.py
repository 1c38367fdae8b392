"""Files that are not text: what each is, by its first bytes, and what to do with it."""

from __future__ import annotations

from typing import NamedTuple

from classic_rc.errors import DataError


class BinaryFormat(NamedTuple):
    """A format that this package does not read."""

    name: str
    advice: str


_TABLE = "Save the table as CSV (UTF-8), or as Parquet"
_TEXT = "Give the questions as JSON lines, CSV or Parquet"
_ROWS = "Load it in Python, and write its rows as JSON lines or Parquet, or give them to classic_rc.from_rows"
_UNPACK = "Unpack it, and give the file inside"

_STARTS = (
    (b"SQLite format 3\0", BinaryFormat("an SQLite database", "Export the table as CSV")),
    (b"%PDF-", BinaryFormat("a PDF document", _TEXT)),
    (b"\x89PNG\r\n", BinaryFormat("a PNG image", _TEXT)),
    (b"\xff\xd8\xff", BinaryFormat("a JPEG image", _TEXT)),
    (b"GIF8", BinaryFormat("a GIF image", _TEXT)),
    (b"RIFF", BinaryFormat("a WAV, AVI or WebP file", _TEXT)),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", BinaryFormat("an old Excel or Word file", _TABLE)),
    (b"\x93NUMPY", BinaryFormat("a NumPy array", _ROWS)),
    (b"\x89HDF\r\n\x1a\n", BinaryFormat("an HDF5 file", _ROWS)),
    (b"FEA1", BinaryFormat("a Feather file of version 1", "Read it with pandas, and write it as Parquet")),
    (b"ORC", BinaryFormat("an ORC file", "Write it as Parquet")),
    (b"Obj\x01", BinaryFormat("an Avro file", "Write it as Parquet or JSON lines")),
    (b"BZh", BinaryFormat("a file compressed with bzip2", _UNPACK)),
    (b"\xfd7zXZ\0", BinaryFormat("a file compressed with xz", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", BinaryFormat("a file compressed with zstd", _UNPACK)),
    (b"\x04\x22\x4d\x18", BinaryFormat("a file compressed with lz4", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", BinaryFormat("a 7z archive", _UNPACK)),
    (b"Rar!\x1a\x07", BinaryFormat("a RAR archive", _UNPACK)),
    (b"\x7fELF", BinaryFormat("a program", _TEXT)),
)
_TORCH = BinaryFormat("a file of PyTorch", _ROWS)
_NUMPY = BinaryFormat("NumPy arrays (npz)", _ROWS)
_OFFICE = b"[Content_Types].xml"
_ZIPS = (  # of a zip archive: what names of its members contain
    ((_OFFICE, b"xl/workbook"), BinaryFormat("an Excel workbook", _TABLE)),
    ((_OFFICE, b"word/document"), BinaryFormat("a Word document", _TEXT)),
    ((_OFFICE, b"ppt/presentation"), BinaryFormat("a PowerPoint file", _TEXT)),
    ((b"mimetypeapplication/vnd.oasis.opendocument",), BinaryFormat("an OpenDocument file", _TABLE)),
    ((b"/data.pkl", b"/version"), _TORCH),
)
_PICKLE = BinaryFormat("a pickle, which can run code when it is loaded", _ROWS)
_STOP = b"."  # the last byte of a pickle
_PROTOCOLS = (b"\x02", b"\x03", b"\x04", b"\x05")  # of pickle; the older ones are text
_NAME = 30  # where the name of a zip archive's first member is; its length is at 26
_SHOWN = 2**16  # bytes at both ends of a zip archive, where names of members are


def identify(data: bytes) -> BinaryFormat | None:
    r"""Return what a file is whose bytes are no text; None for formats that are not known here.

    A zip archive is None too, unless a program made it for itself: its members are read.

    Examples
    --------
    >>> identify(b"\x89PNG\r\n\x1a\n...").name
    'a PNG image'
    """
    if data.startswith(b"PK\x03\x04"):
        ends = data[:_SHOWN] + data[-_SHOWN:]
        first = data[_NAME : _NAME + int.from_bytes(data[26:28], "little")]
        if first.endswith(b".npy"):
            return _NUMPY
        return next((known for marks, known in _ZIPS if all(mark in ends for mark in marks)), None)
    if data[:1] == b"\x80" and data[1:2] in _PROTOCOLS and data.endswith(_STOP):
        return _TORCH if b"torch" in data[:_SHOWN] else _PICKLE
    return next((known for start, known in _STARTS if data.startswith(start)), None)


def binary_file_error(known: BinaryFormat, source: str) -> DataError:
    """Return the error for a file of such a format."""
    return DataError(
        "the file cannot be read",
        source=source,
        found=known.name,
        expected="text, Parquet or Arrow",
        hint=known.advice,
    )
