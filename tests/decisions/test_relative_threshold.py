"""Decisions that select all spans near the best one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.decisions import RelativeThreshold
from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task
from tests.errors import raises

TEXT = "Ann and Bob met Carla, and Bob ran."


def question(*texts: str, task: Task = Task.MULTI_SPAN) -> Question:
    starts = map(TEXT.index, texts)
    spans = [Candidate(text, i, i + len(text)) for i, text in zip(starts, texts, strict=True)]
    return question_of(spans, task)


def question_of(spans: Iterable[Candidate], task: Task = Task.MULTI_SPAN) -> Question:
    return Question("q", Passage("p", TEXT), "Who?", tuple(spans), ("Ann",), task)


def answer(query: Question, *scores: float, **parameters) -> tuple[str, ...]:
    (prediction,) = RelativeThreshold(**parameters).decide(Scores.from_lists([scores]), [query])
    assert prediction.n_candidates == len(scores)
    return cast("tuple[str, ...]", prediction.answers[0])


def test_spans_within_the_margin_answer_together_the_best_first():
    query = question("Ann", "Bob", "Carla")
    assert answer(query, 1.0, 3.0, 2.5, margin=0.5) == ("Bob", "Carla")
    assert answer(query, 1.0, 3.0, 2.5, margin=2) == ("Bob", "Carla", "Ann")
    assert answer(query, 1.0, 3.0, 2.5, margin=0.4) == ("Bob",)
    assert answer(query, 3.0, 3.0, 2.5) == ("Ann", "Bob")


def test_spans_that_overlap_a_better_one_are_left_out():
    query = question("Ann and Bob", "Bob", "Ann", "Carla")
    assert answer(query, 2.0, 3.0, 1.0, 0.0, margin=9) == ("Bob", "Ann", "Carla")
    assert answer(query, 3.0, 2.0, 1.0, 0.0, margin=9) == ("Ann and Bob", "Carla")


def test_there_are_no_more_spans_than_wanted():
    query = question("Ann", "Bob", "Carla")
    assert answer(query, 1.0, 3.0, 2.5, margin=9, max_spans=2) == ("Bob", "Carla")


def test_a_text_is_answered_once_at_any_place():
    second = TEXT.rindex("Bob")
    spans = question("Ann", "Bob").candidates
    repeated = question_of([*spans, Candidate("Bob", second, second + 3)])
    assert answer(repeated, 0.0, 1.0, 1.0, margin=5) == ("Bob", "Ann")


def test_candidates_without_places_do_not_overlap():
    query = question_of([Candidate("Ann"), Candidate("Ann and")])
    assert answer(query, 1.0, 1.0) == ("Ann", "Ann and")


def test_a_question_without_candidates_has_no_answer():
    (prediction,) = RelativeThreshold().decide(Scores.from_lists([[]]), [question()])
    assert prediction.answers == ()


@given(
    st.permutations(range(4)), st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=4)
)
def test_the_order_of_candidates_does_not_matter(order, scores):
    scored = list(zip(["Ann and Bob", "Bob", "Ann", "Carla"], scores, strict=True))

    def answer_to(scored):
        texts, scores = zip(*scored, strict=True)
        return answer(question(*texts), *scores, margin=0.5)

    assert answer_to([scored[i] for i in order]) == answer_to(scored)


@pytest.mark.parametrize("task", [t for t in Task if t is not Task.MULTI_SPAN])
def test_other_tasks_are_refused(task):
    with raises(UsageError, field="questions", found=task.value, expected="multi-span"):
        answer(question("Ann", task=task), 1.0)


@pytest.mark.parametrize(
    ("parameters", "field", "reported"),
    [
        ({"margin": -0.1}, "margin", "-0.1"),
        ({"margin": math.inf}, "margin", "inf"),
        ({"margin": "x"}, "margin", "'x'"),
        ({"max_spans": 0}, "max_spans", "0"),
    ],
)
def test_parameters_are_checked(parameters, field, reported):
    with raises(
        UsageError, field=field, found=reported, expected=re.compile("at least 0|positive")
    ):
        answer(question("Ann"), 1.0, **parameters)
