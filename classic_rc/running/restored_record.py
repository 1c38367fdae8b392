"""A record that can run again: its solvers and settings, and its data, found and compared with the
record.
"""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from classic_rc._version import __version__
from classic_rc.datasets.fetch import is_hub_name, named_files
from classic_rc.datasets.memory import join_datasets
from classic_rc.datasets.registry import SAMPLES, load
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.facts import facts_digest
from classic_rc.io.columns import find_shards
from classic_rc.io.files import sha256_of
from classic_rc.io.json import Node, parse_json
from classic_rc.io.text import read_text
from classic_rc.protocol import Protocol
from classic_rc.questions import Dataset
from classic_rc.results.record import SCHEMA, identity_of_entry, software_versions
from classic_rc.results.record_reading import read_resampling, read_significance
from classic_rc.results.resampling import Resampling
from classic_rc.results.significance import Significance
from classic_rc.solvers.codec import solver_from_record
from classic_rc.systems import System


class RecordedFiles:
    """A finder of a record's files and folders: at their recorded path, or by content below other
    folders.

    `base` is the record's folder, which its relative paths start from. `places` are searched, at
    any depth, for files that are missing at their recorded path or have changed.
    """

    def __init__(self, base: Path, places: Sequence[str] = ()) -> None:
        self._base = Path(os.path.realpath(base))
        self._places = [Path(place) for place in places]
        for place in self._places:
            if not place.is_dir():
                raise DataError(
                    "no such folder",
                    source=str(place),
                    hint="Give a folder that contains the data: --search DIR",
                )

    def place(self, path: str) -> Path:
        """Return the recorded place of a file or folder."""
        return Path(os.path.normpath(self._base / path))

    def candidates(self, path: str) -> Iterator[Path]:
        """Yield the possible places of a folder: its own, the other folders, and below them those
        of its name.

        Shards that are read as one file are found at their own place and directly in the other
        folders.
        """
        recorded_place = self.place(path)
        name = recorded_place.name
        for shards in (recorded_place, *(place / name for place in self._places)):
            if find_shards(str(shards)):
                yield shards
        for place in (recorded_place, *self._places):
            if place.is_dir():
                yield place
        for place in self._places:
            for folder in sorted(place.rglob(glob.escape(name))):
                if folder.is_dir():
                    yield folder

    def find(self, file: Mapping[str, Any]) -> str:
        """Return the path of a file or folder with the recorded content, or raise the error of
        :meth:`problem`.
        """
        if file["bytes"] is None:
            candidates = self.candidates(file["path"])
        else:
            candidates = self._same_size_files(self.place(file["path"]), file["bytes"])
        for path in candidates:
            if sha256_of(path) == file["sha256"]:
                return str(path)
        raise self.problem(file)

    def _same_size_files(self, recorded_place: Path, size: int) -> Iterator[Path]:
        """Return the files of a size: the one at its recorded path first, then all below the
        other folders.
        """
        below = (path for place in self._places for path in sorted(place.rglob("*")))
        for path in itertools.chain([recorded_place], below):
            if path.is_file() and path.stat().st_size == size:
                yield path

    def problem(self, file: Mapping[str, Any]) -> DataError:
        """Return the error for a file or folder that is missing or has changed."""
        recorded_place = self.place(file["path"])
        hint = None if self._places else "Give a folder that contains it: --search DIR"
        if not recorded_place.exists():
            where = ", and no file below --search has the same content" if self._places else ""
            return DataError(f"missing{where}", source=str(recorded_place), hint=hint)
        return DataError(
            "changed since the record was made",
            source=str(recorded_place),
            found=f"sha256 {sha256_of(recorded_place)}",
            expected=file["sha256"],
            hint=hint,
        )


@dataclass(frozen=True)
class RestoredRun:
    """One run of a record, with its data and solvers restored."""

    recorded: Mapping[str, Any]  # the run as it is in the record
    dataset: Dataset
    systems: tuple[System, ...]
    protocol: Protocol
    resampling: Resampling | None  # of recorded intervals
    significance: Significance | None  # of recorded tests


@dataclass(frozen=True)
class RestoredRecord:
    """A record that is ready to be run again."""

    path: str  # of the record
    runs: tuple[RestoredRun, ...]  # those whose data is unchanged
    changes: tuple[str, ...]  # what is missing or has changed; nothing should run if there is any
    notes: tuple[str, ...]  # versions that differ, and what that means
    tolerance: float = 0.0  # within which the numbers of learned rows count as equal
    code: tuple[str, ...] = ()  # the systems whose code is not the code that ran


LEARNED_TOLERANCE = 1e-9
"""If versions of packages differ from the record's, numbers of rows that learn from gold, or are
tuned in more than a threshold, may differ by this much, relative or absolute: linear algebra and
optimisers change in last digits. All other rows have the same digits everywhere.
"""


def restore_record(
    path: str | Path, places: Sequence[str] = (), *, trust: bool | None = False
) -> RestoredRecord:
    """Find and check the data of a record that ``run --save`` wrote.

    Files that are not at their recorded path are searched for in the folders `places`; they are
    recognised by content. `trust` says whether users' own code may run; with None data, files and
    code are only compared, and no solver is made. A DataError or UsageError says why a record
    cannot be run again, or a solver not be restored.
    """
    source = str(path)
    record: Any = parse_json(read_text(path), source)
    schema = record.get("schema", "none") if isinstance(record, dict) else "not a JSON object"
    if schema != SCHEMA:
        raise DataError(
            "not a run record that can be run again",
            source=source,
            field="schema",
            found=str(schema),
            expected=str(SCHEMA),
            hint="Records of other versions can still be compared; classic-rc run --save makes a "
            "new one",
        )
    finder = RecordedFiles(Path(path).parent, places)
    runs: list[RestoredRun] = []
    changes: list[str] = []
    code: list[str] = []
    try:
        for run in record["runs"]:
            _check_form(run, source)
            statistics = read_resampling(Node(run, source)), read_significance(Node(run, source))
            restorer = _RunRestorer(finder, changes, code)
            dataset, restored = restorer.dataset(run["dataset"]), restorer.protocol(run, trust)
            if dataset is not None and restored is not None:
                runs.append(RestoredRun(run, dataset, *restored, *statistics))
        notes = tuple(_version_notes(record))
        differs = record["environment"]["packages"] != software_versions()["packages"]
        tolerance = LEARNED_TOLERANCE if differs else 0.0
        if differs and any(is_learned(row) for run in record["runs"] for row in run["rows"]):
            notes += (
                f"rows that learn are compared within {tolerance:g}, because versions of packages "
                "differ",
            )
    except ClassicRCError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        hint = "Was the record edited?"
        if isinstance(error, KeyError):
            raise DataError(
                "missing or unknown", source=source, field=str(error.args[0]), hint=hint
            ) from error
        raise DataError(
            "malformed record",
            source=source,
            found=f"{type(error).__name__}: {str(error)[:200]}",
            hint=hint,
        ) from error
    return RestoredRecord(
        source, tuple(runs), tuple(dict.fromkeys(changes)), notes, tolerance, tuple(code)
    )


def _check_form(run: Mapping[str, Any], source: str) -> None:
    """Look up the fields that are compared at the end, so a missing field is an error before any
    work.
    """
    try:
        Protocol.from_plain(run["protocol"]["settings"])
    except UsageError as error:
        facts = {"field": error.field, "found": error.found, "expected": error.expected}
        raise DataError(
            "malformed record", source=source, **facts, hint="Was the record edited?"
        ) from None
    for row in run["rows"]:
        _ = (
            [row[name] for name in ("name", "solver", "variant")],
            row["metrics"].items(),
            row["outcomes"].items(),
        )


class _RunRestorer:
    """The restorer of one run's data and solvers; `changes` and `code` collect what is missing
    or has changed.
    """

    def __init__(self, finder: RecordedFiles, changes: list[str], code: list[str]) -> None:
        self._finder, self._changes, self._code = finder, changes, code

    def protocol(
        self, run: Mapping[str, Any], trust: bool | None
    ) -> tuple[tuple[System, ...], Protocol] | None:
        """Return the systems, none if `trust` is None, and the protocol; None, with the reason
        in `changes`.
        """
        entry, before = run["protocol"], len(self._changes)
        systems = []
        for system in entry["systems"]:
            try:
                self._check_code(system, run["dataset"]["reader"])
                if trust is not None:
                    systems.append(self._system(system, trust))
            except DataError as problem:
                self._changes.append(str(problem))
        train = entry["train"] and self.dataset(entry["train"])
        tune = entry["tune"] and self.dataset(entry["tune"])
        if len(self._changes) > before:
            return None
        return tuple(systems), Protocol.from_plain(entry["settings"], train, tune)

    def _check_code(self, entry: Mapping[str, Any], reader: str | None) -> None:
        """Check a system's files, and note it in `code` if the code that it runs is not the code
        that ran.
        """
        for file in _kept_files(entry):
            self._finder.find(file)
        now, recorded = identity_of_entry(entry, reader, self._finder.find), entry["identity"]
        if now != recorded:
            short = [str(digest)[:12] for digest in (now, recorded)]
            self._code.append(
                f"{entry['name']}: its code has changed: identity {short[0]}, recorded {short[1]}"
            )

    def _system(self, entry: Mapping[str, Any], trust: bool) -> System:
        system = System(
            name=entry["name"],
            number=entry.get("number"),
            run_of=entry.get("run_of"),
            note=entry.get("note"),
        )
        if system.number is not None:
            return system
        if entry.get("solver") is None:
            path = self._finder.find(entry["file"])
            return replace(
                system, path=path, format=entry.get("format"), options=entry.get("options") or {}
            )
        return replace(
            system, solver=solver_from_record(entry["solver"], self._finder.find, trust=trust)
        )

    def dataset(self, entry: Mapping[str, Any]) -> Dataset | None:
        """Return the dataset with the recorded content, or None, with the reason in `changes`."""
        try:
            dataset = self._read(entry)
        except DataError as problem:
            self._changes.append(str(problem))
            return None
        if dataset.fingerprint != entry["fingerprint"]:
            self._changes.append(
                f"{entry['name']}: the files are unchanged but are read differently: fingerprint "
                f"{dataset.fingerprint}, recorded {entry['fingerprint']}"
            )
            return None
        if facts_digest(dataset) != entry.get("facts"):
            self._changes.append(
                f"{entry['name']}: the questions are the recorded ones, but not their sentence "
                "marks or other fields"
            )
            return None
        return dataset

    def _read(self, entry: Mapping[str, Any]) -> Dataset:
        if entry.get("parts"):
            joined = join_datasets([self._read(component) for component in entry["parts"]])
            # shards have the name that their files share
            return replace(joined, name=entry["name"])
        read_with, sources = entry["read_with"], entry["sources"]
        if read_with is None:
            raise DataError(
                "the questions were in memory and were not read from a file", source=entry["name"]
            )
        is_name = read_with["path"] in SAMPLES or is_hub_name(read_with["path"])
        if is_name or named_files(read_with["path"], [source["path"] for source in sources]):
            return _load_unchanged(read_with, read_with["path"], sources)
        if not any(
            source["path"] == read_with["path"] and source["bytes"] is not None
            for source in sources
        ):
            return self._read_folder(read_with, sources)
        paths = {source["path"]: self._finder.find(source) for source in sources}
        answers = read_with["answers"]
        if answers is not None and answers not in paths:
            # `answers` is the folder of the answer files
            recorded_place = self._finder.place(answers)
            data_path = read_with["path"]
            answer_files = [path for recorded, path in paths.items() if recorded != data_path]
            answers = str(Path(answer_files[0]).parent if answer_files else recorded_place)
        else:
            answers = answers and paths[answers]
        return _load_unchanged(read_with, paths[read_with["path"]], sources, answers)

    def _read_folder(
        self, read_with: Mapping[str, Any], sources: Sequence[Mapping[str, Any]]
    ) -> Dataset:
        """Read the first folder that has exactly the recorded files."""
        recorded_place = self._finder.place(read_with["path"])
        problem: DataError | None = None
        for folder in self._finder.candidates(read_with["path"]):
            answers = read_with["answers"] and str(self._finder.place(read_with["answers"]))
            try:
                if folder == recorded_place:
                    self._check_in_place(sources)
                return _load_unchanged(read_with, str(folder), sources, answers)
            except DataError as error:
                problem = problem or error
        raise problem or self._finder.problem({"path": read_with["path"]})

    def _check_in_place(self, sources: Sequence[Mapping[str, Any]]) -> None:
        """Raise an error for a missing or changed file of a folder, before a reader fails on it
        less clearly.
        """
        in_place = RecordedFiles(self._finder.place("."))
        for source in sources:
            if source["bytes"] is not None:
                in_place.find(source)


def _kept_files(plain: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the references of all files in the plain data of a system."""
    if isinstance(plain, list):
        for item in plain:
            yield from _kept_files(item)
    elif isinstance(plain, Mapping):
        if {"path", "sha256", "bytes"} <= plain.keys():
            yield plain
        else:
            yield from _kept_files(list(plain.values()))


def _count_files(digests: Sequence[str], others: Sequence[str]) -> str:
    """Return the number of files, with the digests that are not among `others`."""
    count = f"{len(digests)} file{'s' * (len(digests) != 1)}"
    different = ", ".join(sorted(set(digests) - set(others)))[:80]
    return f"{count}, sha256 {different}" if different else count


def _load_unchanged(
    read_with: Mapping[str, Any],
    path: str,
    sources: Sequence[Mapping[str, Any]],
    answers: str | None = None,
) -> Dataset:
    """Read data, and raise an error unless it was read from exactly the recorded files."""
    options = {name: value for name, value in read_with.items() if name != "path"}
    dataset = load(path, **{**options, "answers": answers or options.get("answers")})
    read = sorted(source.sha256 for source in dataset.sources)
    recorded = sorted(source["sha256"] for source in sources)
    if read != recorded:
        raise DataError(
            "its files have changed since the record was made",
            source=path,
            found=_count_files(read, recorded),
            expected=_count_files(recorded, read),
        )
    return dataset


def _version_notes(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each version that differs from the record's."""
    recorded, now = record["environment"], software_versions()
    versions = [
        ("classic_rc", record["version"], __version__),
        ("Python", recorded["python"], now["python"]),
    ]
    old_packages = recorded["packages"]
    versions += [(name, old_packages.get(name), new) for name, new in now["packages"].items()]
    for name, old, new in versions:
        if old != new:
            yield f"{name}: {new or 'missing'} now, {old or 'missing'} in the record"


def is_learned(row: Mapping[str, Any]) -> bool:
    """Return whether a row learned from gold, or was tuned in more than a threshold."""
    trained_on = row.get("trained_on")
    return bool(row.get("tuned_params")) or (
        trained_on is not None and not trained_on.startswith("passages of ")
    )
