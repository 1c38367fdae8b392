from __future__ import annotations

import pytest

from classic_rc.errors import UsageError
from classic_rc.folds import overlap, without_overlap
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task


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
    shared = overlap(train, DEV)
    assert (shared.passages, shared.questions) == (2, 0)
    assert shared.affected == {"q0", "q1"}


def test_a_question_recurs_with_its_passage_or_with_its_options():
    train = dataset("train", ("One day.", "WHO?", "e|f"), ("Else.", "why?", "D|c"), ("Else.", "Why?", "c|e"))
    shared = overlap(train, DEV)
    assert (shared.passages, shared.questions) == (1, 2)
    assert shared.affected == {"q0", "q1"}


def test_equal_words_alone_do_not_make_a_query_recur():
    rows = [("One.", "Who?", "a"), ("Two.", "Who?", "a")]
    train, dev = (dataset(name, row, task=Task.CLOZE) for name, row in zip(("t", "d"), rows, strict=True))
    assert not overlap(train, dev)


def test_what_is_shared_is_left_out():
    train = dataset("train", ("One day.", "When?", "e|f"), ("Else.", "why?", "d|c"), ("Else.", "Who?", "a|b|c"))
    rest = without_overlap(train, DEV)
    assert [q.id for q in rest] == ["q2"]
    assert without_overlap(rest, DEV) is rest
    with pytest.raises(UsageError, match="nothing is left of dev without what it shares with dev"):
        without_overlap(DEV, DEV)
