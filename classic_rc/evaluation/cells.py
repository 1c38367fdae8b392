"""The cells of a suite: one system on one dataset each, computed once and kept in files."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from classic_rc._version import __version__
from classic_rc.datasets.registry import as_dataset, load
from classic_rc.datasets.specification import parse_data
from classic_rc.errors import ClassicRCError, DataError, SystemFailedError, UsageError
from classic_rc.evaluation.evaluate import evaluate
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.grouping import group_masks
from classic_rc.evaluation.identity import (
    UnidentifiedCodeError,
    cell_key,
    digest_of,
    identify,
    read_known_sources,
    write_known_sources,
)
from classic_rc.evaluation.outcomes import Row
from classic_rc.evaluation.plan import add_span_candidates, prepare_data, require_gold
from classic_rc.evaluation.record import read_rows, rows_to_plain, system_to_plain
from classic_rc.evaluation.results import Evaluation
from classic_rc.evaluation.significance import with_statistics
from classic_rc.evaluation.suite import Suite, SuiteDataset
from classic_rc.evaluation.systems import System, name_systems, with_companions
from classic_rc.folds import passage_groups
from classic_rc.io.files import sha256_of, sha256_of_text
from classic_rc.io.json import Node, parse_json
from classic_rc.io.text import read_text, write_file
from classic_rc.metrics.base import Metric, measured_metrics, metric_of_task
from classic_rc.protocol import READING, Protocol, Step
from classic_rc.questions import Dataset

_NAME = "{name}"
"""The name of every system while its cell is computed. A cell does not have the user's name for the system."""

SOURCES = "sources.json"
"""The file next to a folder of cells that has what is known of source files."""


@dataclass(frozen=True)
class Cell:
    """The results of one system on one dataset."""

    key: str  # the sha256 of everything that the results follow from; empty if that cannot be identified
    fingerprint: str  # of the dataset
    rows: tuple[Row, ...]  # one; two if the system was tuned on the data that it reports
    warnings: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()  # the warnings about data and options that the system does not use
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, key: str, evaluation: Evaluation) -> Cell:
        """Return the cell of an evaluation of one system."""
        unused = evaluation.unused
        warnings = tuple(warning for warning in evaluation.warnings if warning not in unused)
        return cls(key, evaluation.dataset.fingerprint, evaluation.rows, warnings, unused, evaluation.notes)

    def rows_of(self, system: System) -> list[Row]:
        """Return the rows under the system's name, and with the present path of its file."""
        rows = [replace(row, label=row.name.replace(_NAME, str(system.name), 1)) for row in self.rows]
        if system.path is not None:
            rows = [replace(row, params={**row.params, "path": system.path}) for row in rows]
        return rows


class CellFolder:
    """The files of cells in a folder, one for each, named by their keys.

    Parameters
    ----------
    folder : Path
        It is created.

    Raises
    ------
    UsageError
        It cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot create the folder {folder}: {error.strerror or error}"
            raise UsageError(problem, field="--output", found=str(folder)) from error
        read_known_sources(folder.parent / SOURCES)

    def keep_sources(self) -> None:
        """Keep what is known of the sources that systems can run, for the next run."""
        write_known_sources(self._folder.parent / SOURCES)

    def path_of(self, key: str) -> Path:
        """Return the path of a cell's file."""
        return self._folder / f"{key[:32]}.json"

    def find(self, key: str, dataset: Dataset, notes: list[str]) -> Cell | None:
        """Return the kept cell, or None; a note says so if its file is damaged."""
        path = self.path_of(key)
        if not path.exists():
            return None
        try:
            return _cell_from_plain(parse_json(read_text(path), str(path)), key, dataset)
        except (ClassicRCError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            notes.append(f"{path} is damaged: it is computed again")
            return None

    def keep(self, cell: Cell, dataset: Dataset, facts: Mapping[str, Any]) -> None:
        """Write a cell's file.

        Raises
        ------
        UsageError
            It cannot be written.
        """
        plain = _cell_to_plain(cell, dataset, facts)
        # The checksum finds a damaged number that is still a number.
        document = {"version": __version__, "sha256": digest_of(plain), "cell": plain}
        write_file(self.path_of(cell.key), json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n")


def _cell_to_plain(cell: Cell, dataset: Dataset, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key": cell.key,
        "follows_from": facts,
        "fingerprint": cell.fingerprint,
        "signatures": [row.signature for row in cell.rows],
        "rows": rows_to_plain(Evaluation(dataset, cell.rows)),
        "warnings": cell.warnings,
        "unused": cell.unused,
        "notes": cell.notes,
    }


def _cell_from_plain(document: Any, key: str, dataset: Dataset) -> Cell:
    plain = document["cell"]
    if document["sha256"] != digest_of(plain) or plain["key"] != key or cell_key(**plain["follows_from"]) != key:
        raise ValueError("another content than was written")
    assert dataset.task is not None
    ids, rows = read_rows(Node(plain, key), dataset.task, len(dataset))
    if plain["fingerprint"] != dataset.fingerprint or ids != [question.id for question in dataset]:
        raise ValueError("other questions")
    texts = (tuple(plain[name]) for name in ("warnings", "unused", "notes"))
    return Cell(key, plain["fingerprint"], tuple(rows), *texts)


# ------------------------------------------------------------------------------------------------------------------
# Data


@dataclass(frozen=True)
class SuiteData:
    """The data of one dataset of a suite, as it was read, and its options as the library takes them."""

    entry: SuiteDataset
    dataset: Dataset  # under its own name, which is part of some signatures; span questions have candidates
    protocol: Protocol  # with data that has candidates
    seconds: float  # that reading the dataset took

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings that a cell follows from: what only reports change is not among them."""
        names = self.protocol.affecting(Step.FIT, Step.SCORE, Step.DECIDE).keys() - {"train", "tune"}
        plain = self.protocol.to_plain()
        return {
            "version": __version__,
            "python": ".".join(platform.python_version_tuple()[:2]),
            "measured": [metric.name for metric in measured_metrics(self.dataset, self.protocol.metrics)],
            **{name: plain[name] for name in sorted(names)},
        }

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the data is, by its part in the run."""
        parts = {"data": self.dataset, "train": as_dataset(self.protocol.train), "tune": self.protocol.tune}
        return {part: dataset and self._data_facts(dataset) for part, dataset in parts.items()}

    def _data_facts(self, dataset: Dataset) -> dict[str, Any]:
        # The fingerprint leaves out fields such as the author, which folds may follow from; the files have them.
        sources = sorted(source.sha256 for source in dataset.sources)
        return {
            "name": dataset.name,
            "split": dataset.split,
            "fingerprint": dataset.fingerprint,
            "sources": sha256_of_text(" ".join(sources)) if len(sources) > 1 else "".join(sources),
        }


ReadData = Callable[..., Dataset]
"""A function with the arguments of :func:`classic_rc.load`."""


def read_data(entry: SuiteDataset, read: ReadData = load, clock: Callable[[], float] = lambda: 0.0) -> SuiteData:
    """Read a dataset of a suite, and the data to learn from, and check the options that need it.

    Parameters
    ----------
    entry : SuiteDataset
    read : callable
        Reads a dataset: by default :func:`classic_rc.load`.
    clock : callable
        Returns the time, to measure how long reading the dataset takes.

    Raises
    ------
    DataError
        Data cannot be read, or gold is hidden.
    UsageError
        An option has no meaning for the data.
    """
    values = entry.values
    start = clock()
    path = str(parse_data(values["path"]).with_default(split=values.get("split")))
    others = {name: values[name] for name in READING if name != "split" and name in values}
    dataset = read(path, **others)
    seconds = clock() - start
    if dataset.task is None:
        raise DataError("the dataset has no questions", source=dataset.name)
    require_gold(dataset, "nothing can be measured")
    train = as_dataset([read(path, **others) for path in entry.train])
    tune = values.get("tune")
    tuning = None if tune is None else read(tune, **others)
    protocol = prepare_data(entry.protocol(train, tuning))
    metrics = tuple(dict.fromkeys(metric_of_task(dataset.task, name).name for name in protocol.metrics))
    if protocol.group is not None:
        passage_groups(dataset, protocol.group)  # refuses an unknown key
    dataset = add_span_candidates(dataset, protocol.span_generator)
    return SuiteData(entry, dataset, replace(protocol, metrics=metrics), seconds)


# ------------------------------------------------------------------------------------------------------------------
# Running


@dataclass(frozen=True)
class FinishedCell:
    """A cell that was found or computed, or the reason why there is none."""

    system: System
    result: Cell | ClassicRCError
    is_kept: bool = False  # whether it was found in a file


class DatasetRun:
    """The systems of a suite on one dataset: its cells, and the evaluation that they make.

    Parameters
    ----------
    suite : Suite
    data : SuiteData
    folder : CellFolder

    Attributes
    ----------
    systems : list of System
        With their names; the solvers that tables show next to them are among them.
    notes : list of str
        About damaged files, and those that cannot be written.
    """

    def __init__(self, suite: Suite, data: SuiteData, folder: CellFolder) -> None:
        self.data, self._folder = data, folder
        self.notes: list[str] = []
        self._results: dict[str, Cell] = {}
        given = suite.systems_of(data.entry.name)
        self._errors = {name: found for name, found in given.items() if isinstance(found, ClassicRCError)}
        assert data.dataset.task is not None
        systems = [found for found in given.values() if isinstance(found, System)]
        self.systems = name_systems(with_companions(systems, data.dataset, as_dataset(data.protocol.train)))
        key = data.protocol.by
        self._groups = {} if key is None else group_masks(data.dataset, key)

    @property
    def n_cells(self) -> int:
        """Number of systems, those that cannot answer included."""
        return len(self.systems) + len({*self._errors} - {system.name for system in self.systems})

    @property
    def metric(self) -> Metric:
        """The primary metric."""
        assert self.data.dataset.task is not None
        return metric_of_task(self.data.dataset.task, next(iter(self.data.protocol.metrics), None))

    def iter_cells(
        self, jobs: int = 1, starts: Callable[[str], None] = lambda name: None
    ) -> Iterator[FinishedCell]:
        """Find or compute the cells, and yield each when it is finished and kept: first those that were kept.

        Parameters
        ----------
        jobs : int
            Number of processes of joblib's backend, -1 for all cores. The results do not depend on it.
        starts : callable
            Called with the name of a system, or of several, when their work starts.

        Yields
        ------
        FinishedCell
        """
        for name, error in self._errors.items():
            yield FinishedCell(System(name=name), error)
        missing: list[tuple[System, str]] = []
        facts: dict[str, dict[str, Any]] = {}  # by key
        for system in self.systems:
            key = ""
            try:
                of_system = self._facts(system)
                key = cell_key(**of_system)
                facts[key] = of_system
            except UnidentifiedCodeError as error:
                self.notes.append(f"{system.name} is not kept: {error}")
            except ClassicRCError as error:  # a file cannot be read
                self._errors[str(system.name)] = error
                yield FinishedCell(system, error)
                continue
            if not key or (cell := self._folder.find(key, self.data.dataset, self.notes)) is None:
                missing.append((system, key))
            else:
                self._results[str(system.name)] = cell
                yield FinishedCell(system, cell, is_kept=True)
        self._folder.keep_sources()
        for system, result in self._compute(missing, jobs, starts):
            if isinstance(result, Cell):
                self._results[str(system.name)] = result
                try:
                    if result.key:
                        self._folder.keep(result, self.data.dataset, facts[result.key])
                except UsageError as error:  # a full disk: the result can still be shown
                    self.notes.append(f"{system.name} is not kept: {error}")
            else:
                self._errors[str(system.name)] = result
            yield FinishedCell(system, result)

    def _facts(self, system: System) -> dict[str, Any]:
        """Return what a system's results follow from, as `cell_key` takes it; paths and names are not among it."""
        paths: dict[str, str] = {}  # by digest

        def keep(path: str) -> dict[str, Any]:
            sha256 = sha256_of(path)
            paths[sha256] = path
            return {"sha256": sha256}

        entry = {**system_to_plain(system, keep), "name": None}
        solver, settings = entry.get("solver"), self.data.settings
        identity = identify(
            solver, self.data.dataset.reader, lambda kept: paths.get(kept["sha256"], ""), settings["measured"]
        )
        if solver is not None:  # a specification has paths, and what the bytes of code mean is in the identity
            entry["solver"] = {name: value for name, value in solver.items() if name not in ("spec", "code")}
        settings = {**settings, "system": entry, "packages": dict(identity.packages)}
        return {"settings": settings, "data": self.data.facts, "identity": identity.digest}

    def _compute(
        self, missing: Sequence[tuple[System, str]], jobs: int, starts: Callable[[str], None]
    ) -> Iterator[tuple[System, Cell | ClassicRCError]]:
        if jobs != 1 and len(missing) > 1:
            from joblib import Parallel, delayed, effective_n_jobs

            n_jobs = min(effective_n_jobs(jobs), len(missing))
            if n_jobs > 1:
                starts(f"{len(missing)} systems in {n_jobs} processes")
                tasks = (
                    delayed(_compute_elsewhere)(self.data.entry, self.data.dataset.fingerprint, i, system, key)
                    for i, (system, key) in enumerate(missing)
                )
                for i, result in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks):
                    yield missing[i][0], result
                return
        shared = EncodingCache()
        for i, (system, key) in enumerate(missing):
            starts(str(system.name))
            shared.later = [other.solver for other, _ in missing[i + 1 :] if other.solver is not None]
            yield system, _compute_cell(self.data, system, key, shared)

    def evaluation(self, *, final: bool = True) -> Evaluation:
        """Return the evaluation that the finished cells make, under the suite's name of the dataset.

        Parameters
        ----------
        final : bool
            Whether all cells are finished: then it has intervals and p-values, if the suite asks for them.
            Otherwise it has an error for each of the others.

        Raises
        ------
        ClassicRCError
            The error of the first system, if no system answers and none failed.
        """
        data, entry = self.data, self.data.entry
        assert data.dataset.task is not None
        errors = self._errors.values()
        if final and not self._results and not any(isinstance(error, SystemFailedError) for error in errors):
            raise next(iter(errors))
        done = [system for system in self.systems if system.name in self._results]
        cells = [(system, self._results[str(system.name)]) for system in done]
        rows = [row for system, cell in cells for row in cell.rows_of(system)]
        warnings = [w.replace(_NAME, str(system.name)) for system, cell in cells for w in cell.warnings]
        unused = [w for w in (cells[0][1].unused if cells else ()) if all(w in cell.unused for _, cell in cells)]
        notes = dict.fromkeys(note for _, cell in cells for note in cell.notes)
        evaluation = Evaluation(
            replace(data.dataset, name=entry.name),
            tuple(rows),
            self._groups,
            data.protocol.by,
            (*dict.fromkeys(warnings), *unused) if final else (),
            tuple(notes) if final else (),
            systems=tuple(s for s in self.systems if s.solver or (s.path and Path(s.path).is_file())),
            protocol=data.protocol,
            errors=dict(self._errors),
            metrics=data.protocol.metrics,
            unused=tuple(unused),
        )
        if not final:
            return evaluation.interrupted()
        has_statistics = bool(rows) and data.protocol.has_statistics
        return with_statistics(evaluation, data.protocol) if has_statistics else evaluation


def _compute_cell(
    data: SuiteData, system: System, key: str, shared: EncodingCache | None = None
) -> Cell | ClassicRCError:
    protocol = replace(data.protocol.without(Step.REPORT), metrics=data.protocol.metrics)
    try:
        evaluation = evaluate(
            data.dataset, [replace(system, name=_NAME)], protocol, read_seconds=data.seconds, shared=shared
        )
    except ClassicRCError as error:
        if isinstance(error, SystemFailedError):
            error.name = str(system.name)
        return error
    return Cell.of(key, evaluation)


_last_read: list[tuple[str, SuiteData]] = []
"""The data that this process read last, for the next cell of the same dataset."""


def _compute_elsewhere(
    entry: SuiteDataset, fingerprint: str, i: int, system: System, key: str
) -> tuple[int, Cell | ClassicRCError]:
    """Compute a cell in another process, which reads the data itself; `i` says which cell it is."""
    wanted = f"{fingerprint} {sorted(entry.values.items())}"
    if not _last_read or _last_read[0][0] != wanted:
        try:
            _last_read[:] = [(wanted, read_data(entry))]
        except ClassicRCError as error:
            return i, error
    data = _last_read[0][1]
    if data.dataset.fingerprint != fingerprint:
        return i, DataError("changed while the suite ran", source=entry.values["path"])
    return i, _compute_cell(data, system, key)
