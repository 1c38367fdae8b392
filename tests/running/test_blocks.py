"""Scoring in blocks of passages does not change the results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Dataset, Task
from classic_rc.running import fitted_system as blocks
from classic_rc.running.evaluate import predict
from classic_rc.solvers import DEFAULT_SOLVERS, parse_solver
from classic_rc.testing import synthetic_dataset
from classic_rc.text.spans import SpanGenerator

SPANS = SpanGenerator(max_tokens=4)


def interleaved(task: Task) -> Dataset:
    """Questions of one passage do not stand together."""
    dataset = synthetic_dataset(task, n_passages=6)
    return Dataset(
        [dataset[i] for i in np.random.default_rng(2).permutation(len(dataset))], "interleaved"
    )


def spanned(task: Task) -> Dataset:
    return interleaved(task).with_candidates(SPANS, "spans")


@pytest.mark.parametrize("task", list(Task))
def test_several_blocks_equal_one(task):
    dataset = interleaved(task)
    spans = {"spans": SPANS} if task.has_spans else {}
    solvers = [parse_solver(name) for name in DEFAULT_SOLVERS[task]]
    unblocked = evaluate(dataset, solvers, **spans)
    with small_blocks(100):
        assert len(list(blocks.iter_blocks(spanned(task) if spans else dataset, in_parts=True))) > 2
        parts = evaluate(dataset, solvers, **spans)
        answered = predict(dataset, solvers[-1], **spans)
    for expected_row, blocked in zip(unblocked.rows, parts.rows, strict=True):
        assert expected_row.signature == blocked.signature
        assert expected_row.outcomes.answers == blocked.outcomes.answers
        for name in ("n_tied", "n_selected", "n_candidates", "evidence"):
            assert np.array_equal(
                getattr(expected_row.outcomes, name), getattr(blocked.outcomes, name)
            ), name
        for name, statistics in expected_row.outcomes.statistics.items():
            assert np.array_equal(statistics, blocked.outcomes.statistics[name])
    expected = predict(dataset, solvers[-1], **spans)
    assert expected.predictions == answered.predictions
    assert spans or np.array_equal(expected.scores.values, answered.scores.values)


@pytest.mark.parametrize(
    "spec", ["sw+d,inverse_counts=corpus", "ir:paragraphs", "surface-lr", "sw+d"]
)
def test_what_needs_other_questions_sees_them_all(spec):
    """Corpus counts, folds and tuned thresholds are of the whole dataset, whatever the size of
    blocks.
    """
    dataset = interleaved(Task.MULTIPLE_ANSWER)
    (unblocked,) = evaluate(dataset, [spec], cv=3).rows
    with small_blocks(100):
        (parts,) = evaluate(dataset, [spec], cv=3).rows
    assert (unblocked.signature, unblocked.outcomes.answers) == (
        parts.signature,
        parts.outcomes.answers,
    )
    assert (unblocked.threshold, unblocked.option_orders) == (parts.threshold, parts.option_orders)


def test_systems_that_share_an_encoding_are_scored_together_and_the_others_alone():
    finished = []

    def on_row(evaluation):
        finished.append([row.name for row in evaluation.rows])

    systems = ["sw", "random", "lexical", "sw+d"]
    with small_blocks(100):
        evaluate(interleaved(Task.SINGLE_CHOICE), systems, on_row=on_row)
    assert finished[1:] == [
        ["sliding-window", "random"],
        ["sliding-window", "random", "lexical"],
        finished[-1],
    ]


def test_blocks_cover_every_question_once_and_keep_passages_whole():
    dataset = spanned(Task.SPAN)
    with small_blocks(1):
        parts = list(blocks.iter_blocks(dataset))
    places = np.concatenate([places for places, _ in parts])
    assert sorted(places.tolist()) == list(range(len(dataset)))
    # the empty passage has no spans, so it fills no block
    assert len(parts) >= len(dataset.passages) - 1
    for index, questions in parts:
        assert [q.id for q in questions] == [dataset[i].id for i in index]
        for passage in {id(q.passage) for q in questions}:
            lists = {id(q.candidates) for q in questions if id(q.passage) == passage}
            assert len(lists) == 1


def test_spans_of_a_passage_are_made_once_for_all_its_questions():
    span_calls = []

    def generator(passage):
        span_calls.append(passage.id)
        return SPANS(passage)

    dataset = synthetic_dataset(Task.SPAN, n_passages=5).with_candidates(generator, "counted")
    with small_blocks(1):
        evaluate(dataset, [parse_solver("sw+d"), parse_solver("random")])
    assert sorted(span_calls) == sorted(p.id for p in dataset.passages)


@pytest.mark.parametrize("in_parts", [False, True])
def test_choices_are_one_block_unless_there_are_many(in_parts):
    dataset = synthetic_dataset(Task.CLOZE)
    ((index, questions),) = blocks.iter_blocks(dataset, in_parts=in_parts)
    assert index.tolist() == list(range(len(dataset)))
    assert list(questions) == list(dataset)


def test_spans_that_a_dataset_brings_are_kept():
    dataset = synthetic_dataset(Task.SPAN, n_passages=3)
    questions = [replace(q, candidates=tuple(SPANS(q.passage))[:2]) for q in dataset]
    mine = replace(dataset, questions=questions, span_generator="mine")
    (row,) = evaluate(mine, [parse_solver("longest")]).rows
    assert set(row.outcomes.n_candidates.tolist()) <= {0, 2}
    assert "spans:mine" in row.signature
