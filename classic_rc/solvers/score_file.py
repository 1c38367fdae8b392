"""Any system's scores as a solver."""

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
"""All that a question says, gold apart."""


class ScoreFile(Solver):
    """The scores that a file gives each candidate.

    Once it is fitted to all of a dataset, any of its questions can be asked in any order. Questions that it was not
    fitted to (those that something is tuned on or stacked from) are looked for in the files when they are asked.

    Parameters
    ----------
    path : str or list of str
        A file in one of the formats of :mod:`classic_rc.formats` that hold scores; or one for each dataset that is
        asked. Files that name their questions may hold more than is asked; MCTest's lines are those of all stories.
    format : str, optional
        The format's name; by default found from the content.
    decision : Decision, optional

    Attributes
    ----------
    scores_ : Scores
        Those of the questions of :meth:`fit`.
    sha256_ : tuple of str
        Of each file's bytes.
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
        """Read the scores of these questions.

        Raises
        ------
        UsageError
            There is no path, or the format cannot hold scores of such questions.
        DataError
            A file is malformed, or lacks scores of a question; the message says where.
        """
        self.scores_ = self._read(questions)
        self._row_of = {_asked(question): row for row, question in enumerate(questions)}
        self.sha256_ = tuple(sha256_of_bytes(read_bytes(path)) for path in self._paths())
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The file's scores of these questions, with the evidence flags that it gives."""
        if not hasattr(self, "scores_"):
            raise NotFittedError("score-file has not read its file: call fit(questions) first")
        rows = [self._row_of.get(_asked(question), -1) for question in questions]
        return self._read(questions) if -1 in rows else self.scores_.take(np.array(rows, dtype=np.int64))

    def signature_facts(self) -> Mapping[str, Any]:
        """What the files hold, in place of where they lie."""
        return {"path": None, "file": self.sha256_} if hasattr(self, "sha256_") else {}

    def _paths(self) -> list[str]:
        paths: list[Any] = list(self.path) if isinstance(self.path, list | tuple) else [self.path]
        if not paths or not all(isinstance(path, str) and path for path in paths):
            raise UsageError("score-file needs a file: path=FILE (or several, path=[FILE; FILE])")
        return paths

    def _read(self, questions: Sequence[Question]) -> Scores:
        """The scores of just these questions, from the one file that has them."""
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
    """What tells a question from those of other data, in which its id may be another's."""
    options = () if question.task.has_spans else (candidate.text for candidate in question.candidates)
    return (question.id, question.passage.text, question.text, *options)
