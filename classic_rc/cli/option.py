"""One option of the command line, and the parsers of the values that options take."""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple


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


_MAX_RESAMPLES = 10**9


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
    if number > _MAX_RESAMPLES:
        raise argparse.ArgumentTypeError(f"expected at most {_MAX_RESAMPLES:,}, got {number}")
    return number


def interval_count(text: str) -> int:
    """Parse ``--intervals``."""
    number = resample_count(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more resamples, got {number}")
    return number


def job_count(text: str) -> int:
    """Parse ``--jobs``."""
    number = parse_integer(text)
    if number == 0 or number < -1:
        raise argparse.ArgumentTypeError(f"expected 1 or more processes, or -1 for all cores, got {number}")
    return number


def metric_names(text: str) -> tuple[str, ...]:
    """Parse ``--metrics``: names separated by commas; the command checks them when it knows the task."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"expected names of metrics separated by commas, got {text!r}")
    return names


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
