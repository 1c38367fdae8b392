"""Entries of files of floors, made from run records."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc._version import __version__
from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.datasets.registry import READERS
from classic_rc.results.evaluation import Evaluation
from classic_rc.results.floors import (
    CHANCE,
    SCHEMA,
    TRAINED,
    FloorDataset,
    find_dev,
    load_floors,
)
from classic_rc.results.intervals import resample_metrics
from classic_rc.results.outcomes import Block
from classic_rc.results.record import run_record
from classic_rc.results.resampling import percentile_interval
from classic_rc.results.shared_results import SharedResults
from classic_rc.text.languages import dataset_language

COMPUTED = "today's code made these rows from the data"
"""How rows are known that were computed a moment ago."""

_DIGITS = 10
"""The decimals of the shares in a file. Numbers that agree to this many are equal."""

_DIGITS_OF_DISTANCES = 6

_OF_DATASET = "reader split task fingerprint passages questions candidates".split()


def floor_entry(
    run: Mapping[str, Any],
    results: SharedResults,
    *,
    version: str,
    verified: str,
    date: str,
    language: str,
    dev: FloorDataset | None = None,
) -> dict[str, Any]:
    """Return the entry of a dataset, without texts and outcomes.

    Parameters
    ----------
    run : mapping
        A run of a record.
    results : SharedResults
        The same run, as :func:`classic_rc.results.record_reading.read_results` returns it.
    version : str
        The version of classic_rc that ran.
    verified : str
        How it is known that today's code makes the rows.
    date : str
    language : str
        The language of the passages.
    dev : FloorDataset, optional
        The development split, on which the floor is chosen. Without it, each resample chooses
        again.
    """
    dataset = run["dataset"]
    settings = (run.get("protocol") or {}).get("settings", {})
    reader = READERS.get(dataset["reader"])
    official = FINGERPRINTS.get(dataset["fingerprint"])
    if (dataset.get("read_with") or {}).get("path") == dataset["name"]:
        # an official split whose fingerprint is not known yet, such as a test set
        figures = ((figure["dataset"], figure["split"]) for figure in run.get("published") or ())
        official = official or next((f for f in figures if f not in FINGERPRINTS.values()), None)
    cites = reader.cites if reader else ()
    above, floor_interval = _uncertainty(results, None if dev is None else dev.floor.system)
    rows = [row_entry(row, version, above.get(row["name"], {})) for row in run["rows"]]
    return {
        "name": dataset["name"],
        **{key: dataset[key] for key in _OF_DATASET},
        "language": language,
        "metric": dataset["primary_metric"],
        "by": (run.get("grouping") or {}).get("key"),
        "cv": settings.get("cv"),
        "group": settings.get("group"),
        "official": official and list(official),
        "cites": [key for key in cites if key != "classic_rc"],
        "verified": verified,
        "date": date,
        "notes": [],
        "left_out": [],
        "floor_interval": floor_interval,
        "rows": rows,
    }


def entry_of(evaluation: Evaluation) -> dict[str, Any]:
    """Return the entry of an evaluation that was just computed."""
    name, today = evaluation.dataset.name, datetime.date.today().isoformat()
    run = run_record([evaluation])["runs"][0]
    facts = {
        "version": __version__,
        "verified": COMPUTED,
        "date": today,
        "language": dataset_language(evaluation.dataset).name,
    }
    return floor_entry(run, evaluation.results, **facts, dev=find_dev(name, load_floors()))


def row_entry(
    row: Mapping[str, Any], version: str, above: Mapping[str, Sequence[float]] | None = None
) -> dict[str, Any]:
    """Return the entry of a row, from a row of a run record or of ``run --format json``.

    `above` has the intervals of its distances from chance and from the floor.
    """
    groups = {}
    for name, group in row.get("groups", {}).items():
        groups[name] = {"questions": group["questions"], **_numbers_entry(group)}
    return {
        "system": row["name"],
        "learns": row["block"] == TRAINED,
        "signature": row["signature"],
        **_numbers_entry(row),
        "above": dict(above or {}),
        "expected": row.get("expected", row["name"] == CHANCE),
        "ties": row["ties"],
        "tie_rate": _rounded(row["tie_rate"]),
        "trained_on": row["trained_on"],
        "tuned_on": row["tuned_on"],
        "tuned_here": row["tuned_here"],
        "version": version,
        "outdated": False,
        "groups": groups,
    }


def _numbers_entry(numbers: Mapping[str, Any]) -> dict[str, Any]:
    metrics = {name: _rounded(value) for name, value in numbers["metrics"].items()}
    intervals = {}
    for name, bounds in numbers.get("intervals", {}).items():
        intervals[name] = [_rounded(bound) for bound in bounds]
    return {"metrics": metrics, "intervals": intervals}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def same_numbers(old: Any, new: Any) -> bool:
    """Return whether two values are the same; two shares if they agree in all digits of a file."""
    if isinstance(old, float) and isinstance(new, float | int):
        return abs(old - new) < 0.6 * 10**-_DIGITS  # different ones are a unit or more apart
    return bool(old == new)


def _uncertainty(
    results: SharedResults, floor_system: str | None
) -> tuple[dict[str, dict[str, list[float]]], list[float] | None]:
    """Return the intervals of each system's distances from chance and floor, and of the floor.

    Without a `floor_system`, each resample of passages has its own best system as its floor: an
    interval of the best of many that ignores the choice is too narrow.
    """
    metric, groups = results.primary, results.groups
    untrained = [
        row.name for row in results.systems if row.block is Block.UNTRAINED and not row.tuned_here
    ]
    if groups.max(initial=0) < 1 or CHANCE not in untrained:
        return {}, None
    measured = [(metric, row.statistics[metric.name]) for row in results.systems]
    draws = dict(zip(results.names, resample_metrics(measured, groups), strict=True))
    best = [draws[name] for name in ([floor_system] if floor_system in untrained else untrained)]
    at_floor = np.max(best, axis=0)
    bases = {"above_chance": draws[CHANCE], "above_floor": at_floor}
    # From a base of 1 there is no way up: its distances are undefined.
    bases = {key: base for key, base in bases.items() if base.max() < 1}
    above = {}
    for name, drawn in draws.items():
        distances = {key: (drawn - base) / (1 - base) for key, base in bases.items()}
        above[name] = {key: _percentiles(distance) for key, distance in distances.items()}
    return above, _percentiles(at_floor)


def _percentiles(drawn: NDArray[np.float64]) -> list[float]:
    return [round(bound, _DIGITS_OF_DISTANCES) for bound in percentile_interval(drawn)]


def floors_text(entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a file of floors, with a line for each dataset and row, so that its
    history can be read.
    """
    texts = []
    for entry in sorted(entries, key=lambda entry: str(entry["name"])):
        facts = {key: value for key, value in entry.items() if key != "rows"}
        head = json.dumps({**facts, "rows": []}, ensure_ascii=False)
        rows = ",\n  ".join(
            json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in entry["rows"]
        )
        texts.append(f"{head[:-2]}\n  {rows}]}}")
    listed = ",\n ".join(texts)
    return f'{{"schema": {SCHEMA}, "datasets": [\n {listed}]}}\n'
