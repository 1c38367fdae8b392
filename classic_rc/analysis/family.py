"""The family of partial inputs: solvers that read only part of what comprehension takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from classic_rc.questions import Task
from classic_rc.solvers.base import Solver
from classic_rc.solvers.cloze import MaximumFrequency
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.surface.solver import SurfaceLR
from classic_rc.solvers.trivial import ConstantPosition


@dataclass(frozen=True, slots=True)
class PartialInput:
    """A solver that reads only part of what comprehension takes.

    Parameters
    ----------
    name : str
        What it reads. Two of one name are for different tasks.
    solver : Solver
        What it learns (directions, positions, weights, thresholds) it must learn in `fit` and `tune`.
    """

    name: str
    solver: Solver


FAMILY: tuple[PartialInput, ...] = (
    PartialInput("question and options", SurfaceLR(inputs="no-passage")),
    PartialInput("passage and options", SurfaceLR(inputs="no-question")),
    PartialInput("options", SurfaceLR(inputs="candidates")),
    PartialInput("question's first word", SurfaceLR(question_words=1)),
    PartialInput("question's first 2 words", SurfaceLR(question_words=2)),
    PartialInput("question's first 4 words", SurfaceLR(question_words=4)),
    PartialInput("verbatim overlap", VerbatimOverlap()),
    PartialInput("position", ConstantPosition(position="majority")),
    PartialInput("position", PositionPrior()),
    PartialInput("length in characters", Length(unit="characters")),
    PartialInput("length in words", Length(unit="words")),
    PartialInput("negation words", NegationWords()),
    PartialInput("most frequent entity", MaximumFrequency()),
)
"""What is tried, in the order of tables.

Without the passage, without the question and without both: Kaushik and Lipton 2018, Gururangan et al. 2018 and
Poliak et al. 2018, with a classifier of overlap features in place of neural readers.

The first 1, 2 and 4 words of the question, with passage and options, are a heuristic of Sugawara et al. 2018. They
gave cut questions to neural readers, to part the questions of a dataset into easy and hard ones. Here a classifier
of overlap features is trained and tested on cut questions, and what comes out is about the dataset as a whole: how
many of its answers can be had from so little of its questions.
"""

MEASURED: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("accuracy",),
    Task.MULTIPLE_ANSWER: ("f1_a", "f1_m"),
    Task.CLOZE: ("f1", "em"),
}
"""The metrics by task; the first is tested. Spans are no candidates that gold could be moved to."""
