"""The learned lexical features: cells of words of candidate, question and passage, each with its
own weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, binary_search, block_size, offsets_of
from classic_rc.kernels.pairs import occurrences, pair_blocks, word_counts, word_pairs
from classic_rc.solvers.feature_ranker.texts import (
    QUESTION_TYPES,
    RankerTexts,
    TrainingWords,
    content_counts,
    passage_of_candidates,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

CELLS: Mapping[str, frozenset[str]] = {
    "word": frozenset(),
    "bigram": frozenset(),
    "trigram": frozenset(),
    "word in passage": frozenset({"passage"}),
    "word, type": frozenset({"question"}),
    "word, question word": frozenset({"question"}),
    "opening, first word": frozenset({"question"}),
    "opening, length": frozenset({"question"}),
    "opening, word": frozenset({"question"}),
}
"""The groups of cells, and the inputs that they read in addition to the candidates.

Only "word, question word" leaves out stop words. An opening is the first two words of a question.
"""

_MAX_LENGTH = 12
"""Longer candidates have the cell of this length."""
_BLOCK_TOKENS = 2**16
_BLOCK_PAIRS = 2**18


class KeyedCells(NamedTuple):
    """Cells of a block's candidates. A cell is a key of up to three numbers."""

    rows: NDArray[np.int64]  # (n,): the candidate that has the cell
    keys: NDArray[np.int64]  # (n,)


@dataclass(frozen=True)
class LexicalCells:
    """The cells that training has seen often enough, each with a column.

    A key has three parts below `base`: numbers of words, counted from 1, a length, a type of
    questions, or 0.
    """

    words: TrainingWords
    tables: Mapping[str, NDArray[np.int64]]  # by group, the keys of its cells, ascending

    @classmethod
    def learn(
        cls, texts: RankerTexts, words: TrainingWords, inputs: frozenset[str], min_count: int
    ) -> LexicalCells:
        """Give a column to each cell that at least `min_count` distinct candidates have."""
        groups = [group for group, needs in CELLS.items() if needs <= inputs]
        without_columns = cls(words, dict.fromkeys(groups, np.empty(0, dtype=np.int64)))
        counts = {group: _KeyCounts() for group in groups}
        for _, cells in without_columns._blocks(texts):
            for group, group_cells in cells.items():
                counts[group].add(group_cells.keys)
        return cls(words, {group: counts[group].frequent(min_count) for group in groups})

    @property
    def n_columns(self) -> int:
        """The number of cells."""
        return sum(map(len, self.tables.values()))

    @property
    def base(self) -> int:
        """The base of the keys."""
        return _base(self.words)

    def _offsets(self) -> NDArray[np.int64]:
        """Return where the columns of each group start, and where the last ones end."""
        return offsets_of(list(map(len, self.tables.values())))

    def matrix(self, texts: RankerTexts) -> csr_matrix:
        """Return the cells of each distinct candidate: ones of float32, the columns of a row
        ascending.
        """
        from scipy.sparse import csr_matrix

        columns = [np.empty(0, dtype=np.int32)]
        sizes = [np.empty(0, dtype=np.int64)]
        for _, (block_columns, block_sizes) in self.blocks(texts):
            columns.append(block_columns)
            sizes.append(block_sizes)
        indices, offsets = np.concatenate(columns), offsets_of(np.concatenate(sizes))
        ones = np.ones(len(indices), np.float32)
        return csr_matrix((ones, indices, offsets), (len(offsets) - 1, self.n_columns))

    def blocks(
        self, texts: RankerTexts
    ) -> Iterator[tuple[slice, tuple[NDArray[np.int32], NDArray[np.int64]]]]:
        """Yield blocks of candidates with the columns of their cells, ascending in a row, and
        how many each has.
        """
        starts, n_columns = self._offsets().tolist(), self.n_columns
        for where, cells in self._blocks(texts):
            n_rows = where.stop - where.start
            packed = [np.empty(0, dtype=np.int64)]
            for start, (group, (rows, keys)) in zip(starts, cells.items(), strict=False):
                place, has_column = binary_search(keys, self.tables[group])
                columns = start + place[has_column]
                packed.append(rows[has_column] * n_columns + columns)
            sorted_cells = np.concatenate(packed)
            sorted_cells.sort()
            rows, columns = np.divmod(sorted_cells, max(n_columns, 1))
            yield where, (columns.astype(np.int32), np.bincount(rows, minlength=n_rows))

    def score(self, texts: RankerTexts, weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Return the sum of the weights of each distinct candidate's cells, in the order of the
        columns.
        """
        values = np.zeros(len(texts.encoded.arrays.candidate_question))
        for where, (columns, sizes) in self.blocks(texts):
            rows = np.repeat(np.arange(len(sizes)), sizes)
            values[where] = np.bincount(rows, weights=weights[columns], minlength=len(sizes))
        return values

    def describe(self, columns: Sequence[int]) -> list[str]:
        """Return the names of some cells."""
        offsets, groups, base = self._offsets(), list(self.tables), self.base
        names = []
        for column in columns:
            # Of groups that start at the same column, only the last one has cells.
            number = int(np.searchsorted(offsets, column, side="right")) - 1
            group = groups[number]
            key = int(self.tables[group][column - offsets[number]])
            parts = key // base**2, key // base % base, key % base
            names.append(self._name(group, parts))
        return names

    def _name(self, group: str, key: tuple[int, int, int]) -> str:
        def word(number: int) -> str:
            return self.words.words[number - 1] if number else "-"

        if group == "word in passage":
            return f"{group}: {word(key[0])}, {'yes' if key[2] else 'no'}"
        if group == "word, type":
            return f"{group}: {word(key[0])}, {[*QUESTION_TYPES, 'other'][key[2]]}"
        if group == "opening, length":
            return f"{group}: {word(key[0])} {word(key[1])}, {key[2]}"
        if group.startswith("opening"):
            return f"{group}: {word(key[0])} {word(key[1])}, {word(key[2])}"
        if group == "word, question word":
            return f"{group}: {word(key[0])}, {word(key[2])}"
        return f"{group}: {' '.join(word(k) for k in key if k)}"

    def _blocks(self, texts: RankerTexts) -> Iterator[tuple[slice, Mapping[str, KeyedCells]]]:
        """Yield blocks of candidates with all cells of known words, whether they have a column
        or not.
        """
        # 0 means no word; unknown words are negative.
        numbers = self.words.numbers_of(texts.encoded.vocabulary) + 1
        numbers[numbers == 0] = -1

        for where, arrays in pair_blocks(texts.encoded.arrays, _BLOCK_TOKENS, _BLOCK_PAIRS):
            first = texts.encoded.arrays.candidate_question[where.start]
            types = texts.types[first : first + len(arrays.question_passage)]
            parts_of = _block_cells(arrays, texts.stop, types, numbers)
            yield where, {group: _pack(parts_of(group), self.base) for group in self.tables}


def _base(words: TrainingWords) -> int:
    return max(len(words), _MAX_LENGTH, len(QUESTION_TYPES)) + 2


def _pack(parts: Sequence[NDArray[np.int64]], base: int) -> KeyedCells:
    """Return the cells of known words, given their candidates and the three parts of their keys."""
    rows, *numbers = parts
    is_known = np.logical_and.reduce([key_part >= 0 for key_part in numbers])
    keys = (numbers[0] * base + numbers[1]) * base + numbers[2]
    return KeyedCells(rows[is_known], keys[is_known])


def _block_cells(
    arrays: TokenArrays,
    stop: NDArray[np.bool_],
    types: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> Callable[[str], tuple[NDArray[np.int64], ...]]:
    """Return a function that returns, for a group, the rows of its cells and the three parts of
    their keys.
    """
    n_words, question = arrays.n_words, arrays.candidate_question
    words = word_counts(arrays.candidate_tokens, arrays.candidate_offsets, n_words)
    rows, word = words.texts, numbers[words.words]
    nothing = np.zeros(len(rows), dtype=np.int64)
    lengths = np.diff(arrays.candidate_offsets)
    openings = _first_words(arrays.question_tokens, arrays.question_offsets, 2, numbers)[question]
    all_candidates = np.arange(len(question))

    def parts(group: str) -> tuple[NDArray[np.int64], ...]:
        match group:
            case "word":
                return rows, word, nothing, nothing
            case "bigram" | "trigram":
                return _ngrams(arrays, numbers, 2 if group == "bigram" else 3)
            case "word in passage":
                passages = word_counts(arrays.passage_tokens, arrays.passage_offsets, n_words)
                in_passage = (
                    occurrences(passages, passage_of_candidates(arrays)[rows], words.words) > 0
                )
                return rows, word, nothing, in_passage.astype(np.int64)
            case "word, type":
                return rows, word, nothing, types[question[rows]]
            case "word, question word":
                candidates = content_counts(
                    arrays.candidate_tokens, arrays.candidate_offsets, stop, n_words
                )
                questions = content_counts(
                    arrays.question_tokens, arrays.question_offsets, stop, n_words
                )
                owner, candidate_words, question_words = word_pairs(candidates, questions, question)
                no_word = np.zeros(len(owner), dtype=np.int64)
                return owner, numbers[candidate_words], no_word, numbers[question_words]
            case "opening, first word":
                first_words = _first_words(
                    arrays.candidate_tokens, arrays.candidate_offsets, 1, numbers
                )
                return all_candidates, openings[:, 0], openings[:, 1], first_words[:, 0]
            case "opening, length":
                cut = np.minimum(lengths, _MAX_LENGTH)
                return all_candidates, openings[:, 0], openings[:, 1], cut
            case "opening, word":
                return rows, openings[rows, 0], openings[rows, 1], word
        raise KeyError(group)

    return parts


def _first_words(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n: int, numbers: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the numbers of the first `n` words of each text, 0 where it has fewer: shape
    (n_texts, n).
    """
    first_words = np.zeros((len(offsets) - 1, n), dtype=np.int64)
    for k in range(n):
        is_longer = np.diff(offsets) > k
        places = offsets[:-1][is_longer] + k
        first_words[is_longer, k] = numbers[tokens[places]]
    return first_words


def _ngrams(
    arrays: TokenArrays, numbers: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], ...]:
    """Return the distinct n-grams of the candidates: their rows and three numbers, the first 0
    for a bigram.
    """
    lengths = np.diff(arrays.candidate_offsets)
    row = np.repeat(np.arange(len(lengths)), lengths)
    ends = np.repeat(arrays.candidate_offsets[1:], lengths)
    start = np.flatnonzero(np.arange(len(row)) + n <= ends)
    token_numbers = numbers[arrays.candidate_tokens]
    no_word = np.zeros(len(start), dtype=np.int64)
    columns = [row[start], *[no_word] * (3 - n)]
    columns += [token_numbers[start + k] for k in range(n)]
    order = np.lexsort(columns[::-1])
    sorted_columns = [column[order] for column in columns]
    is_new = np.ones(len(order), dtype=np.bool_)
    if len(order):
        is_new[1:] = np.logical_or.reduce([np.diff(column) != 0 for column in sorted_columns])
    return tuple(column[is_new] for column in sorted_columns)


class _KeyCounts:
    """How often keys occurred, added up block by block."""

    def __init__(self) -> None:
        self._keys = np.empty(0, dtype=np.int64)
        self._counts = np.empty(0, dtype=np.int64)
        self._waiting: list[NDArray[np.int64]] = []
        self._n_waiting = 0

    def add(self, keys: NDArray[np.int64]) -> None:
        """Count some keys."""
        self._waiting.append(keys)
        self._n_waiting += len(keys)
        # The work stays proportional to all keys.
        if self._n_waiting > max(len(self._keys), block_size(_BLOCK_PAIRS)):
            self._merge()

    def frequent(self, min_count: int) -> NDArray[np.int64]:
        """Return the keys that occurred at least `min_count` times, ascending."""
        self._merge()
        return self._keys[self._counts >= min_count]

    def _merge(self) -> None:
        # The empty array has the type of the keys where none are waiting.
        waiting = np.concatenate([self._keys[:0], *self._waiting])
        fresh, counts = np.unique(waiting, return_counts=True)
        del waiting  # as many as all keys
        place, is_counted = binary_search(fresh, self._keys)
        self._counts[place[is_counted]] += counts[is_counted]
        keys = np.concatenate((self._keys, fresh[~is_counted]))
        counts = np.concatenate((self._counts, counts[~is_counted]))
        # The keys are two ascending runs, which a stable sort only merges.
        order = np.argsort(keys, kind="stable")
        self._keys, self._counts = keys[order], counts[order]
        self._waiting, self._n_waiting = [], 0
