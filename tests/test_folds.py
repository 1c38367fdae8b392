"""Groups and folds of passages that stay together, and the overlap of two datasets."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan, drop_overlap_with, find_overlap, passage_groups
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from tests.errors import raises


def questions_about(texts):
    return [
        Question(f"q{i}", Passage(f"p{i}", text), "?", (Candidate("a"),), frozenset({0}), Task.SINGLE_CHOICE)
        for i, text in enumerate(texts)
    ]


def test_equal_passages_are_one_group_whatever_their_case_and_blanks():
    groups = passage_groups(questions_about(["One  text.", "another", "one text.\n"]))
    assert groups[0] == groups[2] != groups[1]


def test_folds_keep_groups_together_and_cover_all():
    questions = questions_about([f"text {i // 3}" for i in range(60)])
    groups = passage_groups(questions)
    plan = FoldPlan().folds(questions)
    assert len(plan) == 5
    assert sorted(np.concatenate([own for _, own in plan]).tolist()) == list(range(60))
    for others, own in plan:
        assert not set(groups[others]) & set(groups[own])
        assert len(others) + len(own) == 60


def test_folds_do_not_depend_on_the_order():
    questions = questions_about([f"text {i}" for i in range(23)])
    members = [{questions[i].id for i in own} for _, own in FoldPlan().folds(questions)]
    backwards = questions[::-1]
    assert members == [{backwards[i].id for i in own} for _, own in FoldPlan().folds(backwards)]


def test_few_passages_make_few_folds_and_one_none():
    assert len(FoldPlan().folds(questions_about(["a", "b"]))) == 2
    with raises(UsageError, field="questions", found="1", expected="at least 2 passages") as caught:
        FoldPlan().folds(questions_about(["a", "a"]))
    assert all(option in str(caught.value) for option in ("--train", "--tune", "--threshold"))


def test_a_field_joins_groups_with_all_that_they_are_joined_to():
    texts = ["one", "two", "three", "ONE", "four", "five"]
    authors = ["Ann", "Bob", "Eve", "Bob", None, None]
    questions = [
        replace(q, meta={} if author is None else {"author": author})
        for q, author in zip(questions_about(texts), authors, strict=True)
    ]
    groups = passage_groups(questions, "author").tolist()
    assert groups[0] == groups[1] == groups[3]  # Ann's text is Bob's too
    assert len(set(groups)) == 4
    assert sorted(set(groups)) == [0, 1, 2, 3]
    assert passage_groups(questions[::-1], "author").tolist() == groups[::-1]
    with raises(UsageError, field="meta key", found="autor", expected="author"):
        passage_groups(questions, "autor")
    with raises(UsageError, field="meta key", found="author", expected=re.compile("meta")):
        passage_groups(questions_about(["a"]), "author")


def test_a_passages_field_counts_too():
    questions = [replace(q, passage=replace(q.passage, meta={"article": "a"})) for q in questions_about(["x", "y"])]
    assert passage_groups(questions, "article").tolist() == [0, 0]
    with raises(UsageError, field="questions", found="1", expected=re.compile("groups")):
        FoldPlan(group="article").folds(questions)


def test_a_plan_has_two_folds_or_more():
    assert len(FoldPlan(3).folds(questions_about("abcdefg"))) == 3
    with raises(UsageError, field="n_folds", found="1", expected="at least 2"):
        FoldPlan(1)


def dataset(name, *rows, task=Task.SINGLE_CHOICE):
    """Each row: passage, question, options."""
    passages = {text: Passage(f"{name}-{text}", text) for text, _, _ in rows}
    gold = frozenset({0}) if task.has_choices else ("x",)
    return Dataset(
        [
            Question(f"q{i}", passages[text], question, tuple(map(Candidate, options.split("|"))), gold, task)
            for i, (text, question, options) in enumerate(rows)
        ],
        name,
    )


DEV = dataset("dev", ("One  day.", "Who?", "a|b"), ("Two days.", "Why?", "c|d"))


def test_passages_are_the_same_whatever_their_case_and_blanks():
    train = dataset(
        "train", ("one day.", "When?", "e|f"), ("One day.\n", "Where?", "g|h"), ("Else.", "Who?", "x|y")
    )
    shared = find_overlap(train, DEV)
    assert (shared.passages, shared.questions) == (2, 0)
    assert shared.affected == {"q0", "q1"}


def test_a_question_recurs_with_its_passage_or_with_its_options():
    train = dataset("train", ("One day.", "WHO?", "e|f"), ("Else.", "why?", "D|c"), ("Else.", "Why?", "c|e"))
    shared = find_overlap(train, DEV)
    assert (shared.passages, shared.questions) == (1, 2)
    assert shared.affected == {"q0", "q1"}


def test_equal_words_alone_do_not_make_a_query_recur():
    rows = [("One.", "Who?", "a"), ("Two.", "Who?", "a")]
    train, dev = (dataset(name, row, task=Task.CLOZE) for name, row in zip(("t", "d"), rows, strict=True))
    assert not find_overlap(train, dev)


def test_what_is_shared_is_left_out():
    train = dataset("train", ("One day.", "When?", "e|f"), ("Else.", "why?", "d|c"), ("Else.", "Who?", "a|b|c"))
    rest = drop_overlap_with(train, DEV)
    assert [q.id for q in rest] == ["q2"]
    assert drop_overlap_with(rest, DEV) is rest
    with raises(UsageError, field="dataset", found="dev", expected=re.compile("dev")):
        drop_overlap_with(DEV, DEV)
