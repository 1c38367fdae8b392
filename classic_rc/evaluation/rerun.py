"""A run record worked out again, and every number of it compared to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from classic_rc.errors import UsageError
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.intervals import with_intervals
from classic_rc.evaluation.prepared import Prepared, PreparedRun
from classic_rc.evaluation.record import run_record
from classic_rc.evaluation.results import Evaluation
from classic_rc.evaluation.significance import with_significance

_NOT_COMPARED = frozenset({"signature", "short_signature", "params", "caveats", "seconds", "outcomes"})
"""What names versions and places, takes time, or is compared question by question."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A number, or a fact such as what was tuned on, that came out differently.

    Parameters
    ----------
    what : str
        Its path in the record's row: ``"metrics.accuracy"``.
    recorded, now : object
        None where there is nothing.
    """

    what: str
    recorded: Any
    now: Any


@dataclass(frozen=True)
class RowCheck:
    """A row of the record beside what came out now.

    Parameters
    ----------
    system : str
    differences : tuple of Difference
    questions : tuple of str
        Ids of the questions whose answer, ties or statistics differ.
    metrics : mapping of str to float
        As recorded.
    """

    system: str
    differences: tuple[Difference, ...]
    questions: tuple[str, ...]
    metrics: Mapping[str, float]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.questions


@dataclass(frozen=True)
class RunCheck:
    """All rows of a dataset.

    Parameters
    ----------
    dataset : str
    n_questions : int
    rows : tuple of RowCheck
    """

    dataset: str
    n_questions: int
    rows: tuple[RowCheck, ...]


@dataclass(frozen=True)
class Rerun:
    """A record beside what came out now.

    Parameters
    ----------
    record : str
        Its path.
    runs : tuple of RunCheck
    notes : tuple of str
        Versions that differ.
    """

    record: str
    runs: tuple[RunCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether every number came out again."""
        return all(row.same for run in self.runs for row in run.rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {"same": self.same, **asdict(self)}


def rerun(prepared: Prepared, *, jobs: int = 1, progress: bool = False) -> Rerun:
    """Run a record again and compare all its numbers.

    Numbers are equal or they differ: nothing is rounded. Times, places of files and versions are not compared.

    Parameters
    ----------
    prepared : Prepared
        From :func:`~classic_rc.evaluation.prepared.prepare`.
    jobs : int
        Processes to score with; numbers do not depend on it.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Rerun

    Raises
    ------
    UsageError
        Data are missing or have changed.
    """
    if prepared.changes:
        raise UsageError(f"nothing is run: {'; '.join(prepared.changes)}")
    return Rerun(prepared.path, tuple(_check(run, jobs, progress) for run in prepared.runs), prepared.notes)


def _check(run: PreparedRun, jobs: int, progress: bool) -> RunCheck:
    evaluation = _evaluated(run, jobs, progress)
    (now,) = json.loads(json.dumps(run_record([evaluation])))["runs"]  # tuples become lists, as they did
    old, new = run.recorded["rows"], now["rows"]
    rows = [_row(a, b) for a, b in zip(old, new, strict=False)]
    rows += [_lonely(row, "recorded") for row in old[len(new) :]] + [_lonely(row, "now") for row in new[len(old) :]]
    return RunCheck(run.dataset.name, len(run.dataset), tuple(rows))


def _evaluated(run: PreparedRun, jobs: int, progress: bool) -> Evaluation:
    protocol, resampling = run.protocol, run.recorded["resampling"]
    evaluation = evaluate(
        run.dataset,
        protocol.solvers,
        train=protocol.train,
        tune=protocol.tune,
        spans=protocol.spans,
        jobs=jobs,
        progress=progress,
        **protocol.options,
    )
    if resampling is not None:
        evaluation = with_intervals(
            evaluation,
            resampling["resamples"],
            seed=resampling["seed"],
            level=resampling["level"],
            group=resampling["group"],
        )
    if (tested := run.recorded.get("significance")) is not None:
        how = {name: tested[name] for name in ("n", "seed", "group")}
        evaluation = with_significance(evaluation, tested["baseline"], **how)
    return evaluation


def _row(old: Mapping[str, Any], new: Mapping[str, Any]) -> RowCheck:
    kept, made = (dict(_leaves({k: v for k, v in row.items() if k not in _NOT_COMPARED})) for row in (old, new))
    pairs = {what: (kept.get(what), made.get(what)) for what in {**kept, **made}}
    differences = [Difference(what, *pair) for what, pair in pairs.items() if pair[0] != pair[1]]
    outcomes = new["outcomes"]
    questions = [id_ for id_, outcome in old["outcomes"].items() if outcomes.get(id_) != outcome]
    return RowCheck(_name(old), tuple(differences), tuple(questions), old["metrics"])


def _lonely(row: Mapping[str, Any], where: str) -> RowCheck:
    """A row that the other side does not have."""
    missing = Difference("row", *((_name(row), None) if where == "recorded" else (None, _name(row))))
    return RowCheck(_name(row), (missing,), tuple(row["outcomes"]), row["metrics"])


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['solver']}:{row['variant']}" if row["variant"] else row["solver"]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number, text or null in nested data, with its path."""
    inner: Sequence[tuple[Any, Any]]
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        yield path, value
        return
    for key, item in inner:
        yield from _leaves(item, f"{path}.{key}" if path else str(key))
