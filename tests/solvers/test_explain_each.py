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


def test_a_users_own_explanation_of_several_questions_is_the_one_of_each():
    class AnnotatedWindow(SlidingWindow):
        def explain_each(self, questions):
            for explanation in super().explain_each(questions):
                yield replace(explanation, note="annotated")

    question = synthetic_dataset(Task.SINGLE_CHOICE)[0]
    assert AnnotatedWindow().explain(question).note == "annotated"


def test_a_solver_that_explains_by_the_former_method_is_refused():
    with pytest.raises(TypeError, match=r"Former .* write explain_each\(questions\)"):

        class Former(SlidingWindow):
            def explain(self, question):  # type: ignore[misc]
                return None
