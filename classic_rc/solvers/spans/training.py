"""The features of training questions, which the span ranker reads once in each epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.io.scratch import ScratchFile
from classic_rc.kernels.arrays import offsets_of
from classic_rc.solvers.spans.columns import N_COLUMNS, AskedQuestion, ColumnMaker
from classic_rc.solvers.spans.texts import Lexicon

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CHUNK = 2**15  # columns that are updated at a time, so that they stay in the cache


class _QuestionFeatures(NamedTuple):
    """The features of one question's candidates."""

    columns: NDArray[np.int32]  # the distinct ones, by their numbers in TrainingFeatures
    features: NDArray[np.unsignedinteger]  # of each row in turn, as places in `columns`
    rows: NDArray[np.unsignedinteger]  # (4 * n_candidates,): of each candidate, one in each part
    n_rows: NDArray[np.int64]  # (4,): of each part; the last one has a row for each candidate


class _FilePlace(NamedTuple):
    """Where the file has the features of a question, and their sizes."""

    start: int  # the first byte
    n_columns: int
    n_rows: NDArray[np.int64]


class Batch(NamedTuple):
    """The features of some questions' candidates. Every feature has the value 1."""

    offsets: NDArray[np.int64]  # (n_questions + 1,): of the candidates
    columns: NDArray[np.int64]  # (n,): the distinct ones of each question in turn
    rows: csr_array  # (n_rows, n)
    candidates: csr_array  # (n_candidates, n_rows)

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """Add up the weights of each candidate's features."""
        return (self.candidates @ (self.rows @ weights.take(self.columns))).astype(np.float64)

    def add_gradient(self, of_scores: NDArray[np.float64], sums: NDArray[np.float32]) -> None:
        """Add the gradient by the weights to `sums`, given that by the scores."""
        of_rows = self.candidates.T @ of_scores.astype(np.float32)
        np.add.at(sums, self.columns, self.rows.T @ of_rows)


class TrainingFeatures:
    """The features of training questions: made when they are first read, then kept in a file. Those
    of questions for which the file has no room are made each time.

    Columns are numbered anew, batch by batch, the most frequent ones of a batch first. So the
    weights of frequent columns are close together, in the processor's cache.
    """

    def __init__(
        self,
        questions: Mapping[int, AskedQuestion],
        maker: ColumnMaker,
        lexicon: Lexicon,
        file: ScratchFile,
    ) -> None:
        self._questions, self._maker, self.lexicon, self._file = questions, maker, lexicon, file
        self._widths = np.array(maker.widths)
        self._numbers = np.full(N_COLUMNS, -1, dtype=np.int32)  # of columns; -1 before the first
        self.n_columns = 0  # that have a number
        self._places = np.empty(N_COLUMNS, dtype=np.int32)
        self._ones = np.empty(0, dtype=np.float32)
        self._kept: dict[int, _FilePlace] = {}

    def batch(self, index: Sequence[int]) -> Batch:
        """Return the features of some questions."""
        new = [i for i in index if i not in self._kept]
        new_features = dict(zip(new, self._make(new), strict=True))
        questions = [new_features[i] if i in new_features else self._read(i) for i in index]
        for i, question in new_features.items():
            self._keep(i, question)
        lengths = [len(question.columns) for question in questions]
        n_rows = np.array([question.n_rows for question in questions])
        row_lengths = np.repeat(np.tile(self._widths, len(questions)), n_rows.ravel())
        rows = self._matrix([question.features for question in questions], lengths, row_lengths)
        n_candidates = n_rows[:, -1]
        places = [question.rows for question in questions]
        n_parts = np.full(n_candidates.sum(), len(self._widths))
        candidates = self._matrix(places, n_rows.sum(axis=1).tolist(), n_parts)
        columns = np.concatenate([question.columns for question in questions], dtype=np.int64)
        return Batch(offsets_of(n_candidates), columns, rows, candidates)

    def _matrix(
        self,
        places: Sequence[NDArray[np.unsignedinteger]],
        n_columns: Sequence[int],
        row_lengths: NDArray[np.int64],
    ) -> csr_array:
        """Return a matrix of blocks on the diagonal, with ones at `places` of each block."""
        from scipy.sparse import csr_array

        ends = offsets_of(list(map(len, places))).tolist()
        starts = offsets_of(n_columns).tolist()
        indices = np.empty(ends[-1], dtype=np.int32)
        # The cast to int32 is exact: a batch of 64 questions has at most 64 * N_COLUMNS columns.
        for of_block, shift, (start, end) in zip(places, starts, pairwise(ends), strict=False):
            np.add(of_block, shift, out=indices[start:end], dtype=np.int32, casting="unsafe")
        if len(self._ones) < len(indices):
            self._ones = np.ones(len(indices), dtype=np.float32)
        offsets = offsets_of(row_lengths).astype(np.int32)
        ones = self._ones[: len(indices)]
        return csr_array((ones, indices, offsets), (len(row_lengths), starts[-1]))

    def _make(self, index: Sequence[int]) -> list[_QuestionFeatures]:
        """Make the features of questions, and number their columns."""
        if not index:
            return []
        columns_of_questions = self._maker.make([self._questions[i] for i in index], self.lexicon)
        # Row by row, so that the rows of a question are one run.
        by_row = [np.ascontiguousarray(columns.T) for columns in columns_of_questions.parts]
        questions = []
        for start, end in pairwise(columns_of_questions.offsets.tolist()):
            rows, columns, n_rows = [], [], [0]
            for row_of, of_part in zip(columns_of_questions.rows, by_row, strict=True):
                part_rows = np.arange(start, end) if row_of is None else row_of[start:end]
                first, stop = int(part_rows.min()), int(part_rows.max()) + 1
                rows.append(part_rows - first + sum(n_rows))
                columns.append(of_part[first:stop].ravel())
                n_rows.append(stop - first)
            distinct, places = self._distinct(np.concatenate(columns))
            features = places.astype(_type_of(len(distinct)))
            by_candidate = np.stack(rows, axis=1).ravel().astype(_type_of(sum(n_rows)))
            sizes = np.array(n_rows[1:])
            questions.append(_QuestionFeatures(distinct, features, by_candidate, sizes))
        self._number(np.concatenate([question.columns for question in questions]))
        return [q._replace(columns=self._numbers[q.columns]) for q in questions]

    def _distinct(self, columns: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the distinct columns in the order of their last occurrences, and the place of each
        column among them.
        """
        index = np.arange(len(columns), dtype=np.int32)
        self._places[columns] = index
        last = self._places[columns]
        is_last = last == index
        return columns[is_last], (np.cumsum(is_last, dtype=np.int32) - 1)[last]

    def _number(self, columns: NDArray[np.int32]) -> None:
        """Number the columns that have no number yet."""
        new, counts = np.unique(columns[self._numbers[columns] < 0], return_counts=True)
        end = self.n_columns + len(new)
        by_frequency = new[np.argsort(-counts, kind="stable")]
        self._numbers[by_frequency] = np.arange(self.n_columns, end)
        self.n_columns = end

    def _keep(self, i: int, question: _QuestionFeatures) -> None:
        """Write a question's features to the file if they fit."""
        start = self._file.append(b"".join(array.tobytes() for array in question[:3]))
        if start is not None:
            self._kept[i] = _FilePlace(start, len(question.columns), question.n_rows)

    def _read(self, i: int) -> _QuestionFeatures:
        """Read a question's features from the file."""
        start, n_columns, n_rows = self._kept[i]
        n_features = int(n_rows @ self._widths)
        n_places = len(n_rows) * int(n_rows[-1])
        feature_type, row_type = _type_of(n_columns), _type_of(int(n_rows.sum()))
        features_start = n_columns * np.dtype(np.int32).itemsize
        rows_start = features_start + n_features * feature_type.itemsize
        content = self._file.read(start, rows_start + n_places * row_type.itemsize)
        columns = np.frombuffer(content, np.int32, n_columns)
        features = np.frombuffer(content, feature_type, n_features, features_start)
        rows = np.frombuffer(content, row_type, n_places, rows_start)
        return _QuestionFeatures(columns, features, rows, n_rows)

    def by_column(self, of_numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights in the order of columns, 0 if a column has no number."""
        return np.where(self._numbers < 0, np.float32(0), of_numbers[self._numbers])


def step_down(
    weights: NDArray[np.float32],
    squares: NDArray[np.float32],
    gradient: NDArray[np.float32],
    rate: float,
) -> None:
    """Take a step of AdaGrad, in place: add to `squares`, move the weights, reset the gradient."""
    for start in range(0, len(weights), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        of_chunk = gradient[chunk]
        squares[chunk] += of_chunk * of_chunk
        weights[chunk] -= np.float32(rate) * of_chunk / np.sqrt(squares[chunk])
        of_chunk[:] = 0


def _type_of(n: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest type for numbers from 0 to before `n`."""
    return np.dtype(np.uint16 if n <= 2**16 else np.uint32)
