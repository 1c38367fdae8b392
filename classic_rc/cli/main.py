"""``classic-rc``: finds the sub-command, runs it, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from classic_rc._version import __version__
from classic_rc.cli import explain, listing, predict, run, score
from classic_rc.cli.console import message, prepare_streams
from classic_rc.errors import ClassicRCError, unknown_name

__all__ = ["build_parser", "main"]

_COMMANDS = {"run": run, "predict": predict, "score": score, "explain": explain, "list": listing}

_INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="classic-rc",
        description="Classical, non-neural baselines for reading comprehension: the floor under your numbers.",
        epilog="Try: classic-rc run sample",
    )
    parser.add_argument("--version", action="version", version=f"classic-rc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in _COMMANDS.items():
        help_line = (module.__doc__ or "").split(": ", 1)[-1].splitlines()[0]
        sub = commands.add_parser(name, help=help_line, description=help_line)
        module.add_arguments(sub)
        sub.set_defaults(handle=module.handle)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Without the program's name; by default the process' own.

    Returns
    -------
    int
        0 fine; 1 a check failed; 2 usage; 3 data missing or malformed; 4 an optional package is missing;
        130 interrupted.
    """
    prepare_streams()
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        if argv and not argv[0].startswith("-") and argv[0] not in _COMMANDS:
            raise unknown_name("command", argv[0], _COMMANDS)
        args = build_parser().parse_args(argv)
        code: int = args.handle(args)
        sys.stdout.flush()
        return code
    except ClassicRCError as error:
        message(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        message("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left, as `head` does. Nothing may be written when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
