"""``classic-rc perturb``: write a copy of a dataset without something that a reader needs, for
any system.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, write_file
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError

OPTIONS: Choice = (
    "data",
    "reading",
    *under(
        "perturbations",
        option(
            "--with",
            name="--with a perturbation",
            dest="perturbation",
            required=True,
            metavar="NAME",
            help="what the copy lacks (see `classic-rc list perturbations`)",
        ),
        option(
            "--function-words",
            default="nltk",
            metavar="LIST",
            help="the words that count as function words: a stop list (see `classic-rc list "
            "stop-lists`; default nltk) or a file with one word per line; interrogatives always do",
        ),
    ),
    "--quiet",
    vary_option("--seed", default=0, help="the seed of random choices (default 0)"),
    vary_option("--output", required=True, help="the file to write the copy to"),
    vary_option(
        "--format",
        choices=("jsonl", "lm-eval"),
        default="jsonl",
        help="the format of FILE: jsonl, our own (default), or lm-eval: JSON lines for "
        "lm-evaluation-harness, and the task as YAML next to FILE",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.datasets.own_files import to_jsonl
    from classic_rc.datasets.perturbations import perturb_dataset

    check_writable(args.output, args.data)
    yaml = Path(args.output).with_suffix(".yaml")
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
    copy = perturb_dataset(
        dataset, args.perturbation, seed=args.seed, function_words=args.function_words
    )
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
