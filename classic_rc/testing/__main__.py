"""``python -m classic_rc.testing``: check a student's file, or grade a folder of files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from classic_rc.cli.console import check_writable, print_message, write_output
from classic_rc.cli.main import run_program
from classic_rc.io.printable import printable
from classic_rc.teaching.grading import Grade, grade_file, grade_folder, grades_csv


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Returns
    -------
    int
        The exit code. 0: fine; 1: a check of the one file failed; 2: usage error, or output
        that cannot be written; 3: a file or folder is missing.
    """

    def run() -> int:
        args = _parser().parse_args(argv)
        return int(args.handle(args))

    return run_program(run)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m classic_rc.testing", description="Check students' files, each in its own process."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    check = commands.add_parser("check", help="check one file and report what is wrong")
    check.add_argument("file", metavar="FILE")
    check.set_defaults(handle=_check)
    grade = commands.add_parser("grade", help="grade every file in a folder and write CSV, one row per student")
    grade.add_argument(
        "folder",
        metavar="FOLDER",
        help="folder with a .py file, or a folder with exactly one .py file, per student",
    )
    grade.add_argument("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    grade.set_defaults(handle=_grade)
    for command in (check, grade):
        command.add_argument(
            "--checker",
            metavar="FILE",
            help="a .py file with functions check_…(submission) (default: the checks for solvers)",
        )
        command.add_argument(
            "--timeout", type=float, default=60.0, metavar="SECONDS", help="time limit per file (default: 60)"
        )
    return parser


def _check(args: argparse.Namespace) -> int:
    grade = grade_file(args.file, args.checker, timeout=args.timeout)
    for check in grade.checks:
        write_output(
            printable(f"{'passed' if check.passed else 'FAILED'}: {check.title or check.name}") + "\n", None
        )
        if check.problem is not None:
            write_output(f"        {check.problem}\n", None)
    return int(grade.score < 1)


def _grade(args: argparse.Namespace) -> int:
    check_writable(args.output, args.checker)

    def report(grade: Grade) -> None:
        print_message(f"{grade.student}: {grade.n_passed} of {len(grade.checks)} checks passed")

    grades = grade_folder(args.folder, args.checker, timeout=args.timeout, advance=report)
    write_output(grades_csv(grades), args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
