"""The prediction files of ReCoRD and SQuAD: one JSON object that maps question ids to answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from classic_rc.errors import DataError
from classic_rc.formats.base import (
    Format,
    Key,
    decide_from_scores,
    first_answer,
    first_row,
    iter_members,
    match_entries,
)
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task


class AnswersByIdFormat(Format):
    """An object that maps question ids to texts, or to lists of texts for multi-span answers.

    The official scripts give a question without an entry the score 0. It is therefore read as a prediction without
    answers, and a prediction without answers is not written.
    """

    holds = frozenset({"decisions"})
    around = ("{\n", ",\n", "\n}\n")

    def recognises(self, text: str) -> bool:
        """Return whether the text starts with an object that is not a row of a JSON Lines layout."""
        row = first_row(text)
        is_row = isinstance(row, Mapping) and not {"id", "idx", "qid", "question_id", "example_id"}.isdisjoint(row)
        return text.lstrip().startswith("{") and not is_row

    def parse(
        self, text: str, questions: Sequence[Question], source: str, *, partial: bool = False
    ) -> list[Prediction]:
        """Parse the answers of a text; see :meth:`read`."""
        entries = (((key,), node) for key, node in iter_members(Node(parse_json(text, source), source)))
        keys: list[Key] = [(question.id,) for question in questions]
        found = match_entries(entries, keys, ("id",), source, partial=partial)
        if partial and keys and not found:
            raise DataError("no answer to any of these questions", source=source, expected=f"one to {keys[0][0]!r}")
        nodes = (found.get((question.id,)) for question in questions)
        return [
            decide_from_scores(question, _read_answer(node, question)) if node else decide_from_scores(question)
            for question, node in zip(questions, nodes, strict=True)
        ]

    def render(
        self, questions: Sequence[Question], scores: Scores | None, predictions: Sequence[Prediction] | None
    ) -> str:
        """Return the members of an object, one line per answer; see :meth:`write_blocks`."""
        lines = []
        for question, prediction in zip(questions, predictions or (), strict=True):
            if prediction.answers:
                texts = first_answer(prediction)
                value = list(texts) if question.task is Task.MULTI_SPAN else next(iter(texts))
                lines.append(f"{json.dumps(question.id)}: {json.dumps(value)}")
        return ",\n".join(lines)


class ReCoRDFormat(AnswersByIdFormat):
    """ReCoRD's predictions: the text of the chosen entity, by query id."""

    name = "record"
    description = "{id: text}; a missing query scores 0"
    citation = "Zhang et al. 2018, ReCoRD: the official evaluation script"
    tasks = frozenset({Task.CLOZE})
    readers = frozenset({"record"})


class SQuADFormat(AnswersByIdFormat):
    """SQuAD's predictions: the text by question id; for Quoref the list of the spans' texts, or one text."""

    name = "squad"
    description = "{id: text}, or {id: [texts]} for multi-span answers; a missing question scores 0"
    citation = "Rajpurkar et al. 2016, SQuAD v1.1; Dasigi et al. 2019, Quoref: the official evaluation scripts"
    tasks = frozenset({Task.SPAN, Task.MULTI_SPAN})
    readers = frozenset({"squad", "quoref"})


def _read_answer(node: Node, question: Question) -> tuple[str, ...]:
    if question.task is Task.MULTI_SPAN and isinstance(node.value, list):
        return tuple(map(_read_answer_text, node.elements()))
    return (_read_answer_text(node),)


def _read_answer_text(node: Node) -> str:
    if isinstance(node.value, str):
        return node.value
    raise node.error("invalid answer", found=describe_value(node.value), expected="a string")
