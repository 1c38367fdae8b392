"""Bags of words that overlap, against a comparison of all pairs."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.bags import (
    least_shared,
    overlapping_bags,
    pairs_with_equal_keys,
    shared_weight,
    shared_words,
)
from tests.kernels.builders import ragged, tuples


def random_bags(rng, n):
    """Bags of 0 to 20 words, half of which are changed copies of others."""
    bags = [rng.choices(range(200), k=rng.randrange(0, 21)) for _ in range(n)]
    for _ in range(n):
        bag = list(rng.choice(bags))
        for _ in range(rng.randrange(4)):
            if bag:
                bag[rng.randrange(len(bag))] = rng.randrange(200)
        rng.shuffle(bag)
        bags.append(bag)
    return bags


def common(first, second):
    return (Counter(first) & Counter(second)).total()


def pairs_of(bags, min_shared, here=None, there=None, **options):
    """The pairs of bags that share a number of words, or a share of the larger one's."""
    words, offsets = ragged(bags)
    if isinstance(min_shared, float):
        min_shared = least_shared(np.diff(offsets), min_shared)
    else:
        min_shared = np.full(len(bags), min_shared)
    everywhere = np.ones(len(bags), dtype=bool)
    here = everywhere if here is None else here
    there = everywhere if there is None else there
    return tuples(overlapping_bags(words, offsets, min_shared, here=here, there=there, **options))


def plain_pairs(bags, share, here, there, part_share=2.0):
    """The same by a comparison of all pairs."""
    pairs = []
    for i, j in itertools.combinations(range(len(bags)), 2):
        smaller, larger = sorted((len(bags[i]), len(bags[j])))
        shared = common(bags[i], bags[j])
        is_across = (here[i] and there[j]) or (here[j] and there[i])
        is_part = shared == smaller >= part_share * larger
        is_enough = shared >= 2 or smaller == larger == 1
        if is_across and is_enough and (is_part or shared >= share * larger):
            pairs.append((i, j, shared))
    return pairs


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_all_overlapping_bags_are_found(seed, share):
    rng = random.Random(seed)
    bags = random_bags(rng, 60)
    here, there = np.random.default_rng(seed).random((2, len(bags))) < 0.7
    pairs = pairs_of(bags, share, here, there)
    assert sorted(pairs) == plain_pairs(bags, share, here, there)
    assert len(pairs) >= 8


@pytest.mark.parametrize("seed", range(4))
def test_all_bags_that_are_parts_of_others_are_found(seed):
    rng = random.Random(seed)
    bags = random_bags(rng, 60)
    bags += [rng.sample(bag, rng.randrange(len(bag) + 1)) for bag in bags]
    here, there = np.random.default_rng(seed).random((2, len(bags))) < 0.8
    pairs = pairs_of(bags, 0.75, here, there, part_share=0.5)
    assert sorted(pairs) == plain_pairs(bags, 0.75, here, there, part_share=0.5)
    assert len(pairs) >= len(plain_pairs(bags, 0.75, here, there)) + 20


def test_bags_that_share_a_fixed_number_of_words_are_found():
    bags = random_bags(random.Random(5), 60)
    pairs = {(i, j) for i, j, _ in pairs_of(bags, 4)}
    all_pairs = itertools.combinations(range(120), 2)
    expected = {(i, j) for i, j in all_pairs if common(bags[i], bags[j]) >= 4}
    # 12 rarest words make keys
    usual = {pair for pair in expected if max(len(bags[i]) for i in pair) <= 14}
    assert usual <= pairs <= expected
    assert len(usual) >= 8


def test_many_equal_bags_take_linear_time_and_stay_bounded():
    bags = [[1, 2, 3, 4, 5]] * 5000
    pairs = pairs_of(bags, 0.75, neighbours=8)
    assert len(pairs) < 8 * len(bags)
    assert all(i < j and shared == 5 for i, j, shared in pairs)


def test_blocks_change_nothing():
    bags = random_bags(random.Random(9), 80)
    with small_blocks(20):
        pairs = pairs_of(bags, 0.6, part_share=0.4)
    assert sorted(pairs) == sorted(pairs_of(bags, 0.6, part_share=0.4))


def test_shared_words_are_counted_with_repetitions_and_weighed_without():
    bags = random_bags(random.Random(3), 40)
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, len(bags), (2, 200))
    weights = rng.random(200).round(2) * (np.arange(200) % 3 > 0)
    counts = shared_words(*ragged(bags), first, second)
    sums = shared_weight(*ragged(bags), first, second, weights)
    for i, j, count, total in tuples((first, second, counts, sums)):
        assert count == common(bags[i], bags[j])
        words = [*{*bags[i]} & {*bags[j]}]
        assert total == pytest.approx(weights[words].sum())


@pytest.mark.parametrize(
    ("neighbours", "expected"),
    [(9, [(0, 1, 1), (0, 2, 2), (0, 3, 1), (2, 3, 1)]), (1, [(0, 1, 1), (0, 2, 1), (2, 3, 1)])],
)
def test_pairs_share_keys_with_neighbours_only(neighbours, expected):
    rows = np.array([0, 0, 1, 2, 2, 3], dtype=np.int32)
    keys = np.array([7, 8, 7, 7, 8, 7], dtype=np.uint64)
    blocks = pairs_with_equal_keys(rows, keys, 4, neighbours, lambda first, second: first != 1)
    assert [pair for block in blocks for pair in tuples(block)] == expected


@pytest.mark.parametrize("bags", [[], [[], []], [[3], [4]]])
def test_bags_without_a_common_word_make_no_pairs(bags):
    assert pairs_of(bags, 0.5, part_share=0.5) == []
