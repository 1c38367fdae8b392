"""Run the rows of a floor again on the dataset itself, and compare every number."""

from __future__ import annotations

from dataclasses import dataclass, field

from classic_rc._version import __version__
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.systems import System
from classic_rc.protocol import Protocol
from classic_rc.questions import Dataset
from classic_rc.reports.floor import FloorDataset, row_differences, row_entry, row_from_entry
from classic_rc.solvers.specs import parse_solver


@dataclass
class Verification:
    """What :func:`verify_rows` found."""

    rows: list[str] = field(default_factory=list)  # the systems that were run again
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def verify_rows(
    of: FloorDataset, dataset: Dataset, train: Dataset | None = None, *, learned: bool = False
) -> Verification:
    """Run the systems that learn nothing, and those that learn if asked for, and compare the results.

    `train` is the training data of the rows that learned from other data.
    """
    found = Verification()
    chosen = [row for row in of.rows if learned or not row.learns]
    elsewhere = [row for row in chosen if row.trained_on is not None and of.cv is None]
    if elsewhere and train is None:
        found.notes.append(
            f"not run without --train ({elsewhere[0].trained_on}): {', '.join(row.system for row in elsewhere)}"
        )
        chosen = [row for row in chosen if row not in elsewhere]
    if left := len(of.rows) - len(chosen) - len(elsewhere) * (train is None):
        found.notes.append(f"{left} rows learn from gold answers, and are run only with --learned")
    protocol = Protocol(cv=of.cv, group=of.group, train=train if learned else None, by=of.by, intervals=True)
    systems = [System(parse_solver(row.system), name=row.system) for row in chosen]
    evaluation = evaluate(dataset, systems, protocol)
    plain = evaluation.to_dict()["rows"]
    made = {row["name"]: row_from_entry(row_entry(row, __version__)) for row in plain}
    for row in chosen:
        if row.system in made:
            found.differences += row_differences(row, made[row.system])
        else:
            found.differences.append(f"{row.system}: no result: {evaluation.errors.get(row.system)}")
    found.rows = [row.system for row in chosen]
    return found
