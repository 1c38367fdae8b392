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
from classic_rc.io import text
from classic_rc.io.text import decode, line_and_column, read_bytes, read_text, write_file, write_whole

_TEXTS = st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"]))


@given(_TEXTS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_encoding_and_line_end_gives_the_same_text(text, end):
    ended = text.replace("\n", end)
    assert decode(ended.encode("utf-8"), "f") == text
    assert decode(codecs.BOM_UTF8 + ended.encode("utf-8"), "f") == text
    assert decode(codecs.BOM_UTF16_LE + ended.encode("utf-16-le"), "f") == text
    assert decode(codecs.BOM_UTF16_BE + ended.encode("utf-16-be"), "f") == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"one\r\ntwo \xe9t\xe9", r"f, byte offset 9 \(line 2\): .* found the byte 0xe9, expected UTF-8 text"),
        (b"\xef\xbb\xbfa\n\xff", r"byte offset 5 \(line 2\)"),
        (b"\xff\xfea\0\n\0\x00\xd8", r"byte offset 6 \(line 2\)"),
        (b"\xff\xfea\0b", r"byte offset 4 \(line 1\)"),
        ("ab".encode("utf-16-le"), r"byte offset 1 \(line 1\): .* found a NUL character"),
        ("\ufeffab".encode("utf-32-le"), r"byte offset 2 \(line 1\): .* found a NUL character"),
        (b"\x80\x04\x95", r"byte offset 0 \(line 1\)"),
    ],
)
def test_other_bytes_are_one_error_with_their_offset(data, message):
    with pytest.raises(DataError, match=message):
        decode(data, "f")


@given(st.binary())
def test_any_bytes_are_text_or_one_error(data):
    with contextlib.suppress(DataError):
        assert not {"\r", "\0"} & set(decode(data, "f"))


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
        with pytest.raises(DataError, match="cannot be read") as caught:
            read(tmp_path / "none")
        assert caught.value.source == str(tmp_path / "none")


def test_a_file_is_replaced_as_a_whole_and_a_link_is_followed(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_file(tmp_path / "link", "né\n")
    assert (tmp_path / "real").read_bytes() == b"n\xc3\xa9\n"
    write_whole(tmp_path / "new", b"\0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "real"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=re.escape(f"cannot write {tmp_path / 'none' / 'f'}: ")):
        write_file(tmp_path / "none" / "f", "text")
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "none" / "f", "text")

    def refuse(old, new):
        refused.append(new)
        raise PermissionError(13, "in use")

    refused = []
    monkeypatch.setattr(text.os, "replace", refuse)
    monkeypatch.setattr(text, "_RETRY_DELAYS", (0.0, 0.0, 0.0))
    (tmp_path / "f").write_bytes(b"old")
    with pytest.raises(UsageError, match="in use"):
        write_file(tmp_path / "f", "text")
    assert refused == [tmp_path / "f"] * 3
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_written_into_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
