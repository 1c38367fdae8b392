"""A solver that reads the scores or the answers of any other system from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np

from classic_rc.decisions import Decision, GivenAnswers
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.formats.registry import has_scores, read_predictions, read_scores
from classic_rc.io.files import read_bytes, sha256_of_bytes, sha256_of_text
from classic_rc.kernels.arrays import offsets_of
from classic_rc.parameters import parameter
from classic_rc.predictions import AnswerCounts, Prediction, Scores
from classic_rc.questions import Question, Task, candidate_texts
from classic_rc.solvers.base import Solver, candidate_counts
from classic_rc.solvers.shared_parameters import DECISION, PATH
from classic_rc.text.scorers import scorer_of

_Identity: TypeAlias = "tuple[str, str, str, str]"
"""The identity of a question: its id and all its texts except gold."""


class ScoreFile(Solver):
    r"""A solver that reads each candidate's score from a file.

    .. math:: s_c = \text{the number that the file has for } c

    After a fit on a dataset, its questions can be scored in any order and in parts. Other questions
    (for tuning or stacking) are looked up in the files when they are scored.

    A file of decisions gives a candidate the share of the answers that choose it, 1 or 0 if each
    question has one answer. The rule :class:`~classic_rc.decisions.GivenAnswers` repeats the
    answers, so nothing is tuned on them. The answers to a question without an answer, and to no
    other, have no evidence.

    Attributes
    ----------
    scores_ : Scores
        The scores of the questions of :meth:`fit`.
    answers_ : AnswerCounts or None
        How many answers to these questions say something; None for scores.
    caveats_ : tuple of str
        What the reader notes about the answers to these questions: how many could not be parsed.
    sha256_ : tuple of str
        The sha256 of each file's bytes.
    """

    name = "score-file"
    score_meaning = "read from the file"
    cites = ("classic_rc",)

    path: str | Sequence[str] = PATH.but(
        help="a file in one of the formats of :mod:`classic_rc.formats`, or a list with one file "
        "for each dataset. A file that names its questions may have more questions than are "
        "scored. MCTest's files have a line for every question of all stories",
        is_list=True,
    )
    format: str | None = parameter(
        None, "the name of the format; None detects it from the content", also="a name or None"
    )
    decision: Decision | None = DECISION.but(
        help="the rule that turns scores into answers; None repeats the answers of a file of "
        "decisions, and is the task's default for scores"
    )

    @property
    def has_given_scores(self) -> bool:
        """True: the scores do not show what the system that made them has learned from."""
        return True

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Read the scores of `questions`.

        Raises
        ------
        UsageError
            The path is missing, the format does not support the task, or the file has answers that
            are not candidates.
        DataError
            A file is malformed or lacks the scores of a question; the message says where.
        """
        notes: list[str] = []
        self.answers_: AnswerCounts | None = None
        self.scores_ = self._read(questions, notes)
        self.caveats_ = tuple(notes)
        self._row_of = {_identity(question): row for row, question in enumerate(questions)}
        self.sha256_ = tuple(sha256_of_bytes(read_bytes(path)) for path in self._paths())
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Return the file's scores of `questions`, with the file's evidence flags."""
        self.require_fitted("scores_", "score-file is not fitted: call fit(questions) first")
        rows = [self._row_of.get(_identity(question), -1) for question in questions]
        if -1 in rows:
            return self._read(questions)
        return self.scores_.take(np.array(rows, dtype=np.int64))

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the hashes of the files, so that the signature has their content and not their
        path.
        """
        return {"path": None, "file": self.sha256_} if hasattr(self, "sha256_") else {}

    def _paths(self) -> list[str]:
        is_list = isinstance(self.path, list | tuple)
        paths: list[Any] = list(self.path) if is_list else [self.path]
        if not paths or not all(isinstance(path, str) and path for path in paths):
            problem = "score-file needs a file: path=FILE (or several, path=[FILE; FILE])"
            raise UsageError(
                problem, field="path", found=repr(self.path), expected="a path or a list of paths"
            )
        return paths

    def default_decision(self, task: Task) -> Decision:
        """Return the rule that repeats the files' answers; for files of scores, the task's default.

        Raises
        ------
        UsageError
            Some files have scores and others decisions, or decisions are spans.
        DataError
            A file cannot be read.
        """
        paths = self._paths()
        with_scores = [path for path in paths if self._has_scores(path, task)]
        if len(with_scores) == len(paths):
            return super().default_decision(task)
        if with_scores:
            (with_decisions, *_) = (path for path in paths if path not in with_scores)
            problem = (
                f"{with_scores[0]} has scores and {with_decisions} has decisions: give files of "
                "one kind"
            )
            actual, expected = (
                f"{with_scores[0]} and {with_decisions}",
                "files that all have scores, or all decisions",
            )
            raise UsageError(problem, field="path", found=actual, expected=expected)
        return GivenAnswers()

    def _has_scores(self, path: str, task: Task) -> bool:
        if has_scores(path, task, self.format):
            return True
        if not task.has_spans:
            return False
        problem = (
            f"{path} has answers to {task} questions, and a text is not the score of a candidate "
            f"span: measure the answers with `classic-rc run DATA -s {path}`"
        )
        raise UsageError(problem, field="path", found="answers", expected="scores of spans")

    def _read(self, questions: Sequence[Question], notes: list[str] | None = None) -> Scores:
        """Read the scores of exactly these questions from the one file that has them."""
        paths = self._paths()
        if not len(questions):
            return Scores.from_lists([])
        if len(paths) == 1:
            return self._read_file(paths[0], questions, notes)
        scores_by_path: dict[str, Scores] = {}
        reasons: list[str] = []
        for path in paths:
            try:
                scores_by_path[path] = self._read_file(path, questions, notes)
            except ClassicRCError as error:
                reasons.append(str(error))
        if len(scores_by_path) == 1:
            return next(iter(scores_by_path.values()))
        if scores_by_path:
            raise UsageError(
                f"each of {' and '.join(scores_by_path)} has scores for these {len(questions):,} "
                "questions: keep one",
                field="path",
                found=", ".join(scores_by_path),
                expected="one file with scores for these questions",
            )
        raise DataError(
            f"none of the {len(paths)} score files has scores for these {len(questions):,} "
            f"questions: {'; '.join(reasons)}"
        )

    def _read_file(
        self, path: str, questions: Sequence[Question], notes: list[str] | None
    ) -> Scores:
        if self._has_scores(path, questions[0].task):
            return read_scores(path, questions, self.format, partial=True)
        predictions = read_predictions(path, questions, self.format, partial=True, notes=notes)
        assert not isinstance(predictions, Scores)
        if notes is not None:  # in a fit
            self.answers_ = AnswerCounts.of(predictions)
        return _shares(predictions, questions, path)


def _shares(predictions: Sequence[Prediction], questions: Sequence[Question], path: str) -> Scores:
    """Return the share of each question's answers that choose a candidate."""
    sizes = candidate_counts(questions)
    values = np.zeros(int(sizes.sum()))
    offsets = offsets_of(sizes)
    others: list[str] = []
    for question, prediction, start in zip(questions, predictions, offsets.tolist(), strict=False):
        n_answers = len(prediction.answers)
        weights = prediction.weights or [1 / n_answers for _ in range(n_answers)]
        if question.task is Task.MULTIPLE_ANSWER and len(weights) > 1:
            raise UsageError(
                f"{path} has several answers to question {question.id}, and scores of options "
                "cannot hold several selections: measure their mean with `classic-rc run DATA -s "
                f"{path}`",
                field="path",
                found=f"{len(weights)} answers to {question.id}",
                expected="one answer for each question",
            )
        for answer, weight in zip(prediction.answers, weights, strict=True):
            candidates = answer if isinstance(answer, frozenset) else _mentions(question, answer[0])
            if not isinstance(answer, frozenset) and not candidates:
                others.append(f"{answer[0][:50]!r} to question {question.id}")
            values[[start + i for i in candidates]] += weight
    if others:
        problem = (
            f"{len(others):,} answers of {path} are not candidates, such as {others[0]}: measure "
            f"the file with `classic-rc run DATA -s {path}`"
        )
        raise UsageError(problem, field="path", found=others[0], expected="the text of a candidate")
    is_answered = np.array([bool(prediction.answers) for prediction in predictions], dtype=np.bool_)
    return Scores(values, offsets, np.repeat(is_answered, sizes), relative_ties=True)


def _mentions(question: Question, text: str) -> list[int]:
    """Return the candidates with a text, or with one that the metrics do not distinguish from
    it.
    """
    texts = [candidate.text for candidate in question.candidates]
    if text not in texts:
        normalise = scorer_of(question).normalise
        normal = normalise(text)
        text = next(
            (candidate_text for candidate_text in texts if normalise(candidate_text) == normal),
            text,
        )
    return [i for i, candidate_text in enumerate(texts) if candidate_text == text]


def _identity(question: Question) -> _Identity:
    """Return the question's identity; the id is not enough, because other data may use the same
    id.
    """
    options = () if question.task.has_spans else tuple(candidate_texts(question.candidates))
    # hashes: the texts may be many
    texts = (sha256_of_text(question.passage.text), sha256_of_text(repr(options)))
    return (question.id, question.text, *texts)
