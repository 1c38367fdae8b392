"""Questions written as JSON lines in our own schema, which read as the same questions."""

from __future__ import annotations

import json
from typing import Any

from classic_rc.questions import Candidate, Dataset, Question


def to_jsonl(dataset: Dataset) -> str:
    """The dataset in the schema of :class:`~classic_rc.datasets.jsonl.JsonLines`, a question a line, in ASCII.

    What is read from it has the same content fingerprint, and the same `meta`, in which a passage's own is merged
    and the dataset's split, if it has one, is ``split``. Candidates that a generator made are left out.

    Examples
    --------
    >>> from classic_rc import from_rows
    >>> row = {"id": "q1", "passage": "It rained.", "question": "Did it?", "candidates": ["no", "yes"], "gold": 1}
    >>> print(to_jsonl(from_rows([row])), end="")  # doctest: +ELLIPSIS
    {"id": "q1", "passage_id": "passage-1", "passage": "It rained.", "question": "Did it?", "task": ...
    """
    return "".join(json.dumps(_row(question, dataset.split)) + "\n" for question in dataset)


def _row(question: Question, split: str | None) -> dict[str, Any]:
    passage = question.passage
    meta = {**({} if split is None else {"split": split}), **passage.meta, **question.meta}
    row: dict[str, Any] = {
        "id": question.id,
        "passage_id": passage.id,
        "passage": passage.text,
        "question": question.text,
        "task": question.task.value,
    }
    if passage.sentences is not None:
        row["sentences"] = [list(marks) for marks in passage.sentences]
    if not question.task.has_spans:
        row["candidates"] = [_candidate(candidate) for candidate in question.candidates]
    gold = question.gold
    row["gold"] = None if gold is None else sorted(gold) if isinstance(gold, frozenset) else list(gold)
    if meta:
        row["meta"] = meta
    return row


def _candidate(candidate: Candidate) -> str | dict[str, Any]:
    if candidate.start is None or candidate.end is None:
        return candidate.text
    return {"text": candidate.text, "start": candidate.start, "end": candidate.end}
