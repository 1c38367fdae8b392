"""The floors and the tasks of evaluators in one form that other projects read without this package.

``docs/floor.md`` describes the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classic_rc._version import __version__
from classic_rc.results.evaluator_tasks import EvaluatorTask, evaluator_tasks
from classic_rc.results.floors import FloorDataset, FloorRow, bounds

SCHEMA = 1
"""The version of the form; it increases with every change that matters to programs."""

_CONSTANT = ("constant-position", "all-positive", "all-negative")
"""The solvers whose answer is the same for every question."""


def export_floors(floors: Mapping[str, FloorDataset]) -> dict[str, Any]:
    """Return all floors by dataset, and by evaluator and task what is known of their questions."""
    numbers = {name: floor_numbers(floor) for name, floor in floors.items()}
    tasks: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for task in evaluator_tasks():
        entry = _task_entry(task, numbers)
        tasks.setdefault(task.evaluator, {}).setdefault(task.task, []).append(entry)
    return {"schema": SCHEMA, "version": __version__, "floors": numbers, "tasks": tasks}


def floor_numbers(dataset: FloorDataset) -> dict[str, Any]:
    """Return what an evaluation is compared with, as shares of 1."""
    constant = [row for row in dataset.rows if row.system.startswith(_CONSTANT) and not row.learns]
    return {
        "task": dataset.task,
        "language": dataset.language,
        "metric": dataset.metric,
        "n": dataset.questions,
        "chance": dataset.value(dataset.chance),
        "majority": max(map(dataset.value, constant), default=None),
        "floor": dataset.value(dataset.floor),
        "interval": bounds(dataset.floor.intervals, dataset.metric),
        "interval_of_choice": dataset.floor_interval,
        "chosen_on": dataset.name if dataset.dev is None else dataset.dev.name,
        "system": dataset.floor.system,
        "signature": dataset.floor.signature,
        "trained": _learned(dataset, dataset.trained(out_of_fold=False)),
        "folds": _learned(dataset, dataset.trained(out_of_fold=True)),
        "prior": _learned(dataset, dataset.prior),
        "fingerprint": dataset.fingerprint,
        "date": dataset.date,
    }


def _learned(dataset: FloorDataset, row: FloorRow | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "value": dataset.value(row),
        "without_copies": None if row.outdated else dataset.fair_value(row),
        "interval": dataset.fair_interval(row),
        "system": row.system,
        "signature": row.signature,
        "version": row.version,
    }


def _task_entry(task: EvaluatorTask, numbers: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    names = "version data subset split questions metric chance baseline".split()
    floor = numbers.get(task.floor or "")
    facts = {name: getattr(task, name) for name in names}
    command = task.command if floor is None else f"classic-rc floor {task.floor}"
    return {**facts, "dataset": task.floor, "floor": floor, "command": command}
