"""Near duplicates: texts that are equal but for a few words.

Two texts are near duplicates if at least half of the 4-grams of the text with fewer are in the
other one (:data:`CONTAINMENT`), and the shorter text has at least half of the tokens of the longer
one (:data:`LENGTH_RATIO`). Texts of fewer than 20 tokens (:data:`MIN_TOKENS`) have to be equal.
Tokens are lower-cased words, or characters in scripts without spaces between words; punctuation
does not count.

Candidate pairs share entries of their sketches, the smallest hashes of their 4-grams (Broder 1997:
On the resemblance and containment of documents). Every pair is then verified on its 4-grams. The
time is linear in the size of the texts.

At a containment of .5 and more, all pairs that we read in RACE and DREAM were two versions of one
text. Below .4 different short dialogues with the same phrases begin to appear.

An audit also looks for parts of texts and for copies of short texts (:func:`similar_texts`). Folds
do not: their definition is part of published numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import normalised_text
from classic_rc.kernels.arrays import offsets_of, ragged_indices, run_starts, runs_of
from classic_rc.kernels.bags import (
    count_shared,
    least_shared,
    overlapping_bags,
    pairs_with_equal_keys,
    shared_weight,
)
from classic_rc.kernels.draws import mix, text_keys
from classic_rc.text.analyzers import stop_words
from classic_rc.text.encode import TextEncoder

VERSION = 1
"""The version of the definition. It is part of the signature of everything that depends on it."""

CONTAINMENT = 0.5
"""The least share of the 4-grams of the text with fewer that the other text has."""

LENGTH_RATIO = 0.5
"""The least ratio of the numbers of tokens, the shorter text's to the longer one's."""

MIN_TOKENS = 20
"""Texts with fewer tokens have to be equal."""

_PART = 0.9
"""The least share of the 4-grams of a part of a text that the text has."""
_PART_RATIO = 0.2
"""The least ratio of the numbers of tokens of a part and its text."""
SHORT_SHARE = 0.75
"""The least share of the words of the longer of two short texts that the other one has."""
_CONTENT_WORDS = 3
"""Short texts share at least this many different words that are not stop words."""

_ORDER = 4
_SKETCH = 64
"""Hashes in a sketch.

In the worst case, where one text is twice as long as the other, 32 of the shorter text's hashes can
be in the other sketch, and each is there with a probability of at least `CONTAINMENT`. In 3 of
10,000 such pairs fewer than `_MIN_SHARED` of the 32 are.
"""
_MIN_SHARED = 0.2
_MOST_COMPARABLE = np.array(
    [
        max(n for n in range(_SKETCH + 1) if shared >= _MIN_SHARED * n)
        for shared in range(_SKETCH + 1)
    ]
)
"""For each number of shared hashes, how many comparable ones make them enough."""
_NEIGHBOURS = 64
"""How many texts each text is compared with among those that share a hash.

It bounds the time where thousands of texts share a phrase. Larger groups of near duplicates are
still found: they share many hashes, and groups are transitive.
"""
_BLOCK_TOKENS, _BLOCK_TEXTS = 2**18, 2**12


class SimilarTexts(NamedTuple):
    """Pairs of similar texts."""

    # positions of the first and the second text, shape (n_pairs, 2), ascending
    pairs: NDArray[np.int64]
    similarity: NDArray[np.float64]  # in 0..1, shape (n_pairs,); 1 for equal texts
    # whether the two are near duplicates as folds define them, shape (n_pairs,)
    near: NDArray[np.bool_]


def near_duplicate_pairs(
    texts: Sequence[str], others: Sequence[str] | None = None
) -> NDArray[np.int64]:
    """Find the pairs of near duplicates: their positions in ascending order, shape (n_pairs, 2).

    The pairs of the last few collections are kept, because folds, overlaps and defects ask for the
    same ones. The second texts come from `others`; without it from `texts` too, and the second is
    the later one. Of several equal second texts only the first is named, and without `others` only
    the first of equal texts is paired with different ones. So equal texts never make more pairs
    than there are texts.

    Examples
    --------
    >>> fox = "Once a fox ran over the hill and met a hen that sat under the old tree "
    >>> fox += "and sang to the rain"
    >>> near_duplicate_pairs([fox, "A fox ran.", fox.replace("hen", "cat"), "a fox ran"]).tolist()
    [[0, 2], [1, 3]]
    >>> near_duplicate_pairs([fox], ["A fox ran.", fox.upper()]).tolist()
    [[0, 1]]
    """
    found = _known_pairs(texts, others)
    return found.pairs[found.near]


def similar_texts(texts: Sequence[str], others: Sequence[str] | None = None) -> SimilarTexts:
    """Find the pairs of texts that are near duplicates, parts of one another, or short and similar.

    Beyond near duplicates, two texts are similar if nine tenths of the 4-grams of the shorter one
    are in the longer one, which has up to five times as many tokens. Where one text has fewer than
    20 tokens, they are similar if they share three quarters of the words of the longer one, or if
    the shorter one is a part of the longer one, with at least half of its words; and three of the
    words that they share are not stop words. The similarity is the share of 4-grams (in short
    texts, of words) of the longer text that the other one has.

    Examples
    --------
    >>> found = similar_texts(
    ...     ["Nora planted beans in the old garden.", "Nora planted beans in our old garden"]
    ... )
    >>> found.pairs.tolist(), found.similarity.round(2).tolist(), found.near.tolist()
    ([[0, 1]], [0.86], [False])
    """
    known = _known_pairs(texts, others)
    first = [i for i, text in enumerate(texts) if _may_be_short(text)]
    second = (
        first if others is None else [i for i, text in enumerate(others) if _may_be_short(text)]
    )
    chosen = None if others is None else [others[i] for i in second]
    short = _find_short_pairs([texts[i] for i in first], chosen)
    places = np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    pairs = np.stack([places[k][short.pairs[:, k]] for k in (0, 1)], axis=1)
    pairs = np.concatenate([known.pairs, pairs])
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    similarity = np.concatenate([known.similarity, short.similarity])
    return SimilarTexts(
        pairs[order], similarity[order], np.concatenate([known.near, short.near])[order]
    )


def _may_be_short(text: str) -> bool:
    """Return whether a text can have few tokens; this is faster than counting them."""
    limit = int(2 * MIN_TOKENS / LENGTH_RATIO)
    return len(text.split(None, limit)) <= limit


def first_equal(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return for each text the position of the first text that is equal up to case, blanks and
    punctuation.

    Examples
    --------
    >>> first_equal(["Who ran?", "The fox", "who  ran"]).tolist()
    [0, 1, 0]
    """
    return _Collection(texts).original


def _known_pairs(texts: Sequence[str], others: Sequence[str] | None) -> SimilarTexts:
    key = _hash_texts(texts), None if others is None else _hash_texts(others)
    found = _recent_pairs.get(key)
    if found is None:
        found = _recent_pairs[key] = _find_pairs(texts, others, _Collection.pairs)
        while len(_recent_pairs) > _MAX_RECENT:
            _recent_pairs.pop(next(iter(_recent_pairs)), None)
    return found


_recent_pairs: dict[tuple[bytes, bytes | None], SimilarTexts] = {}
_MAX_RECENT = 4


def _hash_texts(texts: Sequence[str]) -> bytes:
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d " % len(data))
        digest.update(data)
    return digest.digest()


def _find_short_pairs(texts: Sequence[str], others: Sequence[str] | None) -> SimilarTexts:
    """Find the similar pairs of different short texts."""
    found = _find_pairs(texts, others, _Collection.short_pairs)
    short = ~found.near  # equal texts are near
    return SimilarTexts(found.pairs[short], found.similarity[short], found.near[short])


def _find_pairs(
    texts: Sequence[str],
    others: Sequence[str] | None,
    search: Callable[[_Collection, NDArray[np.bool_], NDArray[np.bool_]], _Found],
) -> SimilarTexts:
    collection = _Collection(texts if others is None else [*texts, *others])
    n_texts, original = len(texts), collection.original
    if others is None:
        every = np.ones(n_texts, dtype=bool)
        first, second, similarity, near = search(collection, every, every)
        copies = np.flatnonzero(original != np.arange(len(original)))
        first, second = np.concatenate([first, original[copies]]), np.concatenate([second, copies])
    else:
        here, there = np.zeros((2, len(original)), dtype=bool)
        here[original[:n_texts]] = there[original[n_texts:]] = True
        one, two, similarity, near = search(collection, here, there)
        both = np.flatnonzero(here & there)
        left, right = np.concatenate([one, two, both]), np.concatenate([two, one, both])
        similarity, near = np.concatenate([similarity, similarity]), np.concatenate([near, near])
        similarity, near = _extend(similarity, len(left)), _extend(near, len(left))
        across = np.flatnonzero(here[left] & there[right])
        order = across[np.argsort(left[across], kind="stable")]
        left, right = left[order], right[order]
        # Each text of `texts` gets the pairs of its original; of equal texts in `others` the first
        # is named.
        starts, ends = (
            np.searchsorted(left, original[:n_texts]),
            np.searchsorted(left, original[:n_texts], "right"),
        )
        named = np.full(len(original), -1)
        named[original[n_texts:][::-1]] = np.arange(len(original) - n_texts)[::-1]
        first = np.repeat(np.arange(n_texts), ends - starts)
        places = ragged_indices(starts, ends - starts)
        second, similarity, near = (
            named[right[places]],
            similarity[order][places],
            near[order][places],
        )
    order = np.lexsort((second, first))
    pairs = np.stack([first, second], axis=1)[order].astype(np.int64)
    return SimilarTexts(
        pairs, _extend(similarity, len(pairs))[order], _extend(near, len(pairs))[order]
    )


def _extend(values: NDArray[Any], length: int) -> NDArray[Any]:
    """Append the values of equal texts: a similarity of 1, which is near."""
    return np.concatenate([values, np.ones(length - len(values), dtype=values.dtype)])


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
    return connect_pairs(len(texts), near_duplicate_pairs(texts))


def connect_pairs(n: int, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the groups that pairs connect, by their first members; `pairs` are of shape
    (n_pairs, 2).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # SciPy before 1.13 finds one component for 64-bit indices
    first, second = pairs.T.astype(np.int32)
    links = coo_array((np.ones(len(pairs), dtype=bool), (first, second)), shape=(n, n))
    _, first, group = np.unique(
        connected_components(links, directed=False)[1], return_index=True, return_inverse=True
    )
    return np.argsort(np.argsort(first))[group.reshape(-1)].astype(np.int64)


_Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]
"""The first and the second texts of pairs, their similarity, and whether they are near
duplicates.
"""


class _Collection:
    """The tokens of some texts, and the first occurrence of each text."""

    def __init__(self, texts: Sequence[str]) -> None:
        encoder = TextEncoder("char")
        blocks = [
            encoder.encode(texts[i : i + _BLOCK_TEXTS]) for i in range(0, len(texts), _BLOCK_TEXTS)
        ]
        self.tokens = np.concatenate(
            [np.empty(0, dtype=np.int32), *(tokens for tokens, _ in blocks)]
        )
        self.offsets = offsets_of(
            np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(o) for _, o in blocks)])
        )
        self.vocabulary = encoder.vocabulary
        self.keys = text_keys(encoder.vocabulary)
        self.lengths = np.diff(self.offsets)
        self.original, self.order = self._find_originals(texts)

    def _find_originals(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first text equal to each text, and an order of the texts that depends on
        their tokens only.
        """
        hashes = np.zeros(len(texts), dtype=np.uint64)
        for start, stop in runs_of(self.lengths, _BLOCK_TOKENS):
            begin, end = self.offsets[start], self.offsets[stop]
            place = np.arange(begin, end) - np.repeat(
                self.offsets[start:stop], self.lengths[start:stop]
            )
            mixed = mix(self.keys[self.tokens[begin:end]] ^ mix(place.astype(np.uint64)))
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
            hashes[start:stop] = (
                sums[self.offsets[start + 1 : stop + 1] - begin]
                - sums[self.offsets[start:stop] - begin]
            )
        empty = np.flatnonzero(self.lengths == 0)  # texts of punctuation are compared as they are
        hashes[empty] = text_keys(normalised_text(texts[i]) for i in empty.tolist())
        order = np.lexsort((np.arange(len(texts)), hashes, self.lengths))
        follows = (hashes[order[1:]] == hashes[order[:-1]]) & (
            self.lengths[order[1:]] == self.lengths[order[:-1]]
        )
        first = np.maximum.accumulate(
            np.where(np.concatenate([[True], ~follows]), np.arange(len(order)), 0)
        )
        original = np.empty(len(texts), dtype=np.int64)
        original[order] = order[first]
        copies = np.flatnonzero((original != np.arange(len(texts))) & (self.lengths > 0))
        for block in runs_of(self.lengths[copies], _BLOCK_TOKENS):
            part = copies[slice(*block)]
            counts = self.lengths[part]
            own = self.tokens[ragged_indices(self.offsets[part], counts)]
            same = own == self.tokens[ragged_indices(self.offsets[original[part]], counts)]
            # equal hashes of different texts
            wrong = np.add.reduceat(~same, offsets_of(counts)[:-1]) > 0
            original[part[wrong]] = part[wrong]
        return original, order

    def pairs(self, here: NDArray[np.bool_], there: NDArray[np.bool_]) -> _Found:
        """Return the pairs of different texts that are near duplicates or parts: first, second,
        similarity, near.

        `here` and `there` are flags of shape (n_texts,). One text of a pair has the first flag and
        the other text the second one.
        """
        distinct = self._distinct
        found = [(np.empty((2, 0), dtype=np.int64), np.empty(0), np.empty(0, dtype=bool))]
        # by length, so neighbours have similar lengths
        texts = distinct[self.lengths[distinct] >= MIN_TOKENS]
        for one, two in self._candidates(texts, here, there):
            for block in runs_of(self.lengths[one] + self.lengths[two], _BLOCK_TOKENS):
                a, b = one[slice(*block)], two[slice(*block)]
                shared, fewer, more = self._shared_grams(a, b)
                near = (shared / fewer >= CONTAINMENT) & (
                    self.lengths[a] >= LENGTH_RATIO * self.lengths[b]
                )
                similar = near | (shared / fewer >= _PART)
                pairs = np.stack([np.minimum(a, b), np.maximum(a, b)])
                found.append((pairs[:, similar], (shared / more)[similar], near[similar]))
        first, second = np.concatenate([pairs for pairs, _, _ in found], axis=1)
        return (
            first,
            second,
            *(np.concatenate(values) for values in list(zip(*found, strict=True))[1:]),
        )

    @property
    def _distinct(self) -> NDArray[np.int64]:
        """The first of equal texts, in ascending order of length."""
        return self.order[(self.original == np.arange(len(self.original)))[self.order]]

    def short_pairs(self, here: NDArray[np.bool_], there: NDArray[np.bool_]) -> _Found:
        """Return the pairs of similar but unequal texts in which one text has fewer than
        `MIN_TOKENS` tokens.
        """
        distinct = self._distinct
        lengths = self.lengths[distinct]
        texts = np.sort(
            distinct[(lengths >= _CONTENT_WORDS) & (lengths < MIN_TOKENS / LENGTH_RATIO)]
        )
        offsets = offsets_of(self.lengths[texts])
        words = self.tokens[ragged_indices(self.offsets[texts], self.lengths[texts])]
        sizes = self.lengths[texts]
        one, two, shared = overlapping_bags(
            words,
            offsets,
            least_shared(sizes, SHORT_SHARE),
            here=here[texts],
            there=there[texts],
            part_share=LENGTH_RATIO,
        )
        shorter, longer = np.minimum(sizes[one], sizes[two]), np.maximum(sizes[one], sizes[two])
        similar = (shorter < MIN_TOKENS) & are_similar_words(words, offsets, one, two, shared)
        one, two, share = one[similar], two[similar], (shared / longer)[similar]
        stops = stop_words("smart")
        is_content = np.array([word not in stops for word in self.vocabulary], dtype=np.float64)
        content = shared_weight(words, offsets, one, two, is_content) >= _CONTENT_WORDS
        pairs = np.stack([texts[one], texts[two]])[:, content]
        first, second = pairs
        return first, second, share[content], np.zeros(len(first), dtype=bool)

    def _candidates(
        self, texts: NDArray[np.int64], here: NDArray[np.bool_], there: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield pairs of texts whose sketches share enough hashes; the first text of a pair is not
        longer.

        `texts` are in ascending order of length. The pairs meet the flags of :meth:`pairs`.
        """
        sketches = np.concatenate([np.empty((0, _SKETCH), dtype=np.uint64), *self._sketches(texts)])
        full = sketches != _NO_HASH
        sizes = full.sum(axis=1)
        rows = np.repeat(np.arange(len(texts), dtype=np.int32), sizes)
        largest = sketches[:, -1]

        def fits(one: NDArray[np.int32], two: NDArray[np.int32]) -> NDArray[np.bool_]:
            a, b = texts[one], texts[two]
            similar: NDArray[np.bool_] = self.lengths[a] >= _PART_RATIO * self.lengths[b]
            return similar & ((here[a] & there[b]) | (here[b] & there[a]))

        found = pairs_with_equal_keys(rows, sketches[full], len(texts), _NEIGHBOURS, fits)
        for one, two, shared in found:
            # Only hashes below both sketches' largest can be shared. Of these, the sketch with the
            # smaller largest hash has all of its own. So the other one decides how many are
            # comparable.
            smaller = largest[one] <= largest[two]
            next_hash = sketches[
                np.where(smaller, two, one), np.minimum(_MOST_COMPARABLE[shared], _SKETCH - 1)
            ]
            likely = _MOST_COMPARABLE[shared] >= sizes[one]
            likely |= (_MOST_COMPARABLE[shared] >= _SKETCH) | (
                next_hash > np.minimum(largest[one], largest[two])
            )
            yield texts[one[likely]], texts[two[likely]]

    def _sketches(self, texts: NDArray[np.int64]) -> Iterator[NDArray[np.uint64]]:
        """Yield the sketches of blocks of texts: ascending hashes, shape (n_texts, _SKETCH),
        then 2**64 - 1.
        """
        for block in runs_of(self.lengths[texts], _BLOCK_TOKENS):
            part = texts[slice(*block)]
            hashes, text = self._gram_hashes(part)
            # Hashes are uniform, so three times as many as needed are expected below this limit. A
            # text of few different 4-grams can have fewer or many more, and is done again with all
            # of them.
            n_grams = self.lengths[part] - (_ORDER - 1)
            limit = np.minimum(3 * _SKETCH / n_grams, 1.0) * 2.0**64
            low = hashes < limit[text]
            counts = np.bincount(text[low], minlength=len(part))
            usual = counts <= 8 * _SKETCH
            low &= usual[text]
            counts[~usual] = 0
            table = np.full((len(part), max(_SKETCH, counts.max(initial=0))), _NO_HASH)
            table[np.arange(table.shape[1]) < counts[:, None]] = hashes[low]
            table.sort(axis=1)
            repeated = np.zeros(table.shape, dtype=bool)
            repeated[:, 1:] = (table[:, 1:] == table[:, :-1]) & (table[:, 1:] != _NO_HASH)
            table[repeated] = _NO_HASH
            changed = np.flatnonzero(repeated.any(axis=1))
            table[changed] = np.sort(table[changed], axis=1)
            sketches = table[:, :_SKETCH].copy()
            bounds = np.searchsorted(text, np.arange(len(part) + 1))
            for i in np.flatnonzero(
                ((sketches[:, -1] == _NO_HASH) & (n_grams > 3 * _SKETCH)) | ~usual
            ).tolist():
                own = np.unique(hashes[bounds[i] : bounds[i + 1]])[:_SKETCH]
                sketches[i] = _NO_HASH
                sketches[i, : len(own)] = own
            yield sketches

    def _gram_hashes(
        self, texts: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return the hash of each 4-gram of the texts, and the row of its text."""
        keys = self.keys[self.tokens[ragged_indices(self.offsets[texts], self.lengths[texts])]]
        starts, text = _gram_starts(self.lengths[texts])
        hashes = keys[starts]
        for i in range(1, _ORDER):
            hashes = mix(hashes + np.uint64(i)) ^ keys[starts + i]
        return np.minimum(mix(hashes), _NO_HASH - np.uint64(1)), text

    def _shared_grams(
        self, one: NDArray[np.int64], two: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return how many distinct 4-grams each pair shares, and how many the text with fewer and
        with more has.

        4-grams are equal if their 64-bit hashes are.
        """
        texts, row = np.unique(np.concatenate([one, two]), return_inverse=True)
        hashes, text = self._gram_hashes(texts)
        order = np.argsort(hashes)
        grams = np.empty(len(hashes), dtype=np.int64)
        grams[order] = np.cumsum(np.diff(hashes[order], prepend=hashes[order[:1]]) != 0)
        cells = text * len(hashes) + grams
        cells.sort()
        text, grams = np.divmod(cells[run_starts(cells)], max(len(hashes), 1))
        n_grams = np.bincount(text, minlength=len(texts))
        a, b = np.split(row.reshape(-1), 2)
        shared = count_shared(grams, offsets_of(n_grams), a, b)
        return shared, np.minimum(n_grams[a], n_grams[b]), np.maximum(n_grams[a], n_grams[b])


_NO_HASH = np.uint64(2**64 - 1)


def _gram_starts(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each 4-gram of concatenated texts starts, and the row of its text."""
    counts = np.maximum(lengths - (_ORDER - 1), 0)
    return ragged_indices(offsets_of(lengths)[:-1], counts), np.repeat(
        np.arange(len(lengths)), counts
    )


def are_similar_words(
    words: NDArray[np.integer],
    offsets: NDArray[np.int64],
    one: NDArray[np.int64],
    two: NDArray[np.int64],
    shared: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return for each pair of short texts whether they have most words in common, or one is a part
    of the other.

    Text i is ``words[offsets[i]:offsets[i + 1]]``; `shared` is how many words a pair shares
    (:func:`classic_rc.kernels.bags.shared_words`).
    """
    sizes = np.diff(offsets)
    shorter, longer = np.minimum(sizes[one], sizes[two]), np.maximum(sizes[one], sizes[two])
    similar = shared >= SHORT_SHARE * longer
    for i in np.flatnonzero(
        ~similar & (shared == shorter) & (shorter >= LENGTH_RATIO * longer)
    ).tolist():
        inner, outer = sorted((int(one[i]), int(two[i])), key=lambda text: sizes[text])
        part, whole = (words[offsets[t] : offsets[t + 1]] for t in (inner, outer))
        windows = (
            np.lib.stride_tricks.sliding_window_view(whole, len(part))
            if len(part)
            else whole[:, None]
        )
        similar[i] = bool((windows == part).all(axis=1).any())
    return similar
