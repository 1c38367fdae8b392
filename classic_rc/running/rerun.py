"""Run a record again, and compare every number with the recorded one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any

from classic_rc.errors import UsageError
from classic_rc.parameters import is_number
from classic_rc.results.evaluation import Evaluation, with_intervals, with_significance
from classic_rc.results.record import run_record
from classic_rc.running.evaluate import evaluate
from classic_rc.running.restored_record import RestoredRecord, RestoredRun, is_learned

_NOT_COMPARED = frozenset(
    {"signature", "short_signature", "params", "caveats", "seconds", "outcomes", "block"}
)
"""Fields of a row that contain versions, paths or times, follow from its solver, or are compared
by question.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """A number, or a fact such as the tuning data, that came out differently."""

    what: str  # its path in the record's row: "metrics.accuracy"
    recorded: Any  # None if the record lacks it
    now: Any  # None if the new run lacks it


@dataclass(frozen=True)
class RowCheck:
    """The comparison of a recorded row with the new one."""

    system: str
    differences: tuple[Difference, ...]
    questions: tuple[str, ...]  # ids of the questions whose answer, ties or statistics differ
    metrics: Mapping[str, float]  # as recorded

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.questions


@dataclass(frozen=True)
class RunCheck:
    """The comparison of all rows of one dataset."""

    dataset: str
    n_questions: int
    rows: tuple[RowCheck, ...]


@dataclass(frozen=True)
class Rerun:
    """The comparison of a record with the new results."""

    record: str  # its path
    runs: tuple[RunCheck, ...]
    notes: tuple[str, ...] = ()  # versions that differ

    @property
    def same(self) -> bool:
        """Whether every number is the same as recorded."""
        return all(row.same for run in self.runs for row in run.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"same": self.same, **asdict(self)}


def rerun(prepared: RestoredRecord, *, jobs: int = 1, progress: bool = False) -> Rerun:
    """Run a record again and compare all its numbers.

    Numbers must be equal to the last digit, except those of learned rows under other versions of
    packages (:data:`~classic_rc.running.restored_record.LEARNED_TOLERANCE`). Times, paths of files
    and versions are not compared. UsageError if data is missing or has changed.
    """
    if prepared.changes:
        raise UsageError(
            f"the record cannot be run again: {'; '.join(prepared.changes)}",
            field="record",
            found=prepared.path,
        )
    runs = tuple(_rerun_dataset(run, jobs, progress, prepared.tolerance) for run in prepared.runs)
    return Rerun(prepared.path, runs, prepared.notes)


def _rerun_dataset(run: RestoredRun, jobs: int, progress: bool, tolerance: float) -> RunCheck:
    evaluation = _evaluate_again(run, jobs, progress)
    # tuples become lists, as in the record
    (now,) = json.loads(json.dumps(run_record([evaluation])))["runs"]
    old, new = run.recorded["rows"], now["rows"]
    rows = []
    for old_row, new_row in zip(old, new, strict=False):
        row_tolerance = tolerance if is_learned(old_row) else 0.0
        rows.append(_compare_rows(old_row, new_row, row_tolerance))
    rows += [_unmatched_row(row, "recorded") for row in old[len(new) :]]
    rows += [_unmatched_row(row, "now") for row in new[len(old) :]]
    return RunCheck(run.dataset.name, len(run.dataset), tuple(rows))


def _evaluate_again(run: RestoredRun, jobs: int, progress: bool) -> Evaluation:
    protocol = replace(run.protocol, intervals=None, baseline=None)
    evaluation = evaluate(run.dataset, run.systems, protocol, jobs=jobs, progress=progress)
    if (resampling := run.resampling) is not None:
        evaluation = with_intervals(
            evaluation,
            resampling.n,
            seed=resampling.seed,
            level=resampling.level,
            group=resampling.group,
        )
    if (tests := run.significance) is not None:
        evaluation = with_significance(
            evaluation,
            tests.baselines,
            tests.n,
            metric=tests.metric or None,
            seed=tests.seed,
            group=tests.group,
        )
    return evaluation


def _are_equal(old: Any, new: Any, tolerance: float) -> bool:
    """Return whether two values are equal, or two numbers within the tolerance."""
    if old == new or not tolerance:
        return bool(old == new)
    if isinstance(old, dict) and isinstance(new, dict):
        if old.keys() != new.keys():
            return False
        return all(_are_equal(old[key], new[key], tolerance) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return False
        return all(_are_equal(a, b, tolerance) for a, b in zip(old, new, strict=True))
    are_numbers = is_number(old) and is_number(new)
    return are_numbers and math.isclose(old, new, rel_tol=tolerance, abs_tol=tolerance)


def _compare_rows(old: Mapping[str, Any], new: Mapping[str, Any], tolerance: float) -> RowCheck:
    before, after = _compared_leaves(old), _compared_leaves(new)
    pairs = ((path, before.get(path), after.get(path)) for path in {**before, **after})
    differences = [
        _name_difference(*pair) for pair in pairs if not _are_equal(*pair[1:], tolerance)
    ]
    new_outcomes = new["outcomes"]
    questions = [
        question_id
        for question_id, outcome in old["outcomes"].items()
        if not _are_equal(outcome, new_outcomes.get(question_id), tolerance)
    ]
    return RowCheck(old["name"], tuple(differences), tuple(questions), old["metrics"])


def _compared_leaves(row: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_leaves({key: row[key] for key in row if key not in _NOT_COMPARED}))


def _name_difference(path: str, old: Any, new: Any) -> Difference:
    """Return the difference of two values; of two lists their first one, and how many there are."""
    if not (isinstance(old, list) and isinstance(new, list)):
        return Difference(path, old, new)
    pairs = [pair for pair in zip_longest(old, new) if pair[0] != pair[1]]
    first = f"{path} ({len(pairs):,} of {len(old):,}, the first)"
    return Difference(first, *pairs[0])


def _unmatched_row(row: Mapping[str, Any], where: str) -> RowCheck:
    """Return the check of a row that only the record or only the new run has."""
    name = row["name"]
    recorded, now = (name, None) if where == "recorded" else (None, name)
    missing = Difference("row", recorded, now)
    return RowCheck(name, (missing,), tuple(row["outcomes"]), row["metrics"])


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every number, text or null in nested data, and of every list
    of them.
    """
    inner: Sequence[tuple[Any, Any]]
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        inner = list(enumerate(value))
    else:
        yield path, value
        return
    for key, item in inner:
        yield from _leaves(item, f"{path}.{key}" if path else str(key))
