"""``classic-rc grade``: grade the files of students, or one file with everything that was found."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import check_writable, print_message, render_json, write_file, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.printable import printable

if TYPE_CHECKING:
    from classic_rc.teaching import Assignment, Grade, Grading

OPTIONS = (
    "grading",
    vary_option("--data", help="the hidden questions, with gold (default: fresh questions of the assignment)"),
    "reading",
    "--train",
    "--train-split",
    vary_option(
        "--seed", help="makes the questions and cases; the same seed repeats a grading (default: a new one)"
    ),
    "--output",
    vary_option("--format", choices=("csv", "json"), default="csv", help="the format of the grades (default csv)"),
    "--quiet",
)

_POINTS_MISSING = 1


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.teaching.assignment import load_assignment

    assignment = load_assignment(args.assignment)
    if args.hand_out is not None:
        return _hand_out(args, assignment)
    if args.submissions is None:
        raise UsageError(
            "nothing to grade",
            field="FOLDER|FILE",
            expected="a folder with a file or a folder for each student, or one file",
        )
    check_writable(args.output, args.submissions, args.assignment, args.data, *args.train)
    from classic_rc.teaching.grading import ISOLATED, UNSAFE, grade_file, new_seed
    from classic_rc.teaching.sandbox import Limits

    seed = new_seed() if args.seed is None else args.seed
    setting: dict[str, Any] = {
        "limits": Limits(seconds=args.timeout),
        "seed": seed,
        "data": None if args.data is None else inputs.load_dataset(args, inputs.choose_dataset(args, [args.data])),
        "train": inputs.read_train(args),
        "levels": UNSAFE if args.unsafe else ISOLATED,
    }
    if not args.quiet:
        print_message(f"note: {assignment.title}, --seed {seed}")
    if not Path(args.submissions).is_file():
        return _grade_folder(args, assignment, setting)
    grade = grade_file(args.submissions, args.assignment, **setting)
    write_output(feedback_text(grade), args.output)
    return _POINTS_MISSING if grade.earned < grade.points else 0


def _grade_folder(args: argparse.Namespace, assignment: Assignment, setting: dict[str, Any]) -> int:
    """Grade a class; what is known is written even if the rest is interrupted."""
    from classic_rc.teaching.grading import Grading, grade_folder

    grades: list[Grade] = []

    def report(grade: Grade) -> None:
        grades.append(grade)
        if not args.quiet:
            told = grade.problem or f"{grade.earned:g} of {grade.points:g} points"
            print_message(f"{grade.student}: {told}{''.join(f'; {sign}' for sign in grade.signs)}")

    grading = None
    try:
        grading = grade_folder(args.submissions, args.assignment, advance=report, **setting)
    finally:
        known = grading or Grading(assignment, setting["seed"], tuple(grades), ())
        if grading is not None or grades:
            _write(args, known)
    for pair in grading.alike:
        print_message(f"alike: {pair.first} and {pair.second}: {100 * pair.share:.0f} % of the code")
    return 0


def _write(args: argparse.Namespace, grading: Grading) -> None:
    """Write the grades in every form that was asked for."""
    from classic_rc.teaching.grading import grades_csv, grades_json, gradescope_json

    write_output(
        grades_csv(grading) if args.format == "csv" else render_json(grades_json(grading)),
        args.output,
    )
    if args.gradescope is not None:
        for grade in grading.grades:
            file = Path(args.gradescope, grade.student, "results.json")
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, render_json(gradescope_json(grade)))


def feedback_text(grade: Grade) -> str:
    """Return what one student should know: points and problem of each check, with the details."""
    lines = []
    for check in grade.checks:
        mark = "passed" if check.passed else "FAILED"
        points = f"{check.earned:g} of {check.points:g} points" if check.points else "no points by itself"
        lines.append(f"{mark}: {check.title or check.name} ({points})")
        lines += [f"        {line}" for line in (check.problem or "").splitlines()]
        lines += [f"        {line}" for line in check.details.splitlines()]
    if grade.accuracy is not None:
        lines.append(str(grade.accuracy))
    lines.append(f"{grade.earned:g} of {grade.points:g} points" + (f": {grade.problem}" if grade.problem else ""))
    return "".join(f"{printable(line)}\n" for line in lines)


def _hand_out(args: argparse.Namespace, assignment: Assignment) -> int:
    """Write what students get into a folder; the seed of data stays with the teacher."""
    from classic_rc.teaching.grading import new_seed

    seed = new_seed() if args.seed is None else args.seed
    folder = Path(args.hand_out)
    for name, content in assignment.hand_out(seed).items():
        if (folder / name).exists():
            raise UsageError("the file exists already", field="--hand-out", found=str(folder / name))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        print_message(f"wrote {folder / name}")
    if assignment.has_files:
        print_message(
            f"note: grade with `classic-rc grade FOLDER --assignment {args.assignment} --seed {seed}`: "
            "the seed is the secret"
        )
    return 0
