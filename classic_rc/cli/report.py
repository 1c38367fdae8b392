"""``classic-rc report``: write one HTML page about a dataset: results, leaks, statistics and every question."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_output
from classic_rc.cli.datasheet import check_contents, count_contents, is_figure_name, parse_fact, write_datasheet
from classic_rc.cli.explain import DEFAULT_EXPLAINED
from classic_rc.cli.options import DATA, vary_option
from classic_rc.cli.perturb import evaluate_copies
from classic_rc.cli.results import report_missing
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol

if TYPE_CHECKING:
    from classic_rc.evaluation.curves import PrecisionRecallCurve
    from classic_rc.evaluation.explain import Explainer
    from classic_rc.evaluation.grouping import Grouping
    from classic_rc.evaluation.results import Evaluation
    from classic_rc.evaluation.systems import System
    from classic_rc.questions import Dataset
    from classic_rc.solvers.explanation import Explanation


OPTIONS = (
    vary_option("data...", help=DATA),
    "reading",
    "--pool",
    "--solver",
    "training and tuning",
    "decisions",
    "contents",
    "--labels",
    "--published",
    "--jobs",
    "--quiet",
    vary_option(
        "--by",
        help="break the results down by this key (see `classic-rc run --help`); repeat for several (default: "
        "all labels in the files, and the fields of the data with 2 to 12 values)",
    ),
    "datasheet",
    "--perturbed",
    vary_option(
        "--output",
        required=True,
        help="the HTML file to write, such as report.html; of a datasheet, also .md, .tex, .json, .csv or a figure",
    ),
    vary_option("--analyzer", default=None, help="what makes words of the texts in statistics and checks"),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.audit.without_copies import score_without
    from classic_rc.evaluation.breakdown import break_down
    from classic_rc.evaluation.comparison import SharedResults
    from classic_rc.evaluation.evaluate import evaluate
    from classic_rc.evaluation.plan import add_span_candidates
    from classic_rc.reports.page import PageContent, page_html

    is_figure = args.datasheet and is_figure_name(args.output)
    check_writable(args.output, *args.data, *args.train, args.tune, *args.labels, is_figure=is_figure)
    if args.datasheet:
        for name in ("perturbed", "explain"):
            if getattr(args, name) is not None:
                option = f"--{name}"
                raise UsageError(f"{option} does not apply to the datasheet: leave out --datasheet", field=option)
        return write_datasheet(args, OPTIONS)
    for is_given, option in (("floors" in args.without, "--without floors"), (_crossed(args), "--by KEY,KEY")):
        if is_given:
            raise UsageError(f"{option} is an option of the datasheet: add --datasheet", field=option.split()[0])
    facts = dict(map(parse_fact, args.facts))
    given = inputs.parse_systems(args.solver)
    data = inputs.choose_dataset(args, args.data)
    loaded = inputs.load_dataset(args, data)
    protocol = inputs.protocol_for(replace(inputs.read_protocol(args), intervals=True), data)
    dataset = add_span_candidates(loaded, protocol.span_generator)
    systems = inputs.choose_systems(args, dataset, given, protocol)
    explained = _find_explained(args, systems, given)
    groupings = _group_questions(args, dataset)
    evaluation = evaluate(dataset, systems, protocol, jobs=args.jobs, progress=inputs.shows_progress(args))
    inputs.report_notes(args, "warning", evaluation.warnings)
    failures = Failures()
    report_missing(args, [evaluation], failures)
    fitted = list(_fit_systems(args, evaluation, systems, explained, protocol, failures))
    results = SharedResults.of(evaluation, group=args.group)
    check = None if "check" in args.without else check_contents(args, dataset, protocol)
    content = PageContent(
        evaluation,
        check,
        count_contents(args, dataset),
        list(_draw_curves(evaluation, fitted)),
        {
            system.row: _explain_with_progress(args, system.explainer, failures)
            for system in fitted
            if system.is_explained
        },
        [break_down(results, grouping, seed=args.seed or 0) for grouping in groupings],
        args.published,
        args.title,
        args.date,
        () if check is None else score_without(evaluation, check.findings, seed=args.seed or 0),
        None if args.perturbed is None else evaluate_copies(args, loaded, systems, protocol),
        facts,
    )
    write_output(page_html(content), args.output)
    return failures.exit_code


def _crossed(args: argparse.Namespace) -> bool:
    return any("," in key for key in args.by)


class _FittedSystem(NamedTuple):
    """A solver that is ready to explain the answers of its row."""

    row: int  # index in the evaluation's rows
    explainer: Explainer
    is_explained: bool  # False for a system that only has a curve


def _find_explained(args: argparse.Namespace, systems: Sequence[System], given: Sequence[System]) -> set[str]:
    """Return the names of the solvers whose answers the report explains."""
    from classic_rc.evaluation.systems import is_same_system, parse_system

    if "explanations" in args.without:
        return set()
    if args.explain is None and given:
        return {
            str(s.name)
            for s in systems
            if s.solver is not None and any(is_same_system(s, other) for other in given)
        }
    names = set()
    for text in args.explain or [DEFAULT_EXPLAINED]:
        found = next((system for system in systems if system.name == text), None)
        if found is None:
            with suppress(UsageError, DataError):  # neither a name nor a system
                described = parse_system(text)
                found = next((system for system in systems if is_same_system(system, described)), None)
        if found is None:
            raise unknown_name("solver of this report", text, [str(s.name) for s in systems])
        inputs.require_solver(found)
        names.add(str(found.name))
    return names


def _group_questions(args: argparse.Namespace, dataset: Dataset) -> list[Grouping]:
    from classic_rc.evaluation.grouping import group_questions
    from classic_rc.reports.page import default_breakdown_keys

    labels = inputs.read_label_files(args, dataset)
    keys = args.by or dict.fromkeys([*(kind.name for kind in labels), *default_breakdown_keys(dataset)])
    return [group_questions(dataset, key, labels) for key in keys]


def _fit_systems(
    args: argparse.Namespace,
    evaluation: Evaluation,
    systems: Sequence[System],
    explained: set[str],
    protocol: Protocol,
    failures: Failures,
) -> Iterator[_FittedSystem]:
    """Yield the solvers whose answers are explained or that have a precision-recall curve."""
    from classic_rc.evaluation.explain import Explainer

    rows = {row.name: i for i, row in enumerate(evaluation.rows)}
    for system in systems:
        if (
            system.solver is not None
            and system.name in rows
            and (system.name in explained or _has_curve(evaluation))
        ):
            with failures.caught(system.name):
                explainer = Explainer(system, evaluation.dataset, protocol)
                yield _FittedSystem(rows[system.name], explainer, system.name in explained)


def _has_curve(evaluation: Evaluation) -> bool:
    from classic_rc.questions import Task

    return evaluation.dataset.task is Task.MULTIPLE_ANSWER


def _draw_curves(evaluation: Evaluation, systems: Iterable[_FittedSystem]) -> Iterator[PrecisionRecallCurve]:
    """Yield the curves of systems that decide by a threshold, for questions with any number of right candidates."""
    from classic_rc.evaluation.curves import PrecisionRecallCurve

    for system in systems:
        if _has_curve(evaluation) and evaluation.rows[system.row].threshold is not None:
            scores = system.explainer.scores()
            yield PrecisionRecallCurve.from_scores(scores, evaluation.dataset, evaluation.rows[system.row].name)


def _explain_with_progress(
    args: argparse.Namespace, explainer: Explainer, failures: Failures
) -> Iterator[Explanation]:
    """Yield the explanations of all questions, up to one that fails."""
    dataset = explainer.dataset
    with (
        failures.caught(),
        progress_bar(f"explaining {dataset.name}", len(dataset), inputs.shows_progress(args)) as advance,
    ):
        for explanation in explainer:
            yield explanation
            advance(1)
