"""Suites: a TOML file that describes datasets, systems and options; read, checked and written.

:mod:`classic_rc.running.cells` runs a suite.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from classic_rc.datasets.fetch import has_name_form
from classic_rc.datasets.registry import SAMPLES
from classic_rc.datasets.specification import parse_data
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.io.json import describe_value
from classic_rc.io.text import read_text
from classic_rc.protocol import READING, SETTINGS, TEXT, Kind, Protocol, column_key
from classic_rc.questions import Dataset
from classic_rc.solvers.registry import SHORT_NAMES, SOLVERS
from classic_rc.solvers.specs import change_paths, changed_texts, own_code, solver_spec
from classic_rc.systems import OUT_OF_FOLD, System, check_percent, name_systems, parse_system


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(TEXT.fits, value))


def _is_system(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return TEXT.fits(value) or _are_texts(value) or isinstance(value, int | float)


_SYSTEM = Kind(
    "a solver, a file of predictions, a list of runs, or a number in percent", _is_system
)
_TEXTS = Kind("a text or a list of texts", lambda value: TEXT.fits(value) or _are_texts(value))


@dataclass(frozen=True)
class Key:
    """A key of a suite file."""

    name: str
    kind: Kind
    help: str  # one or two lines
    of_suite: bool = False  # at the top of the file
    of_dataset: bool = (
        True  # in the table of a dataset; there it replaces the value at the top of the file
    )


def _keys() -> Iterator[Key]:
    yield Key(
        "data", TEXT, "a folder that the paths of data start from", of_suite=True, of_dataset=False
    )
    yield Key(
        "path",
        TEXT,
        "the dataset: a file, a folder, a name such as `race:dev`, or an embedded sample such as "
        "`sample:cloze`, also with settings: `RACE,subset=high`",
    )
    for name, setting in READING.items():
        yield Key(name, setting.kind, setting.help)
    for name, setting in SETTINGS.items():
        if name == "spans":  # a setting of the dataset's path
            continue
        kinds = {"train": _TEXTS, "tune": TEXT, "by": _TEXTS}
        yield Key(name, kinds.get(name, setting.kind), setting.help, setting.of_suite)
    yield Key("labels", _TEXTS, "files of labels of questions, whose names `by` may use")


KEYS: Sequence[Key] = tuple(_keys())
"""The keys of suite files, other than the tables ``datasets`` and ``systems``."""

_DATA_PATHS = frozenset({"path", "train", "tune", "labels"})
ANY_DATASET = "default"
"""The key of the specification for all other datasets in the table of a system."""
_NOTE = "note"
"""The key of what a system's user says of it, in the same table."""


@dataclass(frozen=True)
class SuiteDataset:
    """A dataset of a suite, with its options."""

    name: str  # in tables
    values: Mapping[str, Any]  # of its keys; paths can be opened from here

    def texts(self, key: str) -> list[str]:
        """Return the values of a key that takes one text or several: ``train``, ``by`` or
        ``labels``.
        """
        value = self.values.get(key)
        return [] if value is None else [value] if isinstance(value, str) else list(value)

    def protocol(self, train: Dataset | None = None, tune: Dataset | None = None) -> Protocol:
        """Return the protocol of its keys, with the data that `train` and `tune` name."""
        values = {name: self.values[name] for name in SETTINGS if name in self.values}
        values["by"] = column_key(self.texts("by"), self.texts("labels"))
        values["spans"] = parse_data(self.values["path"]).spans
        return Protocol(**{**values, "train": train, "tune": tune})


@dataclass(frozen=True)
class Suite:
    """Datasets and the systems that answer them."""

    path: str  # of the file
    datasets: tuple[SuiteDataset, ...]
    # By name of the system and then of the dataset: the system, or why there is none.
    systems: Mapping[str, Mapping[str, System | ClassicRCError]] = field(default_factory=dict)

    def systems_of(self, dataset: str) -> dict[str, System | ClassicRCError]:
        """Return the systems of a dataset by name, in order."""
        return {
            name: by_dataset[dataset]
            for name, by_dataset in self.systems.items()
            if dataset in by_dataset
        }


# --------------------------------------------------------------------------------------------------
# Reading


def read_suite(path: str, *, trust: bool = False) -> Suite:
    """Read a suite file, whose paths are relative to its folder.

    A key that is unknown or has a wrong value is a DataError; users' own code that it names
    (``path/to/file.py:Class``) is a UsageError without `trust`.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(
            "not a TOML file",
            source=path,
            found=str(error),
            expected="a suite (see docs/suites.md)",
        ) from None
    with own_code(trusted=trust):
        return _SuiteReader(path).read(content)


class _SuiteReader:
    """The reader of one suite file; errors name the file and the key."""

    def __init__(self, path: str) -> None:
        self.path, self.folder = path, os.path.dirname(path)

    def error(
        self, problem: str, field: str, found: Any = None, expected: str | None = None
    ) -> DataError:
        text = found if isinstance(found, str) or found is None else describe_value(found)
        return DataError(problem, source=self.path, field=field, found=text, expected=expected)

    def read(self, content: dict[str, Any]) -> Suite:
        common = {
            name: value for name, value in content.items() if name not in ("datasets", "systems")
        }
        self._check_keys(common, "", [key for key in KEYS if key.of_suite], ("datasets", "systems"))
        data = os.path.join(self.folder, os.path.expanduser(common.pop("data", "")))
        tables = self._tables(content, "datasets")
        datasets = tuple(
            self._dataset(name, values, common, data) for name, values in tables.items()
        )
        systems: dict[str, dict[str, System | ClassicRCError]] = {}
        for name, value in self._named(content, "systems").items():
            for dataset_name, row_systems in self._system(name, value, list(tables)).items():
                for system in row_systems:
                    key = name if isinstance(system, ClassicRCError) else str(system.name)
                    systems.setdefault(key, {})[dataset_name] = system
        for name in systems:
            if name + OUT_OF_FOLD in systems:
                row = name + OUT_OF_FOLD
                expected = f"a name that is not {row!r}, a row of {name!r}"
                raise self.error("another row has this name", f"systems.{row}", row, expected)
        for dataset in datasets:
            self._check_baseline(dataset, systems, common)
            if not any(dataset.name in by_dataset for by_dataset in systems.values()):
                expected = (
                    f'a system with {ANY_DATASET} = "SYSTEM" or {_toml_key(dataset.name)} = '
                    '"SYSTEM"'
                )
                raise self.error(
                    "no system for this dataset", f"datasets.{dataset.name}", expected=expected
                )
        return Suite(self.path, datasets, systems)

    def _named(self, content: Mapping[str, Any], name: str) -> dict[str, Any]:
        table = content.get(name)
        if not isinstance(table, dict) or not table:
            example = (
                "[datasets.NAME]"
                if name == "datasets"
                else '[systems], with a line NAME = "SYSTEM" for each'
            )
            actual = "nothing" if not table else describe_value(table)
            raise self.error(f"no {name}", name, actual, f"a table {example}")
        for key in table:
            if not key.strip():
                raise self.error("an empty name", name, repr(key), "a name")
        return table

    def _tables(self, content: Mapping[str, Any], name: str) -> dict[str, dict[str, Any]]:
        tables = self._named(content, name)
        for key, value in tables.items():
            if not isinstance(value, dict):
                raise self.error("wrong type", f"{name}.{key}", value, "a table of keys and values")
            if key == ANY_DATASET:
                raise self.error(
                    "a dataset cannot have this name", f"{name}.{key}", expected="another name"
                )
        return tables

    def _check_keys(
        self, values: Mapping[str, Any], place: str, keys: Iterable[Key], others: Sequence[str] = ()
    ) -> None:
        keys_by_name = {key.name: key for key in keys}
        for name, value in values.items():
            if name not in keys_by_name:
                near = _nearest(name, [*keys_by_name, *others], place)
                raise self.error("unknown key", place + name, name, near)
            kind = keys_by_name[name].kind
            if not kind.fits(value):
                raise self.error("wrong value", place + name, value, kind.expected)

    def _dataset(
        self, name: str, values: Mapping[str, Any], common: Mapping[str, Any], data: str
    ) -> SuiteDataset:
        place = f"datasets.{name}."
        self._check_keys(values, place, [key for key in KEYS if key.of_dataset])
        if "path" not in values:
            raise self.error("missing", f"{place}path", expected="a file, a folder, or a sample")
        if "cv" in values and "train" in values:
            raise self.error(
                "train and cv exclude each other", f"{place}cv", expected="either of them"
            )
        resolved = {**common, **values}
        for key in resolved:
            if key in _DATA_PATHS:
                resolved[key] = _resolve(resolved[key], data)
        return SuiteDataset(name, resolved)

    def _system(
        self, name: str, value: Any, datasets: Sequence[str]
    ) -> dict[str, list[System | ClassicRCError]]:
        """Return what a row is on each dataset: one system, or several runs of one."""
        place, is_table = f"systems.{name}", isinstance(value, dict) and bool(value)
        texts = dict(value) if is_table else {ANY_DATASET: value}
        note = texts.pop(_NOTE, None) if _NOTE not in datasets else None
        if not (note is None or TEXT.fits(note)):
            raise self.error("wrong type", f"{place}.{_NOTE}", note, TEXT.expected)
        parsed: dict[str, list[System | ClassicRCError]] = {}
        for dataset, text in texts.items():
            where = f"{place}.{dataset}" if is_table else place
            if dataset not in (*datasets, ANY_DATASET):
                near = _nearest(dataset, [*datasets, ANY_DATASET], f"{place}.")
                raise self.error("unknown dataset", where, dataset, near)
            if not _SYSTEM.fits(text):
                more = "" if is_table else ', or a table {DATASET = "SYSTEM", default = "SYSTEM"}'
                raise self.error("wrong type", where, text, _SYSTEM.expected + more)
            runs = text if isinstance(text, list) else [text]
            parsed[dataset] = self._parse_runs(runs, where, name, note)
        systems_of_datasets = {
            dataset: parsed.get(dataset, parsed.get(ANY_DATASET, [])) for dataset in datasets
        }
        return {dataset: systems for dataset, systems in systems_of_datasets.items() if systems}

    def _parse_runs(
        self, texts: Sequence[Any], place: str, name: str, note: str | None
    ) -> list[System | ClassicRCError]:
        """Return the systems that texts describe, or the error if a file is missing or code
        fails.
        """
        try:
            systems = []
            for text in texts:
                if isinstance(text, str):
                    systems.append(parse_system(text, self.folder))
                else:
                    systems.append(System(number=check_percent(str(text))))
            for system in systems:
                if system.failure is not None:
                    return [system.failure]
            return [*name_systems(replace(s, name=name, note=note) for s in systems)]
        except UsageError as error:
            if error.field == "--trust":
                raise
            raise self.error(str(error), place, error.found, error.expected) from None
        except ClassicRCError as error:
            return [error]

    def _check_baseline(
        self, dataset: SuiteDataset, systems: Mapping[str, Any], common: Mapping[str, Any]
    ) -> None:
        names = set()
        for name, by_dataset in systems.items():
            for system in by_dataset.values():
                if isinstance(system, ClassicRCError):
                    names.add(name)
                elif not system.is_given:
                    names.add(system.row)
        for baseline in Protocol(baseline=dataset.values.get("baseline")).baselines:
            if baseline not in names:
                is_common = dataset.values["baseline"] == common.get("baseline")
                place = "" if is_common else f"datasets.{dataset.name}."
                near = _nearest(baseline, sorted(names), "")
                raise self.error("unknown system", f"{place}baseline", baseline, near)


def _nearest(name: str, names: Sequence[str], place: str) -> str:
    """Return the known names that are spelled like a name, or all of them."""
    near = get_close_matches(
        name.replace("-", "_").replace("group_by", "by"), names, n=2, cutoff=0.6
    )
    return " or ".join(place + key for key in near) if near else ", ".join(names)


def _resolve(value: Any, folder: str) -> Any:
    if isinstance(value, list):
        return [_resolve(item, folder) for item in value]
    name = parse_data(value).path
    spec = parse_data(os.path.join(folder, os.path.expanduser(value)))
    if name in SAMPLES or (has_name_form(name) and not os.path.exists(spec.path)):
        return value
    answers = spec.answers and os.path.join(folder, os.path.expanduser(spec.answers))
    return str(replace(spec, answers=answers))


# --------------------------------------------------------------------------------------------------
# Writing


def suite_text(path: str, blocks: Sequence[tuple[SuiteDataset, Sequence[System]]]) -> str:
    """Return the text of a suite file at `path` that gives the numbers of these systems, which have
    names.

    Relative paths will start from the file's folder. Absolute paths stay absolute.
    """
    folder = os.path.dirname(os.path.abspath(path))
    lines = [f"# Run this suite with: classic-rc run {os.path.basename(path)} --save DIR", ""]
    first_dataset, _ = blocks[0]
    common: dict[str, Any] = {}
    for name in (key.name for key in KEYS if key.of_suite):
        value = first_dataset.values.get(name)
        is_common = all(dataset.values.get(name) == value for dataset, _ in blocks)
        if value is not None and is_common:
            common[name] = value
    lines += [f"{name} = {_toml_value(value)}" for name, value in common.items()]
    lines += [""] if common else []
    specs: dict[str, dict[str, Any]] = {}
    order: list[str] = []
    notes: dict[str, str] = {}
    for dataset, systems in blocks:
        lines.append(f"[datasets.{_toml_key(dataset.name)}]")
        for key in KEYS:
            value = dataset.values.get(key.name)
            if key.name not in common and value is not None and value is not False and value != []:
                value = _relative_to(value, folder) if key.name in _DATA_PATHS else value
                lines.append(f"{key.name} = {_toml_value(value)}")
        lines.append("")
        place = 0
        for system in systems:
            name = system.row
            notes |= {name: system.note} if system.note else {}
            if name not in specs:  # it comes after the system that it follows here
                order.insert(place, name)
            row_texts, text = specs.setdefault(name, {}), _system_value(system, folder)
            runs = row_texts.get(dataset.name, [])
            row_texts[dataset.name] = text if system.run_of is None else [*runs, text]
            place = order.index(name) + 1
    lines.append("[systems]")
    for name in order:
        texts = specs[name]
        first = next(iter(texts.values()))
        is_same = all(text == first for text in texts.values())
        if name in notes:
            texts[_NOTE] = notes[name]
        elif is_same and len(texts) == len(blocks):
            texts = first
        lines.append(f"{_toml_key(name)} = {_toml_value(texts)}")
    return "\n".join(lines) + "\n"


def _relative_to(value: Any, folder: str) -> Any:
    """Return a path, or each of a list, relative to a folder; absolute paths and names stay as
    they are.
    """
    if isinstance(value, list):
        return [_relative_to(item, folder) for item in value]
    spec = parse_data(value)
    if spec.path in SAMPLES or (has_name_form(spec.path) and not os.path.exists(spec.path)):
        return value
    return str(spec.with_paths(lambda path: _relative_path(path, folder)))


def _relative_path(path: str, folder: str) -> str:
    if os.path.isabs(path):
        return path
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive
        return os.path.abspath(path)


def _system_value(system: System, folder: str) -> str | float:
    """Return the text or the number that a suite in `folder` reads as the system."""
    if system.number is not None:
        return int(system.number) if system.number.isdigit() else float(system.number)
    if system.solver is None:
        text = _relative_path(str(system.path), folder)
        is_solver = text.partition(",")[0].partition(":")[0] in (*SOLVERS, *SHORT_NAMES)
        text = f"./{text}" if is_solver else text
        text = text if system.format is None else f"{system.format}:{text}"
        # the last one
        options = sorted(system.options.items(), key=lambda option: option[0] == "pattern")
        return ",".join([text, *(f"{name}={value}" for name, value in options)])

    def relative(path: str) -> str:
        return _relative_path(path, folder) if os.path.exists(path) else path

    solver = change_paths(system.solver, relative)
    if solver.source_file is None:
        return solver_spec(solver)
    changed = (f"{name}={text}" for name, text in changed_texts(solver).items())
    head = f"{_relative_path(solver.source_file, folder)}:{type(solver).__name__}"
    return ",".join([head, *changed])


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def _toml_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _toml_value(name)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML string, except for the one control character that JSON leaves as
        # it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{_toml_key(key)} = {_toml_value(entry)}" for key, entry in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return repr(value)
