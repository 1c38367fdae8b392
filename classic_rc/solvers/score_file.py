"""A solver that reads the scores of any other system from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from classic_rc.decisions import Decision
from classic_rc.errors import ClassicRCError, DataError, NotFittedError, UsageError
from classic_rc.formats.registry import read_scores
from classic_rc.io.hashing import sha256_of_bytes
from classic_rc.io.text import read_bytes
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import DECISION, PATH, Parameter, Solver

Asked: TypeAlias = "tuple[str, ...]"
"""The identity of a question: its id and all its texts except gold."""


class ScoreFile(Solver):
    """A solver that takes each candidate's score from a file.

    After a fit on a whole dataset, its questions can be scored in any order and in parts. Questions outside the fit
    (those that something is tuned on or stacked from) are looked up in the files when they are scored.

    Parameters
    ----------
    path : str or list of str
        A file in one of the score formats of :mod:`classic_rc.formats`, or a list with one file for each dataset. A
        file that names its questions may have more questions than are scored. MCTest's files have a line for every
        question of all stories.
    format : str, optional
        The format's name. Default: detected from the content.
    decision : Decision, optional

    Attributes
    ----------
    scores_ : Scores
        The scores of the questions of :meth:`fit`.
    sha256_ : tuple of str
        The sha256 of each file's bytes.
    """

    name = "score-file"
    description = "the scores that a file gives each candidate (path=FILE)"
    cites = ("classic_rc",)

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "path": PATH,
        "format": Parameter("the format's name; by default found from the content"),
        "decision": DECISION,
    }

    def __init__(
        self, *, path: str | Sequence[str] = "", format: str | None = None, decision: Decision | None = None
    ) -> None:
        self.path = path
        self.format = format
        self.decision = decision

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Read the scores of `questions`.

        Raises
        ------
        UsageError
            The path is missing, or the format has no scores for this task.
        DataError
            A file is malformed or lacks the scores of a question; the message says where.
        """
        self.scores_ = self._read(questions)
        self._row_of = {_asked(question): row for row, question in enumerate(questions)}
        self.sha256_ = tuple(sha256_of_bytes(read_bytes(path)) for path in self._paths())
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Return the file's scores of `questions`, with the file's evidence flags."""
        if not hasattr(self, "scores_"):
            raise NotFittedError("score-file has not read its file: call fit(questions) first")
        rows = [self._row_of.get(_asked(question), -1) for question in questions]
        return self._read(questions) if -1 in rows else self.scores_.take(np.array(rows, dtype=np.int64))

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the hashes of the files, so that the signature has their content and not their path."""
        return {"path": None, "file": self.sha256_} if hasattr(self, "sha256_") else {}

    def _paths(self) -> list[str]:
        paths: list[Any] = list(self.path) if isinstance(self.path, list | tuple) else [self.path]
        if not paths or not all(isinstance(path, str) and path for path in paths):
            raise UsageError("score-file needs a file: path=FILE (or several, path=[FILE; FILE])")
        return paths

    def _read(self, questions: Sequence[Question]) -> Scores:
        """Read the scores of exactly these questions from the one file that has them."""
        paths = self._paths()
        if not len(questions):
            return Scores.from_lists([])
        if len(paths) == 1:
            return read_scores(paths[0], questions, self.format, partial=True)
        found: dict[str, Scores] = {}
        refused: list[str] = []
        for path in paths:
            try:
                found[path] = read_scores(path, questions, self.format, partial=True)
            except ClassicRCError as error:
                refused.append(str(error))
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            raise UsageError(f"{' and '.join(found)} both have scores of these {len(questions):,} questions")
        raise DataError(
            f"none of the {len(paths)} score files is for these {len(questions):,} questions: {'; '.join(refused)}"
        )


def _asked(question: Question) -> Asked:
    """Return the question's identity; the id is not enough, because other data may use the same id."""
    options = () if question.task.has_spans else (candidate.text for candidate in question.candidates)
    return (question.id, question.passage.text, question.text, *options)
