"""The tokens of MultiRC's released SurfaceLR."""

from __future__ import annotations

import pytest

from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.tokenizers import MultiRCTokenizer

tokenizer = MultiRCTokenizer()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Really? (Yes!) and/or: 3.50,", ["Really", "Yes", "and", "or", "3", "50"]),
        ("well-known; 10% [sic] #1 a&b", ["well-known;", "10%", "[sic]", "#1", "a&b"]),
        ('don\'t say "no"', ["don", "t", "say", "no"]),
        ("she said &quot;no&QUOT; twice", ["she", "said", "no", "twice"]),
        ("the dog’s “bone”…", ["the", "dog", "s", "bone"]),
        ("naïve Peña, Łódź", ["naive", "Pena", "Lodz"]),
        ("1939–45 — ten", ["1939-45", "--", "ten"]),
        ("£5 §3 20±1°", ["PS5", "SS3", "20+-1deg"]),
        ("soft\xadly blank\u2003space", ["softly", "blank", "space"]),
        ("", []),
        (" .,! ", []),
    ],
)
def test_tokens(text, tokens):
    assert tokenizer.tokenize(text) == tokens


def test_the_analyzer_lower_cases():
    assert get_analyzer("multirc2018").analyze("Æsop's FABLE") == ["aesop", "s", "fable"]


def test_places_cover_what_a_token_was_made_from():
    text = "Peña’s &quot;Æsop&quot; — £5…"
    places = tokenizer.locate(text)
    assert [text[start:end] for start, end in places] == ["Peña", "s", "Æsop", "—", "£5"]
    assert tokenizer.tokenize(text) == ["Pena", "s", "AEsop", "--", "PS5"]


def test_a_character_that_means_several_words_stays_in_one():
    assert tokenizer.tokenize("1¼ cups ℀") == ["11⁄4", "cups", "ac"]


def test_characters_of_other_scripts_are_dropped():
    assert tokenizer.tokenize("in 東京 today") == ["in", "today"]
