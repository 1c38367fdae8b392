"""The longest verbatim run, against a plain search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.postings import longest_runs

TEXT = st.lists(st.integers(0, 3), max_size=9)


def ragged(texts):
    tokens = np.array([t for text in texts for t in text], dtype=np.int32)
    return tokens, offsets_of(np.array([len(text) for text in texts], dtype=np.int64))


def plain(passage, candidate):
    runs = [candidate[i:j] for j in range(len(candidate) + 1) for i in range(j)]
    stands = [run for run in runs if any(passage[k : k + len(run)] == run for k in range(len(passage)))]
    return max(map(len, stands), default=0)


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=4))
def test_it_is_the_longest_run_of_a_plain_search(content):
    """One question a passage; empty passages and candidates, and repeated tokens, come by themselves."""
    n = len(content)
    of_question = np.repeat(np.arange(n), [len(candidates) for _, candidates in content])
    arrays = TokenArrays(
        *ragged([passage for passage, _ in content]),
        *ragged([[] for _ in content]),
        *ragged([c for _, candidates in content for c in candidates]),
        np.arange(n),
        of_question,
        4,
    )
    expected = [plain(passage, c) for passage, candidates in content for c in candidates]
    assert longest_runs(arrays).tolist() == expected
