"""Count vectors and their features, against plain loops."""

from __future__ import annotations

import math

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


def texts_of(seed: int, n_passages: int = 6) -> RankerTexts:
    return ranker_texts(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=n_passages, seed=seed))


def plain_counts(texts: RankerTexts, row_of, n: int) -> np.ndarray:
    """The neighbours within six words, in units of 1/60."""
    arrays = texts.encoded.arrays
    counts = np.zeros((n, n), dtype=np.int64)
    for p in range(len(arrays.passage_offsets) - 1):
        own = arrays.passage_tokens[
            arrays.passage_offsets[p] : arrays.passage_offsets[p + 1]
        ].tolist()
        for i, left in enumerate(own):
            for j in range(i + 1, min(i + 7, len(own))):
                a, b = row_of[left], row_of[own[j]]
                if a >= 0 and b >= 0:
                    counts[a, b] += 60 // (j - i)
                    counts[b, a] += 60 // (j - i)
    return counts


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_vectors_reproduce_the_information_matrix_of_a_plain_count(seed):
    texts = texts_of(seed)
    words = TrainingWords.learn(texts)
    vectors = CountVectors.learn(texts, words)
    row_of = vectors.rows_of(words, texts)
    frequency = np.bincount(texts.encoded.arrays.passage_tokens, minlength=len(words))
    assert np.array_equal(row_of >= 0, frequency >= 3)

    plain = plain_counts(texts, row_of, len(vectors.numbers))
    smoothed = plain.sum(axis=1) ** 0.75
    information = np.zeros(plain.shape)
    for w, c in zip(*np.nonzero(plain), strict=True):
        pmi = math.log(plain[w, c] / plain[w].sum()) - math.log(smoothed[c] / smoothed.sum())
        information[w, c] = max(0.0, pmi)

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
            if row_of[word] >= 0:
                total += count * max(int(rarity[word]) >> 14, 1) * table[row_of[word]]
        if not total.any():
            return total
        total = np.rint(np.ldexp(total, 20 - np.frexp(np.abs(total).max())[1]))
        return np.rint(total / math.sqrt(total @ total) * 2**14)

    def cosine(first, second):
        return first @ second / 2**28

    def slice_of(tokens, offsets, i):
        return tokens[offsets[i] : offsets[i + 1]]

    rows = []
    for i, q in enumerate(arrays.candidate_question.tolist()):
        p = int(arrays.question_passage[q])
        passage = content(slice_of(arrays.passage_tokens, arrays.passage_offsets, p))
        asked = content(slice_of(arrays.question_tokens, arrays.question_offsets, q))
        own = content(slice_of(arrays.candidate_tokens, arrays.candidate_offsets, i))
        sentences = [
            content(slice_of(arrays.passage_tokens, texts.sentence_offsets, s))
            for s in range(texts.passage_sentences[p], texts.passage_sentences[p + 1])
        ]
        a, of_question = vector(own), vector(asked)
        of_sentences = [vector(words) for words in sentences]
        similarities = [cosine(of_question, s) for s in of_sentences]
        power = [math.exp(8 * x) for x in similarities]
        mean = sum(w * cosine(a, s) for w, s in zip(power, of_sentences, strict=True))
        new = [w for w in own if w not in asked] or list(own)
        new = [w for w in new if row_of[w] >= 0]

        def best(word, others):
            found = [
                cosine(table[row_of[word]], table[row_of[o]]) for o in others if row_of[o] >= 0
            ]
            return max([0.0, *found])

        place = similarities.index(max(similarities)) if similarities else None
        others = np.flatnonzero(arrays.candidate_question == q)
        of_others = [
            vector(content(slice_of(arrays.candidate_tokens, arrays.candidate_offsets, j)))
            for j in others
            if j != i
        ]
        in_asked = [w for w in sentences[place] if w in passage] if place is not None else []
        rows.append(
            [
                cosine(a, vector(passage)),
                cosine(a, of_question),
                max([cosine(a, s) for s in of_sentences], default=0.0),
                mean / sum(power) if power else 0.0,
                sum(best(w, passage) for w in new) / max(len(new), 1),
                sum(best(w, in_asked) for w in new) / max(len(new), 1),
                sum(cosine(a, o) for o in of_others) / max(len(of_others), 1),
            ]
        )
    return np.array(rows).reshape(-1, len(VECTOR_FEATURES))


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_features_are_those_of_plain_loops(seed):
    training, texts = texts_of(seed), texts_of(seed + 1, n_passages=4)
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
    alone = vector_features(
        one_question, words, vectors, words.rarity(one_question.encoded.vocabulary)
    )
    question = texts.encoded.place[7]
    assert np.array_equal(alone, all_features[texts.encoded.arrays.candidate_question == question])
    with small_blocks(8):
        assert np.array_equal(CountVectors.learn(texts, words).vectors, vectors.vectors)
        rarity = words.rarity(texts.encoded.vocabulary)
        assert np.array_equal(vector_features(texts, words, vectors, rarity), all_features)


def test_without_frequent_words_there_are_no_vectors():
    passage = Passage("p", "Every word is here once.")
    texts = ranker_texts(
        [
            Question(
                "q",
                passage,
                "Where?",
                TextCandidates(["here", "there"]),
                frozenset({0}),
                Task.SINGLE_CHOICE,
            )
        ]
    )
    words = TrainingWords.learn(texts)
    no_vectors = CountVectors.learn(texts, words)
    assert not len(no_vectors.numbers)
    assert not vector_features(
        texts, words, no_vectors, words.rarity(texts.encoded.vocabulary)
    ).any()


@pytest.mark.parametrize("seed", range(3))
def test_grouped_products_are_the_products_of_each_pair(seed):
    rng = np.random.default_rng(seed)
    first, second = (
        rng.integers(-9, 9, (6, 3)).astype(float),
        rng.integers(-9, 9, (5, 3)).astype(float),
    )
    group, offsets = np.array([0, 0, 2, 2, 2, 3]), np.array([0, 2, 3, 3, 5])
    expected = [
        first[i] @ second[j]
        for i in range(6)
        for j in range(offsets[group[i]], offsets[group[i] + 1])
    ]
    assert grouped_products(first, second, group, offsets).tolist() == expected
