"""Every kind of integrity finding is planted and found; a sound dataset has none."""

from __future__ import annotations

import pytest

import classic_rc
from classic_rc.commands.check.integrity import KINDS, Severity, find_defects
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

ONE, TWO = Passage("p1", "Nora planted beans."), Passage("p2", "Omar built a fence.")
TASK = Task.SINGLE_CHOICE


def ask(id_, text, candidates=("Nora", "Omar"), gold=frozenset({0}), passage=ONE, task=TASK):
    return Question(id_, passage, text, tuple(map(Candidate, candidates)), gold, task)


SOUND = [
    ask("q1", "Who planted beans?"),
    ask("q2", "What did she plant?", ("beans", "a fence")),
    ask("q3", "Who built?", ("Omar", "Nora", "Eve"), passage=TWO),
]


def names(*questions, train=None):
    return {
        f.kind.name: (f.count, f.examples)
        for f in find_defects(Dataset([*SOUND, *questions]), train)
    }


def test_a_sound_dataset_has_no_findings():
    assert names() == {}


PLANTED = [
    ("empty-passage", ask("q", "Who?", passage=Passage("p", " \n"))),
    ("empty-question", ask("q", "  ")),
    ("empty-option", ask("q", "Who?", ("Nora", " "))),
    ("one-option", ask("q", "Who?", ("Nora",))),
    ("equal-options", ask("q", "Who?", ("Nora", "Omar", "  omar. "))),
    ("option-both", ask("q", "Who?", ("Nora", "nora!"))),
    ("no-right-option", ask("q", "Who?", gold=frozenset())),
    ("several-right", ask("q", "Who?", ("Nora", "Omar", "Eve"), frozenset({0, 2}))),
    ("all-right", ask("q", "Who?", gold=frozenset({0, 1}))),
    ("gold-hidden", ask("q", "Who?", gold=None)),
    ("question-repeated", ask("q", "who  planted BEANS?", ("Nora", "Eve"))),
    ("question-reused", ask("q", "Who planted beans?", ("omar", "Nora."), frozenset({1}), TWO)),
]


@pytest.mark.parametrize(("kind", "question"), PLANTED, ids=[kind for kind, _ in PLANTED])
def test_a_question_with_one_defect_has_that_finding_alone(kind, question):
    assert names(question) == {kind: (1, ("q",))}


def test_a_row_of_shifted_cells_is_found_where_options_are_no_numbers():
    shifted = ask("Nora planted beans.", "Nora", ("Omar", "Eve", "0"), gold=None)
    assert names(shifted)["shifted-cells"] == (1, ("Nora planted beans.",))
    numbers = [ask(f"n{i}", f"How many {i}?", (str(i), str(i + 1))) for i in range(3)]
    assert "shifted-cells" not in names(*numbers, shifted)


def test_a_passage_has_the_place_of_its_first_question(tmp_path):
    path = tmp_path / "a.csv"
    cells = ["Once there was an owl.", "Once there was a hen.", "once there was an owl"]
    rows = [f"{text},Who {i}?,Ann,Eve,0" for i, text in enumerate(cells)]
    path.write_text("\n".join(["passage,question,candidate_0,candidate_1,gold", *rows]), "utf-8")
    places = {f.kind.name: f.places for f in find_defects(classic_rc.load(path, skip="bad"))}
    assert places["passage-repeated"] == (f"{path}, line 4, passage passage-3",)


def test_a_question_repeated_with_other_gold_has_two_findings():
    options = "Omar", "Nora"
    assert names(ask("q", "Who planted beans?", options)) == {
        "gold-differs": (1, ("q",)),
        "question-repeated": (1, ("q",)),
    }
    agreeing = ask("q", "Who planted beans?", options, frozenset({1}))
    assert names(agreeing).keys() == {"question-repeated"}


def test_where_several_may_be_right_none_and_all_are_legal():
    task = Task.MULTIPLE_ANSWER
    none_right = ask("q1", "A?", gold=frozenset(), task=task)
    all_right = ask("q2", "B?", gold=frozenset({0, 1}), task=task)
    defects = find_defects(Dataset([none_right, all_right]))
    assert [f.kind.name for f in defects] == ["none-right", "all-right"]
    assert all(f.kind.severity is Severity.NOTE for f in defects)


def test_equal_passages_under_different_ids_are_repeated():
    twin = Passage("p3", "nora  planted Beans.")
    assert names(ask("q", "Why?", passage=twin)) == {"passage-repeated": (1, ("p3",))}


@pytest.mark.parametrize(
    ("task", "gold", "kind"),
    [
        (Task.CLOZE, ("nora!",), None),
        (Task.CLOZE, ("Eve", "the Omar"), None),
        (Task.CLOZE, ("Eve",), "gold-not-candidate"),
        (Task.SPAN, ("Planted  beans", "Eve"), None),
        (Task.SPAN, ("Eve",), "gold-not-in-passage"),
        (Task.MULTI_SPAN, ("Nora", "beans"), None),
        (Task.MULTI_SPAN, ("Nora", "Eve"), "gold-not-in-passage"),
    ],
)
def test_gold_that_no_answer_can_reach_is_found(task, gold, kind):
    candidates = () if task.has_spans else ("Nora", "Omar")
    defects = find_defects(Dataset([ask("q", "Who?", candidates, gold, task=task)]))
    assert [f.kind.name for f in defects] == ([kind] if kind else [])


def test_mentions_of_one_entity_are_no_equal_options():
    question = ask("q", "Who?", ("Nora", "Nora", "Omar"), ("Nora",), task=Task.CLOZE)
    assert find_defects(Dataset([question])) == ()


@pytest.mark.parametrize(
    ("gold", "kinds"),
    [
        (("nora.", "Omar"), ["question-repeated"]),
        (("Omar",), ["gold-differs", "question-repeated"]),
    ],
)
def test_repeated_questions_must_accept_a_text_in_common(gold, kinds):
    passage = Passage("p", "Nora met Omar.")
    first = ask("q1", "Who?", (), ("Nora",), passage, Task.SPAN)
    repeated = ask("q2", "who?", (), gold, passage, Task.SPAN)
    assert [f.kind.name for f in find_defects(Dataset([first, repeated]))] == kinds


def test_what_training_data_has_too_is_found():
    passage, second_passage = Passage("t1", "NORA planted beans."), Passage("t2", "Another text.")
    equal = ask("t1", "who planted beans?", ("nora", "y"), passage=passage)
    reused = ask("t2", "Who built?", ("eve", "omar", "nora"), passage=second_passage)
    assert names(train=Dataset([equal, reused])) == {
        "question-in-train": (2, ("q1", "q3")),
        "passage-in-train": (1, ("p1",)),
    }


def test_examples_are_three_at_the_most_and_the_gravest_come_first():
    questions = [ask(f"e{i}", f"Question {i}?", ("Nora", "")) for i in range(5)]
    defects = find_defects(Dataset([*questions, ask("n", "None?", gold=frozenset())]))
    assert [(f.kind.name, f.count, f.examples) for f in defects] == [
        ("no-right-option", 1, ("n",)),
        ("empty-option", 5, ("e0", "e1", "e2")),
    ]
    assert defects[1].to_dict() == {
        "kind": "empty-option",
        "severity": "warning",
        "what": KINDS["empty-option"].what,
        "why": KINDS["empty-option"].why,
        "count": 5,
        "examples": ["e0", "e1", "e2"],
        "places": [],
    }


def test_kinds_of_defects_are_ordered_by_severity():
    order = list(Severity)
    places = [order.index(kind.severity) for kind in KINDS.values()]
    assert places == sorted(places)


def test_near_copies_are_found_and_equal_passages_are_not_counted_twice():
    words = [f"word{i}" for i in range(60)]
    text = " ".join(words)
    near = " ".join(["new", *words[1:30], "other", *words[31:]])
    shared = {"candidates": ["a", "b"], "gold": 0}
    rows = [
        {"id": f"q{i}", "passage_id": f"p{i}", "passage": passage, "question": f"{i}?", **shared}
        for i, passage in enumerate([text, text.upper(), near, "A fox ran.", "A fox sat."])
    ]
    dataset = classic_rc.from_rows(rows)
    defects = {finding.kind.name: finding for finding in find_defects(dataset)}
    assert defects["passage-repeated"].examples == ("p1",)
    assert defects["passage-nearly-repeated"].examples == ("p2",)
    train = classic_rc.from_rows([rows[0], rows[3]])
    defects = {finding.kind.name: finding for finding in find_defects(dataset, train)}
    assert defects["passage-in-train"].examples == ("p0", "p1", "p3")
    assert defects["passage-nearly-in-train"].examples == ("p2",)
