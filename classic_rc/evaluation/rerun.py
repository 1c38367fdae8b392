"""Run a record again: find and check its data first, then evaluate and compare every number."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from classic_rc._version import __version__
from classic_rc.datasets.registry import SAMPLES, load
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.plan import Protocol
from classic_rc.evaluation.record import SCHEMA, Finder, environment, run_record
from classic_rc.evaluation.results import Evaluation
from classic_rc.evaluation.significance import with_intervals, with_significance
from classic_rc.io.json import parse_json
from classic_rc.io.text import read_text
from classic_rc.questions import Dataset
from classic_rc.solvers.codec import made_solver
from classic_rc.text.spans import SpanGenerator


@dataclass(frozen=True)
class PreparedRun:
    """One run of a record, with its data and solvers restored."""

    recorded: Mapping[str, Any]  # the run as it is in the record
    dataset: Dataset
    protocol: Protocol


@dataclass(frozen=True)
class Prepared:
    """A record that is ready to be run again."""

    path: str  # of the record
    runs: tuple[PreparedRun, ...]  # those whose data is unchanged
    changes: tuple[str, ...]  # what is missing or has changed; nothing should run if there is any
    notes: tuple[str, ...]  # versions that differ


def prepare(path: str | Path, places: Sequence[str] = (), *, trust: bool = False) -> Prepared:
    """Find and check the data of a record.

    Parameters
    ----------
    path : path-like
        A file that ``run --save`` wrote.
    places : sequence of str
        Folders to search for files that are not at their recorded path; files are recognised by content.
    trust : bool
        Whether solvers from outside this package may run.

    Raises
    ------
    DataError
        The file is not a record that can be run again.
    UsageError
        A solver cannot be restored.
    """
    source = str(path)
    record = parse_json(read_text(path), source)
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise DataError(
            "this is no record that can be run again",
            source=source,
            field="schema",
            found=str(record.get("schema", "none")) if isinstance(record, dict) else "no object",
            expected=str(SCHEMA),
            hint="Records of another version can be compared; run --save makes a new one",
        )
    finder = Finder(Path(path).parent, places)
    runs: list[PreparedRun] = []
    changes: list[str] = []
    try:
        for run in record["runs"]:
            _check_form(run)
            found = _Found(finder, changes)
            dataset, protocol = found.dataset(run["dataset"]), found.protocol(run["protocol"], trust)
            if dataset is not None and protocol is not None:
                runs.append(PreparedRun(run, dataset, protocol))
        notes = tuple(_notes(record))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, ClassicRCError):
            raise
        raise DataError(
            f"the record is broken ({type(error).__name__}: {error})", source=source, hint="Was it edited?"
        ) from error
    return Prepared(source, tuple(runs), tuple(dict.fromkeys(changes)), notes)


def _check_form(run: Mapping[str, Any]) -> None:
    """Look up the fields that are compared at the end, so that a missing one is an error before any work."""
    if run["resampling"] is not None:
        _ = [run["resampling"][name] for name in ("resamples", "seed", "level", "group")]
    for row in run["rows"]:
        _ = [row[name] for name in ("solver", "variant")], row["metrics"].items(), row["outcomes"].items()


class _Found:
    """The restorer of one run's data and solvers; `changes` collects what is missing or has changed."""

    def __init__(self, finder: Finder, changes: list[str]) -> None:
        self._finder, self._changes = finder, changes

    def protocol(self, kept: Mapping[str, Any] | None, trust: bool) -> Protocol | None:
        if kept is None:
            raise UsageError("the record keeps answers that were not made here: there is nothing to run again")
        before = len(self._changes)
        solvers = []
        for described in kept["solvers"]:
            try:
                solvers.append(made_solver(described, self._finder.find, trust=trust))
            except DataError as problem:
                self._changes.append(str(problem))
        train, tune = (kept[role] and self.dataset(kept[role]) for role in ("train", "tune"))
        if len(self._changes) > before:
            return None
        spans = None if kept["spans"] is None else SpanGenerator(**kept["spans"])
        return Protocol(tuple(solvers), kept["options"], train, tune, spans)

    def dataset(self, kept: Mapping[str, Any]) -> Dataset | None:
        """Return the dataset with the recorded content, or None, with the reason in `changes`."""
        try:
            dataset = self._read(kept)
        except DataError as problem:
            self._changes.append(str(problem))
            return None
        if dataset.fingerprint != kept["fingerprint"]:
            self._changes.append(
                f"{kept['name']}: the files are as they were, and are read differently: content "
                f"{dataset.fingerprint}, recorded {kept['fingerprint']}"
            )
            return None
        return dataset

    def _read(self, kept: Mapping[str, Any]) -> Dataset:
        asked, sources = kept["read_with"], kept["sources"]
        if asked is None:
            raise DataError("its questions were in memory, in no file to be read again", source=kept["name"])
        if asked["path"] in SAMPLES:
            dataset = _loaded(asked, asked["path"])
            if _digests(dataset) != _kept_digests(sources):
                raise DataError("this version of the package has other sample data", source=asked["path"])
            return dataset
        own = [source for source in sources if source["path"] == asked["path"] and source["bytes"] is not None]
        if not own:
            return self._read_folder(asked, sources, kept["name"])
        found = {source["path"]: self._finder.find(source) for source in sources}
        answers = asked["answers"]
        if answers is not None and answers not in found:  # `answers` is the folder of the answer files
            inside = [path for kept_as, path in found.items() if kept_as != asked["path"]]
            answers = str(Path(inside[0]).parent) if inside else str(self._finder.place(answers))
        else:
            answers = answers and found[answers]
        return self._checked(_loaded({**asked, "answers": answers}, found[asked["path"]]), sources, kept["name"])

    def _read_folder(self, asked: Mapping[str, Any], sources: Sequence[Mapping[str, Any]], name: str) -> Dataset:
        """Read the first folder that has exactly the recorded files."""
        own = self._finder.place(asked["path"])
        problem: DataError | None = None
        for folder in self._finder.candidates(asked["path"]):
            answers = asked["answers"] and str(self._finder.place(asked["answers"]))
            try:
                if folder == own:
                    self._check_in_place(sources)
                return self._checked(_loaded({**asked, "answers": answers}, str(folder)), sources, name)
            except DataError as error:
                problem = problem or error
        raise problem or self._finder.problem({"path": asked["path"]})

    def _check_in_place(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Raise an error for a missing or changed file of a folder, before a reader fails on it less clearly."""
        in_place = Finder(self._finder.place("."))
        for source in sources:
            if source["bytes"] is not None:
                in_place.find(source)

    @staticmethod
    def _checked(dataset: Dataset, sources: Sequence[Mapping[str, Any]], name: str) -> Dataset:
        """Return the dataset if it was read from exactly the recorded files."""
        read, kept = _digests(dataset), _kept_digests(sources)
        if read == kept:
            return dataset
        raise DataError(
            "its files have changed since the record was made",
            source=dataset.read_with["path"] if dataset.read_with else name,
            found=f"{len(read)} read, sha256 {', '.join(sorted(set(read) - set(kept)))[:80] or 'of fewer'}",
            expected=f"{len(kept)}, {', '.join(sorted(set(kept) - set(read)))[:80] or 'and no other'}",
        )


def _loaded(asked: Mapping[str, Any], path: str) -> Dataset:
    options = {name: value for name, value in asked.items() if name != "path"}
    return load(path, **options)


def _digests(dataset: Dataset) -> list[str]:
    return sorted(source.sha256 for source in dataset.sources)


def _kept_digests(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(source["sha256"] for source in sources)


def _notes(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each version that differs from the record's."""
    kept, now = record["environment"], environment()
    versions = [("classic_rc", record["version"], __version__), ("Python", kept["python"], now["python"])]
    versions += [(name, kept["packages"].get(name), version) for name, version in now["packages"].items()]
    for name, old, new in versions:
        if old != new:
            yield f"{name} is {new or 'missing'} here and was {old or 'missing'}"


_NOT_COMPARED = frozenset({"signature", "short_signature", "params", "caveats", "seconds", "outcomes"})
"""Fields of a row that name versions or places, are times, or are compared question by question."""


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


def rerun(prepared: Prepared, *, jobs: int = 1, progress: bool = False) -> Rerun:
    """Run a record again and compare all its numbers.

    Numbers must be equal to the last digit. Times, paths of files and versions are not compared.

    Parameters
    ----------
    prepared : Prepared
        From :func:`~classic_rc.evaluation.rerun.prepare`.
    jobs : int
        Number of scoring processes; the numbers do not depend on it.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Rerun

    Raises
    ------
    UsageError
        Data is missing or has changed.
    """
    if prepared.changes:
        raise UsageError(f"nothing is run: {'; '.join(prepared.changes)}")
    return Rerun(prepared.path, tuple(_check(run, jobs, progress) for run in prepared.runs), prepared.notes)


def _check(run: PreparedRun, jobs: int, progress: bool) -> RunCheck:
    evaluation = _evaluated(run, jobs, progress)
    (now,) = json.loads(json.dumps(run_record([evaluation])))["runs"]  # tuples become lists, as in the record
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
    """Return the check of a row that only the record or only the new run has."""
    missing = Difference("row", *((_name(row), None) if where == "recorded" else (None, _name(row))))
    return RowCheck(_name(row), (missing,), tuple(row["outcomes"]), row["metrics"])


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['solver']}:{row['variant']}" if row["variant"] else row["solver"]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of every number, text or null in nested data."""
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
