"""The solvers: one interface, and one file or folder for each family.

A class is imported on first use, so that running one solver loads only its own family.
"""

# ruff: noqa: F401 - __all__ is computed, so the imports for type checkers look unused.

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use
from classic_rc.solvers.registry import DEFAULT_SOLVERS, LEARNING_SOLVERS, SOLVER_ENTRIES, SOLVERS

if TYPE_CHECKING:
    # Optional, for type checkers and editors: a solver needs only its line in the registry.
    from classic_rc.parameters import parameter
    from classic_rc.solvers.alignment.solver import AlignmentILP
    from classic_rc.solvers.base import Solver, Variant
    from classic_rc.solvers.cloze import (
        ClozeDistance,
        ClozeWindow,
        ExclusiveFrequency,
        MaximumFrequency,
    )
    from classic_rc.solvers.combination.solver import Combination
    from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
    from classic_rc.solvers.explanation import Explanation
    from classic_rc.solvers.feature_ranker.solver import FeatureRanker
    from classic_rc.solvers.ir import IRSolver
    from classic_rc.solvers.lexical.solver import LexicalMatcher
    from classic_rc.solvers.ngram_lm.solver import NGramLM
    from classic_rc.solvers.saved import SavedSolver, load_solver, save_solver
    from classic_rc.solvers.score_file import ScoreFile
    from classic_rc.solvers.sliding import SlidingWindow, SlidingWindowDistance, WordDistance
    from classic_rc.solvers.spans.blanks import SpanBlanks
    from classic_rc.solvers.spans.ranker import SpanRanker
    from classic_rc.solvers.spans.sliding_window import SpanSlidingWindow
    from classic_rc.solvers.specs import parse_solver, solver_spec
    from classic_rc.solvers.surface.solver import SurfaceLR
    from classic_rc.solvers.trivial import (
        AllNegative,
        AllPositive,
        ConstantPosition,
        LongestCandidate,
        Majority,
        NoAnswer,
        Random,
        ShortestCandidate,
    )

_HOMES = [entry.home.partition(":") for entry in SOLVER_ENTRIES.values()]
_MODULES = {class_name: module for module, _, class_name in _HOMES}

_CLASSES = ("Explanation", "Solver", "Variant")
_FUNCTIONS = ("load_solver", "parameter", "parse_solver", "save_solver", "solver_spec")

__all__ = [
    "DEFAULT_SOLVERS",
    "LEARNING_SOLVERS",
    "SOLVERS",
    *sorted((*_MODULES, *_CLASSES, *_FUNCTIONS)),
]

__getattr__, __dir__ = names_on_use(__name__, _MODULES)
