"""Hashes of bytes, texts, files and folders."""

from __future__ import annotations

import hashlib
import re

from classic_rc.errors import DataError
from classic_rc.io.files import (
    sha256_of,
    sha256_of_bytes,
    sha256_of_listing,
    sha256_of_text,
)
from tests.errors import raises

_DATA = bytes(range(256)) * 5000
_KNOWN = hashlib.sha256(_DATA).hexdigest()


def test_bytes_and_files_hash_alike(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(_DATA)
    assert sha256_of_bytes(_DATA) == sha256_of(path) == sha256_of(str(path)) == _KNOWN


def test_a_text_hashes_as_utf8_with_lone_surrogates():
    assert sha256_of_text("é") == sha256_of_bytes(b"\xc3\xa9")
    assert sha256_of_text("\ud800") == sha256_of_bytes(b"\xed\xa0\x80")


def test_a_folder_hashes_as_sha256sum_lists_it(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("b", "a", "inner/c"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    listing = ""
    for name in ("a", "b", "inner/c"):
        listing += f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n"
    assert sha256_of(tmp_path) == hashlib.sha256(listing.encode()).hexdigest()
    assert sha256_of(tmp_path) == sha256_of_listing(
        (n, sha256_of_text(n)) for n in ("a", "b", "inner/c")
    )
    (tmp_path / "inner" / ".DS_Store").touch()
    (tmp_path / "lock").touch()
    assert sha256_of(tmp_path) == hashlib.sha256(listing.encode()).hexdigest()


def test_a_missing_file_raises_data_error(tmp_path):
    with raises(DataError, source=str(tmp_path / "none"), problem=re.compile("cannot be read")):
        sha256_of(tmp_path / "none")
