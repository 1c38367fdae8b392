"""The groups of questions of ``run`` and ``stats``; and ``classic-rc breakdown``, now a part of these two.

The old command answers for one release.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, write_file, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.cli.systems import SystemArgument
    from classic_rc.datasets.labels import Labels
    from classic_rc.evaluation.breakdown import Breakdown, CrossTabulation
    from classic_rc.evaluation.comparison import SharedResults
    from classic_rc.evaluation.grouping import Grouping
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.questions import Dataset
    from classic_rc.tables import Table

OPTIONS = (
    "data",
    "reading",
    "--spans",
    "breakdown",
    "--metrics",
    "--resamples",
    "training and tuning",
    "searching",
    "decisions",
    "--jobs",
    "--format",
    "--signatures",
    "--output",
    "--quiet",
    vary_option("--solver", help="a solver, a file of predictions or a record of `run --save`; repeat for several"),
    vary_option("--plot", help="also draw bars (.pdf, .png, .svg); needs matplotlib"),
)


class QuestionGroups(NamedTuple):
    """What ``--by``, ``--labels`` and ``--cross`` mean for one dataset."""

    groupings: Sequence[Grouping]
    crosses: Sequence[CrossTabulation]


def read_groups(args: argparse.Namespace, dataset: Dataset) -> QuestionGroups:
    """Group the questions of a dataset by the keys of ``--by``, by default all labels of ``--labels``.

    Raises
    ------
    UsageError
        A key is unknown.
    DataError
        A file of labels is malformed.
    """
    from classic_rc.evaluation.grouping import group_questions

    labels = inputs.read_label_files(args, dataset)
    keys = args.by or _label_keys(labels)
    groupings = [group_questions(dataset, key, labels) for key in keys]
    return QuestionGroups(groupings, [_cross_tabulate(dataset, text, labels) for text in args.cross])


def _label_keys(labels: Sequence[Labels]) -> list[str]:
    """Return the names of all labels, with ``:alone`` and ``:count`` too if a question has several labels."""
    keys = []
    for kind in labels:
        keys.append(kind.name)
        if any(len(values) > 1 for values in kind.of_question.values()):
            keys += [f"{kind.name}:alone", f"{kind.name}:count"]
    return keys


def _cross_tabulate(dataset: Dataset, keys: str, labels: Sequence[Labels]) -> CrossTabulation:
    """Count the groups of ``KEY,KEY`` together, or of one key with itself."""
    from classic_rc.evaluation.breakdown import cross_tabulate
    from classic_rc.evaluation.grouping import group_questions

    first, _, second = keys.partition(",")
    rows = group_questions(dataset, first.strip(), labels)
    return cross_tabulate(rows, group_questions(dataset, second.strip(), labels) if second else rows)


def count_questions(args: argparse.Namespace, dataset: Dataset) -> SharedResults:
    """Return the results of no system: a breakdown of them has the numbers of questions alone."""
    from classic_rc.evaluation.comparison import SharedResults
    from classic_rc.folds import passage_groups

    assert dataset.task is not None
    group = getattr(args, "group", None)  # `stats` has no systems to resample
    return SharedResults(dataset.name, dataset.fingerprint, dataset.task, passage_groups(dataset, group), (), group)


def break_down_results(args: argparse.Namespace, evaluation: Evaluation, groups: QuestionGroups) -> list[Breakdown]:
    """Measure an evaluation's systems in the primary metric on the groups of all keys."""
    from classic_rc.evaluation.breakdown import break_down
    from classic_rc.evaluation.comparison import SharedResults

    results = SharedResults.of(evaluation, group=args.group)
    settings: dict[str, Any] = {} if args.intervals is None else {"n": args.intervals}
    return [
        break_down(results, grouping, metric=evaluation.primary.name, seed=args.seed or 0, **settings)
        for grouping in groups.groupings
    ]


class GroupTables(NamedTuple):
    """The breakdowns and cross tabulations of one dataset."""

    breakdowns: Sequence[Breakdown]
    crosses: Sequence[CrossTabulation]
    drawn: Sequence[Breakdown] = ()  # of the figure; a breakdown that is columns of a table is not printed again

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        from classic_rc.reports.breakdown import breakdown_tables, cross_table

        return [*breakdown_tables(self.breakdowns), *map(cross_table, self.crosses)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; empty without any groups."""
        if not self.breakdowns and not self.crosses:
            return {}
        return {
            "breakdowns": [breakdown.to_dict() for breakdown in self.breakdowns],
            "cross": [cross.to_dict() for cross in self.crosses],
        }


NO_GROUPS = GroupTables((), ())


def draw_groups(breakdowns: Sequence[Breakdown], path: str, form: str) -> None:
    """Write the figure of ``--plot``."""
    from classic_rc.reports.figures import breakdown_figure, figure_bytes

    write_file(Path(path), figure_bytes(breakdown_figure(breakdowns), form))


def handle(args: argparse.Namespace) -> int:
    """Run the old command."""
    from classic_rc.cli.systems import parse_arguments
    from classic_rc.evaluation.breakdown import break_down
    from classic_rc.tables import render

    systems = parse_arguments(args.solver)
    files = [args.data, *args.train, args.tune, *args.labels, *(system.file for system in systems)]
    check_writable(args.output, *files, figure_option="--plot")
    form = None if args.plot is None else inputs.check_figure_path(args.plot, *files)
    if not args.by and not args.labels and not args.cross:
        raise UsageError(
            "no key to break down by: add --by KEY (see `classic-rc list keys`) or --labels FILE", field="--by"
        )
    dataset = inputs.load_dataset(args, args.data)
    groups = read_groups(args, dataset)
    results = _shared_results(args, systems, dataset)
    metric = args.metrics[0] if args.metrics else None
    breakdowns = [
        break_down(results, grouping, metric=metric, n=args.resamples, seed=args.seed or 0)
        for grouping in groups.groupings
    ]
    tables = GroupTables(breakdowns, groups.crosses)
    if args.format == "json":
        about = {"name": results.dataset, "fingerprint": results.fingerprint, "questions": len(results.groups)}
        text = render_json(
            {
                "dataset": about,
                "resampling": breakdowns[0].resampling.to_dict() if breakdowns else None,
                "signatures": {system.name: system.signature for system in results.systems},
                **tables.to_dict(),
            }
        )
    else:
        text = render(tables.tables(), args.format, signatures=args.signatures)
    write_output(text, args.output)
    if form is not None:
        draw_groups(breakdowns, args.plot, form)
    return 0


def _shared_results(args: argparse.Namespace, systems: Sequence[SystemArgument], dataset: Dataset) -> SharedResults:
    """Return the outcomes of the systems on the dataset.

    Raises
    ------
    UsageError
        The systems answered different questions.
    """
    from classic_rc.cli.systems import iter_shared_results

    if not systems:
        return count_questions(args, dataset)
    for results, _ in iter_shared_results(args, systems, dataset):
        if results.fingerprint == dataset.fingerprint:
            return results
    raise UsageError(f"{systems[0].label} has answers for other questions than {dataset.name}")
