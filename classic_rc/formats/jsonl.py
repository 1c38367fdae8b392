"""Our own layout: one row per candidate, with its score and whether it is selected."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from classic_rc.errors import DataError, UsageError
from classic_rc.formats.base import (
    AnswerFile,
    FileContent,
    Format,
    SystemOutput,
    first_answer,
    first_row,
    in_question_order,
    prediction_of_file,
    score_at,
)
from classic_rc.io.json import Node, describe_value, json_lines
from classic_rc.kernels.arrays import offsets_of
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task, candidate_texts


class JSONLinesFormat(Format):
    """JSON Lines with one row for each candidate of each question, in any order.

    =============== ================================================================================
    ``question_id`` the question's id
    ``candidate``   the candidate's index, from 0
    ``text``        the candidate's text (optional when read; checked if it is there)
    ``score``       a finite number; in every row or in none
    ``evidence``    false where the text contributed nothing to the score (default true)
    ``selected``    whether the candidate is (part of) the answer; in every row or in none
    =============== ================================================================================

    Of candidates with equal texts, the first is the one selected. Decisions on span questions
    without scores need no candidates: their rows are the answer's texts (without ``candidate``), or
    one row with nothing selected.
    """

    name = "jsonl"

    def recognises(self, text: str) -> bool:
        """Return whether the first line is an object with a ``question_id``."""
        row = first_row(text)
        return isinstance(row, Mapping) and "question_id" in row

    def has_scores(self, text: str, source: str) -> bool:
        """Return whether the rows have scores."""
        return any(row.has("score") for row in json_lines(text, source))

    def parse(self, file: AnswerFile) -> FileContent:
        """Parse the decisions of a text, or its scores if it has no decisions; see :meth:`read`."""
        rows, questions = list(json_lines(file.text, file.source)), file.questions
        if not any(row.has("selected") for row in rows):
            return _read_scores(rows, file)
        has_spans = bool(questions) and questions[0].task.has_spans
        group_rows = _group_rows_by_question if has_spans else _group_rows_by_candidate
        groups = group_rows(rows, file)
        answers = map(_read_answers, questions, groups)
        return [
            prediction_of_file(q, *answer) for q, answer in zip(questions, answers, strict=True)
        ]

    def parse_scores(self, file: AnswerFile) -> FileContent:
        """Parse the scores of a text, which may also have decisions."""
        rows = list(json_lines(file.text, file.source))
        has_scores = any(row.has("score") for row in rows)
        return _read_scores(rows, file) if has_scores else self.parse(file)

    def render(self, output: SystemOutput) -> str:
        """Return the rows as text; see :meth:`write`."""
        rows: list[dict[str, Any]] = []
        questions, scores, predictions = output
        for i, question in enumerate(questions):
            answer = None
            if predictions is not None:
                answer = _first_answer_or_none(question, predictions[i])
            if question.task.has_spans and scores is None:
                rows += _span_rows(question, answer or ())
            else:
                rows += _candidate_rows(question, scores, i, answer)
        return "".join(json.dumps(row) + "\n" for row in rows)


def _first_answer_or_none(question: Question, prediction: Prediction) -> Answer:
    if prediction.answers or question.task is Task.MULTIPLE_ANSWER:
        return first_answer(prediction)
    return ()


def _span_rows(question: Question, answer: Answer) -> list[dict[str, Any]]:
    rows = [{"question_id": question.id, "text": text, "selected": True} for text in answer]
    return rows or [{"question_id": question.id, "selected": False}]


def _candidate_rows(
    question: Question, scores: Scores | None, i: int, answer: Answer | None
) -> Iterator[dict[str, Any]]:
    texts = candidate_texts(question.candidates)
    selected_indices = _find_selected(question, texts, answer or ())
    for index, text in enumerate(texts):
        row = {"question_id": question.id, "candidate": index, "text": text}
        if scores is not None:
            flat = scores.offsets[i] + index
            row |= {"score": float(scores.values[flat]), "evidence": bool(scores.evidence[flat])}
        if answer is not None:
            row["selected"] = index in selected_indices
        yield row


def _find_selected(question: Question, texts: Sequence[str], answer: Answer) -> Collection[int]:
    """Return the indices of the candidates to mark as selected for an answer."""
    if isinstance(answer, frozenset):
        return answer
    unknown = [text for text in answer if text not in texts]
    if unknown:
        raise UsageError(
            f"question {question.id} has the answer {unknown[0]!r}, which is not one of its "
            "candidates",
            field="predictions",
            found=repr(unknown[0]),
            expected="the text of a candidate",
        )
    return list(map(texts.index, answer))


def _read_scores(rows: list[Node], file: AnswerFile) -> Scores:
    questions = file.questions
    has_candidates = any(len(question.candidates) for question in questions)
    if rows and questions and questions[0].task.has_spans and not has_candidates:
        raise UsageError(
            f"{file.source} has scores of spans, but the questions have no candidate spans: "
            "generate the spans first",
            field="candidates",
            found="none",
            expected="the candidate spans of each question",
        )
    groups = _group_rows_by_candidate(rows, file)
    flat = list(chain(*groups))
    values = np.array([score_at(row, "score") for row in flat], dtype=np.float64)
    has_evidence = [row.flag("evidence") if row.has("evidence") else True for row in flat]
    evidence = np.array(has_evidence, dtype=np.bool_)
    return Scores(values, offsets_of(list(map(len, groups))), evidence, relative_ties=True)


def _group_rows_by_candidate(rows: list[Node], file: AnswerFile) -> list[list[Node]]:
    """Return the rows of each question, in the order of its candidates; each candidate must have
    exactly one.
    """
    questions = file.questions
    keys = [(question.id, i) for question in questions for i in range(len(question.candidates))]
    entries = (((row.name("question_id"), row.integer("candidate")), row) for row in rows)
    names = ("question_id", "candidate")
    ordered = in_question_order(entries, keys, names, file)
    texts = (text for question in questions for text in candidate_texts(question.candidates))
    for row, text in zip(ordered, texts, strict=True):
        if row.has("text") and row.text("text") != text:
            raise row.error(
                "the candidate's text differs from the one in the data",
                field="text",
                found=describe_value(row.value["text"]),
                expected=describe_value(text),
                hint="Is it a file for other data?",
            )
    rest = iter(ordered)
    return [list(islice(rest, len(question.candidates))) for question in questions]


def _group_rows_by_question(rows: list[Node], file: AnswerFile) -> list[list[Node]]:
    """Return the rows of each question, in the file's order; each question must have at least
    one.
    """
    groups: dict[str, list[Node]] = {question.id: [] for question in file.questions}
    for row in rows:
        name = row.name("question_id")
        if name in groups:
            groups[name].append(row)
        elif not file.partial:
            raise row.error("unknown question id", field="question_id", found=describe_value(name))
    missing = [name for name, group in groups.items() if not group]
    if missing:
        raise DataError(
            f"{len(missing):,} of {len(groups):,} questions have no row",
            source=file.source,
            found=f"none for {describe_value(missing[0])}",
            expected="at least one for each question, with nothing selected if there is no answer",
        )
    return list(groups.values())


def _read_answers(question: Question, rows: list[Node]) -> tuple[Answer, ...]:
    """Return the answer of the selected rows. Without any there is no answer, except the empty
    multiple answer.
    """
    selected = [row for row in rows if row.flag("selected")]
    task = question.task
    parts: list[Any]
    if task.has_spans:
        parts = [row.text("text") for row in selected]
    else:
        parts = [row.integer("candidate") for row in selected]
    if task is Task.CLOZE:
        parts = [question.candidates[i].text for i in parts]
    if task not in (Task.MULTIPLE_ANSWER, Task.MULTI_SPAN):
        n_answers = len(set(parts))
        if n_answers > 1:
            raise selected[-1].error(
                "more than one answer is selected",
                field="selected",
                found=f"{n_answers} for question {question.id!r}",
                expected="at most 1",
            )
        parts = parts[:1]
    if task.has_choices:
        return (frozenset(parts),) if parts or task is Task.MULTIPLE_ANSWER else ()
    return (tuple(parts),) if parts else ()
