"""Solvers: one interface, one family a file."""

from classic_rc.solvers.base import Solver, Variant
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.frequency import ExclusiveFrequency, MaximumFrequency
from classic_rc.solvers.ir import IRSolver
from classic_rc.solvers.random import Random
from classic_rc.solvers.registry import DEFAULT_SOLVERS, SOLVERS, parse_solver
from classic_rc.solvers.saved import load_solver, save_solver
from classic_rc.solvers.saved_solver import SavedSolver
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.solvers.sliding import SlidingWindow, SlidingWindowDistance, WordDistance
from classic_rc.solvers.surface import SurfaceLR
from classic_rc.solvers.trivial import (
    AllNegative,
    AllPositive,
    ConstantPosition,
    LongestCandidate,
    ShortestCandidate,
)

__all__ = [
    "DEFAULT_SOLVERS",
    "SOLVERS",
    "AllNegative",
    "AllPositive",
    "ConstantPosition",
    "ExclusiveFrequency",
    "Explanation",
    "IRSolver",
    "Length",
    "LongestCandidate",
    "MaximumFrequency",
    "NegationWords",
    "PositionPrior",
    "Random",
    "SavedSolver",
    "ScoreFile",
    "ShortestCandidate",
    "SlidingWindow",
    "SlidingWindowDistance",
    "Solver",
    "SurfaceLR",
    "Variant",
    "VerbatimOverlap",
    "WordDistance",
    "load_solver",
    "parse_solver",
    "save_solver",
]
