"""The default engine against the plain-Python reference, down to the bits, for any division of
sentences.
"""

from __future__ import annotations

import itertools
import math
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.reference import bm25 as reference_bm25
from classic_rc.kernels.reference import tfidf as reference_tfidf
from classic_rc.retrieval.base import TermFacts, read_explanations
from classic_rc.retrieval.segment import SegmentBuilder
from classic_rc.retrieval.similarity import BM25, Classic
from classic_rc.retrieval.sparse import Sparse
from tests.depth import examples
from tests.errors import raises
from tests.retrieval.facts import shares_of

WORDS = [*"abcdef", "fox", "a" * 9, "a" * 8 + "b"]

texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
corpora = st.lists(texts, max_size=25)
constants = [(0.9, 0.4), (1.2, 0.75), (0.0, 0.0), (2.0, 1.0)]
similarities = st.sampled_from([*itertools.starmap(BM25, constants), Classic()])


def sparse(sentences, similarity, size=10**6):
    """Return an engine whose segments have at most so many sentences."""
    with small_blocks(max(size, 1)):
        return Sparse(similarity=similarity, analyzer="whitespace").index(sentences)


def reference(similarity):
    if isinstance(similarity, Classic):
        return reference_tfidf.score
    return partial(reference_bm25.score, k1=similarity.k1, b=similarity.b)


@settings(max_examples=examples(50, 300))
@given(corpora, similarities, st.integers(1, 25), st.lists(texts, max_size=4), st.integers(1, 30))
@example([""], BM25(), 1, ["a"], 1)
def test_top_equals_the_reference(sentences, similarity, size, queries, k):
    hits = sparse(sentences, similarity, size).top(queries, k)
    terms = [sentence.split() for sentence in sentences]
    for query, (numbers, scores) in zip(queries, hits, strict=True):
        expected = reference_bm25.top(query.split(), terms, k, reference(similarity))
        assert list(zip(numbers.tolist(), scores, strict=True)) == expected


@settings(max_examples=examples(66, 400))
@given(
    corpora,
    similarities,
    st.integers(1, 25),
    st.lists(st.tuples(texts, st.lists(texts, max_size=4)), max_size=4),
    st.sampled_from([1, 60, 2**19]),
)
def test_the_best_sentence_equals_the_reference(sentences, similarity, size, queries, block):
    questions = [question for question, _ in queries]
    options = [question_options for _, question_options in queries]
    engine = sparse(sentences, similarity, size)
    with small_blocks(block):
        best = engine.best_constrained(questions, options)
    terms = [sentence.split() for sentence in sentences]
    for question, question_options, (numbers, scores) in zip(questions, options, best, strict=True):
        expected = [
            reference_bm25.best_constrained(
                question.split(), option.split(), terms, reference(similarity)
            )
            for option in question_options
        ]
        assert list(zip(numbers.tolist(), scores, strict=True)) == expected
    assert best.found.tolist() == (best.sentences >= 0).tolist()


@settings(max_examples=examples(16, 100))
@given(corpora.filter(bool), similarities, texts, st.data())
def test_shares_of_terms_sum_to_the_score(sentences, similarity, query, data):
    engine = sparse(sentences, similarity, 6)
    number = data.draw(st.integers(0, len(sentences) - 1))
    shares = shares_of(engine, query, number)
    terms = sentences[number].split()
    assert list(shares) == [term for term in dict.fromkeys(query.split()) if term in terms]
    numbers, scores = engine.top([query], len(sentences))[0]
    expected = dict(zip(numbers.tolist(), scores.tolist(), strict=True)).get(number, 0.0)
    assert sum(shares.values()) == pytest.approx(expected, rel=1e-6)


def many_sentences(n, rng):
    words = rng.zipf(1.3, (n, 7)) % 400
    return [" ".join(f"w{word}" for word in row) for row in words.tolist()]


@pytest.mark.parametrize("k", [1, 3, 40, 700])
def test_the_best_are_the_first_of_all_in_a_larger_collection(k):
    rng = np.random.default_rng(5)
    engine = Sparse(analyzer="whitespace").index(many_sentences(3000, rng))
    queries = [*many_sentences(30, rng), "nothing", " ".join(many_sentences(400, rng))]
    for size in (1, 10_000, 2**30):
        with small_blocks(size):
            best = engine.top(queries, k)
        for (numbers, scores), (all_numbers, all_scores) in zip(
            best, engine.top(queries, 3000), strict=True
        ):
            assert numbers.tolist() == all_numbers[:k].tolist()
            assert scores.tolist() == all_scores[:k].tolist()


def test_a_query_of_thousands_of_terms_is_summed_in_wider_numbers():
    words = [f"w{i}" for i in range(3400)]
    sentences = [" ".join(words[i : i + 340]) for i in range(0, 3400, 340)]
    engine = Sparse(analyzer="whitespace").index(sentences)
    numbers, scores = engine.top([" ".join(words)], 5)[0]
    terms = [sentence.split() for sentence in sentences]
    assert list(zip(numbers.tolist(), scores, strict=True)) == reference_bm25.top(words, terms, 5)


@pytest.mark.parametrize("similarity", ["bm25", "classic"])
def test_bounds_lose_no_result_in_a_larger_collection(similarity):
    rng = np.random.default_rng(3)
    sentences = many_sentences(2000, rng)
    questions, options = many_sentences(8, rng), [many_sentences(4, rng) for _ in range(8)]
    engine = Sparse(similarity=similarity, analyzer="whitespace").index(sentences)
    best = engine.best_constrained(questions, options)
    terms = [set(sentence.split()) for sentence in sentences]
    for question, question_options, (numbers, scores) in zip(questions, options, best, strict=True):
        for option, number, score in zip(
            question_options, numbers.tolist(), scores.tolist(), strict=True
        ):
            hits, values = engine.top([f"{question} {option}"], len(sentences))[0]
            sides = set(question.split()), set(option.split())
            pairs = zip(hits.tolist(), values.tolist(), strict=True)
            shared = (pair for pair in pairs if all(terms[pair[0]] & side for side in sides))
            assert (number, score) == next(shared, (-1, 0.0))


def test_a_question_of_hundreds_of_terms_is_bounded_in_larger_units():
    rng = np.random.default_rng(4)
    sentences = many_sentences(400, rng)
    question = " ".join(many_sentences(300, rng))
    engine = Sparse(analyzer="whitespace").index(sentences)
    best = engine.best_constrained([question, "w1"], [["w2 w3", "w5"], ["w1"]])
    (numbers, scores), terms = best[0], [sentence.split() for sentence in sentences]
    assert len(set(question.split())) > 12
    assert (numbers[0], scores[0]) == reference_bm25.best_constrained(
        question.split(), ["w2", "w3"], terms
    )


def test_many_options_of_one_question_are_processed_in_blocks():
    rng = np.random.default_rng(5)
    engine = Sparse(analyzer="whitespace").index(many_sentences(300, rng))
    question, options = many_sentences(1, rng), many_sentences(200, rng)
    one_block = engine.best_constrained(question, [options])
    with small_blocks(300):
        parts = engine.best_constrained(question, [options])
    assert parts.sentences.tolist() == one_block.sentences.tolist()
    assert parts.scores.tolist() == one_block.scores.tolist()


def test_an_index_of_any_number_of_segments_is_one_index():
    rng = np.random.default_rng(6)
    sentences, questions = many_sentences(500, rng), many_sentences(10, rng)
    options = [many_sentences(3, rng) for _ in questions]
    one_segment = Sparse(analyzer="whitespace").index(sentences)
    with small_blocks(64):
        parts = Sparse(analyzer="whitespace").index(sentences)
    assert len(parts.segments) > 8
    assert [parts.sentence(i) for i in range(500)] == sentences
    for result, expected in (
        (parts.top(questions, 20), one_segment.top(questions, 20)),
        (
            parts.best_constrained(questions, options),
            one_segment.best_constrained(questions, options),
        ),
    ):
        assert result.sentences.tolist() == expected.sentences.tolist()
        assert result.scores.tolist() == expected.scores.tolist()


def test_a_long_text_ends_a_segment():
    with small_blocks(10):
        engine = Sparse().index(["one fox", "another fox", "a third"])
    assert [segment.n_sentences for segment in engine.segments] == [2, 1]


def test_a_vocabulary_that_has_grown_too_large_is_reset():
    builder = SegmentBuilder("whitespace")
    segments = [builder.build(builder.encode(group)) for group in (["a b", "c"], ["d e f", "a"])]
    with small_blocks(1):
        builder = SegmentBuilder("whitespace")
        rebuilt = [builder.build(builder.encode(group)) for group in (["a b", "c"], ["d e f", "a"])]
    assert pickle.dumps(segments) == pickle.dumps(rebuilt)


@pytest.mark.parametrize("similarity", ["bm25", "classic"])
@pytest.mark.parametrize("sentences", [[], [""], ["", "the", "?"]])
def test_nothing_is_found_in_an_index_without_terms(sentences, similarity):
    engine = Sparse(similarity=similarity).index(sentences)
    assert engine.n_sentences == len(sentences)
    hits = engine.top(["fox", ""])
    assert (len(hits), len(hits.sentences), hits.scores.dtype) == (2, 0, np.float32)
    best = engine.best_constrained(["a fox", ""], [["fox", ""], ["x"]])
    assert best.sentences.tolist() == [-1, -1, -1]
    assert best.scores.tolist() == [0, 0, 0]
    assert best.offsets.tolist() == [0, 2, 3]
    among = engine.best_among_top(["a fox"], [["fox"]], 5, "word")
    assert among.sentences.tolist() == [-1]


def test_before_anything_is_indexed_nothing_is_found():
    engine = Sparse()
    assert engine.n_sentences == 0
    assert engine.top(["fox"])[0][0].tolist() == []
    assert engine.best_constrained([], []).offsets.tolist() == [0]


def test_no_queries_and_no_options():
    engine = Sparse().index(["a fox"])
    assert len(engine.top([])) == 0
    assert engine.best_constrained(["fox", "fox"], [[], []]).offsets.tolist() == [0, 0, 0]


def test_unknown_words_and_stop_words_change_nothing():
    engine = Sparse().index(["the fox ran", "a dog ran", "dogs and foxes"])
    plain, padded = engine.top(["fox ran"])[0], engine.top(["the fox and the zebra ran"])[0]
    assert [array.tolist() for array in plain] == [array.tolist() for array in padded]


def test_stop_words_do_not_satisfy_the_constraint():
    engine = Sparse().index(["It is in the den.", "A fox is in the den."])
    best = engine.best_constrained(["Is it a fox?"], [["the den", "of the and"]])
    assert best.sentences.tolist() == [1, -1]


def test_a_word_of_question_and_option_satisfies_both_constraints():
    engine = Sparse(analyzer="whitespace").index(["x y", "fox y", "fox fox z"])
    best = engine.best_constrained(["fox"], [["fox"]])
    assert best.sentences.tolist() == [2]
    assert best.scores.tolist() == engine.top(["fox fox"], 1).scores.tolist()


def test_the_first_of_equal_sentences_wins():
    engine = Sparse().index(["a dog", "red fox", "a red fox", "the red fox!"])
    assert engine.top(["red fox"]).sentences.tolist() == [1, 2, 3]
    assert engine.best_constrained(["fox"], [["red"]]).sentences.tolist() == [1]


def test_a_very_long_sentence_and_a_word_in_half_of_the_sentences():
    long = "fox " * 100_000 + "den"
    sentences = [long, "fox", "den den", "hen"]
    engine = Sparse(analyzer="whitespace").index(sentences)
    terms = [sentence.split() for sentence in sentences]
    numbers, scores = engine.top(["fox den"])[0]
    assert list(zip(numbers.tolist(), scores, strict=True)) == reference_bm25.top(
        ["fox", "den"], terms, 10
    )


def test_odd_characters_are_found_and_returned():
    sentences = [
        "nul\0in fox",
        "half \ud83d surrogate fox",
        "\ufffd fox",
        "名前 ни один",
        "ﬁn İstanbul",
    ]
    engine = Sparse().index(sentences)
    assert [engine.sentence(i) for i in range(5)] == sentences
    assert sorted(engine.top(["fox"]).sentences.tolist()) == [0, 1, 2]
    assert engine.top(["ОДИН", "名", "\ud83d surrogate"]).sentences.tolist() == [3, 3, 1]
    lone = Sparse(analyzer="whitespace").index(["\ud83d x", "\0 x"])
    assert lone.top(["\ud83d", "\0", "\0\0"]).sentences.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("sentences", "field", "found_text"),
    [
        ("a fox", "sentences", "str"),
        (["a", 3], "sentences[1]", "int"),
        ([None], "sentences[0]", "NoneType"),
    ],
)
def test_sentences_that_are_not_strings_are_refused(sentences, field, found_text):
    with raises(UsageError, field=field, found=found_text):
        Sparse().index(sentences)


@pytest.mark.parametrize("number", [-1, 2])
def test_an_unknown_sentence_number_is_refused(number):
    engine = Sparse().index(["a", "b"])
    with pytest.raises(IndexError, match=rf"\b2\b.* {number}$"):
        engine.sentence(number)


def test_other_unusable_arguments_are_refused():
    with raises(UsageError, field="k", found="0"):
        Sparse().top(["x"], 0)
    with raises(UsageError, field="options", found="1", expected="2"):
        Sparse().index(["a"]).best_constrained(["x", "y"], [["z"]])
    with raises(UsageError, field="similarity", found="okapi", expected="'bm25' or 'classic'"):
        Sparse(similarity="okapi")


def test_indexing_again_replaces_the_sentences():
    engine = Sparse().index(["a fox"]).index(["a dog"])
    assert engine.n_sentences == 1
    assert len(engine.top(["fox"]).sentences) == 0


def test_sentences_without_a_term_count_in_the_idf_of_classic_alone():
    full, padded = ["fox", "dog"], ["fox", "", "dog", "the of"]

    def scores_of(texts, similarity):
        return Sparse(similarity=similarity).index(texts).top(["fox"]).scores.tolist()

    # One term of one query: the query norm leaves one idf, 1 + ln(maxDoc / (docFreq + 1)); all
    # other factors are 1.
    assert scores_of(full, "classic") == pytest.approx([1 + math.log(2 / 2)], rel=1e-6)
    assert scores_of(padded, "classic") == pytest.approx([1 + math.log(4 / 2)], rel=1e-6)
    assert scores_of(full, "bm25") == scores_of(padded, "bm25")


@pytest.mark.parametrize("similarity", ["bm25", "classic"])
def test_sentences_that_are_left_out_count_as_sentences_without_a_term(similarity):
    left_out = (
        Sparse(similarity=similarity)
        .index(["red fox", "fox den", "", "red den", "fox"])
        .without([1, 4])
    )
    emptied = Sparse(similarity=similarity).index(["red fox", "", "", "red den", ""])
    queries = ["red fox den", "den"]
    for actual, expected in zip(left_out.top(queries), emptied.top(queries), strict=True):
        assert [array.tolist() for array in actual] == [array.tolist() for array in expected]


@pytest.mark.parametrize("legacy", [False, True])
def test_explanations_of_lucene_and_opensearch_have_the_same_facts(legacy):
    sentences = ["The fox ate grapes.", "A fox and a fox met hens.", "It rains."]
    facts = Sparse().index(sentences).term_facts("two foxes, a fox", 1)
    (fox,) = facts.terms
    boost = fox.boost * (2.2 if legacy else 1)  # before Lucene 8, k1 + 1 is a part of it

    def number(description, value, *details):
        return {"description": description, "value": value, "details": list(details)}

    explanation = number(
        "weight(text:fox in 1) [PerFieldSimilarity], result of:",
        fox.share,
        number(
            "score(freq=2.0), computed as boost * idf * tf from:",
            fox.share,
            number("boost", boost),
            number(
                "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:",
                fox.idf,
                number("n, number of documents containing term", 2),
                number("N, total number of documents with field", 3),
            ),
            number(
                "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:",
                0.7,
                number("freq, occurrences of term within document", 2.0),
                number("k1, term saturation parameter", 0.9),
                number("b, length normalization parameter", 0.4),
                number("dl, length of field", facts.length),
                number("avgdl, average length of field", facts.n_tokens / 3),
            ),
        ),
    )
    query_facts = read_explanations([("fox", fox.boost, explanation)], 3)
    if legacy:
        assert query_facts.terms == [TermFacts("fox", fox.boost, fox.share)]
    else:
        assert query_facts == facts._replace(n_query_terms=0, sum_of_squares=0.0)
