"""Each set of texts is encoded once per analyzer, whatever the number of solvers, folds and tuning steps."""

from __future__ import annotations

import weakref
from collections import Counter

import numpy as np
import pytest

from classic_rc.evaluation import evaluate
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.option_orders import reorder_options
from classic_rc.questions import Task, candidate_texts
from classic_rc.solvers import parse_solver
from classic_rc.testing import synthetic_dataset
from classic_rc.text import encode as encoding
from classic_rc.text.encode import SharedQuestions, encode


def _named(questions):
    return tuple((q.id, *candidate_texts(q.candidates)) for q in questions)


@pytest.fixture
def encoded(monkeypatch):
    """How often each set of questions was encoded, by analyzer, cut, and ids with options."""
    counts = Counter()
    real = encoding._encode

    def counted(questions, analyzer, cut=encoding.whole_text):
        counts[analyzer.spec, cut, _named(questions)] += 1
        return real(questions, analyzer, cut)

    monkeypatch.setattr(encoding, "_encode", counted)
    return counts


LEARN = (
    "surface-lr",
    "surface-lr,features=lengths",
    "lexical,weights=learned",
    "combination,solvers=[surface-lr; sw+d; length],weights=stacked",
)
MATCH = ("sw+d", "sliding-window:race", "sw+d,analyzer=treebank", "sliding-window,inverse_counts=corpus", "lexical")


@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
def test_solvers_and_folds_share_encodings(task, encoded):
    made = synthetic_dataset(task, n_passages=12)
    solvers = [parse_solver(spec) for spec in (*LEARN, *MATCH[0 if task is Task.SINGLE_CHOICE else 2 :])]
    evaluate(made, solvers, cv=5)
    assert set(encoded.values()) == {1}
    reordered = reorder_options(made, 0)[0]  # to see whether learners' scores depend on the order
    assert {names for _, _, names in encoded} == {_named(made), _named(reordered)}
    whole_texts = [spec for spec, cut, names in encoded if cut is encoding.whole_text and names == _named(made)]
    assert len(whole_texts) == len(set(whole_texts))


def test_training_and_tuning_data_are_encoded_once_for_all(encoded):
    made = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6)
    train = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, seed=1, name="train")
    tune = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=8, seed=2, name="tune")
    specs = ("surface-lr", "surface-lr,C=0.1", "sliding-window:race", "sw+d,analyzer=treebank")
    evaluate(made, [parse_solver(spec) for spec in specs], train=train, tune=tune)
    assert set(encoded.values()) == {1}
    # The dataset under two analyzers; train, tune, and the dataset with its options in another order under one.
    assert len(encoded) == 5


def test_encodings_that_no_later_solver_needs_are_freed():
    cache, made = EncodingCache(), synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4)
    shared = cache.of(made)
    names = ("word", "treebank", "char")
    encodings = {name: weakref.ref(encode(shared, name).arrays.passage_tokens) for name in names}
    combined = parse_solver("combination,solvers=[sw+d,analyzer=treebank; length],weights=[1; 1]")
    cache.keep_analyzers([combined, parse_solver("sw+d"), parse_solver("longest")])
    assert {name for name, tokens in encodings.items() if tokens() is not None} == {"word", "treebank"}
    cache.keep_analyzers([])
    assert all(tokens() is None for tokens in encodings.values())


def test_solvers_learn_from_the_same_objects_of_a_fold():
    shared = SharedQuestions(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6))
    one, same, other = (shared.take(np.array(index)) for index in ([0, 2, 3], [0, 2, 3], [0, 2]))
    assert one.questions is same.questions
    assert [q.id for q in one] == [shared[i].id for i in (0, 2, 3)]
    assert [q.id for q in other] == [shared[i].id for i in (0, 2)]
