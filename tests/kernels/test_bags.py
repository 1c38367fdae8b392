"""Bags of words that overlap, against a comparison of all pairs."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from classic_rc.kernels.arrays import offsets_of, small_blocks
from classic_rc.kernels.bags import (
    least_shared,
    overlapping_bags,
    pairs_with_equal_keys,
    shared_weight,
    shared_words,
)


def ragged(bags):
    words = np.array([word for bag in bags for word in bag], dtype=np.int64)
    return words, offsets_of(np.array([len(bag) for bag in bags]))


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


def least_of(bags, share):
    return least_shared(np.array([len(bag) for bag in bags], dtype=np.int64), share)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_all_overlapping_bags_are_found(seed, share):
    rng = random.Random(seed)
    bags = random_bags(rng, 60)
    here, there = (np.array([rng.random() < 0.7 for _ in bags]) for _ in range(2))
    pairs = overlapping_bags(*ragged(bags), least_of(bags, share), here=here, there=there)
    expected = {
        (i, j, common(bags[i], bags[j]))
        for j in range(len(bags))
        for i in range(j)
        if ((here[i] and there[j]) or (here[j] and there[i]))
        and common(bags[i], bags[j]) >= share * max(len(bags[i]), len(bags[j]))
        and (common(bags[i], bags[j]) >= 2 or len(bags[i]) == len(bags[j]) == 1)
    }
    assert {*zip(*(a.tolist() for a in pairs), strict=True)} == expected
    assert len(pairs[0]) == len(expected) >= 8


@pytest.mark.parametrize("seed", range(4))
def test_all_bags_that_are_parts_of_others_are_found(seed):
    rng = random.Random(seed)
    bags = random_bags(rng, 60)
    bags += [rng.sample(bag, rng.randrange(len(bag) + 1)) for bag in bags]
    here, there = (np.array([rng.random() < 0.8 for _ in bags]) for _ in range(2))
    options = {"here": here, "there": there, "part_share": 0.5}
    pairs = [*zip(*overlapping_bags(*ragged(bags), least_of(bags, 0.75), **options), strict=True)]
    expected = {}
    for j in range(len(bags)):
        for i in range(j):
            smaller, larger = sorted((len(bags[i]), len(bags[j])))
            shared = common(bags[i], bags[j])
            contained = shared == smaller >= 0.5 * larger
            if (contained or shared >= 0.75 * larger) and (shared >= 2 or smaller == larger == 1):
                expected[i, j] = shared
    flagged = {
        (i, j): n
        for (i, j), n in expected.items()
        if (here[i] and there[j]) or (here[j] and there[i])
    }
    assert {(i, j): n for i, j, n in pairs} == flagged
    assert len(pairs) == len(flagged)
    assert sum(n < 0.75 * max(len(bags[i]), len(bags[j])) for (i, j), n in flagged.items()) >= 20


def test_fixed_numbers_of_shared_words():
    bags, all_bags = random_bags(random.Random(5), 60), np.ones(120, dtype=bool)
    first, two, _ = overlapping_bags(*ragged(bags), np.full(120, 4), here=all_bags, there=all_bags)
    expected = {(i, j) for j in range(120) for i in range(j) if common(bags[i], bags[j]) >= 4}
    # 12 rarest words make keys
    usual = {(i, j) for i, j in expected if max(len(bags[i]), len(bags[j])) <= 14}
    assert usual <= {*zip(first.tolist(), two.tolist(), strict=True)} <= expected
    assert len(usual) >= 8


def test_many_equal_bags_take_linear_time_and_stay_bounded():
    bags = [[1, 2, 3, 4, 5]] * 5000
    all_bags = np.ones(len(bags), dtype=bool)
    first, two, shared = overlapping_bags(
        *ragged(bags), least_of(bags, 0.75), here=all_bags, there=all_bags, neighbours=8
    )
    assert len(first) < 8 * len(bags)
    assert set(shared.tolist()) == {5}
    assert (first < two).all()


def test_blocks_change_nothing():
    bags = random_bags(random.Random(9), 80)
    all_bags = np.ones(len(bags), dtype=bool)
    options = {"here": all_bags, "there": all_bags, "part_share": 0.4}
    one_block = overlapping_bags(*ragged(bags), least_of(bags, 0.6), **options)
    with small_blocks(20):
        parts = overlapping_bags(*ragged(bags), least_of(bags, 0.6), **options)
    assert {*zip(*(a.tolist() for a in parts), strict=True)} == {
        *zip(*(a.tolist() for a in one_block), strict=True)
    }


def test_shared_words_and_weights():
    rng = random.Random(3)
    bags = random_bags(rng, 40)
    first, two = (np.array([rng.randrange(len(bags)) for _ in range(200)]) for _ in range(2))
    weights = np.round(np.random.default_rng(0).random(200), 2) * (np.arange(200) % 3 > 0)
    counts, sums = (
        shared_words(*ragged(bags), first, two),
        shared_weight(*ragged(bags), first, two, weights),
    )
    for i, j, count, total in zip(
        first.tolist(), two.tolist(), counts.tolist(), sums.tolist(), strict=True
    ):
        assert count == common(bags[i], bags[j])
        assert total == pytest.approx(sum(weights[word] for word in {*bags[i]} & {*bags[j]}))


def test_pairs_share_keys_with_neighbours_only():
    rows, keys = (
        np.array([0, 0, 1, 2, 2, 3], dtype=np.int32),
        np.array([7, 8, 7, 7, 8, 7], dtype=np.uint64),
    )

    def found(neighbours):
        parts = pairs_with_equal_keys(rows, keys, 4, neighbours, lambda one, two: one != 1)
        return [tuple(map(int, pair)) for part in parts for pair in zip(*part, strict=True)]

    assert found(9) == [(0, 1, 1), (0, 2, 2), (0, 3, 1), (2, 3, 1)]
    assert found(1) == [(0, 1, 1), (0, 2, 1), (2, 3, 1)]


@pytest.mark.parametrize("bags", [[], [[], []], [[3], [4]]])
def test_no_pairs(bags):
    flags = np.ones(len(bags), dtype=bool)
    pairs = overlapping_bags(
        *ragged(bags), least_of(bags, 0.5), here=flags, there=flags, part_share=0.5
    )
    assert [len(a) for a in pairs] == [0, 0, 0]
