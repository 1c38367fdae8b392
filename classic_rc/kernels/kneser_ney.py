"""Interpolated modified Kneser-Ney: n-gram counts in sorted tables, the model, and token
probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import block_size, run_starts

START, END, UNKNOWN = 0, 1, 2
"""The first word ids. Every text begins with START, which is given and never predicted, and ends
with END.
"""

MARKS = ("<s>", "</s>", "<unk>")
"""The written forms of START, END and UNKNOWN."""

FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)
"""The discounts for texts too small to estimate any, as KenLM's ``--discount_fallback``."""

_CHUNK = 2**20
"""Positions or keys processed at a time: 8 MB of int64."""


class NGrams(NamedTuple):
    """The distinct k-grams of some texts, in the order of their words' ids.

    A key is ``rank * n_words + last``: the rank of the first k - 1 words among the (k - 1)-grams,
    and the last word. So keys of any k fit into 63 bits, and ascending keys are k-grams in
    lexicographic order.
    """

    # (n_ngrams,), ascending; the 1-grams are all word ids, whether the texts have them or not
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]  # (n_ngrams,): how often the texts have the k-gram


def count_ngrams(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_words: int, order: int
) -> list[NGrams]:
    """Count all n-grams of order 1, 2, … `order` within ragged texts.

    Text i is ``tokens[offsets[i]:offsets[i + 1]]``, as word ids in ``range(n_words)``.

    Examples
    --------
    >>> words, pairs = count_ngrams(np.array([2, 0, 2, 0, 1]), np.array([0, 3, 5]), 3, order=2)
    >>> words.counts, pairs.keys, pairs.counts
    (array([2, 1, 2]), array([1, 2, 6]), array([1, 1, 1]))
    """
    counted = [NGrams(np.arange(n_words), np.bincount(tokens, minlength=n_words))]
    room = _count_following(offsets, order)
    rank: NDArray[Any] = (
        tokens  # of the (k - 1)-gram that begins at each position, if the text is long enough
    )
    for k in range(2, order + 1):
        # Chunks are counted one by one and merged, so the keys of all positions are never in memory
        # at once.
        size = block_size(_CHUNK)
        chunks = [slice(start, start + size) for start in range(0, len(tokens), size)]
        runs = (
            _count_keys(_ngram_keys(chunk, rank, tokens, room, k, n_words)[1]) for chunk in chunks
        )
        counted.append(_merge_all(runs))
        if k < order:
            # Ranks are stored for every position, so a narrow type halves the largest array. They
            # are below the number of positions.
            kind = np.int32 if len(tokens) < 2**31 else np.int64
            following: NDArray[Any] = np.zeros(len(tokens), dtype=kind)
            for chunk in chunks:
                where, keys = _ngram_keys(chunk, rank, tokens, room, k, n_words)
                following[where] = find(counted[-1].keys, keys)
            rank = following
    return counted


def find(keys: NDArray[np.int64], searched: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index in ascending `keys` of each of `searched`, or -1.

    Examples
    --------
    >>> find(np.array([3, 5, 8]), np.array([8, 4, 3]))
    array([ 2, -1,  0])
    """
    places = np.full(len(searched), -1, dtype=np.int64)
    if not len(keys):
        return places
    chunk = block_size(_CHUNK)
    for start in range(0, len(searched), chunk):
        # Sorted, distinct keys are searched in memory order, which the cache makes three times as
        # fast.
        ordered, order = _sort_with_order(searched[start : start + chunk])
        firsts = run_starts(ordered)
        distinct = ordered[firsts]
        place = np.minimum(np.searchsorted(keys, distinct), len(keys) - 1)
        place[keys[place] != distinct] = -1
        counts = np.diff(firsts, append=len(ordered))
        places[start : start + chunk][order] = place.repeat(counts)
    return places


def _sort_with_order(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sorted values, and the index that each had."""
    bits = len(values).bit_length()
    if values.min() < 0 or int(values.max()) >> (63 - bits):
        order = np.argsort(values)
        return values[order], order
    # One sort of values and indices together is three times as fast as a sort of indices.
    packed = values << bits
    packed |= np.arange(len(values))
    packed.sort()
    order = packed & ((1 << bits) - 1)
    packed >>= bits
    return packed, order


def suffix_ranks(ngrams: Sequence[NGrams], n_words: int) -> list[NDArray[np.int64]]:
    """Return, for each k-gram with k = 2, 3, …, the rank of its last k - 1 words among the (k -
    1)-grams.

    `ngrams` are those of order 1, 2, …; the result has one array fewer.
    """
    suffixes: list[NDArray[np.int64]] = []
    for shorter, longer in zip(ngrams, ngrams[1:], strict=False):
        prefix, last = np.divmod(longer.keys, n_words)
        if suffixes:
            last = find(shorter.keys, suffixes[-1][prefix] * n_words + last)
        suffixes.append(last)
    return suffixes


def _count_following(offsets: NDArray[np.int64], order: int) -> NDArray[np.uint8]:
    """Count the tokens from each position to the end of its text, up to `order`."""
    room = np.full(offsets[-1], order, dtype=np.uint8)  # one byte: no order comes near 256
    lengths = np.diff(offsets)
    for n_tokens in range(1, order):
        room[offsets[1:][lengths >= n_tokens] - n_tokens] = n_tokens
    return room


def _ngram_keys(
    chunk: slice,
    rank: NDArray[Any],
    tokens: NDArray[np.int32],
    room: NDArray[np.uint8],
    k: int,
    n_words: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of k-grams in a part of the tokens, and their keys, from the ranks of
    the (k - 1)-grams.
    """
    where = np.flatnonzero(room[chunk] >= k) + chunk.start
    return where, rank[where].astype(np.int64) * n_words + tokens[where + k - 1]


def _count_keys(keys: NDArray[np.int64]) -> NGrams:
    keys = np.sort(keys)
    starts = run_starts(keys)
    return NGrams(keys[starts], np.diff(starts, append=len(keys)))


def _merge_all(runs: Iterator[NGrams]) -> NGrams:
    """Merge runs into one table, similar sizes first: each key is merged at most log2(n_runs)
    times.
    """
    merged: list[NGrams] = []
    for run in runs:
        merged.append(run)
        while len(merged) > 1 and len(merged[-2].keys) <= 2 * len(merged[-1].keys):
            merged[-2:] = [_merge_tables(merged[-2:])]
    return _merge_tables(merged)


def _merge_tables(runs: Iterable[NGrams]) -> NGrams:
    empty = np.empty(0, dtype=np.int64)
    keys = np.concatenate([empty, *(run.keys for run in runs)])
    counts = np.concatenate([empty, *(run.counts for run in runs)])
    order = np.argsort(keys, kind="stable")  # a merge sort: it profits from sorted runs
    keys, counts = keys[order], counts[order]
    starts = run_starts(keys)
    return NGrams(keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts)


class KneserNey(NamedTuple):
    r"""A model of order n: one table of k-grams for each k = 1..n."""

    keys: tuple[NDArray[np.int64], ...]  # of the k-grams, ascending: see `NGrams`
    # of each k-gram: the probability of its last word after the others
    probabilities: tuple[NDArray[np.float64], ...]
    # of each k-gram with k < n: gamma, the mass left for words that do not follow it in the text; 1
    # if nothing follows it
    backoffs: tuple[NDArray[np.float64], ...]
    discounts: NDArray[np.float64]  # (n, 3): what is subtracted from counts of 1, 2, and 3 or more
    counts: tuple[NDArray[Any], ...]  # of each k-gram, as :func:`adjusted_counts` adjusts them

    @property
    def order(self) -> int:
        """The length n of the longest n-grams."""
        return len(self.keys)

    @property
    def n_words(self) -> int:
        """The size of the vocabulary, including the words of :data:`MARKS`."""
        return len(self.keys[0])

    def following(self, k: int, context: int) -> slice:
        """Return the places of the k-grams that begin with the (k - 1)-gram `context`."""
        first_key = context * self.n_words
        bounds = np.searchsorted(self.keys[k - 1], [first_key, first_key + self.n_words])
        return slice(*bounds.tolist())


class Probabilities(NamedTuple):
    """The probabilities that a model gives to tokens."""

    values: NDArray[np.float64]  # (n_tokens,): of each token after those before it in its text
    # (n_tokens,): the length of the model's longest n-gram that ends with the token
    orders: NDArray[np.int64]


def kneser_ney(
    ngrams: Sequence[NGrams],  # of order 1, 2, …, counted in texts that all begin with START
    # (n, 3): for each order, what is subtracted from counts of 1, 2, and 3 or more; default:
    # `modified_discounts`
    discounts: NDArray[np.float64] | None = None,
) -> KneserNey:
    r"""Estimate a model from counts (Chen and Goodman 1998, section 4.1.6 and equation 26).

    .. math::

        p_k(w \mid h) = \frac{c(hw) - D_k(c(hw))}{\sum_v c(hv)}
        + \gamma_k(h)\, p_{k-1}(w \mid h'), \qquad
        \gamma_k(h) = \frac{\sum_v D_k(c(hv))}{\sum_v c(hv)}

    Here c are the adjusted counts of :func:`adjusted_counts`, h' is the context h without its first
    word, and :math:`p_0` is uniform over all words that can be predicted: those of the vocabulary,
    END and UNKNOWN. If the texts do not have the context h, :math:`p_k = p_{k-1}`.
    """
    n_words = len(ngrams[0].keys)
    suffixes = suffix_ranks(ngrams, n_words)
    adjusted = adjusted_counts(ngrams, suffixes)
    if discounts is None:
        discounts = np.array([modified_discounts(counts) for counts in adjusted])
    lower = np.full(n_words, 1 / (n_words - 1))  # START is not predicted
    probabilities, backoffs = [], []
    for k, (table, counts) in enumerate(zip(ngrams, adjusted, strict=True)):
        size = np.minimum(counts, 3)
        discount = np.append(0, discounts[k])[size]
        if k == 0:
            context, suffix = np.zeros(n_words, dtype=np.int64), table.keys
            n_contexts = 1
        else:
            context, suffix = table.keys // n_words, suffixes[k - 1]
            n_contexts = len(ngrams[k - 1].keys)
        total = np.bincount(context, counts, n_contexts)
        # Counts of counts are whole numbers, so these sums have the same bits for any numbering of
        # the words.
        subtracted = np.zeros(n_contexts)
        for i in (1, 2, 3):
            n_of_size = np.bincount(context[size == i], minlength=n_contexts)
            subtracted += discounts[k, i - 1] * n_of_size
        backoff = np.divide(subtracted, total, out=np.ones(n_contexts), where=total > 0)
        share = np.zeros(len(counts))
        np.divide(counts - discount, total[context], out=share, where=counts > 0)
        lower = share + backoff[context] * lower[suffix]
        if k == 0:
            lower[START] = 0
        else:
            backoffs.append(backoff)
        probabilities.append(lower)
    return KneserNey(
        tuple(table.keys for table in ngrams),
        tuple(probabilities),
        tuple(backoffs),
        discounts,
        tuple(adjusted),
    )


def adjusted_counts(
    ngrams: Sequence[NGrams], suffixes: Sequence[NDArray[np.int64]]
) -> list[NDArray[Any]]:
    """Return the counts that Kneser-Ney uses instead of frequencies; `suffixes` are from
    :func:`suffix_ranks`.

    The longest n-grams keep their frequency. A shorter n-gram gets the number of distinct words
    that precede it. Nothing precedes START, so n-grams that begin with START keep their frequency;
    START itself is never predicted and gets 0.
    """
    n_words = len(ngrams[0].keys)
    adjusted, n_from_start = [], START + 1
    for k, table in enumerate(ngrams):
        if k:  # START has the smallest id, so its n-grams come first
            n_from_start = int(np.searchsorted(table.keys, n_from_start * n_words))
        counts = table.counts.copy()
        if k + 1 < len(ngrams):
            counts[n_from_start:] = np.bincount(suffixes[k], minlength=len(counts))[n_from_start:]
        # They stay in the model, so a narrow type matters.
        kind = np.int32 if counts.max(initial=0) < 2**31 else np.int64
        adjusted.append(counts.astype(kind))
    adjusted[0][START] = 0
    return adjusted


def modified_discounts(counts: NDArray[Any]) -> NDArray[np.float64]:
    r"""Estimate the discounts of one order, shape (3,), from the numbers of n-grams with adjusted
    counts 1 to 4.

    .. math:: D_i = i - (i + 1)\, \frac{n_1}{n_1 + 2 n_2}\, \frac{n_{i+1}}{n_i}, \qquad i = 1, 2, 3+

    This is equation 26 of Chen and Goodman 1998. If n1, n2 or n3 is 0 or a discount is not in 0..i,
    as happens with little text, all three are :data:`FALLBACK_DISCOUNTS`.
    """
    n = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(np.float64)
    if not n[:3].all():
        return np.array(FALLBACK_DISCOUNTS)
    i = np.arange(1, 4)
    y = n[0] / (n[0] + 2 * n[1])  # as the paper calls it
    discounts = i - (i + 1) * y * n[1:] / n[:3]
    if np.all((discounts >= 0) & (discounts <= i)):
        return discounts
    return np.array(FALLBACK_DISCOUNTS)


def token_probabilities(
    model: KneserNey, tokens: NDArray[np.integer], offsets: NDArray[np.int64]
) -> Probabilities:
    """Return the probability of every token after those before it in its text, at most n - 1 of
    them.

    Tokens are word ids below ``model.n_words``; text i is ``tokens[offsets[i]:offsets[i + 1]]``.
    All n-grams of all texts are looked up at once, one search per length: the k-gram that ends at a
    token is the (k - 1)-gram that ends at the token before, followed by the token.
    """
    tokens = tokens.astype(np.int64)
    first = offsets[:-1][np.diff(offsets) > 0]
    values = model.probabilities[0][tokens]
    orders = np.ones(len(tokens), dtype=np.int64)
    rank = tokens  # of the k-gram that ends at each token; -1 if the model does not have it
    for k in range(1, model.order):
        context = np.append(-1, rank)[:-1]
        context[first] = -1  # no n-gram crosses the border of two texts
        with_context = np.flatnonzero(context >= 0)
        context = context[with_context]
        rank = np.full(len(tokens), -1)
        rank[with_context] = find(model.keys[k], context * model.n_words + tokens[with_context])
        # Back off if the context is known; if the k-gram is known too, its own probability replaces
        # the product.
        values[with_context] *= model.backoffs[k - 1][context]
        with_ngram = np.flatnonzero(rank >= 0)
        values[with_ngram] = model.probabilities[k][rank[with_ngram]]
        orders[with_ngram] = k + 1
    return Probabilities(values, orders)
