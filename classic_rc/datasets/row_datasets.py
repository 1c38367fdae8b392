"""The readers of datasets whose files have a row, or an element of XML, for each question: ARC,
Belebele, BoolQ, Cosmos QA, MCScript and QuAIL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from classic_rc.datasets.base import Origin, Reader, has_path
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.schema import (
    Schema,
    SchemaReader,
    convert_fields,
    read_gold,
    required_keys,
)
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.io.json import Node
from classic_rc.io.xml import Element, is_xml, parse_xml
from classic_rc.questions import Dataset, Question, Task, TextCandidates

# --------------------------------------------------------------------------------------------------
# ARC.


_PARAGRAPHS = (
    "each option has paragraphs of its own (choices.para), which are left out; to read them as the "
    "passage: --fields passage=question.choices.para,question=question.stem,"
    "candidates=question.choices.text,gold=answerKey,id=id"
)
_PASSAGES = frozenset("passage context paragraph para article story document".split())


class ArcReader(Reader):
    """JSON lines of ARC, OpenBookQA and datasets of the same form.

    The passage is the question's ``para`` if it has one, and empty otherwise; a note says if
    options have paragraphs of their own. Gold is hidden if a line has no ``answerKey``.
    """

    name = "arc"
    title = "ARC-style JSON lines"
    description = "Science questions: a stem, labelled choices, an answer key; often no passage."
    citation = (
        "Clark, Cowhey, Etzioni, Khot, Sabharwal, Schoenick and Tafjord 2018, Think you have "
        "Solved Question Answering? Try ARC, the AI2 Reasoning Challenge, arXiv:1803.05457"
    )
    cites = ("clark2018",)
    is_dataset = False
    published_as = "ARC"

    def origin(self, question: Question, dataset: Dataset) -> Origin | None:
        """Return ARC Easy or ARC Challenge, by the name of the file, and the split."""
        name, split = super().origin(question, dataset) or ("", None)
        path = dataset.sources[0].path if dataset.sources else ""
        kind = re.search("challenge|easy", path.rpartition("/")[2].lower())
        return (f"{name} {kind.group().title()}", split) if kind else None

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first record has a question with a stem and choices, and no passage
        outside of it.
        """
        first = file.head[0] if isinstance(file.head, list) and file.head else file.head
        is_arc = all(has_path(first, "question", key) for key in ("stem", "choices"))
        return is_arc and _PASSAGES.isdisjoint(first)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield one question per record."""
        for record in file.records(reading.guard):
            with reading.at(record):
                node = record.child("question")
                para = node.text("para") if node.has("para") else ""
                choices = list(node.items("choices"))
                texts = [choice.text("text") for choice in choices]
                labels = [choice.name("label") for choice in choices]
                if any(choice.has("para") for choice in choices):
                    reading.note(_PARAGRAPHS)
                id = record.name("id")
                passage = reading.passage(None, para, file.name, record.where)
                question = node.text("stem")
                yield Question(
                    id,
                    passage,
                    question,
                    TextCandidates(texts),
                    read_gold(record, "answerKey", texts, "label", labels),
                    Task.SINGLE_CHOICE,
                    reading.meta(),
                )


# --------------------------------------------------------------------------------------------------
# Belebele.


_ANSWERS_OF_BELEBELE = tuple(f"mc_answer{number}" for number in range(1, 5))
_LANGUAGE = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")  # a code of FLORES-200
BELEBELE = Schema(
    "Belebele",
    required_keys(
        "link", "question_number", "flores_passage", "question", *_ANSWERS_OF_BELEBELE, "dialect"
    ),
    convert_fields(
        lambda row, number, split: f"{row.text('dialect')}-{number}",
        passage="flores_passage",
        question="question",
        candidates=lambda row: [row.text(key) for key in _ANSWERS_OF_BELEBELE],
        gold=lambda row: read_gold(row, "correct_answer_num", _ANSWERS_OF_BELEBELE, "index1"),
        meta=lambda row: {
            "language": row.text("dialect"),
            "link": row.text("link"),
            "question_number": row.name("question_number"),
        },
    ),
)


class BelebeleReader(SchemaReader):
    """Belebele's files, one for each language: JSON lines, or a table of the same columns.

    ``correct_answer_num`` counts from 1. A question's id is the language and the position in the
    file, from 0 (``eng_Latn-12``), because neither ``link`` nor a passage is unique. ``meta`` has
    ``language``, ``link`` and ``question_number``. In a folder, or in the authors' archive,
    ``subset`` chooses the language.
    """

    name = "belebele"
    title = "Belebele"
    description = "Four-option questions in 122 languages: JSON lines or a table for each language."
    citation = (
        "Bandarkar, Liang, Muller, Artetxe, Shukla, Husa, Goyal, Krishnan, Zettlemoyer and Khabsa "
        "2024, The Belebele Benchmark: a Parallel Reading Comprehension Dataset in 122 Language "
        "Variants, ACL"
    )
    cites = ("bandarkar2024",)
    takes = frozenset({"subset"})
    schemas = (BELEBELE,)
    takes_tables = True

    def split_of(self, file: InputFile) -> str | None:
        """Return the split that the file's name gives; ``test``, the only one of Belebele,
        without one.
        """
        return super().split_of(file) or "test"

    def subset_of(self, file: InputFile) -> str | None:
        """Return the language in the file's name, or None."""
        match = _LANGUAGE.search(file.stem)
        return match.group() if match else None

    def dataset_name(
        self, source: InputFiles, files: list[InputFile], split: str | None, subset: str | None
    ) -> str:
        """Return ``belebele.eng_Latn`` for a file of one language."""
        language = self.subset_of(files[0]) if len(files) == 1 else subset
        if language:
            return f"{self.name}.{language}"
        return super().dataset_name(source, files, split, subset)


# --------------------------------------------------------------------------------------------------
# BoolQ.


ANSWERS = ("no", "yes")
"""The candidates. The right one is at position 0 for false and 1 for true, as in
lm-evaluation-harness.
"""

_SUPERGLUE_KEYS = {"passage", "question", "idx", "label"}
_HIDDEN_KEYS = ({"passage", "question", "title"}, {"passage", "question", "idx"})


def _is_boolq(row: Mapping[str, Any]) -> bool:
    if "answer" in row:
        return isinstance(row["answer"], bool) and not {"options", "choices", "choice"} & row.keys()
    if "label" in row:
        if row.keys() != _SUPERGLUE_KEYS:
            return False
        return type(row["idx"]) is int and row["label"] in (-1, 0, 1)
    return row.keys() in _HIDDEN_KEYS and ("title" in row or type(row["idx"]) is int)


def _read_id(row: Node, number: int, split: str | None) -> str | None:
    """Return an id that rows of other splits do not have, as the authors' files have no ids."""
    if row.has("idx"):
        return row.name("idx")
    return None if row.line is None or split is None else f"{split}-{row.line}"


def _read_gold(row: Node) -> frozenset[int] | None:
    key = "answer" if row.has("answer") else "label"
    flag = row.value.get(key)
    number = int(flag) if isinstance(flag, bool) else flag
    return read_gold(row.with_value({key: number}), key, ANSWERS, "index0")


BOOLQ = Schema(
    "BoolQ",
    required_keys("passage", "question"),
    convert_fields(
        _read_id,
        passage="passage",
        question="question",
        candidates=lambda row: list(ANSWERS),
        gold=_read_gold,
        meta=lambda row: {"title": row.text("title")} if row.has("title") else {},
    ),
    _is_boolq,
)


class BoolQReader(SchemaReader):
    """BoolQ's JSON lines, the authors' or SuperGLUE's: a question with the candidates ``no`` and
    ``yes``.

    ``answer`` (the authors) or ``label`` (SuperGLUE) is true or false, or 1 or 0 as in Hugging
    Face's rows. Gold is hidden without it, or if it is -1. SuperGLUE's ``idx`` is the id; the
    authors' files have none: line 3 of dev is ``dev-3``. ``meta["title"]`` is the title of the
    article.
    """

    name = "boolq"
    title = "BoolQ"
    description = "Yes/no questions about a passage: JSON lines, the authors' or SuperGLUE's."
    citation = (
        "Clark, Lee, Chang, Kwiatkowski, Collins and Toutanova 2019, BoolQ: Exploring the "
        "Surprising Difficulty of Natural Yes/No Questions, NAACL"
    )
    cites = ("clark2019",)
    schemas = (BOOLQ,)


# --------------------------------------------------------------------------------------------------
# Cosmos QA.


_ANSWERS_OF_COSMOS = tuple(f"answer{number}" for number in range(4))
COSMOS_QA = Schema(
    "Cosmos QA",
    required_keys("id", "context", "question", *_ANSWERS_OF_COSMOS),
    convert_fields(
        "id",
        passage="context",
        question="question",
        candidates=lambda row: [row.text(key) for key in _ANSWERS_OF_COSMOS],
        gold=lambda row: read_gold(row, "label", _ANSWERS_OF_COSMOS, "index0"),
    ),
)


class CosmosQAReader(SchemaReader):
    """Cosmos QA's CSV (``train.csv``, ``valid.csv``), and rows of the same keys as JSON lines
    (``test.jsonl``).

    ``label`` counts from 0; gold is hidden if it is missing, empty or -1. "None of the above
    choices ." is an option like others.
    """

    name = "cosmosqa"
    title = "Cosmos QA"
    description = "Everyday narratives with four-option questions: CSV, or JSON lines."
    citation = (
        "Huang, Le Bras, Bhagavatula and Choi 2019, Cosmos QA: Machine Reading Comprehension with "
        "Contextual Commonsense Reasoning, EMNLP"
    )
    cites = ("huang2019",)
    schemas = (COSMOS_QA,)
    takes_tables = True


# --------------------------------------------------------------------------------------------------
# MCScript, and the XML of QuAIL.


class MCScriptReader(Reader):
    """MCScript's XML (SemEval-2018 task 11): ``instance`` elements of a text and questions with two
    answers.

    Question 3 of instance 12 has the id ``12-3``. Gold is hidden if no answer of a question has
    ``correct``. ``meta["type"]`` is the question's type if the file gives it (``text`` or
    ``commonsense``).
    """

    name = "mcscript"
    published_as = "MCScript"
    title = "MCScript"
    description = "Narrations of everyday activities with two-option questions: XML."
    citation = (
        "Ostermann, Modi, Roth, Thater and Pinkal 2018, MCScript: A Novel Dataset for Assessing "
        "Machine Comprehension Using Script Knowledge, LREC"
    )
    cites = ("ostermann2018",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is XML of instances with questions."""
        return is_xml(file, "data", "instance", "questions")

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every instance."""
        return _read_xml(file, reading, _MCSCRIPT)


@dataclass(frozen=True)
class XmlForm:
    """The elements of a dataset's XML: passages with questions, and these with answers."""

    passage: str
    text: str  # the child of a passage with its text
    question: str
    answer: str
    separator: str  # between the ids of passage and question
    # whether elements are their texts, without blanks around them, and wrong answers not marked
    has_texts: bool
    facts: Callable[[Element, Element], dict[str, Any]]  # of passage and question

    def text_of(self, element: Element) -> str:
        """Return the text of a question or an answer."""
        return element.text.strip() if self.has_texts else element.attribute("text")

    def is_right(self, answer: Element) -> bool:
        """Return whether an answer is right: ``correct`` is True or False, in any case."""
        if self.has_texts and "correct" not in answer.attributes:
            return False
        flag = answer.attribute("correct")
        if flag.lower() in ("true", "false"):
            return flag.lower() == "true"
        field, actual = f"{answer.tag}/@correct", repr(flag[:40])
        raise answer.error("invalid value", field=field, found=actual, expected="True or False")


def _read_xml(file: InputFile, reading: Reading, form: XmlForm) -> Iterator[Question]:
    """Yield the questions of an XML file."""
    root = parse_xml(file.text, file.name)
    if root.tag != "data":
        raise root.error("wrong root element", found=f"<{root.tag[:40]}>", expected="<data>")
    for node in root.only(form.passage):
        place = f"line {node.line}"
        with reading.at(place):
            passage_id = node.attribute("id")
            questions = node.child("questions").only(form.question)
            text = node.child(form.text).text
            text = text.strip() if form.has_texts else text
            passage = reading.passage(passage_id, text, file.name, place)
            for question in questions:
                id = f"{passage_id}{form.separator}{question.attributes.get('id')}"
                with reading.at(f"line {question.line}", id):
                    answers = question.only(form.answer)
                    question.attribute("id")
                    candidates = TextCandidates(map(form.text_of, answers))
                    question_text = form.text_of(question)
                    gold = _read_answers(question, answers, form)
                    meta = reading.meta(**form.facts(node, question))
                    yield Question(
                        id, passage, question_text, candidates, gold, Task.SINGLE_CHOICE, meta
                    )


def _read_answers(
    question: Element, answers: list[Element], form: XmlForm
) -> frozenset[int] | None:
    """Return the position of the right answer; None if no answer says whether it is right."""
    tag = form.answer
    if not answers:
        actual, expected = f"no <{tag}>", f"at least one <{tag}>"
        raise question.error("no candidates", field=form.question, found=actual, expected=expected)
    if not any("correct" in answer.attributes for answer in answers):
        return None
    right = [i for i, answer in enumerate(answers) if form.is_right(answer)]
    if len(right) != 1:
        problem, actual = "wrong number of right answers", str(len(right))
        raise question.error(problem, field=f"{tag}/@correct", found=actual, expected="1")
    return frozenset(right)


_MCSCRIPT = XmlForm(
    "instance",
    "text",
    "question",
    "answer",
    "-",
    False,
    lambda instance, question: {k: v for k, v in question.attributes.items() if k == "type"},
)


# --------------------------------------------------------------------------------------------------
# QuAIL.


QUAIL = Schema(
    "QuAIL",
    required_keys("id", "context_id", "context", "question", "question_type", "domain", "answers"),
    convert_fields(
        "id",
        passage="context",
        passage_id=lambda row: row.name("context_id"),
        question="question",
        candidates=lambda row: row.texts("answers"),
        gold=lambda row: read_gold(row, "correct_answer_id", row.texts("answers"), "index0"),
        meta=lambda row: {"type": row.text("question_type"), "domain": row.text("domain")},
    ),
    lambda row: isinstance(row["answers"], (list, tuple)),
)


class QuailReader(SchemaReader):
    """QuAIL's JSON lines and its XML, whose questions have the same ids: ``f141_0`` is question 0
    of text f141.

    ``meta["type"]`` is the type of the question (``Causality``, ``Temporal_order``, …),
    ``meta["domain"]`` that of the text. Unanswerable questions are ordinary ones: their right
    option is "not enough information". In XML their wrong options lack the attribute ``correct``;
    gold is hidden if all options of a question do. The blanks around texts in XML are its
    indentation, and are left out.
    """

    name = "quail"
    title = "QuAIL"
    description = "Four-option questions of nine types in four domains: JSON lines or XML."
    citation = (
        "Rogers, Kovaleva, Downey and Rumshisky 2020, Getting Closer to AI Complete Question "
        "Answering: A Set of Prerequisite Real Tasks, AAAI"
    )
    cites = ("rogers2020",)
    schemas = (QUAIL,)

    def split_of(self, file: InputFile) -> str | None:
        """Return the split that the file's name gives, which can also be ``challenge``."""
        return "challenge" if "challenge" in file.stem.lower() else super().split_of(file)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the file is XML of texts with questions, or has rows of QuAIL."""
        return self._is_xml(file) or super().recognises(file)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every text."""
        if self._is_xml(file):
            return _read_xml(file, reading, _QUAIL)
        return super().questions(file, reading)

    def _is_xml(self, file: InputFile) -> bool:
        return is_xml(file, "data", "text_body", "questions")


_QUAIL = XmlForm(
    "text",
    "text_body",
    "q",
    "a",
    "_",
    True,
    lambda text, question: {"type": question.attribute("type"), "domain": text.attribute("domain")},
)
