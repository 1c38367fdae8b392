"""Count vectors of words, learned from the training passages alone, and the features that compare
texts by them.

Vectors are integers in units of 2**-14, so that their products are exact in any order: given the
vectors, the features have the same digits for any blocks, threads and libraries, but for the
exponential in one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, look_up, offsets_of, ragged_indices, runs_of
from classic_rc.kernels.pairs import WordCounts, occurrences
from classic_rc.kernels.word_sets import flagged_or_all
from classic_rc.solvers.feature_ranker.texts import (
    RARITY_BITS,
    PassageSentences,
    RankerTexts,
    TrainingWords,
    content_counts,
    passage_of_candidates,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

VECTOR_FEATURES = (
    "vectors: candidate, passage",
    "vectors: candidate, question",
    "vectors: candidate, best sentence",
    "vectors: candidate, sentences like the question",
    "vectors: new words, passage",
    "vectors: new words, best question sentence",
    "vectors: candidate, other candidates",
)
"""The names of the features of :func:`vector_features`."""

WINDOW = 6
"""The largest distance in tokens of two words that count as neighbours."""
CONTEXT_EXPONENT = 0.75
MIN_COUNT = 3
"""Words that occur less often in the training passages have no vector."""
MAX_VECTORS = 20_000
DIMENSIONS = 100
SHARPNESS = 8.0
"""The factor of a cosine in the softmax over sentences."""

_GRID = 2.0**14
"""The units of a length of 1."""
_COUNT_UNIT = 60
"""A multiple of 1, 2, ..., 6, so that a count of 1/distance is a whole number of units."""
_FEW_TOKENS = 2**22
"""The counts of so many tokens, at most 294 units each, fit in 32 bits."""
_WEIGHT_BITS = 6
"""The binary places of a word's weight in the vector of a text."""
_POWER_STEPS = 3
_EXTRA_DIMENSIONS = 20
_BLOCK_COLUMNS = 40
_BLOCK_TOKENS = 2**15
_COUNTED_TOKENS = 2**20


@dataclass(frozen=True)
class CountVectors:
    """A vector of length 1 for each of some words of the training data."""

    numbers: NDArray[np.int64]  # (n_vectors,): the words' numbers in TrainingWords, ascending
    vectors: NDArray[np.int16]  # (n_vectors, n_dimensions): in units of 2**-14

    @classmethod
    def learn(cls, texts: RankerTexts, words: TrainingWords) -> CountVectors:
        r"""Learn vectors from the passages of some texts.

        A word within six words of another one, in the same passage, counts 1/distance. The matrix
        of

        .. math::

            \max\left(0, \ln \frac{n_{wc}}{n_w} - \ln \frac{n_c^{0.75}}{\sum_c n_c^{0.75}}\right)

        (positive pointwise mutual information with smoothed contexts, Levy, Goldberg and Dagan
        2015, section 3) of the 20,000 most frequent words that occur three times or more is reduced
        to 100 dimensions by a randomised singular value decomposition (Halko, Martinsson and Tropp
        2011) from a fixed start. A word's vector is its row of left singular vectors times the
        singular values' square roots, divided by its length.
        """
        arrays = texts.encoded.arrays
        numbers = words.numbers_of(texts.encoded.vocabulary)
        frequency = np.zeros(len(words), dtype=np.int64)
        counts = np.bincount(arrays.passage_tokens, minlength=arrays.n_words)
        np.add.at(frequency, numbers, counts[: len(numbers)])
        frequent = np.flatnonzero(frequency >= MIN_COUNT)
        # Of equally frequent words, the first in the alphabet has a vector.
        by_frequency = np.argsort(-frequency[frequent], kind="stable")
        frequent = np.sort(frequent[by_frequency[:MAX_VECTORS]])
        index = np.full(max(len(words), 1), -1)
        index[frequent] = np.arange(len(frequent))
        if not len(frequent):
            return cls(frequent, np.empty((0, 0), dtype=np.int16))
        tokens = index[numbers[arrays.passage_tokens]]
        matrix = _count_neighbours(tokens, arrays.passage_offsets, len(frequent))
        matrix = _positive_information(matrix)
        vectors = _quantised(_left_singular(matrix, DIMENSIONS))
        return cls(frequent, vectors.astype(np.int16))

    def rows_of(self, words: TrainingWords, texts: RankerTexts) -> NDArray[np.int64]:
        """Return the row of each word of an encoding's vocabulary, or -1."""
        of_number = np.full(len(words) + 1, -1)
        of_number[self.numbers] = np.arange(len(self.numbers))
        return of_number[words.numbers_of(texts.encoded.vocabulary)]


def _count_neighbours(
    tokens: NDArray[np.int64], offsets: NDArray[np.int64], n_words: int
) -> csr_matrix:
    """Count how often words are near each other, in units of 1/60; tokens of -1 only take up
    room.
    """
    from scipy.sparse import csr_matrix

    kind = np.int32 if len(tokens) <= _FEW_TOKENS else np.int64
    total = csr_matrix((n_words, n_words), dtype=kind)
    for start, stop in runs_of(np.diff(offsets), _COUNTED_TOKENS):
        first, last = offsets[start], offsets[stop]
        block_tokens = tokens[first:last]
        lengths = np.diff(offsets[start : stop + 1])
        passage = np.repeat(np.arange(stop - start), lengths)
        for distance in range(1, WINDOW + 1):
            earlier, later = block_tokens[:-distance], block_tokens[distance:]
            near = passage[:-distance] == passage[distance:]
            near &= (earlier >= 0) & (later >= 0)
            amounts = np.full(int(near.sum()), _COUNT_UNIT // distance, dtype=kind)
            total = total + csr_matrix((amounts, (earlier[near], later[near])), total.shape)
    symmetric: csr_matrix = (total + total.T).tocsr()
    symmetric.sort_indices()
    return symmetric


def _positive_information(counts: csr_matrix) -> csr_matrix:
    """Return the positive pointwise mutual information of a symmetric matrix of counts."""
    from scipy.sparse import csr_matrix

    of_word = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    smoothed = of_word**CONTEXT_EXPONENT
    smoothed /= smoothed.sum()
    information = np.repeat(of_word, np.diff(counts.indptr))
    information *= smoothed[counts.indices]
    np.divide(counts.data, information, out=information)
    np.maximum(np.log(information, out=information), 0.0, out=information)
    result = csr_matrix((information, counts.indices, counts.indptr), counts.shape)
    result.eliminate_zeros()
    return result


def _left_singular(matrix: csr_matrix, n_dimensions: int) -> NDArray[np.float64]:
    """Return the first left singular vectors, times the square roots of their singular values."""
    n_columns = min(n_dimensions + _EXTRA_DIMENSIONS, matrix.shape[0])
    basis = np.random.default_rng(0).standard_normal((matrix.shape[1], n_columns))
    for factor in (matrix, *(matrix.T, matrix) * _POWER_STEPS):
        basis = _times(factor, basis)
        basis = np.linalg.qr(basis)[0]
    singular_vectors, values, _ = np.linalg.svd(_times(matrix.T, basis).T, full_matrices=False)
    vectors: NDArray[np.float64] = basis @ singular_vectors * np.sqrt(values)
    vectors = vectors[:, :n_dimensions]
    # Libraries choose the signs of singular vectors, so the largest component becomes positive.
    largest = np.abs(vectors).argmax(axis=0)
    components = vectors[largest, np.arange(vectors.shape[1])]
    return vectors * np.where(components < 0, -1.0, 1.0)


def _times(matrix: Any, basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a product, some columns at a time: the rows that are added stay in the cache."""
    result = np.empty((matrix.shape[0], basis.shape[1]))
    for start in range(0, basis.shape[1], _BLOCK_COLUMNS):
        columns = slice(start, start + _BLOCK_COLUMNS)
        result[:, columns] = matrix @ np.ascontiguousarray(basis[:, columns])
    return result


def _quantised(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vectors divided by their lengths, in whole units of 2**-14; 0 stays 0."""
    if not vectors.size:
        return vectors
    # Components are rounded to 20 bits first, so that the sum of the squares is exact.
    exponent = np.frexp(np.abs(vectors).max(axis=1))[1]
    cut = np.rint(np.ldexp(vectors, (20 - exponent)[:, None]))
    lengths = np.sqrt(np.einsum("ij,ij->i", cut, cut))
    lengths[lengths == 0] = 1.0
    return np.rint(cut / lengths[:, None] * _GRID)


def vector_features(
    texts: RankerTexts, words: TrainingWords, vectors: CountVectors, rarity: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the features of :data:`VECTOR_FEATURES` for each distinct candidate: shape
    (n_distinct, 7).

    A text's vector is the sum of its content words' vectors times their rarity, divided by its
    length. Texts are compared by their cosine, which is 0 without a vector.

    * candidate with passage, with question, with its best sentence, and the mean of the cosines
      with all sentences, weighted by the softmax of 8 times the sentence's cosine with the
      question;
    * the mean, over the candidate's words that are not in the question, of the best cosine with a
      content word of the passage, and with one of those in the sentence that is most like the
      question;
    * the mean cosine with the question's other candidates.
    """
    arrays = texts.encoded.arrays
    result = np.zeros((len(arrays.candidate_question), len(VECTOR_FEATURES)))
    if not vectors.vectors.size or not len(result):
        return result
    row_of = vectors.rows_of(words, texts)
    weights = np.maximum(rarity >> (RARITY_BITS - _WEIGHT_BITS), 1)
    space = _Space(vectors.vectors.astype(np.float64), row_of, weights, texts.stop, arrays.n_words)
    for start, stop in runs_of(np.diff(arrays.passage_offsets), _BLOCK_TOKENS):
        questions = np.searchsorted(arrays.question_passage, (start, stop))
        if questions[0] < questions[1]:
            first, last = np.searchsorted(arrays.candidate_question, questions).tolist()
            block = arrays.slice_questions(*questions.tolist())
            if first < last:
                sentences = PassageSentences.of(
                    texts.sentence_offsets, texts.passage_sentences, start, stop
                )
                result[first:last] = _block_features(block, sentences, space)
    return result


class _Space(NamedTuple):
    vectors: NDArray[np.float64]  # (n_vectors, n_dimensions), integers
    row_of: NDArray[np.int64]  # (n_words,): each word's row, or -1
    weights: NDArray[np.int64]  # (n_words,): each word's weight in a text's vector
    stop: NDArray[np.bool_]  # (n_words,)
    n_words: int

    def content(self, tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> WordCounts:
        return content_counts(tokens, offsets, self.stop, self.n_words)

    def of_texts(self, counts: WordCounts) -> NDArray[np.float64]:
        """Return the vector of each text: shape (n_texts, n_dimensions), integers."""
        from scipy.sparse import csr_matrix

        row = self.row_of[counts.words]
        has_vector = row >= 0
        weights = self.weights[counts.words[has_vector]]
        amounts = (counts.counts[has_vector] * weights).astype(np.float64)
        places = counts.texts[has_vector], row[has_vector]
        shape = (len(counts.offsets) - 1, len(self.vectors))
        return _quantised(csr_matrix((amounts, places), shape) @ self.vectors)

    def of_words(self, words: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the vectors of words that have one: shape (n, n_dimensions), integers."""
        return self.vectors[self.row_of[words]]


def _block_features(
    arrays: TokenArrays, sentences: PassageSentences, space: _Space
) -> NDArray[np.float64]:
    question, passage = arrays.candidate_question, passage_of_candidates(arrays)
    of_passages = space.of_texts(space.content(arrays.passage_tokens, arrays.passage_offsets))
    sentence_words = space.content(arrays.passage_tokens, sentences.offsets)
    of_sentences = space.of_texts(sentence_words)
    questions = space.content(arrays.question_tokens, arrays.question_offsets)
    of_questions = space.of_texts(questions)
    candidates = space.content(arrays.candidate_tokens, arrays.candidate_offsets)
    of_candidates = space.of_texts(candidates)

    likeness = _Products(of_questions, of_sentences, arrays.question_passage, sentences.of_passage)
    power = np.exp(SHARPNESS * likeness.values)
    products = _Products(of_candidates, of_sentences, passage, sentences.of_passage)
    # A candidate has the sentences of its question, in the same order.
    attention = power[ragged_indices(likeness.offsets[question], np.diff(products.offsets))]
    n_candidates = len(question)
    weight = np.bincount(products.rows, weights=attention, minlength=n_candidates)
    attended = np.bincount(
        products.rows, weights=attention * products.values, minlength=n_candidates
    )

    best = likeness.argmax()  # of each question, the index among its passage's sentences, or -1
    best_sentences = np.where(best >= 0, sentences.of_passage[arrays.question_passage] + best, -1)
    in_passage, in_best_sentence = _best_words(
        arrays, candidates, questions, sentence_words, sentences, best_sentences, space
    )

    sizes = np.bincount(question, minlength=len(arrays.question_passage))
    all_of_question = np.zeros((len(sizes), of_candidates.shape[1]))
    np.add.at(all_of_question, question, of_candidates)
    # Vectors are integers, so this is exactly the sum of the others.
    others = all_of_question[question] - of_candidates
    n_others = np.maximum(sizes[question] - 1, 1)
    columns = (
        _dot(of_candidates, of_passages[passage]),
        _dot(of_candidates, of_questions[question]),
        products.max(),
        attended / np.where(weight > 0, weight, 1.0),
        in_passage,
        in_best_sentence,
        _dot(of_candidates, others) / n_others,
    )
    return np.stack(columns, axis=1)


def _dot(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.einsum("ij,ij->i", first, second) / _GRID**2


class _Products:
    """The cosines of texts with all sentences of their passages, ragged over the texts."""

    def __init__(
        self,
        texts: NDArray[np.float64],
        others: NDArray[np.float64],
        group: NDArray[np.int64],
        other_offsets: NDArray[np.int64],
    ) -> None:
        sizes = np.diff(other_offsets)[group]
        self.offsets = offsets_of(sizes)
        self.rows = np.repeat(np.arange(len(group)), sizes)
        self.values = grouped_products(texts, others, group, other_offsets) / _GRID**2

    def max(self) -> NDArray[np.float64]:
        """Return each text's largest cosine, 0 without any."""
        return reduce_max(self.values, self.offsets)

    def argmax(self) -> NDArray[np.int64]:
        """Return the place of each text's first largest cosine, -1 without any."""
        largest = reduce_max(self.values, self.offsets)
        hits = np.flatnonzero(self.values == largest[self.rows])[::-1]
        place = np.full(len(self.offsets) - 1, -1)
        # the first of several is assigned last
        place[self.rows[hits]] = hits - self.offsets[self.rows[hits]]
        return place


def grouped_products(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    group: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the products of each left vector with the right vectors of its group, ragged over the
    left vectors.

    `group`, ascending, is the group of each left vector; the right vectors of group i are
    ``offsets[i]:offsets[i + 1]``.
    """
    n_groups = len(offsets) - 1
    starts = offsets_of(np.bincount(group, minlength=n_groups))
    sizes = np.diff(starts) * np.diff(offsets)
    bounds = offsets_of(sizes)
    result = np.empty(int(bounds[-1]))
    groups = zip(
        pairwise(starts.tolist()),
        pairwise(offsets.tolist()),
        pairwise(bounds.tolist()),
        strict=True,
    )
    for (l0, l1), (r0, r1), (start, stop) in groups:
        if start < stop:
            products = result[start:stop].reshape(l1 - l0, r1 - r0)
            np.matmul(left[l0:l1], right[r0:r1].T, out=products)
    return result


def reduce_max(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest value of each ragged row, 0 for an empty one."""
    largest = np.zeros(len(offsets) - 1)
    filled = np.diff(offsets) > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(values, offsets[:-1][filled])
    return largest


def _best_words(
    arrays: TokenArrays,
    candidates: WordCounts,
    questions: WordCounts,
    sentence_words: WordCounts,
    sentences: PassageSentences,
    best_sentences: NDArray[np.int64],  # (n_questions,): the sentence, or -1
    space: _Space,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean best cosine of each candidate's new words with words of the passage and of
    a sentence.
    """
    question, n = arrays.candidate_question, len(arrays.candidate_question)
    n_words = space.n_words
    is_new = occurrences(questions, question[candidates.texts], candidates.words) == 0
    is_new = flagged_or_all(is_new, candidates.texts, n)
    is_new &= space.row_of[candidates.words] >= 0
    owner, word = candidates.texts[is_new], candidates.words[is_new]
    # Each distinct new word of a passage is compared once with each distinct word of the passage.
    passage = passage_of_candidates(arrays)[owner]
    left_keys, entry = np.unique(passage * n_words + word, return_inverse=True)
    passage_words = space.content(arrays.passage_tokens, arrays.passage_offsets)
    has = space.row_of[passage_words.words] >= 0
    right_keys = passage_words.keys[has]
    n_passages = len(arrays.passage_offsets) - 1
    right_offsets = offsets_of(np.bincount(right_keys // n_words, minlength=n_passages))
    group = left_keys // n_words
    products = grouped_products(
        space.of_words(left_keys % n_words),
        space.of_words(right_keys % n_words),
        group,
        right_offsets,
    )
    starts = offsets_of(np.diff(right_offsets)[group])
    in_passage = reduce_max(products, starts)[entry]

    # Pairs of a new word with a word of the asked sentence are looked up among the products.
    sentence = best_sentences[question[owner]]
    counts = np.append(np.diff(sentence_words.offsets), 0)[sentence]  # 0 without a sentence
    pairs = ragged_indices(sentence_words.offsets[np.maximum(sentence, 0)], counts)
    pair_entry = np.repeat(np.arange(len(owner)), counts)
    keys = passage[pair_entry] * n_words + sentence_words.words[pairs]
    place, in_passage_words = look_up(keys, right_keys)
    pair_entry, place = pair_entry[in_passage_words], place[in_passage_words]
    place_in_passage = place - right_offsets[passage[pair_entry]]
    values = products[starts[entry[pair_entry]] + place_in_passage]
    in_best_sentence = reduce_max(values, offsets_of(np.bincount(pair_entry, minlength=len(owner))))

    n_new = np.bincount(owner, minlength=n)

    def mean(best: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.bincount(owner, weights=np.maximum(best, 0.0), minlength=n)  # integers: exact
        return total / _GRID**2 / np.maximum(n_new, 1)

    return mean(in_passage), mean(in_best_sentence)
