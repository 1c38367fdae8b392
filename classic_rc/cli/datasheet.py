"""``classic-rc report --datasheet``: one page about a dataset for the appendix of its paper."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import write_file, write_output
from classic_rc.cli.option import Choice
from classic_rc.cli.options import TABLE
from classic_rc.cli.results import GroupTables, count_questions, read_groups
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol

if TYPE_CHECKING:
    from classic_rc.audit.check import CheckReport
    from classic_rc.audit.statistics.tables import DatasetStatistics
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.questions import Dataset

_FORMS = {
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".csv": "csv",
}
_SUFFIXES = ".md, .tex, .html, .json or .csv, or of a figure .pdf, .png or .svg"

_NOT_SHOWN = frozenset({"data", "datasheet", "output", "jobs", "quiet"})
"""The options that do not change a datasheet, or that its command shows in another place."""


def is_figure_name(output: str) -> bool:
    """Return whether the name of a datasheet's file asks for the histograms of its lengths."""
    return output.lower().endswith((".pdf", ".png", ".svg"))


def write_datasheet(args: argparse.Namespace, options: Choice) -> int:
    """Write the datasheet that the arguments of ``report`` ask for, and return the exit code."""
    from classic_rc.audit.without_copies import score_without
    from classic_rc.datasets.registry import as_dataset
    from classic_rc.reports.datasheet import Datasheet, render_datasheet

    if is_figure_name(args.output):
        return _draw_lengths(args)
    form, facts = _find_form(args.output), dict(map(parse_fact, args.facts))
    data = inputs.choose_dataset(args, args.data)
    dataset = inputs.load_dataset(args, data)
    facts |= _read_repairs(dataset)
    protocol = inputs.protocol_for(replace(inputs.read_protocol(args), intervals=True), data)
    groups = group_questions(args, dataset)
    evaluation = None if "floors" in args.without else _measure_floors(args, dataset, protocol)
    check = None if "check" in args.without else check_contents(args, dataset, protocol)
    scores = (
        ()
        if evaluation is None or check is None
        else score_without(evaluation, check.findings, seed=args.seed or 0)
    )
    train = as_dataset(protocol.train)
    with progress_bar(f"counting {dataset.name}", None, inputs.shows_progress(args)):
        sheet = Datasheet(
            dataset,
            count_contents(args, dataset),
            None if train is None else count_contents(args, train),
            check,
            evaluation,
            scores,
            facts,
            shlex.join(_command(args, options)),
            args.title,
            args.date,
            args.published,
            groups.breakdowns,
            groups.crosses,
        )
    write_output(render_datasheet(sheet, form), args.output)
    return 0


def _read_repairs(dataset: Dataset) -> dict[str, str]:
    """Return what `check --mend` did to a dataset, which stands beside its file."""
    from classic_rc.audit.mend import PROVENANCE

    done = []
    for source in dataset.sources:
        path = Path(f"{source.path}{PROVENANCE}")
        if path.is_file():
            plain = json.loads(path.read_text(encoding="utf-8"))
            done += [f"{row['repair']} ({row['questions']:,} questions)" for row in plain["repairs"]]
    return {"Repairs": "; ".join(done)} if done else {}


def _draw_lengths(args: argparse.Namespace) -> int:
    """Draw histograms of the lengths."""
    form = inputs.check_figure_path(args.output, *args.data, *args.labels)
    from classic_rc.reports.figures import figure_bytes, histogram_figure

    dataset = inputs.load_dataset(args, inputs.choose_dataset(args, args.data))
    write_file(Path(args.output), figure_bytes(histogram_figure(count_contents(args, dataset)), form))
    return 0


def count_contents(args: argparse.Namespace, dataset: Dataset) -> DatasetStatistics:
    """Return the statistics of a dataset; with ``--pool``, also of each of the datasets in it."""
    from classic_rc.audit.statistics.tables import describe_datasets
    from classic_rc.evaluation.plan import default_analyzer

    parts = (dataset.parts if args.pool else ()) or [dataset]
    return describe_datasets(parts, args.analyzer or default_analyzer(dataset))


def check_contents(args: argparse.Namespace, dataset: Dataset, protocol: Protocol) -> CheckReport:
    """Return what ``check`` finds in a dataset."""
    from classic_rc.audit.check import check_dataset

    return check_dataset(
        dataset,
        train=protocol.train,
        folds=protocol.cv or 5,
        group=protocol.group,
        analyzer=args.analyzer,
        progress=inputs.shows_progress(args),
    )


def group_questions(args: argparse.Namespace, dataset: Dataset) -> GroupTables:
    """Count the questions of the groups of ``--by`` and ``--labels``."""
    from classic_rc.evaluation.breakdown import break_down

    groups = read_groups(args, dataset)
    if not groups.groupings:
        return GroupTables((), groups.crosses)
    counted = count_questions(args, dataset)
    return GroupTables([break_down(counted, grouping) for grouping in groups.groupings], groups.crosses)


def _find_form(output: str) -> str:
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in _FORMS:
        raise UsageError(
            f"cannot tell the format of the datasheet {output}: end its name with {_SUFFIXES}",
            field="--output",
            found=output,
            expected=_SUFFIXES,
        )
    return _FORMS[suffix]


def parse_fact(text: str) -> tuple[str, str]:
    """Parse the value of ``--fact``."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise UsageError(
            f"cannot read --fact {text!r}: expected NAME=TEXT, such as --fact Licence='CC BY 4.0'",
            field="--fact",
            found=text,
            expected="NAME=TEXT",
        )
    return name, value


def _measure_floors(args: argparse.Namespace, dataset: Dataset, protocol: Protocol) -> Evaluation | None:
    """Return what the given or default systems reach, with intervals; None if all gold is hidden."""
    from classic_rc.audit.check import labelled_part
    from classic_rc.evaluation.evaluate import evaluate

    dataset = labelled_part(dataset)
    if not len(dataset) or any(question.gold is None for question in dataset):
        return None
    evaluation = evaluate(
        dataset,
        inputs.choose_systems(args, dataset, inputs.parse_systems(args.solver), protocol),
        protocol,
        jobs=args.jobs,
        progress=inputs.shows_progress(args),
    )
    inputs.report_notes(args, "warning", evaluation.warnings)
    return evaluation


def _command(args: argparse.Namespace, options: Choice) -> Iterator[str]:
    """Yield the command that makes the page again. Of absolute paths only the last part is shown."""
    yield from ("classic-rc", "report", *map(_shown, args.data), "--datasheet")
    for option in TABLE.given(args, options):
        if option.dest not in _NOT_SHOWN:
            yield from map(_shown, option.words(args))
    yield from ("-o", _shown(args.output))


def _shown(text: str) -> str:
    return os.path.basename(text.rstrip("/\\")) if os.path.isabs(text) else text
