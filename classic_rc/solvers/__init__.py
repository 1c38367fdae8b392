"""The solvers: one interface, and one file or folder for each family.

A class is imported on first use, so that running one solver loads only its own family.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from classic_rc.solvers.registry import DEFAULT_SOLVERS, LEARNING_SOLVERS, LINES, SOLVERS

if TYPE_CHECKING:
    from classic_rc.solvers.alignment.solver import AlignmentILP
    from classic_rc.solvers.base import Solver, Variant
    from classic_rc.solvers.cloze import ClozeDistance, ClozeWindow, ExclusiveFrequency, MaximumFrequency
    from classic_rc.solvers.combination.solver import Combination
    from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
    from classic_rc.solvers.explanation import Explanation
    from classic_rc.solvers.ir import IRSolver
    from classic_rc.solvers.lexical.solver import LexicalMatcher
    from classic_rc.solvers.ngram_lm.solver import NGramLM
    from classic_rc.solvers.random import Random
    from classic_rc.solvers.saved import SavedSolver, load_solver, save_solver
    from classic_rc.solvers.score_file import ScoreFile
    from classic_rc.solvers.sliding import SlidingWindow, SlidingWindowDistance, WordDistance
    from classic_rc.solvers.spans.logistic_regression import SpanLR
    from classic_rc.solvers.spans.sliding_window import SpanSlidingWindow
    from classic_rc.solvers.specs import parse_solver, solver_spec
    from classic_rc.solvers.surface.solver import SurfaceLR
    from classic_rc.solvers.trivial import (
        AllNegative,
        AllPositive,
        ConstantPosition,
        LongestCandidate,
        ShortestCandidate,
    )

_HOMES = {
    "Explanation": "explanation",
    "Solver": "base",
    "Variant": "base",
    "load_solver": "saved",
    "parse_solver": "specs",
    "save_solver": "saved",
    "solver_spec": "specs",
}
_HOME_OF = {name: f"classic_rc.solvers.{home}" for name, home in _HOMES.items()}
_HOME_OF |= {line.home.partition(":")[2]: line.home.partition(":")[0] for line in LINES.values()}

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


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'classic_rc.solvers' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
