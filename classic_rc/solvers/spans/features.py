"""The features of spans: what they share with the question, how long they are, what they look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import unknown_name
from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.solvers.spans.numbers import SpanNumbers
from classic_rc.solvers.spans.shapes import question_kinds, span_shapes
from classic_rc.text.encode_spans import EncodedSpans

GROUPS: Mapping[str, str] = {
    "matching-words": "the summed tf-idf of question words left of the span, right of it, in it, in its sentence",
    "matching-bigrams": "the same of question bigrams",
    "lengths": "how many words stand left of the span, right of it, in it, in its sentence",
    "span-frequency": "the summed tf-idf of the span's words, the question's or not",
    "span-words": "the span's words themselves",
    "shape": "the span's shape: its first and its last word's, and what else there is in it",
    "wh-shape": "the question's wh-word together with the span's shape",
}
"""The groups of features by name."""

_SCALE = 2**16


def span_groups(text: str) -> tuple[str, ...]:
    """The groups that a specification names, in the order of :data:`GROUPS`: ``"all"``, ``"lengths+shape"``.

    Raises
    ------
    UsageError
        A group does not exist.
    """
    names = [name for part in text.split("+") for name in (GROUPS if part == "all" else (part,))]
    for name in names:
        if name not in GROUPS:
            raise unknown_name("group of span features", name, ["all", *GROUPS])
    return tuple(group for group in GROUPS if group in names)


class WordWeights(NamedTuple):
    r"""The inverse document frequencies of words, passages being documents: :math:`1 + \ln\frac{1 + N}{1 + n_w}`.

    N passages, of which n_w have the word; whole numbers, of scale 2**16. A word of no passage weighs most.

    Parameters
    ----------
    words : list of str
    weights : ndarray of int64, shape (n_words + 1,)
        The last is that of all other words.
    """

    words: list[str]
    weights: NDArray[np.int64]

    @classmethod
    def of_counts(cls, words: Sequence[str], passages: NDArray[np.int64], n_passages: int) -> WordWeights:
        """The weights of words that so many of `n_passages` passages have."""
        frequencies = np.append(passages, 0)
        weights = np.rint(_SCALE * (1 + np.log((1 + n_passages) / (1 + frequencies)))).astype(np.int64)
        return cls(list(words), weights)

    def numbers(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Each word's place among the known ones; their number for all others."""
        known = {word: i for i, word in enumerate(self.words)}
        return np.fromiter((known.get(w, len(known)) for w in vocabulary), np.int64, len(vocabulary))


class SpanFeatures(NamedTuple):
    """The features of spans, each with a question.

    Parameters
    ----------
    numbers : ndarray of int64, shape (n_numbers, n_spans)
        In the order of :data:`~classic_rc.solvers.spans.numbers.NUMBERS`.
    shapes, kinds : ndarray of int64, shape (n_spans,)
        The span's shape, and its question's wh-word.
    word_offsets : ndarray of int64, shape (n_spans + 1,)
    words : ndarray of int64
        Span i's words are ``words[word_offsets[i]:word_offsets[i + 1]]``, numbered by :class:`WordWeights`.
    evidence : ndarray of bool, shape (n_spans,)
        Whether the span's sentence has a word of the question.
    """

    numbers: NDArray[np.int64]
    shapes: NDArray[np.int64]
    kinds: NDArray[np.int64]
    word_offsets: NDArray[np.int64]
    words: NDArray[np.int64]
    evidence: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        groups: Sequence[str],
        words: WordWeights,
        spans: EncodedSpans,
        question: NDArray[np.int64],
        span: NDArray[np.int64],
    ) -> SpanFeatures:
        """The features of some spans, each with one of its questions."""
        place = words.numbers(spans.vocabulary)
        numbers = SpanNumbers(spans, words.weights[place])
        kinds = question_kinds([q.text for q in spans.questions])
        lengths = (spans.last - spans.first)[span]
        tokens = spans.tokens[ragged_indices(spans.first[span], lengths)]
        return cls(
            numbers.of(groups, question, span),
            span_shapes(spans)[span],
            kinds[question],
            offsets_of(lengths),
            place[tokens],
            numbers.matched(question, span),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[SpanFeatures]) -> SpanFeatures:
        """All of them, one after the other."""
        numbers, shapes, kinds, offsets, words, evidence = zip(*parts, strict=True)
        lengths = np.concatenate([np.diff(own) for own in offsets])
        return cls(
            np.concatenate(numbers, axis=1),
            np.concatenate(shapes),
            np.concatenate(kinds),
            offsets_of(lengths),
            np.concatenate(words),
            np.concatenate(evidence),
        )
