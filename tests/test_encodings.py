"""Codings of gold: what a value can mean; encoding and decoding are inverse."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.encodings import READINGS, MismatchError, decode, explain

_DISTINCT = st.lists(st.text(string.ascii_lowercase, min_size=2), min_size=1, max_size=6, unique=True)


@given(_DISTINCT, st.data())
def test_encoding_and_decoding_are_inverse(texts, data):
    right = data.draw(st.sets(st.sampled_from(range(len(texts)))))
    codes = {
        "index0": lambda i: i,
        "index1": lambda i: i + 1,
        "letter": lambda i: string.ascii_uppercase[i],
        "text": lambda i: texts[i],
    }
    for coding, code in codes.items():
        assert decode([code(i) for i in right], texts, coding) == right
    assert decode([i in right for i in range(len(texts))], texts, "flags") == right


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists), _DISTINCT)
def test_any_value_is_gold_or_a_mismatch(value, texts):
    for coding in READINGS:
        if coding in explain(value, texts):
            assert decode(value, texts, coding) <= set(range(len(texts)))
        else:
            with pytest.raises(MismatchError, match="expected"):
                decode(value, texts, coding)
