"""A segment of an index: inverted lists of its sentences as plain arrays, and the statistics
they yield.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.retrieval.similarity import CollectionStatistics
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.encode import TextEncoder

MAX_SENTENCES = 500_000
"""The most sentences of a segment; the working memory of a search in more would not fit into a
core's cache.
"""

MAX_CHARACTERS = 2**26
"""A segment that has reached this many characters is closed; this bounds the memory of a build."""

MAX_CACHED_PIECES = 2**22
"""The most distinct pieces of text whose terms are cached from one segment to the next; this
bounds memory.
"""

_KEY_BYTES = 8


class Statistics(NamedTuple):
    """What scores depend on apart from sentence and query, summed over segments."""

    collection: CollectionStatistics
    frequencies: NDArray[np.int64]  # (n_terms,): how many sentences have each term of the queries

    @classmethod
    def total(cls, parts: Sequence[Statistics], n_terms: int) -> Statistics:
        """Sum over parts; there may be none."""
        totals = np.zeros(3, dtype=np.int64)
        frequencies = np.zeros(n_terms, dtype=np.int64)
        for statistics in parts:
            totals += np.array(statistics.collection)
            frequencies += statistics.frequencies
        return cls(CollectionStatistics(*totals), frequencies)


class AnalyzedSentences(NamedTuple):
    """The words of sentences."""

    tokens: list[NDArray[np.int32]]  # the one array of all tokens, until a segment is built
    lengths: NDArray[np.int64]  # (n_sentences,): the number of tokens of each sentence


class Segment(NamedTuple):
    """Sentences by term. The arrays state facts about the texts; none depends on a similarity."""

    term_data: NDArray[np.uint8]  # the terms in UTF-8, one after the other, sorted bytewise
    # (n_terms + 1,): term i is `term_data[term_offsets[i]:term_offsets[i + 1]]`
    term_offsets: NDArray[np.int64]
    term_keys: NDArray[np.uint64]  # (n_terms,): the first eight bytes of each term, as a number
    # (n_terms + 1,): the postings of term i are `posting_offsets[i]:posting_offsets[i + 1]`
    posting_offsets: NDArray[np.int64]
    # (n_postings,): sentences of the segment, from 0, ascending within a term
    posting_sentences: NDArray[np.int32]
    # (n_postings,): each posting's pair of count and length
    posting_codes: NDArray[np.unsignedinteger]
    code_counts: NDArray[np.int32]  # (n_codes,): how often the sentence has the term
    code_lengths: NDArray[np.int32]  # (n_codes,): how many tokens the sentence has
    totals: NDArray[np.int64]  # (3,): number of sentences, of sentences with a token, and of tokens

    @classmethod
    def build(cls, encoded: AnalyzedSentences, vocabulary: Sequence[str]) -> Segment:
        """Build the segment of at most :data:`MAX_SENTENCES` sentences; it uses up their tokens."""
        lengths = encoded.lengths
        n_sentences, tokens = len(lengths), encoded.tokens.pop()
        totals = np.array([n_sentences, np.count_nonzero(lengths), len(tokens)], dtype=np.int64)
        terms, rank = _sort_terms(vocabulary, tokens)
        # (term, sentence) in one int64: at most 2**19 sentences leave room for 2**44 terms.
        bits = n_sentences.bit_length()
        keys = rank[tokens].astype(np.int64)
        keys <<= bits
        keys |= np.repeat(np.arange(n_sentences, dtype=np.int32), lengths)
        del tokens  # to keep them would double the memory of a build
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        counts, keys = np.diff(starts, append=len(keys)), keys[starts]
        del starts
        in_sentence = (keys & ((1 << bits) - 1)).astype(np.int32)
        keys >>= bits
        posting_offsets = np.searchsorted(keys, np.arange(len(terms) + 1))
        del keys
        code_counts, code_lengths, codes = _encode_pairs(counts, in_sentence, lengths)
        return cls(
            np.frombuffer(b"".join(terms), dtype=np.uint8),
            offsets_of(list(map(len, terms))),
            _term_keys(terms),
            posting_offsets,
            in_sentence,
            codes,
            code_counts,
            code_lengths,
            totals,
        )

    @property
    def n_sentences(self) -> int:
        """The number of sentences, including those without a token."""
        return int(self.totals[0])

    def find(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of terms, -1 for a term that no sentence has."""
        encoded = [_encode_term(term) for term in terms]
        keys = _term_keys(encoded)
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        first = np.searchsorted(self.term_keys, keys, side="left")
        last = np.searchsorted(self.term_keys, keys, side="right")
        numbers = np.full(len(encoded), -1, dtype=np.int64)
        # Among the terms with one key, the one of at most eight bytes comes first: it is found
        # without a search.
        candidates = np.flatnonzero(first < last)
        rows, n_bytes = first[candidates], lengths[candidates]
        term_lengths = self.term_offsets[rows + 1] - self.term_offsets[rows]
        short = (n_bytes <= _KEY_BYTES) & (term_lengths == n_bytes)
        numbers[candidates[short]] = rows[short]
        for i in candidates[~short].tolist():
            term, start, stop = encoded[i], int(first[i]), int(last[i])
            place = bisect.bisect_left(range(stop), term, lo=start, key=self._term)
            if place < stop and self._term(place) == term:
                numbers[i] = place
        # without_sentences may have removed all postings of a term.
        numbers[self.posting_offsets[numbers] == self.posting_offsets[numbers + 1]] = -1
        return numbers

    def statistics(self, term_numbers: NDArray[np.int64]) -> Statistics:
        """Return this segment's part of the statistics of an index, for terms that :meth:`find`
        found.
        """
        frequencies = rows = np.maximum(term_numbers, 0)
        if len(self.term_keys):
            frequencies = self.posting_offsets[rows + 1] - self.posting_offsets[rows]
        frequencies = np.where(term_numbers >= 0, frequencies, 0)
        return Statistics(CollectionStatistics(*self.totals), frequencies)

    def _term(self, number: int) -> bytes:
        start, end = self.term_offsets[number : number + 2].tolist()
        return self.term_data[start:end].tobytes()


class SegmentBuilder:
    """Builds segments one after the other, and caches the analysis of text from one to the next."""

    def __init__(self, analyzer: str | Analyzer) -> None:
        self._encoder = TextEncoder(analyzer)

    @property
    def is_new(self) -> bool:
        """Whether no text has been analysed yet."""
        return self._encoder.n_pieces == 0

    def encode(self, sentences: Sequence[str]) -> AnalyzedSentences:
        """Return the words of sentences, as numbers of this builder."""
        if self._encoder.n_pieces > block_size(MAX_CACHED_PIECES):
            self._encoder = TextEncoder(self._encoder.analyzer)
        tokens, offsets = self._encoder.encode(sentences)
        return AnalyzedSentences([tokens], np.diff(offsets))

    def build(self, encoded: AnalyzedSentences) -> Segment:
        """Build the segment of at most :data:`MAX_SENTENCES` sentences that were encoded last."""
        return Segment.build(encoded, self._encoder.vocabulary)


def _sort_terms(
    vocabulary: Sequence[str], tokens: NDArray[np.int32]
) -> tuple[list[bytes], NDArray[np.int32]]:
    """Return the terms that tokens have, sorted bytewise, and the rank of each word of the
    vocabulary.
    """
    present = np.flatnonzero(np.bincount(tokens, minlength=len(vocabulary)))
    terms = {_encode_term(vocabulary[i]): i for i in present.tolist()}
    order = sorted(terms)
    rank = np.zeros(len(vocabulary), dtype=np.int32)
    words = [terms[term] for term in order]
    rank[words] = np.arange(len(order), dtype=np.int32)
    return order, rank


def _encode_term(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")


def _term_keys(terms: Sequence[bytes]) -> NDArray[np.uint64]:
    heads = b"".join(term[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0") for term in terms)
    return np.frombuffer(heads, dtype=">u8").astype(np.uint64)


def _encode_pairs(
    counts: NDArray[np.int64], in_sentence: NDArray[np.int32], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.unsignedinteger]]:
    """Return the distinct pairs of a posting's count and its sentence's length, and each
    posting's pair.
    """
    distinct_lengths, length_ranks = np.unique(lengths, return_inverse=True)
    # A pair is count rank * n_lengths + length rank. Most counts are 1, which has rank 0, so only
    # the repeated terms need the count added.
    pairs = length_ranks.astype(np.int32)[in_sentence]
    repeated = np.flatnonzero(counts > 1)  # few
    distinct_counts, count_ranks = np.unique(np.append(counts[repeated], 1), return_inverse=True)
    pairs[repeated] += (count_ranks[:-1] * len(distinct_lengths)).astype(np.int32)
    used = np.flatnonzero(np.bincount(pairs))
    n_pairs = len(distinct_counts) * len(distinct_lengths)
    code_of = np.zeros(n_pairs, dtype=np.min_scalar_type(max(len(used) - 1, 0)))
    code_of[used] = np.arange(len(used))
    count, length = np.divmod(used, max(len(distinct_lengths), 1))
    return (
        distinct_counts[count].astype(np.int32),
        distinct_lengths[length].astype(np.int32),
        code_of[pairs],
    )
