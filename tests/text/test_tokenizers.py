"""Properties of every tokenizer, and the tokenizers made of a pattern, in any script."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.text.analyzers import TOKENIZERS, get_analyzer, get_tokenizer
from classic_rc.text.tokenizers import (
    WORD_LENGTH,
    CharTokenizer,
    MultiRCTokenizer,
    WordTokenizer,
    unspaced_share,
)
from tests.depth import examples
from tests.errors import raises
from tests.text.builders import texts_at

ANY = st.text(st.characters(exclude_categories=()))
WORDS = (
    "She|don’t|cannot|«Stop!»|\"No,\"|''|``|e\u0301te\u0301|3.5|1,000|half|past|to|three|with|and|hundred|\\newline"
    "|\n\n|U.S.|...|they'll|\0|中文|他来到了北京大学|\uf900\u0344更|ภาษา|'|("
)
PROSE = st.lists(st.sampled_from(WORDS.split("|"))).map(" ".join)
TEXT = ANY | PROSE

every_tokenizer = pytest.mark.parametrize("name", TOKENIZERS)


@every_tokenizer
@settings(max_examples=examples(10, 60))
@given(text=TEXT)
def test_each_token_has_a_place_and_places_follow_each_other(name, text):
    tokens, places = TOKENIZERS[name].tokenize(text), TOKENIZERS[name].locate(text)
    assert len(tokens) == len(places)
    previous_end = 0
    for start, end in places:
        assert previous_end <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end]
        previous_end = end


SEPARATED = [name for name, tokenizer in TOKENIZERS.items() if tokenizer.separators]
ASCII = st.text(st.characters(max_codepoint=127), max_size=3)
TRICKY = st.text(
    st.sampled_from("aZ09 .,'’\"\\:;_-#*=<אע\u0301\u0338\u200d\ufe0f\u20e3😀🇩ΣİſK٣、カ\ud83d"),
    max_size=6,
)
SIDE = st.lists(ANY | PROSE | ASCII | TRICKY, max_size=4).map("".join)


def test_blanks_are_among_the_separators():
    assert all(" " in TOKENIZERS[name].separators for name in SEPARATED)


@every_tokenizer
def test_separators_and_joiners_are_distinct_marks_of_ascii(name):
    separators, joiners = TOKENIZERS[name].separators, TOKENIZERS[name].joiners
    assert set(separators).isdisjoint(joiners)
    assert (separators + joiners).isascii()
    assert not any(map(str.isalnum, separators + joiners))


@pytest.mark.parametrize("name", SEPARATED)
@settings(max_examples=examples(66, 400))
@given(data=st.data(), before=SIDE, after=SIDE)
def test_both_sides_of_a_separator_can_be_tokenized_by_themselves(name, data, before, after):
    tokenize, separators = TOKENIZERS[name].tokenize, TOKENIZERS[name].separators
    separator = data.draw(st.sampled_from(separators))
    assert tokenize(before + separator + after) == tokenize(before) + tokenize(after)


@pytest.mark.parametrize("name", SEPARATED)
@given(
    word=st.text(st.sampled_from("aZ09"), min_size=1, max_size=8),
    length=st.integers(1, WORD_LENGTH - 1),
)
def test_a_short_word_of_ascii_letters_and_digits_is_one_token(name, word, length):
    word = (word * length)[:length]
    assert TOKENIZERS[name].tokenize(word) == [word]


@pytest.mark.parametrize("name", [name for name in SEPARATED if TOKENIZERS[name].joiners])
@settings(max_examples=examples(66, 400))
@given(data=st.data(), left=SIDE, right=SIDE)
def test_a_joiner_separates_unless_a_neighbour_joins(name, data, left, right):
    tokenize, joiners = TOKENIZERS[name].tokenize, TOKENIZERS[name].joiners
    before, after = (data.draw(st.characters(max_codepoint=127)) for _ in "ba")
    assume(not (before.isalnum() and after.isalnum()))
    joiner = data.draw(st.sampled_from(joiners))
    left, right = left + before, after + right
    assert tokenize(left + joiner + right) == tokenize(left) + tokenize(right)


@pytest.mark.parametrize("name", SEPARATED)
@settings(max_examples=examples(33, 200))
@given(text=TEXT | st.lists(ANY | PROSE).map(" ".join))
def test_text_between_blanks_can_be_tokenized_by_itself(name, text):
    tokenize = TOKENIZERS[name].tokenize
    assert tokenize(text) == [token for piece in text.split(" ") for token in tokenize(piece)]


@pytest.mark.parametrize("name", ["mctest", "whitespace"])
@given(text=TEXT)
def test_patterns_give_the_text_at_the_place(name, text):
    tokenizer = TOKENIZERS[name]
    assert tokenizer.tokenize(text) == texts_at(text, tokenizer.locate(text))


@pytest.mark.parametrize("name", ["word", "char", "jieba"])
@given(text=TEXT)
def test_words_give_the_normalised_text_at_the_place(name, text):
    tokenizer = TOKENIZERS[name]
    words = texts_at(text, tokenizer.locate(text))
    assert tokenizer.tokenize(text) == [
        unicodedata.normalize("NFC", word).replace("’", "'") for word in words
    ]


@pytest.mark.parametrize("name", ["treebank", "mcobzarenco"])
@given(text=st.text("\"'`’“” a.,n't(\n-") | PROSE)
def test_treebank_gives_the_text_at_the_place_but_for_quotes(name, text):
    tokenizer = TOKENIZERS[name]
    written = texts_at(text, tokenizer.locate(text))
    for token, word in zip(tokenizer.tokenize(text), written, strict=True):
        if token in ("``", "''"):
            assert word in (token, '"', "''")
        else:
            assert token == word


def test_clitics_are_cut_off_and_negations_are_words():
    tokenizer = get_tokenizer("clitics")
    text = "She’s sure they can't, CANNOT or won't; 'tis o'clock: don't we've n't 's"
    tokens = texts_at(text, tokenizer.locate(text))
    assert tokens == "She sure they ca n't CANNOT or wo n't tis o'clock do n't we n't s".split()
    words = "she sure they can not not or will not tis o'clock do not we not s"
    assert [tokenizer.normalize(token, True) for token in tokenizer.tokenize(text)] == words.split()


@pytest.mark.parametrize(
    ("word", "digits"), [("Seven", "7"), ("fourth", "4"), ("hundred", "100"), ("seventh", "7")]
)
def test_clitics_counts_number_words_as_digits(word, digits):
    assert get_tokenizer("clitics").normalize(word, False) == digits


def test_mctest_separates_at_blanks_and_five_marks_only():
    text = 'Stop!" he (Bob) said: it\'s 3.5; no-one, "A?B".'
    expected = ['Stop!"', "he", "(Bob)", "said", "it's", "3", "5", "no-one", '"A', 'B"']
    assert get_tokenizer("mctest").tokenize(text) == expected


def test_mctest_takes_its_files_escapes_for_blanks():
    text = r"end.\newline\tab Start\newlines"
    tokenizer = get_tokenizer("mctest")
    assert tokenizer.tokenize(text) == ["end", "Start", "s"]
    assert texts_at(text, tokenizer.locate(text)) == ["end", "Start", "s"]


def test_whitespace_keeps_punctuation():
    assert get_tokenizer("whitespace").tokenize(" a,b\u3000c.\n") == ["a,b", "c."]


def test_an_unknown_tokenizer_is_answered_with_the_nearest():
    with raises(UsageError, field="tokenizer", found="tree-bank", expected=re.compile("^treebank")):
        get_tokenizer("tree-bank")


@every_tokenizer
def test_a_tokenizer_is_registered_under_its_name_and_described_in_a_sentence(name):
    tokenizer = TOKENIZERS[name]
    assert tokenizer.name == name
    assert tokenizer.description.endswith(".")
    assert tokenizer.citation.endswith(".")


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
def test_words_keep_their_apostrophes_and_marks(text, tokens):
    assert word.tokenize(text) == tokens


@given(st.text(st.characters(max_codepoint=127)) | st.text("ab'3.,’_ "))
def test_the_pattern_for_ascii_finds_the_same_words(text):
    assert word.tokenize(text.replace("’", "'")) == word.tokenize(f"{text} é")[:-1]


@pytest.mark.parametrize("tokenizer", [word, char])
@given(text=st.text() | st.text("aé'’3.\u0301\u0327カ゚ハ゜\u3099가각ก็中≠"))
def test_composed_and_decomposed_text_have_the_same_words(tokenizer, text):
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert tokenizer.tokenize(composed) == tokenizer.tokenize(decomposed)
    assert len(tokenizer.locate(composed)) == len(tokenizer.locate(decomposed))


def test_places_are_those_of_the_text_as_given():
    text = "cafe\u0301 don’t"
    assert texts_at(text, word.locate(text)) == ["cafe\u0301", "don’t"]


def test_every_combining_mark_is_part_of_its_word():
    characters = map(chr, range(sys.maxunicode + 1))
    marks = [c for c in characters if unicodedata.category(c).startswith("M")]
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
def test_unspaced_scripts_are_cut_by_character(text, tokens):
    assert char.tokenize(text) == tokens


@given(st.text(st.characters(max_codepoint=0x7FF)))
def test_other_scripts_have_the_same_words_by_character(text):
    assert char.tokenize(text) == word.tokenize(text)


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        ([], 0.0),
        ([""], 0.0),
        (["plain"], 0.0),
        (["été"], 0.0),
        (["中文。!"], 1.0),
        (["中文", "ab"], 0.5),
    ],
)
def test_the_share_of_unspaced_script_counts_letters_and_digits(texts, share):
    assert unspaced_share(iter(texts)) == share


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
def test_a_text_has_the_tokens_of_multirc(text, tokens):
    assert tokenizer.tokenize(text) == tokens


def test_the_analyzer_of_multirc_lower_cases():
    assert get_analyzer("multirc2018").analyze("Æsop's FABLE") == ["aesop", "s", "fable"]


def test_places_cover_what_a_token_was_made_from():
    text = "Peña’s &quot;Æsop&quot; — £5…"
    places = tokenizer.locate(text)
    assert texts_at(text, places) == ["Peña", "s", "Æsop", "—", "£5"]
    assert tokenizer.tokenize(text) == ["Pena", "s", "AEsop", "--", "PS5"]


def test_a_character_that_means_several_words_stays_in_one():
    assert tokenizer.tokenize("1¼ cups ℀") == ["11⁄4", "cups", "ac"]


def test_characters_of_other_scripts_are_dropped():
    assert tokenizer.tokenize("in 東京 today") == ["in", "today"]


MARKS = "\u0f71\u0f72\u0f73\u0344\u0301\u0316\u0323\u09be\u20dd\u200d"


@settings(max_examples=examples(33, 200))
@given(st.lists(st.sampled_from([*MARKS] * 6 + [*"eé각 "]), max_size=120).map("".join))
def test_words_with_long_runs_of_marks_are_normalised(text):
    assert word.tokenize(text) == word.tokenize(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("tokenizer", [WordTokenizer(), CharTokenizer()], ids=str)
def test_a_run_of_many_marks_out_of_order_is_normalised(tokenizer):
    n = 200_000
    token = "é" + "\u0316" * n + "\u0301" * (n - 1)
    assert tokenizer.tokenize("e" + "\u0301\u0316" * n) == [token]
