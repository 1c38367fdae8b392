"""Questions as token ids: the result of :func:`~classic_rc.text.encode.encode`, which solvers
score.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.predictions import Scores
from classic_rc.questions import Question, SequenceView
from classic_rc.text.analyzers import Analyzer, stemmer, stop_words


class EncodedDataset(SequenceView[Question]):
    """Questions with their texts as token ids; it is still a sequence of those questions.

    The arrays group questions by passage (`order` is the permutation), because scoring works
    passage by passage. :meth:`scores` restores the order of the questions.

    Attributes
    ----------
    questions : sequence of Question
    analyzer : Analyzer
    vocabulary : list of str
        The token of each id.
    arrays : TokenArrays
        Grouped by passage. Candidates of a question with equal texts are one candidate of the
        arrays.
    order : ndarray of int64, shape (n_questions,)
        Question i of the arrays is ``questions[order[i]]``.
    question_offsets : ndarray of int64, shape (n_questions + 1,)
        The candidates of question i of the arrays, equal ones included, are
        ``question_offsets[i]:question_offsets[i + 1]``.
    candidate_rows : ndarray of int64, shape (n_candidates,), or None
        The index in the arrays of each of those candidates; None if no two are equal.
    results : dict
        What kernels returned for these arrays, by name and arguments: several solvers need it.
    """

    __slots__ = (
        "analyzer",
        "arrays",
        "candidate_rows",
        "order",
        "question_offsets",
        "questions",
        "results",
        "vocabulary",
    )

    def __init__(
        self,
        questions: Sequence[Question],
        analyzer: Analyzer,
        vocabulary: list[str],
        arrays: TokenArrays,
        order: NDArray[np.int64],
        question_offsets: NDArray[np.int64],
        candidate_rows: NDArray[np.int64] | None,
    ) -> None:
        self.questions, self.analyzer, self.vocabulary = questions, analyzer, vocabulary
        self.arrays, self.order = arrays, order
        self.question_offsets, self.candidate_rows = question_offsets, candidate_rows
        self.results: dict[Hashable, Any] = {}

    def contents(self) -> Sequence[Question]:
        """Return the questions."""
        return self.questions

    def stop_flags(self, name: str) -> NDArray[np.bool_]:
        """Return which words of the vocabulary are in a stop list, shape (n_words,).

        `name` is a stop list's name, or the path of a file with one word per line. The list is
        stemmed as the vocabulary is.
        """
        return stop_flags(self.vocabulary, self.analyzer, name)

    def passage_word_counts(self) -> NDArray[np.int64]:
        """Return how often each word of the vocabulary occurs in all passages: shape (n_words,)."""
        return np.bincount(self.arrays.passage_tokens, minlength=len(self.vocabulary))

    def scores(self, values: NDArray[np.float64], evidence: NDArray[np.bool_]) -> Scores:
        """Expand the scores of the arrays' candidates to all candidates, in the order of the
        questions.

        Parameters
        ----------
        values : ndarray of float64, shape (n_candidates of the arrays,)
        evidence : ndarray of bool, shape (n_candidates of the arrays,)
        """
        if self.candidate_rows is not None:
            values, evidence = values[self.candidate_rows], evidence[self.candidate_rows]
        return self.in_order(values, evidence)

    def in_order(self, values: NDArray[np.float64], evidence: NDArray[np.bool_]) -> Scores:
        """Reorder the scores of all candidates from the arrays' grouping to the order of the
        questions.
        """
        offsets = self.score_offsets
        if offsets is self.question_offsets:
            return Scores(values, offsets, evidence)
        flat = ragged_indices(self.question_offsets[:-1][self.place], np.diff(offsets))
        return Scores(values[flat], offsets, evidence[flat])

    def in_arrays(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder values of all candidates from the order of the questions to the arrays'
        grouping.
        """
        starts = self.score_offsets[:-1][self.order]
        return values[ragged_indices(starts, np.diff(self.question_offsets))]

    @property
    def score_offsets(self) -> NDArray[np.int64]:
        """The offsets of each question's scores, in the order of the questions: shape
        (n_questions + 1,).
        """
        if np.array_equal(self.order, np.arange(len(self.order))):
            return self.question_offsets
        return offsets_of(np.diff(self.question_offsets)[self.place])

    @property
    def place(self) -> NDArray[np.int64]:
        """Each question's index in the arrays: the inverse of `order`."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        return place

    def under(self, questions: Sequence[Question]) -> EncodedDataset:
        """Return this encoding with other objects for the same questions, such as those without
        gold.
        """
        encoded = self._changed(questions=questions)
        encoded.results = self.results
        return encoded

    def with_arrays(self, arrays: TokenArrays) -> EncodedDataset:
        """Return this encoding with other tokens for the same texts."""
        return self._changed(arrays=arrays)

    def _changed(self, **changes: Any) -> EncodedDataset:
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "results"}
        return EncodedDataset(**{**fields, **changes})

    def shards(self, n: int, *, with_questions: bool = True) -> list[EncodedDataset]:
        """Split into up to `n` parts of about equal size, in the arrays' order.

        The questions of a part are grouped by passage; :attr:`order` of this dataset gives their
        indices. Question objects are many times larger than the arrays when sent to another
        process. Without them, access to a question raises an error.
        """
        bounds = np.linspace(0, len(self), n + 1).astype(np.int64)
        # With fewer questions than parts, bounds repeat: no part is empty.
        borders = itertools.pairwise(np.unique(bounds).tolist())
        return [self.part(first, last, with_questions=with_questions) for first, last in borders]

    def part(self, first: int, last: int, *, with_questions: bool = True) -> EncodedDataset:
        """Return the questions ``first:last`` of the arrays, at least one, as :meth:`shards`
        does.
        """
        members: Sequence[Question] = _UnsentQuestions(last - first)
        if with_questions:
            members = [self.questions[i] for i in self.order[first:last]]
        offsets, rows = self.question_offsets[first : last + 1], self.candidate_rows
        if rows is not None:
            first_row = np.searchsorted(self.arrays.candidate_question, first)
            rows = rows[offsets[0] : offsets[-1]] - first_row
        return EncodedDataset(
            members,
            self.analyzer,
            self.vocabulary,
            self.arrays.slice_questions(first, last),
            np.arange(last - first),
            offsets - offsets[0],
            rows,
        )


class EncodedSentences(NamedTuple):
    """Questions as token ids, with the sentence borders of their passages."""

    dataset: EncodedDataset
    # (n_sentences + 1,): sentence i of all passages is `passage_tokens[offsets[i]:offsets[i + 1]]`
    offsets: NDArray[np.int64]
    # (n_passages + 1,): the sentences of passage i of the arrays are
    # `passage_offsets[i]:passage_offsets[i + 1]`
    passage_offsets: NDArray[np.int64]

    def take(self, index: NDArray[np.int64], questions: Sequence[Question]) -> EncodedSentences:
        """Return the encoding of some of the questions, exactly as encoding them afresh would give
        it.

        `index` are their places, in any order, and `questions` the same questions as objects. Ids
        and the order of the vocabulary are those of a fresh encoding.
        """
        full = self.dataset
        old = full.arrays
        place = full.place[index]
        # A fresh encoding numbers passages in the order of first sight, and groups questions by
        # them, stably.
        passages, passage_of = _number_by_first_occurrence(old.question_passage[place])
        order = np.argsort(passage_of, kind="stable")
        rows = place[order]
        n_distinct = np.bincount(old.candidate_question, minlength=len(full))[rows]
        first = np.searchsorted(old.candidate_question, rows)
        arrays = TokenArrays(
            *_take_rows(old.passage_tokens, old.passage_offsets, passages),
            *_take_rows(old.question_tokens, old.question_offsets, rows),
            *_take_rows(
                old.candidate_tokens, old.candidate_offsets, ragged_indices(first, n_distinct)
            ),
            passage_of[order],
            np.repeat(np.arange(len(rows)), n_distinct),
            old.n_words,
        )
        arrays, vocabulary = renumber_words(arrays, full.vocabulary)
        sizes = np.diff(full.question_offsets)[rows]
        members = None
        if full.candidate_rows is not None and sizes.sum() > n_distinct.sum():
            flat = ragged_indices(full.question_offsets[rows], sizes)
            shifts = offsets_of(n_distinct)[:-1] - first
            members = full.candidate_rows[flat] + np.repeat(shifts, sizes)
        encoded = EncodedDataset(
            questions, full.analyzer, vocabulary, arrays, order, offsets_of(sizes), members
        )
        n_sentences = np.diff(self.passage_offsets)[passages]
        sentences = ragged_indices(self.passage_offsets[passages], n_sentences)
        sentence_offsets = offsets_of(np.diff(self.offsets)[sentences])
        return EncodedSentences(encoded, sentence_offsets, offsets_of(n_sentences))

    def without_candidates(self, questions: Sequence[Question]) -> EncodedSentences:
        """Return the encoding that the questions would have without their candidates.

        Ids are given to passages first, then to queries, then to candidates: passages and queries
        keep theirs.
        """
        full = self.dataset
        old = full.arrays
        texts = (old.passage_tokens, old.question_tokens)
        n_words = 1 + max(int(tokens.max(initial=-1)) for tokens in texts)
        no_questions = np.empty(0, dtype=np.int64)
        arrays = old._replace(
            candidate_tokens=np.empty(0, dtype=np.int32),
            candidate_offsets=np.zeros(1, dtype=np.int64),
            candidate_question=no_questions,
            n_words=max(n_words, 1),
        )
        offsets = np.zeros(len(full) + 1, dtype=np.int64)
        encoded = EncodedDataset(
            questions, full.analyzer, full.vocabulary[:n_words], arrays, full.order, offsets, None
        )
        return self._replace(dataset=encoded)


def stop_flags(vocabulary: Sequence[str], analyzer: Analyzer, name: str) -> NDArray[np.bool_]:
    """Return which words of a vocabulary are in a stop list, after the analyzer's stemmer: shape
    (n_words,).
    """
    stem = stemmer(analyzer.stemmer)
    listed = {stem(word) for word in stop_words(str(name))}
    flags = map(listed.__contains__, map(str.lower, vocabulary))
    return np.fromiter(flags, np.bool_, len(vocabulary))


class _UnsentQuestions(Sequence[Question]):
    """A placeholder for questions that were not sent to this process; only their number is
    known.
    """

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        raise LookupError(
            "question objects were not sent to this process, only their encoded arrays"
        )


class _Numbering(NamedTuple):
    """Distinct values in the order of their first occurrence."""

    values: NDArray[np.int64]
    number: NDArray[np.int64]  # for each original value, its index in `values`


def _number_by_first_occurrence(values: NDArray[np.int64]) -> _Numbering:
    distinct, first, number = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return _Numbering(distinct[order], rank[number.reshape(-1)])


def _take_rows(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return some rows of a ragged array, as a ragged array."""
    counts = np.diff(offsets)[rows]
    return tokens[ragged_indices(offsets[rows], counts)], offsets_of(counts)


def renumber_words(arrays: TokenArrays, vocabulary: Sequence[str]) -> tuple[TokenArrays, list[str]]:
    """Renumber ids in the order of first occurrence: in passages, then queries, then candidates."""
    parts = (arrays.passage_tokens, arrays.question_tokens, arrays.candidate_tokens)
    n_tokens = sum(map(len, parts))
    first = np.full(max(len(vocabulary), 1), n_tokens, dtype=np.int64)
    # NumPy keeps the last of repeated assignments: reversed, the first occurrence
    for tokens in reversed(parts):
        n_tokens -= len(tokens)
        first[tokens[::-1]] = np.arange(n_tokens, n_tokens + len(tokens))[::-1]
    used = np.flatnonzero(first < sum(map(len, parts)))
    used = used[np.argsort(first[used])]
    new = np.zeros(len(first), dtype=np.int32)
    new[used] = np.arange(len(used), dtype=np.int32)
    renumbered = arrays._replace(
        passage_tokens=new[arrays.passage_tokens],
        question_tokens=new[arrays.question_tokens],
        candidate_tokens=new[arrays.candidate_tokens],
        n_words=max(len(used), 1),
    )
    return renumbered, [vocabulary[i] for i in used.tolist()]
