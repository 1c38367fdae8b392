"""Texts that have most of their words in common: all pairs, found by the rarest words that texts
share.

A text is a bag of words here: order does not matter, repetitions do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    binary_search,
    distinct,
    offsets_of,
    ragged_indices,
    run_starts,
    runs_of,
)
from classic_rc.kernels.draws import mix

_BLOCK_PAIRS = 2**22
_BLOCK_WORDS = 2**20
_MAX_RAREST = 12
"""How many of a text's rarest words are combined. Two of them make a key, so it bounds the keys
of a text at 66.
"""


def pairs_with_equal_keys(
    rows: NDArray[np.int32],  # (n,): the row of each key, ascending
    keys: NDArray[np.uint64],  # (n,): distinct within a row
    n_rows: int,
    neighbours: int,
    fits: Callable[[NDArray[np.int32], NDArray[np.int32]], NDArray[np.bool_]],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the pairs of rows that share keys, and how many they share.

    Pairs ascend, the first row below the second one, and none is yielded twice. `fits` takes the
    first and the second rows of pairs, and returns which ones to keep. Each row is paired with at
    most `neighbours` of the next rows that have a key, which bounds the time where thousands of
    rows share it.
    """
    order = np.argsort(keys, kind="stable")
    equal = keys[order[1:]] == keys[order[:-1]]
    # the keys of several rows: most keys have one, and memory for them is saved
    is_shared = np.zeros(len(keys), dtype=bool)
    is_shared[order[1:][equal]] = True
    is_shared[order[:-1][equal]] = True
    rows, keys = rows[is_shared], keys[is_shared]
    order = np.argsort(keys, kind="stable")  # among equal keys, earlier rows first
    rows_by_key, keys = rows[order], keys[order]
    starts = run_starts(keys)
    lengths = np.diff(starts, append=len(keys))
    remaining = np.repeat(starts + lengths, lengths) - np.arange(len(keys)) - 1
    following = np.minimum(remaining, neighbours)
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))  # of each row's keys in `keys`, row by row
    entries = offsets_of(np.bincount(rows, minlength=n_rows))
    per_row = np.diff(offsets_of(following[position])[entries])
    for start, stop in runs_of(per_row, _BLOCK_PAIRS):
        places = position[entries[start] : entries[stop]]
        counts = following[places]
        first_rows = np.repeat(rows_by_key[places], counts)
        second_rows = rows_by_key[ragged_indices(places + 1, counts)]
        fitting = fits(first_rows, second_rows)
        codes = first_rows[fitting].astype(np.int64) * n_rows + second_rows[fitting]
        codes.sort()
        first = run_starts(codes)
        shared = np.diff(first, append=len(codes))
        first_of, second_of = np.divmod(codes[first], max(n_rows, 1))
        yield first_of, second_of, shared


def least_shared(sizes: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """Return how many words are a share of bags of these sizes, rounded up.

    Examples
    --------
    >>> least_shared(np.array([4, 5, 10]), 0.7).tolist()
    [3, 4, 7]
    """
    # A float product may be a little too large: 0.28 * 25 is 7.000000000000001, and not 8 words.
    return np.ceil(share * sizes - 1e-9).astype(np.int64)


def overlapping_bags(
    words: NDArray[np.integer],  # (n_words,): of all bags, bag after bag
    offsets: NDArray[np.int64],  # (n_bags + 1,)
    # (n_bags,): how many words each bag shares at least, such as `least_shared`
    min_shared: NDArray[np.int64],
    *,
    # (n_bags,): one bag of a pair has this flag and the other bag the next one
    here: NDArray[np.bool_],
    there: NDArray[np.bool_],
    part_share: float | None = None,
    # as in `pairs_with_equal_keys`: of more, only those next in size are compared
    neighbours: int = 64,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find the pairs of bags that share enough words: at least two, or the only one that each has.

    Two bags that share enough words share two of the rarest words of each (prefix filtering:
    Chaudhuri, Ganti and Kaushik 2006). So bags are compared if they share two of their rarest
    words: the more words a pair must share, the fewer and rarer are those that it is found by.
    Every pair is then counted on all words, and must reach `min_shared` of both. With `part_share`,
    above 0, also find pairs in which one bag contains all words of the other (at least two words),
    if they make up at least this share of the larger bag.

    Returns the earlier and the later bag of each pair, and the number of words in common,
    repetitions counted, each of shape (n_pairs,).

    Examples
    --------
    >>> bags, offsets = (
    ...     np.array([0, 1, 2, 3, 4, 9, 3, 2, 1, 0, 5, 6, 7, 8]),
    ...     np.array([0, 5, 10, 14]),
    ... )
    >>> least, every = least_shared(np.diff(offsets), 0.75), np.ones(3, dtype=bool)
    >>> [a.tolist() for a in overlapping_bags(bags, offsets, least, here=every, there=every)]
    [[0], [1], [4]]
    """
    sizes = np.diff(offsets)
    numbers = _number_repetitions(words, sizes)
    n_numbers = int(numbers.max(initial=-1)) + 1
    frequency, of_here, of_there = np.zeros((3, n_numbers), dtype=np.int64)
    for start, stop in runs_of(sizes, _BLOCK_WORDS):
        block_numbers = numbers[offsets[start] : offsets[stop]]
        for counts, usable in ((frequency, here | there), (of_here, here), (of_there, there)):
            is_usable = np.repeat(usable[start:stop], sizes[start:stop])
            counts += np.bincount(block_numbers[is_usable], minlength=n_numbers)
    # Rank 0 is the rarest word. A word of one bag only is left out, because no two bags share it.
    rank = np.argsort(np.argsort(frequency, kind="stable"), kind="stable")
    rank[(frequency < 2) | (np.minimum(of_here, of_there) == 0)] = -1
    by_size = np.argsort(sizes, kind="stable")  # neighbours in this order have similar sizes
    is_used = (here | there)[by_size]
    rarest = _Rarest.of(rank, numbers, offsets[by_size], sizes[by_size], is_used)

    def flagged(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        is_across = here[a] & there[b]
        is_across |= there[a] & here[b]
        return is_across

    def needed(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.maximum(min_shared[a], min_shared[b])

    def fits(first_rows: NDArray[np.int32], second_rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        a, b = by_size[first_rows], by_size[second_rows]
        return flagged(a, b) & (sizes[a] >= needed(a, b))  # a is not the larger one

    pairs = [np.empty((3, 0), dtype=np.int64)]
    pairs_of_rows = pairs_with_equal_keys(
        *rarest.keys(min_shared[by_size]), len(sizes), neighbours, fits
    )
    for first_rows, second_rows, _ in pairs_of_rows:
        a, b = by_size[first_rows], by_size[second_rows]
        shared = _count_in_blocks(numbers, offsets, a, b)
        pairs.append(np.stack([a, b, shared])[:, shared >= needed(a, b)])
    if part_share is not None:
        for first_rows, second_rows in rarest.parts(part_share, neighbours):
            a, b = by_size[first_rows], by_size[second_rows]
            # the others are found already
            is_new = flagged(a, b) & (sizes[a] < needed(a, b))
            a, b = a[is_new], b[is_new]
            shared = _count_in_blocks(numbers, offsets, a, b)
            pairs.append(np.stack([a, b, shared])[:, shared == sizes[a]])
    a, b, shared = np.concatenate(pairs, axis=1)
    return np.minimum(a, b), np.maximum(a, b), shared


def _number_repetitions(
    words: NDArray[np.integer], sizes: NDArray[np.int64]
) -> NDArray[np.integer]:
    """Number the words so that the second occurrence in a bag has another number than the first
    one.
    """
    n_words = int(words.max(initial=0)) + 1
    ends = offsets_of(sizes)
    numbers = words.copy()
    no_words = np.empty(0, dtype=np.int64)
    places, codes = [no_words], [no_words]
    for start, stop in runs_of(sizes, _BLOCK_WORDS):
        block_words = words[ends[start] : ends[stop]]
        keys = np.repeat(np.arange(stop - start), sizes[start:stop]) * n_words
        keys += block_words
        order = np.argsort(keys, kind="stable")
        starts = run_starts(keys[order])
        counts = np.diff(starts, append=len(keys))
        occurrence = np.arange(len(keys)) - np.repeat(starts, counts)
        repeated = order[occurrence > 0]
        places.append(repeated + ends[start])
        codes.append(block_words[repeated] + n_words * occurrence[occurrence > 0])
    _, code_numbers = np.unique(np.concatenate(codes), return_inverse=True)
    numbers[np.concatenate(places)] = n_words + code_numbers
    return numbers


class _Rarest(NamedTuple):
    """The rarest words that each row shares with other rows, from the rarest one on. Rows ascend
    in size.
    """

    rows: NDArray[np.int64]  # ascending
    codes: NDArray[np.uint64]  # of the words
    place: NDArray[np.int64]  # of each word in its row, from 0 for the rarest one
    counts: NDArray[np.int64]  # of the words that a row shares with other rows, by row
    sizes: NDArray[np.int64]  # by row, with the words that no other row has

    @classmethod
    def of(
        cls,
        rank: NDArray[np.int64],  # of each number; -1 for what no two rows share
        numbers: NDArray[np.integer],
        starts: NDArray[np.int64],  # by row: where its numbers begin
        sizes: NDArray[np.int64],
        used: NDArray[np.bool_],
    ) -> _Rarest:
        loads = sizes * used
        counts = np.zeros(len(sizes), dtype=np.int64)
        no_rows = np.empty(0, dtype=np.int64)
        columns = [(no_rows, np.empty(0, dtype=np.uint64), no_rows)]
        for start, stop in runs_of(loads, _BLOCK_WORDS):
            block_sizes = loads[start:stop]
            ranks = rank[numbers[ragged_indices(starts[start:stop], block_sizes)]]
            rows = np.repeat(np.arange(len(block_sizes)), block_sizes)
            codes = np.sort((rows * len(rank) + ranks)[ranks >= 0])
            rows, ranks = np.divmod(codes, max(len(rank), 1))
            counts[start:stop] = np.bincount(rows, minlength=len(block_sizes))
            place = np.arange(len(rows)) - offsets_of(counts[start:stop])[rows]
            first = place < _MAX_RAREST
            word_codes = mix(ranks[first].astype(np.uint64))
            columns.append((rows[first] + start, word_codes, place[first]))
        rows, words, places = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        return cls(rows, words, places, counts, sizes)

    def keys(self, min_shared: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """Return a key for every two of the rarest words of each row, and for the only word of
        rows with one.
        """
        rows, keys = self._keys_of_two(min_shared)
        single = np.flatnonzero(self.sizes[self.rows] == 1)
        rows = np.concatenate([rows, self.rows[single]])
        keys = np.concatenate([keys, self.codes[single]])
        order = np.argsort(rows, kind="stable")
        return rows[order].astype(np.int32), keys[order]

    def _keys_of_two(
        self, min_shared: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        # Of the words that others have, too, `min_shared` are shared. So two of the first ones are.
        prefix = self.counts - np.maximum(min_shared, 2) + 2
        prefix = np.clip(prefix, 0, np.minimum(self.counts, _MAX_RAREST))
        first = np.flatnonzero(self.place < prefix[self.rows])
        later = prefix[self.rows[first]] - self.place[first] - 1
        second = ragged_indices(first + 1, later)
        keys = mix(np.repeat(self.codes[first], later))
        keys += self.codes[second]
        return np.repeat(self.rows[first], later), keys

    def parts(
        self, share: float, neighbours: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield rows that may be parts of larger ones, and these: they share the two rarest
        words of the part.
        """
        # A part has no word of its own, so its two rarest words are its first ones.
        unreachable = int(self.counts.max(initial=0)) + 2  # more than any row shares
        min_shared = np.where(self.counts == self.sizes, self.counts, unreachable)
        part_rows, part_keys = self._keys_of_two(min_shared)
        fewest = least_shared(self.sizes, share)
        # A row whose least possible part is as large as itself has none.
        part_sizes = distinct(self.sizes[part_rows])
        part_sizes = np.append(part_sizes, self.sizes.max(initial=0) + 1)
        smallest = part_sizes[np.searchsorted(part_sizes, fewest)]
        min_shared = np.where(smallest < self.sizes, fewest, unreachable)
        rows, keys = self._keys_of_two(min_shared)
        del smallest, min_shared
        has_part = binary_search(keys, np.sort(part_keys))[1]
        rows, keys = rows[has_part], keys[has_part]
        # Among equal keys, smaller rows come first. So the parts that are next in size precede a
        # row.
        all_keys = np.concatenate([part_keys, keys])
        order = np.lexsort((np.concatenate([part_rows, rows]), all_keys))
        is_part = order < len(part_rows)
        before = np.cumsum(is_part)  # parts up to each entry
        starts = run_starts(all_keys[order])
        lengths = np.diff(starts, append=len(order))
        in_earlier_runs: NDArray[np.int64] = np.repeat(before[starts] - is_part[starts], lengths)
        entries = np.flatnonzero(~is_part)
        counts = np.minimum(before[entries] - in_earlier_runs[entries], neighbours)
        first_parts: NDArray[np.int64] = before[entries] - counts
        del before, in_earlier_runs
        parts, wholes = part_rows[order[is_part]], rows[order[entries] - len(part_rows)]
        for start, stop in runs_of(counts, _BLOCK_PAIRS):
            block_counts = counts[start:stop]
            block_parts = parts[ragged_indices(first_parts[start:stop], block_counts)]
            block_wholes = np.repeat(wholes[start:stop], block_counts)
            fits = block_parts < block_wholes
            fits &= self.sizes[block_parts] >= fewest[block_wholes]
            fits &= self.sizes[block_parts] < self.sizes[block_wholes]
            yield block_parts[fits], block_wholes[fits]


def count_shared(
    numbers: NDArray[np.integer],
    offsets: NDArray[np.int64],
    first_rows: NDArray[np.int64],
    second_rows: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    """Count for each pair the numbers that both rows have, or sum their weights; they are
    distinct within a row.
    """
    n_numbers = int(numbers.max(initial=0)) + 1
    codes = []
    for rows in (first_rows, second_rows):
        counts = offsets[rows + 1] - offsets[rows]
        row_codes = np.repeat(np.arange(len(rows)) * n_numbers, counts)
        row_codes += numbers[ragged_indices(offsets[rows], counts)]
        codes.append(row_codes)
    pair_codes = np.concatenate(codes)
    pair_codes.sort()  # a code that occurs twice is in both rows of its pair
    shared_codes = pair_codes[1:][pair_codes[1:] == pair_codes[:-1]]
    pair, number = np.divmod(shared_codes, n_numbers)
    shared_weights = None if weights is None else weights[number]
    return np.bincount(pair, shared_weights, minlength=len(first_rows))


def shared_words(
    words: NDArray[np.integer],
    offsets: NDArray[np.int64],
    first_bags: NDArray[np.int64],
    second_bags: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count for each pair of bags the words in common, repetitions counted.

    Examples
    --------
    >>> shared_words(
    ...     np.array([1, 1, 2, 1, 3, 1]), np.array([0, 3, 6]), np.array([0]), np.array([1])
    ... )
    array([2])
    """
    words, offsets, first_bags, second_bags = _only_used(words, offsets, first_bags, second_bags)
    return _count_in_blocks(
        _number_repetitions(words, np.diff(offsets)), offsets, first_bags, second_bags
    )


def shared_weight(
    words: NDArray[np.integer],
    offsets: NDArray[np.int64],
    first_bags: NDArray[np.int64],
    second_bags: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum for each pair of bags the weights, by word, of the different words in common.

    Examples
    --------
    >>> weights = np.array([0, 0.5, 1, 1])
    >>> shared_weight(
    ...     np.array([1, 1, 2, 1, 3, 1]), np.array([0, 3, 6]), np.array([0]), np.array([1]), weights
    ... )
    array([0.5])
    """
    words, offsets, first_bags, second_bags = _only_used(words, offsets, first_bags, second_bags)
    bag = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    has_weight = weights[words] != 0
    codes = np.sort(bag[has_weight] * len(weights) + words[has_weight])
    codes = codes[run_starts(codes)]
    bag, bag_words = np.divmod(codes, max(len(weights), 1))
    offsets = offsets_of(np.bincount(bag, minlength=len(offsets) - 1))
    return _count_in_blocks(bag_words, offsets, first_bags, second_bags, weights)


def _only_used(
    words: NDArray[np.integer],
    offsets: NDArray[np.int64],
    first_bags: NDArray[np.int64],
    second_bags: NDArray[np.int64],
) -> tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return only the bags of some pairs, numbered anew, and the pairs."""
    bags, row = np.unique(np.concatenate([first_bags, second_bags]), return_inverse=True)
    counts = offsets[bags + 1] - offsets[bags]
    first_bags, second_bags = np.split(row, 2)
    return words[ragged_indices(offsets[bags], counts)], offsets_of(counts), first_bags, second_bags


def _count_in_blocks(
    numbers: NDArray[np.integer],
    offsets: NDArray[np.int64],
    first_rows: NDArray[np.int64],
    second_rows: NDArray[np.int64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    sizes = np.diff(offsets)
    loads = sizes[first_rows] + sizes[second_rows] + 1
    counts: list[NDArray[Any]] = [np.empty(0, dtype=np.int64 if weights is None else np.float64)]
    for start, stop in runs_of(loads, _BLOCK_WORDS):
        block = first_rows[start:stop], second_rows[start:stop]
        counts.append(count_shared(numbers, offsets, *block, weights))
    return np.concatenate(counts)
