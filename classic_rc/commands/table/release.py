"""A release of a paper's table: predictions, suite, checksums, versions, and the line that makes
it again.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from classic_rc.datasets.fetch import NamedDataset, is_hub_name, named_datasets, named_files
from classic_rc.datasets.registry import SAMPLES
from classic_rc.datasets.specification import DATA_SETTINGS, DataSpec
from classic_rc.errors import DataError, UsageError
from classic_rc.formats.base import format_option
from classic_rc.io.files import sha256_of
from classic_rc.io.text import read_text, write_file
from classic_rc.protocol import READING
from classic_rc.questions import Dataset
from classic_rc.running.restored_record import RestoredRun, restore_record
from classic_rc.running.suite import ANY_DATASET, SuiteDataset, suite_text
from classic_rc.solvers.specs import change_paths
from classic_rc.systems import System, unused_name
from classic_rc.tables import records_csv

SUITE, SUMS, README, ABSENT = "suite.toml", "SHA256SUMS", "README.md", "ABSENT-SHA256SUMS"


def write_release(
    folder: Path, records: Sequence[str], line: str, *, with_data: bool = False
) -> list[str]:
    """Write what makes a table again in an empty folder, and return notes for its author.

    The folder has the suite of all runs, copies of the data that has no name and of the systems'
    files, the predictions of every row, ``SHA256SUMS`` of all files, and a README with the versions
    and with `line`, the command that makes the table of the suite's results. It is created; the
    table may be there already. Published data are copied if their licence is open, or with
    `with_data`; else their sha256 and the command that gets them take their place. Data or a file
    that is missing or has changed since a record was made is a DataError, a run that has no suite a
    UsageError.
    """
    release = _Release(folder, with_data=with_data)
    versions: dict[str, None] = {}
    for record in records:
        restored = restore_record(record)
        if restored.changes:
            raise DataError(
                "the record cannot be run again", source=record, found="; ".join(restored.changes)
            )
        try:
            for run in restored.runs:
                release.add(run)
        except OSError as error:
            raise UsageError(
                f"cannot write {error.filename}: {error.strerror}",
                field="--release",
                found=str(folder),
            ) from error
        versions |= dict.fromkeys(_versions(json.loads(read_text(record))))
    write_file(folder / SUITE, suite_text(str(folder / SUITE), release.chosen))
    write_file(folder / README, _readme(line, list(versions), release.absent))
    write_file(folder / SUMS, _sums(folder))
    return release.notes


class _Release:
    """The files of a release, and the datasets of its suite with their systems."""

    def __init__(self, folder: Path, *, with_data: bool) -> None:
        self._folder, self._with_data = folder, with_data
        self._folders: dict[str, str] = {}  # of data, by its path here
        self.absent: dict[str, None] = {}  # a sentence for each dataset that is not copied
        self.chosen: list[tuple[SuiteDataset, list[System]]] = []
        self.notes: list[str] = []

    def add(self, run: RestoredRun) -> None:
        """Add a run: its data, systems, labels and predictions."""
        settings = run.protocol.to_plain()
        used_names = {ANY_DATASET, *(dataset.name for dataset, _ in self.chosen)}
        name = unused_name(run.recorded["dataset"]["name"], used_names)
        spans = (settings.pop("spans") or {}).get("max_tokens")
        values = {key: value for key, value in settings.items() if value is not None}
        values |= _chosen(run.dataset.read_with or {}, READING)
        values["path"] = str(replace(self._data(run.dataset, name), spans=spans))
        if (train := run.protocol.train) is not None:
            assert isinstance(train, Dataset)
            train_parts = train.parts or (train,)
            values["train"] = [str(self._data(dataset, name)) for dataset in train_parts]
        if (tune := run.protocol.tune) is not None:
            values["tune"] = str(self._data(tune, name))
        values |= self._labels(run, name)
        systems = [self._with_copies(system, name) for system in run.systems]
        self.chosen.append((SuiteDataset(name, values), systems))
        for row in run.recorded["rows"]:
            self._write_predictions(row, name)

    def _data(self, dataset: Dataset, name: str) -> DataSpec:
        """Return the specification of a dataset; data without a name is copied."""
        read_with, sources = dataset.read_with, [source.path for source in dataset.sources]
        if read_with is None or dataset.parts:
            raise UsageError(
                f"{dataset.name} has several files, or was in memory: a suite has one file or "
                "folder a dataset",
                field="--release",
                found=dataset.name,
            )
        options = _chosen(read_with, set(DATA_SETTINGS).difference(READING))
        path, answers = read_with["path"], options.pop("answers", None)
        if path in SAMPLES or is_hub_name(path) or named_files(path, sources):
            return DataSpec(
                path, **{key: value for key, value in options.items() if key != "reader"}
            )
        base = os.path.dirname(os.path.abspath(path))
        # A folder for each path, so that two files of one name are not taken for each other.
        unused = _slug(unused_name(_slug(name), set(self._folders.values())))
        place = f"data/{self._folders.setdefault(os.path.abspath(path), unused)}"
        copies = {source: self._copy(source, place, base) for source in sources}
        published = None if self._with_data else _published(dataset)
        if published is None or published.licence.startswith("CC "):
            self.notes.append(
                f"{path} is copied into the release: its licence says whether you may publish it"
            )
        else:
            sums = _sums(self._folder / place)
            shutil.rmtree(self._folder / place)
            write_file(_made(self._folder / place / ABSENT), sums)
            text = (
                f"{place} has only the sha256 of {published.title} (licence: {published.licence}): "
                f"`classic-rc fetch {published.name}` gets it. Put its files there, or its name as "
                f"`path` into {SUITE}"
            )
            self.absent[text] = None
            self.notes.append(f"{text}. --with-data copies it")
        target = self._shown(f"{place}/{os.path.basename(os.path.abspath(path))}")
        if answers is not None:
            options["answers"] = copies.get(answers) or os.path.dirname(target)
        return DataSpec(target, **options)

    def _shown(self, place: str) -> str:
        """Return the path of a file of the release from here: a suite keeps absolute paths as
        they are.
        """
        return os.path.relpath(self._folder / place)

    def _copy(self, path: str, folder: str, base: str | None = None) -> str:
        """Copy a file into a folder of the release, under its path from `base` or its name;
        return its place.
        """
        relative = os.path.basename(path) if base is None else os.path.relpath(path, base)
        relative = os.path.basename(path) if relative.startswith(os.pardir) else relative
        place = Path(folder, relative)
        if (target := self._folder / place).is_file() and sha256_of(target) != sha256_of(path):
            place = place.with_name(f"{sha256_of(path)[:8]}-{place.name}")
        is_folder = os.path.isdir(path)
        copy = partial(shutil.copytree, dirs_exist_ok=True) if is_folder else shutil.copyfile
        copy(path, _made(self._folder / place))
        return self._shown(place.as_posix())

    def _with_copies(self, system: System, name: str) -> System:
        """Return a system with its files in the release."""

        def copy(path: str) -> str:
            return self._copy(path, f"systems/{_slug(name)}") if os.path.isfile(path) else path

        if system.path is not None:
            return replace(system, path=copy(system.path))
        if system.solver is None:
            return system
        if system.solver.source_file is not None:
            raise UsageError(
                f"{system.name} is code of your own, which no release has: release a file of its "
                "predictions",
                field="--release",
                found=str(system.name),
            )
        return replace(system, solver=change_paths(system.solver, copy))

    def _labels(self, run: RestoredRun, name: str) -> dict[str, Any]:
        """Write the groups of questions that are not columns as a file of labels; return the
        keys of the suite.
        """
        by, apart = run.protocol.by, run.recorded.get("groupings", {})
        if not apart:
            return {} if by is None else {"by": by}
        records = []
        for i, question in enumerate(run.dataset):
            record = {"id": question.id}
            for key, groups in apart.items():
                labels = [label for label, members in groups.items() if i in members]
                record[key] = "; ".join(labels) or "-"
            records.append(record)
        path = f"labels/{_slug(name)}.csv"
        write_file(_made(self._folder / path), records_csv(records))
        return {"by": [*([] if by is None else [by]), *apart], "labels": self._shown(path)}

    def _write_predictions(self, row: Mapping[str, Any], name: str) -> None:
        """Write the answers of a row, of several runs a file each; null where there is no single
        answer.
        """
        n_runs = row.get("runs", 1)
        for k in range(n_runs):
            lines = []
            for id_, outcome in row["outcomes"].items():
                answer = outcome["answer"][k] if n_runs > 1 else outcome["answer"]
                lines.append(
                    json.dumps({"id": id_, "answer": _answer(answer)}, ensure_ascii=False) + "\n"
                )
            end = f"-{k + 1}" if n_runs > 1 else ""
            folder = self._folder / "predictions" / _slug(name)
            write_file(_made(folder / f"{_slug(row['name'])}{end}.jsonl"), "".join(lines))


def _published(dataset: Dataset) -> NamedDataset | None:
    """Return the published dataset in whose format data is."""
    for published in named_datasets().values():
        readers = {split.reader for split in published.splits.values()}
        if dataset.reader in readers:
            return published
    return None


def _sums(folder: Path) -> str:
    """Return the sha256 of all files in a folder, as ``sha256sum`` does."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    paths = [path for path in paths if path.name != SUMS]
    sums = (f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in paths)
    return "".join(sums)


def _chosen(values: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: values[key] for key in keys if values.get(key) not in (None, "", False)}


def _made(path: Path) -> Path:
    """Return a path whose folder exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _answer(answer: Any) -> Any:
    """Return a recorded answer in the form of the format ``answers``: letters of options, or
    texts.
    """
    if answer is None or not answer or isinstance(answer[0], str):
        return answer
    letters = [format_option(i) if i < 26 else i for i in answer]
    return letters[0] if len(letters) == 1 else letters


def _slug(name: str) -> str:
    """Return a name with only letters, digits and a few signs that every file system takes."""
    return re.sub(r"[^\w.+-]+", "_", name).strip("._") or "_"


def _versions(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"classic_rc {record['version']}"
    yield f"Python {record['environment']['python']}"
    yield from (
        f"{name} {version}"
        for name, version in record["environment"]["packages"].items()
        if version
    )


def _readme(line: str, versions: Sequence[str], absent: Iterable[str]) -> str:
    missing = "".join(f"* {text}.\n" for text in absent)
    return f"""# How to make the table again

```
{line}
```

Run it in this folder. `sha256sum -c {SUMS}` then says whether the table, and everything it is \
made of, is the same.

* `{SUITE}`: the data, the systems and the settings.
* `predictions/`: the answer of every system to every question, the first of several best ones; \
null where a system
  has no single answer, as an expectation over random draws has none.
* `systems/`, `data/` and `labels/`: the files that the suite reads, if there are any.
{missing}
Versions: {", ".join(versions)}. Where a package is missing, the message says how to install it.
"""
