from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.weights import (
    DECAY_SCALE,
    SCALE,
    decay_weights,
    inverse_count_weight,
    inverse_count_weights,
)


@given(st.integers(1, 10**7))
def test_a_weight_is_the_rounded_logarithm(count):
    assert abs(inverse_count_weight(count) - SCALE * math.log1p(1 / count)) < 0.500001


def test_a_true_tie_of_weights_can_be_one_unit_apart():
    # ln 5/4 = ln 9/8 + ln 10/9: why ties need a tolerance
    assert inverse_count_weight(8) + inverse_count_weight(9) - inverse_count_weight(4) == 1


@given(st.lists(st.integers(0, 50), max_size=30))
def test_an_array_has_the_weight_of_each_count(counts):
    weights = inverse_count_weights(np.array(counts, dtype=np.int64))
    assert weights.dtype == np.int32
    assert weights.tolist() == [inverse_count_weight(c) if c else 0 for c in counts]


def test_a_count_of_nothing_has_no_weight():
    with pytest.raises(ValueError, match=r"\b0\b"):
        inverse_count_weight(0)


@pytest.mark.parametrize("reach", [1, 5, 6, 40])
def test_decays_are_rounded_exponentials_down_to_the_first_zero(reach):
    weights = decay_weights(reach)
    assert weights[0] == DECAY_SCALE
    assert np.flatnonzero(weights == 0).tolist() == [len(weights) - 1]
    exact = DECAY_SCALE * np.exp(-np.arange(len(weights)) / reach)
    assert np.abs(weights - exact).max() < 0.500001
