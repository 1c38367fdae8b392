"""A corpus of texts as two arrays, and its fingerprint."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.retrieval.corpus import StoredTexts, fingerprint, update_fingerprint

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
def test_fingerprints_are_equal_where_the_texts_are(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (one == other)


@given(TEXTS, TEXTS)
def test_fingerprints_can_be_continued(first, then):
    digest = hashlib.sha256()
    for part in (first, then):
        update_fingerprint(digest, StoredTexts.of(part).coded())
    assert digest.hexdigest() == fingerprint(first + then)


def test_the_fingerprint_is_that_of_lengths_and_bytes():
    expected = hashlib.sha256(b"\x04\0\0\0\0\0\0\0Zo\xc3\xab" + b"\0" * 8).hexdigest()
    assert fingerprint(["Zoë", ""]) == expected


def test_offsets_have_the_smallest_type():
    assert StoredTexts.of(["x" * 255]).offsets.itemsize == 1
    assert StoredTexts.of(["x" * 256]).offsets.itemsize == 2
