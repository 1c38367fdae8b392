"""The options of all sub-commands, each declared once in one table, and the values that they take."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

# ------------------------------------------------------------------------------------------------------------------
# Values

_MOST_RESAMPLES = 10**9


def whole_number(text: str) -> int:
    """Parse a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def finite_number(text: str) -> float:
    """Parse a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is no finite number")
    return number


def resamples(text: str) -> int:
    """Parse ``--resamples``; the library checks the lower bound."""
    number = whole_number(text)
    if number > _MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"{number} is more than {_MOST_RESAMPLES:,}")
    return number


def resamples_after_data(text: str) -> int:
    """Parse ``--intervals``. Its value is optional, so argparse takes DATA that follows it for the value."""
    if not text.isdecimal() or resamples(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of resamples (name DATA before this option)")
    return resamples(text)


def jobs(text: str) -> int:
    """Parse ``--jobs``."""
    number = whole_number(text)
    if number == 0 or number < -1:
        raise argparse.ArgumentTypeError(f"{number} processes cannot work: give 1 or more, or -1 for all cores")
    return number


# ------------------------------------------------------------------------------------------------------------------
# The table


class Option(NamedTuple):
    """A command-line argument in the form that argparse takes."""

    flags: tuple[str, ...]  # ("-o", "--output"), or the one name of a positional argument
    name: str  # in OPTIONS of commands: the long flag, or a unique name if two options share the flag
    settings: dict[str, Any]  # the keyword arguments of add_argument

    @property
    def is_positional(self) -> bool:
        """Whether the argument has no flag."""
        return not self.flags[0].startswith("-")


Choice = Sequence[str | Option]
"""The options of a command: names, headings (all options under them), and options made by :func:`vary`."""


def _option(*flags: str, name: str | None = None, **settings: Any) -> Option:
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return Option(flags, name or long, settings)


_DATA = "a file or folder of a dataset, or `sample` for the questions that come with the package"
_SOLVER = "SOLVER[:VARIANT][,key=value]…"
_TAKE_SPLIT = "the split to take of it"
_FORMATS = ("table", "markdown", "latex", "csv", "json")

TABLE: dict[str, tuple[Option, ...]] = {
    "arguments": (
        _option("data", metavar="DATA", help=_DATA),
        _option("data", name="data...", nargs="+", metavar="DATA", help=_DATA),
        _option("question", metavar="QUESTION_ID", help="the question's id, as in the dataset"),
        _option("file", metavar="FILE", help="scores or decisions in one of the formats of `list formats`"),
        _option(
            "systems",
            nargs="+",
            metavar="[NAME=]SYSTEM",
            help="a record of `run --save` (its folder or file; FOLDER#SOLVER for one of its rows); or, on --data, "
            "a file of predictions or a solver",
        ),
        _option("record", metavar="RECORD", help="what `run --save` wrote: run.json or its folder"),
        _option(
            "corpus",
            nargs="+",
            metavar="CORPUS",
            help="text with a sentence or a paragraph a line, JSON lines, a folder of these, each plain or "
            "compressed (gzip, bzip2, xz); - for standard input; or a dataset, each of whose passages is taken "
            "once; with --check, an index",
        ),
        _option(
            "what",
            metavar="WHAT",
            help="analyzers, formats, keys, metrics, readers, solvers, stop-lists or variants",
        ),
        _option(
            "names",
            nargs="*",
            metavar="SOLVER[:VARIANT]|DATASET|METRIC",
            help="what to cite (`list solvers`, `list readers`, `list metrics`); without any, everything",
        ),
    ),
    "reading": (
        _option("--reader", metavar="R", help="the format, instead of finding it (`list readers`)"),
        _option("--split", metavar="S", help="the split to take of data that holds several"),
        _option("--subset", metavar="X", help="the subset to take: mc160, middle, …"),
        _option(
            "--answers", metavar="FILE", help="the answers, if they are in another folder than the data (MCTest)"
        ),
        _option("--fields", metavar="F", help="where your own file has things: passage=context,question=q.text,…"),
        _option(
            "--gold-as",
            choices=("index0", "index1", "letter", "text", "flags"),
            help="how your own file codes the right answer",
        ),
    ),
    "other inputs": (
        _option("--data", metavar="DATA", help="the questions that predictions and solvers answer"),
        _option(
            "--data",
            name="--data of records",
            action="append",
            default=[],
            metavar="DIR",
            help="a folder to look in, at any depth, for files that are not in their place; their sha256 tells "
            "them",
        ),
        _option(
            "--with",
            dest="files",
            action="append",
            default=[],
            metavar="NAME=FILE",
            help="a file that a system reads: rte (MCTest's released RTE scores), annotations (CoreNLP's), "
            "categories (a folder); again for several",
        ),
    ),
    "solvers": (
        _option(
            "-s",
            "--solver",
            action="append",
            default=[],
            metavar=_SOLVER,
            help="a solver (`list solvers`), or path/to/file.py:Class for your own; once for each solver; without "
            "it the default set for the task",
        ),
        _option(
            "-s",
            "--solver",
            name="--solver alone",
            metavar=_SOLVER,
            help="a solver (`list solvers`), or path/to/file.py:Class for your own",
        ),
        _option(
            "-s",
            "--system",
            action="append",
            default=[],
            metavar="[NAME=]SYSTEM",
            help="a solver, a file of predictions, or a record of `run --save` (FOLDER#SOLVER for one of its "
            "rows); once for each; without one, questions are counted",
        ),
        _option(
            "--predictions",
            action="extend",
            nargs="+",
            default=[],
            metavar="[NAME=]FILE",
            help="predictions in a format of `list formats`: scores give a curve; decisions give a point, even if "
            "the file has scores too; NAME is by default the file's",
        ),
        _option(
            "--spans", metavar="k=N", help="spans of up to N tokens as candidates of span questions (default 10)"
        ),
        _option(
            "--trust",
            action="store_true",
            help="run solvers that are code of one's own (path/to/file.py:Class), too",
        ),
        _option("--jobs", type=jobs, default=1, metavar="N", help="processes to score with; -1 for all cores"),
    ),
    "training and tuning": (
        _option("--train", metavar="DATA", help="what solvers learn from"),
        _option("--train-split", metavar="S", help=_TAKE_SPLIT),
        _option("--tune", metavar="DATA", help="what thresholds and windows are tuned on"),
        _option("--tune-split", metavar="S", help=_TAKE_SPLIT),
        _option(
            "--cv",
            type=whole_number,
            metavar="N",
            help="learn out of fold, in N folds of whole passages, without --train",
        ),
        _option("--group", metavar="META", help="what else stays in one fold: article, author, … as the data says"),
        _option(
            "--drop-overlap",
            action="store_true",
            help="leave out of --train and --tune the passages and questions that DATA holds too",
        ),
    ),
    "searching": (
        _option(
            "--corpus",
            action="append",
            default=[],
            metavar="DIR",
            help="an index (`classic-rc index`) for `ir`: it replaces the question's own passage, or adds to all "
            "paragraphs; repeat for several",
        ),
        _option(
            "--exclude-verbatim",
            action="store_true",
            help="leave out of what `ir` searches the sentences that hold DATA's questions word for word",
        ),
    ),
    "decisions": (
        _option(
            "--threshold",
            type=finite_number,
            metavar="T",
            help="select candidates that score above T, instead of tuning",
        ),
        _option(
            "--relative-threshold",
            type=finite_number,
            metavar="MARGIN",
            help="answer with all spans within MARGIN of the best score, not with the best one alone (Quoref)",
        ),
        _option(
            "--tune-metric",
            metavar="M",
            help="what thresholds are tuned for: f1_a (default), f1_m, em0, em1, superglue_f1_m, accuracy",
        ),
        _option(
            "--tune-cuts",
            choices=("exact", "multirc2018"),
            help="which thresholds are tried: all that make a difference (default), or the release's grid of 0.02",
        ),
        _option(
            "--ties",
            choices=("partial", "first", "random", "strict"),
            help="what becomes of candidates that share the best score (default: the solver's own, partial)",
        ),
        _option("--seed", type=whole_number, metavar="N", help="the seed of everything drawn (default 0)"),
    ),
    "breaking down": (
        _option(
            "--by",
            action="append",
            default=[],
            metavar="KEY",
            help="a name in a file of labels, something the data says (type, level), or one of `list keys`; once "
            "for each. KEY:alone tells apart what has one label alone and with others, KEY:count goes by how many "
            "there are. Without it, all that the files of labels say",
        ),
        _option(
            "--group-by",
            metavar="KEY",
            help="break the metrics down by something the data says, or one of `list keys`; `breakdown` does more",
        ),
        _option(
            "--labels",
            action="append",
            default=[],
            metavar="FILE",
            help="question ids with labels: CSV, TSV, JSON, the released skills of MCTest or types of RACE, or a "
            "folder of categories; once for each",
        ),
        _option(
            "--other-questions", action="store_true", help="pass over labels of questions that are not in DATA"
        ),
        _option(
            "--cross",
            action="append",
            default=[],
            metavar="KEY[,KEY]",
            help="also count how often groups of two keys, or two labels of one, occur together; once for each",
        ),
    ),
    "measuring": (
        _option("--metric", metavar="M", help="what is measured (default: the task's main metric)"),
        _option(
            "--average",
            choices=("macro", "micro"),
            default="macro",
            help="the mean precision and recall of the questions (default), or those of all options together",
        ),
        _option(
            "--analyzer",
            default="word",
            metavar="A",
            help="what a token is in the common table (`list analyzers`; default word); papers' tables have their "
            "own",
        ),
        _option("--published", action="store_true", help="also show the published figures of the same data"),
        _option(
            "--baseline",
            metavar="ROW",
            help="mark rows that differ from this one (permutation test, Holm's p < 0.05)",
        ),
        _option(
            "--intervals",
            nargs="?",
            type=resamples_after_data,
            const=10_000,
            metavar="N",
            help="95 %% intervals of the metrics, from N resamples of whole passages (default 10000); after DATA",
        ),
        _option(
            "--resamples",
            type=resamples,
            default=10_000,
            metavar="N",
            help="how many resamples of whole passages intervals are made from (default 10000)",
        ),
        _option(
            "--test",
            choices=("permutation", "bootstrap", "mcnemar"),
            default="permutation",
            help="where p-values come from: swapping whole passages (default), resampling them, or McNemar's test, "
            "which assumes independent questions",
        ),
        _option(
            "--check", action="store_true", help="exit with 1 where a figure that is known to come out does not"
        ),
    ),
    "leaks": (
        _option(
            "--permutations",
            type=int,
            default=10_000,
            metavar="N",
            help="of gold, to know chance by (default 10000)",
        ),
        _option("--fail", action="store_true", help="exit with 1 where a partial input leaks"),
        _option(
            "--level",
            type=float,
            default=5.0,
            metavar="POINTS",
            help="it leaks where the lower bound of its gain's 95 %% interval is above so many points (default 5)",
        ),
    ),
    "filtering": (
        _option(
            "--report",
            action="append",
            default=[],
            metavar="SOLVER",
            help="a solver that is scored before and after, and is no member; once for each",
        ),
        _option(
            "--max-solved",
            type=int,
            default=0,
            metavar="K",
            help="keep what at most K members solve (default 0)",
        ),
        _option(
            "--solved-above",
            type=float,
            metavar="CREDIT",
            help="a question is solved above this credit for the answers that tie, 1/k for k of them (default 0.5)",
        ),
    ),
    "contents": (
        _option(
            "--explain",
            action="append",
            metavar="SOLVER",
            help="explain the answers of this one of the solvers; once for each; `none` for none "
            "(default: those of -s; without -s, sw+d)",
        ),
        _option("--no-check", action="store_true", help="leave out whether the data leaks"),
        _option("--title", metavar="TEXT", help="what to call the page (default: the dataset's name)"),
        _option("--date", metavar="TEXT", help="a date to show (default: none, for equal files from equal data)"),
    ),
    "indexing": (
        _option(
            "--lines",
            choices=("auto", "sentences", "paragraphs"),
            default="auto",
            help="what a line of text or the text of a JSON line is; auto (the default) takes them for paragraphs "
            "if more than a quarter of the first 1,000 have several sentences, and says so",
        ),
        _option("--field", metavar="F", default="text", help="where JSON lines have the text (default text)"),
        _option("--id-field", metavar="F", default="id", help="where they have an id, if any (default id)"),
        _option(
            "--analyzer",
            name="--analyzer of an index",
            default="lucene-english",
            metavar="A",
            help="how text becomes index terms (`list analyzers`; default lucene-english)",
        ),
        _option(
            "--segment-sentences",
            type=int,
            metavar="N",
            help="sentences a segment, which is what is held in memory and kept after an interruption (default and "
            "most 500,000)",
        ),
        _option("--append", action="store_true", help="add to the index in DIR"),
        _option(
            "--check",
            name="--check of an index",
            action="store_true",
            help="read all of an index and compare it with its checksums",
        ),
    ),
    "output": (
        _option("--format", choices=_FORMATS, default="table", help="what results look like (default table)"),
        _option("-o", "--output", metavar="FILE", help="write results to a file instead of stdout"),
        _option("--as", dest="form", metavar="FORMAT", help="the file's format, instead of finding it"),
        _option("--decide", action="store_true", help="write decisions where the format could hold scores as well"),
        _option("--plot", metavar="FILE", help="also draw a figure (.pdf, .png, .svg); needs matplotlib"),
        _option("--save", metavar="DIR", help="also write DIR/run.json: parameters, versions, every outcome"),
        _option(
            "--color",
            "--colour",
            choices=("auto", "always", "never"),
            default="auto",
            help="whether text has colours (default: on a terminal, unless NO_COLOR is set)",
        ),
        _option("--quiet", action="store_true", help="no progress and no notes on stderr"),
    ),
}
"""Every option of the command line, by its heading in ``--help``."""


_BY_NAME = {option.name: (heading, option) for heading, options in TABLE.items() for option in options}


def vary(name: str, **settings: Any) -> Option:
    """Return an option of the table with some settings replaced."""
    option = _BY_NAME[name][1]
    return option._replace(settings={**option.settings, **settings})


def chosen(choice: Choice) -> Iterator[tuple[str, Option]]:
    """Yield the options that a command chooses, each with its heading."""
    for one in choice:
        if isinstance(one, Option):
            yield _BY_NAME[one.name][0], one
        elif one in TABLE:
            yield from ((one, option) for option in TABLE[one])
        else:
            yield _BY_NAME[one]


def add_options(parser: argparse.ArgumentParser, choice: Choice) -> None:
    """Add the options that a sub-command chooses to its parser."""
    headings: dict[str, argparse._ArgumentGroup] = {}
    for heading, option in chosen(choice):
        if option.is_positional:
            parser.add_argument(*option.flags, **option.settings)
            continue
        if heading not in headings:
            headings[heading] = parser.add_argument_group(heading)
        headings[heading].add_argument(*option.flags, **option.settings)
