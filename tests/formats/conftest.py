"""A small dataset for every kind of question, written for these tests."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from classic_rc.errors import DataError
from classic_rc.formats import get_format
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from tests.errors import raises

LIGHTHOUSE = "Old Tam keeps the lighthouse with Wren, his dog. Tam paints; Wren sleeps."
MARKET = "At the market Ines sold pears to Tam, and plums to nobody."


def options(*texts: str) -> tuple[Candidate, ...]:
    return tuple(map(Candidate, texts))


def single_choice() -> Dataset:
    passages = Passage("m.0", LIGHTHOUSE), Passage("m.1", MARKET)
    four = options("Tam", "Wren", "a dog", "Ines")
    questions = [
        Question(f"{p.id}.{i}", p, f"Who is number {i}?", four, frozenset({i}), Task.SINGLE_CHOICE)
        for p in passages
        for i in range(4)
    ]
    return Dataset(questions, name="stories", reader="mctest")


def multiple_answer() -> Dataset:
    first, second = Passage("news/one.txt", LIGHTHOUSE), Passage("news/two.txt", MARKET)
    rows = [
        (first, "0", ("Tam", "Wren", "Ines"), {0, 1}),
        (first, "1", ("no", "yes"), set()),
        (second, "0", ("Ines",), {0}),
    ]
    questions = [
        Question(
            f"{p.id}=={qid}",
            p,
            "Who?",
            options(*texts),
            frozenset(gold),
            Task.MULTIPLE_ANSWER,
            {"pid": p.id, "qid": qid},
        )
        for p, qid, texts, gold in rows
    ]
    return Dataset(questions, name="news", reader="multirc")


def superglue() -> Dataset:
    first, second = Passage("0", LIGHTHOUSE), Passage("3", MARKET)
    rows = [(first, "0", (0, 1, 2)), (first, "1", (3, 4)), (second, "7", (20,))]
    questions = [
        Question(
            f"{p.id}=={qid}",
            p,
            "Who?",
            options(*map(str, idx)),
            None,
            Task.MULTIPLE_ANSWER,
            {"pid": p.id, "qid": qid, "answer_idx": idx},
        )
        for p, qid, idx in rows
    ]
    return Dataset(questions, name="superglue", reader="superglue")


def cloze() -> Dataset:
    passage = Passage("harbour", LIGHTHOUSE)
    mentions = tuple(
        Candidate(LIGHTHOUSE[a:b], a, b) for a, b in ((4, 7), (34, 38), (49, 52), (61, 65))
    )
    questions = [
        Question(str(17 + i), passage, "@placeholder paints", mentions, ("Tam",), Task.CLOZE)
        for i in range(3)
    ]
    return Dataset(questions, name="harbour", reader="record")


def spans(task: Task) -> Dataset:
    passage = Passage("market", MARKET)
    questions = [Question(f"s{i}", passage, "Who?", (), ("Ines", "Tam"), task) for i in range(3)]
    return Dataset(
        questions, name="market", reader="quoref" if task is Task.MULTI_SPAN else "squad"
    )


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
