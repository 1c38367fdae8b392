"""The base class of formats, which write scores or decisions to a file and read them back, and
their helpers.
"""

from __future__ import annotations

import json
import math
import tomllib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node, describe_value
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import Question, Task

Content: TypeAlias = Literal["scores", "decisions"]

FileContent: TypeAlias = "Scores | list[Prediction]"
"""The scores, or the decisions, of a file."""

Key: TypeAlias = "tuple[str | int, ...]"
"""The key of a question, or of one of its candidates, in a file: ``("7",)``, ``("news/1.txt",
"0")``.
"""


def read_declarations(name: str) -> dict[str, Any]:
    """Return the tables of a file of this package."""
    text = files("classic_rc.formats").joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)


_DECLARATIONS = read_declarations("formats.toml")


class AnswerFile(NamedTuple):
    """The text of a file, and what is known about it."""

    text: str
    questions: Sequence[Question]
    source: str  # its name in messages
    partial: bool  # whether it may also answer questions that are not in `questions`
    notes: list[str]  # for the user, such as the number of questions without an answer


class SystemOutput(NamedTuple):
    """What a system says about a block of questions."""

    questions: Sequence[Question]
    scores: Scores | None = None
    predictions: Sequence[Prediction] | None = None

    def answers(self) -> Iterator[tuple[Question, Answer]]:
        """Yield each question with its first answer; UsageError if it has none."""
        return zip(self.questions, map(first_answer, self.predictions or ()), strict=True)


class Format(ABC):
    """A layout of submission or score files.

    A file answers every question exactly once. Of tied answers it has the first, because no such
    layout can express ties. The values of the attributes are in ``formats.toml``, by name.

    Attributes
    ----------
    name : str
        The name on the command line: ``"mctest-scores"``.
    description : str
        One sentence.
    citation : str
        The source of the layout.
    tasks : frozenset of Task
        The tasks that the layout supports.
    holds : frozenset of {"scores", "decisions"}
        The possible contents of a file.
    readers : frozenset of str
        The readers of the datasets for which this is the official layout.
    is_detected : bool
        Whether files are recognised by their content. Else the user names the format, and it
        changes what a file means.
    measure : str
        What distinguishes a second reading of a log from the first one, in names of rows.
    around : tuple of (str, str, str)
        What a file has before, between and after the texts that :meth:`render` returns for blocks
        of questions.
    takes : frozenset of str
        The options that a specification may give: ``FILE,key=value``.
    notes_missing : bool
        Whether :meth:`parse` notes by itself how many questions have no answer.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    tasks: ClassVar[frozenset[Task]]
    holds: ClassVar[frozenset[Content]]
    readers: ClassVar[frozenset[str]] = frozenset()
    is_detected: ClassVar[bool] = True
    measure: ClassVar[str] = ""
    around: ClassVar[tuple[str, str, str]] = ("", "", "")
    takes: ClassVar[frozenset[str]] = frozenset({"strict"})
    notes_missing: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        declared = _DECLARATIONS.get(cls.__dict__.get("name", ""), {})
        for key, value in declared.items():
            members = map(Task, value) if key == "tasks" else value
            setattr(cls, key, frozenset(members) if isinstance(value, list) else value)

    def is_official(self, questions: Sequence[Question]) -> bool:
        """Return whether this is the official layout for some questions of one of `readers`."""
        return True

    def with_options(self, options: Mapping[str, str]) -> Self:
        """Return the format with options; a format that takes some overrides it.

        Raises
        ------
        UsageError
            The format does not take an option, or a value is wrong.
        """
        for name in options:
            if name not in self.takes:
                takes = ", ".join(f"{option_name}=" for option_name in sorted(self.takes))
                raise UsageError(
                    f"the format {self.name} has no option {name}=",
                    field=name,
                    found=f"{name}={options[name]}",
                    expected=takes,
                )
        if (strict := options.get("strict", "yes")) != "yes":
            raise UsageError(
                "strict= takes yes", field="strict", found=f"strict={strict}", expected="strict=yes"
            )
        return self

    @abstractmethod
    def recognises(self, text: str) -> bool:
        """Return whether the start of a text looks like this layout."""

    @abstractmethod
    def parse(self, file: AnswerFile) -> FileContent:
        """Parse the scores or decisions of a file, in the order of its questions; see
        :meth:`read`.
        """

    def parse_scores(self, file: AnswerFile) -> FileContent:
        """Parse the scores of a file, which may also have decisions; see :meth:`read_scores`."""
        return self.parse(file)

    @abstractmethod
    def render(self, output: SystemOutput) -> str:
        """Return the text of a block of questions, without what is `around` blocks; see
        :meth:`write_blocks`.
        """

    def has_scores(self, text: str, source: str) -> bool:
        """Return whether a text of this layout has scores, and not only decisions.

        Raises
        ------
        DataError
            The text is malformed.
        """
        return "scores" in self.holds

    def read(
        self,
        text: str,
        questions: Sequence[Question],
        *,
        source: str,
        partial: bool = False,
        notes: list[str] | None = None,
    ) -> FileContent:
        """Read a file: its decisions if it has any, else its scores.

        Parameters
        ----------
        text : str
        questions : sequence of Question
            The questions that the file answers, all of one task.
        source : str
            The name of the file in error messages.
        partial : bool
            Whether the file may also answer questions that are not in `questions`. Layouts without
            names of questions cannot tell them apart, and need all questions.
        notes : list of str, optional
            Receives notes for the user, such as the number of questions without an answer.

        Returns
        -------
        Scores or list of Prediction
            In the order of `questions`.

        Raises
        ------
        UsageError
            The layout does not support the task.
        DataError
            The file is malformed, has an unknown question, or answers a question twice or not at
            all.
        """
        self._check_questions(questions)
        notes = [] if notes is None else notes
        content = self.parse(AnswerFile(text, questions, source, partial, notes))
        if isinstance(content, Scores) or self.notes_missing:
            return content
        if unanswered := sum(not prediction.answers for prediction in content):
            notes.append(
                f"{source}: {unanswered:,} of {len(content):,} questions have no answer and score 0"
            )
        return content

    def read_scores(
        self, text: str, questions: Sequence[Question], *, source: str, partial: bool = False
    ) -> Scores:
        """Read the scores of a file, which may also have decisions. The parameters are as in
        :meth:`read`.

        Returns
        -------
        Scores

        Raises
        ------
        UsageError
            The file has decisions only.
        """
        self._check_questions(questions)
        content = self.parse_scores(AnswerFile(text, questions, source, partial, []))
        if isinstance(content, Scores):
            return content
        raise UsageError(
            f"{source} has decisions, not scores: thresholds and tie policies do not apply",
            field="scores",
            found="decisions",
            expected="scores",
        )

    def write(
        self,
        questions: Sequence[Question],
        scores: Scores | None = None,
        predictions: Sequence[Prediction] | None = None,
    ) -> str:
        r"""Return the text of a file, with ``"\n"`` line ends.

        Parameters
        ----------
        questions : sequence of Question
            All of one task.
        scores : Scores, optional
            Required if the layout has only scores. They are written as they are. Scores that are
            read tie only if they are equal, so write ``scores.with_equal_ties()`` to keep the ties
            of this package's solvers.
        predictions : sequence of Prediction, optional
            Required if the layout has only decisions. A layout with both takes either or both.

        Raises
        ------
        UsageError
            The layout does not support the task or needs an argument that is missing, or a question
            has no answer or an infinite score.
        """
        return "".join(self.write_blocks([(questions, scores, predictions)]))

    def write_blocks(
        self,
        blocks: Iterable[tuple[Sequence[Question], Scores | None, Sequence[Prediction] | None]],
    ) -> Iterator[str]:
        """Yield the text of a file in pieces; the blocks are arguments of :meth:`write`, for
        consecutive questions.

        No block begins within a run of questions about one passage.
        """
        before, between, after = self.around
        is_empty = True
        for block in blocks:
            output = SystemOutput(*block)
            self._check_output(output)
            if text := self.render(output):
                yield (before if is_empty else between) + text
                is_empty = False
        yield before + after if is_empty else after

    def _check_output(self, output: SystemOutput) -> None:
        questions, scores, predictions = output
        self._check_questions(questions)
        contents = {"scores": scores, "decisions": predictions}
        if all(contents[content] is None for content in self.holds):
            contents_needed = " or ".join(sorted(self.holds))
            raise UsageError(
                f"the format {self.name} needs {contents_needed}",
                field=contents_needed,
                found="none",
                expected=contents_needed,
            )
        n_questions = len(questions)
        for content, rows in contents.items():
            if rows is not None and len(rows) != n_questions:
                raise UsageError(
                    f"{n_questions} questions need {n_questions} {content}, found {len(rows)}",
                    field=content,
                    found=str(len(rows)),
                    expected=str(n_questions),
                )
        if scores is not None and "scores" in self.holds:
            _check_scores(scores, questions)

    def _check_questions(self, questions: Sequence[Question]) -> None:
        if questions and questions[0].task not in self.tasks:
            tasks = " or ".join(sorted(self.tasks))
            raise UsageError(
                f"the format {self.name} supports {tasks} questions, found {questions[0].task} "
                "questions",
                field="format",
                found=questions[0].task.value,
                expected=tasks,
            )

    def __repr__(self) -> str:
        return f"<format {self.name}>"


def _check_scores(scores: Scores, questions: Sequence[Question]) -> None:
    for question, row in zip(questions, scores, strict=True):
        n_candidates = len(question.candidates)
        if len(row) != n_candidates:
            raise UsageError(
                f"question {question.id} has {n_candidates} candidates but {len(row)} scores",
                field="scores",
                found=str(len(row)),
                expected=str(n_candidates),
            )
        if not np.isfinite(row).all():
            raise UsageError(
                f"question {question.id} has an infinite score: a file can have only finite scores",
                field="scores",
                found=str(row[~np.isfinite(row)][0]),
                expected="finite scores",
            )


def first_answer(prediction: Prediction) -> Answer:
    """Return the first answer of a prediction, the one that a file can have; UsageError if it
    has none.
    """
    if prediction.answers:
        return prediction.answers[0]
    if prediction.selection_probability is None:
        actual = "no answer to"
        problem = (
            "no answer, but this format needs one: write --format answers, which can do without, "
            "or, if the tie policy strict leaves ties unanswered, use --ties first"
        )
    else:
        actual = "a selection probability for"
        problem = (
            "a selection probability and no answer, which no file can express: write the decisions "
            "of seeded draws"
        )
    raise UsageError(
        f"question {prediction.question_id} has {problem}",
        field="predictions",
        found=f"{actual} {prediction.question_id}",
        expected="an answer",
    )


def format_option(option: int) -> str:
    """Return the letter of an option: A for 0."""
    return chr(ord("A") + option)


def prediction_of_file(question: Question, *answers: Answer) -> Prediction:
    """Return the prediction of a file for a question: one answer, or none."""
    return Prediction(question.id, answers, n_candidates=len(question.candidates))


def in_question_order(
    entries: Iterable[tuple[Key, Node]],
    keys: Sequence[Key],
    names: Sequence[str],
    file: AnswerFile,
) -> list[Node]:
    """Return the entries of a file in the order of `keys`; each key must have exactly one entry.

    `names` are the names of a key's parts, for messages. Entries with other keys are skipped where
    the file may have them.
    """
    nodes = match_entries(entries, keys, names, file)
    missing = [key for key in keys if key not in nodes]
    if missing:
        raise DataError(
            f"{len(missing):,} of {len(keys):,} entries are missing",
            source=file.source,
            found=f"none for {_describe_key(missing[0], names)}",
            expected="one for each",
            hint="Is it a file for another split?",
        )
    return [nodes[key] for key in keys]


def match_entries(
    entries: Iterable[tuple[Key, Node]],
    keys: Sequence[Key],
    names: Sequence[str],
    file: AnswerFile,
) -> dict[Key, Node]:
    """Return the entries of a file by key, each of `keys` at most once; see
    :func:`in_question_order`.
    """
    key_set = set(keys)
    if len(key_set) < len(keys):
        duplicate = Counter(keys).most_common(1)[0][0]
        raise UsageError(
            f"two questions have the same ids in this format: {_describe_key(duplicate, names)}",
            field=", ".join(names),
            found=_describe_key(duplicate, names),
            expected="unique ids",
        )
    nodes: dict[Key, Node] = {}
    for key, node in entries:
        if key not in key_set:
            if file.partial:
                continue
            raise node.error(
                "unknown question id" if len(names) < 2 else "unknown ids",
                found=_describe_key(key, names),
                expected=f"one of {len(keys):,} entries such as {_describe_key(keys[0], names)}"
                if keys
                else "no entry",
                hint="Is it a file for another split?",
            )
        if key in nodes:
            raise node.error(
                "answered twice",
                found=_describe_key(key, names),
                expected=f"one answer (the first is at {nodes[key].where})",
            )
        nodes[key] = node
    return nodes


def _describe_key(key: Key, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in zip(names, key, strict=True))


def iter_members(node: Node) -> Iterator[tuple[str, Node]]:
    """Return the keys and the values of an object, with their places."""
    if not isinstance(node.value, Mapping):
        raise node.error("wrong type", found=describe_value(node.value), expected="an object")
    return ((key, node.at(key)) for key in node.value)


def score_at(node: Node, key: int | str) -> float:
    """Return the score at a key of a JSON object, or at a position of a list: a finite number."""
    value = node.get(key, "a finite number")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with suppress(OverflowError):
            if math.isfinite(number := float(value)):
                return number
    raise node.error(
        "invalid score", field=key, found=describe_value(value), expected="a finite number"
    )


def first_row(text: str) -> Any:
    """Return the first line of a text as a JSON value, or None if it is not JSON."""
    try:
        return json.loads(text.lstrip().partition("\n")[0])
    except (ValueError, RecursionError):
        return None
