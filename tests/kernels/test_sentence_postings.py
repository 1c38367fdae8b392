from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.arrays import runs_of


@given(st.lists(st.integers(0, 20)), st.integers(1, 30))
def test_runs_cover_everything_once_within_the_limit(loads, limit):
    stop = 0
    for first, last in runs_of(np.array(loads, dtype=np.int64), limit):
        assert first == stop < last
        assert last == first + 1 or sum(loads[first:last]) <= limit
        stop = last
    assert stop == len(loads)
