"""Scoring in other processes: real ones, none of them forked from this one."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.ci

LOKY = """
import os
import numpy as np
import classic_rc
from classic_rc.running import fitted_system as scoring
from classic_rc.text.encode import encode

class Where(classic_rc.Solver):
    analyzer = "word"
    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists(
            [float(os.getpid())] * len(q.candidates) for q in questions
        )

scoring.MIN_SHARD_PASSAGES = 2
data = encode(classic_rc.load("sample:single-choice"), "word")
pids = set(scoring.score_in_shards(Where(), data, 2)[0].values.tolist())
solver = classic_rc.parse_solver("sw+d")
one, two = (scoring.score_in_shards(solver, data, jobs)[0] for jobs in (1, 2))
print(os.getpid() in pids, len(pids) >= 1, np.array_equal(one.values, two.values), len(two.values))
"""


def test_two_jobs_are_other_processes_and_the_same_bits():
    """joblib's default, loky, starts fresh interpreters: nothing is ever forked in the middle of
    a thread.
    """
    done = subprocess.run(
        [sys.executable, "-c", LOKY], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["False", "True", "True", "96"]
