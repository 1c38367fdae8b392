from __future__ import annotations

import re

import numpy as np
import pytest

from classic_rc.errors import NotFittedError, UsageError
from classic_rc.metrics import METRICS
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers import (
    AllNegative,
    AllPositive,
    ConstantPosition,
    ExclusiveFrequency,
    LongestCandidate,
    Majority,
    MaximumFrequency,
    NoAnswer,
    Random,
    ShortestCandidate,
)
from tests.errors import raises
from tests.solvers.builders import score_lists

PASSAGE = Passage("p", "Ann met Bob. Bob Lee met Ann, and Bob left.")


def ask(*options, gold=frozenset({0}), task=Task.SINGLE_CHOICE, text="Who?", id="q"):
    return Question(id, PASSAGE, text, tuple(map(Candidate, options)), gold, task)


def test_a_constant_solver_chooses_all_candidates_or_none():
    question = ask("a", "b", task=Task.MULTIPLE_ANSWER)
    assert AllPositive().predict([question])[0].answers == (frozenset({0, 1}),)
    assert AllNegative().predict([question])[0].answers == (frozenset(),)


def test_a_position_is_first_last_or_counted_from_one():
    two, three = ask("a", "b"), ask("a", "b", "c", id="r")
    assert score_lists(ConstantPosition(), two, three) == [[1, 0], [1, 0, 0]]
    assert score_lists(ConstantPosition(position="last"), two, three) == [[0, 1], [0, 0, 1]]
    assert score_lists(ConstantPosition(position=2), two, three) == [[0, 1], [0, 0, 1]]


def test_the_majority_is_learned():
    train = [ask("a", "b", gold={gold}, id=id) for id, gold in (("q", 0), ("r", 1), ("s", 1))]
    solver = ConstantPosition(position="majority")
    assert solver.learns_from == "gold"
    with raises(NotFittedError, field="position", found="'majority'") as caught:
        solver.score_candidates(train)
    assert "--train DATA" in str(caught.value)
    assert score_lists(solver.fit(train), train[0]) == [[0, 1]]
    with raises(UsageError, field="position", found="'majority'", expected=re.compile("gold")):
        solver.fit([ask("a", gold=None)])


def test_the_longest_and_the_shortest_text_score_best():
    question = ask("a b c", "abcdefg")
    assert score_lists(LongestCandidate(), question) == [[5, 7]]
    assert score_lists(ShortestCandidate(unit="words"), question) == [[-3, -1]]


def test_frequencies_count_whole_names():
    question = ask(
        "Bob",
        "Bob Lee",
        "Ann",
        "Eve",
        gold=("Bob",),
        task=Task.CLOZE,
        text="@placeholder knows Ann.",
    )
    assert score_lists(MaximumFrequency(), question) == [[3, 1, 2, 0]]
    scores = ExclusiveFrequency().score_candidates([question])
    assert scores.values.tolist() == [3, 1, 0, 0]
    assert scores.evidence.tolist() == [True, True, False, False]


def test_nothing_is_named_across_the_placeholder():
    passage = Passage("p", "They live in York. Ann and Bob moved in York.")
    candidates = (Candidate("in York"), Candidate("Ann"))
    question = Question(
        "q", passage, "In @placeholder York, Ann sang.", candidates, ("in York",), Task.CLOZE
    )
    assert ExclusiveFrequency().score_candidates([question]).values.tolist() == [2, 0]


def test_random_weighs_a_text_by_its_mentions():
    question = ask("Ann", "Bob", "Ann", gold=("Ann",), task=Task.CLOZE, text="@placeholder left.")
    solver = Random()
    assert METRICS["em"]([question], solver.expectation([question])) == pytest.approx(2 / 3)
    draws = [Random(seed=seed).predict([question])[0] for seed in range(600)]
    is_right = [prediction.answers[0] == ("Ann",) for prediction in draws]
    assert np.mean(is_right) == pytest.approx(2 / 3, abs=0.06)


def test_random_chooses_each_option_equally():
    question = ask("a", "b", "c", "d")
    assert METRICS["accuracy"]([question], Random().expectation([question])) == 0.25
    assert score_lists(Random(seed=1), question) == score_lists(Random(seed=1), question)
    assert score_lists(Random(seed=1), question) != score_lists(Random(seed=2), question)


def test_the_most_frequent_right_text_is_learned_whatever_its_position():
    yes_first, no_first = ask("Yes", "no", gold={0}), ask("no", "yes ", gold={1})
    solver = Majority().fit([yes_first, no_first, ask("no", "yes", gold={0})])
    assert solver.counts_ == {"yes": 2, "no": 1}
    assert score_lists(solver, ask("NO", "YES"), ask("yes", "no", "maybe")) == [[1, 2], [2, 1, 0]]
    # The position tells less: each is right about as often.
    assert ConstantPosition(position="majority").fit([yes_first, no_first]).position_ == 0


def test_the_majority_class_needs_gold():
    with raises(NotFittedError, field="majority"):
        score_lists(Majority(), ask("no", "yes"))
    with raises(UsageError, field="questions", found="1 questions without gold"):
        Majority().fit([ask("no", "yes", gold=None)])


def test_no_answer_is_right_where_there_is_none():
    unanswerable = ask(gold=("",), task=Task.SPAN)
    questions = [unanswerable, ask("Ann", gold=("Ann",), task=Task.SPAN, id="r")]
    predictions = NoAnswer().predict(questions)
    assert [prediction.answers for prediction in predictions] == [(("",),), (("",),)]
    values = {
        name: METRICS[name](questions, predictions)
        for name in ("em", "f1", "has_ans_f1", "no_ans_f1")
    }
    assert values == {"em": 0.5, "f1": 0.5, "has_ans_f1": 0, "no_ans_f1": 1}
