"""From questions to token ids: whole datasets at once, one vocabulary for passages, questions and candidates."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.predictions import Scores
from classic_rc.questions import PLACEHOLDER, LazyCandidates, Question, Task
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.stemmers import stemmer
from classic_rc.text.stop_words import stop_words
from classic_rc.text.tokenizers import Tokenizer, get_tokenizer

__all__ = ["EncodedDataset", "encode"]

_CHUNK_CHARACTERS = 2**20


class EncodedDataset(Sequence[Question]):
    """Questions with their texts as token ids; still a sequence of those questions.

    Inside, questions stand grouped by passage (`order` says which is which), because that is how they are
    scored; :meth:`scores` puts results back into the questions' own order.

    Attributes
    ----------
    questions : sequence of Question
    analyzer : Analyzer
    vocabulary : list of str
        The token that each id stands for.
    arrays : TokenArrays
        Grouped by passage.
    order : ndarray of int64, shape (n_questions,)
        ``questions[order[i]]`` is the arrays' question i.
    question_offsets : ndarray of int64, shape (n_questions + 1,)
        The candidates of the arrays' question i are ``question_offsets[i]:question_offsets[i + 1]``.
    """

    __slots__ = ("analyzer", "arrays", "order", "question_offsets", "questions", "vocabulary")

    def __init__(
        self,
        questions: Sequence[Question],
        analyzer: Analyzer,
        vocabulary: list[str],
        arrays: TokenArrays,
        order: NDArray[np.int64],
    ) -> None:
        self.questions, self.analyzer, self.vocabulary = questions, analyzer, vocabulary
        self.arrays, self.order = arrays, order
        self.question_offsets = offsets_of(np.bincount(arrays.candidate_question, minlength=len(order)))

    def __len__(self) -> int:
        return len(self.questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Question]: ...
    def __getitem__(self, index: int | slice) -> Question | Sequence[Question]:
        return self.questions[index]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def stop_flags(self, name: str) -> NDArray[np.bool_]:
        """Which words of the vocabulary are in a stop list (stemmed as the vocabulary is).

        Parameters
        ----------
        name : str
            A stop list's name, or a path to a file with a word a line.

        Returns
        -------
        ndarray of bool, shape (n_words,)
        """
        stem = stemmer(self.analyzer.stemmer)
        listed = {stem(word) for word in stop_words(str(name))}
        return np.fromiter((w.lower() in listed for w in self.vocabulary), np.bool_, len(self.vocabulary))

    def passage_word_counts(self) -> NDArray[np.int64]:
        """How often each word of the vocabulary stands in the passages: shape (n_words,)."""
        return np.bincount(self.arrays.passage_tokens, minlength=len(self.vocabulary))

    def scores(self, values: NDArray[np.float64], evidence: NDArray[np.bool_]) -> Scores:
        """Scores in the questions' own order, from results in the arrays' order.

        Parameters
        ----------
        values : ndarray of float64, shape (n_candidates,)
        evidence : ndarray of bool, shape (n_candidates,)
        """
        offsets = self.score_offsets
        if offsets is self.question_offsets:
            return Scores(values, offsets, evidence)
        flat = ragged_indices(self.question_offsets[:-1][self._place], np.diff(offsets))
        return Scores(values[flat], offsets, evidence[flat])

    @property
    def score_offsets(self) -> NDArray[np.int64]:
        """Where each question's scores start, in the questions' own order: shape (n_questions + 1,)."""
        if np.array_equal(self.order, np.arange(len(self.order))):
            return self.question_offsets
        return offsets_of(np.diff(self.question_offsets)[self._place])

    @property
    def _place(self) -> NDArray[np.int64]:
        """Where each question stands in the arrays: the inverse of `order`."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        return place

    def shards(self, n: int, *, with_questions: bool = True) -> list[EncodedDataset]:
        """Up to `n` parts of whole questions and about equal size, in the arrays' order.

        The parts' questions stand grouped by passage; :attr:`order` of the whole says where they belong.

        Parameters
        ----------
        n : int
        with_questions : bool
            Whether the parts hold the question objects, which are many times larger than the arrays when they
            are sent to another process. Without them, looking at a question is an error.
        """
        bounds = np.unique(np.linspace(0, len(self), n + 1).astype(np.int64)).tolist()
        parts = []
        for first, last in itertools.pairwise(bounds):
            members = [self.questions[i] for i in self.order[first:last]] if with_questions else None
            questions = _LeftBehind(last - first) if members is None else members
            arrays = self.arrays.slice_questions(first, last)
            parts.append(EncodedDataset(questions, self.analyzer, self.vocabulary, arrays, np.arange(last - first)))
        return parts


class _LeftBehind(Sequence[Question]):
    """Questions that were not sent along: there are so many, and that is all there is to know."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        raise LookupError("question objects were not sent to this process, only their encoded arrays")


def encode(questions: Sequence[Question], analyzer: str | Analyzer) -> EncodedDataset:
    """Encode questions, their passages and their candidates.

    Passages are told apart by identity; candidates that questions share are analysed once. A cloze query is
    encoded without its placeholder.

    Parameters
    ----------
    questions : sequence of Question
        In any order; an :class:`EncodedDataset` of the same analyzer is returned as it is.
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

    passages = {id(q.passage): q.passage for q in questions}
    number = {key: i for i, key in enumerate(passages)}
    passage_of = np.fromiter((number[id(q.passage)] for q in questions), np.int64, len(questions))
    order = np.argsort(passage_of, kind="stable")
    grouped = [questions[i] for i in order]

    texts, starts, sizes = _candidate_texts(grouped)
    encoder = _Encoder(get_tokenizer(analyzer.tokenizer))
    ragged = [
        encoder.texts([p.text for p in passages.values()]),
        encoder.texts([_query(q) for q in grouped]),
        encoder.texts(texts),
    ]
    vocabulary, renumber = _fold(analyzer, encoder.types)
    (p_tokens, p_offsets), (q_tokens, q_offsets), (t_tokens, t_offsets) = (
        _renumber(tokens, offsets, renumber) for tokens, offsets in ragged
    )
    if sizes.sum() > len(texts):  # questions that share a list of candidates each get its tokens
        candidate = ragged_indices(starts, sizes)
        lengths = np.diff(t_offsets)[candidate]
        t_tokens, t_offsets = t_tokens[ragged_indices(t_offsets[:-1][candidate], lengths)], offsets_of(lengths)
    arrays = TokenArrays(
        p_tokens, p_offsets, q_tokens, q_offsets, t_tokens, t_offsets,
        passage_of[order], np.repeat(np.arange(len(grouped)), sizes), max(len(vocabulary), 1),
    )  # fmt: skip
    return EncodedDataset(questions, analyzer, vocabulary, arrays, order)


def _candidate_texts(
    questions: Sequence[Question],
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The texts of the distinct candidate lists, and where in them each question's start and how many it has."""
    bounds: dict[int, tuple[int, int]] = {}
    texts: list[str] = []
    for question in questions:
        candidates = question.candidates
        if id(candidates) not in bounds:
            made = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
            bounds[id(candidates)] = (len(texts), len(made))
            texts += [c.text for c in made]
    pairs = np.array([bounds[id(q.candidates)] for q in questions], dtype=np.int64).reshape(-1, 2)
    return texts, pairs[:, 0], pairs[:, 1]


def _query(question: Question) -> str:
    return question.text.replace(PLACEHOLDER, " ") if question.task is Task.CLOZE else question.text


class _TypeIds(dict[str, int]):
    """Surface forms to ids, given out in the order of first sight."""

    def __missing__(self, token: str) -> int:
        self[token] = fresh = len(self)
        return fresh


class _Encoder:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids = _TypeIds()

    @property
    def types(self) -> list[str]:
        return list(self._ids)

    def texts(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Surface ids of all texts, and where each text starts; tokens are never all held as strings."""
        ids, counts = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        for chunk in _chunks(texts):
            tokens, n_tokens = self._tokenizer.bulk(chunk)
            ids.append(np.fromiter(map(self._ids.__getitem__, tokens), np.int32, int(n_tokens.sum())))
            counts.append(n_tokens)
        return np.concatenate(ids), offsets_of(np.concatenate(counts))


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for i, text in enumerate(texts):
        size += len(text) + 1
        if size >= _CHUNK_CHARACTERS:
            yield texts[start : i + 1]
            start, size = i + 1, 0
    if start < len(texts):
        yield texts[start:]


def _fold(analyzer: Analyzer, types: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The final vocabulary, and for each surface type its id in it (-1 where it is dropped)."""
    final = _TypeIds()
    renumber = [-1 if word is None else final[word] for word in analyzer.fold(types)]
    return list(final), np.array(renumber, dtype=np.int32)


def _renumber(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], renumber: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    final = renumber[tokens] if len(renumber) else tokens
    keep = final >= 0
    if keep.all():
        return final, offsets
    kept_before = np.concatenate(([0], np.cumsum(keep)))
    return final[keep], kept_before[offsets]
