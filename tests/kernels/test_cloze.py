"""The cloze kernels against plain Python, down to the bits."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from classic_rc.kernels import (
    cloze_distance,
    cloze_window,
    inverse_count_weights,
    phrase_counts,
    reference,
)
from classic_rc.kernels.arrays import passage_postings, small_blocks
from classic_rc.kernels.cloze import phrase_places
from classic_rc.kernels.reference.phrases import phrase_starts
from tests.depth import examples
from tests.kernels.builders import Problem, problems, tuples


@st.composite
def queries(draw):
    """A problem, and a placeholder for each of its questions."""
    problem = draw(problems(n_words=6, n_passages=3, passage=25, question=6, candidate=3))
    placeholders = [draw(st.integers(0, len(query))) for _, query in problem.questions]
    return problem, placeholders


def each(problem, placeholders):
    """Of each candidate the passage, the query, its placeholder and itself."""
    for (q, _), (passage, query, candidate) in zip(problem.candidates, problem.texts, strict=True):
        yield passage, query, placeholders[q], candidate


def places(*numbers):
    return np.array(numbers, dtype=np.int64)


@settings(max_examples=examples(50, 300))
@given(
    case=queries(),
    max_distance=st.sampled_from([1, 2, 5, 8, 10**6]),
    pairs=st.sampled_from([1, 10, 2**18]),
)
def test_cloze_distance_equals_reference(case, max_distance, pairs):
    problem, placeholders = case
    with small_blocks(pairs):
        distances, has_distance = cloze_distance(
            problem.arrays, places(*placeholders), max_distance
        )
    options = {"max_distance": max_distance}
    texts = list(each(problem, placeholders))
    assert distances.tolist() == [reference.cloze_distance(*t, **options) for t in texts]
    for measured, t in zip(has_distance.tolist(), texts, strict=True):
        mentions = reference.cloze.alignments(*t, **options)
        assert measured == any(word.place is not None for _, words in mentions for word in words)


@settings(max_examples=examples(50, 300))
@given(
    case=queries(),
    idf=st.booleans(),
    cells=st.sampled_from([1, 40, 2**18]),
)
def test_cloze_window_equals_reference(case, idf, cells):
    problem, placeholders = case
    n_words = problem.n_words
    weights = inverse_count_weights(np.arange(1, n_words + 1), total=n_words) if idf else None
    with small_blocks(cells):
        got = cloze_window(problem.arrays, places(*placeholders), weights)
    weigh = (lambda word: int(weights[word])) if idf else None
    assert got.tolist() == [
        reference.cloze_window(*texts, weigh=weigh) for texts in each(problem, placeholders)
    ]


@settings(max_examples=examples(33, 200))
@given(problem=problems(n_words=6, n_passages=3, passage=25, candidate=3))
def test_phrases_are_where_the_reference_finds_them(problem):
    assume(problem.candidates)
    arrays = problem.arrays
    expected = []
    for row, (passage, _, candidate) in enumerate(problem.texts):
        expected += [(row, start) for start in phrase_starts(passage, candidate)]
    assert tuples(phrase_places(arrays, passage_postings(arrays))) == expected


@settings(max_examples=examples(33, 200))
@given(problem=problems())
def test_phrase_counts_equal_reference(problem):
    expected = [
        reference.phrase_count(passage, candidate) for passage, _, candidate in problem.texts
    ]
    assert phrase_counts(problem.arrays).tolist() == expected


def test_a_block_in_the_middle_takes_its_own_placeholders():
    passages = [[0, 1, 2, 3]] * 3
    questions = [(p, [1, 3]) for p in range(3)]
    candidates = [(q, [2]) for q in range(3)]
    arrays = Problem(4, passages, questions, candidates).arrays
    unblocked = cloze_distance(arrays, places(1, 0, 2))[0].tolist()
    window = cloze_window(arrays, places(1, 0, 2)).tolist()
    assert len(set(unblocked)) > 1
    with small_blocks(1):
        assert cloze_distance(arrays, places(1, 0, 2))[0].tolist() == unblocked
        assert cloze_window(arrays, places(1, 0, 2)).tolist() == window


def test_a_mention_of_two_words_is_met_at_both_ends():
    # passage "rain fell on Ann Lee in May", query "on _ in"
    passage, query, candidate = list(range(7)), [2, 5], [3, 4]
    arrays = Problem(7, [passage], [(0, query)], [(0, candidate)]).arrays
    assert cloze_distance(arrays, places(1))[0].item() == 0
