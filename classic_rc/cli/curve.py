"""``classic-rc curve``: plot or list precision against recall for solvers and files of predictions."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_file, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import Protocol

if TYPE_CHECKING:
    from classic_rc.evaluation.curves import PrecisionRecallCurve
    from classic_rc.evaluation.systems import System
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Dataset


OPTIONS = (
    "data",
    "reading",
    vary_option(
        "--solver",
        help="a solver (see `classic-rc list solvers`), path/to/file.py:Class for your own, or a file of "
        "predictions; repeat for several",
    ),
    "--predictions",
    "--average",
    "training and tuning",
    "--jobs",
    "--quiet",
    vary_option(
        "--output",
        help="a figure (.pdf, .png, .svg) or the points (.csv); default, or -: the points on stdout",
    ),
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.evaluation.curves import PrecisionRecallCurve, check_choices
    from classic_rc.evaluation.plan import require_gold
    from classic_rc.predictions import Scores
    from classic_rc.reports.figures import require_matplotlib

    output = None if args.output == "-" else args.output
    form = _output_format(output)
    systems = _parse_systems(args)
    files = [system.path for system in systems]
    check_writable(output, args.data, *args.train, args.tune, *files, is_figure=form != "csv")
    if form != "csv":
        require_matplotlib()
    dataset = inputs.load_dataset(args, args.data)
    check_choices(dataset)
    require_gold(dataset, "precision and recall cannot be computed")
    protocol = inputs.read_protocol(args)
    curves: list[PrecisionRecallCurve] = []
    failures = Failures()
    try:
        for system in systems:
            with failures.caught():
                answers, name = _answer_questions(args, dataset, system, protocol), str(system.name)
                if isinstance(answers, Scores):
                    curve = PrecisionRecallCurve.from_scores(answers, dataset, name, args.average)
                else:
                    curve = PrecisionRecallCurve.from_predictions(answers, dataset, name, args.average)
                curves.append(curve)
    finally:
        _write_curves(curves, form, output)
    return failures.exit_code


def _output_format(output: str | None) -> str:
    """Return the output format by the file's suffix: ``csv`` or a figure format."""
    from classic_rc.reports.figures import FIGURE_FORMATS

    if output is None:
        return "csv"
    form = Path(output).suffix.lower().removeprefix(".")
    if form not in ("csv", *FIGURE_FORMATS):
        expected = f"a file name that ends in one of {', '.join(f'.{known}' for known in (*FIGURE_FORMATS, 'csv'))}"
        raise UsageError(
            f"cannot write {output}: expected {expected}", field="--output", found=output, expected=expected
        )
    return form


def _parse_systems(args: argparse.Namespace) -> list[System]:
    """Return the systems of ``-s`` and ``--predictions`` in the order of the legend, with names."""
    from classic_rc.evaluation.systems import System, name_systems, split_name

    systems = inputs.parse_systems(args.solver)
    for text in args.predictions:  # the name of an existing file may contain "="
        name, path = (None, text) if Path(text).exists() else split_name(text)
        systems.append(System(path=path, name=name))
    if not systems:
        raise UsageError("nothing to plot: add systems (-s SYSTEM)", field="--solver", expected="-s SYSTEM")
    return name_systems(systems)


def _answer_questions(
    args: argparse.Namespace, dataset: Dataset, system: System, protocol: Protocol
) -> Scores | list[Prediction]:
    """Return a solver's scores, or the scores or predictions in a file."""
    from classic_rc.evaluation.evaluate import predict

    notes: list[str] = []
    if system.solver is None:
        answers = system.read(dataset, notes)
    else:
        with progress_bar(f"scoring {dataset.name}", None, inputs.shows_progress(args)):
            result = predict(dataset, system.solver, protocol, decide=False, jobs=args.jobs)
        assert result.scores is not None  # check_choices() refuses questions without choices
        answers, notes = result.scores, [*result.warnings]
    inputs.report_notes(args, "warning", notes)
    return answers


def _write_curves(curves: list[PrecisionRecallCurve], form: str, output: str | None) -> None:
    from classic_rc.reports.figures import curves_csv, figure_bytes, precision_recall_figure

    if not curves:
        return
    if output is None or form == "csv":
        write_output(curves_csv(curves), output)
        return
    try:
        write_file(Path(output), figure_bytes(precision_recall_figure(curves), form))
    except UsageError:  # print the points, so that they are not lost
        write_output(curves_csv(curves), None)
        raise
