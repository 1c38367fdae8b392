"""Treebank tokens, by sentence and by piece."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.treebank import TreebankCounter, TreebankTokenizer, blank_mctest_escapes

treebank, mcobzarenco = get_tokenizer("treebank"), get_tokenizer("mcobzarenco")


def test_each_sentence_loses_its_stop_to_a_token():
    assert treebank.tokenize("Mr. Fox ran. He can't stop.") == (
        ["Mr.", "Fox", "ran", ".", "He", "ca", "n't", "stop", "."]
    )


def test_rewritten_quotes_keep_their_places():
    text = "\"No,\" she said. ''Why?''"
    assert treebank.tokenize(text) == ["``", "No", ",", "''", "she", "said", ".", "''", "Why", "?", "''"]
    places = [text[start:end] for start, end in treebank.locate(text)]
    assert places == ['"', "No", ",", '"', "she", "said", ".", "''", "Why", "?", "''"]


def test_contractions_are_two_tokens_at_two_places():
    text = "I cannot go."
    assert [text[start:end] for start, end in treebank.locate(text)] == ["I", "can", "not", "go", "."]


@pytest.mark.parametrize("border", [r"\newline\newline", "\n\n", r"\tab"])
def test_mcobzarenco_takes_escapes_and_line_ends_for_blanks(border):
    text = f"He went{border}home. Then\\newline he slept."
    expected = ["He", "went", "home", ".", "Then", "he", "slept", "."]
    assert mcobzarenco.tokenize(text) == expected
    assert [text[start:end] for start, end in mcobzarenco.locate(text)] == expected


def test_mcobzarenco_keeps_to_the_rules_of_its_time():
    assert treebank.tokenize("“Go”") == ["“", "Go", "”"]
    assert mcobzarenco.tokenize("“Go”") == ["“Go”"]


def test_escapes_become_as_many_blanks():
    assert blank_mctest_escapes(r"a\newline\tab\x") == "a" + 12 * " " + r"\x"


WHOLE = TreebankTokenizer()
HARD = [
    'He said, "Stop!" and left.',
    '"Yes." "No."',
    "She can't. They won't' . He'd've gone.",
    "''Quoted'' at the start.",
    "The dogs' bowl. 'Tis gonna rain; gimme cannot.",
    'A stop before closers." ) ]',
    "It ends in dots... Then one more. . .",
    "U.S. (see p. 5), 3,000.50, a:b a: b , c",
    "No stop",
    "?",
    '"',
    ".",
    "",
    "   ",
    "two  blanks\tand\na line's end.",
    "\ue000 alone, and in\ue000side.",
    "«Oui», said – or — he ‘s “fine”.",
]
TEXTS = st.lists(st.text(alphabet="ab X'\"`.,:;?!)(]-\n\t“”’ln\ue000t5", max_size=40), max_size=6)


def check(texts):
    lengths, vocabulary = TreebankCounter().count(texts)
    tokens = [WHOLE.tokenize(text) for text in texts]
    assert lengths.tolist() == list(map(len, tokens))
    assert vocabulary == {token for own in tokens for token in own}


def test_hard_sentences():
    check(HARD)


@given(TEXTS)
def test_any_text(texts):
    check(texts)


def test_what_was_counted_before_changes_nothing():
    counter = TreebankCounter()
    first = counter.count(HARD)
    again = counter.count(HARD[::-1])
    assert np.array_equal(first[0][::-1], again[0])
    assert first[1] == again[1]
    assert counter.count(["a b."])[1] == {"a", "b", "."}


def test_real_articles(shared_data):
    from classic_rc.datasets import load

    dataset = load(shared_data / "race" / "RACE-train-dev.tar.gz", split="dev", subset="middle")
    check([passage.text for passage in dataset.passages[:60]] + [q.text for q in dataset[:200]])


@pytest.mark.parametrize("texts", [[], [""]])
def test_nothing(texts):
    lengths, vocabulary = TreebankCounter().count(texts)
    assert lengths.tolist() == [0] * len(texts)
    assert vocabulary == frozenset()
