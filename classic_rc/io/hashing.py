"""The sha256 of bytes, texts, files and folders, in hex."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from classic_rc.errors import DataError
from classic_rc.io.files import open_regular

_BLOCK = 2**20
_IGNORED_NAMES = frozenset({"lock", "verified.json", ".DS_Store"})
"""Files that reading or viewing a folder can create. They do not change its hash."""


def sha256_of_bytes(data: bytes) -> str:
    """Return the hex sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_text(text: str) -> str:
    """Return the hex sha256 of a text in UTF-8.

    Lone surrogates, which JSON can spell, are encoded as they are.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_of_stream(stream: BinaryIO) -> str:
    """Return the hex sha256 of the rest of an open file, read block by block."""
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def sha256_of_listing(files: Iterable[tuple[str, str]]) -> str:
    """Return the hex sha256 of the lines ``"<sha256>  <path>"``, the output format of sha256sum.

    Parameters
    ----------
    files : iterable of (str, str)
        The path and the sha256 of each file.
    """
    return sha256_of_text("".join(f"{sha256}  {path}\n" for path, sha256 in files))


def sha256_of(path: str | Path) -> str:
    """Return the hex sha256 of a file or a folder.

    For a folder it is the sha256 of the lines ``"<sha256>  <path>"`` of its files, sorted by path.

    Raises
    ------
    DataError
        The file cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        files = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
        names = [name for name in sorted(files) if files[name].name not in _IGNORED_NAMES]
        return sha256_of_listing((name, sha256_of(files[name])) for name in names)
    try:
        with open_regular(path) as file:
            return sha256_of_stream(file)
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", source=str(path)) from None
