"""Small integer texts as arrays for the kernels and as lists for the plain-Python reference."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from classic_rc.kernels import TokenArrays
from classic_rc.kernels.arrays import offsets_of


def ragged(texts: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Tokens and offsets of texts, one after the other."""
    tokens = np.array([*itertools.chain(*texts)], dtype=np.int32)
    return tokens, offsets_of([len(text) for text in texts])


def unragged(tokens, offsets) -> list[list]:
    """The texts of tokens and offsets."""
    return [tokens[a:b].tolist() for a, b in itertools.pairwise(offsets.tolist())]


def tuples(columns) -> list[tuple]:
    """The rows of equally long arrays."""
    return list(zip(*(column.tolist() for column in columns), strict=True))


def lists_of(elements, size):
    return st.lists(elements, min_size=size, max_size=size)


class Problem(NamedTuple):
    """Passages with questions with candidates."""

    n_words: int
    passages: list  # of lists of tokens
    questions: list  # of (number of the passage, tokens)
    candidates: list  # of (number of the question, tokens)

    @property
    def arrays(self):
        return TokenArrays(
            *ragged(self.passages),
            *ragged([text for _, text in self.questions]),
            *ragged([text for _, text in self.candidates]),
            np.array([passage for passage, _ in self.questions], dtype=np.int64),
            np.array([question for question, _ in self.candidates], dtype=np.int64),
            self.n_words,
        )

    @property
    def texts(self):
        """Of each candidate the passage, the question and itself."""
        return [(self.passages[p], self.questions[q][1], text) for q, p, text in self._owned()]

    @property
    def passage_numbers(self):
        """Of each candidate."""
        return [p for _, p, _ in self._owned()]

    def _owned(self):
        return [(q, self.questions[q][0], text) for q, text in self.candidates]


@st.composite
def problems(draw, n_words=8, n_passages=4, passage=40, question=5, candidate=5):
    """Problems of few words, so that many match; the numbers are the largest sizes."""
    vocabulary = draw(st.integers(1, n_words))
    words = st.integers(0, vocabulary - 1)
    passages = draw(st.lists(st.lists(words, max_size=passage), min_size=1, max_size=n_passages))
    questions, candidates = [], []
    for number in range(len(passages)):
        for _ in range(draw(st.integers(0, 2))):
            questions.append((number, draw(st.lists(words, max_size=question))))
            candidate_texts = draw(st.lists(st.lists(words, max_size=candidate), max_size=4))
            candidates += [(len(questions) - 1, text) for text in candidate_texts]
    return Problem(vocabulary, passages, questions, candidates)


def problems_with_stop_words():
    """Problems, each with a set of words."""

    def with_stop_words(problem):
        return st.tuples(st.just(problem), st.sets(st.integers(0, problem.n_words - 1)))

    return problems().flatmap(with_stop_words)


def flags_of(n_words, words):
    """Which of the words are in a set."""
    return np.array([word in words for word in range(n_words)])


def texts_of(arrays):
    """The passage, the question and the candidate of every candidate of arrays, as lists of
    token ids.
    """
    return Problem(
        arrays.n_words,
        unragged(arrays.passage_tokens, arrays.passage_offsets),
        [*zip(arrays.question_passage, unragged(*arrays[2:4]), strict=True)],
        [*zip(arrays.candidate_question, unragged(*arrays[4:6]), strict=True)],
    ).texts
