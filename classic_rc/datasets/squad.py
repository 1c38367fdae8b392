"""The readers of SQuAD-like JSON: SQuAD itself, and Quoref."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from classic_rc.datasets.base import Reader, has_path
from classic_rc.datasets.reading import Reading
from classic_rc.io.archives import InputFile
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Gold, Passage, Question, Task
from classic_rc.text.squad import normalise_squad_answer

UNANSWERABLE = "questions without an answer, kept with the empty text as gold"
"""The note that counts questions without an answer."""


class SquadReader(Reader):
    """SQuAD 1.1 and 2.0, and datasets of the same form. Any one of the accepted spans is enough.

    ``is_impossible`` questions of 2.0 are kept, with the empty text as the only right answer, as in
    the official 2.0 evaluation, and the notes count them. Accepted texts follow the 2.0 evaluation
    too, which takes no text that normalises to nothing (:func:`accept_as_in_2`). ``meta["spans"]``
    has the answers' offsets (start, end). An offset at which the passage does not have the answer's
    text is moved to the nearest occurrence, and counted. A passage's id is ``article-paragraph``,
    both numbers from 0.
    """

    name = "squad"
    published_as = "SQuAD"
    title = "SQuAD-like JSON"
    description = "Questions answered by a span of their passage: data, paragraphs, qas."
    citation = (
        "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD: 100,000+ Questions for Machine "
        "Comprehension of Text, EMNLP; Rajpurkar, Jia and Liang 2018, Know What You Don't Know, ACL"
    )
    cites: ClassVar[tuple[str, ...]] = ("rajpurkar2016", "rajpurkar2018")
    is_dataset = False
    task: ClassVar[Task] = Task.SPAN

    def recognises(self, file: InputFile) -> bool:
        """Return whether the data are articles of paragraphs with a context; Quoref's have a
        ``context_id``.
        """
        has_context, has_questions, has_id = (
            has_path(file.head, "data", 0, "paragraphs", 0, key)
            for key in ("context", "qas", "context_id")
        )
        return has_context and has_questions and has_id == (self.task is Task.MULTI_SPAN)

    def questions(self, file: InputFile, reading: Reading) -> Iterator[Question]:
        """Yield the questions of every paragraph."""
        for a, article in enumerate(file.root().items("data")):
            with reading.at(article):
                meta = {"title": article.text("title")} if article.has("title") else None
                for p, paragraph in enumerate(article.items("paragraphs")):
                    with reading.at(paragraph):
                        id = (
                            paragraph.name("context_id")
                            if self.task is Task.MULTI_SPAN
                            else f"{a}-{p}"
                        )
                        context = paragraph.text("context")
                        passage = reading.passage(
                            id, context, file.name, paragraph.where, meta=meta
                        )
                        yield from self._passage_questions(paragraph, passage, reading)

    def _passage_questions(
        self, paragraph: Node, passage: Passage, reading: Reading
    ) -> Iterator[Question]:
        for node in paragraph.items("qas"):
            with reading.at(node):
                gold, facts = self._gold(node, passage, reading)
                meta = reading.meta(**facts)
                yield Question(
                    node.name("id"), passage, node.text("question"), (), gold, self.task, meta
                )

    def _gold(self, node: Node, passage: Passage, reading: Reading) -> tuple[Gold, dict[str, Any]]:
        """Return a question's gold, and the facts about it for the question's meta."""
        if node.has("is_impossible") and node.flag("is_impossible"):
            reading.count(UNANSWERABLE)
            return ("",), {"is_impossible": True}
        if not node.has("answers"):
            return None, {}
        answers = list(node.items("answers"))
        if not answers:
            expected = (
                "at least one answer, is_impossible: true, or no key 'answers' if gold is hidden"
            )
            raise node.error("no answer", field="answers", found="an empty list", expected=expected)
        texts = [answer.text("text") for answer in answers]
        spans, passage_text = [], passage.text
        for text, answer in zip(texts, answers, strict=True):
            start = answer.integer("answer_start")
            spans.append(_locate_answer(text, start, passage_text, reading, node.source))
        # In SQuAD equal texts are annotators who agree. In Quoref each span counts, so equal texts
        # stay.
        accepted = tuple(texts) if self.task is Task.MULTI_SPAN else tuple(dict.fromkeys(texts))
        if node.has("is_impossible"):
            accepted = accept_as_in_2(accepted)
        return accepted, {"spans": tuple(span for span in spans if span)}


def accept_as_in_2(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the answers that the script of SQuAD 2.0 accepts: those that are not empty after
    normalisation.

    If all are empty, the script accepts the empty answer.

    Examples
    --------
    >>> accept_as_in_2(("the", "the owl")), accept_as_in_2(("the",))
    (('the owl',), ('', 'the'))
    """
    return tuple(text for text in texts if normalise_squad_answer(text)) or ("", *texts)


class QuorefReader(SquadReader):
    """Quoref's JSON, which differs from SQuAD's by ``context_id``.

    All ``answers`` of a question together are its one answer. Fifty of the 2,768 offsets in the dev
    set are wrong and are moved; see :class:`~classic_rc.datasets.squad.SquadReader`.
    """

    name = "quoref"
    published_as = "Quoref"
    title = "Quoref"
    description = "Questions that need coreference, answered by one span or several together."
    citation = (
        "Dasigi, Liu, Marasović, Smith and Gardner 2019, Quoref: A Reading Comprehension Dataset "
        "with Questions Requiring Coreferential Reasoning, EMNLP"
    )
    cites = ("dasigi2019",)
    is_dataset = True
    task = Task.MULTI_SPAN


def _locate_answer(
    text: str, start: int, passage: str, reading: Reading, source: str
) -> tuple[int, int] | None:
    """Return the offsets of an answer at `start` or at its nearest occurrence, or None."""
    if start < 0 or passage[start : start + len(text)] != text:
        start = max(start, 0)
        # The last occurrence that starts at or before `start`, and the first one from there on; -1
        # is none.
        starts = passage.rfind(text, 0, start + len(text)), passage.find(text, start)
        if starts == (-1, -1):
            reading.repair(
                "answers whose text is not in their passage (kept)", source, describe_value(text)
            )
            return None
        actual = f"{describe_value(passage[start : start + len(text)])} at {start}"
        reading.repair(
            "answer offsets moved to the answer's text", source, actual, describe_value(text)
        )
        occurrences = [occurrence for occurrence in starts if occurrence >= 0]
        start = min(occurrences, key=lambda occurrence: abs(occurrence - start))
    return start, start + len(text)
