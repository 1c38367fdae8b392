"""The cells of a suite: one system on one dataset each, computed once and kept in files."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from classic_rc._version import __version__
from classic_rc.datasets.labels import check_names, read_labels
from classic_rc.datasets.registry import as_dataset, load, read_to_learn
from classic_rc.datasets.specification import parse_data
from classic_rc.errors import ClassicRCError, DataError, SystemFailedError, UsageError
from classic_rc.facts import digest_of, facts_digest
from classic_rc.folds import passage_groups
from classic_rc.identity import (
    UnidentifiedCodeError,
    identify,
)
from classic_rc.io.files import sha256_of
from classic_rc.io.forks import note_processes
from classic_rc.io.json import Node, parse_json
from classic_rc.io.reporters import reporters
from classic_rc.io.text import read_text, write_file
from classic_rc.metrics.base import Metric, measured_metrics, metric_of_task
from classic_rc.protocol import READING, Protocol, Step
from classic_rc.questions import Dataset
from classic_rc.results.evaluation import Evaluation, with_statistics
from classic_rc.results.grouping import read_groupings
from classic_rc.results.outcomes import Row, trivial_note
from classic_rc.results.record import rows_to_plain, system_to_plain
from classic_rc.results.record_reading import read_rows
from classic_rc.running.evaluate import assemble_evaluation, evaluate
from classic_rc.running.fitted_system import EncodingCache
from classic_rc.running.plan import add_span_candidates, prepare_data, require_gold
from classic_rc.running.suite import Suite, SuiteDataset
from classic_rc.systems import System, name_systems, with_companions

_NAME = "{name}"
"""The name of every system while its cell is computed: a cell does not depend on the user's name
for it.
"""


_SENTENCES = ("warnings", "notes", "unused")
"""The fields of an evaluation that are kept with its rows."""

_ENDED = ("a process ended", "from outside, perhaps for lack of memory: give fewer --jobs")


class CellFolder:
    """The files of cells in a folder, which is created: each the evaluation of one system, named
    by its facts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"cannot create the folder {folder}: {error.strerror or error}"
            raise UsageError(problem, field="--save", found=str(folder)) from error

    def path_of(self, facts: Mapping[str, Any]) -> Path:
        """Return the path of the cell that follows from `facts`."""
        return self._folder / f"{digest_of(facts)[:32]}.json"

    def find(
        self, facts: Mapping[str, Any], dataset: Dataset, notes: list[str]
    ) -> Evaluation | None:
        """Return the kept evaluation, or None; a note says so if its file is damaged."""
        path = self.path_of(facts)
        if not path.exists():
            return None
        try:
            document = parse_json(read_text(path), str(path))
            cell = Node(document["cell"], str(path))
            is_intact = document["sha256"] == digest_of(cell.value)
            if not is_intact or digest_of(cell.value["follows_from"]) != digest_of(facts):
                raise cell.error("another content than was written")
            assert dataset.task is not None
            ids, rows = read_rows(cell, dataset, len(dataset))
            if ids != [question.id for question in dataset]:
                raise cell.error("other questions")
            sentences: dict[str, Any] = {name: tuple(cell.texts(name)) for name in _SENTENCES}
            return Evaluation(dataset, tuple(rows), **sentences)
        except (
            ClassicRCError,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ):
            notes.append(f"{path} is damaged: it is computed again")
            return None

    def keep(self, facts: Mapping[str, Any], evaluation: Evaluation) -> None:
        """Write a cell's file; a UsageError if it cannot be written."""
        cell = {
            "follows_from": facts,
            "fingerprint": evaluation.dataset.fingerprint,
            "signatures": [row.signature for row in evaluation.rows],
            "rows": rows_to_plain(evaluation),
        }
        for name in _SENTENCES:
            cell[name] = list(getattr(evaluation, name))
        # The checksum finds a damaged number that is still a number.
        document = {"version": __version__, "sha256": digest_of(cell), "cell": cell}
        write_file(
            self.path_of(facts), json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"
        )


# --------------------------------------------------------------------------------------------------
# Data


@dataclass(frozen=True)
class SuiteData:
    """The data of one dataset of a suite, as it was read, and its options as the library takes
    them.
    """

    entry: SuiteDataset
    # under its own name, which is part of some signatures; span questions have candidates
    dataset: Dataset
    protocol: Protocol  # with data that has candidates
    seconds: float  # that reading the dataset took

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts that determine all cells; what changes only reports is not among them."""
        protocol = self.protocol.without(Step.REPORT)
        metrics = measured_metrics(self.dataset, self.protocol.metrics)
        train, tune = as_dataset(protocol.train), protocol.tune
        return {
            "version": __version__,
            "python": ".".join(platform.python_version_tuple()[:2]),
            "measured": [metric.name for metric in metrics],
            "settings": protocol.to_plain(),
            "data": self._data_facts(self.dataset),
            "train": train and self._data_facts(train),
            "tune": tune and self._data_facts(tune),
        }

    def _data_facts(self, dataset: Dataset) -> dict[str, Any]:
        return {
            "name": dataset.name,
            "split": dataset.split,
            "fingerprint": dataset.fingerprint,
            "facts": facts_digest(dataset),
            "revision": dataset.revision,
        }


ReadData = Callable[..., Dataset]
"""A function with the arguments of :func:`classic_rc.load`."""


def read_data(
    entry: SuiteDataset, read: ReadData = load, clock: Callable[[], float] = lambda: 0.0
) -> SuiteData:
    """Read a dataset of a suite, and the data to learn from, and check the options that need it.

    `read` reads a dataset, and `clock` returns the time, to measure how long that takes. Data that
    cannot be read or hides its gold is a DataError, an option that has no meaning for the data a
    UsageError.
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
    train = as_dataset([read_to_learn(path, others, read) for path in entry.texts("train")])
    tune = values.get("tune")
    tuning = None if tune is None else read_to_learn(tune, others, read)
    protocol = prepare_data(entry.protocol(train, tuning))
    metrics = tuple(dict.fromkeys(metric_of_task(dataset, name).name for name in protocol.metrics))
    if protocol.group is not None:
        passage_groups(dataset, protocol.group)  # refuses an unknown key
    dataset = add_span_candidates(dataset, protocol.spans)
    return SuiteData(entry, dataset, replace(protocol, metrics=metrics), seconds)


# --------------------------------------------------------------------------------------------------
# Running


@dataclass(frozen=True)
class FinishedCell:
    """A cell that was found or computed, or the reason why there is none."""

    system: System
    result: Evaluation | ClassicRCError  # of this system alone
    is_kept: bool = False  # whether it was found in a file


class DatasetRun:
    """The systems of a suite on one dataset: its cells, and the evaluation that they make."""

    def __init__(self, suite: Suite, data: SuiteData, folder: CellFolder) -> None:
        self.data, self._folder = data, folder
        self.notes: list[str] = []
        self._results: dict[str, Evaluation] = {}
        suite_systems = suite.systems_of(data.entry.name)
        self._errors = {
            name: system_or_error
            for name, system_or_error in suite_systems.items()
            if isinstance(system_or_error, ClassicRCError)
        }
        assert data.dataset.task is not None
        systems = [
            system_or_error
            for system_or_error in suite_systems.values()
            if isinstance(system_or_error, System)
        ]
        named_systems = name_systems(
            with_companions(systems, data.dataset, as_dataset(data.protocol.train))
        )
        self.systems = [system for system in named_systems if not system.is_given]
        self._given = [system for system in named_systems if system.is_given]
        texts = data.entry.texts
        labels = [
            file_labels
            for path in texts("labels")
            for file_labels in read_labels(path, data.dataset, notes=self.notes)
        ]
        check_names(labels)
        self.groupings = read_groupings(data.dataset, texts("by"), labels)

    @property
    def n_cells(self) -> int:
        """Number of systems, those that cannot answer included."""
        names = {system.name for system in self.systems}
        return len(self.systems) + len(self._errors.keys() - names)

    @property
    def metric(self) -> Metric:
        """The primary metric."""
        assert self.data.dataset.task is not None
        return metric_of_task(self.data.dataset, next(iter(self.data.protocol.metrics), None))

    def iter_cells(
        self, jobs: int = 1, starts: Callable[[str], None] = lambda name: None
    ) -> Iterator[FinishedCell]:
        """Find or compute the cells, and yield each when it is finished and kept: first those that
        were kept.

        `jobs` is the number of processes of joblib's backend. `starts` is called with the name of a
        system, or of several, when their work starts.
        """
        for name, error in self._errors.items():
            yield FinishedCell(System(name=name), error)
        missing: list[tuple[System, dict[str, Any] | None]] = []
        for system in self.systems:
            facts = kept_cell = None
            try:
                facts = self.facts_of(system)
                kept_cell = self._folder.find(facts, self.data.dataset, self.notes)
            except UnidentifiedCodeError as error:
                self.notes.append(f"{system.name} is not kept: {error}")
            except ClassicRCError as error:  # a file cannot be read
                yield self._finish(system, error)
                continue
            if kept_cell is None:
                missing.append((system, facts))
            else:
                yield self._finish(system, kept_cell, is_kept=True)
        for i, result in self._compute([system for system, _ in missing], jobs, starts):
            system, facts = missing[i]
            try:
                if facts is not None and isinstance(result, Evaluation):
                    self._folder.keep(facts, result)
            except UsageError as error:  # a full disk: the result can still be shown
                self.notes.append(f"{system.name} is not kept: {error}")
            yield self._finish(system, result)

    def _finish(
        self, system: System, result: Evaluation | ClassicRCError, *, is_kept: bool = False
    ) -> FinishedCell:
        if isinstance(result, Evaluation):
            self._results[str(system.name)] = result
        else:
            self._errors[str(system.name)] = result
        return FinishedCell(system, result, is_kept)

    def facts_of(self, system: System) -> dict[str, Any]:
        """Return the facts that determine a system's results; paths and names are not among them.

        Code that cannot be identified is an UnidentifiedCodeError, a file that cannot be read a
        DataError.
        """
        paths: dict[str, str] = {}  # by digest

        def keep(path: str) -> dict[str, Any]:
            sha256 = sha256_of(path)
            paths[sha256] = path
            return {"sha256": sha256}

        def find(file: Mapping[str, Any]) -> str:
            return paths.get(file["sha256"], "")

        entry = {**system_to_plain(replace(system, run_of=None, note=None), keep), "name": None}
        solver, reader = entry.get("solver"), self.data.dataset.reader
        identity = identify(solver, reader, find, self.data.facts["measured"])
        # a specification has paths, and what the bytes of code mean is in the identity
        if solver is not None:
            entry["solver"] = {
                name: value for name, value in solver.items() if name not in ("spec", "code")
            }
        return {
            **self.data.facts,
            "system": entry,
            "packages": dict(identity.packages),
            "identity": identity.digest,
        }

    def _compute(
        self, systems: Sequence[System], jobs: int, starts: Callable[[str], None]
    ) -> Iterator[tuple[int, Evaluation | ClassicRCError]]:
        """Yield the number and the result of each system, in any order."""
        if jobs != 1 and len(systems) > 1:
            from joblib import Parallel, delayed, effective_n_jobs

            n_jobs = note_processes(min(effective_n_jobs(jobs), len(systems)))
            if n_jobs > 1:
                starts(f"{len(systems)} systems in {n_jobs} processes")
                entry, fingerprint = self.data.entry, self.data.dataset.fingerprint
                unfinished = dict.fromkeys(range(len(systems)))
                try:
                    with reporters(len(systems), steps=len(systems)) as reporting:
                        tasks = (
                            delayed(reporting[i])(_compute_elsewhere, entry, fingerprint, i, system)
                            for i, system in enumerate(systems)
                        )
                        for i, result in Parallel(n_jobs, return_as="generator_unordered")(tasks):
                            del unfinished[i]
                            reporting[i].forget()
                            is_error = isinstance(result, ClassicRCError)
                            yield i, result if is_error else Evaluation(self.data.dataset, **result)
                except BrokenExecutor:
                    for i in unfinished:
                        error = SystemFailedError(str(systems[i].name), *_ENDED)
                        yield i, error
                return
        shared = EncodingCache()
        for i, system in enumerate(systems):
            starts(str(system.name))
            shared.later = [
                later_system.solver
                for later_system in systems[i + 1 :]
                if later_system.solver is not None
            ]
            yield i, _compute_cell(self.data, system, shared)

    def evaluation(self, *, final: bool = True) -> Evaluation:
        """Return the evaluation that the finished cells make, under the suite's name of the
        dataset.

        If it is `final`, it has intervals and p-values where the suite asks for them. Otherwise it
        has an error for each cell that is not finished. If no system answers and none failed, the
        error of the first one is raised.
        """
        data, entry = self.data, self.data.entry
        assert data.dataset.task is not None
        errors = self._errors.values()
        if (
            final
            and not self._results
            and not any(isinstance(error, SystemFailedError) for error in errors)
        ):
            raise next(iter(errors))
        cells = [(s, self._results[str(s.name)]) for s in self.systems if s.name in self._results]
        rows = [row for system, cell in cells for row in _rows_of(system, cell)]
        warnings = [
            warning.replace(_NAME, str(system.name))
            for system, cell in cells
            for warning in cell.warnings
            if warning not in cell.unused
        ]
        # What another system uses is used.
        first_unused = cells[0][1].unused if cells else ()
        unused = [w for w in first_unused if all(w in cell.unused for _, cell in cells)]
        # A cell has this note about its own system, and the dataset has one about all of them.
        trivial = {trivial_note(data.dataset, cell.rows) for _, cell in cells}
        notes = dict.fromkeys(
            note for _, cell in cells for note in cell.notes if note not in trivial
        )
        systems = [system for system in (*self.systems, *self._given) if _can_be_recorded(system)]
        evaluation = assemble_evaluation(
            replace(data.dataset, name=entry.name),
            rows,
            systems,
            data.protocol,
            self.groupings,
            self._errors,
            warnings=tuple(dict.fromkeys(warnings)),
            unused=unused,
            notes=tuple(notes),
        )
        if not final:
            return replace(evaluation, warnings=(), notes=()).interrupted()
        has_statistics = bool(evaluation.rows) and data.protocol.has_statistics
        return with_statistics(evaluation, data.protocol) if has_statistics else evaluation


def _can_be_recorded(system: System) -> bool:
    if system.path is not None:
        return Path(system.path).is_file()
    return bool(system.solver or system.number)


def _rows_of(system: System, cell: Evaluation) -> list[Row]:
    """Return the rows of a cell under the system's name, and with the present path of its file."""
    name = str(system.name)
    rows = [replace(row, label=row.name.replace(_NAME, name, 1)) for row in cell.rows]
    if system.path is not None:
        rows = [replace(row, params={**row.params, "path": system.path}) for row in rows]
    return rows


def _compute_cell(
    data: SuiteData, system: System, shared: EncodingCache | None = None
) -> Evaluation | ClassicRCError:
    protocol = replace(data.protocol.without(Step.REPORT), metrics=data.protocol.metrics)
    try:
        renamed = replace(system, name=_NAME, run_of=None)
        return evaluate(data.dataset, [renamed], protocol, read_seconds=data.seconds, shared=shared)
    except ClassicRCError as error:
        if isinstance(error, SystemFailedError):
            error.name = str(system.name)
        return error


_last_read: list[tuple[str, SuiteData]] = []
"""The data that this process read last, for the next cell of the same dataset."""


def _compute_elsewhere(
    entry: SuiteDataset, fingerprint: str, i: int, system: System
) -> tuple[int, dict[str, Any] | ClassicRCError]:
    """Compute a cell in another process, which reads the data itself; `i` says which cell it is."""
    data_key = f"{fingerprint} {sorted(entry.values.items())}"
    if not _last_read or _last_read[0][0] != data_key:
        try:
            _last_read[:] = [(data_key, read_data(entry))]
        except ClassicRCError as error:
            return i, error
    data = _last_read[0][1]
    if data.dataset.fingerprint != fingerprint:
        return i, DataError("changed while the suite ran", source=entry.values["path"])
    result = _compute_cell(data, system)
    if isinstance(result, ClassicRCError):
        return i, result
    # Without the dataset and the solvers: the process that asks has them.
    return i, {name: getattr(result, name) for name in ("rows", *_SENTENCES)}
