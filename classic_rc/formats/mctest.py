"""MCTest's files: the authors' score files, and the files of answer letters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.formats.base import Format, decide_from_scores, first_answer, format_option
from classic_rc.io.json import Node
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task

QUESTIONS_PER_STORY = 4

_AUTHORS = "Richardson, Burges and Renshaw 2013, MCTest: the data and the results released by the authors"
_NUMBER = re.compile(r"[-+]?(?:\d++\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


class _StoryFormat(Format):
    """One line per story, its four questions separated by tabs, in the order of the dataset."""

    tasks = frozenset({Task.SINGLE_CHOICE})
    readers = frozenset({"mctest"})
    citation = _AUTHORS

    def read_cells(self, text: str, questions: Sequence[Question], source: str) -> Iterator[tuple[Question, Node]]:
        """Yield each question with its cell."""
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

    def join_cells(self, questions: Sequence[Question], cells: Sequence[str]) -> str:
        """Return the text with one cell per question."""
        self.group_stories(questions)
        rows = (cells[i : i + QUESTIONS_PER_STORY] for i in range(0, len(cells), QUESTIONS_PER_STORY))
        return "".join("\t".join(row) + "\n" for row in rows)

    def group_stories(self, questions: Sequence[Question]) -> list[list[Question]]:
        """Return the questions of each story.

        Raises
        ------
        UsageError
            A story does not have exactly four consecutive questions.
        """
        stories = [list(group) for _, group in groupby(questions, key=lambda question: id(question.passage))]
        for story in stories:
            if len(story) != QUESTIONS_PER_STORY:
                raise UsageError(
                    f"the format {self.name} needs {QUESTIONS_PER_STORY} consecutive questions for each passage, "
                    f"but passage {story[0].passage.id} has {len(story)}: use another format, such as jsonl",
                    field="format",
                    found=f"{len(story)} consecutive questions for passage {story[0].passage.id}",
                    expected=f"{QUESTIONS_PER_STORY}",
                )
        return stories


class MCTestScoresFormat(_StoryFormat):
    """The authors' score files: the scores of a question's four options, separated by commas, to five decimals.

    Five decimals make small scores equal: a question whose best candidates they would change has more.
    """

    name = "mctest-scores"
    description = "a line for each story: questions separated by tabs, scores of options by commas, to 5 decimals"
    holds = frozenset({"scores"})

    def recognises(self, text: str) -> bool:
        """Return whether the text starts with a number and a separator."""
        return bool(_NUMBER.fullmatch(re.split(r"[,\t\n]", text.lstrip(), maxsplit=1)[0].strip()))

    def parse(self, text: str, questions: Sequence[Question], source: str, *, partial: bool = False) -> Scores:
        """Parse the scores of a text; see :meth:`read`."""
        rows = (
            _parse_scores(cell, len(question.candidates))
            for question, cell in self.read_cells(text, questions, source)
        )
        return Scores.from_lists(rows, relative_ties=True)

    def render(
        self, questions: Sequence[Question], scores: Scores | None, predictions: Sequence[Prediction] | None
    ) -> str:
        """Return the lines of scores; see :meth:`write`.

        A question whose best candidates five decimals would change gets all digits.
        """
        return self.join_cells(questions, list(map(_format_row, scores or ())))


class MCTestAnswersFormat(_StoryFormat):
    """MCTest's answer files (``.ans``): the letter of the chosen option of each question."""

    name = "mctest-answers"
    description = "a line for each story: the letters of the answers, separated by tabs"
    holds = frozenset({"decisions"})

    def recognises(self, text: str) -> bool:
        """Return whether the first cell of the text is one capital letter."""
        return bool(re.match(r"\s*[A-Z](?:\t|\s*$)", text, re.MULTILINE))

    def parse(
        self, text: str, questions: Sequence[Question], source: str, *, partial: bool = False
    ) -> list[Prediction]:
        """Parse the letters of a text as decisions; see :meth:`read`."""
        return [
            decide_from_scores(question, frozenset({_parse_option(cell, len(question.candidates))}))
            for question, cell in self.read_cells(text, questions, source)
        ]

    def render(
        self, questions: Sequence[Question], scores: Scores | None, predictions: Sequence[Prediction] | None
    ) -> str:
        """Return the lines of letters; see :meth:`write`."""
        return self.join_cells(
            questions, [format_option(*first_answer(prediction)) for prediction in predictions or ()]
        )


def _parse_scores(cell: Node, n_options: int) -> list[float]:
    texts = [text.strip() for text in cell.value.split(",")]
    if len(texts) != n_options:
        expected = f"{n_options}, one for each option"
        raise cell.error("wrong number of comma-separated scores", found=f"{len(texts)}", expected=expected)
    for option, text in enumerate(texts, start=1):
        if not (_NUMBER.fullmatch(text) and math.isfinite(float(text))):
            place = Node(text, cell.source, f"{cell.where}, option {option}")
            raise place.error("invalid score", found=repr(text[:50]), expected="a finite number")
    return [float(text) for text in texts]


def _format_row(row: NDArray[np.float64]) -> str:
    rounded = [round(score, 5) for score in row.tolist()]
    before, after = (Scores.from_lists([s], relative_ties=True).are_best() for s in (row.tolist(), rounded))
    return ", ".join(map(_format_score, rounded if np.array_equal(before, after) else row.tolist()))


def _format_score(score: float) -> str:
    """Return a score in .NET's notation: 1.203, 2, 2E-05, and 0 for minus zero."""
    return repr(score + 0.0).removesuffix(".0").upper()


def _parse_option(cell: Node, n_options: int) -> int:
    letters = [format_option(option) for option in range(n_options)]
    if cell.value in letters:
        return letters.index(cell.value)
    raise cell.error("invalid answer", found=repr(cell.value[:50]), expected=", ".join(letters))
