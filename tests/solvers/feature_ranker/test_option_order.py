"""The order of a question's options changes no choice, unless the ranker is told to learn from
positions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc import evaluate, load
from classic_rc.decisions import Argmax
from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.outcomes import N_ORDERS, reorder_options
from classic_rc.solvers import FeatureRanker
from classic_rc.testing import synthetic_dataset
from tests.depth import examples
from tests.errors import raises

FIXED: dict[str, Any] = {"C": 0.3, "lexical_C": 0.3}
TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, seed=1, name="lessons")
CLOZE = synthetic_dataset(Task.CLOZE, n_passages=12, seed=1)

WORDS = st.sampled_from(
    "ann bob did not lost the red old garden yes none of above both seven found she".split()
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@cache
def fitted(task: Task) -> FeatureRanker:
    return FeatureRanker(**FIXED).fit(synthetic_dataset(task, n_passages=12, seed=1))


def chosen(scores, questions):
    return [
        p.answers
        for p in Argmax().decide(scores, [replace(q, task=Task.SINGLE_CHOICE) for q in questions])
    ]


@settings(max_examples=examples(15, 150))
@given(
    passage=st.lists(TEXTS, min_size=1, max_size=5).map(". ".join),
    question_text=TEXTS,
    options=st.lists(TEXTS, min_size=1, max_size=6),
    data=st.data(),
    task=st.sampled_from([Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE]),
)
def test_another_order_changes_no_choice(passage, question_text, options, data, task):
    solver = fitted(task)
    question = Question(
        "q", Passage("p", passage), question_text, tuple(map(Candidate, options)), None, task
    )
    order = data.draw(st.permutations(range(len(options))))
    copy = replace(question, candidates=tuple(question.candidates[i] for i in order))
    (given_order,), (other_order,) = (list(solver.score_candidates([q])) for q in (question, copy))
    assert other_order == pytest.approx(given_order[list(order)], rel=1e-9, abs=1e-9)


def test_with_positions_the_order_matters_and_the_row_says_how_much():
    last = [
        replace(
            q, candidates=tuple(q.candidates[i] for i in order), gold=frozenset({len(order) - 1})
        )
        for q in TRAIN
        for (right,) in [q.gold]
        for order in [[*(i for i in range(len(q.candidates)) if i != right), right]]
    ]
    habit = Dataset(last, "right options last")
    rows = evaluate(
        habit, [FeatureRanker(**FIXED), FeatureRanker(**FIXED, features="default+position")], cv=3
    ).rows
    assert rows[0].option_orders is None
    low, high = rows[1].option_orders
    assert low < 0.5 < high == rows[1].metrics()["accuracy"]


@pytest.mark.parametrize("features", ["default", "surface", "default+surface"])
def test_positions_are_read_only_if_they_are_asked_for(features):
    solver = FeatureRanker(**FIXED, features=features).fit(TRAIN)
    assert not {"position", "is last"} & set(solver.ranker_.design.names)
    with raises(UsageError, field="group of features", found="position"):
        FeatureRanker(**FIXED, features="default+position").fit(CLOZE)


def test_orders_are_drawn_for_each_question():
    def texts(questions, seed=None):
        copies = questions if seed is None else reorder_options(questions, seed)[0]
        return [candidate.text for question in copies for candidate in question.candidates]

    copies, places = reorder_options(TRAIN, 0)
    assert texts(copies) == [texts(TRAIN)[i] for i in places.tolist()]
    assert all(question.gold is None for question in copies)
    assert texts(TRAIN[3:5], 0) == texts(copies[3:5])
    assert all(texts(TRAIN, seed) != texts(copies) for seed in range(1, N_ORDERS))


@pytest.mark.ci
def test_another_order_changes_no_choice_on_mctest(shared_data):
    train, dev = (
        load(shared_data / "mctest" / f"{name}.tsv") for name in ("mc160.train", "mc500.dev")
    )
    solver = FeatureRanker(**FIXED).fit(train)
    scores = solver.score_candidates(dev)
    for seed in range(N_ORDERS):
        copies, places = reorder_options(dev, seed)
        values = np.empty(len(places))
        values[places] = solver.score_candidates(copies).values
        assert chosen(replace(scores, values=values), dev) == chosen(scores, dev)
