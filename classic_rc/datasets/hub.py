"""Datasets of the Hugging Face hub by name: the revision, subset and split that a name means,
and their files.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from classic_rc.datasets.fetch import HUB_PREFIX, check_split
from classic_rc.datasets.specification import quote_argument
from classic_rc.datasets.splits import canonical_split
from classic_rc.errors import ClassicRCError, DataError, MissingPackageError, UsageError
from classic_rc.io.archives import InputFile, InputFiles
from classic_rc.io.columns import SavedDataset

_FORM = "hf:OWNER/NAME, hf:OWNER/NAME@REVISION or hf:OWNER/NAME:SPLIT"
_NAME = re.compile(r"hf:([\w.-]+(?:/[\w.-]+)?)(?:@([^:@\s]+))?(?::([\w.-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")
_MAX_SHOWN = 20
_ONLY_SUBSET = "default"  # as `datasets` names it, if a dataset has one without a name

_NO_ANSWER = frozenset(
    "ConnectionError ConnectError Timeout TimeoutError TimeoutException ConnectTimeout "
    "OfflineModeIsEnabled NetworkError TransportError ProxyError LocalEntryNotFoundError".split()
)
"""Names of errors of datasets, huggingface_hub and the HTTP clients that their versions use."""


@dataclass(frozen=True)
class HubSplit:
    """A split of one revision of a dataset, and the Arrow files in which ``datasets`` keeps it."""

    repo: str
    revision: str  # the commit
    subset: str
    split: str
    files: tuple[str, ...]
    names_subset: bool  # whether the title has the subset

    @property
    def name(self) -> str:
        """The name that means this revision and split, whatever the hub has later."""
        return f"{HUB_PREFIX}{self.repo}@{self.revision}:{self.split}"

    @property
    def title(self) -> str:
        """The name for tables: ``race.high.validation``."""
        repo_name = self.repo.rpartition("/")[2]
        subset = self.subset if self.names_subset else None
        return ".".join(filter(None, (repo_name, subset, self.split)))

    def open(self, source: str) -> InputFiles:
        """Return the split as an input, with `source` as its name in messages."""
        file = InputFile(source, (self.title,), saved=SavedDataset(self.files, self.split))
        return InputFiles(source, (file,))


def find_hub_splits(
    name: str, subset: str | None = None, split: str | None = None
) -> list[HubSplit]:
    """Return the splits that a name means, and download the dataset if it is not in the cache of
    ``datasets``.

    A commit in that cache needs no network. In offline mode a name without a commit means the only
    one there. The splits, at least one, are in the hub's order. A dataset that is gated or needs
    code of its own is a DataError.
    """
    repo, revision, split = _parse(name, split)
    datasets = _import_datasets(HUB_PREFIX + repo)
    cached = _find_cached(repo, datasets)
    commit = _resolve(repo, revision, cached, datasets)
    subsets = cached.get(commit, {})
    if not (is_offline() or subset in subsets or (subset is None and [*subsets] == [_ONLY_SUBSET])):
        with _hub_errors(repo, commit):
            names = datasets.get_dataset_config_names(repo, revision=commit, **_no_code(datasets))
        subset_name = _choose_subset(repo, names, subset)
    else:
        subset_name = _choose_subset(repo, [*subsets], subset)
    splits = subsets.get(subset_name) or _download(repo, commit, subset_name, datasets)
    split_names = [name for name in splits if split in (None, name)]
    split_names = split_names or [
        name for name in splits if canonical_split(name) == canonical_split(split or "")
    ]
    if not split_names:
        raise DataError(
            "no such split",
            source=name,
            field="split",
            found=", ".join(splits),
            expected=repr(split),
        )
    hub_splits = []
    for split_name in split_names:
        files = tuple(splits[split_name])
        hub_splits.append(
            HubSplit(repo, commit, subset_name, split_name, files, subset is not None)
        )
    return hub_splits


def find_hub_split(name: str, subset: str | None = None, split: str | None = None) -> HubSplit:
    """Return the one split that a name means; see :func:`find_hub_splits`."""
    splits = find_hub_splits(name, subset, split)
    if len(splits) > 1:
        split_names = [hub_split.split for hub_split in splits]
        full_names = " or ".join(f"{name}:{split_name}" for split_name in split_names)
        raise DataError(
            "the dataset has several splits",
            source=name,
            field="split",
            found=", ".join(split_names),
            expected="one of them",
            hint=f"Name it: {full_names}",
        )
    return splits[0]


def _parse(name: str, split: str | None) -> tuple[str, str, str | None]:
    """Return the repository, the revision and the split of a name."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise UsageError(
            f"{name} names no dataset of the hub: expected {_FORM}",
            field="path",
            found=name,
            expected=_FORM,
        )
    repo, revision, split_in_name = match.groups()
    if split_in_name is not None:
        check_split(name, split_in_name, split)
    if os.path.isdir(repo):  # `datasets` would read the folder
        raise UsageError(
            f"{name}: the package datasets would read the local folder {repo} instead: run in "
            "another folder",
            field="path",
            found=repo,
            expected="no folder with the name of the dataset",
        )
    return repo, revision or "main", split_in_name or split


def _resolve(repo: str, revision: str, cached: _Cached, datasets: Any) -> str:
    """Return the commit of a revision: in the cache, in offline mode the only one there, or as
    the hub says.
    """
    hub_name = HUB_PREFIX + repo
    commits = [commit for commit in cached if revision in ("main", commit)]
    if revision in cached or (is_offline() and len(commits) == 1):
        return commits[0]
    if is_offline():
        if commits:
            problem = "several revisions are in the cache"
            hint = f"Name one: {hub_name}@{commits[0]}"
        else:
            problem = "not in the cache"
            hint = "To download it, run `unset HF_HUB_OFFLINE HF_DATASETS_OFFLINE` first"
        raise DataError(
            f"{problem}, and offline mode is on",
            source=f"{hub_name}@{revision}",
            found=", ".join(cached) or None,
            expected="a dataset that was read before",
            hint=hint,
        )
    from huggingface_hub import HfApi

    with _hub_errors(repo, revision):
        info = HfApi(endpoint=datasets.config.HF_ENDPOINT).dataset_info(
            repo, revision=revision, timeout=30
        )
    script = repo.rpartition("/")[2] + ".py"
    if any(file.rfilename == script for file in info.siblings or ()):
        raise DataError(
            "the dataset needs a script of its own, which classic_rc does not run",
            source=f"{hub_name}@{revision}",
            found=script,
            expected="data files",
            hint=f"The hub's own conversion, if there is one, is {hub_name}@refs/convert/parquet",
        )
    return str(info.sha)


def _choose_subset(repo: str, names: Sequence[str], subset: str | None) -> str:
    if subset is None and len(names) == 1:
        return names[0]
    if subset in names:
        return str(subset)
    hub_name = HUB_PREFIX + repo
    first_names = ", ".join(names[:_MAX_SHOWN])
    if len(names) > _MAX_SHOWN:
        first_names += f" and {len(names) - _MAX_SHOWN} more"
    problem, expected = "the dataset has several subsets", "one of them"
    if subset is not None:
        problem, expected = "no such subset", repr(subset)
    hint = f"Name it: {quote_argument(f'{hub_name},subset={names[0]}')}"
    if len(names) > 1:
        hint += ", or another of them"
    raise DataError(
        problem,
        source=hub_name,
        field="subset",
        found=first_names,
        expected=expected,
        hint=hint,
    )


_Cached: TypeAlias = "dict[str, dict[str, dict[str, list[str]]]]"
"""Arrow files by commit, subset and split."""


def _download(repo: str, commit: str, subset: str, datasets: Any) -> dict[str, list[str]]:
    """Return the Arrow files of each split of a subset, which ``datasets`` downloads and
    converts.
    """
    with _hub_errors(repo, commit):
        splits = datasets.load_dataset(
            repo, subset, revision=commit, keep_in_memory=False, **_no_code(datasets)
        )
    files: dict[str, list[str]] = {}
    for split, table in splits.items():
        files[str(split)] = [file["filename"] for file in table.cache_files]
    return files


def _find_cached(repo: str, datasets: Any) -> _Cached:
    """Return the files in the cache of ``datasets``, from any program."""
    from datasets.naming import camelcase_to_snakecase

    owner, _, dataset_name = repo.rpartition("/")
    folder = Path(datasets.config.HF_DATASETS_CACHE) / "___".join(
        filter(None, (owner, camelcase_to_snakecase(dataset_name)))
    )
    cached: _Cached = {}
    for info in sorted(folder.glob("*/*/*/dataset_info.json")):  # SUBSET/VERSION/COMMIT
        if not _COMMIT.fullmatch(info.parent.name):  # older versions have another digest there
            continue
        with suppress(OSError, ValueError, KeyError, TypeError):
            splits = json.loads(info.read_text(encoding="utf-8"))["splits"]
            files = {split: _arrow_files(info.parent, split) for split in splits}
            if all(files.values()):
                cached.setdefault(info.parent.name, {})[info.parents[2].name] = files
    return cached


def _arrow_files(folder: Path, split: str) -> list[str]:
    form = re.compile(rf".*-{re.escape(split)}(-\d+-of-\d+)?\.arrow")
    return sorted(str(path) for path in folder.iterdir() if form.fullmatch(path.name))


def is_offline() -> bool:
    """Return whether the user forbids connections to the hub, as ``huggingface_hub`` reads it."""
    return any(
        os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE")
        for name in _OFFLINE_VARIABLES
    )


def _import_datasets(name: str) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise MissingPackageError("datasets", needed_for=f"reading {name}", extra="hf") from error
    if not sys.stderr.isatty():  # bars would fill a log with lines
        from huggingface_hub.utils import disable_progress_bars

        datasets.disable_progress_bars()
        disable_progress_bars()
    return datasets


def _no_code(datasets: Any) -> dict[str, bool]:
    """Return the argument that forbids code of a dataset, in versions that could run it by
    default.
    """
    major, _, _ = datasets.__version__.partition(".")
    return {"trust_remote_code": False} if int(major) < 4 else {}


@contextmanager
def _hub_errors(repo: str, revision: str) -> Iterator[None]:
    """Turn the errors of ``datasets`` and ``huggingface_hub`` into ours: one sentence each."""
    try:
        yield
    except ClassicRCError:
        raise
    except Exception as error:
        raise _describe_error(error, repo, revision) from None


def _describe_error(error: BaseException, repo: str, revision: str) -> DataError:
    """Return the error for what the libraries raised.

    Names of classes decide, because their modules differ between versions.
    """
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < 10:
        chain.append(current)
        current = current.__cause__ or current.__context__
    names = {kind.__name__ for cause in chain for kind in type(cause).__mro__}
    status = next(
        (r.status_code for cause in chain if (r := getattr(cause, "response", None)) is not None),
        None,
    )
    refusal = partial(DataError, source=HUB_PREFIX + repo)
    page = f"https://huggingface.co/datasets/{repo}"
    login = "log in with `hf auth login` or set HF_TOKEN"
    # The hub describes a gated dataset to everyone, and keeps its files. Some versions lose the
    # error's class.
    messages = " ".join(map(str, chain))
    if (
        "GatedRepoError" in names
        or "gated dataset" in messages
        or "Unauthorized for URL" in messages
    ):
        access = "an account to which its owner has given access"
        hint = f"Ask for access at {page}, and {login}"
        return refusal("the dataset is gated", expected=access, hint=hint)
    if "RevisionNotFoundError" in names:
        expected = "a branch, a tag or a commit"
        return refusal("unknown revision", found=revision, expected=expected, hint=f"See {page}")
    if names & {"RepositoryNotFoundError", "DatasetNotFoundError", "HFValidationError"}:
        search = f"https://huggingface.co/datasets?search={repo.rpartition('/')[2]}"
        hint = f"Check its name at {search}; for a private one {login}"
        return refusal("the hub has no such dataset, or it is private", hint=hint)
    if status is None and names & _NO_ANSWER:
        hint = (
            "Check the network; a revision that was read before is read again with HF_HUB_OFFLINE=1"
        )
        return refusal("the Hugging Face hub cannot be reached", hint=hint)
    if status is not None:
        problem = "the Hugging Face hub refuses to send the dataset"
        return refusal(problem, found=f"HTTP status {status}", hint="Try again later")
    message = " ".join(str(error).split())[:200] or type(error).__name__
    return refusal(
        "the package datasets cannot read the dataset",
        found=message.rstrip("."),
        hint="A newer version may: pip install -U datasets",
    )
