"""Solvers: one interface, one family a file."""

from classic_rc.solvers.alignment import AlignmentILP
from classic_rc.solvers.base import Solver, Variant
from classic_rc.solvers.cloze import ClozeDistance, ClozeWindow, ExclusiveFrequency, MaximumFrequency
from classic_rc.solvers.combination import Combination
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.ir import IRSolver
from classic_rc.solvers.lexical import LexicalMatcher
from classic_rc.solvers.ngram_lm import NGramLM
from classic_rc.solvers.random import Random
from classic_rc.solvers.registry import DEFAULT_SOLVERS, LEARNING_SOLVERS, SOLVERS
from classic_rc.solvers.saved import SavedSolver, load_solver, save_solver
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.solvers.sliding import SlidingWindow, SlidingWindowDistance, WordDistance
from classic_rc.solvers.spans import SpanLR, SpanSlidingWindow
from classic_rc.solvers.specs import parse_solver, solver_spec
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
    "LEARNING_SOLVERS",
    "SOLVERS",
    "AlignmentILP",
    "AllNegative",
    "AllPositive",
    "ClozeDistance",
    "ClozeWindow",
    "Combination",
    "ConstantPosition",
    "ExclusiveFrequency",
    "Explanation",
    "IRSolver",
    "Length",
    "LexicalMatcher",
    "LongestCandidate",
    "MaximumFrequency",
    "NGramLM",
    "NegationWords",
    "PositionPrior",
    "Random",
    "SavedSolver",
    "ScoreFile",
    "ShortestCandidate",
    "SlidingWindow",
    "SlidingWindowDistance",
    "Solver",
    "SpanLR",
    "SpanSlidingWindow",
    "SurfaceLR",
    "Variant",
    "VerbatimOverlap",
    "WordDistance",
    "load_solver",
    "parse_solver",
    "save_solver",
    "solver_spec",
]
