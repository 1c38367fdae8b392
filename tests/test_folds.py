from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.questions import Candidate, Passage, Question, Task


def asked(texts):
    return [
        Question(f"q{i}", Passage(f"p{i}", text), "?", (Candidate("a"),), frozenset({0}), Task.SINGLE_CHOICE)
        for i, text in enumerate(texts)
    ]


def test_equal_passages_are_one_group_whatever_their_case_and_blanks():
    groups = passage_groups(asked(["One  text.", "another", "one text.\n"]))
    assert groups[0] == groups[2] != groups[1]


def test_folds_keep_groups_together_and_cover_all():
    questions = asked([f"text {i // 3}" for i in range(60)])
    groups = passage_groups(questions)
    plan = FoldPlan().folds(questions)
    assert len(plan) == 5
    assert sorted(np.concatenate([own for _, own in plan]).tolist()) == list(range(60))
    for others, own in plan:
        assert not set(groups[others]) & set(groups[own])
        assert len(others) + len(own) == 60


def test_folds_do_not_depend_on_the_order():
    questions = asked([f"text {i}" for i in range(23)])
    members = [{questions[i].id for i in own} for _, own in FoldPlan().folds(questions)]
    backwards = questions[::-1]
    assert members == [{backwards[i].id for i in own} for _, own in FoldPlan().folds(backwards)]


def test_few_passages_make_few_folds_and_one_none():
    assert len(FoldPlan().folds(asked(["a", "b"]))) == 2
    with pytest.raises(UsageError, match="at least two"):
        FoldPlan().folds(asked(["a", "a"]))


def test_a_field_joins_groups_with_all_that_they_are_joined_to():
    texts = ["one", "two", "three", "ONE", "four", "five"]
    authors = ["Ann", "Bob", "Eve", "Bob", None, None]
    questions = [
        replace(q, meta={} if author is None else {"author": author})
        for q, author in zip(asked(texts), authors, strict=True)
    ]
    groups = passage_groups(questions, "author").tolist()
    assert groups[0] == groups[1] == groups[3]  # Ann's text is Bob's too
    assert len(set(groups)) == 4
    assert sorted(set(groups)) == [0, 1, 2, 3]
    assert passage_groups(questions[::-1], "author").tolist() == groups[::-1]
    with pytest.raises(UsageError, match=r"meta key 'autor'.*author"):
        passage_groups(questions, "autor")
    with pytest.raises(UsageError, match="no meta"):
        passage_groups(asked(["a"]), "author")


def test_a_passages_field_counts_too():
    questions = [replace(q, passage=replace(q.passage, meta={"article": "a"})) for q in asked(["x", "y"])]
    assert passage_groups(questions, "article").tolist() == [0, 0]
    with pytest.raises(UsageError, match="or groups, got 1"):
        FoldPlan(group="article").folds(questions)


def test_a_plan_has_two_folds_or_more():
    assert len(FoldPlan(3).folds(asked("abcdefg"))) == 3
    with pytest.raises(UsageError, match="at least 2 folds, got 1"):
        FoldPlan(1)
