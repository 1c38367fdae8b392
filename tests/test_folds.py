from __future__ import annotations

import numpy as np
import pytest

from classic_rc.errors import UsageError
from classic_rc.folds import folds, passage_groups
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
    plan = folds(questions)
    assert len(plan) == 5
    assert sorted(np.concatenate([own for _, own in plan]).tolist()) == list(range(60))
    for others, own in plan:
        assert not set(groups[others]) & set(groups[own])
        assert len(others) + len(own) == 60


def test_folds_do_not_depend_on_the_order():
    questions = asked([f"text {i}" for i in range(23)])
    members = [{questions[i].id for i in own} for _, own in folds(questions)]
    backwards = questions[::-1]
    assert members == [{backwards[i].id for i in own} for _, own in folds(backwards)]


def test_few_passages_make_few_folds_and_one_none():
    assert len(folds(asked(["a", "b"]))) == 2
    with pytest.raises(UsageError, match="at least two"):
        folds(asked(["a", "a"]))
