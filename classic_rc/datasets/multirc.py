"""The readers of MultiRC, in its original JSON and in SuperGLUE's form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from classic_rc.datasets.base import Reader, Reading
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Candidate, Question, Task, TextCandidates

_MARK = re.compile(r"<b>Sent ([0-9]{1,6}): </b>")


class MultiRCReader(Reader):
    """MultiRC's JSON: paragraphs with marked sentences, questions with any number of right options.

    The marks ``<b>Sent k: </b>…<br>`` are removed. The sentences, stripped and joined by one space, are the
    passage's text, and their offsets are its ``sentences``. A question's id is ``pid==qid``; ``meta`` has ``pid``,
    ``qid``, ``sentences_used`` (from 0) and ``multisent``. A question may have no right option.
    """

    name: ClassVar[str] = "multirc"
    published_as: ClassVar[str] = "MultiRC"
    title: ClassVar[str] = "MultiRC"
    description: ClassVar[str] = (
        "Paragraphs with questions that have any number of right options: the original JSON."
    )
    citation: ClassVar[str] = (
        "Khashabi, Chaturvedi, Roth, Upadhyay and Roth 2018, Looking Beyond the Surface: A Challenge Set for "
        "Reading Comprehension over Multiple Sentences, NAACL"
    )
    cites = ("khashabi2018multirc",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the data are paragraphs."""
        data = file.head.get("data") if isinstance(file.head, dict) else None
        return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "paragraph" in data[0]

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every paragraph."""
        for entry in file.root().items("data"):
            with reading.at(entry):
                yield from _read_paragraph(entry, file, reading)


class SuperGLUEReader(Reader):
    """MultiRC in SuperGLUE's form: one passage per line, ``label`` 0 or 1 per answer, hidden in the test set.

    A question's id is ``passage idx==question idx``. For submissions, ``meta`` has both as ``pid`` and ``qid``, and
    the ``idx`` of the answers as ``answer_idx``.
    """

    name: ClassVar[str] = "superglue"
    title: ClassVar[str] = "MultiRC (SuperGLUE)"
    dataset: ClassVar[str] = "multirc"
    description: ClassVar[str] = "MultiRC in SuperGLUE's JSON lines, labels optional."
    citation: ClassVar[str] = (
        "Wang, Pruksachatkun, Nangia, Singh, Michael, Hill, Levy and Bowman 2019, SuperGLUE: A Stickier Benchmark "
        "for General-Purpose Language Understanding Systems, NeurIPS"
    )
    cites = ("wang2019", "khashabi2018multirc")

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first line is a passage with its text and questions; predictions have no text."""
        passage = file.head.get("passage") if isinstance(file.head, dict) else None
        return isinstance(passage, dict) and "questions" in passage and "text" in passage

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every passage."""
        for record in file.records(reading.guard):
            with reading.at(record):
                yield from _read_superglue_record(record, file, reading)


def _read_paragraph(entry: Node, file: InputFile, reading: Reading) -> Iterator[Question]:
    pid, paragraph = entry.name("id"), entry.child("paragraph")
    text, sentences = _remove_marks(paragraph)
    passage = reading.passage(pid, text, file.name, paragraph.where, sentences)
    for node in paragraph.items("questions"):
        with reading.at(node):
            qid, answers = node.name("idx"), list(node.items("answers"))
            used = node.integers("sentences_used")
            if unknown := [i for i in used if not 0 <= i < len(sentences)]:
                raise node.error(
                    "unknown sentence",
                    field="sentences_used",
                    found=f"{unknown[0]}",
                    expected=f"0 to {len(sentences) - 1}",
                )
            yield Question(
                f"{pid}=={qid}",
                passage,
                node.text("question"),
                _read_candidates(node, answers),
                _read_gold(answers, "isAnswer", Node.flag),
                Task.MULTIPLE_ANSWER,
                reading.meta(pid=pid, qid=qid, sentences_used=tuple(used), multisent=node.flag("multisent")),
            )


def _read_superglue_record(record: Node, file: InputFile, reading: Reading) -> Iterator[Question]:
    pid, content = record.name("idx"), record.child("passage")
    passage = reading.passage(pid, content.text("text"), file.name, record.where)
    for node in content.items("questions"):
        with reading.at(node):
            qid, answers = node.name("idx"), list(node.items("answers"))
            yield Question(
                f"{pid}=={qid}",
                passage,
                node.text("question"),
                _read_candidates(node, answers),
                _read_gold(answers, "label", _read_label),
                Task.MULTIPLE_ANSWER,
                reading.meta(pid=pid, qid=qid, answer_idx=tuple(answer.integer("idx") for answer in answers)),
            )


def _read_candidates(question: Node, answers: list[Node]) -> Sequence[Candidate]:
    """Return the answers as candidates; there must be at least one."""
    if not answers:
        raise question.error(
            "no candidates", field="answers", found="an empty list", expected="at least one answer"
        )
    return TextCandidates(answer.text("text") for answer in answers)


def _read_gold(answers: list[Node], key: str, read_flag: Callable[[Node, str], bool]) -> frozenset[int] | None:
    """Return the positions of the answers flagged as right; None (hidden gold) if no answer has the flag."""
    if not any(answer.has(key) for answer in answers):
        return None
    return frozenset(i for i, answer in enumerate(answers) if read_flag(answer, key))


def _read_label(node: Node, key: str) -> bool:
    """Return the label at a key, 0 or 1, as a bool."""
    label = node.integer(key)
    if label in (0, 1):
        return label == 1
    raise node.error("invalid label", field=key, found=describe_value(label), expected="0 or 1")


def _remove_marks(paragraph: Node) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without sentence marks, and the offsets of its sentences."""
    before, *parts = _MARK.split(paragraph.text("text"))
    texts = [part.replace("<br>", " ").strip() for part in parts[1::2]]
    if before.strip() or not parts or [int(number) for number in parts[::2]] != list(range(1, len(texts) + 1)):
        raise paragraph.error(
            "sentences are not marked in order",
            field="text",
            found=describe_value(paragraph.text("text")),
            expected="'<b>Sent 1: </b>…<br><b>Sent 2: </b>…<br>'",
        )
    if "" in texts:
        raise paragraph.error("empty sentence", field="text", found=f"Sent {texts.index('') + 1}", expected="text")
    sentences, end = [], -1
    for text in texts:
        start = end + 1
        end = start + len(text)
        sentences.append((start, end))
    return " ".join(texts), sentences
