"""Lucene's tokens where they are difficult: joiners, and words of more than 255 UTF-16 units."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from classic_rc.text.lucene_english import LuceneEnglishTokenizer, _word_pattern
from tests.depth import examples
from tests.text.builders import texts_at

TOKENIZER = LuceneEnglishTokenizer()
JOINERS = "_\u202f\u203f\uff3f"
DIFFICULT = [
    *"aZ19.:;,'\" #é\u0301\u200d\u00ad\u200b\u0640",
    *JOINERS,
    *(
        "\u05d0",
        "\u05f3",
        "\u30a2",
        "\u3042",
        "\u4e00",
        "\u0e01",
        "\u0e02",
        "\u1019",
        "\ud55c",
        "\u066b",
        "\u0663",
    ),
    *(
        "\U0001f600",
        "\U0001f3fb",
        "\U0001f1e9",
        "\U0001f1ea",
        "#\ufe0f\u20e3",
        "\U00010437",
        "\U0001d7d8",
        "\ud800",
    ),
]


def n_units(text: str) -> int:
    """Return the length in UTF-16 units: two for a character above U+FFFF."""
    return sum(1 + (character > "\uffff") for character in text)


def is_joiners(word: str) -> bool:
    marks = {c for c in word if unicodedata.category(c) in ("Mn", "Mc", "Me", "Cf")}
    return word[0] in JOINERS and marks.issuperset(set(word).difference(JOINERS))


def specified(text: str) -> list[tuple[int, int]]:
    """Return the tokens by definition, slowly: at each place, the longest word among the next
    255 units.
    """
    words_found, place = [], 0
    while place < len(text):
        units = list(accumulate(map(n_units, text[place : place + 255])))
        match = _word_pattern().match(text, place, place + bisect_right(units, 255))
        if match is None or is_joiners(match[0]):
            place += 1
        else:
            words_found.append(match.span())
            place = match.end()
    return words_found


def check(text: str) -> None:
    expected = specified(text)
    assert TOKENIZER.locate(text) == expected, ascii(text)
    assert TOKENIZER.tokenize(text) == texts_at(text, expected)


@settings(max_examples=examples(66, 400))
@given(st.lists(st.sampled_from(DIFFICULT), max_size=40).map("".join))
@example("_a_ __ a__1 _\u0301_ _\u0301a \u200d_a")
@example("'_'a_'a")
def test_short_texts_of_difficult_characters_are_cut_as_specified(text):
    check(text)


@settings(max_examples=examples(12, 60))
@given(
    st.lists(st.sampled_from(DIFFICULT), min_size=1, max_size=4).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=250, max_size=330)
    )
)
def test_long_texts_of_few_difficult_characters_are_cut_as_specified(characters):
    check("".join(characters))


@pytest.mark.parametrize("joiner", JOINERS)
def test_joiners_alone_are_no_token(joiner):
    text = joiner * 10**5
    assert TOKENIZER.tokenize(text) == TOKENIZER.locate(text) == []
    assert TOKENIZER.tokenize(f"fox {text} den") == ["fox", "den"]


@pytest.mark.parametrize(
    ("n", "length"), [(3, 4), (254, 255), (255, 255), (300, 255), (10**5, 255)]
)
def test_a_word_keeps_as_many_joiners_before_its_letter_as_fit(n, length):
    text = "_" * n + "a"
    assert TOKENIZER.locate(text) == [(n + 1 - length, n + 1)]
    assert TOKENIZER.tokenize(text) == ["_" * (length - 1) + "a"]


@pytest.mark.parametrize(
    ("unit", "first"),
    [
        ("a", 255),
        ("\U00010437", 127),
        ("1.", 255),
        ("a'", 255),
        ("a\u0301", 255),
        ("\u0e01", 255),
        ("\u0640", 255),
    ],
)
def test_long_words_are_cut_after_255_units(unit, first):
    text = unit * 200_000 + "a"
    places = TOKENIZER.locate(text)
    assert places[0] == (0, first)
    assert sum(end - start for start, end in places) <= len(text)
    assert max(map(n_units, texts_at(text, places[:50]))) <= 255
    check(text[:900])
