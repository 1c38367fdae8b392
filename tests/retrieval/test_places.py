"""Where each sentence comes from."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.retrieval.reading import PlaceWriter, Record, place_of

RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["a.txt", "b.jsonl", "ç"]),
        st.integers(1, 2**40),
        st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        st.integers(0, 3),
    ),
    max_size=12,
)


@given(RECORDS)
def test_every_sentence_finds_its_input_and_its_line_or_label(records):
    writer, expected = PlaceWriter(), []
    for name, number, label, n_sentences in records:
        writer.add(name, Record(number, label, []), n_sentences)
        expected += [f"{name}:{number}" if label is None else f"{name}#{label}"] * n_sentences
    arrays = writer.arrays()
    assert [place_of(arrays, i) for i in range(len(expected))] == expected
    assert len(arrays["places"]) == len(expected)


def test_places_take_four_bytes_a_sentence_where_that_is_enough():
    writer = PlaceWriter()
    writer.add("a", Record(2**31 - 1, None, []), 5)
    assert writer.arrays()["places"].dtype == np.int32
    writer.add("a", Record(2**31, None, []), 1)
    assert writer.arrays()["places"].dtype == np.int64
