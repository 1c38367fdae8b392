"""The format of files of answers in words, which a language model or a person wrote."""

from __future__ import annotations

import copy
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Self

from classic_rc.encodings import READINGS, ReadingOption
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.formats.answer_meaning import AnsweredQuestion, decide_together, write_option
from classic_rc.formats.base import AnswerFile, Format, SystemOutput, first_answer
from classic_rc.formats.layouts import Layout, find_layout, find_positions, has_answers, read_rows
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task


class AnswersFormat(Format):
    """Rows with the id of a question and its answer: a table with a header, JSON lines, or a JSON
    list of objects.

    One JSON object that maps ids to answers is read too, and so are the layouts of
    :data:`classic_rc.formats.layouts.LAYOUTS`: the output of OpenAI's and Anthropic's batches, and
    logs of inspect_ai. Any other JSON lines need the paths of ids and texts:
    ``FILE,id=PATH,text=PATH``. Columns are recognised by name, in any case: ``id``,
    ``question_id``, ``qid``, ``example_id`` or ``idx``, and ``prediction`` (or ``predicted``,
    ``pred``, ``predicted_answer``, ``model_answer``), else one of ``answer``, ``output``,
    ``response``, ``text``, ``generation``, ``generated_text`` and ``model_output``. Other columns
    are ignored. A file with predictions next to ``answer`` has gold there, so the predictions are
    read. A table without ids has an answer for each question, alone or after the question's number
    from 0 or 1.

    ================ ===============================================================================
    single choice    a letter (``B``, ``(B)``, ``B.``, ``B. text``), the text of an option, equal up
    to blanks,
                     case, quotes and a last period, or its index; or a text with the answer in a
                     final form (:mod:`classic_rc.formats.extraction`) or a line of its own; all
                     that a text states must agree
    multiple answers several of these: joined letters (``AC``), joined by commas or semicolons, or a
    JSON list; true
                     or false for each option; ``none`` or an empty list; or a text with these in a
                     final form
    cloze and spans  the text; for several spans a JSON list, or one text
    ================ ===============================================================================

    ``FILE,sample=N`` says that the file answers N of the questions, a sample: its numbers are shown
    next to the systems, and are not compared. What a model wrote before ``</think>`` is not part of
    its answer. With ``FILE,pattern=REGEX`` the answer is what the first group of a regular
    expression finds (the whole match without groups), and nothing else.

    An answer that says none of this counts as wrong. ``null`` is no answer. Several rows for one
    question are samples of one system: their mean counts. All answers together show how they name
    options. If an answer can be read in two ways, such as a number that may count from 0 or from 1,
    and the others do not show which, the file is refused, and ``FILE,reading=index0``,
    ``reading=letter``, ``reading=text`` and so on declare it
    (:data:`classic_rc.encodings.READINGS`).
    """

    name = "answers"
    reading: str | None = None
    """How answers name options, if it is declared: one of :data:`classic_rc.encodings.READINGS`."""
    layout: Layout | None = None
    pattern: re.Pattern[str] | None = None
    sample: str | None = None
    """How many of the questions the file answers, if it is a sample."""

    def with_options(self, options: Mapping[str, str]) -> Self:
        """Return the format with what a specification says of ids, texts, patterns, samples and
        readings.
        """
        format = copy.copy(super().with_options(options))
        format.sample, format.reading = options.get("sample"), options.get("reading")
        if format.reading is not None and format.reading not in READINGS:
            raise unknown_name("reading", format.reading, READINGS)
        if ("id" in options) != ("text" in options):
            raise UsageError(
                "id= and text= belong together: FILE,id=PATH,text=PATH",
                field="id" if "id" in options else "text",
                expected="both paths",
            )
        if "id" in options:
            format.layout = Layout("file with these paths", options["id"], (options["text"],))
        if "pattern" in options:
            try:
                format.pattern = re.compile(options["pattern"])
            except re.error as error:
                raise UsageError(
                    f"pattern= is not a regular expression: {error}",
                    field="pattern",
                    found=options["pattern"],
                    expected=r"such as pattern=Answer: ([A-D])",
                ) from None
        return format

    def recognises(self, text: str) -> bool:
        """Return whether the first row has a column of ids and one of answers, or the text is
        one object.
        """
        return self.layout is not None or has_answers(text)

    def parse(self, file: AnswerFile) -> list[Prediction]:
        """Parse the answers of a text; see :meth:`read`."""
        text, questions, source, partial, notes = file
        layout = self.layout or find_layout(text)
        rows, id_column, column = read_rows(text, source, layout, notes)
        by_id = {question.id: AnsweredQuestion(question) for question in questions}
        if layout is None and rows:
            rows = find_positions(rows, list(by_id), notes)
        for row in rows:
            if row.id in by_id:
                by_id[row.id].add(row, self.pattern)
            elif not partial:
                expected = "no row"
                if by_id:
                    expected = f"one of {len(by_id):,} ids such as {next(iter(by_id))!r}"
                raise row.node.error(
                    "unknown question id",
                    field=id_column,
                    found=repr(row.id),
                    expected=expected,
                    hint="Is it a file for another split?",
                )
        answered = [by_id[question.id] for question in questions]
        missing = [question.id for question in questions if not by_id[question.id].samples]
        n_answered = len(answered) - len(missing)
        if self.sample is not None and self.sample != str(n_answered):
            raise DataError(
                "wrong number of questions",
                source=source,
                found=str(n_answered),
                expected=self.sample,
            )
        if missing and self.sample is None:
            sample = f"For a sample: -s NAME={source},sample={n_answered}"
            hint = (layout and layout.hint) or f"Is it a file for another split? {sample}"
            raise DataError(
                f"{len(missing):,} of {len(answered):,} questions have no row",
                source=source,
                found=f"none for {missing[0]!r}",
                expected="a row for each question, with null if there is no answer",
                hint=hint,
            )
        option = ReadingOption(f"-s answers:{shlex.quote(source)},reading={{}}")
        return decide_together(answered, self.reading, column, option, source, notes)

    def render(self, output: SystemOutput) -> str:
        """Return JSON lines with a row for each question; see :meth:`write`."""
        lines = []
        for question, prediction in zip(output.questions, output.predictions or (), strict=True):
            row = {"id": question.id, "answer": _write_answer(question, prediction)}
            lines.append(json.dumps(row) + "\n")
        return "".join(lines)


def _write_answer(question: Question, prediction: Prediction) -> Any:
    if not prediction.answers and prediction.selection_probability is None:
        return None
    answer = first_answer(prediction)
    if isinstance(answer, frozenset):
        options = [write_option(question, i) for i in sorted(answer)]
        return options if question.task is Task.MULTIPLE_ANSWER else options[0]
    return list(answer) if question.task is Task.MULTI_SPAN else next(iter(answer))
