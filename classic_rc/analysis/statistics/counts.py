"""A dataset's texts as numbers of tokens, each text counted once however many statistics ask."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import Dataset, normalised_text
from classic_rc.text.encode import TextEncoder


class Counted(NamedTuple):
    """What counting tokens gives.

    Attributes
    ----------
    lengths : ndarray of int64, shape (n_texts,)
        In tokens.
    vocabulary : frozenset of str
    """

    lengths: NDArray[np.int64]
    vocabulary: frozenset[str]


class TokenCounter(Protocol):
    """Whatever counts tokens."""

    def count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], frozenset[str]]:
        """The number of tokens of each text, and the distinct tokens of all."""
        ...


class AnalyzerCounter:
    """Counts the tokens of an analyzer.

    Parameters
    ----------
    analyzer : str

    Examples
    --------
    >>> lengths, vocabulary = AnalyzerCounter("whitespace").count(["A fox ran.", "A fox"])
    >>> lengths.tolist(), sorted(vocabulary)
    ([3, 2], ['a', 'fox', 'ran.'])
    """

    def __init__(self, analyzer: str) -> None:
        self._encoder = TextEncoder(analyzer)

    def count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], frozenset[str]]:
        """The number of tokens of each text, and the distinct tokens of all."""
        tokens, offsets = self._encoder.encode(texts)
        words = self._encoder.vocabulary
        return np.diff(offsets), frozenset(words[i] for i in np.unique(tokens).tolist())


class Contents:
    """The questions and passages of a dataset, with their tokens.

    Parameters
    ----------
    dataset : Dataset
    counter : TokenCounter
        Shared by parts of one dataset, so that it meets a word once.
    """

    def __init__(self, dataset: Dataset, counter: TokenCounter) -> None:
        self.dataset = dataset
        self._counter = counter

    @cached_property
    def passages(self) -> Counted:
        """The distinct passages' tokens."""
        return self._count([passage.text for passage in self.dataset.passages])

    @cached_property
    def questions(self) -> Counted:
        """The questions' tokens."""
        return self._count([question.text for question in self.dataset])

    @cached_property
    def candidates(self) -> Counted:
        """The candidates' tokens, question by question; none where a generator makes them."""
        texts = (c.text for q in self.dataset if not q.task.has_spans for c in q.candidates)
        return self._count(list(texts))

    @cached_property
    def gold(self) -> Counted:
        """The tokens of the right options or accepted texts, question by question."""
        return self._count(list(chain.from_iterable(q.gold_texts for q in self.dataset)))

    @property
    def vocabulary(self) -> frozenset[str]:
        """The distinct tokens of passages, questions and candidates."""
        return self.passages.vocabulary | self.questions.vocabulary | self.candidates.vocabulary

    @cached_property
    def lowered_passages(self) -> dict[int, str]:
        """Each passage's text by its identity, in lower case with single blanks."""
        return {id(passage): normalised_text(passage.text) for passage in self.dataset.passages}

    def _count(self, texts: list[str]) -> Counted:
        return Counted(*self._counter.count(texts))
