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
from classic_rc.solvers.base import DECISION, Parameter, Solver

_Identity: TypeAlias = "tuple[str, ...]"
"""The identity of a question: its id and all its texts except gold."""


class ScoreFile(Solver):
    """A solver that reads each candidate's score from a file.

    After a fit on a dataset, its questions can be scored in any order and in parts. Other questions (for tuning or
    stacking) are looked up in the files when they are scored.

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
    description = "scores read from a file (path=FILE)"
    cites = ("classic_rc",)

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "path": Parameter("the path of a file, or of one for each dataset", is_file=True, is_list=True),
        "format": Parameter("the name of the format; by default detected from the content"),
        "decision": DECISION,
    }

    def __init__(
        self, *, path: str | Sequence[str] = "", format: str | None = None, decision: Decision | None = None
    ) -> None:
        self.path = path
        self.format = format
        self.decision = decision

    @property
    def has_given_scores(self) -> bool:
        """True: nobody can tell from the scores what the system that made them learned from."""
        return True

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
        self._row_of = {_identity(question): row for row, question in enumerate(questions)}
        self.sha256_ = tuple(sha256_of_bytes(read_bytes(path)) for path in self._paths())
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Return the file's scores of `questions`, with the file's evidence flags."""
        if not hasattr(self, "scores_"):
            raise NotFittedError("score-file is not fitted: call fit(questions) first", field="score-file")
        rows = [self._row_of.get(_identity(question), -1) for question in questions]
        return self._read(questions) if -1 in rows else self.scores_.take(np.array(rows, dtype=np.int64))

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the hashes of the files, so that the signature has their content and not their path."""
        return {"path": None, "file": self.sha256_} if hasattr(self, "sha256_") else {}

    def _paths(self) -> list[str]:
        paths: list[Any] = list(self.path) if isinstance(self.path, list | tuple) else [self.path]
        if not paths or not all(isinstance(path, str) and path for path in paths):
            raise UsageError(
                "score-file needs a file: path=FILE (or several, path=[FILE; FILE])",
                field="path",
                found=repr(self.path),
                expected="a path or a list of paths",
            )
        return paths

    def _read(self, questions: Sequence[Question]) -> Scores:
        """Read the scores of exactly these questions from the one file that has them."""
        paths = self._paths()
        if not len(questions):
            return Scores.from_lists([])
        if len(paths) == 1:
            return read_scores(paths[0], questions, self.format, partial=True)
        found: dict[str, Scores] = {}
        reasons: list[str] = []
        for path in paths:
            try:
                found[path] = read_scores(path, questions, self.format, partial=True)
            except ClassicRCError as error:
                reasons.append(str(error))
        if len(found) == 1:
            return next(iter(found.values()))
        if found:
            raise UsageError(
                f"each of {' and '.join(found)} has scores for these {len(questions):,} questions: keep one",
                field="path",
                found=", ".join(found),
                expected="one file with scores for these questions",
            )
        raise DataError(
            f"none of the {len(paths)} score files has scores for these {len(questions):,} questions: "
            f"{'; '.join(reasons)}"
        )


def _identity(question: Question) -> _Identity:
    """Return the question's identity; the id is not enough, because other data may use the same id."""
    options = () if question.task.has_spans else (candidate.text for candidate in question.candidates)
    return (question.id, question.passage.text, question.text, *options)
