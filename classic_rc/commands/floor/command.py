"""``classic-rc floor``: show what systems without understanding get on known datasets, without
any data.
"""

from __future__ import annotations

import argparse
import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.commands.floor.tables import floors_table
from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import render_json
from classic_rc.protocol import READING
from classic_rc.results.floors import (
    Floor,
    find_by_fingerprint,
    floor,
    load_floors,
    parse_floors,
)
from classic_rc.tables import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.cli.console import Failures
    from classic_rc.questions import Dataset
    from classic_rc.tables import Table

_DIFFERS = 1
_OFFICIAL = "the official split"
_HUB = "hf:"  # as in classic_rc.datasets.fetch, which loads NumPy

OPTIONS: Choice = (
    option(
        "floors",
        nargs="*",
        metavar="NAME|LOG|DATA",
        help="a dataset of the list, such as race:test; a log (samples_*.jsonl) or a results file "
        "of lm-evaluation-harness; a file of data, which is recognised by its content; nothing for "
        "the list",
    ),
    "reading",
    vary_option(
        "--by of a table", help="also show the groups of this key, if the package has them (level)"
    ),
    *under(
        "floor",
        option(
            "--verify",
            name="--verify DATA",
            metavar="DATA",
            help="run the systems that learn nothing again on this data, and compare every digit; "
            "exit with 1 if one differs",
        ),
        option(
            "--compute",
            name="--compute DATA",
            nargs="?",
            const=_OFFICIAL,
            metavar="DATA",
            help="compute the floor of NAME by the protocol of all floors, on this data or on the "
            "official split, which is downloaded; write a record",
        ),
        option(
            "--add",
            metavar="RECORD",
            help="check a record of --compute (its data, version and, by running the systems that "
            "learn nothing again, every digit), and add it to your file of floors, or to -o FILE",
        ),
        option(
            "--learned",
            action="store_true",
            help="with --verify or --compute: also the systems that learn from gold answers",
        ),
        option(
            "--train",
            name="--train of floors",
            several=True,
            metavar="DATA",
            help="with --learned: the training data of the rows that name it; repeat for several",
        ),
        option(
            "--prior",
            metavar="FILE",
            help="with --compute: also the row `prior`, a ranker that `fit` learned from another "
            "dataset in English, without one question of this one",
        ),
        option(
            "--save",
            name="--save of floors",
            metavar="DIR",
            help="with --compute: the folder of the record (default floor-NAME-SPLIT)",
        ),
    ),
    "--jobs",
    "--format",
    "--verbose",
    vary_option("--output", help="write the table or the page to a file instead of stdout"),
    "--quiet",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    check_writable(args.output, *args.floors)
    if args.compute is None:
        inputs.refuse_given(args, ("prior", "save"), "needs --compute")
    elif args.add is not None or args.verify is not None:
        problem = "--compute stands alone: add or verify the record when it is written"
        raise UsageError(problem, field="--compute", expected="no --add and no --verify")
    if args.add is not None or (args.compute is None and args.verify is None):
        inputs.refuse_given(args, ("learned", "train"), "needs --compute or --verify NAME")
    if args.compute is None and args.verify is None and not any(map(_is_data, args.floors)):
        inputs.refuse_given(args, READING, "is about data, and no data is read here: leave it out")
    if args.add is not None:
        return _add(args)
    if args.compute is not None:
        return _compute(args)
    if args.verify is not None:
        return _verify(args)
    if not args.floors:
        if args.group_by is not None:
            raise UsageError(
                "--by needs the name of a floor: classic-rc floor race:dev --by level", field="--by"
            )
        if args.format == "html":
            from classic_rc.commands.floor.page import floor_page

            write_output(floor_page(load_floors().values()), args.output)
        elif args.format == "json":
            from classic_rc.results.floor_export import export_floors

            write_output(render_json(export_floors(load_floors())), args.output)
        else:
            _write(args, [floors_table(load_floors().values())])
        return 0
    _write(args, [table for name in args.floors for table in _tables(args, name)])
    return 0


def _write(args: argparse.Namespace, tables: Sequence[Table]) -> None:
    if not tables:
        return
    if args.format == "json":
        text = render_json({"floors": [record for table in tables for record in table.records()]})
    else:
        text = render(tables, args.format, signatures=args.verbose)
    write_output(text, args.output)


def _tables(args: argparse.Namespace, name: str) -> list[Table]:
    """Return the tables of a name, or of a file: a log, the results of a harness, or data."""
    if not _is_data(name):
        return [Floor(floor(name).dataset, args.group_by).table()]
    if (results := _read_results(name)) is not None:
        from classic_rc.commands.floor.logs import results_table

        return [results_table(results, name)]
    from classic_rc.datasets.registry import is_log

    tables = []
    for data in inputs.expand_datasets(args, [name]):
        dataset = inputs.load_dataset(args, data)
        if is_log(dataset):
            tables.append(_log_table(args, dataset))
            continue
        floor_dataset = find_by_fingerprint(dataset.fingerprint)
        if floor_dataset is not None:
            print_message(f"note: {data} has the content of {floor_dataset.name}")
            tables.append(Floor(floor_dataset, args.group_by).table())
        else:
            print_message(
                f"note: the floor of {data} does not come with the package: {_commands(str(data))}"
            )
    return tables


def _is_data(name: str) -> bool:
    """Return whether a name means data to read, rather than a dataset of the list."""
    path = name
    if "," in name:
        from classic_rc.datasets.specification import parse_data

        path = parse_data(name).path
    return os.path.exists(path) or path.startswith(("sample", _HUB))


def _commands(data: str) -> str:
    from classic_rc.datasets.specification import quote_argument

    argument = quote_argument(data)
    return (
        f"`classic-rc run {argument} --intervals` computes its floor, `classic-rc run {argument} "
        f"--intervals --cv 5` also what can be learned, `classic-rc check {argument}` what the "
        "options give away"
    )


def _read_results(path: str) -> dict[str, Any] | None:
    """Return the content of a results file of lm-evaluation-harness; None if the file is
    something else.
    """
    if os.path.isdir(path) or not path.endswith(".json"):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            plain = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None  # its reader says what is wrong
    if not isinstance(plain, dict):
        return None
    is_results = all(isinstance(plain.get(key), dict) for key in ("results", "configs"))
    return plain if is_results else None


def _log_table(args: argparse.Namespace, dataset: Dataset) -> Table:
    """Return the table of a log: its model, chance and floor, computed on its own questions."""
    from classic_rc.commands.floor.logs import log_table
    from classic_rc.io.progress import progress_bar
    from classic_rc.protocol import Protocol
    from classic_rc.running.evaluate import evaluate

    protocol = Protocol(intervals=True)
    systems = inputs.choose_systems(args, dataset, [], protocol)
    with progress_bar(dataset.name, None, inputs.shows_progress(args)):
        evaluation = evaluate(dataset, systems, protocol)
    inputs.report_notes(args, "warning", evaluation.warnings, dataset.name)
    return log_table(evaluation)


def _compute(args: argparse.Namespace) -> int:
    """Compute the floors of names, print them, and write their records."""
    from classic_rc.cli.console import Failures

    if not args.floors or ((args.compute != _OFFICIAL or args.save) and len(args.floors) > 1):
        raise UsageError(
            "--compute needs the name of the floor: classic-rc floor boolq:dev --compute",
            field="--compute",
            found=" ".join(args.floors) or None,
            expected="one NAME:SPLIT, or several without DATA and --save",
        )
    names = args.floors
    if args.compute == _OFFICIAL:
        names = [split for name in names for split in _expand_splits(name)]
    failures = Failures()
    for name in names:
        with failures.caught():
            _compute_one(args, name, failures)
    return failures.exit_code


def _expand_splits(name: str) -> list[str]:
    """Return the splits of a dataset that has several without training data, such as languages; of
    any other name, the name.
    """
    from classic_rc.datasets.fetch import named_datasets

    dataset = named_datasets().get(name.lower())
    if dataset is None or any(split.endswith("train") for split in dataset.splits):
        return [name]
    return [split.name for split in dataset.splits.values()]


def _compute_one(args: argparse.Namespace, name: str, failures: Failures) -> None:
    from pathlib import Path

    from classic_rc.commands.floor.compute import FloorTask, compute_floor
    from classic_rc.datasets.fetch import find_split, find_training_splits, is_split_cached
    from classic_rc.io.progress import progress_bar
    from classic_rc.results.floor_entries import entry_of
    from classic_rc.results.record import write_record

    split = find_split(name) if args.compute == _OFFICIAL else None
    if split is None and args.compute == _OFFICIAL:
        raise UsageError(
            f"{name} is no split that can be downloaded: give the data after --compute",
            field="--compute",
            found=name,
            expected="NAME:SPLIT of `classic-rc list datasets`, or --compute DATA",
        )
    train = list(args.train)
    data = args.compute
    if split is not None:
        name = data = split.name
        training_splits = find_training_splits(split) if args.learned and not train else []
        train += [needed_split.name for needed_split in training_splits]
        for needed_split in (split, *training_splits):
            if not is_split_cached(needed_split):
                inputs.fetch_split(args, needed_split)
    task = FloorTask(name, data, train, args.learned, inputs.reading_options(args), args.prior)
    folder = Path(args.save or f"floor-{name.replace(':', '-')}")
    with progress_bar(name, None, inputs.shows_progress(args)) as progress:
        read = partial(inputs.read_dataset, args)
        evaluation = compute_floor(task, folder, read=read, jobs=args.jobs, progress=progress)
    inputs.report_notes(args, "warning", evaluation.warnings, name)
    write_record(folder, [evaluation])
    computed = parse_floors([entry_of(evaluation)])[name]
    _write(args, [Floor(computed, args.group_by).table()])
    hint = f"`classic-rc floor --add {folder}` checks the record and adds it to your floors"
    inputs.report_notes(args, "note", [hint], name)
    inputs.report_missing(args, [evaluation], failures)


def _add(args: argparse.Namespace) -> int:
    """Add the floors of a record to the user's file, or to the one of -o."""
    from pathlib import Path

    from classic_rc.commands.floor.add import add_record
    from classic_rc.io.progress import progress_bar
    from classic_rc.results.floors import user_file

    target = Path(args.output) if args.output else user_file()
    data = None if args.verify is None else inputs.load_dataset(args, args.verify)
    with progress_bar(f"verifying {args.add}", None, inputs.shows_progress(args)):
        added = add_record(args.add, target, data)
    for entry in added:
        print_message(f"{target}: {entry.name}: {len(entry.rows)} rows, every digit is the same")
    return 0


def _verify(args: argparse.Namespace) -> int:
    """Run the rows of a dataset again, and print every number that differs."""
    if len(args.floors) != 1 or _is_data(args.floors[0]):
        raise UsageError(
            "--verify needs the name of one dataset: classic-rc floor race:dev --verify "
            "RACE.tar.gz,split=dev",
            field="--verify",
            found=" ".join(args.floors) or None,
            expected="one NAME:SPLIT",
        )
    from classic_rc.commands.floor.verify import verify_rows
    from classic_rc.io.progress import progress_bar

    floor_dataset = floor(args.floors[0]).dataset
    dataset = _find_data(args, floor_dataset.fingerprint, floor_dataset.name)
    train = inputs.read_train(args)
    with progress_bar(f"verifying {floor_dataset.name}", None, inputs.shows_progress(args)):
        verification = verify_rows(floor_dataset, dataset, train, learned=args.learned)
    for text in verification.differences:
        print_message(f"error: {floor_dataset.name}: {text}")
    inputs.report_notes(args, "note", verification.notes, floor_dataset.name)
    verdict = (
        f"{len(verification.differences)} numbers differ"
        if verification.differences
        else "every digit is the same"
    )
    write_output(f"{floor_dataset.name}: {len(verification.rows)} rows, {verdict}\n", args.output)
    return _DIFFERS if verification.differences else 0


def _find_data(args: argparse.Namespace, fingerprint: str, name: str) -> Dataset:
    """Return the dataset of --verify that has this content; DATA may be several, such as an
    archive of splits.
    """
    others = []
    for data in inputs.expand_datasets(args, [args.verify]):
        dataset = inputs.load_dataset(args, data)
        if dataset.fingerprint == fingerprint:
            return dataset
        others.append(f"{dataset.name} ({dataset.fingerprint[:8]})")
    raise DataError(
        f"the data is not {name}, so nothing can be verified",
        source=args.verify,
        found=", ".join(others),
        expected=f"content with the fingerprint {fingerprint[:8]}",
    )
