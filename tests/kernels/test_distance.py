"""The word distance, alone and with the sliding window, against plain Python, down to the bits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels import (
    phrase_counts,
    reference,
    sliding_window,
    window_and_distance,
    word_distance,
)
from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.weights import SCALE
from tests.depth import examples
from tests.kernels.builders import Problem, flags_of, problems_with_stop_words, tuples

RULES = ("mean", "min", "min+1", "first")


@settings(max_examples=examples(50, 300))
@given(case=problems_with_stop_words(), rule=st.sampled_from(RULES))
def test_word_distance_equals_reference(case, rule):
    problem, stop = case
    got, has_distance = word_distance(problem.arrays, flags_of(problem.n_words, stop), rule)
    expected = [reference.word_distance(*texts, stop, rule) for texts in problem.texts]
    assert got.tolist() == expected
    assert (got[~has_distance] == 1).all()


@settings(max_examples=examples(25, 150))
@given(
    case=problems_with_stop_words(),
    rule=st.sampled_from(RULES),
    window=st.sampled_from(["set", "passage", 3]),
    weight=st.floats(-100, 100),
)
def test_window_minus_distance_equals_reference(case, rule, window, weight):
    problem, stop = case
    flags = flags_of(problem.n_words, stop)
    windows, distances, _ = window_and_distance(problem.arrays, flags, window=window, rule=rule)
    options = {"window": window, "stop_words": stop, "distance": rule, "distance_weight": weight}
    expected = [reference.sliding_window_distance(*texts, **options) for texts in problem.texts]
    assert (windows / SCALE - weight * distances).tolist() == expected


@pytest.mark.parametrize("rule", RULES)
def test_many_candidates_of_one_question_equal_reference(rule):
    rng = random.Random(1)
    passage = rng.choices(range(30), k=200)
    questions = [(0, rng.choices(range(40), k=size)) for size in (7, 3, 5)]
    candidates = []
    for q, n_candidates in enumerate((100, 4, 300)):
        lengths = rng.choices(range(5), k=n_candidates)
        candidates += [(q, rng.choices(range(40), k=length)) for length in lengths]
    flags = np.arange(40) % 5 == 0
    stop = set(np.flatnonzero(flags).tolist())
    problem = Problem(40, [passage], questions, candidates)
    windows, distances, _ = window_and_distance(problem.arrays, flags, rule=rule)
    assert windows.tolist() == [reference.sliding_window(*texts) for texts in problem.texts]
    assert distances.tolist() == [
        reference.word_distance(*texts, stop, rule) for texts in problem.texts
    ]


@settings(max_examples=examples(16, 100))
@given(
    case=problems_with_stop_words(), rule=st.sampled_from(RULES), window=st.sampled_from(["set", 3])
)
def test_both_at_once_are_each_by_itself(case, rule, window):
    problem, stop = case
    flags, arrays = flags_of(problem.n_words, stop), problem.arrays
    windows, *distances = window_and_distance(arrays, flags, window=window, rule=rule)
    assert windows.tolist() == sliding_window(arrays, window).tolist()
    assert tuples(distances) == tuples(word_distance(arrays, flags, rule))


@pytest.mark.parametrize("size", [3, 50])
def test_blocks_cover_every_candidate_once(size):
    rng = random.Random(0)
    passages = [rng.choices(range(20), k=rng.randrange(60)) for _ in range(40)]
    questions = [(i // 2, rng.choices(range(20), k=6)) for i in range(80)]
    candidates = [(i // 4, rng.choices(range(20), k=3)) for i in range(320)]
    arrays = Problem(20, passages, questions, candidates).arrays
    flags = np.zeros(20, dtype=bool)

    def scores():
        return sliding_window(arrays), *word_distance(arrays, flags), phrase_counts(arrays)

    with small_blocks(size):
        blocked = scores()
    assert tuples(blocked) == tuples(scores())


@pytest.mark.parametrize(
    ("passage", "question", "candidate", "expected"),
    [
        # question word at 1, candidate's words at 3 and 6: |1 - 3| / (1 * 6)
        ("a q b c d e c", "q", "c", 2 / 6),
        # two question words, 2 and 1 away: (2 + 1) / (2 * 6)
        ("a q b c r e f", "q r", "c", 3 / 12),
        # no candidate's word in the passage
        ("a q b", "q", "z", 1.0),
        # a candidate's word that is in the question does not count
        ("a q b", "q", "q", 1.0),
    ],
)
def test_the_mean_distance_by_hand(passage, question, candidate, expected):
    assert reference.word_distance(passage.split(), question.split(), candidate.split()) == expected


def test_the_first_distance_keeps_its_bug():
    # both have been seen at position 2 for the first time, 2 after the last question word; the
    # later pair next to each other does not count any more
    passage = "q x a x x q a".split()
    assert reference.word_distance(passage, ["q"], ["a"], rule="first") == 2 / 6
    assert reference.word_distance(passage, ["q"], ["a"], rule="min") == 1 / 6
