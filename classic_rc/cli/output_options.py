"""The options about what commands write: files, pages, datasheets and tables of papers."""

from __future__ import annotations

from classic_rc.cli.option import Option, interval_style, option, parse_integer

FORMATS = ("table", "markdown", "latex", "csv", "html", "json")

OUTPUT_OPTIONS: dict[str, tuple[Option, ...]] = {
    "contents": (
        option(
            "--explain",
            action="append",
            metavar="SOLVER",
            help="a solver of the report whose answers to explain; repeat for several; `none` for no explanations "
            "(default: the -s solvers; without -s, sw+d)",
        ),
        option("--no-check", action="store_true", help="leave out the section about leaks"),
        option("--title", metavar="TEXT", help="the title of the page (default: the dataset's name)"),
        option(
            "--date",
            metavar="TEXT",
            help="a date to show (default: none, so that the same data gives the same file)",
        ),
    ),
    "datasheet": (
        option(
            "--datasheet",
            action="store_true",
            help="write one page for the appendix of the dataset's paper instead: sizes, lengths, floors, "
            "findings, duplicates, agreement (--annotators); the name of FILE decides between Markdown, LaTeX, "
            "HTML, JSON and CSV",
        ),
        option(
            "--no-floors",
            action="store_true",
            help="leave out of the datasheet what simple systems reach; with --no-check it only counts",
        ),
        option(
            "--fact",
            dest="facts",
            action="append",
            default=[],
            metavar="NAME=TEXT",
            help="a fact to show on the datasheet: Licence='CC BY 4.0', Language=English; repeat for several",
        ),
    ),
    "paper": (
        option(
            "--rows",
            metavar="NAME[,NAME]",
            help="the systems to show, in this order within their blocks; no mark changes (default: all)",
        ),
        option(
            "--columns",
            metavar="NAME[,NAME]",
            help="datasets in the order to show; DATASET:METRIC or DATASET:GROUP is one column (default: all)",
        ),
        option(
            "--rename",
            action="append",
            default=[],
            metavar="OLD=NEW",
            help="another name for a system, a dataset, a group or a metric; repeat for several",
        ),
        option(
            "--intervals-as",
            type=interval_style,
            default="lines",
            metavar="STYLE",
            help="show intervals as a second line (lines, the default; in brackets where a cell has one line), as "
            "plus-minus the larger side (pm), or not (none)",
        ),
        option(
            "--decimals",
            type=parse_integer,
            choices=range(4),
            default=1,
            metavar="N",
            help="digits after the decimal point, 0 to 3 (default 1)",
        ),
        option(
            "--caption",
            metavar="TEXT",
            help="the beginning of the caption, before the notes on intervals and marks (default: metric and "
            "datasets)",
        ),
        option("--label", default="tab:results", metavar="KEY", help="the \\label in LaTeX (default tab:results)"),
        option(
            "--width",
            choices=("column", "text"),
            help="what the LaTeX table fits: a column (table) or the text (table*); default: a column if it can",
        ),
        option(
            "--methods",
            action="store_true",
            help="write the paragraph on data, systems, tuning and tests, and its BibTeX, instead of the table",
        ),
        option(
            "--verify",
            action="store_true",
            help="first compare the data, files and code that the records name with those that are here",
        ),
    ),
    "output": (
        option("--format", choices=FORMATS, default="table", help="the output format (default table)"),
        option(
            "--bibtex",
            nargs="*",
            metavar="NAME",
            help="print the BibTeX of solvers (SOLVER[:VARIANT]), datasets and metrics instead of a list; without "
            "names: of the package and all",
        ),
        option(
            "--signatures",
            action="store_true",
            help="show what reproduces each system below a table of plain text, which the other formats always do",
        ),
        option("-o", "--output", metavar="FILE", help="write the results to a file instead of stdout"),
        option("--as", dest="form", metavar="FORMAT", help="the format to write"),
        option(
            "--scores",
            action="store_true",
            help="write the score of each candidate instead of the answers, in the official format if it holds "
            "scores, else in jsonl",
        ),
        option(
            "--figure",
            choices=("forest",),
            help="draw all systems with their intervals to -o FILE (.pdf, .png, .svg) instead of the table; for "
            "precision against recall see `classic-rc run --figure pr`",
        ),
        option("--plot", metavar="FILE", help="also draw a figure (.pdf, .png, .svg); needs matplotlib"),
        option(
            "--write-suite",
            metavar="FILE.toml",
            help="run nothing, but write the datasets, systems and options of this command as a suite file",
        ),
        option("--save", metavar="DIR", help="also write DIR/run.json: parameters, versions, and every outcome"),
        option(
            "--color",
            "--colour",
            choices=("auto", "always", "never"),
            default="auto",
            help="whether to use colours; auto (default): on a terminal, unless NO_COLOR is set",
        ),
        option(
            "--digits",
            type=parse_integer,
            choices=range(1, 13),
            default=5,
            metavar="N",
            help="digits of scores after the decimal point, 1 to 12 (default 5); the numbers behind a score have "
            "as many as they need to add up to it",
        ),
        option("--all", action="store_true", help="show all numbers of long sums, not only the ten largest"),
        option("--quiet", action="store_true", help="print no progress, notes or warnings on stderr"),
    ),
}
"""The options, by their heading in ``--help``."""
