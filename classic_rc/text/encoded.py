"""Questions as token ids: what :func:`~classic_rc.text.encode.encode` makes and solvers score."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.stemmers import stemmer
from classic_rc.text.stop_words import stop_words


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
        Grouped by passage; candidates of a question that have one text stand there once.
    order : ndarray of int64, shape (n_questions,)
        ``questions[order[i]]`` is the arrays' question i.
    question_offsets : ndarray of int64, shape (n_questions + 1,)
        The candidates of the arrays' question i, equal ones included, are
        ``question_offsets[i]:question_offsets[i + 1]``.
    candidate_rows : ndarray of int64, shape (n_candidates,), or None
        Where each of those candidates stands in the arrays; None where none are equal.
    """

    __slots__ = (
        "analyzer",
        "arrays",
        "candidate_rows",
        "order",
        "question_offsets",
        "questions",
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
        return stop_flags(self.vocabulary, self.analyzer, name)

    def passage_word_counts(self) -> NDArray[np.int64]:
        """How often each word of the vocabulary stands in the passages: shape (n_words,)."""
        return np.bincount(self.arrays.passage_tokens, minlength=len(self.vocabulary))

    def scores(self, values: NDArray[np.float64], evidence: NDArray[np.bool_]) -> Scores:
        """Scores of all candidates in the questions' own order, from results of the arrays' candidates.

        Parameters
        ----------
        values : ndarray of float64, shape (n_candidates of the arrays,)
        evidence : ndarray of bool, shape (n_candidates of the arrays,)
        """
        if self.candidate_rows is not None:
            values, evidence = values[self.candidate_rows], evidence[self.candidate_rows]
        return self.in_order(values, evidence)

    def in_order(self, values: NDArray[np.float64], evidence: NDArray[np.bool_]) -> Scores:
        """Scores in the questions' own order, from those of all candidates grouped as the arrays are."""
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
            offsets, rows = self.question_offsets[first : last + 1], self.candidate_rows
            if rows is not None:
                rows = rows[offsets[0] : offsets[-1]] - np.searchsorted(self.arrays.candidate_question, first)
            parts.append(
                EncodedDataset(
                    questions,
                    self.analyzer,
                    self.vocabulary,
                    arrays,
                    np.arange(last - first),
                    offsets - offsets[0],
                    rows,
                )
            )
        return parts


def stop_flags(vocabulary: Sequence[str], analyzer: Analyzer, name: str) -> NDArray[np.bool_]:
    """Which words of a vocabulary are in a stop list, stemmed as the analyzer stems: shape (n_words,)."""
    stem = stemmer(analyzer.stemmer)
    listed = {stem(word) for word in stop_words(str(name))}
    return np.fromiter((w.lower() in listed for w in vocabulary), np.bool_, len(vocabulary))


class _LeftBehind(Sequence[Question]):
    """Questions that were not sent along: there are so many, and that is all there is to know."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: Any) -> Any:
        raise LookupError("question objects were not sent to this process, only their encoded arrays")
