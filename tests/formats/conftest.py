"""A small dataset for every kind of question, written for these tests."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from classic_rc.errors import DataError
from classic_rc.formats import get_format
from classic_rc.questions import Candidate, Dataset, Gold, Passage, Question, Task
from tests.errors import raises

LIGHTHOUSE = "Old Tam keeps the lighthouse with Wren, his dog. Tam paints; Wren sleeps."
MARKET = "At the market Ines sold pears to Tam, and plums to nobody."


def options(*texts: str) -> tuple[Candidate, ...]:
    return tuple(map(Candidate, texts))


def single_choice() -> Dataset:
    passages = Passage("m.0", LIGHTHOUSE), Passage("m.1", MARKET)
    four = options("Tam", "Wren", "a dog", "Ines")
    questions = []
    for passage, i in itertools.product(passages, range(4)):
        id_, text, gold = f"{passage.id}.{i}", f"Who is number {i}?", frozenset({i})
        questions.append(Question(id_, passage, text, four, gold, Task.SINGLE_CHOICE))
    return Dataset(questions, name="stories", reader="mctest")


def several_right(
    passage: Passage, qid: str, texts: Iterable[str], gold: Gold, **meta: Any
) -> Question:
    """Return a question about several options, with MultiRC's numbers."""
    id_, meta = f"{passage.id}=={qid}", {"pid": passage.id, "qid": qid, **meta}
    return Question(id_, passage, "Who?", options(*texts), gold, Task.MULTIPLE_ANSWER, meta)


def multiple_answer() -> Dataset:
    first, second = Passage("news/one.txt", LIGHTHOUSE), Passage("news/two.txt", MARKET)
    questions = [
        several_right(first, "0", ("Tam", "Wren", "Ines"), frozenset({0, 1})),
        several_right(first, "1", ("no", "yes"), frozenset()),
        several_right(second, "0", ("Ines",), frozenset({0})),
    ]
    return Dataset(questions, name="news", reader="multirc")


def superglue() -> Dataset:
    first, second = Passage("0", LIGHTHOUSE), Passage("3", MARKET)
    rows = [(first, "0", (0, 1, 2)), (first, "1", (3, 4)), (second, "7", (20,))]
    questions = [several_right(p, q, map(str, idx), None, answer_idx=idx) for p, q, idx in rows]
    return Dataset(questions, name="superglue", reader="superglue")


def cloze() -> Dataset:
    passage = Passage("harbour", LIGHTHOUSE)
    places = ((4, 7), (34, 38), (49, 52), (61, 65))
    mentions = tuple(Candidate(LIGHTHOUSE[start:end], start, end) for start, end in places)
    question = Question("17", passage, "@placeholder paints", mentions, ("Tam",), Task.CLOZE)
    questions = [replace(question, id=id_) for id_ in ("17", "18", "19")]
    return Dataset(questions, name="harbour", reader="record")


def spans(task: Task) -> Dataset:
    passage = Passage("market", MARKET)
    question = Question("s0", passage, "Who?", (), ("Ines", "Tam"), task)
    questions = [replace(question, id=id_) for id_ in ("s0", "s1", "s2")]
    reader = "quoref" if task is Task.MULTI_SPAN else "squad"
    return Dataset(questions, name="market", reader=reader)


@pytest.fixture(scope="session")
def task_datasets() -> dict[str, Dataset]:
    """A dataset for each shape of question."""
    return {
        "single-choice": single_choice(),
        "multiple-answer": multiple_answer(),
        "superglue": superglue(),
        "cloze": cloze(),
        "span": spans(Task.SPAN),
        "multi-span": spans(Task.MULTI_SPAN),
    }


@pytest.fixture
def refused(task_datasets) -> Callable[..., None]:
    """Read a text as a format; it must end with an error that has these facts, `expected` in
    part.
    """

    def read(
        format: str, dataset: str, text: str, *, expected: str | None, **facts: str | None
    ) -> None:
        pattern = None if expected is None else re.compile(re.escape(expected))
        with raises(DataError, source="answers.txt", expected=pattern, **facts):
            get_format(format).read(text, task_datasets[dataset], source="answers.txt")

    return read
