"""From questions to token ids: whole datasets at once, one vocabulary for passages, questions and candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.questions import LazyCandidates, Passage, Question
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.text_encoder import TextEncoder


def encode(questions: Sequence[Question], analyzer: str | Analyzer) -> EncodedDataset:
    """Encode questions, their passages and their candidates.

    Passages are told apart by identity; candidates that questions share are analysed once, and those of a
    question that have one text are scored once. A cloze query is encoded without its placeholder.

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
    return _encode(questions, analyzer, lambda passage: [passage.text]).dataset


class EncodedSentences(NamedTuple):
    """Questions as token ids whose passages are divided into sentences.

    Parameters
    ----------
    dataset : EncodedDataset
    offsets : ndarray of int64, shape (n_sentences + 1,)
        Sentence i of all passages is ``passage_tokens[offsets[i]:offsets[i + 1]]``.
    passage_offsets : ndarray of int64, shape (n_passages + 1,)
        The sentences of passage i of the arrays are ``passage_offsets[i]:passage_offsets[i + 1]``.
    """

    dataset: EncodedDataset
    offsets: NDArray[np.int64]
    passage_offsets: NDArray[np.int64]


def encode_sentences(questions: Sequence[Question], analyzer: str | Analyzer) -> EncodedSentences:
    """Encode as :func:`encode` does, but the passages sentence by sentence, each analysed by itself.

    Parameters
    ----------
    questions : sequence of Question
    analyzer : str or Analyzer

    Returns
    -------
    EncodedSentences
    """
    if isinstance(questions, EncodedDataset):
        questions = questions.questions
    return _encode(questions, get_analyzer(analyzer), _sentences)


def _sentences(passage: Passage) -> list[str]:
    return [passage.text[start:end] for start, end in passage_sentences(passage)]


def _encode(
    questions: Sequence[Question], analyzer: Analyzer, cut: Callable[[Passage], list[str]]
) -> EncodedSentences:
    passages = {id(q.passage): q.passage for q in questions}
    number = {key: i for i, key in enumerate(passages)}
    passage_of = np.fromiter((number[id(q.passage)] for q in questions), np.int64, len(questions))
    order = np.argsort(passage_of, kind="stable")
    grouped = [questions[i] for i in order]

    listed = _candidate_lists(grouped)
    encoder = TextEncoder(analyzer)
    pieces = [cut(p) for p in passages.values()]
    tokens, bounds = encoder.encode([text for own in pieces for text in own])
    first = offsets_of(np.array([len(own) for own in pieces], dtype=np.int64))
    q_tokens, q_offsets = encoder.encode([q.query for q in grouped])
    t_tokens, t_offsets = encoder.encode(listed.texts)
    vocabulary = encoder.vocabulary
    n_distinct = listed.distinct_sizes
    if n_distinct.sum() > len(listed.texts):  # questions that share a list of candidates each get its tokens
        candidate = ragged_indices(listed.starts, n_distinct)
        lengths = np.diff(t_offsets)[candidate]
        t_tokens, t_offsets = t_tokens[ragged_indices(t_offsets[:-1][candidate], lengths)], offsets_of(lengths)
    arrays = TokenArrays(
        tokens, bounds[first], q_tokens, q_offsets, t_tokens, t_offsets,
        passage_of[order], np.repeat(np.arange(len(grouped)), n_distinct), max(len(vocabulary), 1),
    )  # fmt: skip
    rows = None
    if listed.members is not None:
        rows = listed.members + np.repeat(offsets_of(n_distinct)[:-1], listed.sizes)
    encoded = EncodedDataset(questions, analyzer, vocabulary, arrays, order, offsets_of(listed.sizes), rows)
    return EncodedSentences(encoded, bounds, first)


class _CandidateLists(NamedTuple):
    """The candidates of some questions.

    Parameters
    ----------
    texts : list of str
        Of each list of candidates, also one that several questions share, the distinct texts.
    starts, distinct_sizes, sizes : ndarray of int64, shape (n_questions,)
        Where in them each question's begin, how many they are, and how many candidates have them.
    members : ndarray of int64, shape (sizes.sum(),), or None
        Which of its question's distinct texts each candidate has; None where all are distinct.
    """

    texts: list[str]
    starts: NDArray[np.int64]
    distinct_sizes: NDArray[np.int64]
    sizes: NDArray[np.int64]
    members: NDArray[np.int64] | None


def _candidate_lists(questions: Sequence[Question]) -> _CandidateLists:
    texts: list[str] = []
    bounds: dict[int, tuple[int, int, int]] = {}
    repeats: dict[int, list[int]] = {}
    for question in questions:
        candidates, key = question.candidates, id(question.candidates)
        if key in bounds:
            continue
        made = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
        own = [c.text for c in made]
        distinct = dict.fromkeys(own)
        bounds[key] = (len(texts), len(distinct), len(own))
        texts += distinct
        if len(distinct) < len(own):
            number = {text: i for i, text in enumerate(distinct)}
            repeats[key] = [number[text] for text in own]
    columns = np.array([bounds[id(q.candidates)] for q in questions], dtype=np.int64).reshape(-1, 3).T
    members = None
    if repeats:
        of_question = [repeats.get(id(q.candidates)) for q in questions]
        members = ragged_indices(np.zeros(len(questions), dtype=np.int64), columns[2])
        for start, numbers in zip(offsets_of(columns[2]).tolist(), of_question, strict=False):
            if numbers is not None:
                members[start : start + len(numbers)] = numbers
    return _CandidateLists(texts, columns[0], columns[1], columns[2], members)
