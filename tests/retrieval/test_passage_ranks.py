"""Where a search for a question finds its own passage: against sorting all sentences by their
scores.
"""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.errors import DataError
from classic_rc.questions import Dataset, Passage, Question, Task, TextCandidates
from classic_rc.results.grouping import group_questions
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.ranks import passage_ranks
from classic_rc.retrieval.registry import get_engine
from classic_rc.testing import synthetic_dataset


@pytest.mark.parametrize("depth", [1, 2, 5, 100])
def test_ranks_are_those_of_the_sorted_sentences(depth):
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=15, seed=3)
    corpus = passage_corpus((q.passage for q in dataset), get_engine("sparse"))
    expected = []
    for question in dataset:
        ranked_passages: list[str] = []
        for number in corpus.engine.top(
            [question.query], corpus.engine.n_sentences
        ).sentences.tolist():
            if (source := corpus.source(number)) not in ranked_passages:
                ranked_passages.append(source)
        passage_name = f"passage {question.passage.id}"
        expected.append(
            ranked_passages.index(passage_name) + 1
            if passage_name in ranked_passages[:depth]
            else 0
        )
    ranks = passage_ranks(list(dataset), get_engine("sparse"), depth=depth)
    assert ranks.tolist() == expected
    assert np.count_nonzero(ranks) > 0


def test_passages_with_many_sentences_do_not_hide_others():
    long = Passage("long", "The mill stood there. " * 3000)
    short = Passage(
        "short", "The mill stood there for a hundred years or so, as people of the valley say."
    )
    options, gold = TextCandidates(["a", "b"]), frozenset({0})
    questions = [
        Question("q0", long, "mill", options, gold, Task.SINGLE_CHOICE),
        Question("q1", short, "mill", options, gold, Task.SINGLE_CHOICE),
    ]
    assert passage_ranks(questions, get_engine("sparse"), depth=2).tolist() == [1, 2]


def test_the_key_has_recall_and_leaves_data_without_passages_out():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=8)
    grouping = group_questions(dataset, "found")
    has_passage = [bool(q.passage.text) for q in dataset]
    assert grouping.covered.tolist() == has_passage
    first = 100 * grouping.masks["first"].sum() / sum(has_passage)
    assert f"recall of the own passage {first:.2f} at 1, " in grouping.coverage


def test_data_without_any_passage_have_no_passage_to_find():
    questions = [
        Question(
            "q",
            Passage("p", " "),
            "Which mill?",
            TextCandidates(["a", "b"]),
            frozenset({0}),
            Task.SINGLE_CHOICE,
        )
    ]
    with pytest.raises(DataError):
        group_questions(Dataset(questions, "none"), "found")
