"""The integer program of one option: its nodes and edges, its constants, and what a set of edges is worth."""

from __future__ import annotations

from math import ceil, floor, fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_DIGITS = 9
"""Objectives are rounded to so many decimals: sums of the same weights in another order are the same score."""
_NOISE = 1e-9
"""Weights within this of 0 are 0: 2/5 - 0.4 is, whatever the floating-point numbers make of it."""


class Constants(NamedTuple):
    """The weights and limits of the program; a limit of None is off.

    Source of all: SemanticILP's SimpleMatching solver (allenai/semanticilp, TextILPSolver.scala, Khashabi et al.
    2018, AAAI), whose own names are in :mod:`classic_rc.solvers.alignment.constraints`.

    Parameters
    ----------
    offset : float
        Taken off every similarity to make an edge's weight.
    question_weight : float
        For each active chunk of the question; not negative.
    sentence_weight : float
        For each active sentence; not positive.
    long_option_weight : float
        For an option of more than three chunks.
    max_sentences, max_edges, max_copies, min_question_chunks, max_question_chunks : int, optional
    min_question_share, max_question_share : float, optional
    align_without, align_option : bool
    """

    offset: float = 0.4
    question_weight: float = 0.33
    sentence_weight: float = -2.5
    long_option_weight: float = 0.02
    max_sentences: int | None = 2
    max_edges: int | None = 8
    max_copies: int | None = 3
    min_question_chunks: int | None = 1
    max_question_chunks: int | None = 3
    min_question_share: float | None = 0.1
    max_question_share: float | None = 0.65
    align_without: bool = True
    align_option: bool = True

    def question_chunk_bounds(self, n_chunks: int) -> tuple[int, int]:
        """How few and how many chunks of a question of `n_chunks` may be active.

        A question of one chunk may use it: no share of one is both at least one chunk and at most 65 %.

        Examples
        --------
        >>> [PUBLISHED.question_chunk_bounds(n) for n in (1, 2, 4, 12)]
        [(1, 1), (1, 1), (1, 2), (2, 3)]
        """
        least, most = [0], [n_chunks]
        if self.min_question_chunks is not None:
            least.append(self.min_question_chunks)
        if self.max_question_chunks is not None:
            most.append(self.max_question_chunks)
        if self.min_question_share is not None:
            least.append(ceil(self.min_question_share * n_chunks - _NOISE))
        if self.max_question_share is not None:
            most.append(max(1, floor(self.max_question_share * n_chunks + _NOISE)))
        return max(least), min(most)

    def infeasible_value(self, n_chunks: int) -> float:
        """The score of an option without a graph, to a question of `n_chunks`: 1 below what any graph is worth.

        A graph needs no more edges than active chunks of the question and one of the option, each in a sentence of
        its own at worst, and none weighs less than minus the offset.

        Examples
        --------
        >>> PUBLISHED.infeasible_value(5)
        -6.4
        """
        n_sentences = max(self.question_chunk_bounds(n_chunks)[0], 1) + 1
        if self.max_sentences is not None:
            n_sentences = min(n_sentences, self.max_sentences)
        return self.sentence_weight * n_sentences - self.offset - 1 + min(self.long_option_weight, 0.0)


PUBLISHED = Constants()


class Edges(NamedTuple):
    """Alignments of one side, the question's or the option's, with the passage.

    Parameters
    ----------
    ends : ndarray of int64, shape (n_edges,)
        The chunk of the question or the option.
    chunks : ndarray of int64, shape (n_edges,)
        The chunk of the passage.
    weights : ndarray of float64, shape (n_edges,)
    """

    ends: NDArray[np.int64]
    chunks: NDArray[np.int64]
    weights: NDArray[np.float64]

    def only(self, kept: NDArray[np.bool_]) -> Edges:
        """Those for which `kept` is true."""
        return Edges(self.ends[kept], self.chunks[kept], self.weights[kept])

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.ends)


class Program(NamedTuple):
    """One option's program.

    Parameters
    ----------
    question, option : Edges
        The possible alignments of the question's chunks and of the option's.
    sentences : ndarray of int64, shape (n_passage_chunks,)
        The sentence of each of the passage's chunks.
    copies : ndarray of int64, shape (n_passage_chunks,)
        Equal numbers for chunks of equal words.
    n_question_chunks : int
        Those that have no edge included.
    required : tuple of int
        The question's chunks that must be active: what "without" stands before.
    bonus : float
        Part of every objective.
    """

    question: Edges
    option: Edges
    sentences: NDArray[np.int64]
    copies: NDArray[np.int64]
    n_question_chunks: int
    required: tuple[int, ...] = ()
    bonus: float = 0.0

    @property
    def question_sentences(self) -> NDArray[np.int64]:
        """The sentence of each of the question's edges."""
        return self.sentences[self.question.chunks]

    @property
    def option_sentences(self) -> NDArray[np.int64]:
        """The sentence of each of the option's edges."""
        return self.sentences[self.option.chunks]

    def within(self, sentences: NDArray[np.int64]) -> Program:
        """The same without the edges into other sentences."""
        return self._replace(
            question=self.question.only(np.isin(self.question_sentences, sentences)),
            option=self.option.only(np.isin(self.option_sentences, sentences)),
        )


class Graph(NamedTuple):
    """A support graph: the active edges, and what they are worth.

    Parameters
    ----------
    question, option : Edges
        The active ones.
    value : float
        The objective, rounded to nine decimals.
    """

    question: Edges
    option: Edges
    value: float

    @classmethod
    def of(cls, program: Program, question: Edges, option: Edges, constants: Constants) -> Graph:
        """The graph of these active edges of a program."""
        graph = cls(question, option, 0.0)
        return graph._replace(value=round(fsum(graph.terms(program, constants).values()), _DIGITS) + 0.0)

    def active_sentences(self, program: Program) -> list[int]:
        """The sentences that it uses."""
        return np.unique(program.sentences[np.concatenate([self.question.chunks, self.option.chunks])]).tolist()

    def terms(self, program: Program, constants: Constants) -> dict[str, float]:
        """What the objective is the sum of, by name."""
        return {
            "question_edges": fsum(self.question.weights.tolist()),
            "option_edges": fsum(self.option.weights.tolist()),
            "question_chunks": constants.question_weight * len(np.unique(self.question.ends)),
            "sentences": constants.sentence_weight * len(self.active_sentences(program)),
            "long_option": program.bonus,
        }


def positive_edges(weights: NDArray[np.float64]) -> Edges:
    """The edges of positive weight in a matrix, one row an end and one column a passage chunk."""
    ends, chunks = np.nonzero(weights > _NOISE)
    return Edges(ends, chunks, weights[ends, chunks])


def option_edges(
    weights: NDArray[np.float64],
    sentences: NDArray[np.int64],
    copies: NDArray[np.int64],
    constants: Constants,
) -> Edges:
    """Those of an option's edges that an optimal graph may need.

    Edges of any weight are allowed here (released code), but one that is not positive serves to align an option
    that nothing else aligns, and for that one is enough: of each sentence the best will do. A chunk of which not
    all copies may be active can be barred, though, so that its edge is kept besides, where it is better.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_option_chunks, n_passage_chunks)
    sentences, copies : as in :class:`Program`
    constants : Constants
    """
    wanted = positive_edges(weights)
    if not constants.align_option or not weights.size:
        return wanted
    best, ends = weights.max(axis=0), weights.argmax(axis=0)  # an end has no limit of its own
    limited = _limited(copies, constants)
    floors = np.full(int(sentences.max()) + 1, -np.inf)
    np.maximum.at(floors, sentences[~limited], best[~limited])
    free = np.flatnonzero(~limited & (best == floors[sentences]))
    one = free[np.unique(sentences[free], return_index=True)[1]]
    spare = np.concatenate([one, np.flatnonzero(limited & (best > floors[sentences]))])
    kept = np.sort(spare[best[spare] <= _NOISE])
    return Edges(
        np.concatenate([wanted.ends, ends[kept]]),
        np.concatenate([wanted.chunks, kept]),
        np.concatenate([wanted.weights, best[kept]]),
    )


def _limited(copies: NDArray[np.int64], constants: Constants) -> NDArray[np.bool_]:
    """Which of the passage's chunks have more copies than may be active."""
    if constants.max_copies is None:
        return np.zeros(len(copies), dtype=np.bool_)
    return np.bincount(copies)[copies] > constants.max_copies
