"""Statistics of datasets: sizes, lengths in tokens, first words, and where right options are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add, or_
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.official import OfficialPart, match_official_parts
from classic_rc.equality import normalised_text
from classic_rc.questions import Dataset, Task
from classic_rc.text.encode import TextEncoder
from classic_rc.text.sentence_arrays import split_passages

_ALL = "all"
_SPLITS: dict[str | None, int] = {"train": 0, "dev": 1, "test": 2}


class TokenCounts(NamedTuple):
    """The token counts of some texts."""

    lengths: NDArray[np.int64]  # tokens per text, shape (n_texts,)
    vocabulary: frozenset[str]  # distinct tokens of all texts


class DatasetContents:
    """The questions and passages of a dataset, with their tokens; the parts of a dataset share
    an encoder.
    """

    def __init__(self, dataset: Dataset, encoder: TextEncoder) -> None:
        self.dataset, self._encoder = dataset, encoder

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
        questions = [question for question in self.dataset if not question.task.has_spans]
        return self._count([c.text for question in questions for c in question.candidates])

    @cached_property
    def gold(self) -> TokenCounts:
        """The tokens of the right options or accepted texts, question by question."""
        return self._count([text for q in self.dataset for text in q.gold_texts])

    @property
    def vocabulary(self) -> frozenset[str]:
        """The distinct tokens of passages, questions and candidates."""
        return self.passages.vocabulary | self.questions.vocabulary | self.candidates.vocabulary

    def _count(self, texts: list[str]) -> TokenCounts:
        tokens, offsets = self._encoder.encode(texts)
        words = self._encoder.vocabulary
        distinct_tokens = np.unique(tokens).tolist()
        vocabulary = frozenset(words[token] for token in distinct_tokens)
        return TokenCounts(np.diff(offsets), vocabulary)


@dataclass(frozen=True, eq=False)
class MeasuredValues:
    """One number per passage, question or candidate; pooling concatenates them, so the mean is
    over all.
    """

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
        names = ("min", "q25", "median", "q75", "max")
        quartiles = np.quantile(self.numbers.astype(float), (0, 0.25, 0.5, 0.75, 1)).tolist()
        of_all = {"n": len(self.numbers), "mean": self.value, "sd": self.spread}
        return {**of_all, **dict(zip(names, quartiles, strict=True))}


@dataclass(frozen=True)
class Total:
    """A count, or a set of distinct words; pooling adds, or takes the union."""

    counted: int | frozenset[str]

    def __add__(self, other: Total) -> Total:
        combine = add if isinstance(self.counted, int) else or_
        return Total(combine(self.counted, other.counted))

    @property
    def value(self) -> int:
        """The count, or the number of words."""
        return self.counted if isinstance(self.counted, int) else len(self.counted)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the words."""
        return {"count": self.value}


Measure: TypeAlias = "MeasuredValues | Total"


@dataclass(frozen=True)
class Statistic:
    """The definition of one row in a table of statistics."""

    label: str
    definition: str  # how it is counted, in words
    measure: Callable[[DatasetContents], Measure]
    decimals: int = 1  # of means; counts are integers
    is_share: bool = False  # whether tables show it in percent


def _values(numbers: Iterable[Any]) -> MeasuredValues:
    return MeasuredValues(np.array(list(numbers)))


def _questions_per_passage(contents: DatasetContents) -> MeasuredValues:
    counts = Counter(id(question.passage) for question in contents.dataset)
    return _values(counts[id(passage)] for passage in contents.dataset.passages)


def _gold_verbatim(contents: DatasetContents) -> MeasuredValues:
    dataset = contents.dataset
    passages = {id(passage): normalised_text(passage.text) for passage in dataset.passages}
    is_in_passage = []
    for question in dataset:
        passage = passages[id(question.passage)]
        is_in_passage += [normalised_text(text) in passage for text in question.gold_texts]
    return _values(is_in_passage)


def _begins_with(word: str) -> Callable[[DatasetContents], MeasuredValues]:
    def first_word(contents: DatasetContents) -> MeasuredValues:
        starts = (question.text.split(None, 1)[:1] for question in contents.dataset)
        first_words = ("".join(start).lower().rstrip(",'’s") for start in starts)
        return _values(first_word == word for first_word in first_words)

    return first_word


QUESTION_WORDS = ("what", "who", "when", "where", "why", "how", "which")

COMMON_STATISTICS: tuple[Statistic, ...] = (
    Statistic("passages", "passages with a question", lambda c: Total(len(c.dataset.passages))),
    Statistic(
        "questions", "all, including those with hidden gold", lambda c: Total(len(c.dataset))
    ),
    Statistic(
        "candidates",
        "options or mentions; generated spans are not counted",
        lambda c: Total(len(c.candidates.lengths)),
    ),
    Statistic("questions a passage", "mean (s.d.)", _questions_per_passage),
    Statistic(
        "candidates a question",
        "mean (s.d.)",
        lambda c: _values(len(q.candidates) for q in c.dataset if not q.task.has_spans),
    ),
    Statistic(
        "right ones a question",
        "right options, or accepted texts; mean (s.d.)",
        lambda c: _values(len(q.gold) for q in c.dataset if q.gold is not None),
    ),
    Statistic("tokens a passage", "mean (s.d.)", lambda c: MeasuredValues(c.passages.lengths)),
    Statistic(
        "sentences a passage",
        "as marked in the dataset, else by the splitter",
        lambda c: _values(
            n for chunk in split_passages(c.dataset.passages) for n in chunk.counts.tolist()
        ),
    ),
    Statistic("tokens a question", "mean (s.d.)", lambda c: MeasuredValues(c.questions.lengths)),
    Statistic("tokens a candidate", "mean (s.d.)", lambda c: MeasuredValues(c.candidates.lengths)),
    Statistic("tokens a right answer", "mean (s.d.)", lambda c: MeasuredValues(c.gold.lengths)),
    Statistic(
        "vocabulary",
        "distinct tokens of passages, questions and candidates, in lower case",
        lambda c: Total(frozenset(word.lower() for word in c.vocabulary)),
    ),
    Statistic(
        "right answers verbatim %",
        "right texts that the passage contains, ignoring case and white space",
        _gold_verbatim,
        is_share=True,
    ),
    *(
        Statistic(
            f"questions with {word} %",
            f"questions with {word!r} first",
            _begins_with(word),
            is_share=True,
        )
        for word in QUESTION_WORDS
    ),
)
"""The statistics of any dataset, in the order of the table."""


class StatisticsRow(NamedTuple):
    """A statistic with its measure in each column."""

    statistic: Statistic
    measures: tuple[Measure, ...]


@dataclass(frozen=True)
class DatasetStatistics:
    """All statistics of some datasets, without layout."""

    columns: tuple[str, ...]  # the datasets and splits and, if all are of one dataset, "all"
    rows: tuple[StatisticsRow, ...]
    analyzer: str  # what made the tokens
    # by split: tokens per passage, question, candidate
    lengths: dict[str, dict[str, MeasuredValues]]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without the lengths; shares are fractions."""
        rows = []
        for row in self.rows:
            measures = [measure.to_dict() for measure in row.measures]
            statistic = row.statistic
            rows.append(
                {
                    "statistic": statistic.label,
                    "definition": statistic.definition,
                    "values": measures,
                }
            )
        return {"columns": list(self.columns), "rows": rows, "analyzer": self.analyzer}


def describe_datasets(datasets: Sequence[Dataset], analyzer: str = "word") -> DatasetStatistics:
    """Compute the statistics of datasets.

    Parameters
    ----------
    datasets : sequence of Dataset
        Splits of one dataset, or different datasets. A dataset with several splits is divided into
        them.
    analyzer : str
        The analyzer that defines tokens.

    Returns
    -------
    DatasetStatistics

    Raises
    ------
    UsageError
        The analyzer is unknown.

    Examples
    --------
    >>> from classic_rc.datasets import load
    >>> found = describe_datasets([load("sample:single-choice")])
    >>> [(row.statistic.label, row.measures[0].value) for row in found.rows[:2]]
    [('passages', 6), ('questions', 24)]
    """
    parts = [
        dataset_part
        for dataset in datasets
        for dataset_part in sorted(match_official_parts(dataset), key=_sort_key)
    ]
    encoder = TextEncoder(analyzer)
    splits = [split for _, dataset_part in parts for split in _iter_splits(dataset_part)]
    kinds = {
        (origin.dataset if origin else dataset_part.reader, dataset_part.task)
        for origin, dataset_part in parts
    }
    contents = [DatasetContents(split, encoder) for split in splits]
    together = len(splits) > 1 and len(kinds) == 1
    lengths: dict[str, dict[str, MeasuredValues]] = {}
    for content in contents:
        lengths[content.dataset.name] = {
            "passage": MeasuredValues(content.passages.lengths),
            "question": MeasuredValues(content.questions.lengths),
            "candidate": MeasuredValues(content.candidates.lengths),
        }
    rows = []
    for statistic in COMMON_STATISTICS:
        measures = [statistic.measure(content) for content in contents]
        if together:
            measures.append(reduce(add, measures))
        if any(not isinstance(m, MeasuredValues) or len(m.numbers) for m in measures):
            rows.append(StatisticsRow(statistic, tuple(measures)))
    columns = (*(split.name for split in splits), *([_ALL] if together else ()))
    return DatasetStatistics(columns, tuple(rows), analyzer, lengths)


def _sort_key(origin_and_dataset: tuple[OfficialPart | None, Dataset]) -> tuple[str, int]:
    origin, dataset = origin_and_dataset
    position = _SPLITS.get(dataset.split, len(_SPLITS))
    return origin.dataset if origin else "", position


def _iter_splits(dataset: Dataset) -> Iterator[Dataset]:
    """Yield the dataset, or its splits if its questions' `meta` names several."""
    splits = (question.meta["split"] for question in dataset if "split" in question.meta)
    names = dict.fromkeys(map(str, splits))
    if len(names) < 2:
        yield dataset
        return
    for name in names:
        questions = dataset.filter(lambda q, name=name: str(q.meta.get("split")) == name)  # type: ignore[misc]
        yield replace(questions, name=f"{dataset.name}.{name}", split=name)


class Balance(NamedTuple):
    """The distribution of right options over positions."""

    positions: tuple[int, ...]  # the number of right options at each position
    chi_square: (
        float  # from what is expected if right options were placed at random within each question
    )
    p: float  # approximate if questions differ in their number of options


def measure_label_balance(dataset: Dataset) -> Balance | None:
    """Measure how the right options of single-choice questions with gold are distributed over
    positions.

    A question with k options and r right ones expects r/k right options at each of its k positions.
    None for other tasks, or with fewer than two positions. The test is Pearson's (1900).
    """
    from scipy.special import chdtrc  # scipy.stats takes half a second to import

    counts = np.array([len(q.candidates) for q in dataset], dtype=np.int64)
    if dataset.task is not Task.SINGLE_CHOICE or counts.max(initial=0) < 2:
        return None
    rights = np.array([len(q.gold or ()) for q in dataset])
    n_positions = counts.max()
    positions = [i for q in dataset for i in q.gold or () if isinstance(i, int)]
    observed = np.bincount(positions, minlength=n_positions)
    has_position = counts[:, None] > np.arange(n_positions)
    shares = rights / np.maximum(counts, 1)
    expected = np.where(has_position, shares[:, None], 0).sum(axis=0)
    likely = expected > 0
    n_likely = likely.sum()
    if n_likely < 2:
        return None
    differences = (observed - expected)[likely]
    chi_square = float(np.sum(differences**2 / expected[likely]))
    p_value = float(chdtrc(n_likely - 1, chi_square))
    return Balance(tuple(observed.tolist()), chi_square, p_value)
