"""``classic-rc``: run a sub-command, and turn errors into one line and an exit code."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
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
from classic_rc.cli.registry import COMMANDS, Command
from classic_rc.errors import ClassicRCError, UsageError, unknown_name
from classic_rc.io.forks import PROCESS_COUNTS
from classic_rc.io.progress import start_command

_INTERRUPTED = 130
_CLOSED_PIPE = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
"""The errors of a write to a pipe whose reader has ended, such as `head`."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises the errors of this package."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parse like argparse, but raise an error on unknown arguments here, where the options
        are known.
        """
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._raise_unexpected(unknown[0], args)
        return parsed, unknown

    def _raise_unexpected(self, argument: str, words: Sequence[str] | None) -> NoReturn:
        if argument.startswith("-"):
            raise unknown_name(
                f"option of {self.prog}", argument.partition("=")[0], self._option_string_actions
            )
        words = words or [argument]
        before = words[max(words.index(argument) - 1, 0)] if argument in words else argument
        before = before.partition("=")[0]
        action = self._option_string_actions.get(before)
        if action is not None and action.nargs in (0, "?"):
            takes = f"{before}={action.metavar}" if action.metavar else f"{before} alone"
            raise UsageError(
                f"{before} does not take {argument!r}: write {takes}",
                field=before,
                found=argument,
                expected=takes,
            )
        self.error(
            f"unexpected argument {argument!r}: too many arguments, or DATA in two places (put all "
            "DATA together)"
        )

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores what it cannot write, so `--help` into a full disk would succeed.
        (file or sys.stderr).write(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            name = action.option_strings[-1] if action.option_strings else action.dest
            raise unknown_name(name, value, action.choices)

    def error(self, message: str) -> NoReturn:
        """Raise the message that argparse would print, with the option at fault as the error's
        field.
        """
        argument = re.match(r"argument (?:-\w/)?([^:]+): ", message)
        raise UsageError(f"{message} (see `{self.prog} --help`)", field=argument and argument[1])


class _CommandParser(_Parser):
    """The parser of a sub-command. It imports the sub-command only when arguments are parsed."""

    module = ""

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        if not arg_string.strip():
            raise argparse.ArgumentError(action, f"expected a value, got {arg_string!r}")
        return super()._get_value(action, arg_string)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Add the sub-command's options, then parse like the base class."""
        if self.module:
            from classic_rc.cli.option import add_options, normalise_arguments
            from classic_rc.cli.options import TABLE

            command = import_module(self.module)
            options = list(TABLE.choose(command.OPTIONS))
            args = normalise_arguments(args or [], options)
            add_options(self, options)
            self.set_defaults(handle=command.handle)
            self.module = ""
        parsed, unknown = super().parse_known_args(args, namespace)
        for action in self._actions:
            values = getattr(parsed, action.dest, None)
            if not action.option_strings or not isinstance(values, list):
                continue
            for value in values:
                if values.count(value) > 1:
                    self.error(f"argument {action.option_strings[-1]}: {value!r} is given twice")
        return parsed, unknown


def build_parser(commands: Mapping[str, Command] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of a command line with some of the commands."""
    parser = _Parser(
        prog="classic-rc",
        description="Classical, non-neural baselines for reading comprehension: the floor under "
        "your numbers.",
        epilog="Try: classic-rc run sample",
    )
    parser.add_argument("--version", action="version", version=f"classic-rc {__version__}")
    added = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, command in commands.items():
        line = command.help
        added.add_parser(name, help=line, description=line, add_help=False).module = command.module
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default the process's, and return the exit code.

    0 fine; 1 a check failed; 2 usage, not enough memory, or output that cannot be written; 3 data
    missing or malformed; 4 an optional package is missing; 5 a system failed; 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    with plugin_warnings_as_messages():
        return run_program(lambda: _run(arguments))


def run_program(run: Callable[[], int]) -> int:
    """Run a program and return its exit code; every error becomes one line on stderr and an exit
    code.
    """
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
        place = "" if error.filename is None else f"{error.filename}: "
        print_message(f"error: {place}{error.strerror or error}")
        return UsageError.exit_code
    finally:
        _end_stdout()


def _end_stdout() -> None:
    """Write what is finished, or forget it: Python flushes stdout again at exit, which would
    fail too.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(argv: list[str]) -> int:
    name = argv[0] if argv and not argv[0].startswith("-") else None
    if name is not None and name not in COMMANDS:
        raise unknown_name("command", name, COMMANDS)
    # Other packages are searched only for a command that is not our own, or for the list of all.
    commands = COMMANDS if name is None else {name: COMMANDS[name]}
    try:
        args = build_parser(commands).parse_args(argv)
    except SystemExit as done:  # --help or --version
        return int(done.code or 0)
    start_command()
    process_counts: list[int] = []
    PROCESS_COUNTS.set(process_counts)
    code: int = args.handle(args)
    jobs = getattr(args, "jobs", 1)
    if jobs != 1 and not process_counts and not args.quiet:
        print_message(f"note: --jobs {jobs} is not used: another process would gain nothing here")
    return code
