from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import OutputError
from classic_rc.predictions import Scores
from tests.errors import raises

ROWS = st.lists(st.lists(st.floats(allow_nan=False), max_size=4), max_size=6)


@given(ROWS)
def test_scores_are_the_rows_they_were_made_of(rows):
    scores = Scores.from_lists(rows)
    assert [row.tolist() for row in scores] == rows
    assert len(scores) == len(rows)


@given(ROWS, st.data())
def test_taking_and_concatenating_are_inverse(rows, data):
    scores = Scores.from_lists(rows)
    cut = data.draw(st.integers(0, len(rows)))
    order = list(range(len(rows)))
    parts = [scores.take(order[:cut]), scores.take(order[cut:])]
    joined = Scores.concatenate(parts)
    assert joined.values.tolist() == scores.values.tolist()
    assert joined.offsets.tolist() == scores.offsets.tolist()
    assert [r.tolist() for r in scores.take(order[::-1])] == rows[::-1]


@pytest.mark.parametrize(
    ("values", "offsets", "field", "reported", "expected"),
    [
        ([1.0, float("nan")], [0, 2], "values", "nan", "numbers"),
        ([1.0], [0, 2], "values", "(1,) and (1,)", "(2,)"),
        ([1.0], [1, 1], "offsets", "[1 1]", "starts at 0"),
        ([1.0], [0, 2, 1], "offsets", "[0 2 1]", "never decreases"),
    ],
)
def test_unusable_scores_are_refused(values, offsets, field, reported, expected):
    with raises(OutputError, field=field, found=reported, expected=re.compile(re.escape(expected))):
        Scores(np.array(values), np.array(offsets), np.ones(len(values), dtype=bool))
