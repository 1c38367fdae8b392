"""``classic-rc run --perturbed``: every system on the original and on perturbed copies."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_output
from classic_rc.cli.options import EVERY_PERTURBATION
from classic_rc.io.json import render_json
from classic_rc.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.questions import Dataset
    from classic_rc.running.perturbed import PerturbedEvaluation
    from classic_rc.systems import System


_NOT_WITH_PERTURBED = ("save", "by", "labels", "figure", "baseline", "published")


def run_perturbed(args: argparse.Namespace) -> int:
    """Run ``run --perturbed``: every system on the original and on perturbed copies."""
    problem = "does not apply with --perturbed: run again without --perturbed for it"
    inputs.refuse_given(args, _NOT_WITH_PERTURBED, problem)
    from classic_rc.systems import separate_runs

    check_writable(args.output, *args.data, *args.train, args.tune)
    systems = inputs.parse_systems(args.solver)
    protocol = inputs.read_protocol(args)
    evaluations: list[PerturbedEvaluation] = []
    failures = Failures()
    # As in `run`: JSON, CSV and a file hold all datasets; a table is printed when its dataset is
    # finished.
    writes_at_once = args.output is None and args.format not in ("csv", "json")
    try:
        for data in inputs.expand_datasets(args, args.data):
            with failures.caught():
                dataset = inputs.load_dataset(args, data)
                data_protocol = inputs.protocol_for(protocol, data)
                data_systems = separate_runs(
                    inputs.choose_systems(args, dataset, systems, data_protocol)
                )
                evaluations.append(evaluate_copies(args, dataset, data_systems, data_protocol))
                failures.add_failed(dataset.name, evaluations[-1].errors)
                if writes_at_once:
                    table = _render(evaluations[-1:], args.format)
                    write_output(table if len(evaluations) == 1 else f"\n{table}", None)
                    sys.stdout.flush()
    finally:
        if evaluations and not writes_at_once:
            write_output(_render(evaluations, args.format), args.output)
    return failures.exit_code


def evaluate_copies(
    args: argparse.Namespace, dataset: Dataset, systems: Sequence[System], protocol: Protocol
) -> PerturbedEvaluation:
    """Measure systems on a dataset and on the copies that ``--perturbed`` names."""
    from classic_rc.running.perturbed import evaluate_perturbed

    names = () if args.perturbed == (EVERY_PERTURBATION,) else args.perturbed
    evaluation = evaluate_perturbed(
        dataset,
        systems,
        names,
        protocol,
        jobs=args.jobs,
        progress=inputs.shows_progress(args),
    )
    inputs.report_notes(args, "warning", evaluation.warnings)
    return evaluation


def _render(evaluations: list[PerturbedEvaluation], form: str) -> str:
    from classic_rc.reports.result_tables import perturbation_table
    from classic_rc.tables import records_csv, render

    if form == "json":
        return render_json({"perturbed": [evaluation.to_dict() for evaluation in evaluations]})
    if form == "csv":
        return records_csv(
            [record for evaluation in evaluations for record in evaluation.records()]
        )
    return render(list(map(perturbation_table, evaluations)), form)
