"""Lesson 14: the best support graph of an option, by trying all of them, in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple


class Edge(NamedTuple):
    """An alignment of a chunk of the question or the option with a chunk of the passage."""

    end: int  # the chunk of the question or the option
    chunk: int  # the chunk of the passage
    weight: float


def best_support_graph(
    question: Sequence[Edge],
    option: Sequence[Edge],
    sentence_of: Sequence[int],
    words_of: Sequence[Hashable],
    *,
    question_chunks: tuple[int, int] = (1, 3),
    required: Collection[int] = (),
    max_sentences: int | None = 2,
    max_edges: int | None = 8,
    max_copies: int | None = 3,
    align_option: bool = True,
    question_weight: float = 0.33,
    sentence_weight: float = -2.5,
    bonus: float = 0.0,
) -> float | None:
    """Return the weight of the best set of edges among those that satisfy all limits.

    Khashabi et al. 2018 (AAAI), Question Answering as Global Reasoning over Semantic Abstractions;
    the constants come from the released TextILPSolver. The solver finds the best graph with an
    integer linear program. This lesson tries all subsets of the edges: n edges have 2**n subsets,
    so only small problems finish.

    Parameters
    ----------
    question, option : sequence of Edge
        The edges that a graph may have.
    sentence_of : sequence of int
        The sentence of each chunk of the passage.
    words_of : sequence
        A value per chunk of the passage; chunks with equal words have equal values.
    question_chunks : (int, int)
        The least and the largest number of active chunks of the question. A chunk is active if it
        has an edge.
    required : collection of int
        The chunks of the question that must be active.
    max_sentences, max_edges, max_copies : int, optional
        The most active sentences, edges to one sentence, and active chunks with equal words; None
        means no limit.
    align_option : bool
        Whether the option must have an edge.
    question_weight, sentence_weight : float
        What each active chunk of the question and each active sentence adds.
    bonus : float
        What every graph gets.

    Returns
    -------
    float or None
        None if no set of edges satisfies all limits.

    Examples
    --------
    >>> question, option = [Edge(0, 0, 0.6), Edge(1, 2, 0.5)], [Edge(0, 1, 0.6)]
    >>> round(best_support_graph(question, option, sentence_of=[0, 0, 1], words_of="abc"), 2)
    -0.97
    """
    min_chunks, max_chunks = question_chunks
    values = []
    for selected in itertools.product((False, True), repeat=len(question) + len(option)):
        edges = list(itertools.compress([*question, *option], selected))
        n_question = sum(selected[: len(question)])
        ends = {edge.end for edge in edges[:n_question]}
        chunks = {edge.chunk for edge in edges}
        sentences = {sentence_of[chunk] for chunk in chunks}
        edges_of_sentence = Counter(sentence_of[edge.chunk] for edge in edges)
        chunks_of_words = Counter(words_of[chunk] for chunk in chunks)
        legal = (
            min_chunks <= len(ends) <= max_chunks
            and ends.issuperset(required)
            and (not align_option or len(edges) > n_question)
            and _is_within(len(sentences), max_sentences)
            and _is_within(max(edges_of_sentence.values(), default=0), max_edges)
            and _is_within(max(chunks_of_words.values(), default=0), max_copies)
        )
        if legal:
            total = sum(edge.weight for edge in edges) + bonus
            values.append(total + question_weight * len(ends) + sentence_weight * len(sentences))
    return max(values, default=None)


def _is_within(n: int, limit: int | None) -> bool:
    return limit is None or n <= limit
