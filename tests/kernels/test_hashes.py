"""Hashes of texts and n-grams: equal for equal ones, in any company."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.draws import text_keys
from classic_rc.kernels.hashes import ngram_hashes, text_sums
from tests.kernels.builders import ragged

TEXTS = st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=8)


def keys_and_lengths(texts):
    tokens, offsets = ragged(texts)
    return text_keys(map(str, tokens.tolist())), np.diff(offsets)


@given(TEXTS)
def test_texts_have_equal_sums_if_they_are_equal_and_else_not(texts):
    sums = text_sums(*keys_and_lengths(texts)).tolist()
    different = {tuple(text): total for text, total in zip(texts, sums, strict=True)}
    assert [different[tuple(text)] for text in texts] == sums
    assert len(set(sums)) == len(different)


@given(TEXTS, st.integers(1, 4))
def test_ngrams_have_equal_hashes_if_they_are_equal_and_else_not(texts, order):
    hashes, rows = ngram_hashes(*keys_and_lengths(texts), order)
    ngrams = []
    for row, text in enumerate(texts):
        ngrams += [(row, tuple(text[i : i + order])) for i in range(len(text) - order + 1)]
    assert rows.tolist() == [row for row, _ in ngrams]
    pairs = {*zip(hashes.tolist(), (ngram for _, ngram in ngrams), strict=True)}
    assert len(pairs) == len({h for h, _ in pairs}) == len({ngram for _, ngram in pairs})
