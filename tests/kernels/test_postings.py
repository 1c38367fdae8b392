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
from tests.kernels.builders import Problem, problems

TEXT = st.lists(st.integers(0, 3), max_size=9)


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_it_is_the_longest_run_of_a_plain_search(content):
    """One question a passage; empty passages and candidates, and repeated tokens, come by
    themselves.
    """
    candidates = [
        (q, text)
        for q, (_, question_candidates) in enumerate(content)
        for text in question_candidates
    ]
    problem = Problem(
        4, [p for p, _ in content], [(i, []) for i in range(len(content))], candidates
    )
    expected = [
        reference.longest_run(passage, candidate) for passage, _, candidate in problem.texts
    ]
    assert longest_runs(problem.arrays).tolist() == expected


@given(problems(), st.integers(1, 80))
def test_blocks_of_whole_questions(problem, tokens):
    question = problem.arrays.candidate_question
    with small_blocks(tokens):
        blocks = list(matched_blocks(problem.arrays, whole_questions=True))
        cut = [block.where.start for block in matched_blocks(problem.arrays)]
    stops = [0]
    for block in blocks:
        assert block.where.start == stops[-1]
        assert (
            block.arrays.candidate_question + question[block.where.start] == question[block.where]
        ).all()
        stops.append(block.where.stop)
    assert stops[-1] == len(question)
    assert all(question[stop - 1] < question[stop] for stop in stops[1:-1])
    # A question is not put into a block that is full without it.
    assert {int(question[start]) for start in cut} == {int(question[start]) for start in stops[:-1]}


def test_a_large_key_needs_no_large_table():
    keys = np.append(np.zeros(100, dtype=np.int64), 2**60)
    place, is_key = look_up(keys, np.array([0, 3]))
    assert is_key.tolist() == [True] * 100 + [False]
    assert not place[:100].any()


@given(
    st.lists(st.tuples(TEXT, TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4)
)
def test_matches_are_the_same_for_a_vocabulary_of_any_size(content):
    """With a large vocabulary words are found by binary search, with a small one in a table."""
    candidates = [
        (q, text)
        for q, (_, _, question_candidates) in enumerate(content)
        for text in question_candidates
    ]
    problem = Problem(
        4, [p for p, _, _ in content], [(i, q) for i, (_, q, _) in enumerate(content)], candidates
    )
    small = problem.arrays
    spread = 10**6
    large = small._replace(
        passage_tokens=small.passage_tokens * spread,
        question_tokens=small.question_tokens * spread,
        candidate_tokens=small.candidate_tokens * spread,
        n_words=4 * spread,
    )
    large_matches, expected = (
        match_words(arrays, passage_postings(arrays)) for arrays in (large, small)
    )
    for ours, others in zip(large_matches, expected, strict=True):
        assert all(np.array_equal(*columns) for columns in zip(ours, others, strict=True))
