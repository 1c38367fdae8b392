"""Add the floors of a record to a file of floors, after every digit was checked."""

from __future__ import annotations

import datetime
from itertools import chain
from pathlib import Path

from classic_rc._version import __version__
from classic_rc.commands.floor.compute import PUBLISHED, TRAINED, UNTRAINED
from classic_rc.commands.floor.verify import verify_rows
from classic_rc.errors import DataError
from classic_rc.io.json import parse_json
from classic_rc.io.text import read_text, write_file
from classic_rc.questions import SHORT_FINGERPRINT, Dataset
from classic_rc.results.floor_entries import floor_entry, floors_text
from classic_rc.results.floors import (
    PRIOR,
    FloorDataset,
    find_dev,
    load_floors,
    parse_floors,
    read_entries,
)
from classic_rc.results.record_reading import read_results
from classic_rc.running.restored_record import restore_record
from classic_rc.systems import record_file
from classic_rc.text.languages import dataset_language

_SYSTEMS = {PRIOR, *UNTRAINED, *TRAINED, *chain.from_iterable(PUBLISHED.values())}
_VERIFIED = "run again from the data when they were added"


def add_record(path: str, target: Path, data: Dataset | None = None) -> list[FloorDataset]:
    """Check the floors of a run record, add them to a file of floors, and return them.

    Parameters
    ----------
    path : str
        The record, or its folder.
    target : Path
        The file of floors, which need not exist.
    data : Dataset, optional
        The data, if it is no longer where the record says.

    Raises
    ------
    DataError
        The record is of another version, of other data than the floor that is known by this name,
        has other systems, or its numbers cannot be made again.
    """
    file = record_file(path)
    if file is None:
        raise DataError(
            "no run record",
            source=path,
            expected="a folder of `classic-rc floor NAME --compute`",
        )
    record = parse_json(read_text(file), str(file))
    if record["version"] != __version__:
        raise DataError(
            "the record is of another version: compute the floor again",
            source=str(file),
            field="version",
            found=record["version"],
            expected=__version__,
        )
    contents = {dataset.fingerprint: dataset for dataset in _find_data(file, data)}
    short_contents = [content[:SHORT_FINGERPRINT] for content in contents]
    entries = {entry["name"]: entry for entry in read_entries(target)}
    floors = load_floors()
    added = []
    for run, results in zip(record["runs"], read_results(file), strict=True):
        name, fingerprint = results.dataset, results.fingerprint
        if name in floors and floors[name].fingerprint != fingerprint:
            raise DataError(
                f"the questions are not those of the known floor {name}: give it another name",
                source=str(file),
                field="fingerprint",
                found=fingerprint[:SHORT_FINGERPRINT],
                expected=floors[name].fingerprint[:SHORT_FINGERPRINT],
            )
        if fingerprint not in contents:
            raise DataError(
                f"the data of {name} is needed to check its numbers",
                source=str(file),
                field="fingerprint",
                found=", ".join(short_contents) or None,
                expected=fingerprint[:SHORT_FINGERPRINT],
                hint="Name it: --verify DATA",
            )
        run["rows"] = [row for row in run["rows"] if row["name"] in _SYSTEMS]
        dataset = contents[fingerprint]
        entry = floor_entry(
            run,
            results,
            version=__version__,
            verified=_VERIFIED,
            date=datetime.date.today().isoformat(),
            language=dataset_language(dataset).name,
            dev=find_dev(name, floors),
        )
        floor = parse_floors([entry])[name]
        if differences := verify_rows(floor, dataset).differences:
            raise DataError(
                f"{len(differences)} numbers of {name} are not made again",
                source=str(file),
                found=differences[0],
                hint="Compute the floor again",
            )
        entries[name] = entry
        added.append(floor)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, floors_text(entries.values()))
    return added


def _find_data(record: Path, data: Dataset | None) -> list[Dataset]:
    """Return the data of a record: as given, or from where the record says that it is."""
    if data is not None:
        return [data]
    return [run.dataset for run in restore_record(record, trust=None).runs]
