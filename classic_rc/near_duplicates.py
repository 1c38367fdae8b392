"""Near duplicates: texts that are equal but for a few words, and texts that have a good part of
another one.

There is one definition, for folds, overlaps, warnings and audits. It looks at the shorter of two
texts, so a part of a text is a copy of it. The two are near duplicates if the longer one has

* at least half of the shorter one's 4-grams (:data:`CONTAINMENT`) and at most twice its length, or
* at least a quarter of its 4-grams, and a tenth and six of its 8-grams (:data:`PART`), or
* if the shorter one has fewer than 20 tokens (:data:`MIN_TOKENS`), half of its 4-grams and of its
  8-grams, or three quarters of the words of the longer one, in any order (:data:`SHORT_SHARE`).

Tokens are lower-cased words, or characters in scripts without spaces between words. Punctuation
and the labels of speakers do not count.

The 4-grams find texts in which words were replaced every few words. The 8-grams tell parts of a
text from common phrases: two short dialogues can share a quarter of their 4-grams, but unrelated
texts do not share a tenth of their 8-grams.

Candidate pairs share 6-grams, and every pair is then verified on all its n-grams. The time is
nearly linear in the size of the texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import normalised_text
from classic_rc.kernels.arrays import distinct, offsets_of, ragged_indices, run_starts, runs_of
from classic_rc.kernels.bags import (
    count_shared,
    least_shared,
    overlapping_bags,
    pairs_with_equal_keys,
    shared_weight,
)
from classic_rc.kernels.draws import text_keys
from classic_rc.kernels.hashes import ngram_hashes, text_sums
from classic_rc.text.analyzers import stop_words
from classic_rc.text.dream import without_speakers
from classic_rc.text.encode import TextEncoder

VERSION = 2
"""The version of the definition. It is part of the signature of everything that depends on it."""

CONTAINMENT = 0.5
"""The least share of the 4-grams of the shorter text that the other text has."""

PART = 0.25, 0.1, 6
"""The least shares of its 4-grams and 8-grams, and the least number of its 8-grams, if much of the
shorter text is new or the other text is much longer.
"""

MIN_TOKENS = 20
"""Texts with fewer tokens are short: most of them can be a common phrase."""

SHORT_SHARE = 0.75
"""The least share of the words of the longer of two short texts that the other one has."""
LENGTH_RATIO = 0.5
"""The least ratio of the numbers of tokens, the shorter text's to the longer one's, where 4-grams
or words decide.
"""
_CONTENT_WORDS = 3
"""Short texts share at least this many different words that are not stop words."""

_CANDIDATE_ORDER, _CANDIDATE_GRAMS = 6, 2
"""Candidates share so many 6-grams. Near duplicates have more: a text that has a replaced word in
every eight still shares a quarter of its 6-grams.
"""
_MOST_GRAMS = 2**22
"""Of more 6-grams, a sample is compared."""
_ROW_BITS = 24
_FILTER_BITS = 24
_NEIGHBOURS = 64
"""How many texts each text is compared with among those that share a 6-gram.

It bounds the time where thousands of texts share a phrase. Larger groups of near duplicates are
still found: they share many 6-grams, and groups are transitive.
"""
_BLOCK_TOKENS, _BLOCK_TEXTS = 2**18, 2**9


class SimilarTexts(NamedTuple):
    """Pairs of near duplicates."""

    # positions of the first and the second text, shape (n_pairs, 2), ascending
    pairs: NDArray[np.int64]
    similarity: NDArray[np.float64]  # in 0..1, shape (n_pairs,); 1 for equal texts


def similar_texts(texts: Sequence[str], others: Sequence[str] | None = None) -> SimilarTexts:
    """Find the pairs of near duplicates.

    The second texts come from `others`; without it from `texts` too, and the second is the later
    one. Of several equal second texts only the first is named, and without `others` only the first
    of equal texts is paired with different ones. So equal texts never make more pairs than there
    are texts. The similarity is the share of 4-grams (of words, where the order of short texts
    differs) of the longer text that the other one has.

    The pairs of the last few collections are kept, because folds, overlaps and audits ask for the
    same ones.

    Examples
    --------
    >>> fox = "Once a fox ran over the hill and met a hen that sat under the old tree "
    >>> fox += "and sang to the rain"
    >>> texts = [fox, "A fox ran.", fox.replace("hen", "cat"), "a fox ran"]
    >>> similar_texts(texts).pairs.tolist()
    [[0, 2], [1, 3]]
    >>> similar_texts([fox], ["A fox ran.", fox.upper()]).pairs.tolist()
    [[0, 1]]
    >>> found = similar_texts(
    ...     ["Nora planted beans in the old garden.", "Nora planted beans in our old garden"]
    ... )
    >>> found.pairs.tolist(), found.similarity.round(2).tolist()
    ([[0, 1]], [0.86])
    """
    key = _hash_texts(texts), None if others is None else _hash_texts(others)
    similar = _recent_pairs.get(key)
    if similar is None:
        similar = _recent_pairs[key] = _find_pairs(texts, others)
        while len(_recent_pairs) > _MAX_RECENT:
            _recent_pairs.pop(next(iter(_recent_pairs)), None)
    return similar


def first_equal(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return for each text the position of the first text that is equal up to case, blanks and
    punctuation.

    Examples
    --------
    >>> first_equal(["Who ran?", "The fox", "who  ran"]).tolist()
    [0, 1, 0]
    """
    return _Collection(texts).original


_recent_pairs: dict[tuple[bytes, bytes | None], SimilarTexts] = {}
_MAX_RECENT = 4


def _hash_texts(texts: Sequence[str]) -> bytes:
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d " % len(data))
        digest.update(data)
    return digest.digest()


def _find_pairs(texts: Sequence[str], others: Sequence[str] | None) -> SimilarTexts:
    collection = _Collection(map(without_speakers, chain(texts, others or ())))
    n_texts, original = len(texts), collection.original
    if others is None:
        everywhere = np.ones(n_texts, dtype=bool)
        first, second, similarity = collection.pairs(everywhere, everywhere)
        copies = np.flatnonzero(original != np.arange(len(original)))
        first = np.concatenate([first, original[copies]])
        second = np.concatenate([second, copies])
    else:
        here, there = np.zeros((2, len(original)), dtype=bool)
        here[original[:n_texts]] = there[original[n_texts:]] = True
        first_texts, second_texts, similarity = collection.pairs(here, there)
        shared = np.flatnonzero(here & there)
        firsts = np.concatenate([first_texts, second_texts, shared])
        seconds = np.concatenate([second_texts, first_texts, shared])
        similarity = _extend(np.concatenate([similarity, similarity]), len(firsts))
        across = np.flatnonzero(here[firsts] & there[seconds])
        order = across[np.argsort(firsts[across], kind="stable")]
        firsts, seconds = firsts[order], seconds[order]
        # Each text of `texts` gets the pairs of its original; of equal texts in `others` the first
        # is named.
        starts = np.searchsorted(firsts, original[:n_texts])
        counts = np.searchsorted(firsts, original[:n_texts], "right") - starts
        originals, positions = np.unique(original[n_texts:], return_index=True)
        first_of_original = np.full(len(original), -1)
        first_of_original[originals] = positions
        first = np.repeat(np.arange(n_texts), counts)
        places = ragged_indices(starts, counts)
        second, similarity = first_of_original[seconds[places]], similarity[order][places]
    order = np.lexsort((second, first))
    pairs = np.stack([first, second], axis=1)[order].astype(np.int64)
    similarity = _extend(similarity, len(pairs))[order]
    pairs.flags.writeable = similarity.flags.writeable = False  # several callers get them
    return SimilarTexts(pairs, similarity)


def _extend(similarity: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Append the similarity of equal texts, which is 1."""
    return np.concatenate([similarity, np.ones(length - len(similarity))])


def near_duplicate_groups(texts: Sequence[str]) -> NDArray[np.int64]:
    """Number the groups of texts that near duplicates connect, directly or through others, by their
    first texts.

    Examples
    --------
    >>> fox = "Once a fox ran over the hill and met a hen that sat under the old tree "
    >>> fox += "and sang to the rain"
    >>> near_duplicate_groups(["A fox ran.", fox, fox.replace("hen", "cat"), "a fox ran"]).tolist()
    [0, 1, 1, 0]
    """
    return connect_pairs(len(texts), similar_texts(texts).pairs)


def connect_pairs(n: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the groups that pairs connect, by their first members; `pairs` are of shape
    (n_pairs, 2).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # SciPy before 1.13 finds one component for 64-bit indices
    rows_and_columns = tuple(pairs.T.astype(np.int32))
    links = coo_array((np.ones(len(pairs), dtype=bool), rows_and_columns), shape=(n, n))
    _, components = connected_components(links, directed=False)
    _, first, group = np.unique(components, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group].astype(np.int64)


_Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""The first and the second texts of pairs, and their similarity."""


class _Collection:
    """The tokens of some texts, and the first occurrence of each text."""

    def __init__(self, texts: Iterable[str]) -> None:
        encoder, texts = TextEncoder("char"), iter(texts)
        joined = bytearray()  # grows in place: whole copies would fill the memory
        lengths = [np.empty(0, dtype=np.int64)]
        marks: list[str] = []  # texts of punctuation are compared as they are
        while block := list(islice(texts, _BLOCK_TEXTS)):
            tokens, offsets = encoder.encode(block)
            joined += tokens.astype(np.int32, copy=False).tobytes()
            lengths.append(np.diff(offsets))
            without_tokens = np.flatnonzero(lengths[-1] == 0).tolist()
            marks += [normalised_text(block[i]) for i in without_tokens]
        self.tokens = np.frombuffer(joined, dtype=np.int32)
        self.lengths = np.concatenate(lengths)
        self.offsets = offsets_of(self.lengths)
        self.vocabulary = encoder.vocabulary
        self.keys = text_keys(encoder.vocabulary)
        self.original, self.order = self._find_originals(marks)

    def _find_originals(self, marks: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first text equal to each text, and an order of the texts that depends on
        their tokens only; `marks` are the texts without tokens.
        """
        n_texts = len(self.lengths)
        hashes = np.zeros(n_texts, dtype=np.uint64)
        for start, stop in runs_of(self.lengths, _BLOCK_TOKENS):
            tokens = self.tokens[self.offsets[start] : self.offsets[stop]]
            hashes[start:stop] = text_sums(self.keys[tokens], self.lengths[start:stop])
        hashes[self.lengths == 0] = text_keys(marks)
        order = np.lexsort((np.arange(n_texts), hashes, self.lengths))
        # Equal texts are neighbours, and the sort puts their first one before the others.
        is_first = np.ones(n_texts, dtype=bool)
        is_first[1:] = np.diff(self.lengths[order]) != 0
        is_first[1:] |= np.diff(hashes[order]) != 0
        original = np.empty(n_texts, dtype=np.int64)
        original[order] = order[is_first][np.cumsum(is_first) - 1]
        copies = np.flatnonzero((original != np.arange(n_texts)) & (self.lengths > 0))
        for block in runs_of(self.lengths[copies], _BLOCK_TOKENS):
            block_copies = copies[slice(*block)]
            tokens = self._tokens_of(block_copies)
            is_other = tokens != self._tokens_of(original[block_copies])
            # equal hashes of different texts
            starts = offsets_of(self.lengths[block_copies])[:-1]
            wrong = block_copies[np.logical_or.reduceat(is_other, starts)]
            original[wrong] = wrong
        return original, order

    def _tokens_of(self, texts: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the tokens of some texts, text after text."""
        return self.tokens[ragged_indices(self.offsets[texts], self.lengths[texts])]

    def pairs(self, here: NDArray[np.bool_], there: NDArray[np.bool_]) -> _Found:
        """Return the pairs of different texts that are near duplicates, each pair once.

        `here` and `there` are flags of shape (n_texts,). One text of a pair has the first flag and
        the other text the second one.
        """
        results = [self._bag_pairs(here, there)]
        for shorter, longer in self._candidates(here, there):
            loads = self.lengths[shorter] + self.lengths[longer]
            for start, stop in runs_of(loads, _BLOCK_TOKENS):
                results.append(self._verify(shorter[start:stop], longer[start:stop]))
        first, second, similarity = (
            np.concatenate(arrays) for arrays in zip(*results, strict=True)
        )
        codes = first * len(self.lengths) + second
        order = np.lexsort((-similarity, codes))  # short texts can be found twice
        unique = order[run_starts(codes[order])]
        return first[unique], second[unique], similarity[unique]

    def _verify(self, shorter: NDArray[np.int64], longer: NDArray[np.int64]) -> _Found:
        """Return the pairs that are near duplicates by their n-grams."""
        shared, fewer, more = self._shared_grams(shorter, longer, 4)
        shared_runs, fewer_runs, _ = self._shared_grams(shorter, longer, 8)
        share, share_of_runs = shared / fewer, shared_runs / np.maximum(fewer_runs, 1)
        near = share >= CONTAINMENT
        near &= self.lengths[shorter] >= LENGTH_RATIO * self.lengths[longer]
        least_share, least_runs_share, least_runs = PART
        is_part = (share_of_runs >= least_runs_share) & (shared_runs >= least_runs)
        near |= is_part & (share >= least_share)
        is_short = self.lengths[shorter] < MIN_TOKENS
        is_in_other = (share >= CONTAINMENT) & (share_of_runs >= CONTAINMENT)
        near = np.where(is_short, is_in_other, near)
        shorter, longer = shorter[near], longer[near]
        similarity = (shared / more)[near]
        return np.minimum(shorter, longer), np.maximum(shorter, longer), similarity

    @property
    def _distinct(self) -> NDArray[np.int64]:
        """The first of equal texts, in ascending order of length."""
        return self.order[(self.original == np.arange(len(self.original)))[self.order]]

    def _bag_pairs(self, here: NDArray[np.bool_], there: NDArray[np.bool_]) -> _Found:
        """Return the pairs of texts with most words in common; one has fewer than `MIN_TOKENS`
        tokens.
        """
        texts = self._distinct
        sizes = self.lengths[texts]
        texts = np.sort(texts[(sizes >= _CONTENT_WORDS) & (sizes < MIN_TOKENS / LENGTH_RATIO)])
        sizes = self.lengths[texts]
        offsets = offsets_of(sizes)
        words = self._tokens_of(texts)
        left_rows, right_rows, shared = overlapping_bags(
            words,
            offsets,
            least_shared(sizes, SHORT_SHARE),
            here=here[texts],
            there=there[texts],
            part_share=LENGTH_RATIO,
        )
        shorter = np.minimum(sizes[left_rows], sizes[right_rows])
        longer = np.maximum(sizes[left_rows], sizes[right_rows])
        similar = shorter < MIN_TOKENS
        similar &= are_similar_words(words, offsets, left_rows, right_rows, shared)
        left_rows, right_rows = left_rows[similar], right_rows[similar]
        share = (shared / longer)[similar]
        stops = stop_words("smart")
        is_content = np.array([word not in stops for word in self.vocabulary], dtype=np.float64)
        n_content = shared_weight(words, offsets, left_rows, right_rows, is_content)
        enough = n_content >= _CONTENT_WORDS
        return texts[left_rows[enough]], texts[right_rows[enough]], share[enough]

    def _candidates(
        self, here: NDArray[np.bool_], there: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield pairs of texts that share enough 6-grams; the first text of a pair is not longer.

        The pairs meet the flags of :meth:`pairs`.
        """
        distinct = self._distinct
        # by length, so neighbours have similar lengths
        texts = distinct[(self.lengths[distinct] >= 8) & (here | there)[distinct]]
        rate = min(1.0, _MOST_GRAMS / max(int(self.lengths[texts].sum()), 1))
        rows, keys = self._repeated_grams(texts, here, there, rate)

        def fits(
            first_rows: NDArray[np.int32], second_rows: NDArray[np.int32]
        ) -> NDArray[np.bool_]:
            a, b = texts[first_rows], texts[second_rows]
            is_across = here[a] & there[b]
            is_across |= here[b] & there[a]
            return is_across

        for first_rows, second_rows, shared in pairs_with_equal_keys(
            rows, keys, len(texts), _NEIGHBOURS, fits
        ):
            likely = shared >= _CANDIDATE_GRAMS
            yield texts[first_rows[likely]], texts[second_rows[likely]]

    def _repeated_grams(
        self,
        texts: NDArray[np.int64],
        here: NDArray[np.bool_],
        there: NDArray[np.bool_],
        rate: float,
    ) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """Return the distinct 6-grams of each text that several texts have: the rows in `texts`,
        ascending, and the hashes.

        A hash and a row are one number, so one sort finds what is repeated.
        """
        # 2**64 - 2**11 is the largest float that fits into 64 bits.
        limit = np.uint64(rate * (2**64 - 2**11))
        row_mask = np.uint64(2**_ROW_BITS - 1)
        shift = np.uint64(64 - _FILTER_BITS)
        is_needed = np.zeros(2**_FILTER_BITS, dtype=bool)
        cells = [np.empty(0, dtype=np.uint64)]
        # Of two sides the one with fewer texts comes first: only its 6-grams matter on the other.
        sides = sorted((here, there), key=lambda flags: int(flags[texts].sum()))
        if (here & there)[texts].all():
            sides = [here]
        for side, flags in enumerate(sides):
            rows = np.flatnonzero(flags[texts])
            for block in runs_of(self.lengths[texts[rows]], _BLOCK_TOKENS):
                block_rows = rows[slice(*block)]
                hashes, text = self._gram_hashes(texts[block_rows], _CANDIDATE_ORDER)
                is_sampled = hashes <= limit
                if side == 0:
                    is_needed[hashes[is_sampled] >> shift] = True
                else:
                    is_sampled &= is_needed[hashes >> shift]
                row = block_rows[text[is_sampled]].astype(np.uint64)
                cells.append((hashes[is_sampled] & ~row_mask) | row)
        packed = distinct(np.concatenate(cells))
        keys = packed & ~row_mask
        equal = keys[1:] == keys[:-1]
        repeated = np.zeros(len(keys), dtype=bool)
        repeated[1:] |= equal
        repeated[:-1] |= equal
        row_of_key = (packed[repeated] & row_mask).astype(np.int32)
        order = np.argsort(row_of_key, kind="stable")
        return row_of_key[order], keys[repeated][order]

    def _gram_hashes(
        self, texts: NDArray[np.int64], order: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the hash of each n-gram of the texts, and the row of its text."""
        return ngram_hashes(self.keys[self._tokens_of(texts)], self.lengths[texts], order)

    def _shared_grams(
        self, first: NDArray[np.int64], second: NDArray[np.int64], order: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return how many distinct n-grams each pair shares, and how many the text with fewer and
        with more has.

        N-grams are equal if their 64-bit hashes are.
        """
        texts, row = np.unique(np.concatenate([first, second]), return_inverse=True)
        hashes, text = self._gram_hashes(texts, order)
        by_hash = np.argsort(hashes)
        ordered = hashes[by_hash]
        is_new = np.diff(ordered, prepend=ordered[:1]) != 0
        grams = np.empty(len(hashes), dtype=np.int64)
        grams[by_hash] = np.cumsum(is_new)
        cells = text * len(hashes) + grams
        cells.sort()
        text, grams = np.divmod(cells[run_starts(cells)], max(len(hashes), 1))
        n_grams = np.bincount(text, minlength=len(texts))
        a, b = np.split(row, 2)
        shared = count_shared(grams, offsets_of(n_grams), a, b)
        return shared, np.minimum(n_grams[a], n_grams[b]), np.maximum(n_grams[a], n_grams[b])


def are_similar_words(
    words: NDArray[np.integer],
    offsets: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    shared: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return for each pair of short texts whether they have most words in common, or one is a part
    of the other.

    Text i is ``words[offsets[i]:offsets[i + 1]]``; `shared` is how many words a pair shares
    (:func:`classic_rc.kernels.bags.shared_words`).
    """
    sizes = np.diff(offsets)
    shorter = np.minimum(sizes[first], sizes[second])
    longer = np.maximum(sizes[first], sizes[second])
    similar = shared >= SHORT_SHARE * longer
    may_be_part = (shared == shorter) & (shorter >= LENGTH_RATIO * longer)
    for i in np.flatnonzero(may_be_part & ~similar).tolist():
        texts = sorted((first[i], second[i]), key=lambda text: sizes[text])
        part, whole = (words[offsets[text] : offsets[text + 1]] for text in texts)
        # A part has words: two texts without words are similar already.
        windows = np.lib.stride_tricks.sliding_window_view(whole, len(part))
        similar[i] = bool((windows == part).all(axis=1).any())
    return similar
