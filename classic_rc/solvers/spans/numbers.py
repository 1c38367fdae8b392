"""How much of the question stands around spans, and how long they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.text.encode_spans import EncodedSpans

_REGIONS = ("left", "right", "span", "sentence")

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "matching-words": tuple(f"question words, {region}" for region in _REGIONS),
    "matching-bigrams": tuple(f"question bigrams, {region}" for region in _REGIONS),
    "lengths": tuple(f"length, {region}" for region in _REGIONS),
    "span-frequency": ("word weights, span",),
}
"""The groups that are numbers, and the numbers' names."""


class SpanNumbers:
    """The numbers among the features of some questions' candidates.

    Sums are of whole numbers, so that no order of adding changes a bit.

    Parameters
    ----------
    spans : EncodedSpans
    word_weights : ndarray of int64, shape (n_words,)
        Of each word of the encoding's vocabulary.
    """

    def __init__(self, spans: EncodedSpans, word_weights: NDArray[np.int64]) -> None:
        self._spans = spans
        # Each question has a copy of its passage's tokens.
        begins = spans.passage_offsets[:-1][spans.question_passage]
        lengths = np.diff(spans.passage_offsets)[spans.question_passage]
        copy = ragged_indices(begins, lengths)
        owner = np.repeat(np.arange(len(spans.questions)), lengths)
        self._shift = offsets_of(lengths)[:-1] - begins
        words = spans.tokens.astype(np.int64)
        asked = spans.question_tokens.astype(np.int64)
        asker = np.repeat(np.arange(len(spans.questions)), np.diff(spans.question_offsets))
        n_words = len(spans.vocabulary)
        is_asked = np.isin(owner * n_words + words[copy], asker * n_words + asked)
        self._of_words = offsets_of(np.where(is_asked, word_weights[words[copy]], 0))

        same_sentence = np.ones(len(words), dtype=np.bool_)
        same_sentence[spans.sentence_offsets[1:][np.diff(spans.sentence_offsets) > 0] - 1] = False
        following = np.append(words[1:], 0)
        weights = word_weights[words] + np.append(word_weights[words[1:]], 0)
        pairs = asked[:-1] * n_words + asked[1:]
        within = asker[:-1] == asker[1:]
        codes, number = np.unique(pairs[within], return_inverse=True)
        place = np.searchsorted(codes, words * n_words + following)
        known = same_sentence & (np.append(codes, -1)[place] == words * n_words + following)
        asked_pairs = asker[:-1][within] * len(codes) + number.reshape(-1)
        is_asked = known[copy] & np.isin(owner * len(codes) + place[copy], asked_pairs)
        self._of_bigrams = offsets_of(np.where(is_asked, weights[copy], 0))
        self._of_all = offsets_of(word_weights[words])

    def matched(self, question: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether a word of the question is in the span's sentence: shape (n,)."""
        sentence, shift = self._spans.sentence[span], self._shift[question]
        begin, end = self._spans.sentence_offsets[sentence], self._spans.sentence_offsets[sentence + 1]
        return self._of_words[end + shift] > self._of_words[begin + shift]

    def of(self, groups: Sequence[str], question: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of these groups, for spans each with its question.

        Parameters
        ----------
        groups : sequence of str
        question, span : ndarray of int64, shape (n,)

        Returns
        -------
        ndarray of int64, shape (n_numbers, n)
            In the order of :data:`NUMBERS`.
        """
        spans = self._spans
        sentence = spans.sentence[span]
        # Left, right, span and sentence, from one token to before another; regions in the order of their names.
        begin, end = spans.sentence_offsets[sentence], spans.sentence_offsets[sentence + 1]
        first, last = spans.first[span], spans.last[span]
        regions = ((begin, first), (last, end), (first, last), (begin, end))
        shift = self._shift[question]
        rows = []
        for group in groups:
            for start, stop in regions if group != "span-frequency" else regions[2:3]:
                if group == "matching-words":
                    rows.append(self._of_words[stop + shift] - self._of_words[start + shift])
                elif group == "matching-bigrams":  # the last token of a region begins no bigram of it
                    latest = np.maximum(stop - 1, start) + shift
                    rows.append(self._of_bigrams[latest] - self._of_bigrams[start + shift])
                elif group == "lengths":
                    rows.append(stop - start)
                elif group == "span-frequency":
                    rows.append(self._of_all[stop] - self._of_all[start])
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(span))
