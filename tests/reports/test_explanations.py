"""Explanations as text: marks that nest, touch or repeat, and awkward passages."""

from __future__ import annotations

import pytest

from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text, marked_passage
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark

SYMBOLS = {"window": ("[", "]"), "question": ("<", ">"), "candidate": ("*", "*"), "pair": ("{", "}")}


def marked(text: str, *marks: tuple[int, int, str]) -> str:
    return marked_passage(text, tuple(Mark(*mark) for mark in marks), SYMBOLS)


@pytest.mark.parametrize(
    ("marks", "shown"),
    [
        ([], "one two three"),
        ([(4, 7, "window")], "one [two] three"),
        ([(0, 13, "window")], "[one two three]"),
        ([(0, 7, "window"), (4, 7, "question")], "[one <two>] three"),
        ([(4, 7, "question"), (0, 7, "window")], "[one <two>] three"),
        ([(0, 7, "window"), (0, 3, "question")], "[<one> two] three"),
        ([(0, 3, "question"), (4, 7, "candidate")], "<one> *two* three"),
        ([(0, 4, "question"), (4, 7, "candidate")], "<one >*two* three"),
        ([(4, 7, "question"), (4, 7, "pair")], "one <{two}> three"),
        ([(8, 13, "candidate"), (8, 13, "pair"), (4, 13, "window")], "one [two *{three}*]"),
    ],
)
def test_marks_enclose_what_they_mark(marks, shown):
    assert marked("one two three", *marks) == shown


def test_an_empty_passage_has_nothing_to_mark():
    assert marked("") == ""


def test_escapes_do_not_move_the_marks():
    assert marked("a\x1bb c", (0, 3, "window"), (4, 5, "question")) == r"[a\x1bb] <c>"


OPTIONS = ("the garden", "a hole\nin the fence", "\x1b[31mred")
PASSAGE = Passage("p", "Nora went to the garden.\n\nShe found \x1b[31ma hole.")
QUESTION = Question("q1", PASSAGE, "Where?", tuple(map(Candidate, OPTIONS)), frozenset({0}), Task.SINGLE_CHOICE)
EXPLANATION = Explanation(
    "sw+d",
    QUESTION,
    (
        CandidateExplanation(OPTIONS[0], -1.0, False),
        CandidateExplanation(
            OPTIONS[1],
            2.5,
            True,
            (Mark(5, 23, "window"), Mark(13, 16, "question"), Mark(17, 23, "candidate")),
            {"sliding_window": 2.5, "distance": 0.125},
        ),
        CandidateExplanation(OPTIONS[2], 0.0, True),
    ),
)


def test_text():
    assert explanation_text(EXPLANATION) == (
        "q1: Where?\n"
        "solver: sw+d\n"
        "marked: [[the best window]], _question word_, *candidate's word*\n"
        "\n"
        "(B) a hole\\nin the fence  |  score 2.50000  |  sliding window 2.50000, distance 0.12500\n"
        "    Nora [[went to _the_ *garden*]].\n"
        "    She found \\x1b[31ma hole.\n"
        "\n"
        "(C) \\x1b[31mred  |  score 0.00000\n"
        "\n"
        "(A) the garden  |  score -1.00000  |  no evidence  |  RIGHT\n"
    )


def test_colours_are_closed_again():
    text = explanation_text(EXPLANATION, colour=True)
    assert "\x1b[36mthe\x1b[39m \x1b[33mgarden\x1b[39m\x1b[49m." in text
    assert "[[" not in text
    assert r"\x1b[31mred" in text


def test_many_candidates_are_cut_to_the_best():
    options = tuple(Candidate(f"option {i}") for i in range(50))
    question = Question("q", PASSAGE, "?", options, frozenset({49}), Task.MULTIPLE_ANSWER)
    candidates = tuple(CandidateExplanation(c.text, float(i), True) for i, c in enumerate(options))
    text = explanation_text(Explanation("s", question, candidates))
    assert text.count("|  score ") == 20
    assert "(49) option 49  |  score 49.00000  |  RIGHT" in text
    assert "(30) option 30" in text
    assert "option 29 " not in text
    assert text.endswith("\nand 30 candidates with lower scores\n")


@pytest.mark.parametrize(("task", "gold"), [(Task.CLOZE, ("Bob",)), (Task.SPAN, ("Bob",)), (Task.CLOZE, None)])
def test_texts_are_right_by_their_text(task, gold):
    question = Question("q", PASSAGE, "?", (Candidate("Ann"), Candidate("Bob")), gold, task)
    candidates = (CandidateExplanation("Ann", 1.0, True), CandidateExplanation("Bob", 0.0, True))
    lines = explanation_text(Explanation("s", question, candidates)).splitlines()
    assert [line for line in lines if line.endswith("RIGHT")] == (
        ["(B) Bob  |  score 0.00000  |  RIGHT"] if gold else []
    )


def test_a_question_without_candidates_or_passage():
    question = Question("q", Passage("p", ""), "", (), frozenset(), Task.SINGLE_CHOICE)
    assert explanation_text(Explanation("s", question, ())) == "q: \nsolver: s\n"
