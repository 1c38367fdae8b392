"""The kernels against their reference on the datasets' own texts, down to the bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from classic_rc.datasets import load
from classic_rc.kernels import reference, window_and_distance, window_sweep
from classic_rc.text.encode import encode
from tests.kernels.builders import texts_of

pytestmark = pytest.mark.ci  # real data

FILES = {
    "mctest": ("mc160.dev.tsv", "mc500.dev.tsv", "mc160.train.tsv", "mc500.train.tsv"),
    "dream": ("dev.json", "train.json"),
    "multirc": ("dev_83-fixedIds.json", "train_456-fixedIds.json"),
}
ALL = [f"{folder}/{name}" for folder, names in FILES.items() for name in names]
SIZES = range(2, 31)


def encoded(shared_data, path):
    return encode(load(shared_data / path), "word")


def plain_sweep(texts):
    return [[reference.sliding_window(*text, size) for size in SIZES] for text in texts]


@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[pytest.mark.ci] if "/train" in path else []) for path in ALL]
)
def test_window_and_distance_of_every_candidate(shared_data, path):
    data = encoded(shared_data, path)
    flags = data.stop_flags("smart")
    stop = set(np.flatnonzero(flags).tolist())
    windows, distances, _ = window_and_distance(data.arrays, flags)
    texts = texts_of(data.arrays)
    assert windows.tolist() == [reference.sliding_window(*text) for text in texts]
    assert distances.tolist() == [reference.word_distance(*text, stop) for text in texts]


@pytest.mark.parametrize("path", ALL)
def test_all_window_sizes_of_a_sample(shared_data, path):
    arrays = encoded(shared_data, path).arrays
    got, texts = window_sweep(arrays), texts_of(arrays)
    size = min(800 // len(ALL), len(texts))
    sample = random.Random(0).sample(range(len(texts)), size)
    assert got[sample].tolist() == plain_sweep([texts[i] for i in sample])


@pytest.mark.ci
@pytest.mark.parametrize("path", ALL[:2])
def test_all_window_sizes_of_every_candidate_of_mctest_dev(shared_data, path):
    arrays = encoded(shared_data, path).arrays
    assert window_sweep(arrays).tolist() == plain_sweep(texts_of(arrays))


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL)
def test_all_window_sizes_of_every_candidate(shared_data, path):
    arrays = encoded(shared_data, path).arrays
    assert window_sweep(arrays).tolist() == plain_sweep(texts_of(arrays))
