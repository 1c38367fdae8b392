"""``classic-rc grade``: grade the files of students, each in a process of its own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, print_message, write_file, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError
from classic_rc.io.json import render_json
from classic_rc.io.text import printable
from classic_rc.parameters import is_number
from classic_rc.protocol import READING, Kind

if TYPE_CHECKING:
    from classic_rc.commands.grade import Assignment, Grade, Grading
    from classic_rc.questions import Dataset

SECONDS = Kind(
    "a number of seconds above 0, at most 86,400",
    lambda value: is_number(value, 0, 86_400) and value > 0,
    float,
)

OPTIONS: Choice = (
    *under(
        "grading",
        option(
            "submissions",
            nargs="?",
            metavar="FOLDER|FILE",
            help="a folder with a file or a folder for each student, or the file or folder of one "
            "student",
        ),
        option(
            "--assignment",
            metavar="NAME|FILE",
            help="an assignment (see `classic-rc list assignments`), a teacher's file, or an "
            "assignment.json (default: the one in the folder's assignment.json)",
        ),
        option("--one", action="store_true", help="the folder is one student's"),
        option(
            "--timeout",
            type=parser_of(SECONDS),
            default=60.0,
            metavar="SECONDS",
            help="the time limit for each submission; one check may use a third of it (default 60)",
        ),
        option(
            "--container",
            metavar="COMMAND",
            help="the command that runs python3 in a container, instead of bubblewrap; it shows "
            "{folder} read-only",
        ),
        option(
            "--unsafe",
            action="store_true",
            help="without both: as another user if you are root, else as you; for a throw-away "
            "container",
        ),
        option(
            "--html",
            metavar="DIR",
            help="also write a page for each student, and one for the class",
        ),
        option(
            "--gradescope",
            metavar="DIR",
            help="also write results.json of Gradescope for each student",
        ),
        option(
            "--plain",
            metavar="DIR",
            help="also write all code as plain files, for tools that compare programs",
        ),
        option(
            "--autograder",
            metavar="FILE.zip",
            help="grade nothing; write an autograder for Gradescope, with --data and --seed",
        ),
        option(
            "--hand-out",
            metavar="DIR",
            help="grade nothing; write what the class of --seed gets: the page, a file to start "
            "from, data",
        ),
    ),
    vary_option(
        "--data",
        help="the hidden questions, with gold (default: fresh questions of the assignment)",
    ),
    "reading",
    "--train",
    vary_option(
        "--seed",
        help="the class's rules, the questions and cases (default: the page's rules, new cases)",
    ),
    "--output",
    vary_option(
        "--format",
        choices=("csv", "json"),
        default="csv",
        help="the format of the grades (default csv)",
    ),
    "--quiet",
)


def _titles_of_assignments() -> Iterator[tuple[str, str]]:
    from classic_rc.commands.grade import list_assignments, load_assignment

    return ((name, load_assignment(name).title) for name in list_assignments())


LISTS = {"assignments": _titles_of_assignments}
"""What `classic-rc list` shows of this command."""


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    assignment = _assignment(args)
    if args.hand_out is not None or args.autograder is not None:
        return _prepare(args, assignment)
    if args.submissions is None:
        raise UsageError(
            "nothing to grade: give a folder with a file or a folder for each student, or one "
            f"file, as in `classic-rc grade submissions --assignment {args.assignment} -o "
            "grades.csv`",
            field="FOLDER|FILE",
            expected="a folder with a file or a folder for each student, or one file",
        )
    if args.data is None and not args.train:
        inputs.refuse_given(args, READING, "is about data: add --data or --train, or leave it out")
    check_writable(args.output, args.submissions, args.assignment, args.data, *args.train)
    folders = {"--html": args.html, "--gradescope": args.gradescope, "--plain": args.plain}
    for flag, place in folders.items():
        check_writable(place, is_folder=True, option=flag)
    places = {"-o": args.output, **folders}
    places = {flag: place for flag, place in places.items() if place not in (None, "-")}
    for flag, place in places.items():
        if Path(place).resolve().is_relative_to(Path(args.submissions).resolve()):
            message = (
                f"cannot write to {place}: what is in {args.submissions} counts as a student's"
            )
            raise UsageError(
                message, field=flag, found=place, expected=f"a place outside of {args.submissions}"
            )
    from classic_rc.commands.grade import Limits, choose_isolation
    from classic_rc.commands.grade.grading import grade_one

    is_class = not (args.one or Path(args.submissions).is_file())
    if not is_class:
        inputs.refuse_given(args, ("plain",), "is for the folder of a class: leave it out")
    closed = [place for place in (args.data, *places.values()) if place is not None]
    if is_class:
        closed.append(args.submissions)
    isolation = choose_isolation(
        unsafe=args.unsafe,
        container=args.container,
        closed=closed,
        graders=assignment.own_files,
        packages=assignment.packages,
    )
    setting: dict[str, Any] = {
        "limits": Limits(seconds=args.timeout),
        "seed": args.seed,
        "data": _read_data(args),
        "train": inputs.read_train(args),
        "isolation": isolation,
    }
    if not args.quiet:
        print_message(f"note: {assignment.title}, --seed {args.seed}, isolation: {isolation.kind}")
    if isolation.kind == "other user" and "--seed" in sys.argv:
        message = (
            f'--assignment FILE.json with {{"assignment": "{assignment.name}", "seed": '
            f"{args.seed}}} hides it"
        )
        print_message(f"note: students' code can read the seed in the list of processes; {message}")
    if is_class:
        return _grade_folder(args, assignment, setting)
    grading = grade_one(args.submissions, assignment, **setting)
    (grade,) = grading.grades
    write_output(feedback_text(grade), args.output)
    for message in () if args.quiet else grading.remarks_on_code(grade):
        print_message(f"note: {message}")
    _write_pages(args, grading, is_class=False)
    return 1 if grade.earned < grade.points else 0


def _assignment(args: argparse.Namespace) -> Assignment:
    """Return the assignment with the rules of the class, as an option or a declaration says; set
    the seed.

    A folder's declaration may be a student's: no code is loaded for it, and it gives no rules where
    a seed does.
    """
    from classic_rc.commands.grade import list_assignments, load_assignment
    from classic_rc.commands.grade.assignment import read_declaration
    from classic_rc.commands.grade.grading import new_seed

    name_or_file, declared = args.assignment, None
    is_file = name_or_file is not None and Path(name_or_file).suffix == ".json"
    if is_file or name_or_file is None or args.seed is None:
        declared = read_declaration(Path(name_or_file if is_file else args.submissions or "."))
    name, rules, seed = declared or ("", {}, None)
    if name_or_file is not None and not is_file:
        assignment = load_assignment(name_or_file, rules if name == Path(name_or_file).stem else {})
        assignment = assignment if args.seed is None else assignment.drawn(args.seed)
    elif declared is None or not (is_file or name in list_assignments()):
        raise UsageError(
            "which assignment? Give --assignment NAME (`classic-rc list assignments` has the "
            "names) or its file, or a folder with an assignment.json that names one of the package",
            field="--assignment",
            found=name_or_file or name or None,
        )
    else:
        assignment = load_assignment(
            name if name in list_assignments() else Path(name_or_file).parent / name, rules
        )
        if seed is not None:
            assignment, args.seed = assignment.drawn(seed), seed
    if assignment.make_files and args.seed is None and args.hand_out is None:
        message = (
            "the seed of the class made the data: give --seed N, so that what is found in them can "
            "be checked"
        )
        if not assignment.functions:
            raise UsageError(message, field="--seed")
        print_message(f"note: {message}")
    args.seed = new_seed() if args.seed is None else args.seed
    return assignment


def _grade_folder(args: argparse.Namespace, assignment: Assignment, setting: dict[str, Any]) -> int:
    """Grade a class; what is known is written after each student, so that nothing is lost."""
    from classic_rc.commands.grade import grade_folder

    latest: Grading | None = None
    failures = Failures()

    def report(grading: Grading) -> None:
        nonlocal latest
        latest = grading
        grade = grading.grades[-1]
        if not args.quiet:
            outcome = grade.problem or f"{grade.earned:g} of {grade.points:g} points"
            print_message(
                "; ".join([f"{grade.student}: {outcome}", *grading.remarks_on_code(grade)])
            )
        with failures.caught():  # Where one file cannot be written, the grading goes on.
            _write_pages(args, grading)
        if args.output is not None:
            with failures.caught():
                write_file(Path(args.output), _grades_text(args, grading))

    try:
        grading = grade_folder(args.submissions, assignment, advance=report, **setting)
    finally:
        if latest is not None:
            write_output(_grades_text(args, latest), args.output)
    if not args.quiet and len(grading.similarity.shares) > 1:
        print_message(f"note: {grading.similarity.distribution}")
        for cluster in grading.similarity.clusters:
            print_message(f"similar: {', '.join(cluster)}")
    if args.plain is not None:
        from classic_rc.commands.grade.submissions import find_submissions, plain_files

        submissions = find_submissions(args.submissions, assignment.main, assignment.suffixes)
        _write_files(Path(args.plain), plain_files(submissions))
    return failures.exit_code


def _grades_text(args: argparse.Namespace, grading: Grading) -> str:
    from classic_rc.commands.grade import grades_csv, grades_json

    return grades_csv(grading) if args.format == "csv" else render_json(grades_json(grading))


def _write_pages(args: argparse.Namespace, grading: Grading, *, is_class: bool = True) -> None:
    """Write the last grade, and what is known of the class, in the forms that have a folder."""
    from classic_rc.commands.grade.grades import STUDENTS, class_page, gradescope_json, student_page

    grade = grading.grades[-1]
    if args.gradescope is not None:
        folder = Path(args.gradescope, grade.student) if is_class else Path(args.gradescope)
        results = gradescope_json(grade, grading.similarity.of(grade.student))
        _write_files(folder, {"results.json": (json.dumps(results, indent=2) + "\n").encode()})
    if args.html is not None:
        pages = {
            f"{STUDENTS if is_class else '.'}/{grade.student}.html": student_page(
                grading, grade
            ).encode()
        }
        _write_files(
            Path(args.html),
            pages | ({"index.html": class_page(grading).encode()} if is_class else {}),
        )


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, and their folders where they are missing."""
    for name, content in files.items():
        try:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"cannot make the folder {folder}: {error.strerror}", found=str(folder)
            ) from None
        write_file(folder / name, content)


def feedback_text(grade: Grade) -> str:
    """Return what one student should know: points and problem of each check, with the details."""
    lines = []
    for check in grade.checks:
        mark = check.verdict.replace("failed", "FAILED")
        points = (
            f"{check.earned:g} of {check.points:g} points"
            if check.points
            else "no points by itself"
        )
        lines.append(f"{mark} {check.name}: {check.title} ({points})")
        details = [*(check.problem or "").splitlines(), *check.text.splitlines()]
        lines += [f"        {line}" for line in details]
    if grade.accuracy is not None:
        lines.append(str(grade.accuracy))
    problem = f": {grade.problem}" if grade.problem else ""
    lines.append(f"{grade.earned:g} of {grade.points:g} points{problem}")
    return "".join(f"{printable(line)}\n" for line in lines)


def _read_data(args: argparse.Namespace) -> Dataset | None:
    return None if args.data is None else inputs.load_dataset(args, args.data)


def _prepare(args: argparse.Namespace, assignment: Assignment) -> int:
    """Write what students get, or an autograder; the seed stays with the teacher."""
    if args.autograder is not None:
        check_writable(args.autograder, args.data, *args.train, option="--autograder")
        from classic_rc.commands.grade.autograder import autograder_zip

        data, train = _read_data(args), inputs.read_train(args)
        archive = autograder_zip(assignment, args.seed, data, train, args.timeout)
        write_file(Path(args.autograder), archive)
        print_message(f"wrote {args.autograder}")
        return 0
    check_writable(args.hand_out, is_folder=True, option="--hand-out")
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
    message = (
        f"grade with `classic-rc grade FOLDER --assignment {args.assignment} --seed {args.seed}`"
    )
    print_message(f"note: {message}: the seed is the secret")
    return 0
