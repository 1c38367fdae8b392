"""``classic-rc fetch``: download datasets into the cache, so that other commands read them by
name.
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.datasets.fetch import Fetched, NamedSplit, RemoteFile

OPTIONS: Choice = (
    option(
        "names",
        name="datasets",
        nargs="+",
        metavar="NAME[:SPLIT]",
        help="what to download: a dataset, or what one split needs (see `classic-rc list "
        "datasets`)",
    ),
    *under(
        "fetching",
        option(
            "--all",
            action="store_true",
            help="also download files that no split needs: copies of splits, released scores and "
            "labels",
        ),
        option(
            "--check", action="store_true", help="download nothing: check the files in the cache"
        ),
    ),
    "--quiet",
)

_MOST_NAMED = 4  # files with one cause: the message stays one line


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.datasets.fetch import (
        fetch,
        files_of,
        is_split_cached,
        named_datasets,
        splits_of,
    )
    from classic_rc.datasets.registry import read_split
    from classic_rc.io.download import NOT_THERE

    files_of_names = (files_of(name, extras=args.all) for name in args.names)
    files = list(dict.fromkeys(chain.from_iterable(files_of_names)))
    splits = [split for name in args.names for split in splits_of(name)]
    for name in dict.fromkeys(file.dataset for file in files):
        dataset = named_datasets()[name]
        inputs.report_notes(
            args, "note", [f"{dataset.page}; licence: {dataset.licence}"], dataset.title
        )
    failures = Failures()
    failed: dict[RemoteFile, DataError] = {}
    # The list grows: where a server lacks a file, copies of its content may be elsewhere.
    for file in files:
        with failures.caught():
            try:
                fetched = fetch(
                    file,
                    read_split,
                    offline=args.check,
                    progress=inputs.shows_progress(args),
                    notify=partial(_notify, args),
                )
            except DataError as error:
                failed[file] = error
                if error.problem == NOT_THERE:
                    copies = [split.copy for split in splits if split.copy and file in split.files]
                    copy_files = chain.from_iterable(copy.files for copy in copies)
                    files += dict.fromkeys(f for f in copy_files if f not in files)
                continue
            write_output(_describe(fetched), None)
    errors_by_cause: dict[tuple[str | None, ...], list[tuple[RemoteFile, DataError]]] = {}
    for file, problem in failed.items():
        using = [split for split in splits if file in split.files]
        if using and all(map(is_split_cached, using)):
            names = ", ".join(split.name for split in using)
            _notify(args, f"{file.key} is missing there; copies have what {names} needs")
        else:
            cause = (file.dataset, problem.problem, problem.found)
            errors_by_cause.setdefault(cause, []).append((file, problem))
    for errors in errors_by_cause.values():
        with failures.caught():
            raise _join_errors(errors)
    if not args.check:
        _keep_sketches(args, splits)
    return failures.exit_code


def _notify(args: argparse.Namespace, text: str) -> None:
    inputs.report_notes(args, "note", [text])


def _keep_sketches(args: argparse.Namespace, splits: Sequence[NamedSplit]) -> None:
    """Sketch the splits that are in the cache, so that their texts are recognised in other data."""
    from classic_rc.datasets.known_sketches import keep_sketch
    from classic_rc.datasets.registry import read_split

    sketched = []
    for split in splits:
        try:
            sketched += [split.name] if keep_sketch(split, read_split) else []
        except DataError as error:
            _notify(args, f"there is no sketch of {split.name}, which cannot be read ({error})")
    if sketched:
        names = ", ".join(sketched[:_MOST_NAMED]) + ", …" * (len(sketched) > _MOST_NAMED)
        _notify(
            args,
            f"sketches of {names} are kept: `classic-rc check` finds their texts in other data",
        )


def _join_errors(errors: list[tuple[RemoteFile, DataError]]) -> DataError:
    """Return the error of the first file; it names the other files that have the same."""
    (_, first), *others = errors
    if not others:
        return first
    more = ", …" * (len(others) > _MOST_NAMED)
    names = ", ".join(file.key for file, _ in others[:_MOST_NAMED]) + more
    problem = f"{first.problem}, as with {len(others)} more: {names}"
    facts = {
        "source": first.source,
        "field": first.field,
        "found": first.found,
        "expected": first.expected,
    }
    return DataError(problem, **facts, hint=first.hint)


def _describe(fetched: Fetched) -> str:
    from classic_rc.datasets.fetch import format_size

    file = fetched.file
    state = "downloaded" if fetched.is_new else "in the cache"
    if fetched.is_recorded:
        state += f"; no sum was known: sha256 {fetched.sha256} is recorded, and checked from now on"
    size = format_size(fetched.path.stat().st_size)
    return f"{file.key}  {size}  {state}  {fetched.path}\n"
