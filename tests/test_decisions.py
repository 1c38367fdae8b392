from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.decisions import Argmax, Threshold, TunedThreshold, default_decision, sweep
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.metrics import METRICS, metrics_for
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task

PASSAGE = Passage("p", "Some text.")


def question(n, gold, task=Task.SINGLE_CHOICE, id="q", texts=None):
    texts = texts or [f"option {i}" for i in range(n)]
    return Question(id, PASSAGE, "?", tuple(Candidate(t) for t in texts), gold, task)


def answers(decision, scores, asked=None):
    asked = asked or question(len(scores), frozenset({0}))
    return decision.decide(Scores.from_lists([scores]), [asked])[0]


def test_partial_keeps_all_that_tie():
    prediction = answers(Argmax(), [1.0, 3.0, 3.0 - 1e-7, 2.0])
    assert prediction.answers == (frozenset({1}), frozenset({2}))
    assert (prediction.n_tied, prediction.n_candidates) == (2, 4)


def test_the_tolerance_is_not_exceeded():
    assert answers(Argmax(), [1.0, 1.0 - 2e-6]).n_tied == 1


def test_first_takes_the_first_of_a_tie():
    assert answers(Argmax(ties="first"), [0.0, 5.0, 5.0]).answers == (frozenset({1}),)


def test_strict_answers_nothing_on_a_tie():
    assert answers(Argmax(ties="strict"), [5.0, 5.0]).answers == ()
    assert answers(Argmax(ties="strict"), [5.0, 4.0]).answers == (frozenset({0}),)


def test_random_draws_for_the_question_alone():
    asked = [question(4, frozenset({0}), id=f"q{i}") for i in range(400)]
    scores = Scores.from_lists([[1.0] * 4] * 400)
    chosen = [p.answers[0] for p in Argmax(ties="random", seed=3).decide(scores, asked)]
    shuffled = [p.answers[0] for p in Argmax(ties="random", seed=3).decide(scores, asked[::-1])]
    assert chosen == shuffled[::-1]
    share = [sum(c == {i} for c in chosen) for i in range(4)]
    assert min(share) > 70
    assert chosen != [p.answers[0] for p in Argmax(ties="random", seed=0).decide(scores, asked)]


def test_equal_texts_of_a_cloze_question_are_one_candidate():
    asked = question(3, ("Ann",), Task.CLOZE, texts=["Ann", "Bob", "Ann"])
    prediction = answers(Argmax(), [2.0, 1.0, 2.0], asked)
    assert prediction.answers == (("Ann",),)
    assert prediction.n_tied == 1


def test_infinite_scores_tie():
    assert answers(Argmax(), [float("-inf"), float("-inf")]).n_tied == 2
    assert answers(Argmax(), [float("inf"), 0.0, float("inf")]).answers == (frozenset({0}), frozenset({2}))


def test_a_question_without_candidates_is_not_answered():
    assert answers(Argmax(), [], question(0, ("a",), Task.SPAN, texts=[])).answers == ()


def test_an_unknown_policy_is_refused():
    with pytest.raises(UsageError, match="partial, first, random, strict"):
        answers(Argmax(ties="fair"), [1.0])


def test_argmax_is_not_for_several_right_answers():
    with pytest.raises(UsageError, match="threshold"):
        answers(Argmax(), [1.0], question(1, frozenset({0}), Task.MULTIPLE_ANSWER))


def test_a_threshold_selects_what_is_above_it():
    asked = question(3, frozenset({0}), Task.MULTIPLE_ANSWER)
    assert answers(Threshold(value=1.0), [1.0, 1.5, 0.0], asked).answers == (frozenset({1}),)


def test_a_threshold_is_not_for_single_choice():
    with pytest.raises(UsageError, match="single-choice"):
        answers(Threshold(value=1.0), [1.0])


def test_an_untuned_threshold_says_so():
    with pytest.raises(NotFittedError, match="--threshold"):
        answers(TunedThreshold(), [1.0], question(1, frozenset({0}), Task.MULTIPLE_ANSWER))


def test_a_threshold_is_tuned_for_a_known_metric():
    with pytest.raises(UsageError, match="accuracy"):
        TunedThreshold(metric="accuracy").fit(Scores.from_lists([[1.0]]), [question(1, frozenset({0}))])


def test_infinite_scores_cannot_be_tuned():
    asked = question(2, frozenset({0}), Task.MULTIPLE_ANSWER)
    with pytest.raises(UsageError, match="infinite"):
        TunedThreshold().fit(Scores.from_lists([[1.0, float("inf")]]), [asked])


@st.composite
def scored(draw):
    rows = draw(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=5), min_size=1, max_size=6))
    asked = [
        question(len(row), frozenset(draw(st.sets(st.integers(0, len(row) - 1)))), Task.MULTIPLE_ANSWER, f"q{i}")
        for i, row in enumerate(rows)
    ]
    return Scores.from_lists([[float(x) for x in row] for row in rows]), asked


@settings(max_examples=200, deadline=None)
@given(scored(), st.sampled_from([m.name for m in metrics_for(Task.MULTIPLE_ANSWER)]))
def test_the_sweep_equals_trying_every_threshold(case, name):
    scores, asked = case
    thresholds, values = sweep(METRICS[name], scores, asked)
    tried = [METRICS[name](asked, Threshold(value=t).decide(scores, asked)) for t in thresholds]
    assert np.allclose(values, tried, atol=1e-12)
    # no cut point is missing: every distinct selection is among the tried ones
    distinct = np.unique(scores.values)
    assert len(thresholds) == len(distinct) + 1
    tuned = TunedThreshold(metric=name).fit(scores, asked)
    assert tuned.best_score_ == pytest.approx(max(tried))
    assert METRICS[name](asked, tuned.decide(scores, asked)) == pytest.approx(max(tried))


def test_the_default_rule_follows_the_task():
    assert isinstance(default_decision(Task.MULTIPLE_ANSWER), TunedThreshold)
    assert isinstance(default_decision(Task.CLOZE), Argmax)
