"""Cues of candidates: their values, and the direction learned for each."""

from __future__ import annotations

import pytest

from classic_rc.errors import DataError, NotFittedError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers import Length, NegationWords, PositionPrior, VerbatimOverlap
from tests.errors import raises
from tests.solvers.builders import score_lists

PASSAGE = Passage("p", "The old red fox slept in the garden. It did not wake until nine.")


def ask(candidates, gold, task=Task.SINGLE_CHOICE, id_="q"):
    return Question(id_, PASSAGE, "Where?", tuple(map(Candidate, candidates)), gold, task)


def cue(solver, *candidates):
    return solver.cue([ask(candidates, frozenset({0}))])[0].tolist()


def test_a_length_counts_characters_or_words_without_outer_blanks():
    assert cue(Length(), "a fox", "", "  at nine") == [5, 0, 9]
    assert cue(Length(unit="words"), "a fox", "", "  at nine") == [2, 0, 2]


def test_negations_are_words_of_their_own():
    assert cue(NegationWords(), "not a knot", "It doesn't, no", "nothing wrong", "don’t", "") == [
        1,
        2,
        1,
        1,
        0,
    ]


def test_verbatim_overlap_counts_the_longest_run_of_words():
    assert cue(
        VerbatimOverlap(), "an old red fox", "fox red old", "slept, in the garden!", "a cat", ""
    ) == [
        3,
        1,
        4,
        0,
        0,
    ]


def test_evidence_is_the_passage():
    scores = VerbatimOverlap().cue([ask(["fox", "cat"], frozenset({0}))])
    assert scores.evidence.tolist() == [True, False]
    assert not Length().cue([ask(["fox", "cat"], frozenset({0}))]).evidence.any()


@pytest.mark.parametrize(("gold", "direction"), [({2}, 1), ({0}, -1)])
def test_the_direction_is_learned(gold, direction):
    solver = Length().fit([ask(["a", "bb", "cccc"], frozenset(gold))])
    assert solver.direction_ == direction
    scores = score_lists(solver, ask(["xyz", "x"], None))
    assert scores == [[3 * direction, direction]]


def test_a_long_question_does_not_outvote_its_options():
    """Every option of the first question is long; within each question the right one is the
    shorter.
    """
    long = [ask(["a" * 90, "b" * 91], frozenset({0}), Task.MULTIPLE_ANSWER, "q1")]
    short = [ask(["a", "bb", "ccc"], frozenset({0}), Task.MULTIPLE_ANSWER, "q2")]
    assert Length().fit([*long, *short]).direction_ == -1


def test_entities_that_gold_accepts_are_right_whatever_their_article():
    question = ask(["the Fox", "a"], ("Fox",), Task.CLOZE)
    assert Length().fit([question]).direction_ == 1


def test_a_position_scores_its_share_of_right_candidates():
    multiple_answer = Task.MULTIPLE_ANSWER
    train = [
        ask("abc", frozenset({0, 2}), multiple_answer, "q1"),
        ask("ab", frozenset({0}), multiple_answer, "q2"),
    ]
    solver = PositionPrior().fit(train)
    assert solver.shares_.tolist() == [1, 0, 1]
    assert solver.score_candidates([ask("abcd", None, multiple_answer)])[0].tolist() == [
        1,
        0,
        1,
        0.6,
    ]


@pytest.mark.parametrize("solver", [Length(), NegationWords(), VerbatimOverlap(), PositionPrior()])
def test_a_cue_is_learned_from_right_and_wrong_candidates(solver):
    question = ask(["a", "b"], frozenset({0}), Task.MULTIPLE_ANSWER)
    with raises(NotFittedError, field=solver.name) as caught:
        solver.score_candidates([question])
    assert all(advice in str(caught.value) for advice in ("fit(train)", "--train DATA", "--cv 5"))
    with raises(DataError, found="2 wrong candidates and no right ones", expected="both"):
        solver.fit([ask(["a", "b"], frozenset(), Task.MULTIPLE_ANSWER)])
