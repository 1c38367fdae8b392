"""Features of spans: numbers, shapes, wh-words, buckets and columns."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers.spans.design import SpanDesign, bucket_edges
from classic_rc.solvers.spans.features import (
    NUMBERS,
    SPAN_FEATURE_GROUPS,
    WH_WORDS,
    SpanFeatures,
    SpanNumbers,
    WordWeights,
    question_kinds,
    shape_name,
    span_groups,
    span_shapes,
)
from classic_rc.testing import synthetic_dataset
from classic_rc.text.encode_spans import encode_spans
from classic_rc.text.spans import SpanGenerator
from tests.errors import raises


def encoded(questions):
    ((_, spans),) = encode_spans(questions, "word")
    return spans


def of_synthetic():
    """Return encoded questions that begin with words of their passage."""
    dataset = [replace(q, text=q.passage.text[:60] + q.text) for q in synthetic_dataset(Task.SPAN, n_passages=4)]
    made = {id(q.passage): SpanGenerator(max_tokens=4)(q.passage) for q in dataset}
    return encoded([replace(q, candidates=made[id(q.passage)]) for q in dataset])


def pairs_of(spans):
    question = np.repeat(np.arange(len(spans.questions)), np.diff(spans.candidate_offsets))
    return question, spans.candidate_span


def expected_numbers(spans, weights, q, s):
    asked = spans.question_tokens[slice(*spans.question_offsets[q : q + 2])].tolist()
    begin, end = spans.sentence_offsets[spans.sentence[s] : spans.sentence[s] + 2]
    first, last = spans.first[s], spans.last[s]
    regions = [spans.tokens[a:b].tolist() for a, b in ((begin, first), (last, end), (first, last), (begin, end))]
    bigrams = set(pairwise(asked))
    return [
        *(sum(weights[w] for w in region if w in asked) for region in regions),
        *(sum(weights[a] + weights[b] for a, b in pairwise(region) if (a, b) in bigrams) for region in regions),
        *map(len, regions),
        sum(weights[w] for w in regions[2]),
    ]


def test_numbers_equal_their_definition():
    spans = of_synthetic()
    weights = np.random.default_rng(1).integers(1, 1000, len(spans.vocabulary))
    question, span = pairs_of(spans)
    numbers = SpanNumbers(spans, weights)
    got = numbers.of(tuple(NUMBERS), question, span)
    assert got.T.tolist() == [expected_numbers(spans, weights, q, s) for q, s in zip(question, span, strict=True)]
    assert (got[4:8] > 0).any()
    assert numbers.matched(question, span).tolist() == (got[3] > 0).tolist()


def test_word_weights_are_inverse_document_frequencies():
    words = WordWeights.of_counts(["fox", "the"], np.array([1, 3]), 3)
    assert (words.weights / 2**16).tolist() == pytest.approx([1 + np.log(4 / 2), 1.0, 1 + np.log(4)], abs=1e-5)
    assert words.numbers(["hen", "the", "fox"]).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("span", "shape"),
    [
        ("Ann", "Xx…Xx {Xx}"),
        ("fox", "x…x {x}"),
        ("Ann, 3 NASA foxes", "Xx…x {x Xx XX 0 ,}"),
        ("Bob's", "Xx…Xx {Xx 's}"),
        ("Bob", "Xx…Xx {Xx}"),
        ("Bob’s", "Xx…Xx {Xx 's}"),
        ("hen", "x…x {x}"),
    ],
)
def test_shapes(span, shape):
    text = "Ann, 3 NASA foxes, a fox, Bob's, Bob’s hen."
    start = text.index(span)
    passage = Passage("p", text)
    spans = encoded([Question("q", passage, "", (Candidate(span, start, start + len(span)),), None, Task.SPAN)])
    assert [shape_name(code) for code in span_shapes(spans).tolist()] == [shape]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Who is it?", "who"),
        ("In  which year?", "which"),
        ("How\nMany owls?", "how many"),
        ("How did she?", "how"),
        ("Whose?", "whose"),
        ("Name the whole.", "other"),
        ("", "other"),
    ],
)
def test_the_kind_of_a_question_is_its_first_wh_word(text, word):
    assert WH_WORDS[question_kinds([text])[0]] == word


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(2, 12))
def test_buckets_keep_equal_numbers_together_and_zero_apart(values, buckets):
    row = np.array(values, dtype=np.int64)
    (edges,) = bucket_edges(row[None], buckets)
    bucket = np.searchsorted(edges, row, side="right")
    assert len(edges) < buckets
    assert sorted(set(bucket.tolist())) == list(range(len(edges) + 1))
    assert all(
        (a <= b) == (x <= y) or x == y
        for a, x in zip(values, bucket, strict=True)
        for b, y in zip(values, bucket, strict=True)
    )
    if 0 in values:
        assert set(row[bucket == 0].tolist()) == {0}


def test_buckets_of_distinct_numbers_are_of_equal_size():
    (edges,) = bucket_edges(np.arange(1, 101)[None], 10)
    assert np.bincount(np.searchsorted(edges, np.arange(1, 101), side="right")).tolist() == [10] * 10


@pytest.mark.parametrize(
    "groups", ["all", "span-words", "shape+wh-shape", "matching-bigrams", "lengths+span-words"]
)
def test_sums_over_columns_equal_matrix_products(groups):
    spans, names = of_synthetic(), span_groups(groups)
    words = WordWeights.of_counts(sorted(spans.vocabulary)[3:], np.arange(3, len(spans.vocabulary)), 40)
    features = SpanFeatures.of(names, words, spans, *pairs_of(spans))
    design = SpanDesign(names, words, bucket_edges(features.numbers, 4))
    columns = design.columns(features)
    weights = np.random.default_rng(0).normal(size=design.n_columns)
    assert columns.matrix(design.n_columns) @ weights == pytest.approx(columns.sums(weights))
    assert len(set(design.labels(np.arange(design.n_columns)))) == design.n_columns
    assert columns.fixed.shape[0] == len(design.names) + ("shape" in names) + ("wh-shape" in names)


def test_columns_have_readable_labels():
    question = Question("q", Passage("p", "Ann ran."), "Who ran?", (Candidate("Ann", 0, 3),), None, Task.SPAN)
    spans, words = encoded([question]), WordWeights.of_counts(["ann", "ran"], np.array([1, 1]), 1)
    features = SpanFeatures.of(tuple(SPAN_FEATURE_GROUPS), words, spans, *pairs_of(spans))
    design = SpanDesign(tuple(SPAN_FEATURE_GROUPS), words, [np.array([1])] * 13)
    columns = design.columns(features)
    labels = design.labels(np.concatenate((columns.fixed[:, 0], columns.words)))
    assert labels == [
        "question words, left: bucket 1 of 2",
        "question words, right: bucket 2 of 2",
        "question words, span: bucket 1 of 2",
        "question words, sentence: bucket 2 of 2",
        *(f"question bigrams, {region}: bucket 1 of 2" for region in ("left", "right", "span", "sentence")),
        "length, left: bucket 1 of 2",
        "length, right: bucket 2 of 2",
        "length, span: bucket 2 of 2",
        "length, sentence: bucket 2 of 2",
        "word weights, span: bucket 2 of 2",
        "shape Xx…Xx {Xx}",
        "who with shape Xx…Xx {Xx}",
        "span has 'ann'",
    ]


def test_groups_are_named():
    assert span_groups("shape+lengths") == ("lengths", "shape")
    assert span_groups("all") == tuple(SPAN_FEATURE_GROUPS)
    with raises(UsageError, field="group of span features", found="shapes", expected=re.compile(r"^shape\b")):
        span_groups("shapes")
