"""The best support graph of an option, by trying all, in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple


class Edge(NamedTuple):
    """An alignment of a chunk of the question or of the option with a chunk of the passage."""

    end: int  # the chunk of the question or of the option
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
    """What the best set of edges is worth among those that keep all limits.

    Khashabi et al. 2018 (AAAI), Question Answering as Global Reasoning over Semantic Abstractions; the constants
    are those of the released TextILPSolver. A set of n edges has 2**n subsets: only small programs end.

    Parameters
    ----------
    question, option : sequence of Edge
        The edges that a graph may have.
    sentence_of : sequence of int
        The sentence of each of the passage's chunks.
    words_of : sequence
        Equal for those of the passage's chunks that have equal words.
    question_chunks : (int, int)
        How few and how many of the question's chunks are active, that is, have an edge in the graph.
    required : collection of int
        The question's chunks that must be active.
    max_sentences, max_edges, max_copies : int, optional
        At most so many active sentences, edges to one sentence, and active chunks of equal words; None is no limit.
    align_option : bool
        Whether the option must have an edge.
    question_weight, sentence_weight : float
        What an active chunk of the question and an active sentence add.
    bonus : float
        What every graph has.

    Returns
    -------
    float or None
        None where no set of edges keeps all limits.

    Examples
    --------
    >>> question, option = [Edge(0, 0, 0.6), Edge(1, 2, 0.5)], [Edge(0, 1, 0.6)]
    >>> round(best_support_graph(question, option, sentence_of=[0, 0, 1], words_of="abc"), 2)
    -0.97
    """
    least, most = question_chunks
    values = []
    for kept in itertools.product((False, True), repeat=len(question) + len(option)):
        edges = list(itertools.compress([*question, *option], kept))
        n_asked = sum(kept[: len(question)])
        ends = {edge.end for edge in edges[:n_asked]}
        chunks = {edge.chunk for edge in edges}
        sentences = {sentence_of[chunk] for chunk in chunks}
        legal = (
            least <= len(ends) <= most
            and ends.issuperset(required)
            and (not align_option or len(edges) > n_asked)
            and not _more(len(sentences), max_sentences)
            and not any(_more(sum(sentence_of[e.chunk] == s for e in edges), max_edges) for s in sentences)
            and not any(_more(sum(words_of[j] == words for j in chunks), max_copies) for words in set(words_of))
        )
        if legal:
            worth = sum(edge.weight for edge in edges) + bonus
            values.append(worth + question_weight * len(ends) + sentence_weight * len(sentences))
    return max(values, default=None)


def _more(n: int, limit: int | None) -> bool:
    return limit is not None and n > limit
