"""The groups of questions of ``run`` and of datasheets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from classic_rc.cli import inputs
from classic_rc.cli.console import write_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.datasets.labels import Labels
    from classic_rc.evaluation.breakdown import Breakdown, CrossTabulation
    from classic_rc.evaluation.comparison import SharedResults
    from classic_rc.evaluation.grouping import Grouping
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.questions import Dataset
    from classic_rc.tables import Table


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
