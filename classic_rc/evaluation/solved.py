"""Which questions are solved by which systems: the regions of a Venn diagram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classic_rc.evaluation.contest import Contest
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import METRICS
from classic_rc.questions import Task

MOST_SETS = 4
"""More sets have more regions than anybody reads."""

_WHOLE = 1 - 1e-9

SOLVED_BY = {
    Task.SINGLE_CHOICE: "accuracy",
    Task.MULTIPLE_ANSWER: "em0",
    Task.CLOZE: "em",
    Task.SPAN: "em",
    Task.MULTI_SPAN: "quoref_em",
}
"""The metric by task that is 1 where a question is answered exactly."""


@dataclass(frozen=True, slots=True)
class Region:
    """The questions that some systems solve and the others do not.

    Parameters
    ----------
    systems : tuple of str
        Who solves them; empty for the questions that nobody solves.
    questions : int
    share : float
        Of all questions, in 0..1.
    """

    systems: tuple[str, ...]
    questions: int
    share: float


def solved_regions(contest: Contest) -> tuple[Metric, tuple[Region, ...], tuple[str, ...]]:
    """How many questions each combination of systems solves, and no other system (ReCoRD, Figure 5).

    A question is solved by an answer that is wholly right; a share of the credit, as for a tie, is not enough.
    Expectations over draws solve no particular questions and are left out, as are systems beyond the first four.

    Parameters
    ----------
    contest : Contest

    Returns
    -------
    metric : Metric
        That says what is solved.
    regions : tuple of Region
        All 2^k, those of most systems first; empty with fewer than two sets.
    left_out : tuple of str
        The names of systems without a set.
    """
    metric = METRICS[SOLVED_BY[contest.task]]
    decided = [contender for contender in contest.contenders if not contender.expected]
    shown = decided[:MOST_SETS] if len(decided) > 1 else []
    names = [contender.name for contender in shown]
    left_out = tuple(c.name for c in contest.contenders if not any(c is other for other in shown))
    if not shown:
        return metric, (), left_out
    solved = [metric.from_means(c.statistics[metric.name]) >= _WHOLE for c in shown]
    codes = sum(right.astype(np.int64) << i for i, right in enumerate(solved))
    counts = np.bincount(codes, minlength=2 ** len(shown)).tolist()
    regions = [
        Region(
            tuple(name for i, name in enumerate(names) if code >> i & 1),
            count,
            count / len(contest.groups),
        )
        for code, count in enumerate(counts)
    ]
    # A stable sort: of as many systems, those that are named first come first.
    return metric, tuple(sorted(regions, key=lambda region: -len(region.systems))), left_out
