"""``classic-rc explain``: show how solvers score each candidate of one question."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, use_colour, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import unknown_name
from classic_rc.io.json import render_json
from classic_rc.protocol import integer_kind

if TYPE_CHECKING:
    from classic_rc.questions import Dataset
    from classic_rc.solvers.explanation import Explanation
    from classic_rc.systems import System

DEFAULT_EXPLAINED = "sw+d"

OPTIONS: Choice = (
    "data",
    option("question", metavar="QUESTION_ID", help="the id of the question in DATA"),
    "reading",
    "--pool",
    "training and tuning",
    "--analyzer of systems",
    "decisions",
    *under(
        "output",
        option(
            "--digits",
            type=parser_of(integer_kind(1, 13)),
            default=5,
            metavar="N",
            help="digits of scores after the decimal point, 1 to 12 (default 5); the numbers "
            "behind a score have as many as they need to add up to it",
        ),
    ),
    vary_option("--verbose", help="show all numbers of long sums, not only the ten largest"),
    *under(
        "output",
        option(
            "--color",
            choices=("auto", "always", "never"),
            default="auto",
            help="whether to use colours; auto (default): on a terminal, unless NO_COLOR is set",
        ),
    ),
    "--quiet",
    vary_option(
        "--solver",
        help="a solver to explain (see `classic-rc list solvers`), or NAME=FILE, a file of answers "
        "or scores, to show with it; repeat for several; default sw+d. If it learns or is tuned "
        "out of fold (--cv), the solver that has not seen the question is explained",
    ),
    vary_option(
        "--format",
        choices=("text", "json", "html"),
        default="text",
        help="the output format (default text); JSON has all digits",
    ),
    vary_option("--output", help="write the explanation to a file instead of stdout"),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    check_writable(args.output, args.data, *args.train, args.tune)
    systems = inputs.parse_systems(args.solver or [DEFAULT_EXPLAINED])
    dataset, failures = _find_dataset(args), Failures()
    if explanations := list(_explain(args, dataset, systems, failures)):
        write_output(_render(args, explanations), args.output)
    return failures.exit_code


def _find_dataset(args: argparse.Namespace) -> Dataset:
    """Return the dataset with the question, of those that DATA is."""
    ids = []
    for data in inputs.expand_datasets(args, [args.data]):
        dataset = inputs.load_dataset(args, data)
        if args.question in dataset.by_id:
            return dataset
        ids += [question.id for question in dataset]
    raise unknown_name(f"question of {args.data}", args.question, ids)


def _explain(
    args: argparse.Namespace, dataset: Dataset, systems: list[System], failures: Failures
) -> Iterator[Explanation]:
    """Yield each system's explanation of the question; one that fails has none."""
    from classic_rc.running.explain import Explainer
    from classic_rc.running.plan import add_span_candidates
    from classic_rc.systems import name_systems

    protocol = inputs.protocol_for(inputs.read_protocol(args), args.data)
    dataset = add_span_candidates(dataset, protocol.spans)
    place = next(i for i, question in enumerate(dataset) if question.id == args.question)
    for system, named_system in zip(systems, name_systems(systems), strict=True):
        with failures.caught(str(named_system.name) if len(systems) > 1 else ""):
            explainer = Explainer(system, dataset, protocol)
            inputs.report_notes(args, "note", explainer.file_notes)
            inputs.report_notes(args, "warning", explainer.notes)
            explanation = explainer.explain(place)
            is_named = system.name is not None or system.path is not None or len(systems) > 1
            yield replace(explanation, solver=str(named_system.name)) if is_named else explanation


def _render(args: argparse.Namespace, explanations: list[Explanation]) -> str:
    from classic_rc.commands.explain.page import explanation_html
    from classic_rc.reports.explanations import explanation_text
    from classic_rc.reports.verdict import verdict_of

    if args.format == "json":
        plain = [{**e.to_dict(), "verdict": verdict_of(e).to_dict()} for e in explanations]
        content = {"explanations": plain} if len(plain) > 1 else plain[0]
        return render_json(content, infinite=True)
    if args.format == "html":
        return explanation_html(*explanations, digits=args.digits, every=args.verbose)
    to_terminal = args.output is None or args.color == "always"
    colour = to_terminal and use_colour(sys.stdout, args.color)
    # A pipe or a file has no width, unless the variable COLUMNS says so.
    width = 0 if args.output else shutil.get_terminal_size((80, 24)).columns
    return explanation_text(
        *explanations, colour=colour, digits=args.digits, every=args.verbose, width=width
    )
