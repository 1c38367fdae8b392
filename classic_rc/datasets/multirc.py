"""The readers of MultiRC, in its original JSON and in SuperGLUE's form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import methodcaller
from typing import Any

from classic_rc.datasets.base import Reader, has_path, join_parts
from classic_rc.datasets.reading import Reading
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Passage, Question, Task, TextCandidates

_MARK = re.compile(r"<b>Sent ([0-9]{1,6}): </b>")


class MultiRCReader(Reader):
    """MultiRC's JSON: paragraphs with marked sentences, questions with any number of right options.

    The marks ``<b>Sent k: </b>…<br>`` are removed. The sentences, stripped and joined by one space,
    are the passage's text, and their offsets are its ``sentences``. A question's id is
    ``pid==qid``; ``meta`` has ``pid``, ``qid``, ``sentences_used`` (from 0) and ``multisent``. A
    question may have no right option.
    """

    name = "multirc"
    published_as = "MultiRC"
    title = "MultiRC"
    description = (
        "Paragraphs with questions that have any number of right options: the original JSON."
    )
    citation = (
        "Khashabi, Chaturvedi, Roth, Upadhyay and Roth 2018, Looking Beyond the Surface: A "
        "Challenge Set for Reading Comprehension over Multiple Sentences, NAACL"
    )
    cites = ("khashabi2018multirc",)

    def recognises(self, file: InputFile) -> bool:
        """Return whether the data are paragraphs."""
        return has_path(file.head, "data", 0, "paragraph")

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every paragraph."""
        for entry in file.root().items("data"):
            with reading.at(entry):
                pid, paragraph = entry.name("id"), entry.child("paragraph")
                text, sentences = _remove_marks(paragraph)
                passage = reading.passage(pid, text, file.name, paragraph.where, sentences)
                yield from _read_questions(paragraph, passage, "isAnswer", reading)


class SuperGLUEReader(Reader):
    """MultiRC in SuperGLUE's form: one passage per line, ``label`` 0 or 1 per answer, hidden in the
    test set.

    A question's id is ``passage idx==question idx``. For submissions, ``meta`` has both as ``pid``
    and ``qid``, and the ``idx`` of the answers as ``answer_idx``.
    """

    name = "superglue"
    title = "MultiRC (SuperGLUE)"
    dataset = "multirc"
    description = "MultiRC in SuperGLUE's JSON lines, labels optional."
    citation = (
        "Wang, Pruksachatkun, Nangia, Singh, Michael, Hill, Levy and Bowman 2019, SuperGLUE: A "
        "Stickier Benchmark for General-Purpose Language Understanding Systems, NeurIPS"
    )
    cites = ("wang2019", "khashabi2018multirc")

    def recognises(self, file: InputFile) -> bool:
        """Return whether the first line is a passage with its text and questions; predictions
        have no text.
        """
        return all(has_path(file.head, "passage", key) for key in ("questions", "text"))

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every passage."""
        for record in file.records(reading.guard):
            with reading.at(record):
                pid, content = record.name("idx"), record.child("passage")
                passage = reading.passage(pid, content.text("text"), file.name, record.where)
                yield from _read_questions(content, passage, "label", reading)


def _read_questions(
    content: Node, passage: Passage, key: str, reading: Reading
) -> Iterator[Question]:
    """Yield the questions of a passage; `key` names the flag, or SuperGLUE's label, of right
    answers.
    """
    is_right = read_label if key == "label" else methodcaller("flag", key)
    for node in content.items("questions"):
        with reading.at(node):
            qid, answers = node.name("idx"), list(node.items("answers"))
            facts: dict[str, Any] = {"pid": passage.id, "qid": qid}
            if key == "label":
                facts["answer_idx"] = tuple(answer.integer("idx") for answer in answers)
            else:
                facts |= {
                    "sentences_used": _sentences_used(node, passage),
                    "multisent": node.flag("multisent"),
                }
            if not answers:
                actual, expected = "an empty list", "at least one answer"
                raise node.error("no candidates", field="answers", found=actual, expected=expected)
            question = node.text("question")
            candidates = TextCandidates(answer.text("text") for answer in answers)
            gold = None
            if any(answer.has(key) for answer in answers):
                gold = frozenset(i for i, answer in enumerate(answers) if is_right(answer))
            yield Question(
                f"{passage.id}=={qid}",
                passage,
                question,
                candidates,
                gold,
                Task.MULTIPLE_ANSWER,
                reading.meta(**facts),
            )


def _sentences_used(node: Node, passage: Passage) -> tuple[int, ...]:
    used, n_sentences = tuple(node.integers("sentences_used")), len(passage.sentences or ())
    if unknown := [i for i in used if not 0 <= i < n_sentences]:
        actual, expected = f"{unknown[0]}", f"0 to {n_sentences - 1}"
        raise node.error(
            "unknown sentence", field="sentences_used", found=actual, expected=expected
        )
    return used


def read_label(node: Node) -> bool:
    """Return whether SuperGLUE's label says that an option is right."""
    label = node.integer("label")
    if label in (0, 1):
        return label == 1
    raise node.error("invalid label", field="label", found=describe_value(label), expected="0 or 1")


def _remove_marks(paragraph: Node) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without sentence marks, and the offsets of its sentences."""
    before, *pieces = _MARK.split(paragraph.text("text"))
    texts = [piece.replace("<br>", " ").strip() for piece in pieces[1::2]]
    if (
        before.strip()
        or not pieces
        or [int(number) for number in pieces[::2]] != list(range(1, len(texts) + 1))
    ):
        raise paragraph.error(
            "sentences are not marked in order",
            field="text",
            found=describe_value(paragraph.text("text")),
            expected="'<b>Sent 1: </b>…<br><b>Sent 2: </b>…<br>'",
        )
    if "" in texts:
        raise paragraph.error(
            "empty sentence", field="text", found=f"Sent {texts.index('') + 1}", expected="text"
        )
    return join_parts(texts, " ")
