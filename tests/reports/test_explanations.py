"""Explanations as text, in colours and as HTML: difficult marks and passages, and every
registered solver.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest

from classic_rc.commands.explain.page import explanation_html
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.explanations import (
    explanation_text,
    mark_passage,
    passage_extract,
    split_at_marks,
)
from classic_rc.reports.verdict import parts_sum_to_score
from classic_rc.solvers import SOLVERS, Solver, parse_solver, save_solver
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.testing import synthetic_dataset
from classic_rc.text.spans import SpanGenerator
from tests.reports.formulas import assert_formulas_add_up

SYMBOLS = {
    "window": ("[", "]"),
    "question": ("<", ">"),
    "candidate": ("*", "*"),
    "pair": ("{", "}"),
}


def marked(text: str, *marks: tuple[int, int, str]) -> str:
    return mark_passage(text, tuple(Mark(*mark) for mark in marks), SYMBOLS)


@pytest.mark.parametrize(
    ("marks", "marked_text"),
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
def test_marks_enclose_what_they_mark(marks, marked_text):
    assert marked("one two three", *marks) == marked_text


def test_an_empty_passage_has_nothing_to_mark():
    assert marked("") == ""


def test_escapes_do_not_move_the_marks():
    assert marked("a\x1bb c", (0, 3, "window"), (4, 5, "question")) == r"[a\x1bb] <c>"


OPTIONS = ("the garden", "a hole\nin the fence", "\x1b[31mred")
PASSAGE = Passage("p", "Nora went to the garden.\n\nShe found \x1b[31ma hole.")
QUESTION = Question(
    "q1", PASSAGE, "Where?", tuple(map(Candidate, OPTIONS)), frozenset({0}), Task.SINGLE_CHOICE
)
MARKS = (Mark(5, 23, "window"), Mark(13, 16, "question"), Mark(17, 23, "candidate"))
NUMBERS = {"sliding_window": 2.5, "distance": 0.125}
CANDIDATES = (
    CandidateExplanation(OPTIONS[0], -1.0, False),
    CandidateExplanation(OPTIONS[1], 2.5, True, MARKS, NUMBERS),
    CandidateExplanation(OPTIONS[2], 0.0, True),
)
EXPLANATION = Explanation("sw+d", QUESTION, CANDIDATES)


def test_the_best_candidate_has_the_marked_passage_and_the_others_a_line():
    assert explanation_text(EXPLANATION) == (
        "q1: Where?\n"
        "solver: sw+d\n"
        "marked: [[the best window]], _question word_, *candidate word*\n"
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
    candidates = [CandidateExplanation(f"option {i}", float(i), True) for i in range(50)]
    text = explanation_text(Explanation("s", question, tuple(candidates)))
    assert text.count("|  score ") == 20
    assert "(49) option 49  |  score 49.00000  |  RIGHT" in text
    assert "(30) option 30" in text
    assert "option 29 " not in text
    assert text.endswith("\nand 30 candidates with lower scores\n")


@pytest.mark.parametrize(
    ("task", "gold"), [(Task.CLOZE, ("Bob",)), (Task.SPAN, ("Bob",)), (Task.CLOZE, None)]
)
def test_texts_are_right_by_their_text(task, gold):
    question = Question("q", PASSAGE, "?", (Candidate("Ann"), Candidate("Bob")), gold, task)
    candidates = (CandidateExplanation("Ann", 1.0, True), CandidateExplanation("Bob", 0.0, True))
    lines = explanation_text(Explanation("s", question, candidates)).splitlines()
    assert [line for line in lines if line.endswith("RIGHT")] == (
        ["(B) Bob  |  score 0.00000  |  RIGHT"] if gold else []
    )


def test_a_question_without_candidates_or_passage_has_two_lines():
    question = Question("q", Passage("p", ""), "", (), frozenset(), Task.SINGLE_CHOICE)
    assert explanation_text(Explanation("s", question, ())) == "q: \nsolver: s\n"


OF_MEMBERS = frozenset(Task)
"""What solvers are for whose tasks are those of their members; these here are for all."""
CASES = []
for name, solver in SOLVERS.items():
    tasks = solver.tasks if isinstance(solver.tasks, frozenset) else OF_MEMBERS
    CASES += [(name, task) for task in sorted(tasks)]
CODES = re.compile(r"\x1b\[[\d;]*m")


@cache
def questions(task: Task) -> Dataset:
    dataset = synthetic_dataset(task, n_passages=6)
    if not task.has_spans:
        return dataset
    spans = {id(p): SpanGenerator(max_tokens=3)(p) for p in dataset.passages}
    with_spans = [replace(q, candidates=spans[id(q.passage)]) for q in dataset]
    return replace(dataset, questions=with_spans)


@cache
def fitted_once(name: str, task: Task) -> Solver:
    return SOLVERS[name]().fit(questions(task))


def fitted(name: str, dataset: Dataset, folder) -> Solver:
    """The solver, ready; those that need a file or members are given them."""
    if name == "score-file":
        lines = []
        for question in dataset:
            for i in range(len(question.candidates)):
                row = {"question_id": question.id, "candidate": i, "score": float(i)}
                lines.append(json.dumps(row) + "\n")
        (folder / "scores.jsonl").write_text("".join(lines), encoding="utf-8")
        solver = parse_solver(f"score-file,path={folder / 'scores.jsonl'}")
    elif name == "saved":
        member = "span-ranker" if dataset[0].task.has_spans else "surface-lr"
        save_solver(fitted(member, dataset, folder), folder / "solver.npz")
        solver = parse_solver(f"saved,path={folder / 'solver.npz'}")
    elif name == "combination":
        solver = parse_solver("combination,solvers=[sw+d; longest],weights=[1; 0.5]")
    else:
        return fitted_once(name, dataset[0].task)
    return solver.fit(dataset)


def hard_questions(dataset: Dataset, name: str) -> Iterator[Question]:
    """Yield an ordinary question, one with an empty passage, one with a tie, and one that shares
    no word.
    """
    yield dataset[9]
    yield dataset[3]
    # a file has no scores of other questions
    if dataset[9].task is Task.SINGLE_CHOICE and name != "score-file":
        first, *others = dataset[9].candidates
        yield replace(dataset[9], candidates=(first, first, *others), gold=frozenset({0}))
        options = (Candidate("plugh"), Candidate(""))
        yield replace(dataset[9], text="Xyzzy?", candidates=options, gold=frozenset({1}))


class Texts(HTMLParser):
    """What a reader sees of a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.body, self._inside = "", False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self._inside = self._inside or tag == "body"

    def handle_data(self, data):
        self.body += data if self._inside else ""


@pytest.mark.parametrize(("name", "task"), CASES)
def test_every_solver_explains_every_task_in_every_form(name, task, tmp_path):
    dataset = questions(task)
    solver = fitted(name, dataset, tmp_path)
    for question in hard_questions(dataset, name):
        explanation = solver.explain(question)
        assert_formulas_add_up(explanation)
        scores: Scores = solver.score_candidates([question])
        document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
        assert [c["score"] for c in document["candidates"]] == scores[0].tolist()
        assert [c["text"] for c in document["candidates"]] == [c.text for c in question.candidates]
        length = len(question.passage.text)
        marks = [mark for candidate in explanation.candidates for mark in candidate.marks]
        assert all(0 <= mark.start < mark.end <= length for mark in marks)
        plain = explanation_text(explanation)
        assert "\x1b" not in plain
        n_shown = min(len(question.candidates), 20)
        assert plain.count("|  score ") == n_shown
        if question is dataset[9]:
            coloured = explanation_text(explanation, colour=True)
            assert CODES.sub("", coloured).count("|  score ") == n_shown
        page = explanation_html(explanation)
        body = Texts(page).body
        assert page.count('<input type="radio"') >= n_shown
        assert question.text in body
        assert body.count(question.passage.text) == 1 or not question.passage.text
        for candidate in explanation.candidates[:1] if n_shown == len(question.candidates) else ():
            assert candidate.text in body


@pytest.mark.parametrize(
    "name", ["ir", "lexical", "surface-lr", "span-ranker", "alignment-ilp", "ngram-lm"]
)
def test_terms_of_these_are_shares_of_the_score(name, tmp_path):
    task = Task.SPAN if name == "span-ranker" else Task.SINGLE_CHOICE
    dataset = questions(task)
    solver = fitted(name, dataset, tmp_path)
    candidates = []
    for question in dataset[::3]:
        candidates += solver.explain(question).candidates
    with_terms = [candidate for candidate in candidates if candidate.numbers and candidate.evidence]
    assert with_terms
    assert all(map(parts_sum_to_score, with_terms))
    assert 'class="bar"' in explanation_html(solver.explain(dataset[9])) or task.has_spans


EMOJI = Passage("p", "one \N{GRINNING FACE} two <three>")


def test_marks_of_several_candidates_may_nest_and_cross():
    first = [Mark(0, 9, "window"), Mark(6, 9, "question", 0.5), Mark(10, 17, "unheard-of")]
    second = [Mark(6, 17, "sentence")]
    one, two, three = split_at_marks(EMOJI.text, {0: first, 3: second})
    assert one == ("one \N{GRINNING FACE} ", [(0, "begins window")])
    assert two == ("two", [(0, "ends question window"), (3, "begins sentence")])
    assert three == (" <three>", [(3, "ends sentence")])


def test_hostile_texts_are_shown_and_do_nothing():
    evil = "</section><script>alert(1)</script> \" onload='x' \u202e \x00"
    question = Question(evil, EMOJI, evil, (Candidate(evil),), frozenset({0}), Task.SINGLE_CHOICE)
    candidate = CandidateExplanation(
        evil, float("-inf"), False, (Mark(0, 3, "window"),), {evil: 1.0}, evil, evil
    )
    html = explanation_html(Explanation("s", question, (candidate,)))
    assert "<script" not in html
    assert "−∞" in html
    assert Texts(html).body.count("<script>alert(1)</script> \" onload='x' \\u202e \\x00") == 8


def test_lines_end_and_begin_in_colour():
    text = " ".join(["word"] * 60)
    question = Question("q", Passage("p", text), "?", (Candidate("a"),), None, Task.SINGLE_CHOICE)
    marks = (Mark(0, len(text), "window"), Mark(5, 9, "question"))
    candidates = (CandidateExplanation("a", 1.0, True, marks),)
    coloured = explanation_text(Explanation("s", question, candidates), colour=True)
    lines = coloured.splitlines()[-4:]
    assert all(line.startswith("    \x1b[100m") and line.endswith("\x1b[49m") for line in lines)
    widths = [len(CODES.sub("", line)) for line in lines]
    assert max(widths) <= 96
    assert min(widths[:-1]) > 90


STORY = Passage("p", "One came. Two came. Three came. Four came. Five came.\n")


def found_at(*starts: int) -> Explanation:
    """An explanation whose best candidate has marks that start there."""
    question = Question("q", STORY, "?", [Candidate("a"), Candidate("b")], None, Task.SINGLE_CHOICE)
    marks = tuple(Mark(start, start + 3, "window") for start in starts)
    candidates = CandidateExplanation("a", 1.0, True), CandidateExplanation("b", 2.0, True, marks)
    return Explanation("made", question, candidates)


@pytest.mark.parametrize(
    ("explanations", "max_characters", "extract"),
    [
        ([], 100, "One came. Two came. Three came. Four came. Five came."),
        ([], 20, "One came. Two came. …"),
        ([found_at()], 20, "One came. Two came. …"),
        ([found_at(32)], 25, "… Three came. Four came. …"),
        ([found_at(), found_at(45)], 40, "… Four came. Five came."),
        ([found_at(20), found_at(45)], 24, "… Two came. Three came. …"),
        ([], 5, "One c …"),
    ],
)
def test_an_extract_has_whole_sentences_around_the_evidence(explanations, max_characters, extract):
    assert passage_extract(STORY, *explanations, max_characters=max_characters) == extract


def test_an_extract_of_one_long_sentence_has_its_evidence():
    passage = Passage("p", "word " * 200 + "fox " + "word " * 200)
    extract = passage_extract(passage, found_at(1000), max_characters=60)
    assert extract.startswith("… ")
    assert extract.endswith(" …")
    assert "fox" in extract
    assert len(extract) <= 64
    assert passage_extract(Passage("p", "")) == ""
