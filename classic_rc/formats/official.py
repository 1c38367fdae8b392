"""The official forms of submissions: MCTest, MultiRC, SuperGLUE, and answers by question id."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.multirc import read_label
from classic_rc.errors import DataError, UsageError
from classic_rc.formats.base import (
    AnswerFile,
    FileContent,
    Format,
    Key,
    SystemOutput,
    first_answer,
    first_row,
    format_option,
    in_question_order,
    iter_members,
    match_entries,
    prediction_of_file,
    score_at,
)
from classic_rc.formats.layouts import has_numbers
from classic_rc.io.json import Node, describe_value, json_lines, parse_json
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task


class AnswersByIdFormat(Format):
    """An object that maps question ids to texts, or to lists of texts for multi-span answers.

    The official scripts give a question without an entry the score 0. It is therefore read as a
    prediction without answers, and a prediction without answers is not written.
    """

    around = ("{\n", ",\n", "\n}\n")

    def recognises(self, text: str) -> bool:
        """Return whether the text starts with an object that is not a row of a JSON Lines
        layout.
        """
        row = first_row(text)
        ids = "id idx qid question_id example_id custom_id".split()
        is_row = isinstance(row, Mapping) and not row.keys().isdisjoint(ids)
        return text.lstrip().startswith("{") and not is_row

    def parse(self, file: AnswerFile) -> list[Prediction]:
        """Parse the answers of a text; see :meth:`read`."""
        content = Node(parse_json(file.text, file.source), file.source)
        entries = (((key,), node) for key, node in iter_members(content))
        keys: list[Key] = [(question.id,) for question in file.questions]
        nodes = match_entries(entries, keys, ("id",), file)
        if file.partial and keys and not nodes:
            raise DataError(
                "no answer to any of these questions",
                source=file.source,
                expected=f"one to {keys[0][0]!r}",
            )
        predictions = []
        for key, question in zip(keys, file.questions, strict=True):
            answers = _read_answers(nodes.get(key), question)
            predictions.append(prediction_of_file(question, *answers))
        return predictions

    def render(self, output: SystemOutput) -> str:
        """Return the members of an object, one line per answer; see :meth:`write_blocks`."""
        lines = []
        for question, prediction in zip(output.questions, output.predictions or (), strict=True):
            if prediction.answers:
                texts = first_answer(prediction)
                value = list(texts) if question.task is Task.MULTI_SPAN else next(iter(texts))
                lines.append(f"{json.dumps(question.id)}: {json.dumps(value)}")
        return ",\n".join(lines)


class ReCoRDFormat(AnswersByIdFormat):
    """ReCoRD's predictions: the text of the chosen entity, by query id."""

    name = "record"


class SQuADFormat(AnswersByIdFormat):
    """SQuAD's predictions: the text by question id; for Quoref the list of the spans' texts, or
    one text.
    """

    name = "squad"


def _read_answers(node: Node | None, question: Question) -> Iterator[tuple[str, ...]]:
    """Yield the answer to a question, or nothing."""
    if node is None:
        return
    has_several = question.task is Task.MULTI_SPAN and isinstance(node.value, list)
    texts = list(node.elements() if has_several else [node])
    for text in texts:
        if not isinstance(text.value, str):
            raise text.error(
                "invalid answer", found=describe_value(text.value), expected="a string"
            )
    yield tuple(text.value for text in texts)


QUESTIONS_PER_STORY = 4

# Possessive: otherwise a long row of digits is tried with every length.
_NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


class _StoryFormat(Format):
    """One line per story, its four questions separated by tabs, in the order of the dataset."""

    def read_cells(self, file: AnswerFile) -> Iterator[tuple[Question, Node]]:
        """Yield each question with its cell."""
        text, questions, source, *_ = file
        stories = self.group_stories(questions)
        lines = text.rstrip("\n").split("\n") if text.strip() else []
        if len(lines) != len(stories):
            raise DataError(
                "wrong number of lines",
                source=source,
                found=f"{len(lines):,}",
                expected=f"{len(stories):,}, one for each story",
                hint="Is it a file for another dataset or split?",
            )
        for number, (line, story) in enumerate(zip(lines, stories, strict=True), start=1):
            cells = line.rstrip().split("\t")
            if len(cells) != len(story):
                expected = f"{len(story)}, one for each question"
                raise Node(line, source, number).error(
                    "wrong number of tab-separated cells", found=f"{len(cells)}", expected=expected
                )
            for column, (question, cell) in enumerate(zip(story, cells, strict=True), start=1):
                yield question, Node(cell, source, f"line {number}, question {column}")

    def join_cells(self, questions: Sequence[Question], cells: Iterable[str]) -> str:
        """Return the text with one cell per question."""
        rest = iter(cells)
        rows = (islice(rest, len(story)) for story in self.group_stories(questions))
        return "".join("\t".join(row) + "\n" for row in rows)

    def group_stories(self, questions: Sequence[Question]) -> list[list[Question]]:
        """Return the questions of each story, which must be four consecutive ones."""
        groups = groupby(questions, key=lambda question: id(question.passage))
        stories = [list(group) for _, group in groups]
        for story in stories:
            n, passage_id = len(story), story[0].passage.id
            if n != QUESTIONS_PER_STORY:
                raise UsageError(
                    f"the format {self.name} needs {QUESTIONS_PER_STORY} consecutive questions for "
                    f"each passage, but passage {passage_id} has {n}: use another format, such as "
                    "jsonl",
                    field="format",
                    found=f"{n} consecutive questions for passage {passage_id}",
                    expected=f"{QUESTIONS_PER_STORY}",
                )
        return stories


class MCTestScoresFormat(_StoryFormat):
    """The authors' score files: the scores of a question's four options, separated by commas, to
    five decimals.

    Five decimals make small scores equal: a question whose best candidates they would change has
    more.
    """

    name = "mctest-scores"

    def recognises(self, text: str) -> bool:
        """Return whether the text starts with a number and a separator, and is no table of numbered
        answers.
        """
        first_cell = re.split(r"[,\t\n]", text.lstrip(), maxsplit=1)[0]
        return not has_numbers(text) and bool(_NUMBER.fullmatch(first_cell.strip()))

    def parse(self, file: AnswerFile) -> Scores:
        """Parse the scores of a text; see :meth:`read`."""
        rows = (
            _parse_scores(cell, len(question.candidates))
            for question, cell in self.read_cells(file)
        )
        return Scores.from_lists(rows, relative_ties=True)

    def render(self, output: SystemOutput) -> str:
        """Return the lines of scores; see :meth:`write`.

        A question whose best candidates five decimals would change gets all digits.
        """
        return self.join_cells(output.questions, map(_format_row, output.scores or ()))


class MCTestAnswersFormat(_StoryFormat):
    """MCTest's answer files (``.ans``): the letter of the chosen option of each question."""

    name = "mctest-answers"

    def recognises(self, text: str) -> bool:
        """Return whether the first cell of the text is one capital letter."""
        return bool(re.match(r"\s*[A-Z](?:\t|\s*$)", text, re.MULTILINE))

    def parse(self, file: AnswerFile) -> list[Prediction]:
        """Parse the letters of a text as decisions; see :meth:`read`."""
        predictions = []
        for question, cell in self.read_cells(file):
            option = _read_letter(cell, question)
            predictions.append(prediction_of_file(question, frozenset({option})))
        return predictions

    def render(self, output: SystemOutput) -> str:
        """Return the lines of letters; see :meth:`write`."""
        letters = (format_option(*answer) for _, answer in output.answers())
        return self.join_cells(output.questions, letters)


def _parse_scores(cell: Node, n_options: int) -> list[float]:
    texts = [text.strip() for text in cell.value.split(",")]
    if len(texts) != n_options:
        expected = f"{n_options}, one for each option"
        raise cell.error(
            "wrong number of comma-separated scores", found=f"{len(texts)}", expected=expected
        )
    for option, text in enumerate(texts, start=1):
        if not (_NUMBER.fullmatch(text) and math.isfinite(float(text))):
            place = Node(text, cell.source, f"{cell.where}, option {option}")
            raise place.error("invalid score", found=repr(text[:50]), expected="a finite number")
    return [float(text) for text in texts]


def _format_row(row: NDArray[np.float64]) -> str:
    scores = row.tolist()
    rounded = [round(score, 5) for score in scores]
    before = Scores.from_lists([scores], relative_ties=True).are_best()
    after = Scores.from_lists([rounded], relative_ties=True).are_best()
    return ", ".join(map(_format_score, rounded if np.array_equal(before, after) else scores))


def _format_score(score: float) -> str:
    """Return a score in .NET's notation: 1.203, 2, 2E-05, and 0 for minus zero."""
    return repr(score + 0.0).removesuffix(".0").upper()


def _read_letter(cell: Node, question: Question) -> int:
    """Return the option of a question that the letter in a cell names."""
    letters = [format_option(option) for option in range(len(question.candidates))]
    if cell.value in letters:
        return letters.index(cell.value)
    raise cell.error(
        "invalid answer", found=describe_value(cell.value), expected=", ".join(letters)
    )


class MultiRCFormat(Format):
    """A list with one object per question: its ids and one number per option.

    If all numbers of a file are 0 or 1 they are decisions, otherwise raw scores. The keys of a
    question are ``pid`` and ``qid`` in its meta, if the dataset has them, else the ids of the
    passage and the question.
    """

    name = "multirc"
    around = ("[\n", ",\n", "\n]\n")

    def recognises(self, text: str) -> bool:
        """Return whether the text starts a JSON list of objects with ids of its own."""
        return re.match(r'\s*\[\s*(\]|\{[^{}]*"(pid|qid|scores)")', text) is not None

    def has_scores(self, text: str, source: str) -> bool:
        """Return whether some number of the text is neither 0 nor 1."""
        return _are_scores(Node(parse_json(text, source), source).elements())

    def parse(self, file: AnswerFile) -> FileContent:
        """Parse the numbers of a text, as decisions if they are all 0 or 1; see :meth:`read`."""
        nodes = list(Node(parse_json(file.text, file.source), file.source).elements())
        entries = (((node.text("pid"), node.name("qid")), node) for node in nodes)
        keys = list(map(_question_key, file.questions))
        ordered = in_question_order(entries, keys, ("pid", "qid"), file)
        n_options = (len(question.candidates) for question in file.questions)
        rows = [_read_row(node, n) for node, n in zip(ordered, n_options, strict=True)]
        # All entries decide, not only the selected questions: a part of a file of scores may be all
        # 0 and 1.
        if _are_scores(nodes):
            return Scores.from_lists(rows, relative_ties=True)
        return _decide_options(file.questions, rows)

    def render(self, output: SystemOutput) -> str:
        """Return the elements of a list, one line per question, of raw scores if any; see
        :meth:`write_blocks`.
        """
        rows: list[list[float]] = []
        if output.scores is not None:
            rows = [row.tolist() for row in output.scores]
        else:
            for question, answer in output.answers():
                rows.append([int(i in answer) for i in range(len(question.candidates))])
        lines = []
        for question, row in zip(output.questions, rows, strict=True):
            pid, qid = _question_key(question)
            lines.append(json.dumps({"pid": pid, "qid": qid, "scores": row}))
        return ",\n".join(lines)


def _question_key(question: Question) -> Key:
    meta = question.meta
    pid, qid = meta.get("pid", question.passage.id), meta.get("qid", question.id)
    return str(pid), str(qid)


def _are_scores(nodes: Iterable[Node]) -> bool:
    return any(score not in (0, 1) for node in nodes for score in node.sequence("scores"))


def _read_row(node: Node, n_options: int) -> list[float]:
    values = node.sequence("scores")
    if len(values) != n_options:
        raise node.error(
            "wrong number of scores",
            field="scores",
            found=str(len(values)),
            expected=f"{n_options}, one for each option",
        )
    scores = node.child("scores")
    return [score_at(scores, i) for i in range(n_options)]


def _decide_options(
    questions: Sequence[Question], rows: Iterable[Sequence[float]]
) -> list[Prediction]:
    """Return the decisions of rows with a number, or a truth, for each option."""
    return [
        prediction_of_file(question, frozenset(i for i, flag in enumerate(row) if flag))
        for question, row in zip(questions, rows, strict=True)
    ]


class SuperGLUEFormat(Format):
    """JSON Lines, matched by SuperGLUE's numbers of passages, questions and options.

    MultiRC has one line per passage, with a label (0 or 1) for each option of its questions. The
    numbers are in the questions' meta: ``pid``, ``qid`` and ``answer_idx`` (one number per option).
    ReCoRD has one line per query, with the text of the chosen entity; the query's number is its id.
    """

    name = "superglue"

    def is_official(self, questions: Sequence[Question]) -> bool:
        """Return whether the questions have SuperGLUE's numbers; a ReCoRD file may be the
        original one.
        """
        return all(
            "idx" in question.meta or "answer_idx" in question.meta for question in questions
        )

    def recognises(self, text: str) -> bool:
        """Return whether the first line is an object with an ``idx`` and a passage or a label."""
        row = first_row(text)
        return isinstance(row, Mapping) and "idx" in row and ("passage" in row or "label" in row)

    def parse(self, file: AnswerFile) -> list[Prediction]:
        """Parse the labels of a text; see :meth:`read`."""
        rows, questions = json_lines(file.text, file.source), file.questions
        if questions and questions[0].task is Task.CLOZE:
            entries = (((row.integer("idx"),), row) for row in rows)
            keys: list[Key] = [(_query_number(q),) for q in questions]
            nodes = in_question_order(entries, keys, ("idx",), file)
            texts = (node.text("label") for node in nodes)
            return [prediction_of_file(q, (t,)) for q, t in zip(questions, texts, strict=True)]
        numbers = [_superglue_numbers(question) for question in questions]
        keys = [(pid, qid, option) for pid, qid, options in numbers for option in options]
        names = ("passage idx", "question idx", "answer idx")
        nodes = in_question_order(_read_entries(rows), keys, names, file)
        labels = map(read_label, nodes)
        flags = [list(islice(labels, len(options))) for _, _, options in numbers]
        return _decide_options(questions, flags)

    def render(self, output: SystemOutput) -> str:
        """Return the lines of a submission; see :meth:`write`."""
        rows: list[dict[str, Any]] = []
        if output.questions and output.questions[0].task is Task.CLOZE:
            for question, (text,) in output.answers():
                rows.append({"idx": _query_number(question), "label": text})
        else:
            passages = groupby(output.answers(), key=lambda pair: _superglue_numbers(pair[0])[0])
            for idx, group in passages:
                question_rows = [_question_row(question, answer) for question, answer in group]
                rows.append({"idx": idx, "passage": {"questions": question_rows}})
        return "".join(json.dumps(row) + "\n" for row in rows)


def _query_number(question: Question) -> int:
    if question.id.isdecimal():
        return int(question.id)
    raise _missing_numbers_error(question)


def _superglue_numbers(question: Question) -> tuple[int, int, Sequence[int]]:
    """Return the numbers of the passage, the question and its options."""
    meta = question.meta
    try:
        return int(meta["pid"]), int(meta["qid"]), meta["answer_idx"]
    except (KeyError, ValueError):
        raise _missing_numbers_error(question) from None


def _missing_numbers_error(question: Question) -> UsageError:
    return UsageError(
        f"question {question.id} has no SuperGLUE numbers: the format superglue needs SuperGLUE "
        "data",
        field="format",
        found=f"question {question.id} without SuperGLUE numbers",
        expected="a dataset read from SuperGLUE files",
    )


def _read_entries(rows: Iterator[Node]) -> Iterator[tuple[Key, Node]]:
    for row in rows:
        for question in row.child("passage").items("questions"):
            for answer in question.items("answers"):
                yield (row.integer("idx"), question.integer("idx"), answer.integer("idx")), answer


def _question_row(question: Question, answer: Any) -> dict[str, Any]:
    _, qid, options = _superglue_numbers(question)
    labels = [{"idx": idx, "label": int(i in answer)} for i, idx in enumerate(options)]
    return {"idx": qid, "answers": labels}
