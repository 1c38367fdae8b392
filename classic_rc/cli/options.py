"""Options that several sub-commands share, and what they mean."""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli.console import check_writable, message
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.questions import Dataset
    from classic_rc.solvers.base import Solver
    from classic_rc.text.spans import SpanGenerator


_DATA_HELP = "a file or folder of a dataset, or `sample` for the questions that come with the package"

ANY_SOLVER = "a solver (`list solvers`), or path/to/file.py:Class for your own"
ANY_OR_USUAL_SOLVERS = f"{ANY_SOLVER}; once for each solver; without it the default set for the task"

_MOST_RESAMPLES = 10**9


def add_data_options(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """DATA and how to read it."""
    parser.add_argument("data", metavar="DATA", nargs="+" if several else None, help=_DATA_HELP)
    add_reading_options(parser)


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """How to read DATA."""
    group = parser.add_argument_group("reading")
    group.add_argument("--reader", metavar="R", help="the format, instead of finding it (`list readers`)")
    group.add_argument("--split", metavar="S", help="the split to take of data that holds several")
    group.add_argument("--subset", metavar="X", help="the subset to take: mc160, middle, …")
    group.add_argument("--answers", metavar="FILE", help="the answers, where they are not beside the data (MCTest)")
    group.add_argument(
        "--fields", metavar="F", help="where your own file has things: passage=context,question=q.text,…"
    )
    group.add_argument(
        "--gold-as",
        choices=("index0", "index1", "letter", "text", "flags"),
        help="how your own file codes the right answer",
    )


def add_spans(parser: argparse.ArgumentParser) -> None:
    """Which spans are candidates."""
    parser.add_argument(
        "--spans", metavar="k=N", help="spans of up to N tokens as candidates of span questions (default 10)"
    )


def add_solvers(
    parser: argparse._ActionsContainer, what: str, *, several: bool = True, required: bool = False
) -> None:
    """Which solver, or solvers; `what` is told of them."""
    parser.add_argument(
        "-s",
        "--solver",
        metavar="SOLVER[:VARIANT][,key=value]…",
        help=what,
        required=required,
        **({"action": "append", "default": None if required else []} if several else {}),
    )


def add_training_options(parser: argparse.ArgumentParser) -> None:
    """What to learn and tune from."""
    group = parser.add_argument_group("training and tuning")
    group.add_argument("--train", metavar="DATA", help="what solvers learn from")
    group.add_argument("--train-split", metavar="S", help="the split to take of it")
    group.add_argument("--tune", metavar="DATA", help="what thresholds and windows are tuned on")
    group.add_argument("--tune-split", metavar="S", help="the split to take of it")
    group.add_argument(
        "--cv", type=_whole, metavar="N", help="learn out of fold, in N folds of whole passages, without --train"
    )
    group.add_argument(
        "--group", metavar="META", help="what else stays in one fold: article, author, … as the data says"
    )
    group.add_argument(
        "--drop-overlap",
        action="store_true",
        help="leave out of --train and --tune the passages and questions that DATA holds too",
    )


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """What else is searched."""
    group = parser.add_argument_group("searching")
    group.add_argument(
        "--corpus",
        action="append",
        default=[],
        metavar="DIR",
        help="an index (`classic-rc index`) for `ir`: in place of the own passage, or besides all paragraphs; "
        "once for each",
    )
    group.add_argument(
        "--exclude-verbatim",
        action="store_true",
        help="leave out of what `ir` searches the sentences that hold DATA's questions word for word",
    )


def searching(args: argparse.Namespace, solvers: Sequence[Solver]) -> list[Solver]:
    """The solvers, those that search set to search as the options say.

    Raises
    ------
    UsageError
        Something is to be searched, and no solver does.
    """
    if not args.corpus and not args.exclude_verbatim:
        return list(solvers)
    from classic_rc.solvers.ir import IRSolver

    if not any(isinstance(solver, IRSolver) for solver in solvers):
        raise UsageError("--corpus and --exclude-verbatim are for solvers that search: add -s ir")
    wanted = {"paths": args.corpus, "exclude_verbatim": args.exclude_verbatim}
    return [solver.searching(**wanted) if isinstance(solver, IRSolver) else solver for solver in solvers]


def add_decision_options(parser: argparse.ArgumentParser) -> None:
    """How scores become answers."""
    group = parser.add_argument_group("decisions")
    group.add_argument(
        "--threshold", type=_finite, metavar="T", help="select candidates that score above T, instead of tuning"
    )
    group.add_argument(
        "--relative-threshold",
        type=_finite,
        metavar="MARGIN",
        help="answer with all spans within MARGIN of the best score, not with the best one alone (Quoref)",
    )
    group.add_argument(
        "--tune-metric",
        metavar="M",
        help="what thresholds are tuned for: f1_a (default), f1_m, em0, em1, superglue_f1_m, accuracy",
    )
    group.add_argument(
        "--tune-cuts",
        choices=("exact", "multirc2018"),
        help="which thresholds are tried: all that make a difference (default), or the release's grid of 0.02",
    )
    group.add_argument(
        "--ties",
        choices=("partial", "first", "random", "strict"),
        help="what becomes of candidates that share the best score (default: the solver's own, partial)",
    )
    group.add_argument("--seed", type=_whole, metavar="N", help="the seed of everything drawn (default 0)")


def add_output_options(
    parser: argparse.ArgumentParser, forms: Sequence[str] = ("table", "markdown", "latex", "csv", "json")
) -> None:
    """Where results go, and how they look."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=forms, default="table", help="what results look like (default table)")
    group.add_argument("-o", "--output", metavar="FILE", help="write results to a file instead of stdout")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes on stderr")


def add_intervals(parser: argparse.ArgumentParser) -> None:
    """How sure the numbers are."""
    parser.add_argument(
        "--intervals",
        nargs="?",
        type=_resamples,
        const=10_000,
        metavar="N",
        help="95 %% intervals of the metrics, from N resamples of whole passages (default 10000); after DATA",
    )


def add_resamples(parser: argparse._ActionsContainer, what: str) -> None:
    """How many resamples; `what` is told of them."""
    parser.add_argument("--resamples", type=_count, default=10_000, metavar="N", help=f"{what} (default 10000)")


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """How many processes."""
    parser.add_argument(
        "--jobs", type=_jobs, default=1, metavar="N", help="processes to score with; -1 for all cores"
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _resamples(text: str) -> int:
    if not text.isdecimal() or _count(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of resamples (name DATA before this option)")
    return _count(text)


def _count(text: str) -> int:
    number = _whole(text)
    if number > _MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"{number} is more than {_MOST_RESAMPLES:,}")
    return number


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is no finite number")
    return number


def _jobs(text: str) -> int:
    jobs = _whole(text)
    if jobs == 0 or jobs < -1:
        raise argparse.ArgumentTypeError(f"{jobs} processes cannot work: give 1 or more, or -1 for all cores")
    return jobs


def dataset_of(args: argparse.Namespace, data: str, *, split: str | None = None) -> Dataset:
    """Read DATA as the options say, its notes on stderr."""
    from classic_rc.datasets.registry import load

    with progress_bar(f"reading {data}", None, shows_progress(args)):
        dataset = load(
            data,
            reader=args.reader,
            split=args.split if split is None else split or None,
            subset=args.subset,
            answers=args.answers,
            fields=args.fields,
            gold_as=args.gold_as,
        )
    if not args.quiet:
        for note in dataset.notes:
            message(f"note: {dataset.name}: {note}")
    return dataset


def training_data(args: argparse.Namespace) -> dict[str, Any]:
    """The datasets of ``--train`` and ``--tune``, as keyword arguments."""
    return {
        role: None if data is None else dataset_of(args, data, split=split or "")
        for role, data, split in (
            ("train", args.train, args.train_split),
            ("tune", args.tune, args.tune_split),
        )
    }


def learning_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of learning, as the keyword arguments of :func:`classic_rc.evaluate`."""
    return {**training_data(args), "cv": args.cv, "group": args.group, "drop_overlap": args.drop_overlap}


def decision_options(args: argparse.Namespace) -> dict[str, Any]:
    """The decision options, as the keyword arguments of :func:`classic_rc.evaluate`."""
    return {
        "ties": args.ties,
        "threshold": args.threshold,
        "tune_metric": args.tune_metric,
        "tune_cuts": args.tune_cuts,
        "relative_threshold": args.relative_threshold,
        "seed": args.seed,
    }


def span_generator(args: argparse.Namespace) -> SpanGenerator | None:
    """The generator that ``--spans`` describes."""
    if args.spans is None:
        return None
    from classic_rc.text.spans import SpanGenerator

    text = args.spans.removeprefix("k=")
    try:
        most = int(text) if text.isdecimal() else 0
    except ValueError:  # more digits than Python reads
        most = 0
    if most < 1:
        raise UsageError(f"--spans takes k=N with N the most tokens a span may have, got {args.spans!r}")
    return SpanGenerator(max_tokens=most)


def figure_form(path: str, *inputs: str | None) -> str:
    """The format of the figure that ``--plot`` names, by its suffix; whether it can be drawn is checked too.

    Raises
    ------
    UsageError
        No format has the suffix, or the file cannot be written.
    MissingPackageError
        Matplotlib is not installed.
    """
    from classic_rc.reports.figures import FIGURE_FORMATS, require_matplotlib

    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FIGURE_FORMATS:
        known = ", ".join(f".{known}" for known in FIGURE_FORMATS)
        raise UsageError(f"--plot {path} does not say what to write: give a file whose name ends in one of {known}")
    check_writable(path, *inputs)
    require_matplotlib()
    return form


def shows_progress(args: argparse.Namespace) -> bool:
    """Whether a progress bar may be drawn: on a terminal, unless told to be quiet."""
    return not args.quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
