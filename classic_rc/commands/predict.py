"""``classic-rc predict``: write a solver's answers, or its scores, to a file in an official
submission format.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, cast

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import DataError, UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol, Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from classic_rc.formats.base import Content, Format
    from classic_rc.io.progress import Progress
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Dataset, Question
    from classic_rc.systems import System

OPTIONS: Choice = (
    "data",
    "reading",
    vary_option(
        "--solver alone",
        required=True,
        metavar="SYSTEM",
        help="SOLVER[:VARIANT][,key=value]…: a solver (see `classic-rc list solvers`), "
        "path/to/file.py:Class for your own, or a file of predictions, to write in another format",
    ),
    "training and tuning",
    "--analyzer of systems",
    "decisions",
    "--jobs",
    *under(
        "output",
        option(
            "--scores",
            action="store_true",
            help="write the score of each candidate instead of the answers, in the official format "
            "if it holds scores, else in jsonl",
        ),
    ),
    "--quiet",
    vary_option("--output", help="write the predictions to a file instead of stdout"),
    vary_option(
        "--format",
        choices=None,
        default=None,
        metavar="FORMAT",
        help="the output format (see `classic-rc list formats`; default: what the dataset's "
        "official scorer reads)",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.formats.registry import get_format
    from classic_rc.running.evaluate import predict_blocks
    from classic_rc.running.plan import add_span_candidates

    check_writable(args.output, args.data, *args.train, args.tune)
    (system,) = inputs.parse_systems([args.solver])
    asked_format = get_format(args.format) if args.format else None
    dataset = inputs.load_dataset(args, args.data)
    protocol = inputs.protocol_for(inputs.read_protocol(args), args.data)
    dataset = add_span_candidates(dataset, protocol.spans)
    if dataset.task is None:
        raise DataError("the dataset has no questions", source=dataset.name)
    form = _choose_format(args, dataset, asked_format)
    system = _with_scores(args, dataset, system, protocol)
    _check_settings(args, dataset, system, protocol)
    n_sampled = n_tied = 0

    def blocks(
        advance: Progress,
    ) -> Iterator[tuple[Sequence[Question], Scores | None, Sequence[Prediction] | None]]:
        nonlocal n_sampled, n_tied
        for block in predict_blocks(
            dataset, system, protocol, decide=not args.scores, jobs=args.jobs
        ):
            inputs.report_notes(args, "warning", block.warnings)
            for prediction in block.predictions or ():
                n_sampled += len(prediction.answers) > 1 and prediction.n_tied < 2
            n_tied += block.n_tied
            yield block.questions, block.scores if args.scores else None, block.predictions
            advance(len(block.questions))

    with progress_bar(
        f"scoring {dataset.name}", len(dataset), inputs.shows_progress(args)
    ) as advance:
        pieces: Iterable[str] = form.write_blocks(blocks(advance))
        if is_shown := args.output is None and sys.stdout.isatty():
            pieces = list(pieces)  # the bar is on the same terminal
        else:
            write_output(pieces, args.output)
    if is_shown:
        write_output(pieces, None)
    if n_sampled and not args.quiet:
        print_message(
            f"note: several answers to {n_sampled:,} questions: the first of each is written"
        )
    if n_tied and not args.quiet:
        print_message(
            f"note: ties for the best score in {n_tied} questions: one tied candidate is written"
        )
    return 0


def _choose_format(
    args: argparse.Namespace, dataset: Dataset, asked_format: Format | None
) -> Format:
    """Return the format to write, the named one or the default."""
    from classic_rc.formats.registry import default_format

    assert dataset.task is not None
    content: Content = "scores" if args.scores else "decisions"
    form = asked_format or default_format(dataset, content)
    if content not in form.holds:
        advice = (
            "scores: use --format jsonl"
            if args.scores
            else "answers: add --scores, or leave out --format"
        )
        raise UsageError(
            f"the format {form.name} holds {' and '.join(sorted(form.holds))}, not {advice}",
            field="--format",
            found=form.name,
            expected=f"a format that holds {content}",
        )
    if args.scores and dataset.span_generator is not None:
        raise UsageError(
            "--scores needs candidates in the data, and the scores of generated spans are not "
            "kept: leave it out to write the answers",
            field="--scores",
            found=f"{dataset.task} questions",
            expected="questions with options or mentions",
        )
    return form


def _with_scores(
    args: argparse.Namespace, dataset: Dataset, system: System, protocol: Protocol
) -> System:
    """Return the system; a file whose scores are to be written or decided on becomes a solver."""
    from dataclasses import replace

    from classic_rc.formats.registry import has_scores
    from classic_rc.solvers.score_file import ScoreFile

    assert dataset.task is not None
    decides = any(value is not None for value in _decision_settings(protocol).values())
    if system.path is None or not (args.scores or decides):
        return system
    if has_scores(system.path, dataset.task, system.format):
        return replace(system, solver=ScoreFile(path=system.path, format=system.format), path=None)
    if args.scores:
        raise UsageError(
            f"{system.path} has answers, not scores: leave out --scores",
            field="--scores",
            found="answers",
            expected="a solver or a file of scores",
        )
    return system


def _decision_settings(protocol: Protocol) -> dict[str, Any]:
    """Return the settings of answers by name: random draws are among them."""
    return {**protocol.affecting(Step.DECIDE), "seed": protocol.seed}


def _check_settings(
    args: argparse.Namespace, dataset: Dataset, system: System, protocol: Protocol
) -> None:
    """Check that every decision option has an effect on what is written."""
    from classic_rc.decisions import Decision, GivenAnswers, TunedThreshold
    from classic_rc.running.plan import configure_solver, unused_settings

    tunes, rule, configured = False, cast("Decision", GivenAnswers()), None
    if system.solver is not None:
        configured = configure_solver(system.solver, dataset, protocol)
        assert configured.decision is not None
        tunes, rule = configured.tunes_parameters, configured.decision
    unused = dict(unused_settings(protocol, [rule], [] if configured is None else [configured]))
    if args.scores:
        used = {"seed"}
        if tunes and isinstance(rule, TunedThreshold):
            used.add("tune_metric")  # parameters are tuned for it too
        for name, value in _decision_settings(protocol).items():
            if value is not None and name not in used:
                unused[name] = f"{_flag(name)} is an option of answers, and --scores writes none"
    for name, sentence in unused.items():
        actual = str(getattr(protocol, name))
        expected = (
            f"options that apply to {system.name or system.default_name} on {dataset.task} "
            "questions"
        )
        raise UsageError(
            f"{sentence}: leave out {_flag(name)}",
            field=_flag(name),
            found=actual,
            expected=expected,
        )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
