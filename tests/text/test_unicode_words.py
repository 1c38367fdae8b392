"""Words of any script."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.text.tokenizers import CharTokenizer, WordTokenizer, _word_pattern, unspaced_share

word, char = WordTokenizer(), CharTokenizer()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't, o'clock; the dogs' 'tis", ["Don't", "o'clock", "the", "dogs", "tis"]),
        ("l’été it’s", ["l'été", "it's"]),
        ("3.5 1,000.25 1. ,2 v1.x a.b", ["3.5", "1,000.25", "1", "2", "v1", "x", "a", "b"]),
        ("snake_case well-known A&B", ["snake", "case", "well", "known", "A", "B"]),
        ("e\u0301te\u0301", ["été"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("Ω \u2126 x²", ["Ω", "Ω", "x²"]),
        ("3'a a'3", ["3", "a", "a", "3"]),
        ("क्या'क", ["क्या'क"]),
        ("日本語です。", ["日本語です"]),
        ("\u0301 ---", []),
    ],
)
def test_words(text, tokens):
    assert word.tokenize(text) == tokens


@given(st.text(st.characters(max_codepoint=127)) | st.text("ab'3.,’_ "))
def test_the_pattern_for_ascii_finds_the_same_words(text):
    assert word.tokenize(text) == _word_pattern().findall(text.replace("’", "'"))


@pytest.mark.parametrize("tokenizer", [word, char])
@given(text=st.text() | st.text("aé'’3.\u0301\u0327カ゚ハ゜\u3099가각ก็中≠"))
def test_composed_and_decomposed_text_have_the_same_words(tokenizer, text):
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert tokenizer.tokenize(composed) == tokenizer.tokenize(decomposed)
    assert len(tokenizer.locate(composed)) == len(tokenizer.locate(decomposed))


def test_places_are_those_of_the_text_as_given():
    text = "cafe\u0301 don’t"
    assert [text[start:end] for start, end in word.locate(text)] == ["cafe\u0301", "don’t"]


def test_every_combining_mark_is_part_of_its_word():
    marks = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M"]
    split = [mark for mark in marks if len(word.tokenize(f"x{mark}y")) != 1]
    assert len(marks) > 2000
    assert split == []


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我爱 Pekingオペラ 3.5", ["我", "爱", "Peking", "オ", "ペ", "ラ", "3.5"]),
        ("ハ\u309aン", ["パ", "ン"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("don't 한국어", ["don't", "한국어"]),
        ("「中」。", ["中"]),
    ],
)
def test_unspaced_scripts_by_character(text, tokens):
    assert char.tokenize(text) == tokens


@given(st.text(st.characters(max_codepoint=0x7FF)))
def test_other_scripts_have_the_same_words_by_character(text):
    assert char.tokenize(text) == word.tokenize(text)


@pytest.mark.parametrize(
    ("texts", "share"),
    [([], 0.0), ([""], 0.0), (["plain"], 0.0), (["été"], 0.0), (["中文。!"], 1.0), (["中文", "ab"], 0.5)],
)
def test_the_share_of_unspaced_script_counts_letters_and_digits(texts, share):
    assert unspaced_share(iter(texts)) == share
