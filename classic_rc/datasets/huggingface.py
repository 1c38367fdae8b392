"""The reader of rows in the schemas of Hugging Face datasets, which it converts to rows of our own schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from classic_rc.datasets.arc import decode_answer_key
from classic_rc.datasets.base import Reader, Reading
from classic_rc.datasets.belebele import BELEBELE
from classic_rc.datasets.boolq import BOOLQ
from classic_rc.datasets.cosmosqa import COSMOS_QA
from classic_rc.datasets.dream import GENRES, decode_answer_text
from classic_rc.datasets.logiqa import LOGIQA, LOGIQA_2
from classic_rc.datasets.quail import QUAIL
from classic_rc.datasets.rows import read_questions
from classic_rc.datasets.schema import Schema, make_row, required_keys, single_index
from classic_rc.datasets.squad import UNANSWERABLE, accept_as_in_2
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Question, Task


class HuggingFaceReader(Reader):
    """Files of rows that ``datasets`` exports (JSON lines or a JSON list): RACE, MultiRC, ReCoRD, SQuAD and others.

    :func:`classic_rc.datasets.from_rows` reads the same schemas from rows in memory.
    """

    name: ClassVar[str] = "huggingface"
    title: ClassVar[str] = "Hugging Face rows"
    description: ClassVar[str] = "Exported rows of RACE, SuperGLUE, SQuAD, Quoref, ARC, OpenBookQA, DREAM or C3."
    citation: ClassVar[str] = "The cards of these datasets on the Hugging Face hub"
    cites = ("classic_rc",)
    is_dataset: ClassVar[bool] = False

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first row has a known schema."""
        first = next(file.records(suppress(DataError)), None) if file.head is not None else None
        return first is not None and any(schema.fits(first.value) for schema in SCHEMAS)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of the rows, which all have one schema."""
        rows = list(file.records(reading.guard))
        schema = schema_of(rows[0].value) if rows else None
        if schema is None:
            known = ", ".join(dict.fromkeys(schema.name for schema in (*SCHEMAS, *_OF_OTHER_READERS)))
            raise DataError(
                "unknown row schema",
                source=file.name,
                found=describe_value(rows[0].value) if rows else "no row",
                expected=f"rows of {known}",
            )
        return read_questions(schema.convert(rows, reading), reading)


def schema_of(row: Any) -> Schema | None:
    """Return the schema of a row, or None."""
    return next((schema for schema in (*SCHEMAS, *_OF_OTHER_READERS) if schema.fits(row)), None)


def _convert_race(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    n_questions: Counter[str] = Counter()
    for node in rows:
        with reading.at(node):
            passage = node.name("example_id").removesuffix(".txt")
            number, n_questions[passage] = n_questions[passage], n_questions[passage] + 1
            options = node.texts("options")
            level = passage.rstrip("0123456789")
            yield make_row(
                node,
                id=f"{passage}-{number}",
                passage=node.text("article"),
                passage_id=passage,
                question=node.text("question"),
                candidates=options,
                gold=single_index(
                    decode_answer_key(node, "answer", [chr(ord("A") + i) for i in range(min(len(options), 26))])
                ),
                task=Task.SINGLE_CHOICE.value,
                meta={"level": level} if level else {},
            )


def _convert_dream(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    n_questions: Counter[str] = Counter()
    for node in rows:
        with reading.at(node):
            passage = node.name("dialogue_id")
            number, n_questions[passage] = n_questions[passage], n_questions[passage] + 1
            choices = node.texts("choice")
            yield make_row(
                node,
                id=f"{passage}-{number}",
                passage="\n".join(node.texts("dialogue")),
                passage_id=passage,
                question=node.text("question"),
                candidates=choices,
                gold=single_index(decode_answer_text(node, "answer", choices)),
                task=Task.SINGLE_CHOICE.value,
            )


def _convert_c3(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    """Give each question of a document a row; the ids are those of the authors' files without their part."""
    for node in rows:
        with reading.at(node):
            id, documents = node.name("document_id"), node.texts("documents")
            for i, asked in enumerate(_list_objects(node.child("questions"))):
                with reading.at(asked, f"{id}-{i}"):
                    choices = asked.texts("choice")
                    yield make_row(
                        asked,
                        id=f"{id}-{i}",
                        passage="\n".join(documents),
                        passage_id=id,
                        question=asked.text("question"),
                        candidates=choices,
                        gold=single_index(decode_answer_text(asked, "answer", choices)),
                        task=Task.SINGLE_CHOICE.value,
                        meta={"genre": GENRES["d" if len(documents) > 1 else "m"]},
                    )


def _list_objects(node: Node) -> Iterator[Node]:
    """Yield the objects of a list, which older versions of ``datasets`` store as an object of lists."""
    if not isinstance(node.value, Mapping):
        yield from node.elements()
        return
    columns = {key: node.sequence(key) for key in node.value}
    if len({len(column) for column in columns.values()}) > 1:
        found = ", ".join(f"{len(column)} of {key}" for key, column in columns.items())
        raise node.error("lists of different lengths", found=found, expected="one of each for each question")
    for values in zip(*columns.values(), strict=True):
        yield node.with_value(dict(zip(columns, values, strict=True)))


def _convert_arc(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    for node in rows:
        with reading.at(node):
            choices = node.child("choices")
            texts, labels = choices.texts("text"), choices.texts("label")
            if len(texts) != len(labels):
                raise choices.error("lists of different lengths", found=f"{len(texts)} texts, {len(labels)} labels")
            yield make_row(
                node,
                id=node.name("id"),
                passage="",
                question=node.text("question" if node.has("question") else "question_stem"),
                candidates=texts,
                gold=single_index(decode_answer_key(node, "answerKey", labels)),
                task=Task.SINGLE_CHOICE.value,
            )


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
            accepted = tuple(dict.fromkeys(gold)) or ("",)
            starts = answers.integers("answer_start")
            yield make_row(
                node,
                id=node.name("id"),
                passage=node.text("context"),
                passage_id=node.name("context_id") if is_multi_span else None,
                question=node.text("question"),
                gold=gold if is_multi_span else list(accept_as_in_2(accepted) if is_2 and gold else accepted),
                task=(Task.MULTI_SPAN if is_multi_span else Task.SPAN).value,
                meta={
                    "spans": tuple((start, start + len(text)) for start, text in zip(starts, gold, strict=False))
                },
            )


def _lacks_answer(node: Node) -> bool:
    """Return whether a row of SQuAD has no answer, as only version 2.0 has."""
    answers = node.value.get("answers") if isinstance(node.value, Mapping) else None
    return isinstance(answers, Mapping) and answers.get("text") == []


def _convert_record(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    for node in rows:
        with reading.at(node):
            idx = node.child("idx")
            candidates: Any = node.texts("entities")
            if node.has("entity_spans"):
                spans = node.child("entity_spans")
                columns = spans.texts("text"), spans.integers("start"), spans.integers("end")
                candidates = [
                    dict(zip(("text", "start", "end"), span, strict=True)) for span in zip(*columns, strict=False)
                ]
            yield make_row(
                node,
                id=idx.name("query"),
                passage=node.text("passage"),
                passage_id=idx.name("passage"),
                question=node.text("query"),
                candidates=candidates,
                gold=list(dict.fromkeys(node.texts("answers"))) or None,
                task=Task.CLOZE.value,
            )


def _convert_multirc(rows: Iterable[Node], reading: Reading) -> Iterator[Node]:
    """Join the rows of single answers to one row per question. A label of -1 means hidden gold."""
    rows_of_question: dict[tuple[str, str], list[Node]] = {}
    for node in rows:
        with reading.at(node):
            idx = node.child("idx")
            rows_of_question.setdefault((idx.name("paragraph"), idx.name("question")), []).append(node)
    for (pid, qid), answers in rows_of_question.items():
        with reading.at(answers[0], f"{pid}=={qid}"):
            labels = [answer.integer("label") for answer in answers]
            first = answers[0]
            for answer, label in zip(answers, labels, strict=True):
                if label not in (-1, 0, 1) or (label == -1) != (labels[0] == -1):
                    raise answer.error(
                        "invalid label",
                        field="label",
                        found=str(label),
                        expected="0 or 1, or -1 in all rows of the question",
                    )
                if answer.text("question") != first.text("question"):
                    raise answer.error(
                        "rows with the same idx have different questions",
                        field="question",
                        found=describe_value(answer.text("question")),
                        expected=f"{describe_value(first.text('question'))}, as in {first.where}",
                    )
            yield make_row(
                first,
                id=f"{pid}=={qid}",
                passage=first.text("paragraph"),
                passage_id=pid,
                question=first.text("question"),
                candidates=[answer.text("answer") for answer in answers],
                gold=None if labels[0] == -1 else [i for i, label in enumerate(labels) if label],
                task=Task.MULTIPLE_ANSWER.value,
                meta={
                    "pid": pid,
                    "qid": qid,
                    "answer_idx": tuple(a.child("idx").integer("answer") for a in answers),
                },
            )


SCHEMAS = (
    Schema("RACE", required_keys("article", "question", "options", "answer", "example_id"), _convert_race),
    Schema("C3", required_keys("documents", "document_id", "questions"), _convert_c3),
    Schema("DREAM", required_keys("dialogue_id", "dialogue", "question", "choice", "answer"), _convert_dream),
    Schema(
        "MultiRC",
        required_keys("paragraph", "question", "answer", "label", idx={"paragraph", "question"}),
        _convert_multirc,
    ),
    Schema(
        "ReCoRD",
        required_keys("passage", "query", "entities", "answers", idx={"passage", "query"}),
        _convert_record,
    ),
    Schema(
        "SQuAD or Quoref",
        required_keys("id", "context", "question", answers={"text", "answer_start"}),
        _convert_squad,
    ),
    Schema("ARC", required_keys("id", "question", "answerKey", choices={"text", "label"}), _convert_arc),
    Schema(
        "OpenBookQA", required_keys("id", "question_stem", "answerKey", choices={"text", "label"}), _convert_arc
    ),
)
"""The schemas that only the hub has, in the order in which they are tried."""

_OF_OTHER_READERS = (QUAIL, COSMOS_QA, *LOGIQA, LOGIQA_2, BOOLQ, BELEBELE)
"""The schemas that the authors' files have too; a file of them is read by the dataset's own reader."""
