"""A corpus of texts as two arrays, and its fingerprint."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.retrieval.texts import StoredTexts, fingerprint, update_fingerprint

TEXTS = st.lists(st.text(st.characters(exclude_categories=()), max_size=8), max_size=12)


@given(TEXTS)
def test_texts_come_back_as_they_were(texts):
    stored = StoredTexts.of(texts)
    assert list(stored) == texts
    assert len(stored) == len(texts)


@given(TEXTS, st.slices(12))
def test_slices_are_those_of_a_list(texts, where):
    assert list(StoredTexts.of(texts)[where]) == texts[where]


def test_a_position_out_of_range_is_an_error():
    texts = StoredTexts.of(["a", "b"])
    assert texts[-1] == "b"
    for outside in (2, -3):
        with pytest.raises(IndexError):
            texts[outside]


@given(TEXTS, TEXTS)
def test_fingerprints_are_equal_where_the_texts_are(texts, other_texts):
    assert (fingerprint(texts) == fingerprint(other_texts)) == (texts == other_texts)


@given(TEXTS, TEXTS)
def test_fingerprints_can_be_continued(first, then):
    digest = hashlib.sha256()
    StoredTexts.of(first).hash_into(digest)
    for text in then:
        update_fingerprint(digest, text)
    assert digest.hexdigest() == fingerprint(first + then)


@given(
    TEXTS, st.slices(12), st.sampled_from(["\0", "a", "é", "\ufffd", "東", "\ud800", "\U0001f600"])
)
def test_texts_with_a_character_are_counted(texts, where, character):
    texts = [*texts, f"a{character}{character}", character]
    n_with = sum(character in text for text in texts[where])
    assert StoredTexts.of(texts)[where].count_with(character) == n_with


def test_many_texts_of_all_lengths_come_back_and_hash_as_one_by_one():
    texts = [("é" if number % 7 == 0 else "e") * (number % 11) for number in range(10_000)]
    stored, digest = StoredTexts.of(texts), hashlib.sha256()
    for text in texts:
        update_fingerprint(digest, text)
    assert list(stored) == texts == [stored[i] for i in range(len(texts))]
    assert list(stored.coded()) == [text.encode() for text in texts]
    assert list(stored[9:9000]) == texts[9:9000]
    assert fingerprint(texts) == digest.hexdigest()


def test_the_fingerprint_is_that_of_lengths_and_bytes():
    expected = hashlib.sha256(b"\x04\0\0\0\0\0\0\0Zo\xc3\xab" + b"\0" * 8).hexdigest()
    assert fingerprint(["Zoë", ""]) == expected


def test_offsets_have_the_smallest_type():
    assert StoredTexts.of(["x" * 255]).offsets.itemsize == 1
    assert StoredTexts.of(["x" * 256]).offsets.itemsize == 2
