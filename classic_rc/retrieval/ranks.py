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
    by_text = {q.passage.text: q.passage for q in questions}
    distinct = by_text.values()
    number = {text: i for i, text in enumerate(by_text)}
    sizes = [chunk.counts for chunk in split_passages(distinct)]
    of_sentence = np.repeat(np.arange(len(distinct)), np.concatenate(sizes))
    passage_of_question = np.array([number[q.passage.text] for q in questions], dtype=np.int64)
    ranks = np.zeros(len(questions), dtype=np.int64)
    unranked, n_hits = np.arange(len(questions)), 10 * depth
    while len(unranked) and corpus.engine.n_sentences:
        hits = corpus.engine.top([questions[i].query for i in unranked.tolist()], n_hits)
        unsure = []
        for place, (sentences, _) in zip(unranked.tolist(), hits, strict=True):
            passages, first = np.unique(of_sentence[sentences], return_index=True)
            leading = passages[np.argsort(first)][:depth]
            own_places = np.flatnonzero(leading == passage_of_question[place])
            if len(own_places):
                ranks[place] = own_places[0] + 1
            elif len(leading) < depth and len(sentences) == n_hits:
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
    has_text = [bool(question.passage.text.strip()) for question in questions]
    has_passage = np.array(has_text, dtype=np.bool_)
    ranks = passage_ranks(questions, get_engine(DEFAULT_ENGINE), depth=depths[-1])
    places = np.where(ranks == 0, len(depths), np.searchsorted(depths, ranks))
    ranks_of_passages = ranks[has_passage]
    retrieved = ranks_of_passages[ranks_of_passages > 0]
    n_passages = len(ranks_of_passages)
    n_by_depth = [(depth, np.sum(retrieved <= depth)) for depth in depths]
    recall = ", ".join(f"{100 * n / n_passages:.2f} at {depth}" for depth, n in n_by_depth)
    reciprocal_rank = np.sum(1 / retrieved) / n_passages
    note = (
        f"BM25 of the question alone, {n_passages:,} questions: recall of the own passage "
        f"{recall}; mean reciprocal rank {reciprocal_rank:.4f}"
    )
    has_passages = has_passage.tolist()
    groups = [names[i] if has else None for i, has in zip(places, has_passages, strict=True)]
    return groups, note
