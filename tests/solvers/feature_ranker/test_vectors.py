"""Count vectors and their features, against plain loops."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Passage, Question, Task, TextCandidates
from classic_rc.solvers.feature_ranker.texts import (
    RankerTexts,
    TrainingWords,
    content_counts,
    ranker_texts,
)
from classic_rc.solvers.feature_ranker.vectors import (
    VECTOR_FEATURES,
    CountVectors,
    grouped_products,
    vector_features,
)
from classic_rc.testing import synthetic_dataset
from tests.solvers.feature_ranker.builders import texts_of


def plain_counts(texts: RankerTexts, row_of, n: int) -> np.ndarray:
    """The neighbours within six words, in units of 1/60."""
    arrays = texts.encoded.arrays
    counts = np.zeros((n, n), dtype=np.int64)
    for start, stop in pairwise(arrays.passage_offsets):
        rows = row_of[arrays.passage_tokens[start:stop]].tolist()
        for i, a in enumerate(rows):
            for distance, b in enumerate(rows[i + 1 : i + 7], 1):
                if a >= 0 and b >= 0:
                    counts[a, b] += 60 // distance
                    counts[b, a] += 60 // distance
    return counts


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_vectors_reproduce_the_information_matrix_of_a_plain_count(seed):
    texts = texts_of(seed, 6)
    words = TrainingWords.learn(texts)
    vectors = CountVectors.learn(texts, words)
    row_of = vectors.rows_of(words, texts)
    frequency = np.bincount(texts.encoded.arrays.passage_tokens, minlength=len(words))
    assert np.array_equal(row_of >= 0, frequency >= 3)

    plain = plain_counts(texts, row_of, len(vectors.numbers))
    smoothed = plain.sum(axis=1) ** 0.75
    share_of_context = smoothed / smoothed.sum()
    information = np.zeros(plain.shape)
    for w, c in zip(*np.nonzero(plain), strict=True):
        share = plain[w, c] / plain[w].sum()
        information[w, c] = max(0.0, math.log(share) - math.log(share_of_context[c]))

    # With fewer words than dimensions the decomposition is exact: U S U' and M M' have the same
    # cosines of rows.
    left, values, _ = np.linalg.svd(information)
    exact = left * np.sqrt(values)
    exact /= np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1e-12)
    learned_vectors = vectors.vectors / 2**14
    assert np.allclose(learned_vectors @ learned_vectors.T, exact @ exact.T, rtol=0, atol=2e-3)


def plain_features(texts: RankerTexts, vectors: CountVectors, row_of, rarity) -> np.ndarray:
    """The features by loops over candidates, sentences and words."""
    arrays, n_words = texts.encoded.arrays, texts.encoded.arrays.n_words
    table = vectors.vectors.astype(np.float64)

    def content(tokens):
        counts = content_counts(tokens, np.array([0, len(tokens)]), texts.stop, n_words)
        return dict(zip(counts.words.tolist(), counts.counts.tolist(), strict=True))

    def vector(words):
        total = np.zeros(table.shape[1])
        for word, count in words.items():
            weight = max(int(rarity[word]) >> 14, 1)
            if row_of[word] >= 0:
                total += count * weight * table[row_of[word]]
        if not total.any():
            return total
        _, exponent = np.frexp(np.abs(total).max())
        total = np.rint(np.ldexp(total, 20 - exponent))
        return np.rint(total / math.sqrt(total @ total) * 2**14)

    def cosine(first, second):
        return first @ second / 2**28

    def all_contents(tokens, offsets):
        return [content(tokens[start:stop]) for start, stop in pairwise(offsets)]

    def best(word, others):
        rows = [row_of[other] for other in others if row_of[other] >= 0]
        return max([0.0, *(cosine(table[row_of[word]], table[row]) for row in rows)])

    def mean(numbers):
        return sum(numbers) / max(len(numbers), 1)

    passages = all_contents(arrays.passage_tokens, arrays.passage_offsets)
    questions = all_contents(arrays.question_tokens, arrays.question_offsets)
    candidates = all_contents(arrays.candidate_tokens, arrays.candidate_offsets)
    all_sentences = all_contents(arrays.passage_tokens, texts.sentence_offsets)
    rows = []
    for i, q in enumerate(arrays.candidate_question.tolist()):
        p = int(arrays.question_passage[q])
        sentences = all_sentences[texts.passage_sentences[p] : texts.passage_sentences[p + 1]]
        a, of_question = vector(candidates[i]), vector(questions[q])
        likeness = [cosine(of_question, vector(sentence)) for sentence in sentences]
        cosines = [cosine(a, vector(sentence)) for sentence in sentences]
        power = [math.exp(8 * x) for x in likeness]
        attended = sum(weight * x for weight, x in zip(power, cosines, strict=True))
        new = [w for w in candidates[i] if w not in questions[q]] or list(candidates[i])
        new = [word for word in new if row_of[word] >= 0]
        sentence = sentences[likeness.index(max(likeness))] if sentences else {}
        in_sentence = [word for word in sentence if word in passages[p]]
        others = [j for j in np.flatnonzero(arrays.candidate_question == q) if j != i]
        row = [
            cosine(a, vector(passages[p])),
            cosine(a, of_question),
            max(cosines, default=0.0),
            attended / sum(power) if power else 0.0,
            mean([best(word, passages[p]) for word in new]),
            mean([best(word, in_sentence) for word in new]),
            mean([cosine(a, vector(candidates[j])) for j in others]),
        ]
        rows.append(row)
    return np.array(rows).reshape(-1, len(VECTOR_FEATURES))


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_features_are_those_of_plain_loops(seed):
    training, texts = texts_of(seed, 6), texts_of(seed + 1, 4)
    words = TrainingWords.learn(training)
    vectors = CountVectors.learn(training, words)
    rarity = words.rarity(texts.encoded.vocabulary)
    features = vector_features(texts, words, vectors, rarity)
    expected = plain_features(texts, vectors, vectors.rows_of(words, texts), rarity)
    assert np.allclose(features, expected, rtol=0, atol=1e-14)
    # all but the softmax, whose exponential may differ in its last digit
    exact = [0, 1, 2, 4, 5, 6]
    assert np.array_equal(features[:, exact], expected[:, exact])


def test_features_do_not_depend_on_blocks_or_on_other_questions():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=8, seed=4)
    texts = ranker_texts(dataset)
    words = TrainingWords.learn(texts)
    vectors = CountVectors.learn(texts, words)
    all_features = vector_features(texts, words, vectors, words.rarity(texts.encoded.vocabulary))
    one_question = ranker_texts(dataset[7:8])
    rarity = words.rarity(one_question.encoded.vocabulary)
    alone = vector_features(one_question, words, vectors, rarity)
    is_candidate = texts.encoded.arrays.candidate_question == texts.encoded.place[7]
    assert np.array_equal(alone, all_features[is_candidate])
    with small_blocks(8):
        assert np.array_equal(CountVectors.learn(texts, words).vectors, vectors.vectors)
        rarity = words.rarity(texts.encoded.vocabulary)
        assert np.array_equal(vector_features(texts, words, vectors, rarity), all_features)


def test_without_frequent_words_there_are_no_vectors():
    passage, candidates = (
        Passage("p", "Every word is here once."),
        TextCandidates(["here", "there"]),
    )
    question = Question("q", passage, "Where?", candidates, frozenset({0}), Task.SINGLE_CHOICE)
    texts = ranker_texts([question])
    words = TrainingWords.learn(texts)
    no_vectors = CountVectors.learn(texts, words)
    assert not len(no_vectors.numbers)
    rarity = words.rarity(texts.encoded.vocabulary)
    assert not vector_features(texts, words, no_vectors, rarity).any()


@pytest.mark.parametrize("seed", range(3))
def test_grouped_products_are_the_products_of_each_pair(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(-9, 9, (6, 3)).astype(float)
    second = rng.integers(-9, 9, (5, 3)).astype(float)
    group = np.array([0, 0, 2, 2, 2, 3])
    offsets = np.array([0, 2, 3, 3, 5])
    expected = []
    for left, number in zip(first, group, strict=True):
        expected += [left @ right for right in second[offsets[number] : offsets[number + 1]]]
    assert grouped_products(first, second, group, offsets).tolist() == expected
