"""The options of a dataset as flat arrays: what the rules of an audit read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import distinct_words, is_in, offsets_of, ragged_indices, runs_of
from classic_rc.kernels.pairs import WordCounts, occurrences, word_counts
from classic_rc.metrics.squad import normalise_squad_answer
from classic_rc.questions import Dataset, Question, Task, candidate_texts, normalised_text
from classic_rc.text.encode import TextEncoder

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TOLERANCE = 1e-6
"""Scores that differ by less are tied."""

_MAX_PAIRED = 12
"""With more options, a question's options are not compared with each other."""

_BLOCK_QUESTIONS = 2**13
_BLOCK_CHARACTERS = 2**23
_MOST_ITEMS = 2**49
"""With more kinds of items, a question of a block and an item do not fit into 63 bits together."""


@dataclass(frozen=True, eq=False)
class OptionTable:
    """The options of all questions that have some, one after the other.

    Candidates of a cloze question with equal texts (ignoring case, punctuation and articles) are one option.

    Parameters
    ----------
    dataset : Dataset
        Choices or cloze, with gold answers.
    analyzer : str
        Makes words of the texts.
    rows : ndarray of int64, shape (n_questions,)
        Each question's place in the dataset; questions without options are left out.
    texts : list of str
        The text of each option.
    offsets : ndarray of int64, shape (n_questions + 1,)
        The options of question i are ``offsets[i]:offsets[i + 1]``.
    right : ndarray of bool, shape (n_options,)
    """

    dataset: Dataset
    analyzer: str
    rows: Integers
    texts: list[str]
    offsets: Integers
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, dataset: Dataset, analyzer: str = "word") -> OptionTable:
        """Return the options of a dataset whose gold is known."""
        texts: list[str] = []
        right: list[bool] = []
        rows: list[int] = []
        counts: list[int] = []
        for i, question in enumerate(dataset):
            own, is_right = _options_of(question)
            if own:
                texts += own
                right += is_right
                rows.append(i)
                counts.append(len(own))
        offsets = offsets_of(np.array(counts, dtype=np.int64))
        return cls(
            dataset, analyzer, np.array(rows, dtype=np.int64), texts, offsets, np.array(right, dtype=np.bool_)
        )

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.rows)

    @cached_property
    def memory(self) -> dict[str, Any]:
        """Results that several rules need, by name."""
        return {}

    @property
    def selects_several(self) -> bool:
        """Whether several options may be right: all options above their question's mean are selected."""
        return self.dataset.task is Task.MULTIPLE_ANSWER

    @cached_property
    def questions(self) -> list[Question]:
        """The questions that have options."""
        return [self.dataset[i] for i in self.rows.tolist()]

    @cached_property
    def sizes(self) -> Integers:
        """The number of options of each question."""
        return np.diff(self.offsets)

    @cached_property
    def question(self) -> Integers:
        """The question of each option."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def position(self) -> Integers:
        """The place of each option among the options of its question, from 0."""
        return np.arange(len(self.texts)) - self.offsets[:-1][self.question]

    @cached_property
    def n_right(self) -> Integers:
        """The number of right options of each question."""
        return self.sum(self.right.astype(np.int64))

    @cached_property
    def gold(self) -> Integers:
        """The position of the first right option of each question; -1 if there is none."""
        first = np.full(len(self), -1, dtype=np.int64)
        where = np.flatnonzero(self.right)[::-1]
        first[self.question[where]] = self.position[where]
        return first

    @cached_property
    def passage(self) -> Integers:
        """The number of each question's passage; passages with equal texts are one."""
        number: dict[bytes, int] = {}  # by digests, because whole texts would fill the memory
        known: dict[int, int] = {}
        for q in self.questions:
            if id(q.passage) not in known:
                text = normalised_text(q.passage.text).encode("utf-8", "surrogatepass")
                known[id(q.passage)] = number.setdefault(hashlib.sha256(text).digest(), len(number))
        return np.array([known[id(q.passage)] for q in self.questions], dtype=np.int64)

    @cached_property
    def _distinct(self) -> tuple[list[str], Integers]:
        number: dict[str, int] = {}
        index = np.array([number.setdefault(text, len(number)) for text in self.texts], dtype=np.int64)
        return list(number), index

    @property
    def distinct_texts(self) -> list[str]:
        """The different texts."""
        return self._distinct[0]

    @property
    def text_index(self) -> Integers:
        """The place of each option's text in `distinct_texts`."""
        return self._distinct[1]

    def of_texts(self, measure: Callable[[str], float]) -> Floats:
        """Measure each text, and return the measure of each option."""
        return np.array([measure(text) for text in self.distinct_texts], dtype=np.float64)[self.text_index]

    @cached_property
    def normalised(self) -> Integers:
        """A number for each option; options with equal numbers have equal texts but for case, blanks and marks."""
        number: dict[str, int] = {}
        own = [number.setdefault(_bare(text), len(number)) for text in self.distinct_texts]
        return np.array(own, dtype=np.int64)[self.text_index]

    @cached_property
    def words(self) -> list[list[str]]:
        """The words of each distinct text."""
        tokens, offsets = self.tokens
        words = list(map(self.vocabulary.__getitem__, tokens.tolist()))
        return [words[start:stop] for start, stop in pairwise(offsets.tolist())]

    @cached_property
    def _encoder(self) -> TextEncoder:
        return TextEncoder(self.analyzer)

    @cached_property
    def tokens(self) -> tuple[NDArray[np.int32], Integers]:
        """The words of all distinct texts as numbers, one text after the other, and the offsets of the texts."""
        return self._encoder.encode(self.distinct_texts)

    @property
    def vocabulary(self) -> list[str]:
        """The word of each number in `tokens`."""
        return self._encoder.vocabulary

    @cached_property
    def n_different_words(self) -> Integers:
        """The number of different words of each option."""
        tokens, offsets = self.tokens
        n_words = len(self.vocabulary) + 1
        text = distinct_words(tokens, offsets, n_words) // n_words
        return np.bincount(text, minlength=len(offsets) - 1)[self.text_index]

    def count_shared(self, texts: Sequence[str], index: Integers) -> Floats:
        """Return how many different words each option has in common with a text.

        Parameters
        ----------
        texts : sequence of str
        index : ndarray of int64, shape (n_questions,)
            The text of each question.

        Returns
        -------
        ndarray of float64, shape (n_options,)
        """
        result = np.zeros(len(self.texts))
        for options, words, offsets, text, known in self._with_texts(texts, index):
            option, word = np.divmod(distinct_words(words, offsets, known.n_words), known.n_words)
            found = is_in(text[option] * known.n_words + word, known.keys)
            result[options] = np.bincount(option[found], minlength=len(options))
        return result

    def count_uses(self, texts: Sequence[str], index: Integers) -> Floats:
        """Return how often a text has the words of each option, summed over the option's words.

        The parameters and the shape are those of :meth:`count_shared`.
        """
        result = np.zeros(len(self.texts))
        for options, words, offsets, text, known in self._with_texts(texts, index):
            option = np.repeat(np.arange(len(options)), np.diff(offsets))
            result[options] = np.bincount(option, occurrences(known, text[option], words), minlength=len(options))
        return result

    def _with_texts(
        self, texts: Sequence[str], index: Integers
    ) -> Iterator[tuple[Integers, NDArray[np.int32], Integers, Integers, WordCounts]]:
        """Yield options with their words, offsets of these, the text of each option, and the words of the texts."""
        tokens, offsets = self.tokens
        order = np.argsort(index, kind="stable")
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        for start, stop in runs_of(lengths, _BLOCK_CHARACTERS):
            words, word_offsets = self._encoder.encode(texts[start:stop])
            asked = order[slice(*np.searchsorted(index[order], (start, stop)))]
            options = ragged_indices(self.offsets[:-1][asked], self.sizes[asked])
            counts = np.diff(offsets)[self.text_index[options]]
            own = tokens[ragged_indices(offsets[:-1][self.text_index[options]], counts)]
            known = word_counts(words, word_offsets, len(self.vocabulary) + 1)
            yield options, own, offsets_of(counts), index[self.question[options]] - start, known

    @cached_property
    def constant_class(self) -> Integers | None:
        """The class of each option if all questions have the same options, in any order; else None."""
        k = int(self.sizes[0]) if len(self) else 0
        if k < 2 or self.selects_several or np.any(self.sizes != k) or np.any(self.n_right != 1):
            return None
        rows = self.normalised.reshape(-1, k)
        ordered = np.sort(rows, axis=1)
        if len(self) < 2 or np.any(ordered != ordered[0]) or len(set(ordered[0].tolist())) < k:
            return None
        return np.searchsorted(ordered[0], rows).reshape(-1)

    def options_of(self, question: int) -> list[str]:
        """Return the texts of a question's options."""
        return self.texts[int(self.offsets[question]) : int(self.offsets[question + 1])]

    # Arithmetic within questions

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the options of each question."""
        return np.add.reduceat(values, self.offsets[:-1]) if len(self) else values[:0]

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the largest value of each question."""
        return np.maximum.reduceat(values, self.offsets[:-1]) if len(self) else values[:0]

    def centred(self, values: Floats) -> Floats:
        """Return the values minus the mean of their question."""
        return values - (self.sum(values) / self.sizes)[self.question]

    def rank(self, values: NDArray[Any]) -> Floats:
        """Return each value's mean rank in its question, from 0; equal values share the mean of their ranks."""
        ranks = np.empty(len(values))
        for k in np.flatnonzero(np.bincount(self.sizes)).tolist():
            rows = self.offsets[:-1][self.sizes == k][:, None] + np.arange(k)
            own = values[rows]
            if k <= _MAX_PAIRED:  # comparing each with each is faster than sorting many short rows
                columns = [np.ascontiguousarray(own[:, i]) for i in range(k)]
                for i, column in enumerate(columns):
                    below = sum((other < column).astype(np.int8) for other in columns)
                    equal = sum((other == column).astype(np.int8) for other in columns)
                    ranks[rows[:, i]] = below + (equal - 1) / 2
            else:
                for row, line in zip(rows, own, strict=True):
                    ascending = np.sort(line)
                    ranks[row] = (
                        np.searchsorted(ascending, line) + np.searchsorted(ascending, line, "right") - 1
                    ) / 2
        return ranks

    def selection(self, scores: Floats) -> NDArray[np.bool_]:
        """Return which options are selected: the best of each question, or all above its mean."""
        if self.selects_several:
            return self.centred(scores) > TOLERANCE
        return scores >= self.largest(scores)[self.question] - TOLERANCE

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """All ordered pairs of two different options of one question."""
        sizes = np.where(self.sizes <= _MAX_PAIRED, self.sizes, 0)
        counts = sizes[self.question]
        one = np.repeat(np.arange(len(self.texts)), counts)
        other = ragged_indices(self.offsets[:-1][self.question], counts)
        apart = one != other
        return one[apart], other[apart]

    def over_pairs(self, values: Floats, how: str) -> Floats:
        """Return the mean, the largest or the smallest value of each option's pairs; 0 without a pair."""
        one = self.pairs[0]
        result = np.zeros(len(self.texts))
        if not len(one):
            return result
        starts = np.flatnonzero(np.append(True, one[1:] != one[:-1]))
        if how == "mean":
            result[one[starts]] = np.add.reduceat(values, starts) / np.diff(np.append(starts, len(one)))
        else:
            reduce = np.maximum if how == "most" else np.minimum
            result[one[starts]] = reduce.reduceat(values, starts)
        return result

    def shared_in_pairs(self, items: NDArray[Any], offsets: Integers, n_items: int) -> Floats:
        """Return how many items the two options of each pair have in common, repetitions counted.

        Parameters
        ----------
        items : ndarray of int, shape (n_all,)
            The items of all distinct texts, one text after the other; each is below `n_items`.
        offsets : ndarray of int64, shape (n_distinct_texts + 1,)
        n_items : int

        Returns
        -------
        ndarray of float64, shape (n_pairs,)
        """
        if n_items > _MOST_ITEMS:
            kinds, items = np.unique(items, return_inverse=True)
            n_items = len(kinds)
        result = np.zeros(len(self.pairs[0]))
        first_pair = offsets_of(np.where(self.sizes <= _MAX_PAIRED, self.sizes - 1, 0)[self.question])[:-1]
        for k in range(2, _MAX_PAIRED + 1):
            questions = np.flatnonzero(self.sizes == k)
            for block in np.array_split(questions, len(questions) // _BLOCK_QUESTIONS + 1):
                rows = self.offsets[:-1][block][:, None] + np.arange(k)
                texts = self.text_index[rows.reshape(-1)]
                counts = np.diff(offsets)[texts]
                option = np.repeat(np.arange(len(texts)), counts)
                cell = option // k * n_items + items[ragged_indices(offsets[:-1][texts], counts)]
                cells, cell = np.unique(cell, return_inverse=True)
                table = np.bincount(cell.reshape(-1) * k + option % k, minlength=len(cells) * k).reshape(-1, k)
                columns, owner = np.ascontiguousarray(table.T), cells // n_items
                for i, j in combinations(range(k), 2):
                    shared = np.bincount(owner, np.minimum(columns[i], columns[j]), minlength=len(block))
                    result[first_pair[rows[:, i]] + j - 1] = shared
                    result[first_pair[rows[:, j]] + i] = shared
        return result

    # Characters

    @cached_property
    def codes(self) -> tuple[Integers, Integers]:
        """The code points of all distinct texts, one after the other, and the offsets of the texts."""
        joined = "".join(self.distinct_texts).encode("utf-32-le", "surrogatepass")
        lengths = np.array([len(text) for text in self.distinct_texts], dtype=np.int64)
        return np.frombuffer(joined, dtype=np.uint32).astype(np.int64), offsets_of(lengths)

    def count_characters(self, belongs: Callable[[str], bool]) -> Floats:
        """Return how many characters of each option belong to a class."""
        index, offsets = self.characters[1], self.codes[1]
        flags = np.array([belongs(chr(code)) for code in self.characters[0].tolist()], dtype=np.int8)
        total = offsets_of(flags[index])
        return (total[offsets[1:]] - total[offsets[:-1]]).astype(np.float64)[self.text_index]

    @cached_property
    def characters(self) -> tuple[Integers, NDArray[np.int32]]:
        """The different code points of all texts, ascending, and the place of each one of `codes` among them."""
        codes = self.codes[0]
        found = np.flatnonzero(np.bincount(codes))
        place = np.zeros(int(found.max(initial=0)) + 1, dtype=np.int32)
        place[found] = np.arange(len(found))
        return found, place[codes]

    @cached_property
    def lengths(self) -> Floats:
        """The number of characters of each option."""
        return np.diff(self.codes[1]).astype(np.float64)[self.text_index]

    @cached_property
    def word_counts(self) -> Floats:
        """The number of words of each option."""
        return np.array([len(words) for words in self.words], dtype=np.float64)[self.text_index]


def _options_of(question: Question) -> tuple[Sequence[str], list[bool]]:
    """Return the texts of a question's options, and whether each is right."""
    texts = candidate_texts(question.candidates)
    if question.task is not Task.CLOZE:
        gold = question.gold or ()
        return texts, [i in gold for i in range(len(texts))]
    accepted = {normalise_squad_answer(str(text)) for text in question.gold or ()}
    distinct: dict[str, str] = {}
    for text in texts:
        distinct.setdefault(normalise_squad_answer(text), text)
    return list(distinct.values()), [text in accepted for text in distinct]


def _bare(text: str) -> str:
    return normalised_text(text).rstrip(" .,;:!?。！？、")
