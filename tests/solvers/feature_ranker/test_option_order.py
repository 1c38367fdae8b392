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
from tests.solvers.feature_ranker.builders import CLOZE, TASKS, TRAIN

WEAK: dict[str, Any] = {"C": 0.3, "lexical_C": 0.3}

WORDS = st.sampled_from(
    "ann bob did not lost the red old garden yes none of above both seven found she".split()
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@cache
def fitted(task: Task) -> FeatureRanker:
    return FeatureRanker(**WEAK).fit(synthetic_dataset(task, n_passages=12, seed=1))


def best_options(scores, questions):
    choices = [replace(question, task=Task.SINGLE_CHOICE) for question in questions]
    return [prediction.answers for prediction in Argmax().decide(scores, choices)]


@settings(max_examples=examples(15, 150))
@given(
    passage=st.lists(TEXTS, min_size=1, max_size=5).map(". ".join),
    question_text=TEXTS,
    options=st.lists(TEXTS, min_size=1, max_size=6),
    data=st.data(),
    task=st.sampled_from(TASKS),
)
def test_another_order_changes_no_choice(passage, question_text, options, data, task):
    solver = fitted(task)
    candidates = tuple(map(Candidate, options))
    question = Question("q", Passage("p", passage), question_text, candidates, None, task)
    order = data.draw(st.permutations(range(len(options))))
    copy = replace(question, candidates=tuple(question.candidates[i] for i in order))
    (scores,), (reordered,) = map(solver.score_candidates, ([question], [copy]))
    assert reordered == pytest.approx(scores[list(order)], rel=1e-9, abs=1e-9)


def test_with_positions_the_order_matters_and_the_row_says_how_much():
    questions = []
    for question in TRAIN:
        (right,) = question.gold
        candidates = list(question.candidates)
        candidates.append(candidates.pop(right))
        last = frozenset({len(candidates) - 1})
        questions.append(replace(question, candidates=tuple(candidates), gold=last))
    solvers = [FeatureRanker(**WEAK), FeatureRanker(**WEAK, features="default+position")]
    ranker, with_positions = evaluate(Dataset(questions, "right options last"), solvers, cv=3).rows
    assert ranker.option_orders is None
    low, high = with_positions.option_orders
    assert low < 0.5 < high == with_positions.metrics()["accuracy"]


@pytest.mark.parametrize("features", ["default", "surface", "default+surface"])
def test_positions_are_read_only_if_they_are_asked_for(features):
    solver = FeatureRanker(**WEAK, features=features).fit(TRAIN)
    assert not {"position", "is last"} & set(solver.ranker_.design.names)


def test_cloze_questions_have_no_positions():
    with raises(UsageError, field="group of features", found="position"):
        FeatureRanker(**WEAK, features="default+position").fit(CLOZE)


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
    solver = FeatureRanker(**WEAK).fit(train)
    scores = solver.score_candidates(dev)
    for seed in range(N_ORDERS):
        copies, places = reorder_options(dev, seed)
        values = np.empty(len(places))
        values[places] = solver.score_candidates(copies).values
        assert best_options(replace(scores, values=values), dev) == best_options(scores, dev)
