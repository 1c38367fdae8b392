"""Explanations of several questions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classic_rc import parse_solver
from classic_rc.questions import Task
from classic_rc.solvers import SlidingWindow
from classic_rc.testing import synthetic_dataset

CHOICES = (
    "sw swd sw+d ir:passage lexical ngram-lm,cache_weight=0.3 surface-lr feature-ranker "
    "alignment-ilp length longest"
).split()
STACKED = "combination,solvers=[surface-lr; ir; longest],weights=stacked,normalise=question"


@pytest.mark.parametrize(
    ("task", "name"),
    [
        *((Task.SINGLE_CHOICE, name) for name in (*CHOICES, STACKED)),
        (Task.MULTIPLE_ANSWER, "surface-lr"),
        (Task.MULTIPLE_ANSWER, "feature-ranker"),
        *((Task.CLOZE, name) for name in ("cloze-distance", "cloze-window:hill2015")),
        (Task.CLOZE, "feature-ranker"),
    ],
)
def test_questions_are_explained_together_as_each_alone(task, name):
    data, solver = synthetic_dataset(task), parse_solver(name)
    solver.fit(data)
    scattered = [*data[::2], *data[1::2]]  # questions about one passage are apart
    together = list(solver.explain_each(scattered))
    for question, explanation in zip(scattered, together, strict=True):
        alone = solver.explain(question)
        assert explanation.to_dict() == alone.to_dict()
        assert explanation.prediction == alone.prediction


def test_an_explanation_of_a_users_own_is_the_one_of_several_questions_too():
    class OwnWindow(SlidingWindow):
        def explain(self, question):
            return replace(super().explain(question), note="my own")

    data = synthetic_dataset(Task.SINGLE_CHOICE)
    assert {e.note for e in OwnWindow().explain_each(data)} == {"my own"}
