"""What gzip, bzip2 and xz packed, as a whole; members of zip archives by name."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zipfile

import pytest

from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.files import gzip_bytes, read_bytes, read_unpacked, unpack
from classic_rc.io.members import ZIP_ERRORS, read_zip_member
from tests.errors import raises

PACKERS = [gzip.compress, bz2.compress, lzma.compress]


def test_gzip_round_trip():
    assert gzip_bytes(b"text") == gzip_bytes(b"text")
    assert unpack(gzip_bytes(b"text"), "f") == b"text"


@pytest.mark.parametrize("pack", [bytes, *PACKERS])
def test_a_file_is_unpacked_by_its_first_bytes(tmp_path, pack):
    path = tmp_path / "f"
    path.write_bytes(pack(b"one\ntwo\n"))
    assert (read_bytes(path), read_unpacked(path)) == (path.read_bytes(), b"one\ntwo\n")


@pytest.mark.parametrize("pack", PACKERS)
def test_truncated_data_are_an_error(pack):
    with raises(
        DataError, source="f", problem=re.compile(r"damaged .*\(.+\)$"), hint=re.compile("complete")
    ):
        unpack(pack(b"text" * 99)[:-9], "f")


@pytest.mark.parametrize(
    "broken", [b"\x1f\x8bnone", gzip.compress(b"text", mtime=0) + b"more", b"BZhnone"]
)
def test_broken_data_are_an_error(broken):
    with raises(DataError, source="f", problem=re.compile(r"damaged .*\(.+\)$")):
        unpack(broken, "f")


@pytest.mark.parametrize("pack", PACKERS)
def test_no_more_than_the_limit_is_unpacked(monkeypatch, pack):
    monkeypatch.setattr(files, "MAX_INPUT", 10)
    assert unpack(pack(bytes(10)), "f") == bytes(10)
    with raises(DataError, source="f", found="more than 10 bytes", expected="at most 10 bytes"):
        unpack(pack(bytes(11)), "f")


def test_a_member_of_a_zip_archive(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/b", b"content")
    assert read_zip_member(path, "inner/b") == b"content"
    assert read_zip_member(path, "inner/b", 3) == b"con"
    with pytest.raises(KeyError):
        read_zip_member(path, "b")
    path.write_bytes(b"none")
    with pytest.raises(ZIP_ERRORS):
        read_zip_member(path, "inner/b")


_MORE = gzip.compress(b" more", mtime=0)


@pytest.mark.parametrize(
    "tail", [b"", bytes(3), _MORE, bytes(3) + _MORE], ids=["none", "zeros", "part", "both"]
)
def test_what_follows_the_first_part_of_gzip_data_counts(tail):
    packed = gzip.compress(b"text", mtime=0) + tail
    assert unpack(packed, "f") == gzip.decompress(packed)
