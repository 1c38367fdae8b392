"""From questions to token ids: whole datasets at once, one vocabulary for passages, questions and candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.questions import LazyCandidates, Question
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.tokenizers import Tokenizer, get_tokenizer

__all__ = ["EncodedDataset", "encode"]

_CHUNK_CHARACTERS = 2**20


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

    passages = {id(q.passage): q.passage for q in questions}
    number = {key: i for i, key in enumerate(passages)}
    passage_of = np.fromiter((number[id(q.passage)] for q in questions), np.int64, len(questions))
    order = np.argsort(passage_of, kind="stable")
    grouped = [questions[i] for i in order]

    listed = _candidate_lists(grouped)
    encoder = _Encoder(get_tokenizer(analyzer.tokenizer))
    ragged = [
        encoder.texts([p.text for p in passages.values()]),
        encoder.texts([q.query for q in grouped]),
        encoder.texts(listed.texts),
    ]
    vocabulary, renumber = _fold(analyzer, encoder.types)
    (p_tokens, p_offsets), (q_tokens, q_offsets), (t_tokens, t_offsets) = (
        _renumber(tokens, offsets, renumber) for tokens, offsets in ragged
    )
    n_distinct = listed.distinct_sizes
    if n_distinct.sum() > len(listed.texts):  # questions that share a list of candidates each get its tokens
        candidate = ragged_indices(listed.starts, n_distinct)
        lengths = np.diff(t_offsets)[candidate]
        t_tokens, t_offsets = t_tokens[ragged_indices(t_offsets[:-1][candidate], lengths)], offsets_of(lengths)
    arrays = TokenArrays(
        p_tokens, p_offsets, q_tokens, q_offsets, t_tokens, t_offsets,
        passage_of[order], np.repeat(np.arange(len(grouped)), n_distinct), max(len(vocabulary), 1),
    )  # fmt: skip
    rows = None
    if listed.members is not None:
        rows = listed.members + np.repeat(offsets_of(n_distinct)[:-1], listed.sizes)
    return EncodedDataset(questions, analyzer, vocabulary, arrays, order, offsets_of(listed.sizes), rows)


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
