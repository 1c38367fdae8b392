"""``classic-rc grade``: grade the files of students, each in a process of its own."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, print_message, write_file, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json
from classic_rc.io.text import printable

if TYPE_CHECKING:
    from classic_rc.teaching.assignment import Assignment
    from classic_rc.teaching.grades import Grade, Grading

OPTIONS = (
    "grading",
    vary_option("--data", help="the hidden questions, with gold (default: fresh questions of the assignment)"),
    "reading",
    "--train",
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
    if args.questions is not None:
        return _write_questions(args, assignment)
    if args.submissions is None:
        raise UsageError(
            "nothing to grade: give a folder with a file or a folder for each student, or one file, as in "
            f"`classic-rc grade submissions --assignment {args.assignment} -o grades.csv`",
            field="FOLDER|FILE",
            expected="a folder with a file or a folder for each student, or one file",
        )
    check_writable(args.output, args.submissions, args.assignment, args.data, *args.train)
    for flag, folder in (("--html", args.html), ("--gradescope", args.gradescope)):
        if folder is not None and Path(folder).exists() and not Path(folder).is_dir():
            raise UsageError(f"cannot write into {folder}: it is not a folder", field=flag, found=folder)
    for flag, place in (("-o", args.output), ("--html", args.html), ("--gradescope", args.gradescope)):
        is_given = place not in (None, "-")
        if is_given and Path(place).resolve().is_relative_to(Path(args.submissions).resolve()):
            raise UsageError(
                f"cannot write to {place}: what is in {args.submissions} counts as a student's",
                field=flag,
                found=place,
                expected=f"a place outside of {args.submissions}",
            )
    from classic_rc.teaching.grades import Grading
    from classic_rc.teaching.grading import ISOLATED, UNSAFE, grade_file, new_seed
    from classic_rc.teaching.sandbox import Limits

    seed = new_seed() if args.seed is None else args.seed
    setting: dict[str, Any] = {
        "limits": Limits(seconds=args.timeout),
        "seed": seed,
        "data": None if args.data is None else inputs.load_dataset(args, args.data),
        "train": inputs.read_train(args),
        "levels": UNSAFE if args.unsafe else ISOLATED,
    }
    if not args.quiet:
        print_message(f"note: {assignment.title}, --seed {seed}")
    if not Path(args.submissions).is_file():
        return _grade_folder(args, assignment, setting)
    grade = grade_file(args.submissions, args.assignment, **setting)
    write_output(feedback_text(grade), args.output)
    if not args.quiet:
        print_message(f"note: isolation: {grade.level or 'nothing ran'}")
        for sign in grade.signs:
            print_message(f"note: {sign}")
    _write_pages(args, Grading(assignment, seed, (grade,), ()), is_class=False)
    return _POINTS_MISSING if grade.earned < grade.points else 0


def _grade_folder(args: argparse.Namespace, assignment: Assignment, setting: dict[str, Any]) -> int:
    """Grade a class; what is known is written after each student, so that nothing is lost."""
    from classic_rc.teaching.grading import grade_folder

    known: Grading | None = None
    failures = Failures()

    def report(grading: Grading) -> None:
        nonlocal known
        known = grading
        grade = grading.grades[-1]
        if not args.quiet:
            told = grade.problem or f"{grade.earned:g} of {grade.points:g} points"
            print_message(f"{grade.student}: {told}{''.join(f'; {sign}' for sign in grade.signs)}")
        with failures.caught():  # Where one file cannot be written, the grading goes on.
            _write_pages(args, grading)
        if args.output is not None:
            with failures.caught():
                write_file(Path(args.output), _grades_text(args, grading))

    _warn_of_template(args, assignment, setting)
    try:
        grading = grade_folder(args.submissions, args.assignment, advance=report, **setting)
    finally:
        if known is not None:
            write_output(_grades_text(args, known), args.output)
    for pair in grading.alike:
        print_message(f"alike: {pair.first} and {pair.second}: {100 * pair.share:.0f} % of the code")
    return failures.exit_code


def _warn_of_template(args: argparse.Namespace, assignment: Assignment, setting: dict[str, Any]) -> None:
    """Say so if the file that students start from earns points; those of the package do not."""
    from classic_rc.teaching.assignment import ASSIGNMENTS
    from classic_rc.teaching.grading import grade_file

    if assignment.template_file is None or ASSIGNMENTS in assignment.file.parents:
        return
    grade = grade_file(assignment.template_file, args.assignment, **setting)
    if grade.earned > 0:
        passed = ", ".join(check.name for check in grade.checks if check.earned > 0)
        print_message(
            f"warning: {assignment.template_file}, which students start from, earns {grade.earned:g} of "
            f"{grade.points:g} points as it is ({passed}); give these checks 0 points, or let them need others"
        )


def _grades_text(args: argparse.Namespace, grading: Grading) -> str:
    from classic_rc.teaching.grades import grades_csv, grades_json

    return grades_csv(grading) if args.format == "csv" else render_json(grades_json(grading))


def _write_pages(args: argparse.Namespace, grading: Grading, *, is_class: bool = True) -> None:
    """Write the last grade, and what is known of the class, in the forms that have a folder."""
    grade = grading.grades[-1]
    if args.gradescope is not None:
        from classic_rc.teaching.grades import gradescope_json

        own = Path(args.gradescope, grade.student) if is_class else Path(args.gradescope)
        _write_into(own / "results.json", json.dumps(gradescope_json(grade), indent=2) + "\n")
    if args.html is not None:
        from classic_rc.teaching.pages import STUDENTS, class_page, student_page

        own = Path(args.html, STUDENTS) if is_class else Path(args.html)
        _write_into(own / f"{grade.student}.html", student_page(grading, grade))
        if is_class:
            _write_into(Path(args.html, "index.html"), class_page(grading))


def _write_into(file: Path, text: str) -> None:
    """Write a file, and its folders where they are missing."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {file.parent}: {error.strerror}", field="--html") from None
    write_file(file, text)


def feedback_text(grade: Grade) -> str:
    """Return what one student should know: points and problem of each check, with the details."""
    lines = []
    for check in grade.checks:
        mark = check.verdict.replace("failed", "FAILED")
        points = f"{check.earned:g} of {check.points:g} points" if check.points else "no points by itself"
        lines.append(f"{mark} {check.name}: {check.title or check.name} ({points})")
        lines += [f"        {line}" for line in (check.problem or "").splitlines()]
        lines += [f"        {line}" for line in check.details.splitlines()]
    if grade.accuracy is not None:
        lines.append(str(grade.accuracy))
    lines.append(f"{grade.earned:g} of {grade.points:g} points" + (f": {grade.problem}" if grade.problem else ""))
    return "".join(f"{printable(line)}\n" for line in lines)


def _write_questions(args: argparse.Namespace, assignment: Assignment) -> int:
    """Write the fresh questions of a grading, so that one of them can be looked at."""
    from classic_rc.datasets.jsonl import to_jsonl
    from classic_rc.teaching.grading import grading_questions

    if args.seed is None or args.data is not None:
        raise UsageError(
            "--questions writes the fresh questions of a grading: give its --seed N, and no --data",
            field="--questions",
            expected="--seed N of that grading, and no --data",
        )
    write_file(Path(args.questions), to_jsonl(grading_questions(assignment, args.seed)))
    print_message(f"wrote {args.questions}")
    return 0


def _hand_out(args: argparse.Namespace, assignment: Assignment) -> int:
    """Write what students get into a folder; the seed of data stays with the teacher."""
    from classic_rc.teaching.grading import new_seed

    seed = new_seed() if args.seed is None else args.seed
    folder = Path(args.hand_out)
    for name, content in assignment.hand_out(seed).items():
        if (folder / name).exists():
            raise UsageError(
                f"{folder / name} exists already: give a folder that is new or empty",
                field="--hand-out",
                found=str(folder / name),
            )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        print_message(f"wrote {folder / name}")
    if assignment.has_files:
        print_message(
            f"note: grade with `classic-rc grade FOLDER --assignment {args.assignment} --seed {seed}`: "
            "the seed is the secret"
        )
    return 0
