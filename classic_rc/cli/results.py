"""The results of ``run`` and of suites: as text, as a saved record, and what is missing in them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.breakdown import NO_GROUPS, GroupTables
from classic_rc.cli.console import Failures, print_message, write_file
from classic_rc.errors import SystemFailedError, UsageError
from classic_rc.io.json import render_json

if TYPE_CHECKING:
    from classic_rc.evaluation.comparison import Comparison
    from classic_rc.evaluation.results import Evaluation


def render_results(
    evaluations: list[Evaluation],
    form: str,
    published: bool = False,
    groups: Sequence[GroupTables] = (),
    *,
    signatures: bool = False,
) -> str:
    """Return the results of all datasets in one format, with a final line break.

    Parameters
    ----------
    evaluations : list of Evaluation
    form : str
        A format of :data:`~classic_rc.tables.TABLE_FORMATS`, or ``"json"``.
    published : bool
        Also show the published figures of the same data.
    groups : sequence of GroupTables
        The breakdowns of each evaluation; none without ``--by`` and ``--labels``.
    signatures : bool
        Whether plain text shows signatures.
    """
    from classic_rc.evaluation.record import runs_to_dict
    from classic_rc.reports.comparison import difference_table
    from classic_rc.reports.published import published_records, results_table
    from classic_rc.tables import records_csv, render

    groups = groups or [NO_GROUPS] * len(evaluations)
    if form == "json":
        plain = runs_to_dict(evaluations)
        for run, tables in zip(plain["runs"], groups, strict=True):
            run.update(tables.to_dict())
        for run, evaluation in zip(plain["runs"], evaluations, strict=True):
            if (comparison := _compare_with_model(evaluation)) is not None:
                run["differences"] = comparison.to_dict()["pairs"]
        if published:
            _add_published(plain, evaluations)
        return render_json(plain)
    if form == "csv":
        records: list[dict[str, Any]] = []
        for evaluation in evaluations:
            records += results_table(evaluation).records()
            records += published_records(evaluation) if published else []
        records += [record for of_groups in groups for table in of_groups.tables() for record in table.records()]
        return records_csv(records)
    shown = []
    for evaluation, of_groups in zip(evaluations, groups, strict=True):
        shown.append(results_table(evaluation, published))
        if (comparison := _compare_with_model(evaluation)) is not None:
            shown.append(difference_table(comparison))
        shown += of_groups.tables()
    return render(shown, form, signatures=signatures)


def _compare_with_model(evaluation: Evaluation) -> Comparison | None:
    """Return the differences from the baseline, on the questions of a model's log; None for other data."""
    from classic_rc.datasets.registry import is_log
    from classic_rc.evaluation.comparison import SharedResults, compare

    tested, resampling = evaluation.significance, evaluation.resampling
    if not is_log(evaluation.dataset) or tested is None or resampling is None:
        return None
    results = SharedResults.of(evaluation, group=resampling.group)
    return compare(results, metric=tested.metric, n=resampling.n, seed=resampling.seed, baseline=tested.baseline)


def _add_published(plain: dict[str, Any], evaluations: Sequence[Evaluation]) -> None:
    """Add the published figures of each dataset to its run."""
    from classic_rc.reports.published import recorded_figures

    for run, evaluation in zip(plain["runs"], evaluations, strict=True):
        run["published"] = recorded_figures(evaluation.dataset)


def save_record(folder: Path, evaluations: Sequence[Evaluation], unfinished: Sequence[str] = ()) -> None:
    """Write the run record of evaluations into a folder, which is created.

    Parameters
    ----------
    folder : Path
    evaluations : sequence of Evaluation
    unfinished : sequence of str
        The data that has no results yet, or because the run was interrupted.

    Raises
    ------
    UsageError
        It cannot be written.
    """
    from classic_rc.evaluation.record import RECORD_NAME, record_text, run_record

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot create the folder {folder}: {error.strerror or error}"
        raise UsageError(problem, field="--save", found=str(folder)) from error
    record = run_record(evaluations, folder, unfinished)
    _add_published(record, evaluations)
    write_file(folder / RECORD_NAME, record_text(record))


def report_missing(
    args: argparse.Namespace, evaluations: Sequence[Evaluation], failures: Failures, *, notes: bool = True
) -> None:
    """Report the systems that did not answer: one that failed, or answered no dataset at all, is a failure.

    Parameters
    ----------
    args : Namespace
    evaluations : sequence of Evaluation
    failures : Failures
        Gets the failures.
    notes : bool
        Whether to report the others too, for each dataset that they did not answer.
    """
    answered = {row.name for evaluation in evaluations for row in evaluation.rows}
    for evaluation in evaluations:
        for name, error in evaluation.errors.items():
            about = f"{evaluation.dataset.name}: {name}"
            if name not in answered or isinstance(error, SystemFailedError):
                failures.add(error, about)
            elif notes:
                inputs.report_notes(args, "note", [str(error)], about)


def warn_about_published(args: argparse.Namespace, evaluation: Evaluation) -> None:
    """Report why the published figures of ``--published`` should not be compared with these rows, if so."""
    if not args.published or args.quiet:
        return
    from classic_rc.reports.published import published_warning

    if warning := published_warning(evaluation):
        print_message(f"warning: {evaluation.dataset.name}: {warning}")
