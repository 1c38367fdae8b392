"""Only control characters are escaped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.io.text import printable


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("plain text, 100 %", "plain text, 100 %"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x9b31m\x85", r"\x9b31m\x85"),
        ("a\nb\r\tc\x00", r"a\nb\r\tc\x00"),
        ("\u202eevil\u202c \u2066x\u2069", r"\u202eevil\u202c \u2066x\u2069"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("half \ud83d", r"half \ud83d"),
        ("é e\u0301 λόγος 日本　語 שלום العربية", "é e\u0301 λόγος 日本　語 שלום العربية"),
        ("👩\u200d💻 می\u200cخواهم a\u00adb", "👩\u200d💻 می\u200cخواهم a\u00adb"),
    ],
)
def test_control_characters_are_escaped(text, printed):
    assert printable(text) == printed


def test_characters_to_keep_are_not_escaped():
    assert printable("a\n\tb\x1b", keep="\n\t") == "a\n\tb\\x1b"


@given(st.text(st.characters()))
def test_the_result_is_harmless_and_stable(text):
    printed = printable(text)
    assert printable(printed) == printed
    assert "\x1b" not in printed
    assert len(printed.splitlines()) <= 1
    printed.encode("utf-8")
