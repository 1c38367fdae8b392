"""``classic-rc``: finds the sub-command, runs it, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from classic_rc._version import __version__
from classic_rc.cli.console import message, plugin_warnings_as_messages, prepare_streams
from classic_rc.errors import ClassicRCError, UsageError, unknown_name

COMMANDS = {
    "run": ("run", "score datasets with baselines and print the results table."),
    "predict": ("predict", "write a solver's scores or answers as an official submission file."),
    "score": ("score", "measure any system's predictions with the dataset's official metrics."),
    "compare": ("compare", "differences between systems with intervals and tests, and who solves what."),
    "breakdown": (
        "breakdown",
        "what systems score on each kind of question: by data, words or annotators' labels.",
    ),
    "curve": ("curve", "draw or list precision against recall, of solvers and of anybody's predictions."),
    "check": ("check", "find out whether a dataset can be answered without reading it, and whether it is sound."),
    "stats": ("stats", "count what is in datasets, as each paper does it and all alike."),
    "reproduce": ("reproduce", "run what has published figures and compare ours with theirs, with reasons."),
    "rerun": ("rerun", "work a run record out again and compare every number of it."),
    "hard": ("hard", "find the questions that no baseline solves, and what is left of every score on them."),
    "explain": ("explain", "show what produced the scores of one question's candidates."),
    "report": ("report", "write one page of HTML with everything about a dataset and its baselines."),
    "fit": ("fit", "let a solver learn from a dataset, and keep what it learned in a file."),
    "index": ("index", "build, extend or check a folder of sentences that can be searched."),
    "list": ("listing", "say what there is: solvers, variants, readers, metrics, analyzers, formats."),
    "cite": ("cite", "print BibTeX of what a solver, a dataset or a metric follows."),
}
"""Each sub-command's module (which has ``OPTIONS`` and ``handle``) and its line in ``--help``."""

_INTERRUPTED = 130
_READER_LEFT = (errno.EPIPE, errno.EINVAL)
"""The errors of writing to a pipe whose reader is gone, as `head` is after its lines; Windows raises the second."""


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises the errors of this package."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Parse like argparse, but raise an error on unknown arguments here, where the options are known."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown[0])
        return parsed, unknown

    def _refuse(self, argument: str) -> NoReturn:
        if argument.startswith("-"):
            raise unknown_name(f"option of {self.prog}", argument.partition("=")[0], self._option_string_actions)
        self.error(f"{argument!r} is one argument too many, or DATA stand apart: name all DATA together")

    def error(self, message: str) -> NoReturn:
        """Raise the message that argparse would print.

        Raises
        ------
        UsageError
        """
        raise UsageError(f"{message} (see `{self.prog} --help`)")


class _CommandParser(_Parser):
    """A sub-command's parser; it imports the sub-command when arguments are parsed, not before."""

    module = ""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Add the sub-command's options, then parse like the base class."""
        if self.module:
            from classic_rc.cli.options import add_options

            command = import_module(f"classic_rc.cli.{self.module}")
            add_options(self, command.OPTIONS)
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
        commands.add_parser(name, help=line, description=line).module = module
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        The exit code: 0 fine; 1 a check failed; 2 usage, or not enough memory, or output that cannot be
        written; 3 data missing or malformed; 4 an optional package is missing; 130 interrupted.
    """
    prepare_streams()
    try:
        with plugin_warnings_as_messages():
            code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return code
    except ClassicRCError as error:
        message(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        message("interrupted")
        return _INTERRUPTED
    except MemoryError:
        message("error: there is not enough memory for this")
        return UsageError.exit_code
    except OSError as error:
        with suppress(OSError):  # try to write what is finished
            sys.stdout.flush()
        # Python flushes stdout again at exit: point it to the null device, or that flush would fail too.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno in _READER_LEFT:
            return 0
        message(f"error: {error}")
        return UsageError.exit_code


def _run(argv: list[str]) -> int:
    if argv and not argv[0].startswith("-") and argv[0] not in COMMANDS:
        raise unknown_name("command", argv[0], COMMANDS)
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as done:  # --help or --version
        return int(done.code or 0)
    code: int = args.handle(args)
    return code
