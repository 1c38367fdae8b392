"""The outcomes kept in a run record, read back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from classic_rc.evaluation.contest import Contender, Contest
from classic_rc.io.json import Node, parse_json
from classic_rc.io.text import read_text
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import metrics_for
from classic_rc.questions import Task

RECORD = "run.json"
"""What the file of a record is called in its folder."""

_BEGINNING = re.compile(rb'\s*\{\s*"version"\s*:')


def record_file(path: str) -> Path | None:
    """The record that a path is or that lies in the folder that it is; None where there is none.

    It is told by its name or by its first key, without reading it.
    """
    file = Path(path) / RECORD if Path(path).is_dir() else Path(path)
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        is_record = _BEGINNING.match(opened.read(200)) is not None
    return file if is_record or file.name == RECORD else None


def read_contests(path: str | Path) -> list[Contest]:
    """Every dataset of a run record, with all its rows.

    Parameters
    ----------
    path : path-like
        A file that ``run --save`` wrote.

    Raises
    ------
    DataError
        It cannot be read, is no run record, or its rows do not answer the same questions.
    """
    source = str(path)
    root = Node(parse_json(read_text(path), source), source)
    return [_contest(run) for run in root.items("runs")]


def _contest(run: Node) -> Contest:
    dataset = run.child("dataset")
    task = _task(dataset)
    groups = np.array(run.integers("passage_groups"), dtype=np.int64)
    n_questions = dataset.integer("questions")
    if n_questions < 1:
        raise dataset.error("no question in it", field="questions", found=str(n_questions), expected="1 or more")
    numbers = np.unique(groups)
    if len(groups) != n_questions or not np.array_equal(numbers, np.arange(len(numbers))):
        raise run.error(
            "the groups of passages do not fit the questions",
            field="passage_groups",
            found=f"{len(groups)} entries",
            expected=f"a group's number, from 0, for each of {n_questions} questions",
        )
    metrics = metrics_for(task)
    contenders = []
    asked: list[str] | None = None
    for row in run.items("rows"):
        outcomes = row.child("outcomes")
        ids = list(outcomes.value)
        asked = ids if asked is None else asked
        if len(ids) != n_questions or ids != asked:
            raise row.error(
                "the outcomes are of other questions",
                field="outcomes",
                found=f"{len(ids)} questions" if len(ids) != len(asked) else "other ids",
                expected=f"the same {n_questions} in every row",
            )
        contenders.append(_contender(row, [outcomes.at(id_) for id_ in ids], metrics))
    return Contest(dataset.text("name"), dataset.text("fingerprint"), task, groups, tuple(contenders))


def _task(dataset: Node) -> Task:
    name = dataset.text("task")
    if name not in set(Task):
        raise dataset.error("no such task", field="task", found=repr(name), expected=" or ".join(Task))
    return Task(name)


def _contender(row: Node, outcomes: Sequence[Node], metrics: Sequence[Metric]) -> Contender:
    solver, variant = row.text("solver"), row.text("variant") if row.has("variant") else None
    kept = [outcome.child("statistics") for outcome in outcomes]
    return Contender(
        f"{solver}:{variant}" if variant else solver,
        solver,
        {metric.name: _statistics(kept, metric.name) for metric in metrics},
        row.text("short_signature"),
        row.flag("expected"),
    )


def _statistics(kept: Sequence[Node], metric: str) -> NDArray[np.float64]:
    """A metric's statistics of all questions, shape (n_questions, n_statistics)."""
    rows = [node.sequence(metric) for node in kept]
    width = len(rows[0])
    for node, row in zip(kept, rows, strict=True):
        if not row or len(row) != width or not all(isinstance(value, float | int) for value in row):
            raise node.error("not statistics", field=metric, found=repr(row)[:40], expected=f"{width or 1} numbers")
    return np.array(rows, dtype=np.float64)
