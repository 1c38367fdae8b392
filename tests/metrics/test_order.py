"""The last bit of a metric does not follow from the order of questions."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.metrics.base import METRICS


@pytest.mark.parametrize("name", ["accuracy", "f1_a", "f1_m", "em0"])
def test_the_last_bit_is_the_same_in_any_order(name):
    rng, metric = np.random.default_rng(0), METRICS[name]
    width = {"f1_a": 3, "f1_m": 2}.get(name, 1)
    rows = 1 / rng.integers(1, 8, (1001, width))
    runs = 1 / rng.integers(1, 8, (501, 3, width))
    for statistics in (rows, runs):
        expected = metric.of_runs(statistics).tobytes()
        for _ in range(50):
            assert metric.of_runs(rng.permutation(statistics)).tobytes() == expected
