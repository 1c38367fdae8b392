"""Encodes span questions: each span candidate becomes a range of its passage's tokens, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classic_rc.errors import DataError
from classic_rc.kernels.arrays import TokenArrays, block_size, offsets_of, ragged_indices
from classic_rc.questions import Candidate, LazyCandidates, Passage, Question
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.spans import SpanCandidates

_BLOCK_CANDIDATES = 2**17


class EncodedSpans(NamedTuple):
    """Span questions as token ids; each candidate is a range of its passage's tokens.

    A *list* is the candidates that some questions of a passage share. Every token belongs to a sentence, and every
    passage has at least one sentence.
    """

    questions: list[Question]  # grouped by passage
    analyzer: Analyzer
    vocabulary: list[str]  # the token of each id
    tokens: NDArray[np.int32]  # (n_tokens,): of all passages
    token_starts: NDArray[np.int64]  # (n_tokens,): character offsets in the token's passage
    token_ends: NDArray[np.int64]  # (n_tokens,)
    # (n_sentences + 1,): sentence i of all passages is `tokens[sentence_offsets[i]:sentence_offsets[i + 1]]`
    sentence_offsets: NDArray[np.int64]
    # (n_passages + 1,): the sentences of passage i are `passage_sentences[i]:passage_sentences[i + 1]`
    passage_sentences: NDArray[np.int64]
    question_tokens: NDArray[np.int32]
    question_offsets: NDArray[np.int64]  # (n_questions + 1,)
    question_passage: NDArray[np.int64]  # (n_questions,): each question's passage, ascending
    question_list: NDArray[np.int64]  # (n_questions,): each question's list of candidates
    lists: list[Sequence[Candidate]]
    list_offsets: NDArray[np.int64]  # (n_lists + 1,): the spans of list i are `list_offsets[i]:list_offsets[i + 1]`
    # (n_spans,): a span's tokens are `tokens[first:last]`: none if the analyzer drops all of them, and whole
    # tokens even where the span has only a part of one ("fox" in "fox's")
    first: NDArray[np.int64]
    last: NDArray[np.int64]  # (n_spans,)
    cut: NDArray[np.bool_]  # (n_spans,): whether the span ends inside its last token
    sentence: NDArray[np.int64]  # (n_spans,): the sentence in which the span begins

    @property
    def passage_offsets(self) -> NDArray[np.int64]:
        """The offsets of each passage's tokens: shape (n_passages + 1,)."""
        return self.sentence_offsets[self.passage_sentences]

    @property
    def candidate_offsets(self) -> NDArray[np.int64]:
        """The offsets of each question's candidates: shape (n_questions + 1,)."""
        return offsets_of(np.diff(self.list_offsets)[self.question_list])

    @property
    def candidate_span(self) -> NDArray[np.int64]:
        """The span of each candidate, question by question: shape (n_candidates,)."""
        return ragged_indices(self.list_offsets[self.question_list], np.diff(self.candidate_offsets))

    def in_contexts(
        self, span_context: NDArray[np.int64], context_offsets: NDArray[np.int64]
    ) -> tuple[TokenArrays, NDArray[np.int64]]:
        """Pair each question with each context that has candidates of it, as if the context were its passage.

        Parameters
        ----------
        span_context : ndarray of int64, shape (n_spans,)
            The context (a sentence, or the passage) of each span.
        context_offsets : ndarray of int64, shape (n_contexts + 1,)
            Context i is ``tokens[context_offsets[i]:context_offsets[i + 1]]``.

        Returns
        -------
        arrays : TokenArrays
            Its "passages" are the contexts, its "questions" the pairs of a context and a question.
        order : ndarray of int64, shape (n_candidates,)
            For each candidate of the arrays, its index among all questions' candidates in sequence.
        """
        question = np.repeat(np.arange(len(self.questions)), np.diff(self.candidate_offsets))
        span = self.candidate_span
        # By context, then by question: the candidates of each pair become adjacent.
        order = np.lexsort((question, span_context[span]))
        span, question = span[order], question[order]
        pair_starts = np.flatnonzero(
            (np.diff(span_context[span], prepend=-1) != 0) | (np.diff(question, prepend=-1) != 0)
        )
        pair_question = question[pair_starts]
        n_query, n_own = np.diff(self.question_offsets)[pair_question], (self.last - self.first)[span]
        return TokenArrays(
            self.tokens,
            context_offsets,
            self.question_tokens[ragged_indices(self.question_offsets[pair_question], n_query)],
            offsets_of(n_query),
            self.tokens[ragged_indices(self.first[span], n_own)],
            offsets_of(n_own),
            span_context[span[pair_starts]],
            np.repeat(np.arange(len(pair_starts)), np.diff(np.append(pair_starts, len(span)))),
            max(len(self.vocabulary), 1),
        ), order


def encode_spans(
    questions: Sequence[Question], analyzer: str | Analyzer
) -> Iterator[tuple[NDArray[np.int64], EncodedSpans]]:
    """Encode span questions in parts of bounded size; a part has at least one passage, never a piece of one.

    Parameters
    ----------
    questions : sequence of Question
        In any order.
    analyzer : str or Analyzer

    Yields
    ------
    index : ndarray of int64
        Indices of the part's questions in `questions`, in the part's order.
    spans : EncodedSpans

    Raises
    ------
    DataError
        A candidate does not occur in its passage.
    """
    analyzer = get_analyzer(analyzer)
    of_passage: dict[int, list[int]] = {}
    for i, question in enumerate(questions):
        of_passage.setdefault(id(question.passage), []).append(i)
    index: list[int] = []
    lists: dict[_ListKey, Sequence[Candidate]] = {}
    n_candidates = 0
    for members in of_passage.values():
        for i in members:
            key = _list_key(questions[i])
            if key not in lists:
                lists[key] = _list_candidates(questions[i].candidates)
            n_candidates += len(lists[key])
        index += members
        if n_candidates >= block_size(_BLOCK_CANDIDATES):
            yield np.array(index), _encode([questions[i] for i in index], lists, analyzer)
            index, lists, n_candidates = [], {}, 0
    if index:
        yield np.array(index), _encode([questions[i] for i in index], lists, analyzer)


_ListKey: TypeAlias = tuple[int, int]


def _list_key(question: Question) -> _ListKey:
    """Return the key of the question's list of candidates; questions with equal keys share the list."""
    return id(question.passage), id(question.candidates)


def _list_candidates(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    return candidates.generate() if isinstance(candidates, LazyCandidates) else candidates


def _encode(
    questions: list[Question], lists: Mapping[_ListKey, Sequence[Candidate]], analyzer: Analyzer
) -> EncodedSpans:
    passages = {id(q.passage): q.passage for q in questions}
    number = {key: i for i, key in enumerate(passages)}
    located = [analyzer.locate(p.text) for p in passages.values()]
    queries = [analyzer.analyze(q.query) for q in questions]
    ids: dict[str, int] = {}
    tokens = [ids.setdefault(token, len(ids)) for own in located for token, _, _ in own]
    query_tokens = [ids.setdefault(token, len(ids)) for own in queries for token in own]

    before = offsets_of(np.array(list(map(len, located)), dtype=np.int64))
    starts, ends = _split_columns([place[1:] for own in located for place in own])
    borders = [_sentence_starts(p) for p in passages.values()]
    passage_sentences = offsets_of(np.array(list(map(len, borders)), dtype=np.int64))
    sentence_offsets, first, last, finish, sentence = [], [], [], [], []
    for i, (begin, end) in enumerate(pairwise(before.tolist())):
        later = np.searchsorted(starts[begin:end], borders[i][1:])
        sentence_offsets += [[begin], begin + later]
    by_key = {_list_key(q): q for q in questions}
    for key, question in by_key.items():
        i = number[id(question.passage)]
        own = slice(before[i], before[i + 1])
        begins, finishes = _offsets_of_all(lists[key], question)
        # From the first token that ends after the span begins, up to the first that starts at its end or later.
        first.append(before[i] + np.searchsorted(ends[own], begins, side="right"))
        last.append(before[i] + np.searchsorted(starts[own], finishes))
        finish.append(finishes)
        within = np.searchsorted(borders[i], begins, side="right") - 1
        sentence.append(passage_sentences[i] + np.maximum(within, 0))
    list_number = {key: i for i, key in enumerate(by_key)}
    first_token = _concatenate(first)
    last_token = np.maximum(_concatenate(last), first_token)  # no token left: an empty range, not a negative one
    cut = (first_token < last_token) & (_concatenate(finish) < np.append(0, ends)[last_token])
    return EncodedSpans(
        questions, analyzer, list(ids), np.array(tokens, dtype=np.int32), starts, ends,
        _concatenate([*sentence_offsets, before[-1:]]), passage_sentences,
        np.array(query_tokens, dtype=np.int32), offsets_of(np.array(list(map(len, queries)), dtype=np.int64)),
        np.array([number[id(q.passage)] for q in questions], dtype=np.int64),
        np.array([list_number[_list_key(q)] for q in questions], dtype=np.int64),
        [lists[key] for key in by_key], offsets_of(np.array(list(map(len, first)), dtype=np.int64)),
        first_token, last_token, cut, _concatenate(sentence),
    )  # fmt: skip


def _concatenate(parts: Sequence[ArrayLike]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts], dtype=np.int64)


def span_offsets(question: Question) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the character offsets of a question's candidates, starts and ends.

    A candidate without offsets has those of the first occurrence of its text.

    Raises
    ------
    DataError
        A candidate does not occur in its passage.
    """
    return _offsets_of_all(_list_candidates(question.candidates), question)


def _split_columns(rows: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    one, other = np.array(rows, dtype=np.int64).reshape(-1, 2).T.copy()
    return one, other


def _sentence_starts(passage: Passage) -> NDArray[np.int64]:
    """Return where sentences begin; text before the first belongs to it."""
    return np.array([start for start, _ in passage_sentences(passage)] or [0], dtype=np.int64)


def _offsets_of_all(
    candidates: Sequence[Candidate], question: Question
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the character offsets of candidates: their own, or those of the first occurrence of their text."""
    if isinstance(candidates, SpanCandidates):
        return candidates.starts.astype(np.int64), candidates.ends.astype(np.int64)
    return _split_columns([_offsets_of_one(candidate, question) for candidate in candidates])


def _offsets_of_one(candidate: Candidate, question: Question) -> tuple[int, int]:
    if candidate.start is not None and candidate.end is not None:
        return candidate.start, candidate.end
    start = question.passage.text.find(candidate.text)
    if start < 0:
        raise DataError(
            "the candidate does not occur in the passage",
            where=f"question {question.id}",
            found=repr(candidate.text),
            hint="Give its start and end, or leave the candidates out to generate spans",
        )
    return start, start + len(candidate.text)
