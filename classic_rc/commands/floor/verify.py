"""Rows of floors, made from results, made again, and compared digit for digit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from classic_rc._version import __version__
from classic_rc.results.floor_entries import row_entry, same_numbers
from classic_rc.results.floors import (
    PRIOR,
    WITHOUT_COPIES,
    FloorDataset,
    FloorGroup,
    FloorRow,
    row_from_entry,
)

if TYPE_CHECKING:
    from classic_rc.questions import Dataset


def row_differences(row: FloorRow, rerun: FloorRow) -> list[str]:
    """Return what differs between a row and the same row made again; the version and names of
    files may.
    """
    signature, rerun_signature = (
        signature_without(version, "version", "split") for version in (row, rerun)
    )
    pairs: list[tuple[str, Any, Any]] = [("signature", signature, rerun_signature)]
    pairs += [(key, getattr(row, key), getattr(rerun, key)) for key in _SAME]
    pairs += _paired("", row, rerun)
    for value, group in row.groups.items():
        if value in rerun.groups:
            pairs += _paired(f"{value}: ", group, rerun.groups[value])
        elif value != WITHOUT_COPIES:  # a run has these only if rows that learn are in it
            pairs.append((value, 1, None))
    different = [pair for pair in pairs if not same_numbers(*pair[1:])]
    return [f"{row.system}, {what}: {new}, was {old}" for what, old, new in different]


_SAME = ("ties", "tie_rate", "expected", "tuned_on", "tuned_here")


def _paired(
    prefix: str, first: FloorRow | FloorGroup, rerun: FloorRow | FloorGroup
) -> Iterator[tuple[str, Any, Any]]:
    for name, value in first.metrics.items():
        yield prefix + name, value, rerun.metrics.get(name)
    for name, (low, high) in first.intervals.items():
        rerun_interval = rerun.intervals.get(name, (None, None))
        yield f"{prefix}{name} from", low, rerun_interval[0]
        yield f"{prefix}{name} to", high, rerun_interval[1]


def signature_without(row: FloorRow | Mapping[str, Any], *names: str) -> str:
    """Return a row's signature without parts, and without the name of the training data if its
    content is known.
    """
    signature = row.signature if isinstance(row, FloorRow) else row["signature"]
    parts = [text for text in signature.split("|") if text.partition(":")[0] not in names]
    return "|".join(re.sub(r"^(trained_on:).*@", r"\1@", text) for text in parts)


@dataclass
class Verification:
    """What :func:`verify_rows` found."""

    rows: list[str] = field(default_factory=list)  # the systems that were run again
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def verify_rows(
    floor: FloorDataset, dataset: Dataset, train: Dataset | None = None, *, learned: bool = False
) -> Verification:
    """Run the systems that learn nothing, and on request those that learn, and compare the results.

    `train` is the training data of the rows that learned from other data.
    """
    from classic_rc.protocol import Protocol
    from classic_rc.running.evaluate import evaluate
    from classic_rc.solvers.specs import parse_solver
    from classic_rc.systems import System

    verification = Verification()
    selected = [row for row in floor.rows if learned or not row.learns]
    selected = [row for row in selected if row.system != PRIOR]
    if learned and floor.prior is not None:
        verification.notes.append(f"not run, because the fitted file is not here: {PRIOR}")
    elsewhere = [row for row in selected if row.trained_on is not None and floor.cv is None]
    if elsewhere and train is None:
        names = ", ".join(row.system for row in elsewhere)
        verification.notes.append(f"not run without --train ({elsewhere[0].trained_on}): {names}")
        selected = [row for row in selected if row not in elsewhere]
    n_fixed = len(elsewhere) * (train is None) + (learned and floor.prior is not None)
    if n_learning := len(floor.rows) - len(selected) - n_fixed:
        verification.notes.append(
            f"{n_learning} rows learn from gold answers, and are run only with --learned"
        )
    protocol = Protocol(
        cv=floor.cv,
        group=floor.group,
        train=train if learned else None,
        by=floor.by,
        intervals=True,
    )
    systems = [System(parse_solver(row.system), name=row.system) for row in selected]
    evaluation = evaluate(dataset, systems, protocol)
    plain = evaluation.to_dict()["rows"]
    rerun_rows = {row["name"]: row_from_entry(row_entry(row, __version__)) for row in plain}
    for row in selected:
        if row.system in rerun_rows:
            verification.differences += row_differences(row, rerun_rows[row.system])
        else:
            verification.differences.append(
                f"{row.system}: no result: {evaluation.errors.get(row.system)}"
            )
    verification.rows = [row.system for row in selected]
    return verification
