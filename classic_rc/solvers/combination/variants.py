"""The published combinations: MCTest's sliding window, word distance and textual entailment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from classic_rc.decisions import Argmax
from classic_rc.solvers.base import Solver, Variant
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.solvers.sliding.matchers import SlidingWindowDistance
from classic_rc.solvers.sliding.variants import WINDOW_AND_DISTANCE_VARIANTS


def _with_entailment(name: str, weight: float) -> Variant:
    return Variant(
        {
            "solvers": [ScoreFile(), SlidingWindowDistance.variant(name)],
            "weights": [1.0, weight],
            "decision": Argmax(ties="partial"),
        },
        f"RTE + {weight:g} (SW+D), of the authors' RTE score file (score-file__path=FILE) and {name}; their own "
        "file of the sum has an earlier SW+D, whose distance weighs 10 and is divided by |P|, not |P| - 1",
        "Richardson, Burges and Renshaw 2013, MCTest, Table 6, and the results page of the authors' release",
        WINDOW_AND_DISTANCE_VARIANTS[name].tuned_on,
    )


COMBINATION_VARIANTS = {
    "mctest160-rte": _with_entailment("mctest160", 0.14),
    "mctest500-rte": _with_entailment("mctest500", 0.34),
}


def same_members(solvers: Sequence[Solver]) -> list[Any]:
    """What tells members apart: their kinds and parameters, but neither their decisions nor where files lie."""
    left_out = ("decision", "path", "format", "solvers")
    return [
        (
            type(solver),
            {name: value for name, value in solver.get_params(deep=False).items() if name not in left_out},
            same_members(solver.members),
        )
        for solver in solvers
    ]
