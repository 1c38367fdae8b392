"""From bytes to text: encodings, line ends, and invalid bytes."""

from __future__ import annotations

import codecs
import contextlib
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError, UsageError
from classic_rc.io.files import read_bytes
from classic_rc.io.text import decode_text, line_and_column, read_text, write_atomically, write_file
from tests.errors import raises

_TEXTS = st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"]))


@given(_TEXTS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_encoding_and_line_end_gives_the_same_text(text, end):
    ended = text.replace("\n", end)
    assert decode_text(ended.encode("utf-8"), "f") == text
    assert decode_text(codecs.BOM_UTF8 + ended.encode("utf-8"), "f") == text
    assert decode_text(codecs.BOM_UTF16_LE + ended.encode("utf-16-le"), "f") == text
    assert decode_text(codecs.BOM_UTF16_BE + ended.encode("utf-16-be"), "f") == text


@pytest.mark.parametrize(
    ("data", "where", "found_text", "expected"),
    [
        (b"one\r\ntwo \xe9t\xe9", "byte offset 9 (line 2)", "the byte 0xe9", "UTF-8 text"),
        (b"\xef\xbb\xbfa\n\xff", "byte offset 5 (line 2)", "the byte 0xff", "UTF-8 text"),
        (b"\xff\xfea\0\n\0\x00\xd8", "byte offset 6 (line 2)", "the byte 0x00", "UTF-16-LE text"),
        (b"\xff\xfea\0b", "byte offset 4 (line 1)", "the byte 0x62", "UTF-16-LE text"),
        (
            "ab".encode("utf-16-le"),
            "byte offset 1 (line 1)",
            "a NUL character",
            re.compile("UTF-16"),
        ),
        (
            "\ufeffab".encode("utf-32-le"),
            "byte offset 2 (line 1)",
            "a NUL character",
            re.compile("UTF-16"),
        ),
        (b"\x80\x04\x95", None, "a Python pickle", "UTF-8 text"),
        (b"\x93NUMPY\x01", None, "a NumPy array", "UTF-8 text"),
        (b"\x81a", "byte offset 0 (line 1)", "the byte 0x81", "UTF-8 text"),
    ],
)
def test_invalid_bytes_have_an_offset(data, where, found_text, expected):
    with raises(DataError, source="f", where=where, found=found_text, expected=expected):
        decode_text(data, "f")


@given(st.binary())
def test_random_bytes_are_text_or_raise_data_error(data):
    with contextlib.suppress(DataError):
        assert not {"\r", "\0"} & set(decode_text(data, "f"))


def test_line_and_column_count_from_one():
    assert [line_and_column("a\nbc", i) for i in range(5)] == [
        "line 1 column 1",
        "line 1 column 2",
        "line 2 column 1",
        "line 2 column 2",
        "line 2 column 3",
    ]


def test_a_file_is_read_as_bytes_and_as_text(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"one\r\n")
    assert (read_bytes(path), read_text(str(path))) == (b"one\r\n", "one\n")
    for read in (read_bytes, read_text):
        with raises(DataError, source=str(tmp_path / "none"), problem=re.compile("cannot be read")):
            read(tmp_path / "none")


def test_a_file_is_replaced_and_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_file(tmp_path / "link", "né\n")
    assert (tmp_path / "real").read_bytes() == b"n\xc3\xa9\n"
    write_atomically(tmp_path / "new", b"\0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "real"]


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with raises(UsageError, field="path", found=str(tmp_path / "none" / "f")):
        write_file(tmp_path / "none" / "f", "text")
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "f", "text")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
