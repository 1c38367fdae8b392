"""The reader of rows in the schemas of Hugging Face datasets, which it converts to rows of our
own schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from classic_rc.datasets.dream import GENRES
from classic_rc.datasets.logiqa import LOGIQA, LOGIQA_2
from classic_rc.datasets.nested_rows import ROW_ID, split_rows
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.row_datasets import BELEBELE, BOOLQ, COSMOS_QA, QUAIL
from classic_rc.datasets.schema import (
    Schema,
    SchemaReader,
    convert_fields,
    make_row,
    read_gold,
    required_keys,
)
from classic_rc.datasets.squad import UNANSWERABLE, accept_as_in_2
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Task


def _passage_of_race(row: Node) -> str:
    return row.name("example_id").removesuffix(".txt")


def _level_of_race(row: Node) -> dict[str, str]:
    level = _passage_of_race(row).rstrip("0123456789")
    return {"level": level} if level else {}


def _passage_of_dream(row: Node) -> str:
    return row.name("dialogue_id")


def _convert_c3(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    """Give each question of a document a row; the ids are those of the authors' files without
    their part.
    """
    lists = {"question": "questions[]", "id": "document_id"}
    return _OF_QUESTION_OF_C3(split_rows(rows, lists, reading)[0], reading)


def _gold_of_c3(row: Node) -> frozenset[int] | None:
    question = row.child("questions[]")
    return read_gold(question, "answer", question.texts("choice"), "text")


_OF_QUESTION_OF_C3 = convert_fields(
    ROW_ID,
    passage=lambda row: "\n".join(row.texts("documents")),
    passage_id=lambda row: row.name("document_id"),
    question=lambda row: row.child("questions[]").text("question"),
    candidates=lambda row: row.child("questions[]").texts("choice"),
    gold=_gold_of_c3,
    meta=lambda row: {"genre": GENRES["d" if len(row.texts("documents")) > 1 else "m"]},
)


def _answer_of_arc(row: Node) -> frozenset[int] | None:
    choices = row.child("choices")
    texts, labels = choices.texts("text"), choices.texts("label")
    if len(texts) != len(labels):
        raise choices.error(
            "lists of different lengths", found=f"{len(texts)} texts, {len(labels)} labels"
        )
    return read_gold(row, "answerKey", texts, "label", labels)


def _convert_squad(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    rows = list(rows)
    is_2 = any(_lacks_answer(node) for node in rows)
    for node in rows:
        with reading.at(node):
            is_multi_span = node.has("context_id")
            answers = node.child("answers")
            gold = list(answers.texts("text"))
            if not gold:
                reading.count(UNANSWERABLE)
            starts = answers.integers("answer_start")
            spans = [(start, start + len(text)) for start, text in zip(starts, gold, strict=False)]
            task = Task.MULTI_SPAN if is_multi_span else Task.SPAN
            accepted: Sequence[str] = gold
            if not is_multi_span:
                accepted = tuple(dict.fromkeys(gold)) or ("",)
                if is_2 and gold:
                    accepted = accept_as_in_2(accepted)
            yield make_row(
                node,
                id=node.name("id"),
                passage=node.text("context"),
                passage_id=node.name("context_id") if is_multi_span else None,
                question=node.text("question"),
                gold=list(accepted),
                task=task.value,
                meta={"spans": tuple(spans)},
            )


def _lacks_answer(node: Node) -> bool:
    """Return whether a row of SQuAD has no answer, as only version 2.0 has."""
    match node.value:
        case {"answers": {"text": []}}:
            return True
    return False


def _mentions_of_record(row: Node) -> Any:
    if not row.has("entity_spans"):
        return row.texts("entities")
    spans = row.child("entity_spans")
    columns = spans.texts("text"), spans.integers("start"), spans.integers("end")
    return [
        dict(zip(("text", "start", "end"), span, strict=True))
        for span in zip(*columns, strict=False)
    ]


def _convert_multirc(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    """Join the rows of single answers to one row per question. A label of -1 means hidden gold."""
    rows_of_question: dict[tuple[str, str], list[Node]] = {}
    for node in rows:
        with reading.at(node):
            idx = node.child("idx")
            rows_of_question.setdefault((idx.name("paragraph"), idx.name("question")), []).append(
                node
            )
    for (pid, qid), answers in rows_of_question.items():
        first = answers[0]
        with reading.at(first, f"{pid}=={qid}"):
            labels = [answer.integer("label") for answer in answers]
            for answer, label in zip(answers, labels, strict=True):
                if label not in (-1, 0, 1) or (label == -1) != (labels[0] == -1):
                    raise answer.error(
                        "invalid label",
                        field="label",
                        found=str(label),
                        expected="0 or 1, or -1 in all rows of the question",
                    )
                question, first_question = answer.text("question"), first.text("question")
                if question != first_question:
                    raise answer.error(
                        "rows with the same idx have different questions",
                        field="question",
                        found=describe_value(question),
                        expected=f"{describe_value(first_question)}, as in {first.where}",
                    )
            passage, question = first.text("paragraph"), first.text("question")
            candidates = [answer.text("answer") for answer in answers]
            right = [i for i, label in enumerate(labels) if label]
            answer_numbers = [answer.child("idx").integer("answer") for answer in answers]
            yield make_row(
                first,
                id=f"{pid}=={qid}",
                passage=passage,
                passage_id=pid,
                question=question,
                candidates=candidates,
                gold=None if labels[0] == -1 else right,
                task=Task.MULTIPLE_ANSWER.value,
                meta={"pid": pid, "qid": qid, "answer_idx": tuple(answer_numbers)},
            )


SCHEMAS = (
    Schema(
        "RACE",
        required_keys("article", "question", "options", "answer", "example_id"),
        convert_fields(
            lambda row, number, split: f"{_passage_of_race(row)}-{number}",
            group=_passage_of_race,
            passage="article",
            passage_id=_passage_of_race,
            question="question",
            candidates=lambda row: row.texts("options"),
            gold=lambda row: read_gold(row, "answer", row.texts("options"), "letter"),
            meta=_level_of_race,
        ),
    ),
    Schema("C3", required_keys("documents", "document_id", "questions"), _convert_c3),
    Schema(
        "DREAM",
        required_keys("dialogue_id", "dialogue", "question", "choice", "answer"),
        convert_fields(
            lambda row, number, split: f"{_passage_of_dream(row)}-{number}",
            group=_passage_of_dream,
            passage=lambda row: "\n".join(row.texts("dialogue")),
            passage_id=_passage_of_dream,
            question="question",
            candidates=lambda row: row.texts("choice"),
            gold=lambda row: read_gold(row, "answer", row.texts("choice"), "text"),
        ),
    ),
    Schema(
        "MultiRC",
        required_keys("paragraph", "question", "answer", "label", idx={"paragraph", "question"}),
        _convert_multirc,
    ),
    Schema(
        "ReCoRD",
        required_keys("passage", "query", "entities", "answers", idx={"passage", "query"}),
        convert_fields(
            lambda row, number, split: row.child("idx").name("query"),
            task=Task.CLOZE,
            passage="passage",
            passage_id=lambda row: row.child("idx").name("passage"),
            question="query",
            candidates=_mentions_of_record,
            gold=lambda row: list(dict.fromkeys(row.texts("answers"))) or None,
        ),
    ),
    Schema(
        "SQuAD or Quoref",
        required_keys("id", "context", "question", answers={"text", "answer_start"}),
        _convert_squad,
    ),
    *(
        Schema(
            name,
            required_keys("id", stem, "answerKey", choices={"text", "label"}),
            convert_fields(
                "id",
                passage=lambda row: "",
                question=stem,
                candidates=lambda row: row.child("choices").texts("text"),
                gold=_answer_of_arc,
            ),
        )
        for name, stem in (("ARC", "question"), ("OpenBookQA", "question_stem"))
    ),
)
"""The schemas that only the hub has, in the order in which they are tried."""

_OF_OTHER_READERS = (QUAIL, COSMOS_QA, *LOGIQA, LOGIQA_2, BOOLQ, BELEBELE)
"""The schemas that the authors' files have too; a file of them is read by the dataset's own
reader.
"""


class HuggingFaceReader(SchemaReader):
    """Files of rows that ``datasets`` exports (JSON lines or a JSON list): RACE, MultiRC, ReCoRD,
    SQuAD and others.

    :func:`classic_rc.datasets.from_rows` reads the same schemas from rows in memory.
    """

    name = "huggingface"
    title = "Hugging Face rows"
    description = "Exported rows of RACE, SuperGLUE, SQuAD, Quoref, ARC, OpenBookQA, DREAM or C3."
    citation = "The cards of these datasets on the Hugging Face hub"
    cites = ("classic_rc",)
    is_dataset = False

    schemas = (*SCHEMAS, *_OF_OTHER_READERS)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first row has a schema that only the hub has."""
        return self._schema_of(file) in SCHEMAS


def schema_of(row: Any) -> Schema | None:
    """Return the schema of a row, or None."""
    return next((schema for schema in HuggingFaceReader.schemas if schema.fits(row)), None)
