"""Solvers by name, and what runs when none is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classic_rc.errors import UsageError
from classic_rc.plugins import Registry
from classic_rc.questions import Task
from classic_rc.solvers.alignment.solver import AlignmentILP
from classic_rc.solvers.base import Solver
from classic_rc.solvers.cloze import ClozeDistance, ClozeWindow, ExclusiveFrequency, MaximumFrequency
from classic_rc.solvers.combination.solver import Combination
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.ir import IRSolver
from classic_rc.solvers.lexical.solver import LexicalMatcher
from classic_rc.solvers.ngram_lm.solver import NGramLM
from classic_rc.solvers.random import Random
from classic_rc.solvers.saved import SavedSolver
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.solvers.sliding import SlidingWindow, SlidingWindowDistance, WordDistance
from classic_rc.solvers.spans.logistic_regression import SpanLR
from classic_rc.solvers.spans.sliding_window import SpanSlidingWindow
from classic_rc.solvers.surface.solver import SurfaceLR
from classic_rc.solvers.trivial import (
    AllNegative,
    AllPositive,
    ConstantPosition,
    LongestCandidate,
    ShortestCandidate,
)


def _plugged_in(name: str, found: Any) -> type[Solver]:
    if not (isinstance(found, type) and issubclass(found, Solver)):
        raise UsageError("it is no subclass of classic_rc.Solver")
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise UsageError(f"its class does not write {', '.join(missing)}")
    if found.name != name:
        raise UsageError(f"its class calls itself {found.name!r}: the entry point must have that name")
    return found


_OWN: Mapping[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        Random,
        AllPositive,
        AllNegative,
        ConstantPosition,
        LongestCandidate,
        ShortestCandidate,
        MaximumFrequency,
        ExclusiveFrequency,
        ClozeDistance,
        ClozeWindow,
        SlidingWindow,
        WordDistance,
        SlidingWindowDistance,
        LexicalMatcher,
        IRSolver,
        SurfaceLR,
        SpanSlidingWindow,
        SpanLR,
        NGramLM,
        AlignmentILP,
        Length,
        NegationWords,
        PositionPrior,
        VerbatimOverlap,
        ScoreFile,
        Combination,
        SavedSolver,
    )
}

SOLVERS = Registry("solver", _OWN, _plugged_in)
"""Every solver, in the order of tables, and then those that other packages plug in."""

_MATCHERS = ("sliding-window", "word-distance", "sw+d")
_FOR_CHOICES = (*_MATCHERS, "lexical", "ir")
_FOR_SPANS = ("random", *_MATCHERS, "ir", "span-sw")

DEFAULT_SOLVERS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("random", "constant-position", "longest", "shortest", *_FOR_CHOICES),
    Task.MULTIPLE_ANSWER: ("random", "all-positive", "all-negative", "longest", "shortest", *_FOR_CHOICES),
    Task.CLOZE: ("random", "max-frequency", "exclusive-frequency", "cloze-distance", *_MATCHERS, "ir"),
    Task.SPAN: _FOR_SPANS,
    Task.MULTI_SPAN: _FOR_SPANS,
}
"""What runs on a task when nothing is named."""

LEARNING_SOLVERS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("constant-position:majority", "surface-lr"),
    Task.MULTIPLE_ANSWER: ("surface-lr",),
    Task.CLOZE: ("surface-lr",),
    Task.SPAN: ("span-lr",),
    Task.MULTI_SPAN: ("span-lr",),
}
"""What runs besides where there is gold to learn from."""
