"""Grading of students' files, each checked in its own process and folder, with limits on time and output."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.io.files import read_input
from classic_rc.io.printable import csv_cell, printable

SOLVER_CHECKS = Path(__file__).with_name("solver_checks.py")
"""The default checker: the file must define a solver that beats the sliding window on the sample."""
_CHECKER_TIMEOUT = 60.0
_MAX_MESSAGE = 300
_MAX_OUTPUT = 2**20
_READ_TIMEOUT = 5.0
"""Seconds to read the rest of the output after the processes have been ended."""
_WORKER = Path(__file__).with_name("worker.py")
_PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check.

    Parameters
    ----------
    name, title : str
        The check's name, and the first line of its docstring.
    problem : str or None
        Why it failed; None if it passed.
    """

    name: str
    title: str
    problem: str | None

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        return self.problem is None


@dataclass(frozen=True, slots=True)
class Grade:
    """The outcome of all checks of one student's file.

    Parameters
    ----------
    student : str
        The file's name without ``.py``, or the name of the student's folder.
    file : str
        The file's name, after the student's folder if there is one.
    checks : tuple of Checked
        The same checks in the same order for all students.
    """

    student: str
    file: str
    checks: tuple[CheckResult, ...]

    @property
    def n_passed(self) -> int:
        """The number of checks that passed."""
        return sum(check.passed for check in self.checks)

    @property
    def score(self) -> float:
        """The share of checks that passed, from 0 to 1."""
        return self.n_passed / len(self.checks)


def grade_file(
    file: str | PathLike[str], checker: str | PathLike[str] | None = None, *, timeout: float = 60.0
) -> Grade:
    """Check one file, in its own process.

    Parameters
    ----------
    file : str or path
    checker : str or path, optional
        A Python file with functions ``check_…(submission)``. They take the file as a module and raise
        AssertionError if something is wrong. None means :data:`SOLVER_CHECKS`.
    timeout : float
        Seconds for all checks together.

    Returns
    -------
    Grade

    Raises
    ------
    DataError
        The file does not exist, or its name does not end with ``.py``.
    UsageError
        The checker does not work, or the time limit is not positive.
    """
    path = Path(file)
    _check_timeout(timeout)
    submission = _Submission(path.stem, path.name, _read(path))
    if path.suffix != ".py":
        raise DataError("not a Python file", source=str(path), expected="a file name that ends with .py")
    source = _read(Path(SOLVER_CHECKS if checker is None else checker))
    return _grade_submission(submission, source, _check_titles(source, checker), timeout)


def grade_folder(
    folder: str | PathLike[str],
    checker: str | PathLike[str] | None = None,
    *,
    timeout: float = 60.0,
    advance: Callable[[Grade], None] = lambda grade: None,
) -> list[Grade]:
    """Check the files of all students one after the other, each in its own process.

    All files and the checker are read before the first file runs, so that no file can change another.

    Parameters
    ----------
    folder : str or path
        It has one Python file per student, or one folder per student with exactly one Python file.
    checker, timeout
        See :func:`grade_file`. The time limit is per file.
    advance : callable
        Called with each grade as soon as it is known.

    Returns
    -------
    list of Grade
        Sorted by the names of the students' files or folders.

    Raises
    ------
    DataError
        The folder does not exist, it has no submissions, or two submissions have the same name.
    UsageError
        The checker does not work, or the time limit is not positive.
    """
    _check_timeout(timeout)
    submissions = _find_submissions(Path(folder))
    source = _read(Path(SOLVER_CHECKS if checker is None else checker))
    titles = _check_titles(source, checker)
    grades = []
    for submission in submissions:
        grades.append(_grade_submission(submission, source, titles, timeout))
        advance(grades[-1])
    return grades


def grades_csv(grades: Sequence[Grade]) -> str:
    """Return the grades as CSV, one row per student: score, numbers of passed and failed checks, each outcome."""
    out = io.StringIO()
    names = [check.name for check in grades[0].checks] if grades else []
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(csv_cell, ["student", "file", "score", "passed", "failed", *names]))
    for grade in grades:
        n_failed = len(grade.checks) - grade.n_passed
        outcomes = ["passed" if check.passed else f"failed: {check.problem}" for check in grade.checks]
        numbers = [f"{grade.score:.4g}", grade.n_passed, n_failed]
        writer.writerow(map(csv_cell, [grade.student, grade.file, *numbers, *outcomes]))
    return out.getvalue()


def _check_timeout(timeout: float) -> None:
    if not timeout > 0:
        raise UsageError(
            f"the time limit must be a positive number of seconds, got {timeout:g}",
            field="timeout",
            found=f"{timeout:g}",
        )


@dataclass(frozen=True, slots=True)
class _Submission:
    student: str
    file: str
    source: bytes | None
    problem: str = ""


def _find_submissions(folder: Path) -> list[_Submission]:
    if not folder.is_dir():
        raise DataError("no such folder", source=str(folder), hint="Give a folder with one .py file per student")
    submissions = []
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            submissions.append(_folder_submission(path))
        elif path.suffix == ".py":
            submissions.append(_Submission(path.stem, path.name, _read(path)))
    if not submissions:
        raise DataError("no submissions", source=str(folder), expected="a .py file or a folder per student")
    counts = Counter(submission.student for submission in submissions)
    for submission in submissions:
        if counts[submission.student] > 1:
            raise DataError("two submissions have the same name", source=str(folder), found=submission.student)
    return submissions


def _folder_submission(folder: Path) -> _Submission:
    files = sorted(folder.glob("*.py"))
    if len(files) == 1:
        return _Submission(folder.name, f"{folder.name}/{files[0].name}", _read(files[0]))
    names = ", ".join(file.name for file in files)
    problem = f"the folder has several .py files: {names}" if files else "the folder has no .py file"
    return _Submission(folder.name, folder.name, None, problem)


def _read(path: Path) -> bytes:
    try:
        return read_input(path)
    except OSError as error:
        raise DataError(f"cannot read the file: {error.strerror or error}", source=str(path)) from error


def _check_titles(source: bytes, checker: str | PathLike[str] | None) -> dict[str, str]:
    """Return the names and the titles of a checker's checks."""
    messages, exit_code = run_checks(source, None, _CHECKER_TIMEOUT)
    if messages and "checks" in messages[0]:
        return dict(messages[0]["checks"])
    problem = messages[0]["broken"] if messages else _end_reason(exit_code, _CHECKER_TIMEOUT)
    raise UsageError(
        f"cannot use the checker {checker or SOLVER_CHECKS.name}: {problem}",
        field="checker",
        found=str(checker or SOLVER_CHECKS.name),
    )


def _grade_submission(submission: _Submission, checker: bytes, titles: Mapping[str, str], timeout: float) -> Grade:
    if submission.source is None:
        problems: Mapping[str, str | None] = dict.fromkeys(titles, submission.problem)
    else:
        name = Path(submission.file).name
        problems = _find_problems(run_checks(checker, (name, submission.source), timeout), titles, timeout)
    checks = (CheckResult(name, title, problems[name]) for name, title in titles.items())
    return Grade(submission.student, submission.file, tuple(checks))


def _find_problems(ended: CheckerRun, names: Mapping[str, str], timeout: float) -> dict[str, str | None]:
    """Return each check's problem or None; for checks that did not run, why the process ended."""
    reason = _end_reason(ended.exit_code, timeout)
    problems: dict[str, str | None] = {}
    for message in ended.messages:
        name, problem = message.get("check"), message.get("problem")
        if isinstance(name, str) and name in names and isinstance(problem, str | None):
            problems.setdefault(name, None if problem is None else printable(problem)[:_MAX_MESSAGE])
    return {name: problems.get(name, reason) for name in names}


def _end_reason(exit_code: int | None, timeout: float) -> str:
    if exit_code is None:
        return f"took longer than {timeout:g} s"
    return f"ended its process (exit code {exit_code})"


class CheckerRun(NamedTuple):
    """The output and the exit code of a worker process."""

    messages: list[dict[str, Any]]  # the lines of output that are JSON objects
    exit_code: int | None  # None if the time limit ended the process


def run_checks(checker: bytes, submission: tuple[str, bytes] | None, timeout: float) -> CheckerRun:
    """Run a checker on a submission. Both are written to a new temporary folder of their own.

    Parameters
    ----------
    checker : bytes
        The source of the checker.
    submission : (str, bytes), optional
        The file's name and content. None only lists the checks.
    timeout : float
        In seconds.
    """
    with TemporaryDirectory(prefix="classic-rc-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        work = root / "work"
        work.mkdir()
        files = [root / "checker.py"]
        files[0].write_bytes(checker)
        if submission is not None:
            files.append(work / submission[0])
            files[1].write_bytes(submission[1])
        return _run_worker(files, work, timeout)


def _run_worker(files: Sequence[Path], folder: Path, timeout: float) -> CheckerRun:
    process = subprocess.Popen(
        [sys.executable, "-P", *map(str, (_WORKER, _PACKAGE, *files))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))},
        bufsize=0,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = bytearray()
    reader = threading.Thread(target=_drain, args=(process.stdout, output), daemon=True)
    reader.start()
    exit_code = None
    try:
        with suppress(subprocess.TimeoutExpired):
            exit_code = process.wait(timeout)
    finally:
        _end_tree(process)
        reader.join(_READ_TIMEOUT)
    return CheckerRun(_parse_objects(bytes(output)), exit_code)


def _drain(pipe: IO[bytes], output: bytearray) -> None:
    """Read a pipe to its end and keep only the part within the limit: no writer blocks, and memory is bounded."""
    with pipe:
        while data := pipe.read(2**16):
            output += data[: max(_MAX_OUTPUT - len(output), 0)]


def _end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process and its child processes. A child that left the process group or tree is not found."""
    if os.name == "nt":
        if process.poll() is None:
            command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            subprocess.run(command, capture_output=True, check=False)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _parse_objects(output: bytes) -> list[dict[str, Any]]:
    objects = []
    for line in output.splitlines():
        with suppress(ValueError, RecursionError):
            if isinstance(value := json.loads(line), dict):
                objects.append(value)
    return objects
