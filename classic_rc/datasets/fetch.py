"""Datasets by name: where their files are, which of them make a split, and the cache that holds
them.

``sources.toml`` lists the datasets. :func:`fetch` downloads; nothing else does. ``CLASSIC_RC_DATA``
names the folder of the cache, and ``CLASSIC_RC_MIRROR`` a base address that serves ``DATASET/FILE``
instead of the authors' addresses.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from classic_rc.datasets.splits import canonical_split
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.cache import CACHE_VARIABLE, cache_folder
from classic_rc.io.files import exclusive_lock, sha256_of
from classic_rc.io.text import replace_file, write_file

MIRROR_VARIABLE = "CLASSIC_RC_MIRROR"

HUB_PREFIX = "hf:"
"""The start of names of datasets of the Hugging Face hub."""

_LOCK = "lock"  # in the folder of a dataset
_MAX_SHOWN_SPLITS = 12  # in messages
# two letters at least: "c:data" is a place on a drive
_SPLIT_NAME = re.compile(r"([A-Za-z][\w-]+):([\w.-]+)")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a dataset."""

    dataset: str
    name: str  # below the folder of the dataset, with forward slashes
    url: str | None = None  # None for a file without an open address
    bytes: int | None = None
    sha256: str | None = None
    form: str | None = None  # for a file without an open address: how to get it

    @property
    def key(self) -> str:
        """The place below the cache, or below a mirror: ``mctest/MCTest.zip``."""
        return f"{self.dataset}/{self.name}"


@dataclass(frozen=True)
class NamedSplit:
    """A split of a dataset: what ``NAME:SPLIT`` reads."""

    dataset: str
    split: str
    reader: str  # the name of its reader
    file: RemoteFile
    member: str | None = None  # the name of the member to read, if the file is an archive
    option: str | None = None  # the split to ask the reader for, if the file has several
    answers: RemoteFile | None = None  # the file of gold answers
    copy: NamedSplit | None = (
        None  # the same split in other files, read if only these are in the cache
    )

    @property
    def name(self) -> str:
        """``mctest:mc500.dev``."""
        return f"{self.dataset}:{self.split}"

    @property
    def files(self) -> tuple[RemoteFile, ...]:
        """All files that reading needs."""
        return (self.file,) if self.answers is None else (self.file, self.answers)


@dataclass(frozen=True)
class NamedDataset:
    """A dataset that can be read by name."""

    name: str
    title: str
    cites: tuple[str, ...]  # keys of the references
    licence: str
    page: str  # of the authors
    splits: Mapping[str, NamedSplit]
    files: Mapping[str, RemoteFile]
    # the splits to learn from, if they are several for one split; else its name ends in "train"
    train: tuple[str, ...] = ()

    @property
    def needed_files(self) -> tuple[RemoteFile, ...]:
        """The files that the splits need; the others are copies, scores and labels."""
        return tuple(dict.fromkeys(file for split in self.splits.values() for file in split.files))

    @property
    def size(self) -> int | None:
        """The bytes of the needed files that can be downloaded; None if one of them is not
        known.
        """
        sizes = [file.bytes for file in self.needed_files if file.url]
        return None if None in sizes else sum(size or 0 for size in sizes)


@dataclass(frozen=True)
class Fetched:
    """A file that :func:`fetch` put into the cache or found there."""

    file: RemoteFile
    path: Path
    sha256: str
    is_new: bool  # downloaded now
    is_recorded: bool  # no sum was known, so this one is recorded


@cache
def named_datasets() -> Mapping[str, NamedDataset]:
    """Return the datasets that have a name."""
    return parse_datasets(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))


def parse_datasets(text: str) -> dict[str, NamedDataset]:
    """Return the datasets of a text in the form of ``sources.toml``."""
    import tomllib  # most commands read no named dataset

    return {name: _read_dataset(name, entry) for name, entry in tomllib.loads(text).items()}


def _read_dataset(name: str, entry: Mapping[str, Any]) -> NamedDataset:
    remote = {file: RemoteFile(name, file, **facts) for file, facts in entry["files"].items()}
    splits: dict[str, NamedSplit] = {}
    for split, facts_of_split in entry["splits"].items():
        splits[split] = _read_split(name, split, facts_of_split, remote)
    facts = entry["title"], tuple(entry["cites"]), entry["licence"], entry["page"]
    return NamedDataset(name, *facts, splits, remote, tuple(entry.get("train", ())))


def _read_split(
    dataset: str, split: str, facts: Mapping[str, Any], files: Mapping[str, RemoteFile]
) -> NamedSplit:
    reader = facts["reader"]
    answers = files[facts["answers"]] if "answers" in facts else None
    split_of_copy = None
    if "copy" in facts:
        split_of_copy = _read_split(dataset, split, {**facts["copy"], "reader": reader}, files)
    return NamedSplit(
        dataset,
        split,
        reader,
        files[facts["file"]],
        facts.get("member"),
        facts.get("split"),
        answers,
        split_of_copy,
    )


def has_name_form(text: str) -> bool:
    """Return whether a text has the form ``NAME:SPLIT`` or ``hf:…``, whether or not there is such a
    name or path.

    Examples
    --------
    >>> has_name_form("race:dev"), has_name_form("c:data"), has_name_form("data/race:dev")
    (True, False, False)
    """
    return text.startswith(HUB_PREFIX) or _SPLIT_NAME.fullmatch(text) is not None


def is_hub_name(text: Any) -> bool:
    """Return whether a DATA argument names a dataset of the hub. A path that exists is no name.

    Examples
    --------
    >>> is_hub_name("hf:ehovy/race"), is_hub_name("race:dev")
    (True, False)
    """
    return isinstance(text, str) and text.startswith(HUB_PREFIX) and not os.path.exists(text)


def check_split(name: str, named_split: str, split: str | None) -> None:
    """Raise UsageError if another split is asked for than the one that a name has."""
    if split is not None and canonical_split(named_split) != canonical_split(split):
        raise UsageError(
            f"{name} is one split already: leave out the split {split}, or name another one",
            field="split",
            found=split,
            expected="None",
        )


def find_split(name: str) -> NamedSplit | None:
    """Return the split that a DATA argument names; None if it is a path. A path that exists is no
    name.

    Examples
    --------
    >>> find_split("race:dev").file.key
    'race/RACE.tar.gz'
    """
    if not isinstance(name, str) or os.path.exists(name) or is_hub_name(name):
        return None
    datasets = named_datasets()
    if name.lower() in datasets:
        names = [split.name for split in datasets[name.lower()].splits.values()]
        examples = ", ".join(names[:_MAX_SHOWN_SPLITS])
        if len(names) > _MAX_SHOWN_SPLITS:
            examples += f", … {len(names)} in all"
        raise UsageError(
            f"{name} has several splits: name one of {examples}",
            field="split",
            found=name,
            expected=", ".join(names),
        )
    if not has_name_form(name):
        return None
    split = _look_up(name)
    return _cached_form(split) or split


def is_split_cached(split: NamedSplit) -> bool:
    """Return whether all files of a split, or of its copy, are in the cache."""
    return _cached_form(split) is not None


def _cached_form(split: NamedSplit) -> NamedSplit | None:
    """Return the split or its copy, the first whose files are all in the cache, or None."""
    if all(map(is_cached, split.files)):
        return split
    return split.copy and _cached_form(split.copy)


def _look_up(name: str) -> NamedSplit:
    datasets = named_datasets()
    dataset_name, _, split = name.lower().partition(":")
    dataset = datasets.get(dataset_name)
    for spelling in (split, canonical_split(split)):
        if dataset and spelling in dataset.splits:
            return dataset.splits[spelling]
    searched = [dataset] if dataset else datasets.values()
    raise unknown_name(
        "dataset", name, [split.name for entry in searched for split in entry.splits.values()]
    )


def named_files(name: str, sources: Sequence[str]) -> tuple[RemoteFile, ...]:
    """Return the files of the split that data was read from by name; empty if it was not.

    `sources` are the paths of the data's sources: of named data the keys of its files.
    """
    dataset, _, split = name.partition(":")
    entry = named_datasets().get(dataset)
    form = entry and entry.splits.get(split)
    while form and {file.key for file in form.files} != set(sources):
        form = form.copy
    return form.files if form else ()


def cached_path(file: RemoteFile) -> Path:
    """Return the place of a file in the cache, whether it is there or not."""
    return cache_folder().joinpath(*file.key.split("/"))


def is_cached(file: RemoteFile) -> bool:
    """Return whether a file is in the cache, with the size that it should have."""
    path = cached_path(file)
    return path.is_file() and file.bytes in (None, path.stat().st_size)


def require_cached(split: NamedSplit) -> dict[str, str]:
    """Return the hex sha256 of the files of a split in the cache, by their key."""
    sums = {}
    for file in split.files:
        path = cached_path(file)
        if not path.is_file():
            raise _missing_error(split, file)
        sums[file.key] = _check_sum(file, path, split.name)
    return sums


def splits_of(name: str) -> tuple[NamedSplit, ...]:
    """Return the splits of a dataset, or the one that a ``NAME:SPLIT`` names."""
    datasets = named_datasets()
    if name.lower() in datasets:
        return tuple(datasets[name.lower()].splits.values())
    if ":" in name:
        return (_look_up(name),)
    raise unknown_name("dataset", name, datasets)


def find_training_splits(split: NamedSplit) -> list[NamedSplit]:
    """Return the official splits to learn from for a split; none for a training split and for a
    dataset that has none.

    Examples
    --------
    >>> [of.name for of in find_training_splits(find_split("race:dev"))]
    ['race:train']
    """
    dataset = named_datasets()[split.dataset]
    prefix, _, split_name = split.split.rpartition(".")
    if split_name == "train":
        return []
    usual = (f"{prefix}.train".lstrip("."), "train")
    names = dataset.train or [name for name in usual if name in dataset.splits][:1]
    return [dataset.splits[name] for name in names]


def files_of(name: str, *, extras: bool = False) -> tuple[RemoteFile, ...]:
    """Return the files that a dataset's splits, or one of them (``NAME:SPLIT``), need.

    Of a dataset these are the files that can be downloaded, and those without an open address that
    the cache has; with `extras` also copies of its splits, released scores and labels.
    """
    split_files = dict.fromkeys(file for split in splits_of(name) for file in split.files)
    if ":" in name:
        return tuple(split_files)
    files = named_datasets()[name.lower()].files.values() if extras else split_files
    return tuple(file for file in files if file.url or cached_path(file).is_file())


def fetch(
    file: RemoteFile,
    read: Callable[[NamedSplit], object],
    *,
    offline: bool = False,
    progress: bool = False,
    notify: Callable[[str], object] = lambda text: None,
) -> Fetched:
    """Download a file of a dataset unless it is in the cache, and check it: by its sum, or by
    reading it.

    If the file has no known sum, `read` is called with a split that needs it (as
    :func:`classic_rc.datasets.registry.read_split`), and the sum is recorded only if that raises no
    DataError. With `offline`, only the cache is checked. `notify` gets what a user should know
    while it happens.
    """
    path = cached_path(file)
    if not path.is_file() and file.url is None:
        raise _form_error(file, path)
    if offline and not path.is_file():
        hint = f"Download it with `classic-rc fetch {_shortest_name(file)}`"
        raise DataError("not in the cache", source=file.key, expected=str(path), hint=hint)
    if offline or (path.is_file() and known_sum(file) is not None):
        try:
            return Fetched(file, path, _check_sum(file, path), is_new=False, is_recorded=False)
        except DataError:
            if offline or file.url is None:
                raise
            notify(f"{path} is not the expected file: it is downloaded again")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cache_error(path.parent, error) from error
    waiting = f"another process is downloading files of {file.dataset}: waiting for it"
    with ExitStack() as stack:
        try:
            lock = cache_folder() / file.dataset / _LOCK
            stack.enter_context(exclusive_lock(lock, lambda: notify(waiting)))
        except OSError as error:
            raise _cache_error(lock, error) from error
        # The other process may have downloaded it.
        is_new = not (path.is_file() and known_sum(file) in (None, sha256_of(path)))
        if is_new:
            _download(file, path, progress, notify)
        sha256 = _check_sum(file, path)
        if known_sum(file) is not None:
            return Fetched(file, path, sha256, is_new, is_recorded=False)
        try:
            if split := _split_to_read(file):
                read(split)
        except DataError as error:
            if is_new:
                path.unlink()
            hint = _other_ways(file, path) if is_new else f"Delete {path}, and fetch it again"
            raise DataError(
                f"the file has no known sum, and its reader refuses it ({error})",
                source=file.key,
                field="sha256",
                found=sha256,
                expected=f"a file of {file.dataset}",
                hint=hint,
            ) from error
        sums = _recorded_sums(file.dataset) | {file.name: sha256}
        write_file(path_of_sums(file.dataset), json.dumps(sums, indent=2, sort_keys=True) + "\n")
    return Fetched(file, path, sha256, is_new, is_recorded=True)


def _split_to_read(file: RemoteFile) -> NamedSplit | None:
    """Return a split that shows whether a file in the cache can be read, with answers if they are
    cached.
    """
    for split in named_datasets()[file.dataset].splits.values():
        for form in (split, split.copy):
            if form and file in form.files and is_cached(form.file):
                has_answers = all(map(is_cached, form.files))
                return form if has_answers else replace(form, answers=None)
    return None


def _download(
    file: RemoteFile, path: Path, progress: bool, notify: Callable[[str], object]
) -> None:
    """Download a file, and move it into the cache when it is complete."""
    # Deferred: commands that download nothing need not load what speaks HTTP.
    from classic_rc.io.download import Expected, download
    from classic_rc.io.progress import progress_bar

    partial_path = path.with_name(path.name + ".part")
    expected = Expected(file.bytes, known_sum(file))
    with progress_bar(f"fetching {file.key}", file.bytes, progress, unit="B") as advance:
        url = _address(file)
        download(
            url,
            partial_path,
            expected,
            advance=advance,
            notify=notify,
            hint=_other_ways(file, path),
        )
    try:
        replace_file(partial_path, path)
    except OSError as error:
        raise _cache_error(path, error) from error


def _other_ways(file: RemoteFile, path: Path) -> str:
    return (
        f"Get the file elsewhere ({named_datasets()[file.dataset].page}) and put it at {path}, or "
        f"set {MIRROR_VARIABLE} to an address that serves {file.key}"
    )


def known_sum(file: RemoteFile) -> str | None:
    """Return the hex sha256 that a file must have: as listed, or as recorded at its first
    download; else None.
    """
    return file.sha256 or _recorded_sums(file.dataset).get(file.name)


def path_of_sums(dataset: str) -> Path:
    """Return the file with the sums of a dataset's files as their first download had them."""
    return cache_folder() / dataset / "sums.json"


def _recorded_sums(dataset: str) -> dict[str, str]:
    path = path_of_sums(dataset)
    try:
        recorded = dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"the file cannot be read ({error})", source=str(path), hint="Delete it"
        ) from None
    return {name: str(sha256) for name, sha256 in recorded.items()}


def _check_sum(file: RemoteFile, path: Path, name: str | None = None) -> str:
    sha256, expected = sha256_of(path), known_sum(file)
    if expected in (None, sha256):
        return sha256
    advice = f"Download it again with `classic-rc fetch {name or _shortest_name(file)}`"
    how = advice if file.url else f"Put the right file there ({file.form})"
    if file.sha256 is None:
        how += (
            f", or delete its line in {path_of_sums(file.dataset)} if the authors have changed it"
        )
    raise DataError(
        "the file in the cache is not the expected one",
        source=str(path),
        field="sha256",
        found=sha256,
        expected=expected,
        hint=how,
    )


def _address(file: RemoteFile) -> str:
    """Return the address to download from."""
    mirror = os.environ.get(MIRROR_VARIABLE)
    if not mirror:
        assert file.url is not None
        return file.url
    if not re.fullmatch(r"https?://[^/@][^@]*", mirror):
        expected = "an http or https address without a user name or password"
        printable_mirror = None if "@" in mirror else mirror  # which may have a password
        problem = f"invalid {MIRROR_VARIABLE}: expected {expected}"
        raise UsageError(problem, field=MIRROR_VARIABLE, found=printable_mirror, expected=expected)
    return f"{mirror.rstrip('/')}/{file.key}"


def _cache_error(path: Path, error: BaseException) -> UsageError:
    problem = getattr(error, "strerror", None) or error
    return UsageError(
        f"cannot write {path}: {problem}; set {CACHE_VARIABLE} to another folder",
        field=CACHE_VARIABLE,
        found=str(path),
        expected="a folder that can be written",
    )


def _shortest_name(file: RemoteFile) -> str:
    """Return a name whose files include this one, as ``fetch`` takes it; the dataset's if it has
    no other file.
    """
    dataset = named_datasets()[file.dataset]
    if file not in dataset.needed_files:
        return f"--all {file.dataset}"
    splits = () if len(dataset.needed_files) == 1 else dataset.splits.values()
    return next((split.name for split in splits if file in split.files), file.dataset)


def _missing_error(split: NamedSplit, file: RemoteFile) -> DataError:
    if file.url is None:
        return _form_error(file, cached_path(file))
    sizes = [file.bytes for file in split.files if not is_cached(file)]
    size_note = "" if None in sizes else f" ({format_size(sum(size or 0 for size in sizes))})"
    hint = f"Download it{size_note} with `classic-rc fetch {split.name}`"
    expected = str(cached_path(file))
    return DataError("not in the cache", source=split.name, expected=expected, hint=hint)


def _form_error(file: RemoteFile, path: Path) -> DataError:
    page, form = named_datasets()[file.dataset].page, file.form or "ask the authors"
    hint = f"{form[0].upper()}{form[1:]} ({page}), and put it there"
    problem = "this file has no open download"
    return DataError(problem, source=file.key, expected=str(path), hint=hint)


def format_size(size: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> format_size(932100), format_size(67)
    ('932 kB', '67 bytes')
    """
    for unit, factor in (("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            number = size / factor
            return f"{number:.{int(number < 100)}f} {unit}"
    return f"{size} bytes"
