"""How far up a search for a question finds its own passage among all passages of a dataset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import Question
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.registry import DEFAULT_ENGINE, get_engine
from classic_rc.text.sentence_arrays import split_passages


def passage_ranks(
    questions: Sequence[Question], engine: Engine, *, depth: int = 100
) -> NDArray[np.int64]:
    """Rank each question's own passage among the passages of all questions: shape (n_questions,),
    from 1.

    A passage is as good as its best sentence; of equally good ones, the first in the data leads.
    The query is the question without its options. The rank is 0 if the passage is not among the
    first `depth`. `engine` is empty; this function fills it.
    """
    corpus = passage_corpus((q.passage for q in questions), engine)
    number = {text: i for i, text in enumerate(dict.fromkeys(q.passage.text for q in questions))}
    distinct = {q.passage.text: q.passage for q in questions}.values()
    sizes = [chunk.counts for chunk in split_passages(distinct)]
    of_sentence = np.repeat(np.arange(len(distinct)), np.concatenate(sizes))
    passage_of_question = np.array([number[q.passage.text] for q in questions], dtype=np.int64)
    ranks = np.zeros(len(questions), dtype=np.int64)
    unranked, n_hits = np.arange(len(questions)), 10 * depth
    while len(unranked) and corpus.engine.n_sentences:
        hits = corpus.engine.top([questions[i].query for i in unranked.tolist()], n_hits)
        unsure = []
        for place, start, stop in zip(
            unranked.tolist(), hits.offsets[:-1].tolist(), hits.offsets[1:].tolist(), strict=True
        ):
            passages, first = np.unique(of_sentence[hits.sentences[start:stop]], return_index=True)
            leading = passages[np.argsort(first)][:depth]
            ranks[place] = (
                int(np.flatnonzero(leading == passage_of_question[place])[0]) + 1
                if passage_of_question[place] in leading
                else 0
            )
            if not ranks[place] and len(leading) < depth and stop - start == n_hits:
                unsure.append(place)  # further sentences may be of further passages
        unranked, n_hits = np.array(unsure, dtype=np.int64), 10 * n_hits
    return ranks


def group_by_rank(
    questions: Sequence[Question], depths: Sequence[int], names: Sequence[str]
) -> tuple[list[str | None], str]:
    """Group questions by the first of `depths` in which BM25 finds their own passage.

    Parameters
    ----------
    questions : sequence of Question
    depths : sequence of int
        Numbers of results, ascending.
    names : sequence of str
        The name of the group of each depth, then that of passages that are not found.

    Returns
    -------
    groups : list of str or None
        One for each question; None if it has no passage.
    note : str
        Recall at each depth, and the mean reciprocal rank.
    """
    has_passage = np.array(
        [bool(question.passage.text.strip()) for question in questions], dtype=np.bool_
    )
    ranks = passage_ranks(questions, get_engine(DEFAULT_ENGINE), depth=depths[-1])
    places = np.where(ranks == 0, len(depths), np.searchsorted(depths, ranks))
    ranks_of_passages = ranks[has_passage]
    retrieved = ranks_of_passages[ranks_of_passages > 0]
    n_passages = len(ranks_of_passages)
    recall = ", ".join(
        f"{100 * np.sum(retrieved <= depth) / n_passages:.2f} at {depth}" for depth in depths
    )
    note = (
        f"BM25 of the question alone, {n_passages:,} questions: recall of the own passage "
        f"{recall}; mean reciprocal rank {np.sum(1 / retrieved) / n_passages:.4f}"
    )
    return [
        names[place] if has else None for place, has in zip(places, has_passage, strict=True)
    ], note
