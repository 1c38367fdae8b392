"""The options of a dataset as flat arrays: what the rules of an audit read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.metrics.squad import normalise_squad_answer
from classic_rc.questions import Dataset, Question, Task, candidate_texts, normalised_text
from classic_rc.text.analyzers import get_analyzer

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TOLERANCE = 1e-6
"""Scores that differ by less are tied."""

_MAX_PAIRED = 12
"""With more options, a question's options are not compared with each other."""


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
        return np.unique([normalised_text(q.passage.text) for q in self.questions], return_inverse=True)[1].reshape(
            -1
        )

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
        analyze = get_analyzer(self.analyzer).analyze
        return [analyze(text) for text in self.distinct_texts]

    @cached_property
    def _distinct_words(self) -> tuple[dict[str, int], Integers, Integers]:
        """A number for each word, the different words of each distinct text, and the offsets of the texts."""
        number: dict[str, int] = {}
        own = [{number.setdefault(word, len(number)) for word in words} for words in self.words]
        ids = np.array([word for words in own for word in words], dtype=np.int64)
        return number, ids, offsets_of(np.array([len(words) for words in own], dtype=np.int64))

    def count_shared(self, texts: Sequence[Iterable[str]], index: Integers) -> Floats:
        """Return how many different words of each option are in a text.

        Parameters
        ----------
        texts : sequence of iterables of str
            The words of some texts.
        index : ndarray of int64, shape (n_questions,)
            The text of each question.
        """
        number, ids, offsets = self._distinct_words
        n_words = max(len(number), 1)
        sets = [[number[word] for word in words if word in number] for words in texts]
        owner = np.repeat(np.arange(len(sets)), [len(words) for words in sets])
        known = np.unique(owner * n_words + np.array([word for words in sets for word in words], dtype=np.int64))
        counts = np.diff(offsets)[self.text_index]
        option = np.repeat(np.arange(len(self.texts)), counts)
        words = ids[ragged_indices(offsets[:-1][self.text_index], counts)]
        keys = index[self.question[option]] * n_words + words
        if not len(known):
            return np.zeros(len(self.texts))
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.bincount(option[known[place] == keys], minlength=len(self.texts)).astype(np.float64)

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
        for k in np.unique(self.sizes).tolist():
            rows = self.offsets[:-1][self.sizes == k][:, None] + np.arange(k)
            own = values[rows]
            # Counting the smaller values is faster than sorting: rows are short, and there are many.
            below, equal = np.zeros(own.shape), np.zeros(own.shape)
            for i in range(k):
                below += own > own[:, i : i + 1]
                equal += own == own[:, i : i + 1]
            ranks[rows] = below + (equal - 1) / 2
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

    # Characters

    @cached_property
    def codes(self) -> tuple[Integers, Integers]:
        """The code points of all distinct texts, one after the other, and the offsets of the texts."""
        joined = "".join(self.distinct_texts).encode("utf-32-le", "surrogatepass")
        lengths = np.array([len(text) for text in self.distinct_texts], dtype=np.int64)
        return np.frombuffer(joined, dtype=np.uint32).astype(np.int64), offsets_of(lengths)

    def count_characters(self, belongs: Callable[[str], bool]) -> Floats:
        """Return how many characters of each option belong to a class."""
        codes, offsets = self.codes
        distinct, index = np.unique(codes, return_inverse=True)
        flags = np.array([belongs(chr(code)) for code in distinct.tolist()], dtype=np.int64)
        total = np.append(0, np.cumsum(flags[index.reshape(-1)])) if len(distinct) else np.zeros(1, dtype=np.int64)
        return (total[offsets[1:]] - total[offsets[:-1]]).astype(np.float64)[self.text_index]

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
