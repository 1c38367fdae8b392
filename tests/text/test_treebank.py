"""Treebank tokens, by sentence."""

from __future__ import annotations

import pytest

from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.treebank import blank_mctest_escapes
from tests.text.builders import texts_at

treebank, mcobzarenco = get_tokenizer("treebank"), get_tokenizer("mcobzarenco")


def test_each_sentence_loses_its_stop_to_a_token():
    assert treebank.tokenize("Mr. Fox ran. He can't stop.") == (
        ["Mr.", "Fox", "ran", ".", "He", "ca", "n't", "stop", "."]
    )


def test_rewritten_quotes_keep_their_places():
    text = "\"No,\" she said. ''Why?''"
    assert treebank.tokenize(text) == [
        "``",
        "No",
        ",",
        "''",
        "she",
        "said",
        ".",
        "''",
        "Why",
        "?",
        "''",
    ]
    places = texts_at(text, treebank.locate(text))
    assert places == ['"', "No", ",", '"', "she", "said", ".", "''", "Why", "?", "''"]


def test_contractions_are_two_tokens_at_two_places():
    text = "I cannot go."
    assert texts_at(text, treebank.locate(text)) == ["I", "can", "not", "go", "."]


@pytest.mark.parametrize("border", [r"\newline\newline", "\n\n", r"\tab"])
def test_mcobzarenco_takes_escapes_and_line_ends_for_blanks(border):
    text = f"He went{border}home. Then\\newline he slept."
    expected = ["He", "went", "home", ".", "Then", "he", "slept", "."]
    assert mcobzarenco.tokenize(text) == expected
    assert texts_at(text, mcobzarenco.locate(text)) == expected


def test_mcobzarenco_keeps_to_the_rules_of_its_time():
    assert treebank.tokenize("“Go”") == ["“", "Go", "”"]
    assert mcobzarenco.tokenize("“Go”") == ["“Go”"]


def test_escapes_become_as_many_blanks():
    assert blank_mctest_escapes(r"a\newline\tab\x") == "a" + 12 * " " + r"\x"
