"""The null distribution against enumerating every permutation of gold."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.audit import null as null_module
from classic_rc.audit.null import NullDistribution, exceedance_p_value, null_distribution_of
from classic_rc.errors import DataError, UsageError
from classic_rc.metrics import get_metric, metrics_for
from classic_rc.predictions import Prediction
from classic_rc.questions import Candidate, Passage, Question, Task
from tests.errors import raises

PASSAGE = Passage("p", "")


def ask(task, candidates, gold, id_="q"):
    return Question(id_, PASSAGE, "?", tuple(map(Candidate, candidates)), gold, task)


def choose(question, *answers):
    return Prediction(question.id, tuple(answers), n_candidates=len(question.candidates))


def permuted(question):
    """The question with each equally likely gold of the same size."""
    options = range(len(question.candidates))
    return [replace(question, gold=frozenset(g)) for g in itertools.combinations(options, len(question.gold))]


def enumerated(questions, predictions, metric):
    """The metric for every combination of permuted gold."""
    ways = [
        [metric.statistics([q], [p])[0] for q in permuted(q)] for q, p in zip(questions, predictions, strict=True)
    ]
    return np.array([metric.aggregate(np.array(rows)) for rows in itertools.product(*ways)])


single = st.integers(1, 5).flatmap(
    lambda k: st.tuples(
        st.just(Task.SINGLE_CHOICE), st.just(k), st.sets(st.integers(0, k - 1)), st.sets(st.integers(0, k - 1))
    )
)
several = single.map(lambda row: (Task.MULTIPLE_ANSWER, *row[1:]))


@given(st.one_of(single, several))
def test_a_question_has_the_outcomes_of_its_permutations(row):
    task, k, gold, chosen = row
    question = ask(task, ["x"] * k, frozenset(gold))
    tied = [frozenset({i}) for i in sorted(chosen)]
    prediction = choose(question, *tied) if task is Task.SINGLE_CHOICE else choose(question, frozenset(chosen))
    metrics = metrics_for(task)
    null = null_distribution_of([question], [prediction], metrics)
    ((count, lot),) = null.lots
    ways = permuted(question)
    rows = [np.concatenate([m.statistics([way], [prediction])[0] for m in metrics]).round(12) for way in ways]
    expected = {tuple(row): n / len(ways) for row, n in Counter(map(tuple, rows)).items()}
    assert count == 1
    assert {tuple(row): odds for row, odds in zip(lot.rows, lot.odds, strict=True)} == pytest.approx(expected)
    assert null.expected[0] == pytest.approx(np.mean(rows, axis=0))


SEVERAL = [
    ask(Task.MULTIPLE_ANSWER, "abcd", frozenset({0, 1}), "q1"),
    ask(Task.MULTIPLE_ANSWER, "abc", frozenset({2}), "q2"),
    ask(Task.MULTIPLE_ANSWER, "ab", frozenset(), "q3"),
    ask(Task.MULTIPLE_ANSWER, "abcde", frozenset({0, 3, 4}), "q4"),
]
SELECTED = [{0, 1}, {1, 2}, {0}, {3}]
SINGLE = [ask(Task.SINGLE_CHOICE, "abcd", frozenset({i}), f"q{i}") for i in range(4)]
TIED = [(0,), (1, 2), (2, 3, 0), (3,)]


@pytest.mark.parametrize("metric", ["f1_a", "f1_m", "em1"])
def test_several_questions_together(metric):
    predictions = [choose(q, frozenset(s)) for q, s in zip(SEVERAL, SELECTED, strict=True)]
    check_against_enumeration(SEVERAL, predictions, get_metric(metric))


def test_ties_keep_their_partial_credit():
    predictions = [choose(q, *(frozenset({i}) for i in t)) for q, t in zip(SINGLE, TIED, strict=True)]
    check_against_enumeration(SINGLE, predictions, get_metric("accuracy"))


def check_against_enumeration(questions, predictions, metric):
    exact = enumerated(questions, predictions, metric)
    found = null_distribution_of(questions, predictions, [metric]).distributions(20_000)[metric.name]
    assert found.mean == pytest.approx(exact.mean(), abs=1e-3)
    assert found.draws.std() == pytest.approx(exact.std(), rel=0.03)
    assert set(found.draws.round(9)) <= set(exact.round(9))
    for value in np.unique(exact.round(9)):
        expected = np.mean(exact >= value - 1e-9)
        assert exceedance_p_value(value, found) == pytest.approx(
            expected, abs=4 * np.sqrt(expected / 20_000) + 1e-4
        )


def test_chance_of_a_linear_metric_is_exact():
    predictions = [choose(q, *(frozenset({i}) for i in t)) for q, t in zip(SINGLE, TIED, strict=True)]
    null = null_distribution_of(SINGLE, predictions, [get_metric("accuracy")]).distributions(10)
    assert null["accuracy"].mean == pytest.approx(0.25, abs=1e-12)


def test_a_p_value_is_never_zero():
    null = NullDistribution(np.array([0.1, 0.2, 0.30000000000000004]), 0.2)
    assert exceedance_p_value(0.3, null) == 0.5
    assert exceedance_p_value(0.4, null) == 0.25
    assert exceedance_p_value(0.4, null, doubled=True) == 0.5
    assert exceedance_p_value(0.0, null, doubled=True) == 1


def test_draws_follow_from_the_seed():
    predictions = [choose(q, frozenset({0})) for q in SINGLE]
    null = null_distribution_of(SINGLE, predictions, [get_metric("accuracy")])
    first, again, other = (null.distributions(50, seed)["accuracy"].draws for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# Cloze: gold moves among texts that differ for the metric.


def lot_of(question, *texts, metric="em"):
    null = null_distribution_of([question], [choose(question, *((t,) for t in texts))], [get_metric(metric)])
    ((_, lot),) = null.lots
    return {row[0]: odds for row, odds in zip(lot.rows.tolist(), lot.odds.tolist(), strict=True)}


def test_mentions_of_one_text_are_one_candidate():
    question = ask(Task.CLOZE, ["Ann", "Ann", "the Ann", "Bob", "Eve"], ("Ann",))
    assert lot_of(question, "Ann") == pytest.approx({1: 1 / 3, 0: 2 / 3})
    assert lot_of(question, "Ann", "Bob") == pytest.approx({0.5: 2 / 3, 0: 1 / 3})


def test_partial_overlap_of_texts_counts_as_it_does_in_the_metric():
    question = ask(Task.CLOZE, ["Ann Lee", "Bob Lee", "Eve"], ("Eve",))
    # gold moved to: itself, a text that shares one of two words, a text that shares none
    assert lot_of(question, "Ann Lee", metric="f1") == pytest.approx({1: 1 / 3, 0.5: 1 / 3, 0: 1 / 3})


def test_several_accepted_texts_move_together_and_those_of_no_candidate_stay():
    question = ask(Task.CLOZE, ["Ann", "Bob", "Eve"], ("Ann", "Bob", "Ann Lee"))
    assert lot_of(question, "Ann") == pytest.approx({1: 2 / 3, 0: 1 / 3})
    elsewhere = ask(Task.CLOZE, ["Ann Lee", "Bob"], ("Ann",))
    assert lot_of(elsewhere, "Ann Lee", metric="f1") == pytest.approx({round(2 / 3, 12): 1})


def test_very_many_sets_of_texts_are_sampled(monkeypatch):
    monkeypatch.setattr(null_module, "_MAX_GOLD_SETS", 500)
    texts = [f"n{i}" for i in range(14)]
    question = ask(Task.CLOZE, texts, tuple(texts[:4]))  # 1,001 sets of four
    odds = lot_of(question, "n0")
    assert odds[1] == pytest.approx(4 / 14, abs=0.08)
    assert odds == lot_of(question, "n0")


def test_what_has_no_null():
    question, metric = SINGLE[0], [get_metric("accuracy")]
    with raises(UsageError, field="predictions", found=re.compile("expectation")):
        null_distribution_of([question], [Prediction("q", (frozenset({0}),), weights=(1.0,))], metric)
    with raises(DataError, where=f"question {question.id}"):
        null_distribution_of([replace(question, gold=None)], [choose(question, frozenset({0}))], metric)
    span = ask(Task.SPAN, ["a"], ("a",))
    with raises(UsageError, field="questions", found="span"):
        null_distribution_of([span], [choose(span, ("a",))], [get_metric("f1")])
