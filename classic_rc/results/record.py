"""The run record: what ran, on which data, and the outcome on every question, as JSON."""

from __future__ import annotations

import itertools
import json
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc._version import __version__
from classic_rc.datasets.fetch import cached_path, is_hub_name, named_files
from classic_rc.datasets.registry import SAMPLES, as_dataset
from classic_rc.errors import DataError, UsageError
from classic_rc.facts import facts_digest
from classic_rc.folds import passage_groups
from classic_rc.identity import UnidentifiedCodeError, identify
from classic_rc.io.files import sha256_of
from classic_rc.io.text import write_file
from classic_rc.questions import Dataset
from classic_rc.results.evaluation import Evaluation
from classic_rc.results.outcomes import Row
from classic_rc.results.published import recorded_figures
from classic_rc.solvers.codec import FindFile, StoreFile, solver_to_record
from classic_rc.systems import RECORD_NAME, System

SCHEMA = 4
"""The version of the record's format; it increases with every change that matters to programs
that read records.
"""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "nltk", "joblib")


def runs_to_dict(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return the results of one or several datasets as plain data, in the schema of ``--format
    json``.
    """
    return {"version": __version__, "runs": [evaluation.to_dict() for evaluation in evaluations]}


def run_record(
    evaluations: Sequence[Evaluation], folder: Path | None = None, unfinished: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the results with everything that is needed to reproduce them and the outcome on every
    question.

    ``docs/records.md`` describes what it adds to the schema of :func:`runs_to_dict`. Relative paths
    are stored relative to `folder`, the record's; `unfinished` names the data that an interrupted
    run has no results of.
    """
    missing = [*itertools.chain(*(done.unfinished for done in evaluations)), *unfinished]
    record = {
        "version": __version__,
        "schema": SCHEMA,
        **({"interrupted": missing} if missing else {}),
        **runs_to_dict(evaluations),
        "environment": software_versions(),
    }
    for run, evaluation in zip(record["runs"], evaluations, strict=True):
        run["dataset"] |= _file_entries(evaluation.dataset, folder)
        protocol, reader = evaluation.protocol, evaluation.dataset.reader
        train, tune = as_dataset(protocol.train), protocol.tune
        systems = [_system_entry(system, folder, reader) for system in evaluation.systems]
        run["protocol"] = {
            "systems": systems,
            "settings": protocol.to_plain(),
            "train": train and _dataset_entry(train, folder),
            "tune": tune and _dataset_entry(tune, folder),
        }
        positions = {key: _positions(masks) for key, masks in evaluation.groupings.items()}
        columns = positions.pop(evaluation.group_by or "", None)
        run["grouping"] = None
        if columns is not None:
            run["grouping"] = {"key": evaluation.group_by, "groups": columns}
        run |= {"groupings": positions} if positions else {}
        run["passage_groups"] = passage_groups(evaluation.dataset).tolist()
        if key := evaluation.group:
            groups = passage_groups(evaluation.dataset, key).tolist()
            run["resampled_groups"] = {"key": key, "groups": groups}
        run["rows"] = rows_to_plain(evaluation)
    return record


def add_published(plain: dict[str, Any], evaluations: Sequence[Evaluation]) -> None:
    """Add the published figures of each dataset to its run."""
    for run, evaluation in zip(plain["runs"], evaluations, strict=True):
        run["published"] = recorded_figures(evaluation.dataset)


def write_record(
    folder: Path, evaluations: Sequence[Evaluation], unfinished: Sequence[str] = ()
) -> None:
    """Write the run record of evaluations into a folder, which is created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot create the folder {folder}: {error.strerror or error}"
        raise UsageError(problem, field="--save", found=str(folder)) from error
    record = run_record(evaluations, folder, unfinished)
    add_published(record, evaluations)
    write_file(folder / RECORD_NAME, record_text(record))


def _positions(groups: Mapping[str, NDArray[np.bool_]]) -> dict[str, list[int]]:
    return {value: np.flatnonzero(mask).tolist() for value, mask in groups.items()}


def record_text(record: Mapping[str, Any]) -> str:
    """Return a record as JSON, with one line for each dataset: `json` is slow when it indents."""
    parts = []
    for name, value in record.items():
        items = (
            ",\n".join(json.dumps(run, allow_nan=False) for run in value) if name == "runs" else ""
        )
        text = f"[\n{items}\n]" if name == "runs" else json.dumps(value, allow_nan=False)
        parts.append(f"{json.dumps(name)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


def rows_to_plain(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Return the rows of an evaluation with the outcome on every question, as plain data.

    :func:`~classic_rc.results.record_reading.read_rows` reads them.
    """
    rows: list[dict[str, Any]] = evaluation.to_dict()["rows"]
    for plain, row in zip(rows, evaluation.rows, strict=True):
        outcomes, evidence = row.outcomes, row.outcomes.evidence
        positions = None if evidence is None else np.flatnonzero(evidence).tolist()
        plain["selections"] = {
            "selected": outcomes.n_selected.tolist(),
            "candidates": outcomes.n_candidates.tolist(),
            "evidence": positions,
        }
        if row.copied is not None:
            plain["copied_questions"] = np.flatnonzero(row.copied).tolist()
        plain["outcomes"] = _outcomes(evaluation, row)
    return rows


def system_to_plain(system: System, keep: StoreFile) -> dict[str, Any]:
    """Return a system as plain data: its name, and its solver with all parameters, or its file.

    `keep` returns the reference to a file, as :func:`recorded_file` does.
    """
    stated = {"run_of": system.run_of, "note": system.note}
    entry = {"name": system.name, **{key: text for key, text in stated.items() if text is not None}}
    if system.number is not None:
        return {**entry, "number": system.number}
    if system.solver is not None:
        return {**entry, "solver": solver_to_record(system.solver, keep)}
    assert system.path is not None
    return {**entry, "file": keep(system.path), **system.file_facts}


def _system_entry(system: System, folder: Path | None, reader: str | None) -> dict[str, Any]:
    entry = system_to_plain(system, partial(recorded_file, folder=folder))
    base = os.path.realpath(folder or Path())
    return {
        **entry,
        "identity": identity_of_entry(entry, reader, lambda file: os.path.join(base, file["path"])),
    }


def identity_of_entry(entry: Mapping[str, Any], reader: str | None, find: FindFile) -> str | None:
    """Return the identity of the code that a recorded system runs now, or None if it is unknown."""
    try:
        return identify(entry.get("solver"), reader, find).digest
    except (UnidentifiedCodeError, DataError):
        return None


def software_versions() -> dict[str, Any]:
    """Return the versions of Python, the platform and the packages that numbers may depend on."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _installed_version(name) for name in _PACKAGES},
    }


def _dataset_entry(dataset: Dataset, folder: Path | None) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "fingerprint": dataset.fingerprint,
        **_file_entries(dataset, folder),
    }


def _file_entries(dataset: Dataset, folder: Path | None) -> dict[str, Any]:
    """Return the digest of a dataset's facts, how it was read and from which files; data with a
    name has no paths of this machine.
    """
    facts = facts_digest(dataset)
    read_with = dict(dataset.read_with) if dataset.read_with else None
    if read_with is not None and (
        files := named_files(read_with["path"], [s.path for s in dataset.sources])
    ):
        cached = []
        for source, file in zip(dataset.sources, files, strict=True):
            n_bytes = os.path.getsize(cached_path(file))
            cached.append({"path": source.path, "sha256": source.sha256, "bytes": n_bytes})
        return {"facts": facts, "read_with": read_with, "sources": cached}
    sources = [
        recorded_file(source.path, folder, sha256=source.sha256) for source in dataset.sources
    ]
    if read_with is not None and read_with["path"] in SAMPLES:
        sources = [{**source, "path": os.path.basename(source["path"])} for source in sources]
    elif read_with is not None:
        for key in ("path", "answers"):
            if read_with[key] is not None:
                read_with[key] = recorded_path(read_with[key], folder)
    parts = (
        {"parts": [_dataset_entry(component, folder) for component in dataset.parts]}
        if dataset.parts
        else {}
    )
    return {"facts": facts, "read_with": read_with, "sources": sources, **parts}


def _outcomes(evaluation: Evaluation, row: Row) -> dict[str, Any]:
    outcomes = row.outcomes
    statistics = {name: rows.tolist() for name, rows in outcomes.statistics.items()}
    plain = {}
    for i, question in enumerate(evaluation.dataset):
        plain[question.id] = {
            "answer": outcomes.answers[i],
            "tied": int(outcomes.n_tied[i]),
            "statistics": {name: rows[i] for name, rows in statistics.items()},
        }
    return plain


@cache
def _installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def recorded_path(path: str, folder: Path | None = None) -> str:
    """Return a path as a record in `folder` stores it: relative to the record, with forward
    slashes.

    An absolute path and a name on the Hugging Face hub stay as they are. A relative path on another
    drive than the record becomes absolute.
    """
    if folder is None or os.path.isabs(path) or is_hub_name(path):
        return path
    try:
        # ".." after a linked folder leads out of the folder that the link is to.
        relative = os.path.relpath(os.path.abspath(path), os.path.realpath(folder))
        return Path(relative).as_posix()
    except ValueError:  # a relative path cannot lead to another drive
        return os.path.abspath(path)


def recorded_file(
    path: str, folder: Path | None = None, *, sha256: str | None = None
) -> dict[str, Any]:
    """Return the entry of a file, or of a folder with all its content, in a record in `folder`.

    It has ``path``, ``sha256`` (computed unless it is known) and ``bytes``: the size of a file,
    None for a folder.
    """
    size = os.path.getsize(path) if os.path.isfile(path) else None
    return {"path": recorded_path(path, folder), "sha256": sha256 or sha256_of(path), "bytes": size}
