"""The options of commands: how many each has, that one table declares them, and how their values are parsed."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib import import_module

import pytest

from classic_rc.cli.options import TABLE
from classic_rc.cli.registry import COMMANDS

MOST_SHORT, MOST_LONG, MOST_COMMANDS = 20, 32, 15


def choice_of(command):
    return import_module(COMMANDS[command].module).OPTIONS


def options_of(command):
    return list(TABLE.choose(choice_of(command)))


def flags_in(text):
    """The flags that have an entry in a help text."""
    return re.findall(r"^  (?:-\w(?: \S+)?, )?(--[\w-]+)", text, re.MULTILINE)


def value(name, text):
    (option,) = {
        option.name: option for command in COMMANDS for option in options_of(command) if option.name == name
    }.values()
    return option.settings["type"](text)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_there_are_few_commands():
    assert len(COMMANDS) <= MOST_COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_long_help_shows_every_option(cli, command):
    done = cli(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: classic-rc {command} ")
    named = [option for option in options_of(command) if not option.is_positional]
    assert len(named) <= MOST_LONG
    assert {*flags_in(done.out)} == {"--help", *(option.flag for option in named)}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_short_help_shows_the_usual_options(cli, command):
    done = cli(command, "-h")
    named = [option for option in options_of(command) if not option.is_positional]
    shown = flags_in(done.out)
    assert (done.code, len(shown) <= MOST_SHORT) == (0, True)
    assert {*shown} == {"--help", *(option.flag for option in named if not option.rare)}
    rare = sum(option.rare for option in named)
    assert (f"{rare} more options: classic-rc {command} --help" in done.out) is (rare > 0)


def test_every_option_of_the_table_is_an_option_of_some_command():
    chosen = {option.name for command in COMMANDS for option in options_of(command)}
    assert chosen >= {option.name for option in TABLE}


def test_the_programs_help_has_a_line_for_each_command(cli):
    done = cli("--help")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert all(f"{name} {command.help}" in text for name, command in COMMANDS.items())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_commands_line_is_that_of_its_module(command):
    documented = import_module(COMMANDS[command].module).__doc__
    assert documented.startswith(f"``classic-rc {command}``: {COMMANDS[command].help}")


def test_what_is_not_in_the_table_cannot_be_chosen_or_varied():
    with pytest.raises(KeyError):
        list(TABLE.choose(["--frobnicate"]))
    with pytest.raises(KeyError):
        TABLE.vary("--frobnicate", help="nothing")


def test_a_varied_option_leaves_the_table_as_it_is():
    assert TABLE.vary("--output", required=True).settings["required"]
    assert "required" not in TABLE.vary("--output").settings


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("--jobs", "-1", -1),
        ("--jobs", "3", 3),
        ("--intervals", "200", 200),
        ("--threshold", "-1e-3", -0.001),
        ("--threshold", "multirc2018", "multirc2018"),
        ("--skip", "bad, unlabelled", ("bad", "unlabelled")),
    ],
)
def test_values_are_parsed(name, text, expected):
    assert value(name, text) == expected


@pytest.mark.parametrize(
    ("name", "found", "expected"),
    [
        ("--intervals", "0", "resamples"),
        ("--intervals", "1000000001", "1,000,000,000"),
        ("--intervals", "sample", "resamples"),
        ("--cv", "1", "at least 2"),
        ("--jobs", "0", "-1 for all cores"),
        ("--jobs", "-2", "-1 for all cores"),
        ("--jobs", "two", "whole number"),
        ("--threshold", "nan", "finite number, exact or multirc2018"),
        ("--threshold", "x", "finite number, exact or multirc2018"),
        ("--skip", "bad,good", "bad or unlabelled"),
        ("--without", "results", "check, explanations, floors"),
    ],
)
def test_malformed_values_are_refused(name, found, expected):
    with pytest.raises(argparse.ArgumentTypeError, match=expected) as error:
        value(name, found)
    assert re.search(rf" '?{found}'?(?!\w)", str(error.value))


@pytest.mark.ci
@pytest.mark.parametrize(
    ("args", "imported"), [(["--help"], set()), (["list", "readers"], {"listing", "option", "options"})]
)
def test_a_command_imports_no_other(args, imported):
    code = f"import sys; from classic_rc.cli.main import main; main({args!r}); print(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    modules = done.stdout.splitlines()[-1].split()
    loaded = {name.removeprefix("classic_rc.cli.") for name in modules if name.startswith("classic_rc.cli.")}
    assert loaded == {"main", "console"} | imported
