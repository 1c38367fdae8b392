"""How options are declared, parsed and chosen; the table of all of them is in :mod:`classic_rc.cli.options`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from classic_rc.protocol import DEFAULT_RESAMPLES, FLAG, READING, RESAMPLES, SETTINGS, Kind

_DECLARED = {**READING, **SETTINGS}


class Option(NamedTuple):
    """A command-line argument, as argparse declares it."""

    flags: tuple[str, ...]  # ("-o", "--output"), or the name of a positional argument
    name: str  # in the choices of commands: the long flag, or a unique name if two options share the flag
    settings: dict[str, Any]  # the keyword arguments of add_argument
    rare: bool = False  # whether only the long ``--help`` shows it

    @property
    def is_positional(self) -> bool:
        """Whether the argument has no flag."""
        return not self.flags[0].startswith("-")

    @property
    def flag(self) -> str:
        """The long flag."""
        return next(flag for flag in self.flags if flag.startswith("--"))

    @property
    def dest(self) -> str:
        """The name of the value among the parsed arguments."""
        return str(self.settings.get("dest") or self.flags[-1].lstrip("-").replace("-", "_"))

    def varied(self, *, rare: bool | None = None, **settings: Any) -> Option:
        """Return the option with some settings replaced."""
        return self._replace(settings={**self.settings, **settings}, rare=self.rare if rare is None else rare)

    def words(self, args: argparse.Namespace) -> list[str]:
        """Return the option with its values as words of a command line; nothing if it has its default."""
        value = getattr(args, self.dest, None)
        if value is None or value is False or value == self.settings.get("default"):
            return []
        if value is True:
            return [self.flag]
        if isinstance(value, list):
            return [word for part in value for word in (self.flag, str(part))]
        return [self.flag, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]


def option(
    *flags: str, name: str | None = None, rare: bool = False, several: bool = False, **settings: Any
) -> Option:
    """Return an option, named after its long flag unless `name` says otherwise; `several` collects its values."""
    if several:
        settings = {"action": "append", "default": [], **settings}
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return Option(flags, name or long, settings, rare)


def setting_option(name: str, **changes: Any) -> Option:
    """Return the option of a setting of a protocol, with some of argparse's keywords changed."""
    setting = _DECLARED[name]
    flag = f"--{name.replace('_', '-')}"
    if setting.kind is FLAG:
        return option(flag, rare=setting.rare, action="store_true", help=setting.help)
    settings: dict[str, Any] = {"help": setting.help.replace("%", "%%")}
    if setting.kind.choices:
        settings["choices"] = setting.kind.choices
    else:
        settings |= {"type": _parser_of(setting.kind), "metavar": setting.metavar}
    if setting.kind is RESAMPLES:
        settings |= {"nargs": "?", "const": True}
    return option(flag, rare=setting.rare, **settings, **changes)


def setting_options(heading: str) -> tuple[Option, ...]:
    """Return the options of the settings below a heading of ``--help``."""
    return tuple(setting_option(name) for name, setting in _DECLARED.items() if setting.heading == heading)


Choice = Sequence[str | Option]
"""Options of a command: their names, headings (for all their options), or varied options."""


class OptionTable:
    """All options, by their heading in ``--help``."""

    def __init__(self, options: Mapping[str, Sequence[Option]]) -> None:
        self._options = options
        self._by_name = {one.name: (heading, one) for heading, several in options.items() for one in several}

    def __iter__(self) -> Iterator[Option]:
        return (one for _, one in self._by_name.values())

    def vary(self, name: str, **settings: Any) -> Option:
        """Return an option with some settings replaced."""
        return self._by_name[name][1].varied(**settings)

    def choose(self, choice: Choice) -> Iterator[tuple[str, Option]]:
        """Yield the options of a command, each with its heading; a variation replaces the option of that name."""
        varied = {item.name for item in choice if isinstance(item, Option)}
        for item in choice:
            if isinstance(item, Option):
                yield self._by_name[item.name][0], item
            elif item in self._options:
                yield from ((item, one) for one in self._options[item] if one.name not in varied)
            else:
                yield self._by_name[item]

    def given(self, args: argparse.Namespace, choice: Choice) -> Iterator[Option]:
        """Yield the options of a command whose value is not the default."""
        return (one for _, one in self.choose(choice) if not one.is_positional and one.words(args))

    def add_to(self, parser: argparse.ArgumentParser, choice: Choice) -> None:
        """Add the options of a sub-command to its parser, with ``-h`` for the usual ones and ``--help`` for all."""
        groups: dict[str, argparse._ArgumentGroup] = {}
        rare: list[argparse.Action] = []
        for heading, one in self.choose(choice):
            if one.is_positional:
                parser.add_argument(*one.flags, **one.settings)
                continue
            if heading not in groups:
                groups[heading] = parser.add_argument_group(heading)
            action = groups[heading].add_argument(*one.flags, **one.settings)
            rare += [action] if one.rare else []
        usage = "show the usual options (-h) or all (--help)"
        parser.add_argument("-h", "--help", action=_Help, nargs=0, dest=argparse.SUPPRESS, const=rare, help=usage)


class _Help(argparse.Action):
    """Prints the help; ``-h`` leaves out the rare options, which `const` has."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, option_string: str | None = None
    ) -> None:
        if option_string == "-h" and self.const:
            for action in self.const:
                action.help = argparse.SUPPRESS
            parser.epilog = f"{len(self.const)} more options: {parser.prog} --help"
        parser.print_help()
        parser.exit()


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
        following = "".join(arguments[i + 1 : i + 2])
        if flag == "--perturbed" and not equals and not _are_perturbations(following):
            equals = "="
        if flag == "--intervals" and not equals and not following.lstrip("+-").isdecimal():
            equals, value = "=", str(DEFAULT_RESAMPLES)
        if flag == "--fail" and not equals:  # what follows is DATA
            equals, value = "=", USUAL_FAILURES
        normalised.append(f"{flag}{equals}{value}")
    return normalised


def _are_perturbations(text: str) -> bool:
    from classic_rc.datasets.perturbations import PERTURBATIONS

    return all(name.strip() in PERTURBATIONS for name in text.split(","))


# ------------------------------------------------------------------------------------------------------------------
# Values


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


def job_count(text: str) -> int:
    """Parse ``--jobs``."""
    number = parse_integer(text)
    if number == 0 or number < -1:
        raise argparse.ArgumentTypeError(f"expected 1 or more processes, or -1 for all cores, got {number}")
    return number


def interval_style(text: str) -> str:
    """Parse ``--intervals-as``."""
    if text not in ("lines", "pm", "none"):
        raise argparse.ArgumentTypeError(f"expected lines, pm or none, got {text!r}")
    return text


SECTIONS = ("check", "explanations", "floors")


def left_out_sections(text: str) -> frozenset[str]:
    """Parse ``--without``: sections of a report, separated by commas."""
    return _names_among(text, SECTIONS)


FAILURES = ("artifacts", "shortcuts", "duplicates", "defects")
USUAL_FAILURES = "artifacts,defects"


def failure_kinds(text: str) -> frozenset[str]:
    """Parse ``--fail``: kinds of findings, separated by commas."""
    return _names_among(text, FAILURES)


def _names_among(text: str, known: Sequence[str]) -> frozenset[str]:
    names = frozenset(name.strip() for name in text.split(","))
    if not names <= set(known):
        raise argparse.ArgumentTypeError(f"expected {', '.join(known)}, separated by commas, got {text!r}")
    return names
