"""How options are declared, parsed and chosen; the table of all of them is in
:mod:`classic_rc.cli.options`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from classic_rc.errors import UsageError
from classic_rc.protocol import DEFAULT_RESAMPLES, FLAG, READING, RESAMPLES, SETTINGS, Kind

_DECLARED = {**READING, **SETTINGS}


class Bare(NamedTuple):
    """What an option means without a value, whatever follows it on the command line."""

    value: str  # what it means then
    takes: Callable[[str], bool] = lambda following: False  # whether the next word is its value


class Option(NamedTuple):
    """A command-line argument, as argparse declares it."""

    flags: tuple[str, ...]  # ("-o", "--output"), or the name of a positional argument
    # in the choices of commands: the long flag, or a unique name if two options share the flag
    name: str
    settings: dict[str, Any]  # the keyword arguments of add_argument
    rare: bool = False  # whether only the long ``--help`` shows it
    heading: str = ""  # in ``--help``
    bare: Bare | None = None  # of an option whose value may be left out

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
        name = self.flags[-1].lstrip("-")
        return str(self.settings.get("dest") or name.replace("-", "_"))

    def varied(self, *, rare: bool | None = None, **settings: Any) -> Option:
        """Return the option with some settings replaced."""
        return self._replace(
            settings={**self.settings, **settings}, rare=self.rare if rare is None else rare
        )

    def words(self, args: argparse.Namespace) -> list[str]:
        """Return the option with its values as words of a command line; nothing if it has its
        default.
        """
        value = getattr(args, self.dest, None)
        if value is None or value is False or value == self.settings.get("default"):
            return []
        if value is True:
            return [self.flag]
        if isinstance(value, list):
            return [word for element in value for word in (self.flag, str(element))]
        return [self.flag, ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]


def option(
    *flags: str,
    name: str | None = None,
    rare: bool = False,
    several: bool = False,
    bare: Bare | None = None,
    **settings: Any,
) -> Option:
    """Return an option, named after its long flag unless `name` says otherwise; `several`
    collects its values.
    """
    if several:
        settings = {"action": "append", "default": [], **settings}
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return Option(flags, name or long, settings, rare, bare=bare)


def under(heading: str, *options: Option) -> tuple[Option, ...]:
    """Return options that a command declares for itself, below a heading of its ``--help``."""
    return tuple(declared._replace(heading=heading) for declared in options)


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
        settings |= {"type": parser_of(setting.kind), "metavar": setting.metavar}
    if setting.kind is RESAMPLES:
        settings |= {
            "nargs": "?",
            "const": True,
            "bare": Bare(str(DEFAULT_RESAMPLES), _is_whole_number),
        }
    return option(flag, rare=setting.rare, **settings, **changes)


def setting_options(heading: str) -> tuple[Option, ...]:
    """Return the options of the settings below a heading of ``--help``."""
    return tuple(
        setting_option(name) for name, setting in _DECLARED.items() if setting.heading == heading
    )


Choice = Sequence[str | Option]
"""Options of a command: names and headings of the table (for all their options), varied ones,
and its own.
"""


class HelpGroups:
    """All options, by their heading in ``--help``."""

    def __init__(self, options: Mapping[str, Sequence[Option]]) -> None:
        self._options = {heading: under(heading, *below) for heading, below in options.items()}
        self._by_name = {
            option.name: option for below in self._options.values() for option in below
        }

    def __iter__(self) -> Iterator[Option]:
        return iter(self._by_name.values())

    def vary(self, name: str, **settings: Any) -> Option:
        """Return an option with some settings replaced."""
        return self._by_name[name].varied(**settings)

    def choose(self, choice: Choice) -> Iterator[Option]:
        """Yield the options of a command; a variation replaces the option of that name."""
        varied = {item.name for item in choice if isinstance(item, Option)}
        for item in choice:
            if isinstance(item, Option):
                yield item
            elif item in self._options:
                yield from (option for option in self._options[item] if option.name not in varied)
            else:
                yield self._by_name[item]

    def given(self, args: argparse.Namespace, choice: Choice) -> Iterator[Option]:
        """Yield the options of a command whose value is not the default."""
        return (
            option
            for option in self.choose(choice)
            if not option.is_positional and option.words(args)
        )


def add_options(parser: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    """Add the options of a sub-command to its parser, with ``-h`` for the usual ones and
    ``--help`` for all.
    """
    groups: dict[str, argparse._ArgumentGroup] = {}
    rare: list[argparse.Action] = []
    for option in options:
        if option.is_positional:
            parser.add_argument(*option.flags, **option.settings)
            continue
        if option.heading not in groups:
            groups[option.heading] = parser.add_argument_group(option.heading)
        action = groups[option.heading].add_argument(*option.flags, **option.settings)
        rare += [action] if option.rare else []
    usage = "show the usual options (-h) or all (--help)"
    parser.add_argument(
        "-h", "--help", action=_Help, nargs=0, dest=argparse.SUPPRESS, const=rare, help=usage
    )


class _Help(argparse.Action):
    """Prints the help; ``-h`` leaves out the rare options, which `const` has."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: Any,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if option_string == "-h" and self.const:
            for action in self.const:
                action.help = argparse.SUPPRESS
            parser.epilog = f"{len(self.const)} more options: {parser.prog} --help"
        parser.print_help()
        parser.exit()


def normalise_arguments(arguments: Sequence[str], options: Iterable[Option]) -> list[str]:
    """Return the command line with a value for each option whose value may be left out.

    argparse would read what follows such an option, such as DATA, as its value.
    """
    bare = {option.flag: option.bare for option in options if option.bare is not None}
    normalised: list[str] = []
    for i, argument in enumerate(arguments):
        if argument == "--":
            return [*normalised, *arguments[i:]]
        following = "".join(arguments[i + 1 : i + 2])
        left_out = bare.get(argument)
        if left_out is not None and not left_out.takes(following):
            argument = f"{argument}={left_out.value}"
        normalised.append(argument)
    return normalised


def _is_whole_number(text: str) -> bool:
    return text.lstrip("+-").isdecimal()


# --------------------------------------------------------------------------------------------------
# Values


def parser_of(kind: Kind) -> Callable[[str], Any]:
    """Return the function that parses a value of a kind."""

    def parse(text: str) -> Any:
        try:
            value = kind.parse(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        except ValueError:
            value = None
        if value is None or not kind.fits(value):
            raise argparse.ArgumentTypeError(f"expected {kind.expected}, got {text!r}")
        return value

    return parse
