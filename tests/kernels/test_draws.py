from __future__ import annotations

import numpy as np

from classic_rc.kernels import text_keys, uniform_draws
from classic_rc.kernels.arrays import offsets_of
from tests.kernels.builders import unragged


def test_draws_belong_to_the_key_not_to_the_order():
    keys, counts = text_keys(f"q{i}" for i in range(50)), np.arange(50) % 5
    forward = unragged(uniform_draws(keys, counts, 7), offsets_of(counts))
    keys, counts = keys[::-1], counts[::-1]
    backward = unragged(uniform_draws(keys, counts, 7), offsets_of(counts))
    assert forward == backward[::-1]


def test_draws_are_the_same_on_every_machine():
    draws = uniform_draws(text_keys(["mc160.dev.0,0"]), np.array([3]), 0)
    assert draws.tolist() == [0.7802804743571641, 0.9451875306306691, 0.47923334289658404]


def test_seeds_and_indices_matter():
    keys, counts = text_keys(["a"]), np.array([4])
    assert len({*uniform_draws(keys, counts, 0), *uniform_draws(keys, counts, 1)}) == 8


def test_draws_are_uniform():
    draws = uniform_draws(text_keys(map(str, range(2000))), np.full(2000, 10), 3)
    assert ((draws >= 0) & (draws < 1)).all()
    # 20,000 draws in ten bins of 2,000 +- 42
    histogram = np.histogram(draws, bins=10, range=(0, 1))[0]
    assert np.abs(histogram - 2000).max() < 250
