"""MultiRC's prediction files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from classic_rc.formats.base import Format, Key, decide_from_scores, first_answer, in_question_order, score_at
from classic_rc.io.json import Node, parse_json
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task


class MultiRCFormat(Format):
    """A list with one object per question: its ids and one number per option.

    If all numbers of a file are 0 or 1 they are decisions, otherwise raw scores. The keys of a question are ``pid``
    and ``qid`` in its meta, if the dataset has them, else the ids of the passage and the question.
    """

    name = "multirc"
    description = '[{"pid", "qid", "scores": [a number for each option]}]: raw scores, or 0/1 decisions'
    citation = "Khashabi et al. 2018, MultiRC: the released baseline-scores and multirc_measures.py"
    tasks = frozenset({Task.MULTIPLE_ANSWER})
    holds = frozenset({"scores", "decisions"})
    readers = frozenset({"multirc"})
    around = ("[\n", ",\n", "\n]\n")

    def recognises(self, text: str) -> bool:
        """Return whether the text starts a JSON list."""
        return text.lstrip().startswith("[")

    def has_scores(self, text: str, source: str) -> bool:
        """Return whether some number of the text is neither 0 nor 1."""
        return _are_scores(Node(parse_json(text, source), source).elements())

    def parse(
        self, text: str, questions: Sequence[Question], source: str, *, partial: bool = False
    ) -> Scores | list[Prediction]:
        """Parse the numbers of a text, as decisions if they are all 0 or 1; see :meth:`read`."""
        nodes = list(Node(parse_json(text, source), source).elements())
        entries = (((node.text("pid"), node.name("qid")), node) for node in nodes)
        ordered = in_question_order(entries, map(_question_key, questions), ("pid", "qid"), source, partial=partial)
        rows = [
            _read_row(node, len(question.candidates)) for node, question in zip(ordered, questions, strict=True)
        ]
        # All entries decide, not only the selected questions: a part of a file of scores may be all 0 and 1.
        if _are_scores(nodes):
            return Scores.from_lists(rows, relative_ties=True)
        selected = (frozenset(i for i, score in enumerate(row) if score) for row in rows)
        return [decide_from_scores(question, answer) for question, answer in zip(questions, selected, strict=True)]

    def render(
        self, questions: Sequence[Question], scores: Scores | None, predictions: Sequence[Prediction] | None
    ) -> str:
        """Return the elements of a list, one line per question, of raw scores if any; see :meth:`write_blocks`."""
        if scores is not None:
            rows = [row.tolist() for row in scores]
        else:
            answers = map(first_answer, predictions or ())
            rows = [
                [int(i in answer) for i in range(len(question.candidates))]
                for question, answer in zip(questions, answers, strict=True)
            ]
        keys = map(_question_key, questions)
        entries = [{"pid": pid, "qid": qid, "scores": row} for (pid, qid), row in zip(keys, rows, strict=True)]
        return ",\n".join(map(json.dumps, entries))


def _question_key(question: Question) -> Key:
    meta = question.meta
    return str(meta.get("pid", question.passage.id)), str(meta.get("qid", question.id))


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
