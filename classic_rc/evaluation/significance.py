"""Which rows of an evaluation differ from one of them."""

from __future__ import annotations

from dataclasses import replace

from classic_rc.errors import UsageError, unknown_name
from classic_rc.evaluation.multiplicity import holm
from classic_rc.evaluation.paired import permutation_test
from classic_rc.evaluation.results import Evaluation, Significance
from classic_rc.folds import passage_groups
from classic_rc.metrics.registry import METRICS


def with_significance(
    evaluation: Evaluation, baseline: str, n: int = 10_000, *, seed: int = 0, group: str | None = None
) -> Evaluation:
    """The evaluation with a p-value for every metric of every row but the baseline's: does it differ from that?

    The test is the paired permutation test that swaps the two rows' outcomes for whole passages
    (:func:`~classic_rc.evaluation.paired.permutation_test`); the p-values of all rows and metrics, each of which
    would put a mark into the table, are adjusted together by Holm's method.

    Parameters
    ----------
    evaluation : Evaluation
    baseline : str
        The name of a row.
    n : int
        How many random permutations.
    seed : int
    group : str, optional
        A key of `meta` whose equal values stay together, as equal passages do.

    Returns
    -------
    Evaluation

    Raises
    ------
    UsageError
        No row, or more than one, has the name, or there is no other row.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.evaluation import with_significance
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> evaluation = classic_rc.evaluate(dataset, [classic_rc.parse_solver(name) for name in ("longest", "sw+d")])
    >>> longest, sw_d = with_significance(evaluation, "longest").rows
    >>> longest.p_values, sw_d.p_values["accuracy"] > 0.05
    ({}, True)
    """
    names = [row.name for row in evaluation.rows]
    if baseline not in names:
        raise unknown_name(f"row of {evaluation.dataset.name}", baseline, names)
    if names.count(baseline) > 1:
        raise UsageError(f"{names.count(baseline)} rows are called {baseline}: none of them is the one baseline")
    if len(names) == 1:
        raise UsageError(f"there is no row besides {baseline} that could differ from it")
    base = evaluation.rows[names.index(baseline)].outcomes.statistics
    groups = passage_groups(evaluation.dataset, group)
    tested = [(i, name) for i, row in enumerate(evaluation.rows) if row.name != baseline for name in base]
    p_values = [
        permutation_test(
            METRICS[name], evaluation.rows[i].outcomes.statistics[name], base[name], groups, n=n, seed=seed
        ).p
        for i, name in tested
    ]
    found: list[dict[str, float]] = [{} for _ in names]
    for (i, name), p in zip(tested, holm(p_values).tolist(), strict=True):
        found[i][name] = p
    rows = tuple(replace(row, p_values=own) for row, own in zip(evaluation.rows, found, strict=True))
    return replace(evaluation, rows=rows, significance=Significance(baseline, len(tested), n, seed, group))
