"""Explanations of several questions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classic_rc import parse_solver
from classic_rc.questions import Task
from classic_rc.solvers import SlidingWindow
from classic_rc.testing import synthetic_dataset


@pytest.mark.parametrize("name", ["sw", "swd", "sw+d", "ir:passage", "lexical", "longest"])
def test_questions_are_explained_together_as_each_alone(name):
    data, solver = synthetic_dataset(Task.SINGLE_CHOICE), parse_solver(name)
    solver.fit(data)
    together = list(solver.explain_each(data))
    for question, explanation in zip(data, together, strict=True):
        alone = solver.explain(question)
        assert explanation.to_dict() == alone.to_dict()
        assert explanation.prediction == alone.prediction


def test_an_explanation_of_a_users_own_is_the_one_of_several_questions_too():
    class OwnWindow(SlidingWindow):
        def explain(self, question):
            return replace(super().explain(question), note="my own")

    data = synthetic_dataset(Task.SINGLE_CHOICE)
    assert {e.note for e in OwnWindow().explain_each(data)} == {"my own"}
