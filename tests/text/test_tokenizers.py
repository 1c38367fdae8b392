"""What holds of every tokenizer, and the tokenizers that are a pattern."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.text.analyzers import TOKENIZERS, get_tokenizer

ANY = st.text(st.characters(exclude_categories=()))
WORDS = (
    "She|don’t|cannot|«Stop!»|\"No,\"|''|``|e\u0301te\u0301|3.5|1,000|half|past|to|three|with|and|hundred|\\newline"
    "|\n\n|U.S.|...|they'll|\0|中文|ภาษา|'|("
)
PROSE = st.lists(st.sampled_from(WORDS.split("|"))).map(" ".join)
TEXT = ANY | PROSE

every_tokenizer = pytest.mark.parametrize("name", TOKENIZERS)


@every_tokenizer
@settings(max_examples=60, deadline=None)
@given(text=TEXT)
def test_each_token_has_a_place_and_places_follow_each_other(name, text):
    tokens, places = TOKENIZERS[name].tokenize(text), TOKENIZERS[name].locate(text)
    assert len(tokens) == len(places)
    ends = [0, *(end for _, end in places)]
    assert all(before <= start < end <= len(text) for before, (start, end) in zip(ends, places, strict=False))
    assert all(not text[start].isspace() and not text[end - 1].isspace() for start, end in places)


@pytest.mark.parametrize("name", [name for name, tokenizer in TOKENIZERS.items() if tokenizer.blanks_separate])
@settings(max_examples=200, deadline=None)
@given(text=TEXT | st.lists(ANY | PROSE).map(" ".join))
def test_what_stands_between_blanks_can_be_tokenized_alone(name, text):
    tokenize = TOKENIZERS[name].tokenize
    assert tokenize(text) == [token for piece in text.split(" ") for token in tokenize(piece)]


@pytest.mark.parametrize("name", ["mctest", "whitespace"])
@given(text=TEXT)
def test_patterns_give_the_text_at_the_place(name, text):
    tokenizer = TOKENIZERS[name]
    assert tokenizer.tokenize(text) == [text[start:end] for start, end in tokenizer.locate(text)]


@pytest.mark.parametrize("name", ["word", "char"])
@given(text=TEXT)
def test_words_give_the_normalised_text_at_the_place(name, text):
    tokenizer = TOKENIZERS[name]
    found = [text[start:end] for start, end in tokenizer.locate(text)]
    assert tokenizer.tokenize(text) == [unicodedata.normalize("NFC", word).replace("’", "'") for word in found]


@pytest.mark.parametrize("name", ["treebank", "mcobzarenco"])
@settings(deadline=None)
@given(text=st.text("\"'`’“” a.,n't(\n-") | PROSE)
def test_treebank_gives_the_text_at_the_place_but_for_quotes(name, text):
    tokenizer = TOKENIZERS[name]
    for token, (start, end) in zip(tokenizer.tokenize(text), tokenizer.locate(text), strict=True):
        assert token == text[start:end] or (token in ("``", "''") and text[start:end] in ('"', "''"))


def test_mctest_separates_at_blanks_and_five_marks_only():
    text = 'Stop!" he (Bob) said: it\'s 3.5; no-one, "A?B".'
    expected = ['Stop!"', "he", "(Bob)", "said", "it's", "3", "5", "no-one", '"A', 'B"']
    assert get_tokenizer("mctest").tokenize(text) == expected


def test_mctest_takes_its_files_escapes_for_blanks():
    text = r"end.\newline\tab Start\newlines"
    tokenizer = get_tokenizer("mctest")
    assert tokenizer.tokenize(text) == ["end", "Start", "s"]
    assert [text[start:end] for start, end in tokenizer.locate(text)] == ["end", "Start", "s"]


def test_whitespace_keeps_punctuation():
    assert get_tokenizer("whitespace").tokenize(" a,b\u3000c.\n") == ["a,b", "c."]


def test_an_unknown_tokenizer_is_told_the_nearest():
    with pytest.raises(UsageError, match="unknown tokenizer 'tree-bank': did you mean 'treebank'"):
        get_tokenizer("tree-bank")


@every_tokenizer
def test_a_tokenizer_is_registered_under_its_name_and_described_in_a_sentence(name):
    tokenizer = TOKENIZERS[name]
    assert tokenizer.name == name
    assert tokenizer.description.endswith(".")
    assert tokenizer.citation.endswith(".")
