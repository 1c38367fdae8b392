"""A hard subset as a table: what it does to every system's score."""

from __future__ import annotations

from classic_rc.audit.hard import HardSubset, Share
from classic_rc.metrics.registry import primary_metric
from classic_rc.reports.numbers import percent
from classic_rc.reports.tables import Table


def hard_table(found: HardSubset) -> Table:
    """Every system's main metric on all questions and on the hard ones, and what chance would have left.

    Parameters
    ----------
    found : HardSubset

    Returns
    -------
    Table
    """
    dataset = found.evaluation.dataset
    assert dataset.task is not None
    main = primary_metric(dataset.task)
    rows = []
    for i, (row, (before, after)) in enumerate(zip(found.evaluation.rows, found.scores, strict=True)):
        solved = "–" if row.expected else f"{found.solves(row).sum():,}"
        notes = ["by construction"] if found.is_member(i) else []
        notes += ["expectation"] if row.expected else []
        notes += [f"learned from {row.trained_on}"] if row.trained_on else []
        notes += [f"tuned on {row.tuned_on}"] if row.tuned_on else []
        rows.append([row.name, solved, _percent(before), _percent(after), "; ".join(notes)])
    n_hard = int(found.hard.sum())
    header = ["system", "solves", f"{main.label} all {len(dataset):,}", f"{main.label} hard {n_hard:,}", "notes"]
    title = f"{dataset.name} · {n_hard:,} of {len(dataset):,} questions are hard"
    signatures = [f"{row.name} = {row.short_signature}" for row in found.evaluation.rows]
    return Table(title, header, rows, frozenset({0, 4}), [*_notes(found), "Signatures", *signatures])


def _notes(found: HardSubset) -> list[str]:
    """What was removed, what would have been, and what the words mean."""
    members, most = found.n_members, found.max_solved
    removed, chance, excess = (found.removed[name] for name in ("removed", "chance", "excess"))
    return [
        f"Removed: {(~found.hard).sum():,} questions, {_percent(removed)} % of all; {members} guessers, each by "
        f"itself, would remove {_percent(chance)} %; the difference is {_percent(excess)} points",
        f"Hard: at most {most} of {members} members solve it; solved: its {found.metric.label} is above "
        f"{found.solved_above:g}, the mean over the answers that tie",
        f"Chance: the mean of P(X > {most}), X ~ Binomial({members}, p), p a question's chance of being guessed",
        found.resampling.note,
    ]


def _percent(share: Share | None) -> str:
    return "–" if share is None else percent(share.value, interval=share.interval)
