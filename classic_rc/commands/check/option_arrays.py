"""The options of a dataset as flat arrays: what the features of an audit read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import folded_text, normalised_text
from classic_rc.kernels.arrays import distinct_words, is_in, offsets_of, ragged_indices, runs_of
from classic_rc.kernels.pairs import word_counts
from classic_rc.questions import Dataset, Passage, Question, Task, candidate_texts
from classic_rc.text.encode import TextEncoder
from classic_rc.text.squad import normalise_squad_answer

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK_CHARACTERS, _BLOCK_TOKENS = 2**19, 2**19
_NEGATION = re.compile(r"(?i)(?<=[a-z ])n['’]t\b")  # in released tokens a blank is before it


OPTION_NOUNS = ("option 1", "option {}", "the last option")
"""What the first option, another one and the last one are called."""


class PassageTexts(Sequence[str]):
    """The texts of passages; those of a large dataset are in a file, and are read when they are
    used.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    def __len__(self) -> int:
        return len(self._passages)

    def __getitem__(self, index: Any) -> Any:
        selected = self._passages[index]
        return [passage.text for passage in selected] if isinstance(index, slice) else selected.text


Words = tuple[NDArray[np.int32], Integers]
"""The words of texts as numbers, one text after the other, and the offsets of the texts."""


class OptionBlock(NamedTuple):
    """Some texts, and the options of the questions about them."""

    words: Words  # of the texts
    options: Integers
    option_words: Words
    text: Integers  # (n_questions,): the text that each question is about
    sizes: Integers  # (n_questions,): how many options each question has
    n_words: int  # of the vocabulary


def count_shared_words(block: OptionBlock) -> Integers:
    """Return how many different words each option shares with the text of its question."""
    text_words = word_counts(*block.words, block.n_words)
    option, word = np.divmod(distinct_words(*block.option_words, block.n_words), block.n_words)
    text = np.repeat(block.text, block.sizes)[option]
    is_shared = is_in(text * block.n_words + word, text_words.keys)
    return np.bincount(option[is_shared], minlength=len(block.options))


@dataclass(frozen=True, eq=False)
class OptionTable:
    """The options of all questions that have some right and some wrong ones, one after the other.

    Candidates of a cloze question with equal texts (ignoring case, punctuation and articles) are
    one option.
    """

    dataset: Dataset
    analyzer: str
    rows: Integers  # (n_questions,): each question's place in the dataset
    texts: list[str]  # of each option
    offsets: Integers  # (n_questions + 1,): the options of question i are offsets[i]:offsets[i + 1]
    right: NDArray[np.bool_]  # (n_options,)
    classes: Sequence[str] = ()  # what options are, if all questions have the same ones
    nouns: tuple[str, str, str] = OPTION_NOUNS

    @classmethod
    def of(cls, dataset: Dataset, analyzer: str = "word") -> OptionTable:
        """Return the options of the questions in which gold distinguishes options."""
        texts: list[str] = []
        right: list[bool] = []
        rows: list[int] = []
        counts: list[int] = []
        for i, question in enumerate(dataset):
            options, is_right = _options_of(question)
            if 0 < sum(is_right) < len(options):
                texts += options
                right += is_right
                rows.append(i)
                counts.append(len(options))
        numbers = np.array(rows, dtype=np.int64)
        flags = np.array(right, dtype=np.bool_)
        return cls(dataset, analyzer, numbers, texts, offsets_of(counts), flags)

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self.rows)

    @cached_property
    def questions(self) -> list[Question]:
        """The questions of the table."""
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
        return np.arange(len(self.texts)) - self.offsets[self.question]

    def place_name(self, place: int) -> str:
        """Return the name of a place among options."""
        if self.classes:
            return self.classes[place]
        return self.nouns[0 if place == 0 else 1].format(place + 1)

    @cached_property
    def has_same_options(self) -> bool:
        """Whether all questions have the same options in the same order, such as yes and no."""
        size = int(self.sizes.max(initial=0))
        if len(self) < 2 or (self.sizes != size).any() or self.nouns is not OPTION_NOUNS:
            return False
        texts = self.normalised[0].reshape(-1, size)
        return bool((texts == texts[0]).all())

    @cached_property
    def n_right(self) -> Integers:
        """The number of right options of each question."""
        return self.sum(self.right.astype(np.int64))

    @cached_property
    def passages(self) -> tuple[PassageTexts, Integers]:
        """The different passages, and the number of each question's passage."""
        number: dict[bytes, int] = {}  # by digests, because whole texts would fill the memory
        number_of: dict[int, int] = {}
        passages: list[Passage] = []
        for q in self.questions:
            if id(q.passage) not in number_of:
                text = normalised_text(q.passage.text).encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(text).digest()
                number_of[id(q.passage)] = number.setdefault(digest, len(number))
                if len(number) > len(passages):
                    passages.append(q.passage)
        numbers = [number_of[id(q.passage)] for q in self.questions]
        return PassageTexts(passages), np.array(numbers, dtype=np.int64)

    @cached_property
    def _distinct(self) -> tuple[list[str], Integers]:
        number: dict[str, int] = {}
        index = [number.setdefault(text, len(number)) for text in self.texts]
        return list(number), np.array(index, dtype=np.int64)

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
        measures = np.array([*map(measure, self.distinct_texts)], dtype=np.float64)
        return measures[self.text_index]

    @cached_property
    def normalised(self) -> tuple[Integers, Callable[[int], str]]:
        """The number of each option's folded text (:mod:`classic_rc.equality`), and the
        text of a number.
        """
        number: dict[str, int] = {}
        numbers = [
            number.setdefault(folded_text(text), len(number)) for text in self.distinct_texts
        ]
        first = np.unique(numbers, return_index=True)[1]

        def text_of(i: int) -> str:
            return folded_text(self.distinct_texts[first[i]])

        return np.array(numbers, dtype=np.int64)[self.text_index], text_of

    @cached_property
    def encoder(self) -> TextEncoder:
        """Makes numbers of the words of all texts."""
        return TextEncoder(self.analyzer)

    def encode(self, texts: Sequence[str]) -> Words:
        """Return the words of texts as numbers, and the offsets of the texts. A short "n't" is
        "not".
        """
        return self.encoder.encode([*map(_spell_out_not, texts)])

    @cached_property
    def has_contractions(self) -> bool:
        """Whether an option has a short "n't", which counts as "not"."""
        return any(_NEGATION.search(text) for text in self.distinct_texts)

    @cached_property
    def tokens(self) -> Words:
        """The words of all distinct texts as numbers, one text after the other, and the offsets
        of the texts.
        """
        return self.encode(self.distinct_texts)

    @cached_property
    def n_different(self) -> Floats:
        """The number of different words of each option."""
        (tokens, offsets), n_words = self.tokens, len(self.encoder.vocabulary) + 1
        counts = np.zeros(len(offsets) - 1)
        for start, stop in runs_of(np.diff(offsets), _BLOCK_TOKENS):
            block_offsets = offsets[start : stop + 1]
            words = tokens[block_offsets[0] : block_offsets[-1]]
            keys = distinct_words(words, block_offsets - block_offsets[0], n_words)
            counts[start:stop] = np.bincount(keys // n_words, minlength=stop - start)
        return counts[self.text_index]

    def count_shared(self, texts: Sequence[str], index: Integers) -> Floats:
        """Return how many different words each option shares with a text; `index` has the text
        of each question.
        """
        result = np.zeros(len(self.texts))
        for block in self.blocks_of(texts, index):
            result[block.options] = count_shared_words(block)
        return result

    def blocks_of(self, texts: Sequence[str], index: Integers) -> Iterator[OptionBlock]:
        """Yield the words of texts in blocks, with those of the options of their questions;
        `index` has the text of each question.
        """
        tokens, offsets = self.tokens
        order = np.argsort(index, kind="stable")
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        for start, stop in runs_of(lengths, _BLOCK_CHARACTERS):
            words = self.encode(texts[start:stop])
            questions = order[slice(*np.searchsorted(index[order], (start, stop)))]
            options = ragged_indices(self.offsets[questions], self.sizes[questions])
            text = self.text_index[options]
            counts = np.diff(offsets)[text]
            option_tokens = tokens[ragged_indices(offsets[text], counts)]
            of_options = option_tokens, offsets_of(counts)
            n_words = len(self.encoder.vocabulary) + 1
            yield OptionBlock(
                words, options, of_options, index[questions] - start, self.sizes[questions], n_words
            )

    # Arithmetic within questions

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the options of each question."""
        return self._reduce(np.add, values)

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the largest value of each question."""
        return self._reduce(np.maximum, values)

    def smallest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the smallest value of each question."""
        return self._reduce(np.minimum, values)

    def _reduce(self, combine: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        reduced: NDArray[Any] = values[:0]  # without questions, numpy has nothing to reduce
        return combine.reduceat(values, self.offsets[:-1]) if len(self) else reduced

    def rank(self, values: Floats) -> Floats:
        """Return each value's rank in its question, from -1 (least) to 1 (most); equal values
        share a rank.
        """
        order = np.lexsort((values, self.question))
        ordered = values[order]
        is_new = np.ones(len(values), dtype=bool)
        # options are in this order too
        is_new[1:] = (ordered[1:] != ordered[:-1]) | (np.diff(self.question) > 0)
        starts = np.flatnonzero(is_new)
        ends = np.append(starts[1:], len(values))
        middles = (starts + ends - 1) / 2
        ranks = np.empty(len(values))
        ranks[order] = np.repeat(middles, ends - starts) - self.offsets[self.question]
        return 2 * ranks / np.maximum(self.sizes - 1, 1)[self.question] - 1


def _spell_out_not(text: str) -> str:
    # a search for quotes is faster than the pattern
    return _NEGATION.sub(" not", text) if "'" in text or "’" in text else text


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
