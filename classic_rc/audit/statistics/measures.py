"""Measures of datasets: token counts of texts, the kinds of measures, and the statistics of the common table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import Dataset, normalised_text
from classic_rc.text import sentences
from classic_rc.text.encode import TextEncoder


class TokenCounts(NamedTuple):
    """The token counts of some texts."""

    lengths: NDArray[np.int64]  # tokens per text, shape (n_texts,)
    vocabulary: frozenset[str]  # distinct tokens of all texts


class TokenCounter(Protocol):
    """Anything that counts tokens."""

    def count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], frozenset[str]]:
        """Return the number of tokens in each text, shape (n_texts,), and the distinct tokens of all texts."""
        ...


class AnalyzerCounter:
    """A counter of an analyzer's tokens.

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
        """Return the number of tokens in each text, shape (n_texts,), and the distinct tokens of all texts."""
        tokens, offsets = self._encoder.encode(texts)
        words = self._encoder.vocabulary
        return np.diff(offsets), frozenset(words[i] for i in np.unique(tokens).tolist())


class DatasetContents:
    """The questions and passages of a dataset, with their tokens.

    Parameters
    ----------
    dataset : Dataset
    counter : TokenCounter
        The parts of one dataset share it, so that it processes each word once.
    """

    def __init__(self, dataset: Dataset, counter: TokenCounter) -> None:
        self.dataset = dataset
        self._counter = counter

    @cached_property
    def passages(self) -> TokenCounts:
        """The distinct passages' tokens."""
        return self._count([passage.text for passage in self.dataset.passages])

    @cached_property
    def questions(self) -> TokenCounts:
        """The questions' tokens."""
        return self._count([question.text for question in self.dataset])

    @cached_property
    def candidates(self) -> TokenCounts:
        """The candidates' tokens, question by question; generated spans are left out."""
        texts = (c.text for q in self.dataset if not q.task.has_spans for c in q.candidates)
        return self._count(list(texts))

    @cached_property
    def gold(self) -> TokenCounts:
        """The tokens of the right options or accepted texts, question by question."""
        return self._count(list(chain.from_iterable(q.gold_texts for q in self.dataset)))

    @property
    def vocabulary(self) -> frozenset[str]:
        """The distinct tokens of passages, questions and candidates."""
        return self.passages.vocabulary | self.questions.vocabulary | self.candidates.vocabulary

    @cached_property
    def lowered_passages(self) -> dict[int, str]:
        """Each passage's text, lower-cased and with single spaces, by identity."""
        return {id(passage): normalised_text(passage.text) for passage in self.dataset.passages}

    def _count(self, texts: list[str]) -> TokenCounts:
        return TokenCounts(*self._counter.count(texts))


@dataclass(frozen=True, eq=False)
class MeasuredValues:
    """One number per passage, question or candidate; pooling concatenates them, so the mean is over all."""

    numbers: NDArray[Any]  # booleans for a share, shape (n,)

    def __add__(self, other: MeasuredValues) -> MeasuredValues:
        return MeasuredValues(np.concatenate((self.numbers, other.numbers)))

    @property
    def value(self) -> float | None:
        """The mean; None without values."""
        return float(self.numbers.mean()) if len(self.numbers) else None

    @property
    def spread(self) -> float | None:
        """The standard deviation, with n as its denominator; None without values."""
        return float(self.numbers.std()) if len(self.numbers) else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with quartiles."""
        if not len(self.numbers):
            return {"n": 0}
        least, lower, median, upper, most = np.quantile(
            self.numbers.astype(float), (0, 0.25, 0.5, 0.75, 1)
        ).tolist()
        return {
            "n": len(self.numbers),
            "mean": self.value,
            "sd": self.spread,
            "min": least,
            "q25": lower,
            "median": median,
            "q75": upper,
            "max": most,
        }


@dataclass(frozen=True)
class Count:
    """A count; pooling adds."""

    value: int

    def __add__(self, other: Count) -> Count:
        return Count(self.value + other.value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"count": self.value}


@dataclass(frozen=True)
class Vocabulary:
    """A set of distinct words; pooling takes the union."""

    words: frozenset[str]

    def __add__(self, other: Vocabulary) -> Vocabulary:
        return Vocabulary(self.words | other.words)

    @property
    def value(self) -> int:
        """Number of words."""
        return len(self.words)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the words."""
        return {"count": self.value}


Measure: TypeAlias = "MeasuredValues | Count | Vocabulary"


def pool_measures(measures: Iterable[Measure]) -> Measure:
    """Pool the measures of several parts, all of one kind, into one measure.

    Examples
    --------
    >>> pool_measures([MeasuredValues(np.array([1, 2])), MeasuredValues(np.array([6]))]).value
    3.0
    """
    return reduce(add, measures)


@dataclass(frozen=True)
class Statistic:
    """The definition of one row in a table of statistics."""

    label: str
    definition: str  # how it is counted, in words
    measure: Callable[[DatasetContents], Measure]  # a small function named after what it counts
    decimals: int = 1  # of means; counts are integers
    is_share: bool = False  # whether tables show it in percent


def n_passages(contents: DatasetContents) -> Count:
    """Count the passages that have a question."""
    return Count(len(contents.dataset.passages))


def n_questions(contents: DatasetContents) -> Count:
    """Count the questions."""
    return Count(len(contents.dataset))


def n_candidates(contents: DatasetContents) -> Count:
    """Count the options or mentions."""
    return Count(len(contents.candidates.lengths))


def questions_per_passage(contents: DatasetContents) -> MeasuredValues:
    """Count the questions about each passage."""
    dataset = contents.dataset
    position = {id(passage): i for i, passage in enumerate(dataset.passages)}
    passage_of = np.array([position[id(q.passage)] for q in dataset], dtype=np.int64)
    return MeasuredValues(np.bincount(passage_of, minlength=len(position)))


def candidates_per_question(contents: DatasetContents) -> MeasuredValues:
    """Count the options or mentions of each question."""
    return MeasuredValues(
        np.array([len(q.candidates) for q in contents.dataset if not q.task.has_spans], dtype=np.int64)
    )


def gold_per_question(contents: DatasetContents) -> MeasuredValues:
    """Count the right options, or accepted texts, of each question whose gold is not hidden."""
    return MeasuredValues(np.array([len(q.gold) for q in contents.dataset if q.gold is not None], dtype=np.int64))


def tokens_per_passage(contents: DatasetContents) -> MeasuredValues:
    """Count the tokens of each passage."""
    return MeasuredValues(contents.passages.lengths)


def sentences_per_passage(contents: DatasetContents) -> MeasuredValues:
    """Count the sentences of each passage, as marked in the dataset, else by the sentence splitter."""
    counts = [len(sentences.passage_sentences(passage)) for passage in contents.dataset.passages]
    return MeasuredValues(np.array(counts, dtype=np.int64))


def tokens_per_question(contents: DatasetContents) -> MeasuredValues:
    """Count the tokens of each question."""
    return MeasuredValues(contents.questions.lengths)


def tokens_per_candidate(contents: DatasetContents) -> MeasuredValues:
    """Count the tokens of each option or mention."""
    return MeasuredValues(contents.candidates.lengths)


def tokens_per_gold_text(contents: DatasetContents) -> MeasuredValues:
    """Count the tokens of each right option or accepted text."""
    return MeasuredValues(contents.gold.lengths)


def vocabulary(contents: DatasetContents) -> Vocabulary:
    """Collect the distinct lower-cased tokens."""
    return Vocabulary(frozenset(word.lower() for word in contents.vocabulary))


def gold_verbatim(contents: DatasetContents) -> MeasuredValues:
    """Return whether the passage contains each right text, ignoring case and white space."""
    return MeasuredValues(np.array(list(_iter_verbatim(contents)), dtype=np.bool_))


def _iter_verbatim(contents: DatasetContents) -> Iterator[bool]:
    passages = contents.lowered_passages
    for question in contents.dataset:
        for text in question.gold_texts:
            yield normalised_text(text) in passages[id(question.passage)]


def begins_with(word: str) -> Callable[[DatasetContents], MeasuredValues]:
    """Return a measure of whether each question begins with `word`."""

    def first_word(contents: DatasetContents) -> MeasuredValues:
        starts = [question.text.split(None, 1)[:1] for question in contents.dataset]
        return MeasuredValues(
            np.array([bool(s) and s[0].lower().rstrip(",'’s") == word for s in starts], dtype=np.bool_)
        )

    return first_word


QUESTION_WORDS = ("what", "who", "when", "where", "why", "how", "which")

COMMON_STATISTICS: tuple[Statistic, ...] = (
    Statistic("passages", "passages with a question", n_passages),
    Statistic("questions", "all, including those with hidden gold", n_questions),
    Statistic("candidates", "options or mentions; generated spans are not counted", n_candidates),
    Statistic("questions a passage", "mean (s.d.)", questions_per_passage),
    Statistic("candidates a question", "mean (s.d.)", candidates_per_question),
    Statistic("right ones a question", "right options, or accepted texts; mean (s.d.)", gold_per_question),
    Statistic("tokens a passage", "mean (s.d.)", tokens_per_passage),
    Statistic("sentences a passage", "as marked in the dataset, else by the splitter", sentences_per_passage),
    Statistic("tokens a question", "mean (s.d.)", tokens_per_question),
    Statistic("tokens a candidate", "mean (s.d.)", tokens_per_candidate),
    Statistic("tokens a right answer", "mean (s.d.)", tokens_per_gold_text),
    Statistic("vocabulary", "distinct tokens of passages, questions and candidates, in lower case", vocabulary),
    Statistic(
        "right answers verbatim %",
        "right texts that the passage contains, ignoring case",
        gold_verbatim,
        is_share=True,
    ),
    *(
        Statistic(f"questions with {word} %", f"questions with {word!r} first", begins_with(word), is_share=True)
        for word in QUESTION_WORDS
    ),
)  # fmt: skip
"""The statistics of the common table, in its order."""
