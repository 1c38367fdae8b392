"""Adjusted p-values, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.results.resampling import holm

P_VALUES = [0.001, 0.02, 0.011, 0.3, 0.012]
# sorted: 0.001 0.011 0.012 0.02 0.3, times 5 4 3 2 1: 0.005 0.044 0.036 0.04 0.3, which may not
# fall
HOLM = [0.005, 0.044, 0.044, 0.3, 0.044]


def test_holm_is_as_worked_out_by_hand():
    assert holm(P_VALUES) == pytest.approx(HOLM)


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms())
def test_adjusting_lowers_no_p_value_leaves_none_above_one_and_ignores_their_order(p, random):
    adjusted = holm(p)
    assert np.all(adjusted >= np.array(p) - 1e-15)
    assert np.all(adjusted <= 1)
    order = random.sample(range(len(p)), len(p))
    assert holm([p[i] for i in order]) == pytest.approx(adjusted[order])


def test_one_test_needs_no_adjustment():
    assert holm([0.04]).tolist() == [0.04]
