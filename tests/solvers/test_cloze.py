from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.errors import NotFittedError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.solvers import ClozeDistance, ClozeWindow, load_solver, parse_solver, save_solver
from classic_rc.testing import synthetic_dataset
from tests.depth import examples
from tests.errors import raises
from tests.solvers.builders import score_lists

PASSAGE = Passage("p", "Old Ann Lee met Bob in Rome. Bob left; Ann stayed.")
#                       0   1   2   3   4   5  6     7   8     9   10


def ask(text, *options, passage=PASSAGE, id="q"):
    return Question(id, passage, text, tuple(map(Candidate, options)), None, Task.CLOZE)


def test_words_are_expected_around_the_mention():
    question = ask("In May old @placeholder met Bob", "Ann Lee", "Ann", "Bob", "Rome", "Eve")
    solver = ClozeDistance(max_distance=3)
    # "may" is not in the passage and "in" not near; around "Ann Lee" all other words are in place,
    # around the first "Ann" the words after it are one position off.
    scores = solver.score_candidates([question])
    assert scores.values.tolist()[:2] == [-6, -8]
    assert scores.values[4] == -15
    assert scores.evidence.tolist() == [True, True, True, True, False]


def test_mentions_with_one_text_share_their_best_score():
    question = ask("@placeholder stayed", "Bob", "Ann", "Ann", "Bob")
    assert score_lists(ClozeDistance(), question) == [[-2, 0, 0, -2]]
    assert ClozeDistance().predict([question])[0].answers == (("Ann",),)


def test_a_mention_of_several_words_is_met_at_both_ends():
    assert score_lists(ClozeDistance(), ask("old @placeholder met", "Ann Lee")) == [[0]]


def test_variants_set_the_largest_distance():
    assert parse_solver("cloze-distance:hermann2015").max_distance == 8
    assert parse_solver("cloze-distance:hill2015").max_distance == 5


def test_the_window_matches_token_on_token():
    question = ask("@placeholder left Ann", "Bob", "Ann", "Eve")
    once, twice = np.log(2), np.log(1.5)  # the weights of words that occur once, or twice
    three, two = twice + once + twice, once + twice
    (row,) = score_lists(ClozeWindow(), question)
    # Bob left Ann: three words; Ann left Ann, or Eve left Ann: the two that follow
    assert row == pytest.approx([three, two, two])


def test_order_counts_in_the_window_and_not_in_the_sliding_window():
    here, there = ask("@placeholder met Bob", "Ann Lee"), ask("Bob met @placeholder", "Ann Lee")
    window, bag = ClozeWindow(), parse_solver("sliding-window")
    assert score_lists(window, here)[0][0] > score_lists(window, there)[0][0]
    assert score_lists(bag, here) == score_lists(bag, there)


def test_idf_counts_passages(tmp_path):
    second_passage = ask(
        "@placeholder left", "Eve", passage=Passage("p2", "Bob and Bob left."), id="r"
    )
    question = ask("@placeholder left Ann", "Bob")
    solver = parse_solver("cloze-window:hill2015")
    with raises(NotFittedError, field="weights", found="'idf'"):
        solver.score_candidates([question])
    solver.fit([question, second_passage])
    assert (solver.n_passages_, solver.passage_counts_["bob"], solver.passage_counts_["ann"]) == (
        2,
        2,
        1,
    )
    expected = [[2 * np.log(2) + np.log(3)]]
    assert score_lists(solver, question) == pytest.approx(np.array(expected))
    save_solver(solver, tmp_path / "saved.npz")
    assert score_lists(load_solver(tmp_path / "saved.npz"), question) == score_lists(
        solver, question
    )


SETTINGS = [
    ClozeDistance(),
    ClozeDistance(max_distance=3, analyzer="treebank"),
    ClozeWindow(),
    ClozeWindow(analyzer="treebank"),
    ClozeWindow(weights="idf"),
]


@settings(max_examples=examples(8, 30))
@given(solver=st.sampled_from(SETTINGS), seed=st.integers(0, 10**6))
def test_explanations_have_the_scores(solver, seed):
    """Explanations come from the plain-Python reference, scores from the kernels."""
    dataset = synthetic_dataset(Task.CLOZE, n_passages=3, seed=seed)
    solver.fit(dataset)
    for question in dataset:
        for candidate in solver.explain(question).candidates:
            is_distance = isinstance(solver, ClozeDistance)
            explained = (
                -candidate.numbers["distance"] if is_distance else candidate.numbers["window"]
            )
            assert explained == candidate.score
            assert candidate.evidence == (candidate.numbers.get("matched", 0) > 0)
            for mark in candidate.marks:
                assert 0 <= mark.start < mark.end <= len(question.passage.text)


def test_the_explanation_shows_the_mention_and_its_words():
    text = explanation_text(
        ClozeDistance().explain(ask("old @placeholder met Eve", "Ann Lee", "Eve"))
    )
    assert "_Old_ *Ann Lee* _met_ Bob" in text
    assert "distance = 0 + 0 + 8" in text
    assert "score = -3 * 8  # the passage does not mention the candidate" in text
    text = explanation_text(ClozeWindow().explain(ask("@placeholder left", "Bob")))
    assert "[[*Bob* _left_]]; Ann stayed" in text


def test_the_sample_runs():
    dataset = load("sample:cloze")
    for solver in (ClozeDistance(), ClozeWindow()):
        assert 0 <= solver.score(dataset) <= 1
