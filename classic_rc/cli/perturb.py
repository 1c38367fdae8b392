"""``classic-rc perturb``: write a copy of a dataset without something that a reader needs, for any system.

``run --perturbed`` is here too.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, print_message, write_file, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json
from classic_rc.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classic_rc.questions import Dataset
    from classic_rc.running.perturbed import PerturbedEvaluation
    from classic_rc.systems import System

OPTIONS = (
    "data",
    "reading",
    "--with a perturbation",
    "--function-words",
    "--quiet",
    vary_option("--seed", default=0, help="the seed of random choices (default 0)"),
    vary_option("--output", required=True, help="the file to write the copy to"),
    vary_option(
        "--format",
        choices=("jsonl", "lm-eval"),
        default="jsonl",
        help="the format of FILE: jsonl, our own (default), or lm-eval: JSON lines for lm-evaluation-harness, "
        "and the task as YAML next to FILE",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.datasets.own_files import to_jsonl
    from classic_rc.datasets.perturbations import perturb_dataset

    yaml = Path(args.output).with_suffix(".yaml")
    check_writable(args.output, args.data)
    if args.format == "lm-eval":
        if yaml == Path(args.output):
            raise UsageError(
                f"cannot write rows and task to one file, {yaml}: -o names the rows, for example "
                f"-o {yaml.with_suffix('.jsonl')}",
                field="--output",
                found=args.output,
                expected=str(yaml.with_suffix(".jsonl")),
            )
        check_writable(str(yaml), args.data)
    inputs.refuse_spans([args.data], "the copy has questions and no candidate spans")
    dataset = inputs.load_dataset(args, args.data)
    copy = perturb_dataset(dataset, args.perturbation, seed=args.seed, function_words=args.function_words)
    if args.format == "lm-eval":
        from classic_rc.harness.task import harness_rows, harness_yaml, task_name

        rows, task = harness_rows(copy), harness_yaml(copy, yaml.stem, args.output)
        write_file(Path(args.output), rows)
        write_file(yaml, task)
        if not args.quiet:
            command = "lm_eval run --model hf --model_args pretrained=MODEL --tasks"
            place = shlex.join((task_name(yaml.stem), "--include_path", str(yaml.parent)))
            print_message(f"run it in this folder with {command} {place}")
    else:
        write_file(Path(args.output), to_jsonl(copy))
    inputs.report_notes(args, "note", copy.notes, dataset.name)
    return 0


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
    # As in `run`: JSON, CSV and a file hold all datasets; a table is printed when its dataset is finished.
    writes_at_once = args.output is None and args.format not in ("csv", "json")
    try:
        for data in inputs.expand_datasets(args, args.data):
            with failures.caught():
                dataset = inputs.load_dataset(args, data)
                own = inputs.protocol_for(protocol, data)
                chosen = separate_runs(inputs.choose_systems(args, dataset, systems, own))
                evaluations.append(evaluate_copies(args, dataset, chosen, own))
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

    evaluation = evaluate_perturbed(
        dataset,
        systems,
        [name.strip() for name in args.perturbed.split(",") if name.strip()],
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
        return records_csv([record for evaluation in evaluations for record in evaluation.records()])
    return render(list(map(perturbation_table, evaluations)), form)
