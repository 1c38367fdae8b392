"""The texts of questions, cut into pieces: what their encodings under all analyzers share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.questions import LazyCandidates, Passage, Question, candidate_texts
from classic_rc.text.sentence_arrays import SentenceOffsets, iter_sentence_texts, split_passages
from classic_rc.text.tokenizers import Pieces, PieceTable, TextPieces


class Passages:
    """The distinct passages of some questions, by object identity, in the order of first sight."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._by_id = {id(q.passage): q.passage for q in questions}
        self.number = {key: i for i, key in enumerate(self._by_id)}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Passage]:
        yield from self._by_id.values()

    @property
    def are_marked(self) -> bool:
        """Whether the dataset marks the sentences of a passage."""
        return any(passage.sentences is not None for passage in self)

    @cached_property
    def sentences(self) -> SentenceOffsets:
        """The sentences of the passages, found once."""
        chunks = zip(*split_passages(self), strict=True)
        return SentenceOffsets(*map(np.concatenate, chunks))


PassageCut: TypeAlias = Callable[[Passages], Iterable[Sequence[str]]]
"""A way to cut passages: the texts that are analysed by themselves, for each passage."""


def whole_texts(passages: Passages) -> Iterator[Sequence[str]]:
    """Yield the text of each passage as one piece."""
    return ((passage.text,) for passage in passages)


def sentence_texts(passages: Passages) -> Iterator[Sequence[str]]:
    """Yield the sentences of each passage."""
    return iter_sentence_texts(passages, [passages.sentences])


class QuestionTexts:
    """The texts of some questions, grouped by passage.

    Attributes
    ----------
    passages : Passages
    order : ndarray of int64, shape (n_questions,)
        The questions, grouped by passage; those of a passage keep their order.
    question_passage : ndarray of int64, shape (n_questions,)
        The passage of each, in that order.
    """

    def __init__(self, questions: Iterable[Question]) -> None:
        ungrouped = list(questions)
        self.passages = Passages(ungrouped)
        numbers = (self.passages.number[id(q.passage)] for q in ungrouped)
        passage_of = np.fromiter(numbers, np.int64, len(ungrouped))
        self.order = np.argsort(passage_of, kind="stable")
        self.question_passage = passage_of[self.order]
        self._questions = [ungrouped[i] for i in self.order.tolist()]
        self._cut: dict[PieceTable, QuestionPieces] = {}

    def cut(self, table: PieceTable) -> QuestionPieces:
        """Return the pieces of the texts, found once for a table."""
        if table not in self._cut:
            self._cut[table] = QuestionPieces(self._questions, self.passages, table)
        return self._cut[table]


class QuestionPieces:
    """The texts of questions as pieces of a table.

    Attributes
    ----------
    queries : TextPieces
    candidates : TextPieces
        Of the distinct texts of `lists`.
    lists : CandidateLists
    """

    def __init__(
        self, questions: Sequence[Question], passages: Passages, table: PieceTable
    ) -> None:
        self._passages, self._table = passages, table
        self.queries = table.cut([question.query for question in questions])
        self.lists, texts = _collect_candidates(questions)
        self.candidates = table.cut(texts)

    def of_passages(self, cut: PassageCut) -> tuple[TextPieces, NDArray[np.int64]]:
        """Return the pieces of the texts into which `cut` divides the passages, and the number of
        texts of each passage.
        """
        passages = self._passages
        if cut is whole_texts:
            return self._whole_passages, np.ones(len(passages), dtype=np.int64)
        if cut is sentence_texts and not passages.are_marked:
            divided = _divide(self._whole_passages, passages.sentences)
            if divided is not None:
                return divided, passages.sentences.counts
        texts = list(cut(passages))
        counts = np.array(list(map(len, texts)), dtype=np.int64)
        return self._table.cut([text for of_passage in texts for text in of_passage]), counts

    @cached_property
    def _whole_passages(self) -> TextPieces:
        return self._table.cut([passage.text for passage in self._passages])


def _divide(pieces: TextPieces, sentences: SentenceOffsets) -> TextPieces | None:
    """Return the pieces of the sentences of texts; None if a piece may be in two sentences."""
    chunks: list[Pieces] = []
    bounds = offsets_of(sentences.counts)
    text = 0
    for chunk in pieces.chunks:
        if chunk.places is None or pieces.first_parts is not None:
            return None
        n_texts = len(chunk.counts)
        first, last = bounds[[text, text + n_texts]].tolist()
        counts = sentences.counts[text : text + n_texts]
        # one number for a place in all texts of the chunk
        last_start = sentences.starts[first:last].max(initial=0)
        width = 1 + max(chunk.places.max(initial=0), last_start)
        text_starts = np.arange(n_texts) * width
        starts = np.repeat(text_starts, counts) + sentences.starts[first:last]
        places = np.repeat(text_starts, chunk.counts)[:, np.newaxis] + chunk.places
        n_before = np.searchsorted(places[:, 0], starts)
        if (n_before != np.searchsorted(places[:, 1], starts, side="right")).any():
            return None
        chunks.append(Pieces(chunk.numbers, np.diff(n_before, append=len(chunk.numbers))))
        text += n_texts
    return TextPieces(chunks)


class CandidateLists(NamedTuple):
    """The candidates of some questions, with repeated texts removed. A list that questions share
    occurs once.
    """

    n_texts: int  # how many distinct texts all lists have
    starts: NDArray[np.int64]  # (n_questions,): where each question's texts begin among them
    distinct_sizes: NDArray[np.int64]  # (n_questions,): how many distinct texts each question has
    sizes: NDArray[np.int64]  # (n_questions,): how many candidates each question has
    # (sizes.sum(),): which of its question's distinct texts each candidate has; None if all are
    # distinct
    members: NDArray[np.int64] | None


def _collect_candidates(questions: Sequence[Question]) -> tuple[CandidateLists, list[str]]:
    """Return the lists, and the distinct texts of each."""
    lists = {id(q.candidates): q.candidates for q in questions}
    texts: list[str] = []
    sizes: list[int] = []
    repeats: dict[int, list[int]] = {}
    for row, candidates in enumerate(lists.values()):
        listed = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
        list_texts = list(candidate_texts(listed))
        sizes.append(len(list_texts))
        if len(set(list_texts)) < len(list_texts):
            number: dict[str, int] = {}
            repeats[row] = [number.setdefault(text, len(number)) for text in list_texts]
            list_texts = list(number)
        texts += list_texts
    all_sizes = np.array(sizes, dtype=np.int64)
    distinct_sizes = all_sizes.copy()
    for row, numbers in repeats.items():
        distinct_sizes[row] = max(numbers) + 1
    starts = offsets_of(distinct_sizes)[:-1]
    row_of = dict(zip(lists, range(len(lists)), strict=True))
    rows = np.array([row_of[id(q.candidates)] for q in questions], dtype=np.int64)
    members = None
    if repeats:
        first = offsets_of(all_sizes)[:-1]
        members = ragged_indices(np.zeros(len(sizes), dtype=np.int64), all_sizes)
        for row, numbers in repeats.items():
            members[first[row] : first[row] + len(numbers)] = numbers
        members = members[ragged_indices(first[rows], all_sizes[rows])]
    collected = CandidateLists(
        len(texts), starts[rows], distinct_sizes[rows], all_sizes[rows], members
    )
    return collected, texts
