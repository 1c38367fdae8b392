"""One option of the command line, and the parsers of the values that options take."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from classic_rc.protocol import FLAG, MAX_RESAMPLES, READING, RESAMPLES, SETTINGS, Kind

_DECLARED = {**READING, **SETTINGS}


class Option(NamedTuple):
    """A command-line argument, as argparse declares it."""

    flags: tuple[str, ...]  # ("-o", "--output"), or the name of a positional argument
    name: str  # in OPTIONS of commands: the long flag, or a unique name if two options share the flag
    settings: dict[str, Any]  # the keyword arguments of add_argument

    @property
    def is_positional(self) -> bool:
        """Whether the argument has no flag."""
        return not self.flags[0].startswith("-")


def option(*flags: str, name: str | None = None, **settings: Any) -> Option:
    """Return an option, named after its long flag unless `name` says otherwise."""
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return Option(flags, name or long, settings)


def setting_option(name: str, **changes: Any) -> Option:
    """Return the option of a setting of a protocol, with some of argparse's keywords changed."""
    setting = _DECLARED[name]
    flag = f"--{name.replace('_', '-')}"
    if setting.kind is FLAG:
        return option(flag, action="store_true", help=setting.help)
    settings: dict[str, Any] = {"help": setting.help.replace("%", "%%")}
    if setting.kind.choices:
        settings["choices"] = setting.kind.choices
    else:
        settings |= {"type": _parser_of(setting.kind), "metavar": setting.metavar}
    if setting.kind is RESAMPLES:
        settings |= {"nargs": "?", "const": True}
    return option(flag, **settings, **changes)


def setting_options(heading: str) -> tuple[Option, ...]:
    """Return the options of the settings below a heading of ``--help``."""
    return tuple(setting_option(name) for name, setting in _DECLARED.items() if setting.heading == heading)


def _parser_of(kind: Kind) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            value = kind.parse(text)
        except ValueError:
            value = None
        if value is None or not kind.fits(value):
            raise argparse.ArgumentTypeError(f"expected {kind.expected}, got {text!r}")
        return value

    return parse


def parse_integer(text: str) -> int:
    """Parse a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None


def parse_finite_number(text: str) -> float:
    """Parse a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"expected a finite number, got {text!r}")
    return number


def resample_count(text: str) -> int:
    """Parse ``--resamples``; the library checks the lower bound."""
    number = parse_integer(text)
    if number > MAX_RESAMPLES:
        raise argparse.ArgumentTypeError(f"expected at most {MAX_RESAMPLES:,}, got {number}")
    return number


def job_count(text: str) -> int:
    """Parse ``--jobs``."""
    number = parse_integer(text)
    if number == 0 or number < -1:
        raise argparse.ArgumentTypeError(f"expected 1 or more processes, or -1 for all cores, got {number}")
    return number


def interval_style(text: str) -> str:
    """Parse ``--intervals-as``."""
    style = "pm" if text == "±" else text
    if style not in ("lines", "pm", "none"):
        raise argparse.ArgumentTypeError(f"expected lines, pm or none, got {text!r}")
    return style


FAILURES = ("artifacts", "shortcuts", "duplicates", "defects")
USUAL_FAILURES = "artifacts,duplicates,defects"


def failure_kinds(text: str) -> frozenset[str]:
    """Parse ``--fail``: kinds of findings, separated by commas."""
    kinds = frozenset(kind.strip() for kind in text.split(","))
    if not kinds <= set(FAILURES):
        raise argparse.ArgumentTypeError(f"expected {', '.join(FAILURES)}, separated by commas, got {text!r}")
    return kinds
