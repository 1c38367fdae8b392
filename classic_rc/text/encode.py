"""Turns texts into token ids: single texts, and datasets, which are encoded once and shared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.questions import (
    PLACEHOLDER,
    Dataset,
    LazyCandidates,
    Passage,
    Question,
    SequenceView,
    candidate_texts,
)
from classic_rc.text.analyzers import Analyzer, get_analyzer, get_tokenizer
from classic_rc.text.encoded import EncodedDataset, EncodedSentences
from classic_rc.text.sentence_arrays import Sentences, iter_sentence_texts, split_passages
from classic_rc.text.tokenizers import WORD_LENGTH, PieceTable, numbering, split_long_texts
from classic_rc.work import part_of_work, tracked


class Passages:
    """The distinct passages of some questions, by object identity, in the order of first sight."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._by_id = {id(q.passage): q.passage for q in questions}
        self.number = {key: i for i, key in enumerate(self._by_id)}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Passage]:
        yield from self._by_id.values()

    @cached_property
    def sentences(self) -> Sentences:
        """The sentences of the passages, found once."""
        chunks = zip(*split_passages(self), strict=True)
        return Sentences(*map(np.concatenate, chunks))


_Cut: TypeAlias = Callable[[Passages], Iterable[Sequence[str]]]


def whole_texts(passages: Passages) -> Iterator[Sequence[str]]:
    """Yield the text of each passage as one piece."""
    return ((passage.text,) for passage in passages)


def sentence_texts(passages: Passages) -> Iterator[Sequence[str]]:
    """Yield the sentences of each passage."""
    return iter_sentence_texts(passages, [passages.sentences])


def encode(questions: Sequence[Question], analyzer: str | Analyzer) -> EncodedDataset:
    """Encode questions, their passages and their candidates.

    Passages are distinguished by object identity. Candidates that several questions share are
    analysed once, and candidates of a question with equal texts are scored once. A cloze query is
    encoded without its placeholder.

    Parameters
    ----------
    questions : sequence of Question
        In any order. An :class:`EncodedDataset` of the same analyzer is returned unchanged.
    analyzer : str or Analyzer

    Returns
    -------
    EncodedDataset
    """
    analyzer = get_analyzer(analyzer)
    if isinstance(questions, EncodedDataset):
        if questions.analyzer == analyzer:
            return questions
        questions = questions.questions
    if isinstance(questions, SharedQuestions):
        return questions.encoding(analyzer).dataset
    return _encode(questions, analyzer).dataset


def encode_sentences(questions: Sequence[Question], analyzer: str | Analyzer) -> EncodedSentences:
    """Encode like :func:`encode`, but analyse each sentence of a passage by itself."""
    return encode_pieces(questions, analyzer, sentence_texts)


def encode_pieces(
    questions: Sequence[Question], analyzer: str | Analyzer, cut: _Cut
) -> EncodedSentences:
    """Encode like :func:`encode`, but analyse the pieces of each passage, which `cut` yields, by
    themselves.

    The pieces take the place of sentences. Encodings are shared between calls with the same
    function object.
    """
    if isinstance(questions, EncodedDataset):
        questions = questions.questions
    if isinstance(questions, SharedQuestions):
        return questions.encoding(get_analyzer(analyzer), cut)
    return _encode(questions, get_analyzer(analyzer), cut)


_MAX_PARTS = 32
"""How many parts of a dataset are kept; with one more, all are dropped."""


class SharedQuestions(SequenceView[Question]):
    """Questions that are encoded once per analyzer; all users of the object share the encodings.

    :func:`encode` and :func:`encode_sentences` look here first. Folds, and views without gold,
    select their part of the full encoding; its ids equal those of a fresh encoding of the part.
    """

    @classmethod
    def of(cls, questions: Sequence[Question]) -> SharedQuestions:
        """Wrap questions, unless they share their encodings already."""
        if isinstance(questions, EncodedDataset) and isinstance(
            questions.questions, SharedQuestions
        ):
            questions = questions.questions
        return questions if isinstance(questions, SharedQuestions) else cls(questions)

    def __init__(self, questions: Sequence[Question]) -> None:
        self.questions = questions
        self._passages: Passages | None = None
        self._encodings: dict[tuple[Analyzer, _Cut], EncodedSentences] = {}
        self._parts: dict[bytes, Sequence[Question]] = {}
        self._parent: SharedQuestions | None = None
        self._select: Callable[[EncodedSentences], EncodedSentences] | None = None

    def contents(self) -> Sequence[Question]:
        """Return the questions."""
        return self.questions

    def encoding(self, analyzer: Analyzer, cut: _Cut = whole_texts) -> EncodedSentences:
        """Return the questions' encoding under an analyzer, with passages whole or in the pieces
        of `cut`.
        """
        key = analyzer, cut
        if key not in self._encodings:
            if self._parent is None or self._select is None:
                self._passages = self._passages or Passages(self.questions)
                encoded = _encode(self.questions, analyzer, cut, self._passages)
            else:
                encoded = self._select(self._parent.encoding(analyzer, cut))
            self._encodings[key] = encoded._replace(dataset=encoded.dataset.under(self))
        return self._encodings[key]

    def keep_only(self, analyzers: Collection[Analyzer]) -> None:
        """Free the encodings under other analyzers."""
        self._encodings = {
            key: encoded for key, encoded in self._encodings.items() if key[0] in analyzers
        }

    def take(self, index: NDArray[np.int64]) -> SharedQuestions:
        """Return some of the questions; some questions of a dataset are a dataset."""
        part = self._take_part(index)
        return self._view(part, lambda full: full.take(index, part))

    def _take_part(self, index: NDArray[np.int64]) -> Sequence[Question]:
        """Return a part, kept because all solvers of a run learn from the same folds: it is
        checked once.
        """
        key = index.tobytes()
        part = self._parts.get(key)
        if part is None:
            part = [self.questions[i] for i in index.tolist()]
            if isinstance(self.questions, Dataset):
                part = replace(self.questions, questions=part)
            if len(self._parts) >= _MAX_PARTS:
                self._parts.clear()
            self._parts[key] = part
        return part

    def _view(
        self, questions: Sequence[Question], select: Callable[[EncodedSentences], EncodedSentences]
    ) -> SharedQuestions:
        view = SharedQuestions(questions)
        view._parent, view._select = self, select
        return view


def without_gold(questions: Sequence[Question]) -> Sequence[Question]:
    """Return the questions with their gold hidden, sharing the same encodings."""
    if not isinstance(questions, SharedQuestions):
        return WithoutGold(questions)
    return questions._view(WithoutGold(questions.questions), lambda full: full)


def without_answers(questions: Sequence[Question]) -> Sequence[Question]:
    """Return the questions without gold and candidates: all that may be learned from the
    evaluated data.
    """
    texts = [replace(q, gold=None, candidates=()) for q in questions]
    if not isinstance(questions, SharedQuestions):
        return texts
    return questions._view(texts, lambda full: full.without_candidates(texts))


class WithoutGold(Sequence[Question]):
    """Questions with their gold hidden. Each is copied on access, because most solvers never
    look at one.
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions

    def __len__(self) -> int:
        return len(self._questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Question]: ...
    def __getitem__(self, index: int | slice) -> Question | Sequence[Question]:
        if isinstance(index, slice):
            return WithoutGold(self._questions[index])
        return replace(self._questions[index], gold=None)


class TextEncoder:
    """Turns texts into token ids.

    Texts are cut into pieces. Most pieces have occurred before, and each distinct piece is analysed
    once.

    Examples
    --------
    >>> encoder = TextEncoder("word+stop=lucene")
    >>> tokens, offsets = encoder.encode(["The fox", "A fox ran"])
    >>> tokens.tolist(), offsets.tolist(), encoder.vocabulary
    ([0, 0, 1], [0, 1, 3], ['fox', 'ran'])
    """

    def __init__(self, analyzer: str | Analyzer) -> None:
        self.analyzer = get_analyzer(analyzer)
        self._tokenizer = get_tokenizer(self.analyzer.tokenizer)
        self._pieces, self._ids = PieceTable(self._tokenizer), numbering()
        self._piece_tokens, self._piece_offsets = (
            np.empty(0, dtype=np.int32),
            np.zeros(1, dtype=np.int64),
        )

    @property
    def vocabulary(self) -> list[str]:
        """The token of each id."""
        return list(self._ids)

    @property
    def n_pieces(self) -> int:
        """The number of distinct pieces in memory."""
        return len(self._pieces)

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the token ids of the texts, concatenated, and the offset at which each text
        starts.

        The pieces of all texts are never in memory as strings at the same time: only the numbers of
        the pieces are.
        """
        first_parts = None
        if self._tokenizer.separators:
            texts, first_parts = split_long_texts(texts)
        cut = self._pieces.cut(texts)
        self._analyze_new_pieces()
        n_tokens = np.diff(self._piece_offsets)
        tokens, lengths = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        for pieces, n_pieces in cut:
            counts = n_tokens.take(pieces)
            ends = offsets_of(counts)
            # As ragged_indices does, but the running total serves the texts' lengths too.
            index = np.repeat(self._piece_offsets.take(pieces) - ends[:-1], counts)
            index += np.arange(len(index))
            tokens.append(self._piece_tokens.take(index))
            # A text's length is the sum of its pieces' lengths: a difference of two running totals.
            lengths.append(np.diff(ends[offsets_of(n_pieces)]))
        offsets = offsets_of(np.concatenate(lengths))
        return np.concatenate(tokens), offsets if first_parts is None else offsets[first_parts]

    def _analyze_new_pieces(self) -> None:
        known = len(self._piece_offsets) - 1
        if known == len(self._pieces):
            return
        words: list[str] = []
        counts: list[int] = []
        tokenize = self._tokenizer.tokenize if self._tokenizer.separators else _as_one_token
        for piece in itertools.islice(self._pieces, known, None):
            if len(piece) < WORD_LENGTH and piece.isascii() and piece.isalnum():
                words.append(piece)
                counts.append(1)
            else:
                own = tokenize(piece)
                words += own
                counts.append(len(own))
        distinct = list(dict.fromkeys(words))
        folded = zip(distinct, self.analyzer.fold(distinct), strict=True)
        id_of = {word: -1 if final is None else self._ids[final] for word, final in folded}
        ids = np.fromiter(map(id_of.__getitem__, words), np.int32, len(words))
        # Dropped words have id -1. A piece ends after as many kept tokens as precede its end.
        kept_before = offsets_of((ids >= 0).astype(np.int8))
        ends = kept_before[offsets_of(counts)[1:]]
        self._piece_tokens = np.concatenate((self._piece_tokens, ids[ids >= 0]))
        self._piece_offsets = np.concatenate((self._piece_offsets, self._piece_offsets[-1] + ends))


def _as_one_token(piece: str) -> list[str]:
    return [piece]


def _encode(
    questions: Sequence[Question],
    analyzer: Analyzer,
    cut: _Cut = whole_texts,
    passages: Passages | None = None,
) -> EncodedSentences:
    grouped = list(questions)
    passages = passages or Passages(grouped)
    numbers = (passages.number[id(q.passage)] for q in grouped)
    passage_of = np.fromiter(numbers, np.int64, len(grouped))
    order = np.argsort(passage_of, kind="stable")  # stable: questions of a passage keep their order
    grouped = [grouped[i] for i in order.tolist()]

    listed = _collect_candidates(grouped)
    encoder = TextEncoder(analyzer)
    # The order of these three calls decides the ids; EncodedSentences.without_candidates relies on
    # it.
    with part_of_work(0.5, "encoding"):
        pieces = list(tracked(cut(passages), len(passages), share=0.5))
        tokens, bounds = encoder.encode([text for own in pieces for text in own])
        q_tokens, q_offsets = encoder.encode([q.query for q in grouped])
        t_tokens, t_offsets = encoder.encode(listed.texts)
    first = offsets_of(list(map(len, pieces)))
    vocabulary = encoder.vocabulary
    n_distinct = listed.distinct_sizes
    # copy the tokens of a shared list to each of its questions
    if n_distinct.sum() > len(listed.texts):
        candidate = ragged_indices(listed.starts, n_distinct)
        lengths = np.diff(t_offsets)[candidate]
        t_tokens, t_offsets = (
            t_tokens[ragged_indices(t_offsets[:-1][candidate], lengths)],
            offsets_of(lengths),
        )
    arrays = TokenArrays(
        tokens, bounds[first], q_tokens, q_offsets, t_tokens, t_offsets,
        passage_of[order], np.repeat(np.arange(len(grouped)), n_distinct), max(len(vocabulary), 1),
    )  # fmt: skip
    rows = None
    if listed.members is not None:
        rows = listed.members + np.repeat(offsets_of(n_distinct)[:-1], listed.sizes)
    encoded = EncodedDataset(
        questions, analyzer, vocabulary, arrays, order, offsets_of(listed.sizes), rows
    )
    return EncodedSentences(encoded, bounds, first)


class _CandidateLists(NamedTuple):
    """The candidates of some questions, with repeated texts removed. A list that questions share
    occurs once.
    """

    texts: list[str]  # the distinct texts of each list
    starts: NDArray[np.int64]  # (n_questions,): where each question's texts begin in `texts`
    distinct_sizes: NDArray[np.int64]  # (n_questions,): how many distinct texts each question has
    sizes: NDArray[np.int64]  # (n_questions,): how many candidates each question has
    # (sizes.sum(),): which of its question's distinct texts each candidate has; None if all are
    # distinct
    members: NDArray[np.int64] | None


def _collect_candidates(questions: Sequence[Question]) -> _CandidateLists:
    lists = {id(q.candidates): q.candidates for q in questions}
    texts: list[str] = []
    sizes: list[int] = []
    repeats: dict[int, list[int]] = {}
    for row, candidates in enumerate(lists.values()):
        listed = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
        own = list(candidate_texts(listed))
        sizes.append(len(own))
        if len(set(own)) < len(own):
            number: dict[str, int] = {}
            repeats[row] = [number.setdefault(text, len(number)) for text in own]
            own = list(number)
        texts += own
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
    return _CandidateLists(texts, starts[rows], distinct_sizes[rows], all_sizes[rows], members)


def tokens_before_placeholder(
    questions: Sequence[Question], analyzer: Analyzer
) -> NDArray[np.int64]:
    """Return how many of each query's tokens precede its first placeholder; all of a query without
    one.

    Examples
    --------
    >>> from classic_rc.questions import Passage, Task
    >>> from classic_rc.text.analyzers import get_analyzer
    >>> query = Question(
    ...     "q", Passage("p", ""), "It was @placeholder who sang.", (), None, Task.CLOZE
    ... )
    >>> tokens_before_placeholder([query], get_analyzer("word")).tolist()
    [2]
    """
    before = [question.text.partition(PLACEHOLDER)[0] for question in questions]
    if get_tokenizer(
        analyzer.tokenizer
    ).separators:  # the text before a blank has the same tokens by itself
        return np.diff(TextEncoder(analyzer).encode(before)[1])
    located = (analyzer.locate(question.query) for question in questions)
    counts = (
        sum(end <= len(left) for _, _, end in tokens)
        for left, tokens in zip(before, located, strict=True)
    )
    return np.fromiter(counts, np.int64, len(questions))
