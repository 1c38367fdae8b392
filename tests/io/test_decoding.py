"""From bytes to text: encodings, line ends, and bytes that are neither."""

from __future__ import annotations

import codecs
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError
from classic_rc.io.text import decode, line_and_column

_TEXTS = st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=("Cs",)))


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
