"""The results of ``run`` and of suites: groups of questions, text, a saved record, and what is
missing in them.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from classic_rc.cli import inputs
from classic_rc.cli.console import print_message, write_file, write_output
from classic_rc.errors import ClassicRCError, SystemFailedError, UsageError
from classic_rc.io.json import parse_json, render_json
from classic_rc.io.text import read_text
from classic_rc.protocol import DEFAULT_RESAMPLES

if TYPE_CHECKING:
    from classic_rc.results.breakdown import Breakdown, CrossTabulation
    from classic_rc.results.comparison import Comparison
    from classic_rc.results.evaluation import Evaluation
    from classic_rc.results.grouping import Grouping
    from classic_rc.tables import Table


def break_down_results(evaluation: Evaluation, groupings: Sequence[Grouping]) -> list[Breakdown]:
    """Measure an evaluation's systems in the primary metric on groups of questions, as its
    protocol says.
    """
    if not groupings:
        return []
    from classic_rc.results.breakdown import break_down

    protocol, results = evaluation.protocol, evaluation.results
    metric = results.primary.name
    n, seed = protocol.resamples or DEFAULT_RESAMPLES, protocol.seed or 0
    return [break_down(results, grouping, metric=metric, n=n, seed=seed) for grouping in groupings]


class GroupTables(NamedTuple):
    """The breakdowns and cross tabulations of one dataset."""

    breakdowns: Sequence[Breakdown]
    crosses: Sequence[CrossTabulation]
    drawn: Sequence[
        Breakdown
    ] = ()  # of the figure; a breakdown that is columns of a table is not printed again

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        if not self.breakdowns and not self.crosses:
            return []
        from classic_rc.reports.result_tables import breakdown_tables, cross_table

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
    """Write the figure of ``--figure groups``."""
    from classic_rc.reports.figures import breakdown_figure, figure_bytes

    write_file(Path(path), figure_bytes(breakdown_figure(breakdowns), form))


def _render_results(
    evaluations: list[Evaluation],
    groups: Sequence[GroupTables],
    form: str,
    published: bool,
    verbose: bool,
) -> str:
    """Return the results of all datasets in one format, with a final line break."""
    from classic_rc.results.evaluation import evaluation_table
    from classic_rc.tables import records_csv, render

    if published:
        from classic_rc.results.published import published_figures, published_records
    if form == "json":
        from classic_rc.results.record import add_published, runs_to_dict

        plain = runs_to_dict(evaluations)
        for run, tables in zip(plain["runs"], groups, strict=True):
            run.update(tables.to_dict())
        for run, evaluation in zip(plain["runs"], evaluations, strict=True):
            if (comparison := _compare_with_model(evaluation)) is not None:
                run["differences"] = comparison.to_dict()["pairs"]
        if published:
            add_published(plain, evaluations)
        return render_json(plain)
    if form == "csv":
        records: list[dict[str, Any]] = []
        for evaluation in evaluations:
            records += evaluation_table(evaluation).records()
            records += published_records(evaluation) if published else []
        records += [
            record
            for of_groups in groups
            for table in of_groups.tables()
            for record in table.records()
        ]
        return records_csv(records)
    tables_to_show = []
    for evaluation, of_groups in zip(evaluations, groups, strict=True):
        figures = published_figures(evaluation.dataset) if published else ()
        tables_to_show.append(evaluation_table(evaluation, figures))
        if (comparison := _compare_with_model(evaluation)) is not None:
            from classic_rc.reports.result_tables import difference_table

            tables_to_show.append(difference_table(comparison))
        tables_to_show += of_groups.tables()
    return render(tables_to_show, form, signatures=verbose)


def _compare_with_model(evaluation: Evaluation) -> Comparison | None:
    """Return the differences from the baseline, on the questions of a model's log; None for
    other data.
    """
    from classic_rc.datasets.registry import is_log

    tested, resampling = evaluation.significance, evaluation.resampling
    if not is_log(evaluation.dataset) or tested is None or resampling is None:
        return None
    from classic_rc.results.comparison import compare

    return compare(
        evaluation.results,
        metric=tested.metric,
        n=resampling.n,
        seed=resampling.seed,
        baseline=tested.baselines[0],
    )


def _set_aside(folder: Path, evaluations: Sequence[Evaluation], unfinished: Sequence[str]) -> None:
    """Give the record in a folder another name if it is of other datasets."""
    from classic_rc.systems import RECORD_NAME

    path = folder / RECORD_NAME
    names = {*unfinished, *(evaluation.dataset.name for evaluation in evaluations)}
    contents = {evaluation.dataset.fingerprint for evaluation in evaluations}
    try:
        recorded = [run["dataset"] for run in parse_json(read_text(path), str(path))["runs"]]
        is_known = any(
            recorded_dataset["name"] in names or recorded_dataset["fingerprint"] in contents
            for recorded_dataset in recorded
        )
    except (ClassicRCError, LookupError, TypeError):
        return  # there is no record
    if recorded and not is_known:
        others = (folder / f"run.{number}.json" for number in itertools.count(1))
        free_path = next(file for file in others if not file.exists())
        path.rename(free_path)
        datasets = ", ".join(recorded_dataset["name"] for recorded_dataset in recorded)
        print_message(f"note: {path} was the record of {datasets}: it is {free_path.name} now")


_LEAST_PAUSE = 20
"""Between two writings of the record for finished rows, in times that one takes."""


class RunResults:
    """The results of a run or a suite, printed and saved as they are finished; `left` names its
    datasets.
    """

    def __init__(self, args: argparse.Namespace, unfinished: list[str]) -> None:
        self._args = args
        self._left = unfinished
        self._has_saved = False
        self.evaluations: list[Evaluation] = []
        self._groups: list[GroupTables] = []  # of the evaluations
        self._rows: Evaluation | None = None  # what is finished of the first dataset that is left
        # when the record was written last, and for how many seconds
        self._writing = (-math.inf, 0.0)
        # a figure leaves stdout to the results
        self._output = None if args.figure is not None else args.output
        # JSON, CSV and a file hold the results of all datasets; a table is printed when its dataset
        # is finished.
        self._prints_at_once = self._output is None and args.format not in ("csv", "json")

    def keep_row(self, evaluation: Evaluation) -> None:
        """Keep what is finished of a dataset, also in the record unless writing it takes long."""
        self._rows = evaluation
        start, (last, seconds) = time.monotonic(), self._writing
        # without a row nothing is lost, and if all systems fail, none was interrupted
        if evaluation.rows and start > last + _LEAST_PAUSE * seconds:
            self._save_early([*self.evaluations, evaluation.interrupted()], self._left[1:])
            self._writing = time.monotonic(), time.monotonic() - start

    def add(self, evaluation: Evaluation, groups: GroupTables = NO_GROUPS) -> None:
        """Print and save the results of a dataset."""
        self.evaluations.append(evaluation)
        self._groups.append(groups)
        self._rows = None
        del self._left[0]
        if self._prints_at_once:
            table = self._render([evaluation], [groups])
            write_output(table if len(self.evaluations) == 1 else f"\n{table}", None)
            sys.stdout.flush()
        if self._left:
            self._save_early(self.evaluations, self._left)

    def skip(self) -> None:
        """Go on to the next dataset: this one has no results."""
        del self._left[0]

    def add_unfinished(self, error: BaseException) -> bool:
        """Add the systems that were finished before an error; return whether they say all about
        it.
        """
        rows, is_own = self._rows, isinstance(error, ClassicRCError)
        self._rows = None
        failed = rows is not None and any(
            isinstance(e, SystemFailedError) for e in rows.errors.values()
        )
        if rows is not None and (rows.rows or failed):
            self.add(rows if is_own else rows.interrupted())
        elif is_own:
            self.skip()
        return failed and not (rows and rows.rows)

    def finish(self) -> None:
        """Write what was not written as it was finished, and the record."""
        if not self.evaluations:
            return
        if missing := [
            *itertools.chain(*(done.unfinished for done in self.evaluations)),
            *self._left,
        ]:
            print_message(f"the run was interrupted, and has no results of {', '.join(missing)}")
        try:
            if not self._prints_at_once:
                write_output(self._render(self.evaluations, self._groups), self._output)
        finally:  # save the record even if the table cannot be written
            if self._args.save is not None:
                self._save(self.evaluations, self._left)

    def _render(self, evaluations: list[Evaluation], groups: Sequence[GroupTables]) -> str:
        args = self._args
        return _render_results(evaluations, groups, args.format, args.published, args.verbose)

    def _save_early(self, evaluations: Sequence[Evaluation], unfinished: Sequence[str]) -> None:
        if self._args.save is not None:
            with suppress(UsageError):  # a full disk: the work goes on, and `finish` says so
                self._save(evaluations, unfinished)

    def _save(self, evaluations: Sequence[Evaluation], unfinished: Sequence[str]) -> None:
        folder = Path(self._args.save)
        if not self._has_saved:
            _set_aside(folder, evaluations, unfinished)
        self._has_saved = True
        from classic_rc.results.record import write_record

        write_record(folder, evaluations, unfinished)


def report_answers(args: argparse.Namespace, evaluation: Evaluation) -> None:
    """Report how the texts of files of answers were read, with examples."""
    for row in evaluation.rows:
        if row.answers is not None:
            inputs.report_notes(args, "note", row.answers.report, row.name)


def warn_about_published(args: argparse.Namespace, evaluation: Evaluation) -> None:
    """Report why the published figures of ``--published`` should not be compared with these
    rows, if so.
    """
    if not args.published or args.quiet:
        return
    from classic_rc.results.published import published_warning

    if warning := published_warning(evaluation):
        print_message(f"warning: {evaluation.dataset.name}: {warning}")
