"""``classic-rc``: run a sub-command, and turn errors into one line and an exit code."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from classic_rc._version import __version__
from classic_rc.cli.console import (
    Failures,
    plugin_warnings_as_messages,
    prepare_streams,
    print_message,
    termination_as_interrupt,
)
from classic_rc.errors import ClassicRCError, UsageError, unknown_name
from classic_rc.io.progress import start_command

COMMANDS = {
    "run": ("run", "score datasets with baselines and print a table of results."),
    "floor": ("floor", "show what systems without understanding get on known datasets, without any data."),
    "predict": ("predict", "write a solver's answers, or its scores, to a file in an official submission format."),
    "compare": ("compare", "compare systems: differences, intervals, p-values, and which questions each solves."),
    "table": ("table", "make one table for a paper from saved runs, its figure, or its paragraph on methods."),
    "check": ("check", "test whether a dataset can be answered without reading it, and look for defects."),
    "reproduce": (
        "reproduce",
        "compare published scores, or the scores of a saved run, with scores computed here.",
    ),
    "perturb": ("perturb", "write a copy of a dataset without something that a reader needs, for any system."),
    "explain": ("explain", "show how solvers score each candidate of one question."),
    "report": ("report", "write one HTML page about a dataset: results, leaks, statistics and every question."),
    "fit": ("fit", "train a solver on a dataset and save it to a file."),
    "fetch": ("fetch", "download datasets into the cache, so that other commands read them by name."),
    "index": ("index", "build, extend or check a search index of sentences."),
    "grade": ("grade", "grade the files of students, each in a process of its own."),
    "list": ("listing", "list what exists: solvers, variants, datasets, metrics, formats and more, or its BibTeX."),
}
"""The module of each sub-command (with ``OPTIONS`` and ``handle``) and its line in ``--help``."""

_INTERRUPTED = 130
_CLOSED_PIPE = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
"""The errors of a write to a pipe whose reader has ended, such as `head`."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises the errors of this package."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parse like argparse, but raise an error on unknown arguments here, where the options are known."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._raise_unexpected(unknown[0])
        return parsed, unknown

    def _raise_unexpected(self, argument: str) -> NoReturn:
        if argument.startswith("-"):
            raise unknown_name(f"option of {self.prog}", argument.partition("=")[0], self._option_string_actions)
        self.error(
            f"unexpected argument {argument!r}: too many arguments, or DATA in two places (put all DATA together)"
        )

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores what it cannot write, so `--help` into a full disk would succeed.
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        """Raise the message that argparse would print, with the option at fault as the error's field."""
        option = re.match(r"argument ([^:]+): ", message)
        raise UsageError(f"{message} (see `{self.prog} --help`)", field=option and option[1])


class _CommandParser(_Parser):
    """The parser of a sub-command. It imports the sub-command only when arguments are parsed."""

    module = ""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Add the sub-command's options, then parse like the base class."""
        if self.module:
            from classic_rc.cli.option import normalise_arguments
            from classic_rc.cli.options import TABLE

            args = normalise_arguments(args or [])
            command = import_module(f"classic_rc.cli.{self.module}")
            TABLE.add_to(self, command.OPTIONS)
            self.set_defaults(handle=command.handle)
            self.module = ""
        return super().parse_known_args(args, namespace)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(
        prog="classic-rc",
        description="Classical, non-neural baselines for reading comprehension: the floor under your numbers.",
        epilog="Try: classic-rc run sample",
    )
    parser.add_argument("--version", action="version", version=f"classic-rc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_CommandParser)
    for name, (module, line) in COMMANDS.items():
        commands.add_parser(name, help=line, description=line, add_help=False).module = module
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default the process's, and return the exit code.

    0 fine; 1 a check failed; 2 usage, not enough memory, or output that cannot be written; 3 data missing or
    malformed; 4 an optional package is missing; 5 a system failed; 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    with plugin_warnings_as_messages():
        return run_program(lambda: _run(arguments))


def run_program(run: Callable[[], int]) -> int:
    """Run a program and return its exit code; every error becomes one line on stderr and an exit code."""
    prepare_streams()
    try:
        with termination_as_interrupt():
            code = run()
        sys.stdout.flush()
        return code
    except ClassicRCError as error:
        Failures().add(error)
        return error.exit_code
    except KeyboardInterrupt:
        print_message("interrupted")
        return _INTERRUPTED
    except MemoryError:
        print_message("error: not enough memory")
        return UsageError.exit_code
    except OSError as error:
        if error.errno in _CLOSED_PIPE:
            return 0
        print_message(f"error: {error}")
        return UsageError.exit_code
    finally:
        _end_stdout()


def _end_stdout() -> None:
    """Write what is finished, or forget it: Python flushes stdout again at exit, which would fail too."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(argv: list[str]) -> int:
    if argv and not argv[0].startswith("-") and argv[0] not in COMMANDS:
        raise unknown_name("command", argv[0], COMMANDS)
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as done:  # --help or --version
        return int(done.code or 0)
    start_command()
    code: int = args.handle(args)
    return code
