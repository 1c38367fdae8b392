"""``classic-rc report``: write one HTML page about a dataset: results, leaks, statistics and every
question.

With ``--datasheet``, one page about the dataset for the appendix of its paper.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import DATA, TABLE, vary_option
from classic_rc.commands.explain.command import DEFAULT_EXPLAINED
from classic_rc.commands.run.perturbed import evaluate_copies
from classic_rc.commands.run.results import GroupTables
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol, names_among

if TYPE_CHECKING:
    from classic_rc.commands.check.audit import CheckReport
    from classic_rc.datasets.statistics import DatasetStatistics
    from classic_rc.questions import Dataset
    from classic_rc.results.breakdown import Breakdown
    from classic_rc.results.evaluation import Evaluation
    from classic_rc.results.shared_results import SharedResults
    from classic_rc.running.explain import Explainer
    from classic_rc.solvers.explanation import Explanation
    from classic_rc.systems import System


SECTIONS = ("check", "explanations", "floors")

OPTIONS: Choice = (
    vary_option("data...", help=DATA),
    "reading",
    "--pool",
    "--solver",
    "training and tuning",
    "decisions",
    *under(
        "contents",
        option(
            "--explain",
            action="append",
            metavar="SOLVER",
            help="explain the answers of this solver of the report; repeat for several (default: "
            "the -s solvers; without -s, sw+d)",
        ),
        option(
            "--without",
            type=parser_of(names_among("section", SECTIONS)),
            default=(),
            metavar="SECTION[,SECTION]",
            help="leave out check, explanations or a datasheet's floors (without check and floors, "
            "it only counts)",
        ),
        option(
            "--title",
            rare=True,
            metavar="TEXT",
            help="the title of the page (default: the dataset's name)",
        ),
    ),
    "--labels",
    "--published",
    "--jobs",
    "--quiet",
    vary_option(
        "--by",
        help="break the results down by this key (see `classic-rc run --help`); repeat for several "
        "(default: all labels in the files, and the fields of the data with 2 to 12 values)",
    ),
    *under(
        "datasheet",
        option(
            "--datasheet",
            action="store_true",
            help="instead write one page for the appendix of the dataset's paper: sizes, lengths, "
            "floors, findings, duplicates; the ending of FILE chooses Markdown, LaTeX, HTML or "
            "JSON",
        ),
        option(
            "--fact",
            rare=True,
            dest="facts",
            several=True,
            metavar="NAME=TEXT",
            help="a fact to show on the datasheet: Licence='CC BY 4.0', Language=English; repeat "
            "for several",
        ),
    ),
    "--perturbed",
    vary_option(
        "--output",
        required=True,
        help="the HTML file to write, such as report.html; of a datasheet .md, .tex or .json too",
    ),
    vary_option("--analyzer", default=None, help="how texts become words in statistics and checks"),
)


_FORMS = {".md": "markdown", ".tex": "latex", ".html": "html", ".json": "json"}
_NOT_SHOWN = frozenset({"data", "datasheet", "output", "jobs", "quiet"})
"""The options that do not change a datasheet, or that its command shows in another place."""


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.commands.report.page import PageContent, default_breakdown_keys, page_html
    from classic_rc.results.breakdown import break_down
    from classic_rc.running.evaluate import evaluate
    from classic_rc.running.plan import add_span_candidates
    from classic_rc.systems import separate_runs

    check_writable(args.output, *args.data, *args.train, args.tune, *args.labels)
    if args.datasheet:
        inputs.refuse_given(
            args, ("perturbed", "explain"), "does not apply to the datasheet: leave out --datasheet"
        )
        return _write_datasheet(args)
    for is_given, flag in (
        ("floors" in args.without, "--without floors"),
        (any("," in key for key in args.by), "--by KEY,KEY"),
    ):
        if is_given:
            raise UsageError(
                f"{flag} is an option of the datasheet: add --datasheet", field=flag.split()[0]
            )
    facts = dict(map(_parse_fact, args.facts))
    systems_of_options = inputs.parse_systems(args.solver)
    data = inputs.choose_dataset(args, args.data)
    loaded = inputs.load_dataset(args, data)
    protocol = inputs.protocol_for(replace(inputs.read_protocol(args), intervals=True), data)
    dataset = add_span_candidates(loaded, protocol.spans)
    systems = separate_runs(inputs.choose_systems(args, dataset, systems_of_options, protocol))
    explained = _find_explained(args, systems, systems_of_options)
    groupings = inputs.read_groups(args, dataset, default_breakdown_keys(dataset)).groupings
    evaluation = evaluate(
        dataset, systems, protocol, jobs=args.jobs, progress=inputs.shows_progress(args)
    )
    inputs.report_notes(args, "warning", evaluation.warnings)
    failures = Failures()
    inputs.report_missing(args, [evaluation], failures, asked_for=bool(systems_of_options))
    fitted = list(_fit_systems(args, evaluation, systems, explained, protocol, failures))
    results = evaluation.results
    scores_without = perturbed = None
    check = None if "check" in args.without else _check_contents(args, dataset, protocol)
    statistics = _count_contents(args, dataset)
    explanations = {
        row: _explain_with_progress(args, explainer, failures) for row, explainer in fitted
    }
    breakdowns = [break_down(results, grouping, seed=args.seed or 0) for grouping in groupings]
    if check is not None:
        scores_without = _measure_originals(args, results, check)
    if args.perturbed is not None:
        perturbed = evaluate_copies(args, loaded, systems, protocol)
    content = PageContent(
        evaluation,
        check,
        statistics,
        explanations,
        breakdowns,
        args.published,
        args.title,
        scores_without,
        perturbed,
        facts,
    )
    write_output(page_html(content), args.output)
    return failures.exit_code


def _measure_originals(
    args: argparse.Namespace, results: SharedResults, check: CheckReport
) -> Breakdown | None:
    """Measure systems on the questions that are not copies; None if there are no copies."""
    from classic_rc.commands.check.without_copies import group_original_questions
    from classic_rc.results.breakdown import break_down

    grouping = group_original_questions(check.dataset, check.defects)
    if all(mask.all() for mask in grouping.masks.values()):
        return None
    return break_down(results, grouping, seed=args.seed or 0)


def _find_explained(
    args: argparse.Namespace, systems: Sequence[System], systems_of_options: Sequence[System]
) -> set[str]:
    """Return the names of the solvers whose answers the report explains."""
    from classic_rc.systems import is_same_system, parse_system

    if "explanations" in args.without:
        return set()
    if args.explain is None and systems_of_options:
        solvers = [system for system in systems if system.solver is not None]
        return {
            str(solver.name)
            for solver in solvers
            if any(is_same_system(solver, option) for option in systems_of_options)
        }
    names = set()
    for text in args.explain or [DEFAULT_EXPLAINED]:
        explained = next((system for system in systems if system.name == text), None)
        if explained is None:
            with suppress(UsageError, DataError):  # neither a name nor a system
                described = parse_system(text)
                explained = next(
                    (system for system in systems if is_same_system(system, described)), None
                )
        if explained is None:
            raise unknown_name("solver of this report", text, [str(s.name) for s in systems])
        inputs.require_solver(explained)
        names.add(str(explained.name))
    return names


def _fit_systems(
    args: argparse.Namespace,
    evaluation: Evaluation,
    systems: Sequence[System],
    explained: set[str],
    protocol: Protocol,
    failures: Failures,
) -> Iterator[tuple[int, Explainer]]:
    """Yield the row and the explainer of each solver whose answers are explained."""
    from classic_rc.running.explain import Explainer

    rows = {row.name: i for i, row in enumerate(evaluation.rows)}
    for system in systems:
        if system.solver is not None and system.name in rows and system.name in explained:
            with failures.caught(system.name):
                yield rows[system.name], Explainer(system, evaluation.dataset, protocol)


def _explain_with_progress(
    args: argparse.Namespace, explainer: Explainer, failures: Failures
) -> Iterator[Explanation]:
    """Yield the explanations of the questions on the page, up to one that fails."""
    from classic_rc.commands.report.page import shown_questions

    dataset = explainer.dataset
    questions = shown_questions(dataset)
    with (
        failures.caught(),
        progress_bar(
            f"explaining {dataset.name}", len(questions), inputs.shows_progress(args)
        ) as advance,
    ):
        for explanation in explainer.each(questions):
            yield explanation
            advance(1)


# --------------------------------------------------------------------------------------------------
# What the page and the datasheet have


def _read_repairs(dataset: Dataset) -> dict[str, str]:
    """Return what `check --mend` did to a dataset, from the file next to it."""
    from classic_rc.commands.check.mend import PROVENANCE

    done = []
    for source in dataset.sources:
        path = Path(f"{source.path}{PROVENANCE}")
        if path.is_file():
            plain = json.loads(path.read_text(encoding="utf-8"))
            done += [
                f"{row['repair']} ({row['questions']:,} questions)" for row in plain["repairs"]
            ]
    return {"Repairs": "; ".join(done)} if done else {}


def _count_contents(args: argparse.Namespace, dataset: Dataset) -> DatasetStatistics:
    """Return the statistics of a dataset; with ``--pool``, also of each of the datasets in it."""
    from classic_rc.datasets.statistics import describe_datasets
    from classic_rc.text.languages import dataset_language

    parts = (dataset.parts if args.pool else ()) or [dataset]
    return describe_datasets(parts, args.analyzer or dataset_language(dataset).analyzer)


def _check_contents(args: argparse.Namespace, dataset: Dataset, protocol: Protocol) -> CheckReport:
    """Return what ``check`` finds in a dataset."""
    from classic_rc.commands.check.audit import check_dataset

    return check_dataset(
        dataset,
        train=protocol.train,
        folds=protocol.cv or 5,
        group=protocol.group,
        analyzer=args.analyzer,
        progress=inputs.shows_progress(args),
    )


def _parse_fact(text: str) -> tuple[str, str]:
    """Parse the value of ``--fact``."""
    name, equals, value = (piece.strip() for piece in text.partition("="))
    if not (name and equals and value):
        raise UsageError(
            f"cannot read --fact {text!r}: expected NAME=TEXT, such as --fact Licence='CC BY 4.0'",
            field="--fact",
            found=text,
            expected="NAME=TEXT",
        )
    return name, value


# --------------------------------------------------------------------------------------------------
# --datasheet


def _write_datasheet(args: argparse.Namespace) -> int:
    """Write the datasheet, and return the exit code."""
    from classic_rc.commands.report.datasheet import Datasheet, render_datasheet
    from classic_rc.datasets.registry import as_dataset

    form, facts = _find_form(args.output), dict(map(_parse_fact, args.facts))
    data = inputs.choose_dataset(args, args.data)
    dataset = inputs.load_dataset(args, data)
    facts |= _read_repairs(dataset)
    protocol = inputs.protocol_for(replace(inputs.read_protocol(args), intervals=True), data)
    groups = _count_groups(args, dataset)
    evaluation = None if "floors" in args.without else _measure_floors(args, dataset, protocol)
    check = None if "check" in args.without else _check_contents(args, dataset, protocol)
    scores = None
    if evaluation is not None and check is not None:
        results = evaluation.results
        scores = _measure_originals(args, results, check)
    train = as_dataset(protocol.train)
    with progress_bar(f"counting {dataset.name}", None, inputs.shows_progress(args)):
        statistics = _count_contents(args, dataset)
        train_statistics = None if train is None else _count_contents(args, train)
    sheet = Datasheet(
        dataset,
        statistics,
        train_statistics,
        check,
        evaluation,
        scores,
        facts,
        shlex.join(_command(args)),
        args.title,
        args.published,
        groups.breakdowns,
        groups.crosses,
    )
    write_output(render_datasheet(sheet, form), args.output)
    return 0


def _find_form(output: str) -> str:
    form = _FORMS.get(os.path.splitext(output)[1].lower())
    if form is None:
        expected = ", ".join(_FORMS)
        raise UsageError(
            f"cannot tell the format of the datasheet {output}: end its name with {expected}",
            field="--output",
            found=output,
            expected=expected,
        )
    return form


def _count_groups(args: argparse.Namespace, dataset: Dataset) -> GroupTables:
    """Count the questions of the groups of ``--by`` and ``--labels``."""
    from classic_rc.results.breakdown import break_down

    groups = inputs.read_groups(args, dataset)
    if not groups.groupings:
        return GroupTables((), groups.crosses)
    counted = inputs.count_questions(args, dataset)
    # pairs of groups are the cross tables
    groupings = [single for single in groups.groupings if "," not in single.key]
    return GroupTables([break_down(counted, grouping) for grouping in groupings], groups.crosses)


def _measure_floors(
    args: argparse.Namespace, dataset: Dataset, protocol: Protocol
) -> Evaluation | None:
    """Return what the given or default systems reach, with intervals; None if all gold is
    hidden.
    """
    from classic_rc.commands.check.audit import labelled_part
    from classic_rc.running.evaluate import evaluate

    dataset = labelled_part(dataset)
    if not len(dataset) or any(question.gold is None for question in dataset):
        return None
    systems = inputs.choose_systems(args, dataset, inputs.parse_systems(args.solver), protocol)
    show_progress = inputs.shows_progress(args)
    evaluation = evaluate(dataset, systems, protocol, jobs=args.jobs, progress=show_progress)
    inputs.report_notes(args, "warning", evaluation.warnings)
    return evaluation


def _command(args: argparse.Namespace) -> Iterator[str]:
    """Yield the command that makes the page again. Of absolute paths only the last part is
    shown.
    """
    yield from ("classic-rc", "report", *map(_shown, args.data), "--datasheet")
    for given_option in TABLE.given(args, OPTIONS):
        if given_option.dest not in _NOT_SHOWN:
            yield from map(_shown, given_option.words(args))
    yield from ("-o", _shown(args.output))


def _shown(text: str) -> str:
    return os.path.basename(text.rstrip("/\\")) if os.path.isabs(text) else text
