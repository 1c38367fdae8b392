from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from classic_rc.decisions import Argmax, TunedThreshold, default_decision, describe_decision
from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from tests.errors import raises


def test_partial_keeps_all_that_tie(answers):
    prediction = answers(Argmax(), [1.0, 3.0, 3.0 - 1e-7, 2.0])
    assert prediction.answers == (frozenset({1}), frozenset({2}))
    assert (prediction.n_tied, prediction.n_candidates) == (2, 4)


def test_the_tolerance_is_not_exceeded(answers):
    assert answers(Argmax(), [1.0, 1.0 - 2e-6]).n_tied == 1


def test_first_takes_the_first_of_a_tie(answers):
    prediction = answers(Argmax(ties="first"), [0.0, 5.0, 5.0])
    assert (prediction.answers, prediction.n_tied) == ((frozenset({1}),), 2)


def test_strict_answers_nothing_on_a_tie(answers):
    assert answers(Argmax(ties="strict"), [5.0, 5.0]).answers == ()
    assert answers(Argmax(ties="strict"), [5.0, 4.0]).answers == (frozenset({0}),)


def test_random_draws_for_the_question_alone(question):
    questions = [question(4, frozenset({0}), id=f"q{i}") for i in range(400)]
    scores = Scores.from_lists([[1.0] * 4] * 400)

    def draw(seed, questions):
        predictions = Argmax(ties="random", seed=seed).decide(scores, questions)
        return [prediction.answers[0] for prediction in predictions]

    drawn = draw(3, questions)
    assert draw(3, questions[::-1])[::-1] == drawn
    assert min(Counter(drawn).values()) > 70
    assert draw(0, questions) != drawn


def test_equal_texts_of_a_cloze_question_are_one_candidate(answers, question):
    query = question(3, ("Ann",), Task.CLOZE, texts=["Ann", "Bob", "Ann"])
    prediction = answers(Argmax(), [2.0, 1.0, 2.0], query)
    assert prediction.answers == (("Ann",),)
    assert prediction.n_tied == 1


def test_infinite_scores_tie(answers):
    assert answers(Argmax(), [float("-inf"), float("-inf")]).n_tied == 2
    prediction = answers(Argmax(), [float("inf"), 0.0, float("inf")])
    assert prediction.answers == (frozenset({0}), frozenset({2}))


def test_a_question_without_candidates_is_not_answered(answers, question):
    assert answers(Argmax(), [], question(0, ("a",), Task.SPAN, texts=[])).answers == ()


def test_an_unknown_policy_is_refused(answers):
    with raises(UsageError, field="ties", found="'fair'", expected=re.compile("'strict'")):
        answers(Argmax(ties="fair"), [1.0])


def test_argmax_is_not_for_several_right_answers(answers, question):
    with raises(UsageError, field="decision", found="Argmax", expected=re.compile("Threshold")):
        answers(Argmax(), [1.0], question(1, frozenset({0}), Task.MULTIPLE_ANSWER))


def test_the_default_rule_follows_the_task():
    assert isinstance(default_decision(Task.MULTIPLE_ANSWER), TunedThreshold)
    assert isinstance(default_decision(Task.CLOZE), Argmax)


def test_a_rule_describes_itself_in_full():
    assert describe_decision(Argmax(ties="first")) == {
        "rule": "Argmax",
        "ties": "first",
        "tie_tolerance": 1e-6,
        "seed": 0,
    }
    assert describe_decision(TunedThreshold(cuts="multirc2018")) == {
        "rule": "TunedThreshold",
        "metric": "f1_a",
        "cuts": "multirc2018",
    }


def foreign(*rows):
    return Scores.from_lists(rows, relative_ties=True)


@pytest.mark.parametrize(
    ("row", "best"),
    [
        ([1e-8, 9e-8, 1e-8, 1e-8], {1}),
        ([1e-200, 3e-200, 2e-200], {1}),
        ([0.1 + 0.2, 0.3, 0.1], {0, 1}),
        ([1e200, 1e200 * (1 - 1e-13), 5e199], {0, 1}),
        ([-4e-9, -5e-9], {0}),
        ([0.0, 0.0, -1e-300], {0, 1}),
        ([5e-324, 0.0], {0}),
        ([1.0, 1.0 - 1e-11], {0}),
    ],
)
def test_scores_of_a_file_tie_relative_to_the_largest_of_the_question(question, row, best):
    flags = foreign([7.0] * 3, [], row, [1e9, 0.0]).are_best()
    assert set(np.flatnonzero(flags[3 : 3 + len(row)]).tolist()) == best
    (prediction,) = Argmax().decide(foreign(row), [question(len(row), frozenset({0}))])
    assert {next(iter(answer)) for answer in prediction.answers} == best


@pytest.mark.parametrize(
    ("row", "n"), [([np.inf, 0.0, np.inf], 2), ([-np.inf, -np.inf], 2), ([-np.inf, 3.0], 1)]
)
def test_infinite_scores_of_any_origin_tie_with_each_other(row, n):
    for scores in (foreign(row), Scores.from_lists([row])):
        assert scores.are_best().sum() == n


def test_a_tolerance_that_is_given_applies_to_scores_of_any_origin():
    assert foreign([1.0, 0.7, 0.4]).are_best(0.5).tolist() == [True, True, False]


def test_the_origin_of_scores_stays_with_their_parts():
    scores = foreign([1e-8, 2e-8], [3.0])
    assert scores.take([0]).relative_ties
    assert Scores.concatenate([scores, scores]).relative_ties
    assert not Scores.concatenate([scores, Scores.from_lists([[1.0]])]).relative_ties


def test_tied_scores_become_equal_and_the_others_stay():
    near_ties = Scores.from_lists([[1.0, 1.0 - 5e-7, 1.0 - 2e-6], [], [0.5, 0.5]])
    equal = near_ties.with_equal_ties()
    assert equal.values.tolist() == [1.0, 1.0, 1.0 - 2e-6, 0.5, 0.5]
    assert np.array_equal(equal.are_best(), near_ties.are_best())
    assert near_ties.with_equal_ties(0).values.tolist() == near_ties.values.tolist()
