"""The datasets in a folder: each file is one, except shards of one file and layouts such as
RACE's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from classic_rc.datasets.base import Reader
from classic_rc.datasets.fetch import is_hub_name
from classic_rc.datasets.fields import parse_fields
from classic_rc.datasets.reading import Options, Reading
from classic_rc.datasets.registry import find_reader, get_reader
from classic_rc.datasets.specification import DatasetFiles, DataSpec, parse_data
from classic_rc.datasets.splits import canonical_split, select_part
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile, open_input

_SHARD = re.compile(
    r"(.*?)(?:^|[-_]|[-_.](?:part|shard)[-_]?)(\d+)(?:[-_]of[-_]\d+)?", re.IGNORECASE
)
"""The stem of a file and its number: ``train-00001-of-00004``, ``dev.part2``, ``dev_2``, ``7``."""
_MAX_NAMED = 5


@dataclass(frozen=True)
class FolderContent:
    """The datasets in a folder, and the other files next to them."""

    datasets: tuple[DatasetFiles, ...]
    others: tuple[str, ...] = ()  # names of files that no reader recognises


def list_datasets(
    data: str | DataSpec, *, fields: str | Mapping[str, str] | None = None
) -> FolderContent:
    """List the datasets at a path, in the order of their names.

    A path that is not a folder is one dataset; of the Hugging Face hub, each split is one. In a
    folder, each file of the highest level that has any dataset is one, with two exceptions. Files
    whose names differ only in a number at the end are shards of one dataset, if the numbers are
    consecutive and start at 0 or 1. A folder in which the reader says that a file is only a piece
    (:attr:`~classic_rc.datasets.base.Reader.is_one_dataset`: RACE, CNN) is one dataset as a whole.
    Files of other splits or subsets than those of `data` are left out.
    """
    spec = parse_data(data) if isinstance(data, str) else data
    path, split, subset = spec.path, spec.split, spec.subset
    single = FolderContent((DatasetFiles((str(spec),)),))
    if is_hub_name(path):
        from classic_rc.datasets.hub import find_hub_splits

        specs = [
            replace(spec, path=hub_split.name, split=None)
            for hub_split in find_hub_splits(path, subset, split)
        ]
        if len(specs) == 1:
            return single
        return FolderContent(tuple(DatasetFiles((str(hub_spec),)) for hub_spec in specs))
    if not os.path.isdir(path):
        return single
    source = open_input(path)
    roles = None if fields is None else parse_fields(fields)
    named_reader = None if spec.reader is None else get_reader(spec.reader)
    reading = Reading(Options(fields=roles))
    for depth in sorted({file.depth for file in source.files}):
        readers: dict[InputFile, Reader] = {}
        others: list[InputFile] = []
        broken: list[InputFile] = []
        for file in source.files:
            if file.depth != depth:
                continue
            try:
                reader = find_reader(file, roles) if named_reader is None else named_reader
                if reader is None or not (named_reader is None or reader.accepts(file, reading)):
                    others.append(file)
                elif reader.is_one_dataset:
                    return single
                else:
                    readers[file] = reader
            except DataError:
                broken.append(file)
            file.release()
        if readers:
            break
    else:
        return single  # reading it raises the error that describes what is there
    first, *_ = readers.values()
    suffixes = {file.suffix for file in readers}
    stems = {file.stem for file in readers}  # MCTest's answers belong to its stories
    for file in broken:
        if file.suffix in suffixes:
            readers[file] = first
        else:
            others.append(file)
    files = [file for file in source.files if file in readers]
    subsets = {file: readers[file].subset_of(file) for file in files}
    if any(subsets.values()):
        files = select_part(files, subsets, subset, str.lower, "subset", source.path)
    splits = {file: readers[file].split_of(file) for file in files}
    files = select_part(files, splits, split, canonical_split, "split", source.path)
    if len(files) == 1 and len(set(readers.values())) == 1:
        return single  # reading the folder skips the other files, and says so
    names = tuple(file.base for file in others if file.stem not in stems)
    return FolderContent(tuple(_group_shards(files, spec)), names)


def describe_others(names: Sequence[str]) -> str:
    """Return a note about files that are not datasets."""
    more = ", …" * (len(names) > _MAX_NAMED)
    return (
        f"files that are not datasets are left out ({', '.join(names[:_MAX_NAMED])}{more}): "
        f"{len(names):,}"
    )


def _group_shards(files: Sequence[InputFile], spec: DataSpec) -> list[DatasetFiles]:
    """Return the files as datasets; shards, which are numbered from 0 or 1 without gaps, are
    together.
    """
    groups: dict[tuple[str, ...], dict[InputFile, int]] = {}
    for file in files:
        match = _SHARD.fullmatch(file.stem)
        key = (*file.folders, match[1], file.suffix) if match else (file.name,)
        groups.setdefault(key, {})[file] = int(match[2]) if match else 0

    def join(files: Iterable[InputFile], name: str | None = None) -> DatasetFiles:
        return DatasetFiles(tuple(str(replace(spec, path=file.name)) for file in files), name)

    datasets: dict[InputFile, DatasetFiles] = {}  # by the first file
    for key, shards in groups.items():
        first, *_ = shards
        numbers = sorted(shards.values())
        if len(shards) > 1 and numbers in (
            list(range(len(shards))),
            list(range(1, len(shards) + 1)),
        ):
            in_order = sorted(shards, key=shards.__getitem__)
            datasets[first] = join(in_order, key[-2] or first.folders[-1])
        else:
            datasets.update((file, join([file])) for file in shards)
    return [datasets[file] for file in files if file in datasets]
