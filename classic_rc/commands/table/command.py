"""``classic-rc table``: make one table for a paper from saved runs, its figure, or its paragraph
on methods.
"""

from __future__ import annotations

import argparse
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, write_file, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import (
    FORMAT_BY_SUFFIX,
    TABLE,
    vary_option,
)
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import integer_kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from classic_rc.commands.table.model import PaperTable

_DIFFERS = 1
_LABEL = "tab:results"
_FORMATS = ("table", "markdown", "latex", "csv", "html")


OPTIONS: Choice = (
    option(
        "records",
        nargs="+",
        metavar="DIR|run.json",
        help="records of `run --save`: folders with run.json, or the files",
    ),
    *under(
        "paper",
        option(
            "--rows",
            metavar="NAME[,NAME]",
            help="the systems to show, in this order within their blocks; no mark changes "
            "(default: all)",
        ),
        option(
            "--columns",
            metavar="NAME[,NAME]",
            help="datasets in the order to show; DATASET:METRIC or DATASET:GROUP is one column "
            "(default: all)",
        ),
        option(
            "--rename",
            several=True,
            metavar="OLD=NEW",
            help="another name for a system, a dataset, a group or a metric; repeat for several",
        ),
    ),
    vary_option(
        "--metrics",
        help="the metrics to show where they apply (default: the papers' metrics: accuracy; F1m, "
        "F1a and EM0 of MultiRC; EM and F1 of cloze and span questions)",
    ),
    vary_option(
        "--by of a table",
        help="add a column for each group of the runs' --by KEY, in the primary metric",
    ),
    vary_option(
        "--baseline",
        metavar="NAME",
        action="append",
        help="mark the systems that differ significantly from this one in the primary metric "
        "(permutation test, Holm-adjusted p < 0.05; default: the baseline of the runs); repeat for "
        "several: a letter for each that a system is better than",
    ),
    vary_option(
        "--intervals",
        help="95 %% intervals; those of ratios, such as F1a, are from N resamples of passages "
        "(default: as in the runs; 10000 without N)",
    ),
    vary_option(
        "--published", help="also show the published figures that the runs kept for their data"
    ),
    *under(
        "paper",
        option(
            "--above",
            choices=("chance", "floor"),
            help="after each dataset's primary metric, also (value - base) / (1 - base); the base "
            "is random choice, or the best system that learns nothing: in the record, else in "
            "`classic-rc floor`",
        ),
        option(
            "--layout",
            choices=("systems", "groups"),
            default="systems",
            help="the rows: systems (the default), or the groups of --by with n and a column for "
            "each system, in blocks of datasets",
        ),
        option(
            "--intervals-as",
            choices=("lines", "pm", "none"),
            default="lines",
            metavar="STYLE",
            help="show intervals as a second line (lines, the default; in brackets where a cell "
            "has one line), as plus-minus the larger side (pm), or not (none)",
        ),
        option(
            "--decimals",
            type=parser_of(integer_kind(0, 4)),
            default=1,
            metavar="N",
            help="digits after the decimal point, 0 to 3 (default 1)",
        ),
        option(
            "--caption",
            rare=True,
            metavar="TEXT",
            help="the beginning of the caption, before the notes on intervals and marks (default: "
            "metric and datasets)",
        ),
        option(
            "--label",
            rare=True,
            metavar="KEY",
            help="the \\label in LaTeX (default tab:results)",
        ),
        option(
            "--width",
            rare=True,
            choices=("column", "text"),
            help="the width of the LaTeX table: a column (table) or the text (table*); default: by "
            "its columns",
        ),
        option(
            "--methods",
            action="store_true",
            help="write a paper's paragraph on data, settings and tests before the table, the "
            "systems' settings after it, and the BibTeX",
        ),
        option(
            "--verify",
            rare=True,
            action="store_true",
            help="first check that the data, files and code here are those that the records name",
        ),
        option(
            "--release",
            metavar="DIR",
            help="write the table (or the figure, or the methods) into a new folder, with "
            "everything that reproduces it: predictions of every system, the suite, checksums, "
            "versions, and the command",
        ),
        option(
            "--with-data",
            rare=True,
            action="store_true",
            help="copy data into a release even if its licence does not say that you may",
        ),
    ),
    "--figure",
    vary_option(
        "--format",
        choices=_FORMATS,
        default=None,
        help="the output format (default: by the ending of FILE: .tex, .md, .csv, .html; else "
        "table)",
    ),
    vary_option(
        "--verbose", help="show each system's signature below the table; in LaTeX, as comments"
    ),
    vary_option(
        "--output", help="write the table, the figure or the paragraph to a file instead of stdout"
    ),
    "--quiet",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.commands.table.paper import add_above, make_paper_table, read_paper_records

    if args.release is not None:
        _prepare_release(args)
    by_name = FORMAT_BY_SUFFIX.get(Path(args.output or "").suffix.lower())
    form = args.format or (by_name if by_name in _FORMATS else "table")
    if form != "latex" or args.figure is not None:
        inputs.refuse_given(args, ("label", "width"), "is of LaTeX: add --format latex")
    files = []
    for path in args.records:
        files.append(str(Path(path) / "run.json") if Path(path).is_dir() else path)
    figure_format = _check_output(args, files)
    with progress_bar("reading records", None, inputs.shows_progress(args)):
        records = read_paper_records(args.records)
    interrupted = {file: results.facts.get("interrupted") for file, results in records}
    if args.verify and _report_changes(args, interrupted):
        return _DIFFERS
    for file, missing in interrupted.items():
        if missing:
            text = f"the run was interrupted, and has no results of {', '.join(map(str, missing))}"
            inputs.report_notes(args, "warning", [text], file)
    intervals = args.intervals
    if (
        args.figure is not None
        and intervals is None
        and all(results.resampling is None for _, results in records)
    ):
        intervals = 10_000
        inputs.report_notes(
            args, "note", ["the runs have no intervals: they are computed from the outcomes"]
        )
    with progress_bar("resampling", None, inputs.shows_progress(args)):
        table = make_paper_table(
            records,
            metrics=args.metrics,
            by=args.group_by,
            baseline=args.baseline,
            intervals=intervals,
            rename=args.rename,
            published=args.published,
            decimals=args.decimals,
        )
        if args.above is not None:
            table = add_above(table, args.above)
        table = replace(table.select(args.rows, args.columns), layout=args.layout)
    inputs.report_notes(args, "note", [*table.notes, *table.missing])
    if figure_format is not None:
        from classic_rc.commands.table.figure import forest_figure
        from classic_rc.reports.figures import figure_bytes

        write_file(Path(args.output), figure_bytes(forest_figure(table), figure_format))
    elif args.methods:
        _write_methods(args, table, form)
    else:
        write_output(_render(args, table, form), args.output)
    if args.release is not None:
        _write_release(args, list(interrupted))
    return 0


_OF_RELEASE = frozenset({"records", "release", "output", "quiet", "verify", "with_data"})


def _prepare_release(args: argparse.Namespace) -> None:
    """Make the folder of a release, and write into it what the command writes."""
    check_writable(args.release, is_folder=True, option="--release")
    folder = Path(args.release)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} is not empty: a release needs a new folder",
            field="--release",
            found=str(folder),
        )
    folder.mkdir(parents=True, exist_ok=True)
    suffix = next((end for end, form in FORMAT_BY_SUFFIX.items() if form == args.format), ".txt")
    args.output = str(folder / Path(args.output or f"table{suffix}").name)


def _write_release(args: argparse.Namespace, files: list[str]) -> None:
    from classic_rc.commands.table.release import README, SUITE, write_release

    given_options = (
        given_option
        for given_option in TABLE.given(args, OPTIONS)
        if given_option.dest not in _OF_RELEASE
    )
    words = [word for given_option in given_options for word in given_option.words(args)]
    line = shlex.join(["classic-rc", "run", SUITE, "--save", "runs"]) + " && "
    line += shlex.join(["classic-rc", "table", "runs", *words, "-o", Path(args.output).name])
    notes = write_release(Path(args.release), files, line, with_data=args.with_data)
    inputs.report_notes(args, "note", notes)
    inputs.report_notes(
        args, "note", [f"{args.release}/{README} has the line that makes it again: {line}"]
    )


def _report_changes(args: argparse.Namespace, files: Iterable[str]) -> bool:
    """Print what has changed since the records were made, and return whether anything has."""
    from classic_rc.running.restored_record import restore_record

    has_changes = False
    for file in files:
        restored = restore_record(file, trust=None)
        inputs.report_notes(args, "note", restored.notes, file)
        for change in (*restored.changes, *restored.code):
            print_message(f"error: {file}: {change}")
            has_changes = True
    return has_changes


def _check_output(args: argparse.Namespace, files: list[str]) -> str | None:
    """Check the options that exclude each other and the output file; return the format of the
    figure, if any.
    """
    if args.figure is not None and args.methods:
        raise UsageError(
            "--figure and --methods exclude each other: run the command twice", field="--figure"
        )
    if args.figure is not None and args.above is not None:
        raise UsageError(
            "--above adds columns to a table: leave it out with --figure", field="--above"
        )
    if args.figure is None:
        check_writable(args.output, *files, figure_option="--figure forest -o")
        return None
    return inputs.check_figure_path(args.output, *files)


def _render(args: argparse.Namespace, table: PaperTable, form: str) -> str:
    from classic_rc.commands.table import formats
    from classic_rc.tables import render

    style = args.intervals_as
    if style == "pm" and (n := formats.uneven_intervals(table)):
        inputs.report_notes(
            args,
            "note",
            [
                f"{n} intervals have one side longer than the other by over a quarter; ± is the "
                "longer one"
            ],
        )
    if form == "latex":
        return formats.table_latex(
            table,
            args.caption,
            style,
            label=args.label or _LABEL,
            width=args.width,
            signatures=args.verbose,
        )
    if form == "csv":
        return formats.table_csv(table)
    plain_table = formats.as_table(
        table, args.caption, style, bold=form != "table", signatures=args.verbose
    )
    return render(plain_table, form, signatures=True)


def _write_methods(args: argparse.Namespace, table: PaperTable, form: str) -> None:
    """Write the paragraph and, after it or in a file of its own, its BibTeX."""
    from classic_rc.commands.table.methods import methods_text

    if form in ("csv", "html"):
        raise UsageError(
            f"--methods is text, and {form} is not: use --format latex, markdown or table",
            field="--format",
            found=form,
            expected="latex, markdown or table",
        )
    references = _check_bibtex(args.output)
    results = _render(args, table, form)
    paragraph, bibtex = methods_text(table, form, args.intervals_as, results)
    if references is None:
        write_output(f"{paragraph}\n{bibtex}", None)
        return
    write_output(paragraph, args.output)
    write_file(references, bibtex)
    inputs.report_notes(args, "note", [f"the BibTeX entries are in {references}"])


def _check_bibtex(output: str | None) -> Path | None:
    """Return the file of the BibTeX next to `output`, or None without one."""
    from classic_rc.reports.references import references

    if output is None:
        return None
    path = Path(output).with_suffix(".bib")
    if path == Path(output):
        raise UsageError(
            f"cannot write the paragraph to {output}: its BibTeX has that name. Use -o "
            f"{path.with_suffix('.tex')}",
            field="--output",
            found=output,
            expected=str(path.with_suffix(".tex")),
        )
    check_writable(str(path))
    if path.is_file():
        keys = re.findall(
            r"^\s*@\w+\s*[{(]\s*([^\s,]+)", path.read_text(encoding="utf-8", errors="replace"), re.M
        )
        others = [key for key in keys if key not in references()]
        if others:
            raise UsageError(
                f"{path} has other entries, such as {others[0]}, that the paragraph's BibTeX would "
                f"replace: use another name, such as -o {path.with_name('methods.tex')}",
                field="--output",
                found=str(path),
                expected="a name whose .bib is new",
            )
    return path
