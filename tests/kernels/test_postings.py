"""Postings: the longest verbatim run, against plain Python; blocks; matches in vocabularies of
any size.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import reference
from classic_rc.kernels.arrays import (
    longest_runs,
    look_up,
    match_words,
    matched_blocks,
    passage_postings,
    small_blocks,
)
from tests.kernels.builders import problems


@given(problems(n_words=4, passage=9, candidate=9))
def test_it_is_the_longest_run_of_a_plain_search(problem):
    """Empty passages and candidates, and repeated tokens, come by themselves."""
    expected = [
        reference.longest_run(passage, candidate) for passage, _, candidate in problem.texts
    ]
    assert longest_runs(problem.arrays).tolist() == expected


@given(problems(), st.integers(1, 80))
def test_blocks_of_whole_questions_have_all_candidates_of_each(problem, tokens):
    question = problem.arrays.candidate_question
    with small_blocks(tokens):
        blocks = list(matched_blocks(problem.arrays, whole_questions=True))
        cuts = [block.where.start for block in matched_blocks(problem.arrays)]
    starts, stop = [], 0
    for block in blocks:
        start, block_questions = block.where.start, question[block.where]
        assert start == stop
        assert start == 0 or question[start - 1] < question[start]
        numbers = block.arrays.candidate_question + block_questions[0]
        assert numbers.tolist() == block_questions.tolist()
        starts.append(start)
        stop = block.where.stop
    assert stop == len(question)
    # A question is not put into a block that is full without it.
    assert set(question[cuts].tolist()) == set(question[starts].tolist())


def test_a_large_key_needs_no_large_table():
    keys = np.append(np.zeros(100, dtype=np.int64), 2**60)
    place, is_key = look_up(keys, np.array([0, 3]))
    assert is_key.tolist() == [True] * 100 + [False]
    assert not place[:100].any()


@given(problems(n_words=4, passage=9, question=9, candidate=9))
def test_matches_are_the_same_for_a_vocabulary_of_any_size(problem):
    """With a large vocabulary words are found by binary search, with a small one in a table."""
    small, spread = problem.arrays, 10**6
    large = small._replace(
        passage_tokens=small.passage_tokens * spread,
        question_tokens=small.question_tokens * spread,
        candidate_tokens=small.candidate_tokens * spread,
        n_words=problem.n_words * spread,
    )
    matches = match_words(large, passage_postings(large))
    expected = match_words(small, passage_postings(small))
    for side, expected_side in zip(matches, expected, strict=True):
        assert all(map(np.array_equal, side, expected_side))
