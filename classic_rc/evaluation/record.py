"""The run record: what ran, on what, with what outcome on every question."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from classic_rc._version import __version__
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.folds import passage_groups

__all__ = ["run_record", "runs_to_dict"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "nltk", "joblib")


def runs_to_dict(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """The results of one or several datasets as plain data: the schema of ``--format json``."""
    return {"version": __version__, "runs": [evaluation.to_dict() for evaluation in evaluations]}


def run_record(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """The same with the files' hashes, the versions and the outcome on every question.

    Each run gains ``passage_groups``: for each question in its order, the number of the group of those about equal
    passages, so that systems can be compared without the data. Each row gains ``outcomes``: by question id the
    answer (the first of a tie), the number of tied candidates and the metrics' statistics.
    """
    record = runs_to_dict(evaluations)
    record["environment"] = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }
    for run, evaluation in zip(record["runs"], evaluations, strict=True):
        run["dataset"]["sources"] = [
            {"path": source.path, "sha256": source.sha256} for source in evaluation.dataset.sources
        ]
        run["passage_groups"] = passage_groups(evaluation.dataset).tolist()
        for plain, row in zip(run["rows"], evaluation.rows, strict=True):
            plain["outcomes"] = _outcomes(evaluation, row)
    return record


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
