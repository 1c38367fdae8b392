"""The run record: what ran, on what, with what outcome on every question."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc._version import __version__
from classic_rc.datasets.registry import SAMPLES
from classic_rc.evaluation.comparison import Contender, Contest
from classic_rc.evaluation.protocol import kept_file, kept_path, kept_solver
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.folds import passage_groups
from classic_rc.io.json import Node, parse_json
from classic_rc.io.text import read_text
from classic_rc.metrics.base import Metric
from classic_rc.metrics.registry import metrics_for
from classic_rc.questions import Dataset, Task

SCHEMA = 2
"""The number of this form of the record; it grows with every change that a reader of records has to know of."""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "nltk", "joblib")


def runs_to_dict(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """The results of one or several datasets as plain data: the schema of ``--format json``."""
    return {"version": __version__, "runs": [evaluation.to_dict() for evaluation in evaluations]}


def run_record(evaluations: Sequence[Evaluation], folder: Path | None = None) -> dict[str, Any]:
    """The same with all that it takes to get it again, and the outcome on every question.

    Each run gains ``protocol``: the solvers with all their parameters, the options, and what was learned from and
    tuned on. Datasets gain ``read_with``, what :func:`classic_rc.load` was asked for, and ``sources``, the files
    that were read, with their size and sha256. Each run gains ``passage_groups``: for each question in its order,
    the number of the group of those about equal passages, so that systems can be compared without the data. Each
    row gains ``outcomes``: by question id the answer (the first of a tie), the number of tied candidates and the
    metrics' statistics. See ``docs/records.md``.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    folder : Path, optional
        Where the record will lie: relative paths are made relative to it.
    """
    record = {"version": __version__, "schema": SCHEMA, **runs_to_dict(evaluations), "environment": environment()}
    for run, evaluation in zip(record["runs"], evaluations, strict=True):
        run["dataset"] |= _files(evaluation.dataset, folder)
        protocol = evaluation.protocol
        run["protocol"] = protocol and {
            "solvers": [kept_solver(solver, folder) for solver in protocol.solvers],
            "options": dict(protocol.options),
            "spans": protocol.spans and asdict(protocol.spans),
            "train": protocol.train and _described(protocol.train, folder),
            "tune": protocol.tune and _described(protocol.tune, folder),
        }
        run["passage_groups"] = passage_groups(evaluation.dataset).tolist()
        for plain, row in zip(run["rows"], evaluation.rows, strict=True):
            plain["outcomes"] = _outcomes(evaluation, row)
    return record


def environment() -> dict[str, Any]:
    """The versions of what numbers may depend on."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _described(dataset: Dataset, folder: Path | None) -> dict[str, Any]:
    return {"name": dataset.name, "fingerprint": dataset.fingerprint, **_files(dataset, folder)}


def _files(dataset: Dataset, folder: Path | None) -> dict[str, Any]:
    """How a dataset was read, and from which files; embedded data go by name, wherever the package lies."""
    asked = dict(dataset.read_with) if dataset.read_with else None
    sources = [kept_file(source.path, folder, sha256=source.sha256) for source in dataset.sources]
    if asked is not None and asked["path"] in SAMPLES:
        sources = [{**source, "path": os.path.basename(source["path"])} for source in sources]
    elif asked is not None:
        asked |= {key: kept_path(asked[key], folder) for key in ("path", "answers") if asked[key] is not None}
    return {"read_with": asked, "sources": sources}


def _outcomes(evaluation: Evaluation, row: Row) -> dict[str, Any]:
    outcomes = row.outcomes
    statistics = {name: rows.tolist() for name, rows in outcomes.statistics.items()}
    return {
        question.id: {
            "answer": outcomes.answers[i],
            "tied": int(outcomes.n_tied[i]),
            "statistics": {name: rows[i] for name, rows in statistics.items()},
        }
        for i, question in enumerate(evaluation.dataset)
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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
