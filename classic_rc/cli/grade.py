"""``classic-rc grade``: grade the files of students, each in a process of its own."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, print_message, write_file, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json
from classic_rc.io.text import printable

if TYPE_CHECKING:
    from classic_rc.teaching import Assignment, Grade, Grading

OPTIONS = (
    "grading",
    vary_option("--data", help="the hidden questions, with gold (default: fresh questions of the assignment)"),
    "reading",
    "--train",
    vary_option("--seed", help="the class's rules, the questions and cases (default: the page's rules, new cases)"),
    "--output",
    vary_option("--format", choices=("csv", "json"), default="csv", help="the format of the grades (default csv)"),
    "--quiet",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    assignment = _assignment(args)
    if args.hand_out is not None or args.autograder is not None:
        return _prepare(args, assignment)
    if args.submissions is None:
        raise UsageError(
            "nothing to grade: give a folder with a file or a folder for each student, or one file, as in "
            f"`classic-rc grade submissions --assignment {args.assignment} -o grades.csv`",
            field="FOLDER|FILE",
            expected="a folder with a file or a folder for each student, or one file",
        )
    check_writable(args.output, args.submissions, args.assignment, args.data, *args.train)
    places = {"-o": args.output, "--html": args.html, "--gradescope": args.gradescope, "--plain": args.plain}
    for flag, place in places.items():
        if flag != "-o" and place is not None and Path(place).exists() and not Path(place).is_dir():
            raise UsageError(f"cannot write into {place}: it is not a folder", field=flag, found=place)
        if place not in (None, "-") and Path(place).resolve().is_relative_to(Path(args.submissions).resolve()):
            raise UsageError(
                f"cannot write to {place}: what is in {args.submissions} counts as a student's",
                field=flag,
                found=place,
                expected=f"a place outside of {args.submissions}",
            )
    from classic_rc.teaching import Grading, Limits, choose_isolation, grade_file
    from classic_rc.teaching.grades import remarks

    closed = [place for place in (args.data, *places.values()) if place not in (None, "-")]
    setting: dict[str, Any] = {
        "limits": Limits(seconds=args.timeout),
        "seed": args.seed,
        "data": None if args.data is None else inputs.load_dataset(args, args.data),
        "train": inputs.read_train(args),
        "isolation": choose_isolation(unsafe=args.unsafe, container=args.container, closed=closed),
    }
    if not args.quiet:
        print_message(f"note: {assignment.title}, --seed {args.seed}, isolation: {setting['isolation'].kind}")
    if not (args.one or Path(args.submissions).is_file()):
        return _grade_folder(args, assignment, setting)
    grading = Grading(assignment, args.seed, (grade_file(args.submissions, assignment, **setting),))
    (grade,) = grading.grades
    write_output(feedback_text(grade), args.output)
    for told in () if args.quiet else remarks(grading, grade):
        print_message(f"note: {told}")
    _write_pages(args, grading, is_class=False)
    return 1 if grade.earned < grade.points else 0


def _assignment(args: argparse.Namespace) -> Assignment:
    """Return the assignment with the rules of the class, as an option or a declaration says; set the seed."""
    from classic_rc.teaching import load_assignment
    from classic_rc.teaching.grading import new_seed, read_declaration

    is_file = args.assignment is not None and Path(args.assignment).suffix == ".json"
    declared = read_declaration(Path(args.assignment if is_file else args.submissions or "."))
    if args.assignment is None and declared is None:
        raise UsageError(
            "which assignment? Give --assignment NAME (`classic-rc list assignments` has the names), or a folder "
            "with an assignment.json that says it",
            field="--assignment",
        )
    if declared is not None and (is_file or args.assignment is None):
        assignment, seed = declared
        args.seed = args.seed if seed is None else seed
    else:
        assignment = load_assignment(args.assignment)
        own = None if declared is None or declared[0].name != assignment.name else declared[0]
        assignment = own or (assignment if args.seed is None else assignment.drawn(args.seed))
    if assignment.make_files and args.seed is None and args.hand_out is None:
        told = "the seed of the class made the data: only with --seed N can what is found in them be checked"
        if not assignment.functions:
            raise UsageError(told, field="--seed")
        print_message(f"note: {told}")
    args.seed = new_seed() if args.seed is None else args.seed
    return assignment


def _grade_folder(args: argparse.Namespace, assignment: Assignment, setting: dict[str, Any]) -> int:
    """Grade a class; what is known is written after each student, so that nothing is lost."""
    from classic_rc.teaching import grade_folder
    from classic_rc.teaching.grades import remarks

    known: Grading | None = None
    failures = Failures()

    def report(grading: Grading) -> None:
        nonlocal known
        known = grading
        grade = grading.grades[-1]
        if not args.quiet:
            told = grade.problem or f"{grade.earned:g} of {grade.points:g} points"
            notes = remarks(grading, replace(grade, problem=None))
            print_message("; ".join([f"{grade.student}: {told}", *notes]))
        with failures.caught():  # Where one file cannot be written, the grading goes on.
            _write_pages(args, grading)
        if args.output is not None:
            with failures.caught():
                write_file(Path(args.output), _grades_text(args, grading))

    try:
        grading = grade_folder(args.submissions, assignment, advance=report, **setting)
    finally:
        if known is not None:
            write_output(_grades_text(args, known), args.output)
    if not args.quiet and len(grading.similarity.shares) > 1:
        print_message(f"note: {grading.similarity.distribution}")
        for cluster in grading.similarity.clusters:
            print_message(f"similar: {', '.join(cluster)}")
    if args.plain is not None:
        from classic_rc.teaching.submissions import find_submissions, plain_files

        found = find_submissions(args.submissions, assignment.main, assignment.suffixes)
        _write_files(Path(args.plain), plain_files(found))
    return failures.exit_code


def _grades_text(args: argparse.Namespace, grading: Grading) -> str:
    from classic_rc.teaching import grades_csv, grades_json

    return grades_csv(grading) if args.format == "csv" else render_json(grades_json(grading))


def _write_pages(args: argparse.Namespace, grading: Grading, *, is_class: bool = True) -> None:
    """Write the last grade, and what is known of the class, in the forms that have a folder."""
    from classic_rc.teaching.grades import STUDENTS, class_page, gradescope_json, student_page

    grade = grading.grades[-1]
    if args.gradescope is not None:
        own = Path(args.gradescope, grade.student) if is_class else Path(args.gradescope)
        _write_files(own, {"results.json": (json.dumps(gradescope_json(grade), indent=2) + "\n").encode()})
    if args.html is not None:
        pages = {f"{STUDENTS if is_class else '.'}/{grade.student}.html": student_page(grading, grade).encode()}
        _write_files(Path(args.html), pages | ({"index.html": class_page(grading).encode()} if is_class else {}))


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, and their folders where they are missing."""
    for name, content in files.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot make the folder {folder}: {error.strerror}", found=str(folder)) from None
        write_file(folder / name, content)


def feedback_text(grade: Grade) -> str:
    """Return what one student should know: points and problem of each check, with the details."""
    lines = []
    for check in grade.checks:
        mark = check.verdict.replace("failed", "FAILED")
        points = f"{check.earned:g} of {check.points:g} points" if check.points else "no points by itself"
        lines.append(f"{mark} {check.name}: {check.title} ({points})")
        lines += [f"        {line}" for line in [*(check.problem or "").splitlines(), *check.details.splitlines()]]
    lines += [] if grade.accuracy is None else [str(grade.accuracy)]
    lines.append(f"{grade.earned:g} of {grade.points:g} points" + (f": {grade.problem}" if grade.problem else ""))
    return "".join(f"{printable(line)}\n" for line in lines)


def _prepare(args: argparse.Namespace, assignment: Assignment) -> int:
    """Write what students get, or an autograder; the seed stays with the teacher."""
    if args.autograder is not None:
        from classic_rc.teaching.autograder import autograder_zip

        write_file(Path(args.autograder), autograder_zip(assignment, args.seed, args.data, args.timeout))
        print_message(f"wrote {args.autograder}")
        return 0
    folder, files = Path(args.hand_out), assignment.hand_out(args.seed)
    for name in files:
        if (folder / name).exists():
            raise UsageError(
                f"{folder / name} exists already: give a folder that is new or empty",
                field="--hand-out",
                found=str(folder / name),
            )
    _write_files(folder, files)
    for name in files:
        print_message(f"wrote {folder / name}")
    print_message(
        f"note: grade with `classic-rc grade FOLDER --assignment {args.assignment} --seed {args.seed}`: "
        "the seed is the secret"
    )
    return 0
