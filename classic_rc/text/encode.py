"""Turns texts into token ids: single texts, and datasets, which are encoded once and shared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, block_size, offsets_of, ragged_indices
from classic_rc.questions import PLACEHOLDER, Dataset, Question, SequenceView
from classic_rc.text.analyzers import Analyzer, get_analyzer, get_tokenizer
from classic_rc.text.encoded import EncodedDataset, EncodedSentences, renumber_words
from classic_rc.text.question_texts import PassageCut, QuestionTexts, sentence_texts, whole_texts
from classic_rc.text.tokenizers import (
    WORD_LENGTH,
    PieceTable,
    TextPieces,
    Tokenizer,
    cutting_of,
    numbering,
)
from classic_rc.work import part_of_work


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
    return _encode(questions, QuestionTexts(questions), analyzer, Encoders()).dataset


def encode_sentences(questions: Sequence[Question], analyzer: str | Analyzer) -> EncodedSentences:
    """Encode like :func:`encode`, but analyse each sentence of a passage by itself."""
    return encode_pieces(questions, analyzer, sentence_texts)


def encode_pieces(
    questions: Sequence[Question], analyzer: str | Analyzer, cut: PassageCut
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
    texts = QuestionTexts(questions)
    return _encode(questions, texts, get_analyzer(analyzer), Encoders(), cut)


_MAX_PARTS = 32
"""How many parts of a dataset are kept; with one more, all are dropped."""


class SharedQuestions(SequenceView[Question]):
    """Questions that are encoded once per analyzer; all users of the object share the encodings.

    :func:`encode` and :func:`encode_sentences` look here first. Folds, and views without gold,
    select their part of the full encoding; its ids equal those of a fresh encoding of the part.

    `encoders` remember the pieces of other parts of the data.
    """

    @classmethod
    def of(cls, questions: Sequence[Question]) -> SharedQuestions:
        """Wrap questions, unless they share their encodings already."""
        if isinstance(questions, EncodedDataset) and isinstance(
            questions.questions, SharedQuestions
        ):
            questions = questions.questions
        return questions if isinstance(questions, SharedQuestions) else cls(questions)

    def __init__(self, questions: Sequence[Question], encoders: Encoders | None = None) -> None:
        self.questions, self._encoders = questions, encoders or Encoders()
        self._texts: QuestionTexts | None = None
        self._encodings: dict[tuple[Analyzer, PassageCut], EncodedSentences] = {}
        self._parts: dict[bytes, Sequence[Question]] = {}
        self._parent: SharedQuestions | None = None
        self._select: Callable[[EncodedSentences], EncodedSentences] | None = None

    def contents(self) -> Sequence[Question]:
        """Return the questions."""
        return self.questions

    def encoding(self, analyzer: Analyzer, cut: PassageCut = whole_texts) -> EncodedSentences:
        """Return the questions' encoding under an analyzer, with passages whole or in the pieces
        of `cut`.
        """
        key = analyzer, cut
        if key not in self._encodings:
            if self._parent is None or self._select is None:
                self._texts = self._texts or QuestionTexts(self.questions)
                encoded = _encode(self.questions, self._texts, analyzer, self._encoders, cut)
            else:
                encoded = self._select(self._parent.encoding(analyzer, cut))
            self._encodings[key] = encoded._replace(dataset=encoded.dataset.under(self))
        return self._encodings[key]

    def keep_only(self, analyzers: Collection[Analyzer]) -> None:
        """Free the encodings under other analyzers."""
        self._encodings = {
            key: encoded for key, encoded in self._encodings.items() if key[0] in analyzers
        }
        if not analyzers:
            self._texts = None

    def take(self, index: NDArray[np.int64]) -> SharedQuestions:
        """Return some of the questions; some questions of a dataset are a dataset."""
        subset = self._take_part(index)
        return self._view(subset, lambda full: full.take(index, subset))

    def _take_part(self, index: NDArray[np.int64]) -> Sequence[Question]:
        """Return a part, kept because all solvers of a run learn from the same folds: it is
        checked once.
        """
        key = index.tobytes()
        subset = self._parts.get(key)
        if subset is None:
            subset = [self.questions[i] for i in index.tolist()]
            if isinstance(self.questions, Dataset):
                subset = replace(self.questions, questions=subset)
            if len(self._parts) >= _MAX_PARTS:
                self._parts.clear()
            self._parts[key] = subset
        return subset

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

    Parameters
    ----------
    analyzer : str or Analyzer
    pieces : PieceTable, optional
        The pieces that are known, those of another encoder of the same texts.

    Examples
    --------
    >>> encoder = TextEncoder("word+stop=lucene")
    >>> tokens, offsets = encoder.encode(["The fox", "A fox ran"])
    >>> tokens.tolist(), offsets.tolist(), encoder.vocabulary
    ([0, 0, 1], [0, 1, 3], ['fox', 'ran'])
    """

    def __init__(self, analyzer: str | Analyzer, pieces: PieceTable | None = None) -> None:
        self.analyzer = get_analyzer(analyzer)
        self._tokenizer = get_tokenizer(self.analyzer.tokenizer)
        self.pieces, self._ids = pieces or PieceTable(self._tokenizer), numbering()
        self._piece_tokens = np.empty(0, dtype=np.int32)
        self._piece_offsets = np.zeros(1, dtype=np.int64)

    @property
    def vocabulary(self) -> list[str]:
        """The token of each id."""
        return list(self._ids)

    @property
    def n_pieces(self) -> int:
        """The number of distinct pieces in memory."""
        return len(self.pieces)

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the token ids of the texts, concatenated, and the offset at which each text
        starts.
        """
        return self.encode_pieces(self.pieces.cut(texts))

    def encode_pieces(self, texts: TextPieces) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Encode texts that :attr:`pieces` has cut."""
        self._analyze_new_pieces()
        n_tokens = np.diff(self._piece_offsets)
        tokens = [np.empty(0, dtype=np.int32)]
        lengths = [np.empty(0, dtype=np.int64)]
        for pieces, n_pieces, _ in texts.chunks:
            counts = n_tokens.take(pieces)
            ends = offsets_of(counts)
            # As ragged_indices does, but the running total serves the texts' lengths too.
            index = np.repeat(self._piece_offsets.take(pieces) - ends[:-1], counts)
            index += np.arange(len(index))
            tokens.append(self._piece_tokens.take(index))
            # A text's length is the sum of its pieces' lengths: a difference of two running totals.
            lengths.append(np.diff(ends[offsets_of(n_pieces)]))
        offsets, first_parts = offsets_of(np.concatenate(lengths)), texts.first_parts
        return np.concatenate(tokens), offsets if first_parts is None else offsets[first_parts]

    def _analyze_new_pieces(self) -> None:
        n_analyzed = len(self._piece_offsets) - 1
        if n_analyzed == len(self.pieces):
            return
        words: list[str] = []
        counts: list[int] = []
        tokenize = self._tokenizer.tokenize if self._tokenizer.separators else _as_one_token
        for piece in itertools.islice(self.pieces, n_analyzed, None):
            if len(piece) < WORD_LENGTH and piece.isascii() and piece.isalnum():
                words.append(piece)
                counts.append(1)
            else:
                piece_words = tokenize(piece)
                words += piece_words
                counts.append(len(piece_words))
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


class Encoders:
    """Encoders that remember their pieces from one part of some data to the next."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, ...], PieceTable] = {}
        self._encoders: dict[Analyzer, TextEncoder] = {}

    def table(self, tokenizer: Tokenizer) -> PieceTable:
        """Return the table of pieces for texts that are cut as for a tokenizer."""
        key = cutting_of(tokenizer) if tokenizer.separators else (tokenizer.name,)
        table = self._tables.get(key)
        if table is None or len(table) > block_size(_MOST_PIECES):
            table = self._tables[key] = PieceTable(tokenizer)
        return table

    def encoder(self, analyzer: Analyzer, table: PieceTable) -> TextEncoder:
        """Return the encoder of texts whose pieces are in a table."""
        encoder = self._encoders.get(analyzer)
        if encoder is None or encoder.pieces is not table:
            encoder = self._encoders[analyzer] = TextEncoder(analyzer, table)
        return encoder

    def keep_only(self, analyzers: Collection[Analyzer]) -> None:
        """Forget the encoders of other analyzers."""
        self._encoders = {
            analyzer: encoder
            for analyzer, encoder in self._encoders.items()
            if analyzer in analyzers
        }


_MOST_PIECES = 2**20
"""A table with more pieces is not used for further texts."""


def _encode(
    questions: Sequence[Question],
    texts: QuestionTexts,
    analyzer: Analyzer,
    encoders: Encoders,
    cut: PassageCut = whole_texts,
) -> EncodedSentences:
    with part_of_work(0.5, "encoding"):
        table = encoders.table(get_tokenizer(analyzer.tokenizer))
        pieces = texts.cut(table)
        passage_pieces, n_sentences = pieces.of_passages(cut)
        encoder = encoders.encoder(analyzer, table)
        tokens, bounds = encoder.encode_pieces(passage_pieces)
        q_tokens, q_offsets = encoder.encode_pieces(pieces.queries)
        t_tokens, t_offsets = encoder.encode_pieces(pieces.candidates)
    first = offsets_of(n_sentences)
    lists = pieces.lists
    n_distinct = lists.distinct_sizes
    # copy the tokens of a shared list to each of its questions
    if n_distinct.sum() > lists.n_texts:
        candidate = ragged_indices(lists.starts, n_distinct)
        lengths = np.diff(t_offsets)[candidate]
        t_tokens = t_tokens[ragged_indices(t_offsets[:-1][candidate], lengths)]
        t_offsets = offsets_of(lengths)
    arrays = TokenArrays(
        tokens, bounds[first], q_tokens, q_offsets, t_tokens, t_offsets,
        texts.question_passage, np.repeat(np.arange(len(texts.order)), n_distinct), 1,
    )  # fmt: skip
    arrays, vocabulary = renumber_words(arrays, encoder.vocabulary)
    rows = None
    if lists.members is not None:
        rows = lists.members + np.repeat(offsets_of(n_distinct)[:-1], lists.sizes)
    encoded = EncodedDataset(
        questions, analyzer, vocabulary, arrays, texts.order, offsets_of(lists.sizes), rows
    )
    return EncodedSentences(encoded, bounds, first)


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
    # The text before a blank has the same tokens by itself.
    if get_tokenizer(analyzer.tokenizer).separators:
        return np.diff(TextEncoder(analyzer).encode(before)[1])
    located = (analyzer.locate(question.query) for question in questions)
    counts = np.zeros(len(questions), dtype=np.int64)
    for i, (beginning, tokens) in enumerate(zip(before, located, strict=True)):
        counts[i] = sum(end <= len(beginning) for _, _, end in tokens)
    return counts
