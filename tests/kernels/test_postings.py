"""Look-ups in postings: the longest verbatim run, against plain Python."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import reference
from classic_rc.kernels.postings import longest_runs
from tests.kernels.builders import Problem

TEXT = st.lists(st.integers(0, 3), max_size=9)


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_it_is_the_longest_run_of_a_plain_search(content):
    """One question a passage; empty passages and candidates, and repeated tokens, come by themselves."""
    candidates = [(q, text) for q, (_, own) in enumerate(content) for text in own]
    problem = Problem(4, [p for p, _ in content], [(i, []) for i in range(len(content))], candidates)
    expected = [reference.longest_run(passage, candidate) for passage, _, candidate in problem.texts]
    assert longest_runs(problem.arrays).tolist() == expected
