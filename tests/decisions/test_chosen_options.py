"""Choices as arrays say what their predictions say one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classic_rc.decisions import TIE_POLICIES, Argmax
from classic_rc.metrics import METRICS
from classic_rc.predictions import ChosenOptions, Scores
from classic_rc.results.outcomes import OutcomeTally

ROWS = st.lists(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=5), min_size=1, max_size=8
)
FUNCTION_FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def plain(outcomes: Any) -> list[Any]:
    arrays = (outcomes.statistics["accuracy"], outcomes.n_tied, outcomes.n_selected)
    return [*(array.tolist() for array in arrays), outcomes.n_candidates.tolist(), outcomes.answers]


@pytest.mark.parametrize("ties", TIE_POLICIES)
@given(rows=ROWS, seed=st.integers(0, 5))
@FUNCTION_FIXTURE
def test_a_block_is_decided_and_measured_as_its_questions_are(question, ties, rows, seed):
    rule = Argmax(ties=ties, seed=seed)
    questions, alone = [], []
    for i, row in enumerate(rows):
        questions.append(question(len(row), frozenset({i % len(row)}), id=f"q{i}"))
        alone += rule.decide(Scores.from_lists([row]), questions[-1:])
    scores = Scores.from_lists(rows)
    block_answers = rule.decide(scores, questions)
    assert isinstance(block_answers, ChosenOptions)
    assert block_answers == alone
    assert block_answers[1:] == alone[1:]
    assert block_answers[-1] == alone[-1]
    tallies = []
    for predictions in (block_answers, alone):
        tally = OutcomeTally([METRICS["accuracy"]], len(rows))
        tally.add(np.arange(len(rows)), questions, predictions, scores)
        tallies.append(plain(tally.outcomes()))
    assert tallies[0] == tallies[1]


def test_no_questions_have_no_answers():
    assert list(Argmax().decide(Scores.from_lists([]), [])) == []
