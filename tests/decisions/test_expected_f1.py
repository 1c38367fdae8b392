"""The decision that selects the text with the greatest expected F1."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.decisions import Argmax, ExpectedF1
from classic_rc.errors import UsageError
from classic_rc.metrics.base import primary_metric, solved_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task
from tests.errors import raises

TASKS = (Task.SPAN, Task.MULTI_SPAN, Task.CLOZE)


def question(*texts, gold=("Ann",), task=Task.SPAN, scorers=()) -> Question:
    candidates = tuple(map(Candidate, texts))
    return Question("q", Passage("p", ""), "Who?", candidates, gold, task, scorers=scorers)


def answer(query: Question, *scores: float, **parameters):
    decision = ExpectedF1(**parameters)
    (prediction,) = decision.decide(Scores.from_lists([scores]), [query])
    assert prediction.n_candidates == len(scores)
    return prediction.answers


def test_the_text_that_others_overlap_wins():
    query = question("Carla", "old Ann", "Ann Bob", "Ann")
    scores = (1.0, 0.9, 0.9, 0.9)
    assert answer(query, *scores) == (("Ann",),)
    assert answer(query, *scores, scale=40.0) == (("Carla",),)
    assert answer(query, *scores, exact=40.0) == (("Carla",),)


def test_texts_that_are_equal_for_the_scorer_add_up():
    query = question("Bob", "The Ann", "Ann")
    assert answer(query, 1.0, 0.9, 0.8) == (("The Ann",),)


def test_f1_is_that_of_the_scorer():
    texts, scores = ("猫", "大犬", "大鳥", "大"), (1.0, 0.9, 0.9, 0.9)
    assert answer(question(*texts), *scores) == (("猫",),)
    assert answer(question(*texts, scorers=("cmrc2018",)), *scores) == (("大",),)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Ann", "the Ann", "Ann Bob", "Bob 3", "3.0", "old Bob Ann", "the"]),
            st.floats(-4, 4),
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(TASKS),
    st.floats(0, 3),
    st.floats(0, 2),
)
def test_the_selected_text_has_the_greatest_value_by_definition(candidates, task, scale, exact):
    texts, scores = zip(*candidates, strict=True)
    query = question(*texts, task=task)
    f1, exact_match = primary_metric(query), solved_metric(query)
    shares = np.exp(scale * (np.array(scores) - max(scores)))
    shares /= shares.sum()

    def value(text):
        expected = 0.0
        for share, gold in zip(shares, texts, strict=True):
            gain = exact * exact_match.value((gold,), (text,))
            expected += share * (f1.value((gold,), (text,)) + gain)
        return expected

    ((selection,),) = answer(query, *scores, scale=scale, exact=exact)
    assert value(selection) >= max(map(value, texts)) - 1e-9


def test_infinite_scores_are_certain():
    assert answer(question("Ann", "Bob"), -math.inf, 0.0) == (("Bob",),)
    assert answer(question("Ann", "Bob"), -math.inf, -math.inf) == (("Ann",),)
    assert answer(question("Ann", "Bob", "Bob"), 0.0, -math.inf, 0.0, scale=0) == (("Bob",),)


def test_a_question_without_candidates_has_no_answer():
    assert answer(question()) == ()
    assert not hasattr(ExpectedF1().fit(Scores.from_lists([[]]), [question()]), "scale_")


@pytest.fixture
def cases():
    rng = np.random.default_rng(0)
    words = ["Ann", "Bob", "Carla", "Dora"]
    texts = [" ".join(pair) for n in (1, 2) for pair in itertools.permutations(words, n)]
    gold = [texts[i] for i in rng.integers(len(texts), size=60)]
    questions = [question(*texts, gold=(text,)) for text in gold]
    scores = 2 * rng.normal(size=(60, len(texts)))
    scores += [[text == of_question for text in texts] for of_question in gold]
    return Scores.from_lists(list(scores)), questions


def test_constants_are_fitted_for_f1(cases):
    scores, questions = cases
    decision = ExpectedF1().fit(scores, questions)

    def values(rule, metric):
        return metric(questions[0]).statistics(questions, rule.decide(scores, questions))[:, 0]

    f1 = values(decision, primary_metric)
    assert f1.mean() > values(Argmax(ties="first"), primary_metric).mean()
    others = [ExpectedF1(scale=t, exact=x) for t in (0.3, 0.7, 1.0, 2.0) for x in (0.0, 0.3, 1.2)]
    for constants in others:
        difference = values(constants, primary_metric) - f1
        assert difference.mean() <= difference.std() / np.sqrt(len(questions)) + 1e-9


def test_the_best_candidate_alone_is_chosen_where_nothing_is_better():
    texts = ("Ann Bob", "Ann", "Bob")
    questions = [question(*texts, gold=(text,)) for text in texts]
    scores = [[2.0 * (text == of_question) for text in texts] for of_question in texts]
    decision = ExpectedF1().fit(Scores.from_lists(scores), questions)
    predictions = decision.decide(Scores.from_lists(scores), questions)
    assert [p.answers for p in predictions] == [((text,),) for text in texts]


def test_given_constants_are_kept(cases):
    decision = ExpectedF1(scale=0.25).fit(*cases)
    assert decision.is_open
    assert decision.scale_ == 0.25
    assert not ExpectedF1(scale=1.0, exact=0.0).is_open


@pytest.mark.parametrize("task", [t for t in Task if t not in TASKS])
def test_options_are_refused(task):
    with raises(UsageError, field="decision", found=task.value, expected="span or cloze"):
        answer(question("Ann", task=task), 1.0)


@pytest.mark.parametrize("parameters", [{"scale": -1}, {"exact": math.nan}, {"scale": "x"}])
def test_parameters_are_checked(parameters):
    ((field, value),) = parameters.items()
    with raises(UsageError, field=field, found=repr(value)):
        answer(question("Ann"), 1.0, **parameters)
