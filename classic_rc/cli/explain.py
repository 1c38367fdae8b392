"""``classic-rc explain``: show what produced the scores of one question's candidates."""

from __future__ import annotations

import argparse
import sys

from classic_rc.cli import options
from classic_rc.cli.console import check_writable, emit, use_colour
from classic_rc.errors import unknown_name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-command's arguments."""
    options.add_data_options(parser)
    options.add_spans(parser)
    parser.add_argument("question", metavar="QUESTION_ID", help="the question's id, as in the dataset")
    parser.add_argument(
        "-s", "--solver", default="sw+d", metavar="SOLVER[:VARIANT][,key=value]…", help="default sw+d"
    )
    parser.add_argument("--train", metavar="DATA", help="what the solver learns from")
    parser.add_argument("--train-split", metavar="S", help="the split to take of it")
    parser.add_argument("--tune", metavar="DATA", help="what windows are tuned on")
    parser.add_argument("--tune-split", metavar="S", help="the split to take of it")
    options.add_search_options(parser)
    parser.add_argument("--format", choices=("text", "json", "html"), default="text", help="default text")
    parser.add_argument(
        "--color",
        "--colour",
        choices=("auto", "always", "never"),
        default="auto",
        help="whether text has colours (default: on a terminal, unless NO_COLOR is set)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of stdout")
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    import json
    from dataclasses import replace

    from classic_rc.datasets.registry import expand
    from classic_rc.evaluation.fitted_system import FittedSystem
    from classic_rc.evaluation.plan import Learning, configured, with_spans
    from classic_rc.questions import LazyCandidates
    from classic_rc.reports.explanations import explanation_html, explanation_text
    from classic_rc.solvers.specs import parse_solver

    check_writable(args.output, args.data, args.train, args.tune)
    (solver,) = options.searching(args, [parse_solver(args.solver)])
    spans = options.span_generator(args)
    datasets = [options.dataset_of(args, data) for data in expand(args.data)]
    dataset = next((dataset for dataset in datasets if args.question in dataset.by_id), None)
    if dataset is None:
        raise unknown_name(f"question of {args.data}", args.question, [q.id for d in datasets for q in d])
    dataset = with_spans(dataset, spans)
    question = dataset.by_id[args.question]
    if isinstance(question.candidates, LazyCandidates):
        question = replace(question, candidates=question.candidates.generate())
    extra = {role: data and with_spans(data, spans) for role, data in options.training_data(args).items()}
    solver = configured(solver, dataset)
    tunes = solver.tunes_parameters and extra["tune"] is not None
    explanation = FittedSystem(solver, dataset, Learning(**extra), tune=tunes).solver.explain(question)
    if args.format == "json":
        text = json.dumps(explanation.to_dict(), indent=2) + "\n"
    elif args.format == "html":
        text = explanation_html(explanation)
    else:
        to_terminal = args.output is None or args.color == "always"
        text = explanation_text(explanation, colour=to_terminal and use_colour(sys.stdout, args.color))
    emit(text, args.output)
    return 0
