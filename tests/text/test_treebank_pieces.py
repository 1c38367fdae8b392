"""Counting Treebank tokens piece by piece gives what tokenizing whole sentences gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.text.treebank import TreebankCounter, TreebankTokenizer

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
