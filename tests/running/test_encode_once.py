"""Each set of texts is encoded once per analyzer, whatever the number of solvers, folds and
tuning steps.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np

from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Task
from classic_rc.running.fitted_system import EncodingCache, iter_blocks
from classic_rc.solvers import parse_solver
from classic_rc.testing import synthetic_dataset
from classic_rc.text.encode import SharedQuestions, encode


def test_encodings_that_no_later_solver_needs_are_freed():
    cache, dataset = EncodingCache(), synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4)
    shared = cache.of(dataset)
    names = ("word", "treebank", "char")
    encodings = {name: weakref.ref(encode(shared, name).arrays.passage_tokens) for name in names}
    combined = parse_solver("combination,solvers=[sw+d,analyzer=treebank; length],weights=[1; 1]")
    cache.keep_analyzers([combined, parse_solver("sw+d"), parse_solver("longest")])
    assert {name for name, tokens in encodings.items() if tokens() is not None} == {
        "word",
        "treebank",
    }
    cache.keep_analyzers([])
    assert all(tokens() is None for tokens in encodings.values())


def test_encodings_of_a_part_are_freed_before_the_next_one():
    made = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4)
    with small_blocks(100):
        parts = iter_blocks(made, in_parts=True)
        part = next(parts)
        tokens = weakref.ref(encode(part.questions, "word").arrays.passage_tokens)
        assert tokens() is not None
        gc.disable()
        try:
            next(parts)
            assert tokens() is None
        finally:
            gc.enable()


def test_solvers_learn_from_the_same_objects_of_a_fold():
    shared = SharedQuestions(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6))
    fold = shared.take(np.array([0, 2, 3]))
    same_fold = shared.take(np.array([0, 2, 3]))
    other_fold = shared.take(np.array([0, 2]))
    assert fold.questions is same_fold.questions
    assert [q.id for q in fold] == [shared[i].id for i in (0, 2, 3)]
    assert [q.id for q in other_fold] == [shared[i].id for i in (0, 2)]
