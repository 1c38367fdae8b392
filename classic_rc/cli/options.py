"""The options of all sub-commands: how a command chooses its own from the tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from classic_rc.cli.analysis_options import ANALYSIS_OPTIONS
from classic_rc.cli.input_options import INPUT_OPTIONS
from classic_rc.cli.option import USUAL_FAILURES, Option
from classic_rc.cli.output_options import OUTPUT_OPTIONS

TABLE: dict[str, tuple[Option, ...]] = {**INPUT_OPTIONS, **ANALYSIS_OPTIONS, **OUTPUT_OPTIONS}
"""Every option of the command line, by its heading in ``--help``."""

Choice = Sequence[str | Option]
"""Options of a command: their names, headings (for all their options), or results of :func:`vary_option`."""


def normalise_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the command line with a value for each option whose value is optional.

    The values of ``--intervals``, ``--perturbed`` and ``--fail`` are optional, so that argparse would read DATA
    after them as the value. Only a number is one of the first, and only names of perturbations are one of the
    second; that of ``--fail`` follows an equals sign.
    """
    normalised: list[str] = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            return [*normalised, *arguments[i:]]
        flag, equals, value = argument.partition("=")
        if flag == "--perturbed" and not equals and not _are_perturbations("".join(arguments[i + 1 : i + 2])):
            equals = "="
        if flag == "--intervals" and not equals and not "".join(arguments[i + 1 : i + 2]).lstrip("+-").isdecimal():
            equals, value = "=", "10000"
        if flag == "--fail" and not equals:  # what follows is DATA
            equals, value = "=", USUAL_FAILURES
        normalised.append(f"{flag}{equals}{value}")
    return normalised


def _are_perturbations(text: str) -> bool:
    from classic_rc.audit.perturb import PERTURBATIONS

    return all(name.strip() in PERTURBATIONS for name in text.split(","))


_BY_NAME = {option.name: (heading, option) for heading, options in TABLE.items() for option in options}


def vary_option(name: str, **settings: Any) -> Option:
    """Return an option of the table with some settings replaced."""
    option = _BY_NAME[name][1]
    return option._replace(settings={**option.settings, **settings})


def choose_options(choice: Choice) -> Iterator[tuple[str, Option]]:
    """Yield the options of a command, each with its heading; a variation replaces the option below a heading."""
    varied = {item.name for item in choice if isinstance(item, Option)}
    for item in choice:
        if isinstance(item, Option):
            yield _BY_NAME[item.name][0], item
        elif item in TABLE:
            yield from ((item, option) for option in TABLE[item] if option.name not in varied)
        else:
            yield _BY_NAME[item]


def given_options(args: argparse.Namespace, choice: Choice) -> Iterator[tuple[str, str]]:
    """Yield the name and the flag of each option whose value is not its default."""
    for _, option in choose_options(choice):
        name = option.settings.get("dest") or option.flags[-1].lstrip("-").replace("-", "_")
        if option.is_positional:
            continue
        value = getattr(args, name)
        if value is not None and value is not False and value != option.settings.get("default"):
            yield name, next(flag for flag in option.flags if flag.startswith("--"))


def add_options(parser: argparse.ArgumentParser, choice: Choice) -> None:
    """Add the options of a sub-command to its parser."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for heading, option in choose_options(choice):
        if option.is_positional:
            parser.add_argument(*option.flags, **option.settings)
            continue
        if heading not in groups:
            groups[heading] = parser.add_argument_group(heading)
        groups[heading].add_argument(*option.flags, **option.settings)
