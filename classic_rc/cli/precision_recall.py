"""``classic-rc run DATA -s SYSTEM --figure pr``: plot or list precision against recall."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_file, write_output
from classic_rc.cli.options import Choice, given_options
from classic_rc.errors import UsageError
from classic_rc.io.progress import progress_bar
from classic_rc.protocol import READING, Protocol

if TYPE_CHECKING:
    from classic_rc.evaluation.curves import Average, PrecisionRecallCurve
    from classic_rc.evaluation.systems import System
    from classic_rc.predictions import Prediction, Scores
    from classic_rc.questions import Dataset


_TRAINING = ("train", "train_split", "tune", "tune_split", "cv", "group", "drop_overlap")
_SEARCHING = ("corpus", "exclude_verbatim")
_OTHERS = ("offline", "pool", "solver", "analyzer", "seed", "jobs", "figure", "output", "quiet")
_WITH_CURVES = frozenset((*READING, *_TRAINING, *_SEARCHING, *_OTHERS))
"""The options of ``run`` that mean something for scores without decisions."""

_AVERAGES: dict[str, Average] = {"pr": "macro", "pr-micro": "micro"}


def draw_curves(args: argparse.Namespace, options: Choice) -> int:
    """Run ``classic-rc run --figure pr``; `options` are those of ``run``."""
    from classic_rc.evaluation.curves import PrecisionRecallCurve, check_choices
    from classic_rc.evaluation.plan import require_gold
    from classic_rc.evaluation.systems import name_systems
    from classic_rc.predictions import Scores
    from classic_rc.reports.figures import require_matplotlib

    for name, flag in given_options(args, options):
        if name not in _WITH_CURVES:
            raise UsageError(
                f"{flag} does not apply with --figure {args.figure}: run again without --figure for it",
                field=flag,
                found=flag,
            )
    output, average = args.output, _AVERAGES[args.figure]
    form = _output_format(output)
    given = inputs.parse_systems(args.solver)
    if not given:
        raise UsageError("nothing to plot: add systems (-s SYSTEM)", field="--solver", expected="-s SYSTEM")
    systems = name_systems(inputs.with_search_engine(args, given))
    files = [system.path for system in systems]
    check_writable(output, *args.data, *args.train, args.tune, *files, is_figure=form != "csv")
    if form != "csv":
        require_matplotlib()
    dataset = inputs.load_dataset(args, inputs.choose_dataset(args, args.data))
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
                    curve = PrecisionRecallCurve.from_scores(answers, dataset, name, average)
                else:
                    curve = PrecisionRecallCurve.from_predictions(answers, dataset, name, average)
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


def _answer_questions(
    args: argparse.Namespace, dataset: Dataset, system: System, protocol: Protocol
) -> Scores | list[Prediction]:
    """Return a solver's scores, or the scores or predictions in a file."""
    from classic_rc.evaluation.evaluate import predict

    notes: list[str] = []
    if system.failure is not None:
        raise system.failure
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
