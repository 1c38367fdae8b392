"""The run record: what ran, on what, with what outcome on every question."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from classic_rc._version import __version__
from classic_rc.datasets.registry import SAMPLES
from classic_rc.evaluation.kept_files import kept_file, kept_path
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.folds import passage_groups
from classic_rc.questions import Dataset

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
            **protocol.to_dict(folder),
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
