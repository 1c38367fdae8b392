"""DREAM's own tokens, bug by bug."""

from __future__ import annotations

import pytest

from classic_rc.text.dream import DreamTokenizer
from tests.text.builders import texts_at

dream = DreamTokenizer()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("W: Don't! (Really?)", ["W", ":", "Dont", "Really"]),
        ("well-known, at 3:30.", ["wellknown", "at", "3:30"]),
        ("I cannot", ["I", "can", "not"]),
        ("one hundred and five dollars", ["105", "dollars"]),
        ("two thousand three hundred", ["2300"]),
        ("the Twentieth and Third", ["the", "23"]),
        ("twenty-one", ["twentyone"]),
        # the bugs
        ("salt and pepper", ["salt", "0", "pepper"]),
        ("one two", ["3"]),
        ("with both in fiftieth month", ["wi", "bo", "in", "50", "mon"]),
        ("hundred", ["0"]),
        ("a th", ["a", "10"]),
        # times of day
        ("half past three", ["3:30"]),
        ("TEN TO 3", ["2:50"]),
        ("from ten to three", ["from", "2:50"]),
        ("quarter past 3", ["quarter", "past", "3"]),
        ("quater past 3", ["3:15"]),
        ("60 past 3", ["60", "past", "3"]),
        ("5 past 25", ["5", "past", "25"]),
        ("5 past 5 past 5", ["5:5", "past", "5"]),
        ("past 5", ["past", "5"]),
        ("5 past", ["5", "past"]),
        ("", []),
        ("?!", []),
    ],
)
def test_a_text_has_the_tokens_of_the_release(text, tokens):
    assert dream.tokenize(text) == tokens


def test_places_cover_what_a_token_was_made_from():
    text = "M: It's half past three, with one hundred and five."
    words = ["M", ":", "It's", "half past three", "wi", "one hundred and five"]
    assert texts_at(text, dream.locate(text)) == words


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("nineteen " + "hundred ninety " * 5_000, "19" + "90" * 5_000),
        ("one " + "hundred " * 5_000, "1" + "00" * 5_000),
        ("ninety " + "hundred and ten thousand " * 3, "9030000"),
        ("five thousand " * 5_000, "25000000"),
        ("zero hundred " * 10_000, "0"),
    ],
    ids=len,
)
def test_numbers_of_any_length_are_written(text, token):
    assert dream.tokenize(text) == [token]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1" * 5000 + " past 3", ["1" * 5000, "past", "3"]),
        ("5 to " + "9" * 5000, ["5", "to", "9" * 5000]),
        ("0" * 5000 + "5 past " + "0" * 5000 + "3", ["3:5"]),
        ("٣٠ past ٣", ["3:30"]),
    ],
    ids=len,
)
def test_times_have_numbers_of_thousands_of_digits(text, tokens):
    assert dream.tokenize(text) == tokens
