"""gzip files as a whole, compressed streams of every kind, and members of zip archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile

import pytest

from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.compression import (
    STREAM_ERRORS,
    ZIP_ERRORS,
    gunzip,
    gzip_bytes,
    is_gzip,
    read_zip_member,
    unpack_stream,
)
from tests.errors import raises


def test_gzip_round_trip():
    packed = gzip_bytes(b"text")
    assert packed == gzip_bytes(b"text")
    assert (is_gzip(packed), is_gzip(b"text")) == (True, False)
    assert gunzip(packed, "f") == b"text"


@pytest.mark.parametrize(
    "broken", [gzip.compress(b"text", mtime=0)[:-3], b"\x1f\x8bnone", gzip.compress(b"text", mtime=0) + b"more"]
)
def test_broken_gzip_raises_data_error(broken):
    with raises(DataError, source="f", problem=re.compile(r"archive .*\(.+\)$")):
        gunzip(broken, "f")
    with raises(DataError, source="f", problem=re.compile(r"^it cannot be unpacked \(.+\)$")):
        gunzip(broken, "f", "it cannot be unpacked")


def test_no_more_than_the_limit_is_unpacked(monkeypatch):
    monkeypatch.setattr(files, "MAX_INPUT", 10)
    assert gunzip(gzip_bytes(bytes(10)), "f") == bytes(10)
    with raises(DataError, source="f", found="more than 10 bytes", expected="at most 10 bytes"):
        gunzip(gzip_bytes(bytes(11)), "f")


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_stream_is_unpacked_by_its_first_bytes(pack):
    assert unpack_stream(io.BufferedReader(io.BytesIO(pack(b"one\ntwo\n")))).readlines() == [b"one\n", b"two\n"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_truncated_stream_raises_one_of_the_errors(pack):
    stream = unpack_stream(io.BufferedReader(io.BytesIO(pack(b"text" * 99)[:-9])))
    with pytest.raises(STREAM_ERRORS):
        stream.read()


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


@pytest.mark.parametrize("tail", [b"", bytes(3), _MORE, bytes(3) + _MORE], ids=["none", "zeros", "part", "both"])
def test_what_follows_the_first_part_of_gzip_data_counts(tail):
    packed = gzip.compress(b"text", mtime=0) + tail
    assert gunzip(packed, "f") == gzip.decompress(packed)
