"""The rank_bm25 engine, where its formula or a collection without terms makes it differ from the
others.
"""

from __future__ import annotations

from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.engines.rank_bm25 import RankBM25
from classic_rc.solvers.ir import IRSolver
from tests.reports.formulas import assert_formulas_add_up


def test_scores_follow_from_the_counts_also_with_the_mean_idf():
    solver = IRSolver(
        corpus=[
            passage_corpus([Passage("p", "Foxes eat grapes. Foxes eat hens. Foxes.")], RankBM25())
        ]
    )
    candidates = Candidate("grapes"), Candidate("hens hens")
    question = Question(
        "q", Passage("p", "x."), "What do foxes eat?", candidates, None, Task.SINGLE_CHOICE
    )
    explanation = solver.fit([question]).explain(question)
    assert_formulas_add_up(explanation)
    text = explanation_text(explanation)
    assert "mean idf of all terms" in text
    assert "2  times in the query" in text


def test_a_negative_score_is_not_hidden_by_a_corpus_without_such_a_sentence():
    texts = "Foxes eat grapes. Foxes eat grapes. Foxes eat hens.", "It rains."
    corpora = [passage_corpus([Passage("p", text)], RankBM25()) for text in texts]
    candidates = Candidate("grapes"), Candidate("snow")
    question = Question(
        "q", Passage("p", "x."), "What do foxes eat?", candidates, None, Task.SINGLE_CHOICE
    )
    first = IRSolver(corpus=corpora[:1]).fit([question]).score_candidates([question])
    both = IRSolver(corpus=corpora).fit([question]).score_candidates([question])
    assert first.values[0] < 0
    assert first.values[1] == 0
    assert both.values.tolist() == first.values.tolist()
    assert both.evidence.tolist() == [True, False]
