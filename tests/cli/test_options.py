"""One table has every option, and a sub-command has exactly the options that it names there."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib import import_module

import pytest

from classic_rc.cli.main import COMMANDS, build_parser
from classic_rc.cli.option import (
    job_count,
    parse_finite_number,
    parse_integer,
    resample_count,
)
from classic_rc.cli.options import TABLE, Option, choose_options, vary_option

OPTIONS = {option.name: option for options in TABLE.values() for option in options}


def choice_of(command):
    return import_module(f"classic_rc.cli.{COMMANDS[command][0]}").OPTIONS


def actions_of(command):
    """What the program's own parser has for a sub-command, without --help."""
    (commands,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    parser = commands.choices[command]
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    return [action for action in parser._actions if action.dest != "help"]


def test_every_option_has_one_name_which_is_no_heading():
    assert len(OPTIONS) == sum(map(len, TABLE.values()))
    assert not set(OPTIONS) & set(TABLE)


def test_every_option_says_what_it_is_for():
    assert all(len(option.settings["help"]) > 10 for option in OPTIONS.values())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_the_options_that_it_names_in_the_table_and_no_other(command, capsys):
    named = [option for _, option in choose_options(choice_of(command))]
    assert all(option.flags == OPTIONS[option.name].flags for option in named)
    declared = {tuple(action.option_strings) or (action.dest,): action for action in actions_of(command)}
    assert len(declared) == len(named)
    for option in named:
        action = declared[option.flags]
        for setting in ("default", "type", "choices", "metavar", "help", "nargs"):
            assert getattr(action, setting) == option.settings.get(setting, getattr(action, setting))


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_of_the_table_is_an_option_of_some_command(name):
    assert any(name == option.name for command in COMMANDS for _, option in choose_options(choice_of(command)))


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_option(cli, command):
    done = cli(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: classic-rc {command} ")
    for heading, option in choose_options(choice_of(command)):
        if not option.is_positional:
            assert f"\n{heading}:\n" in done.out
            assert option.flags[0] in done.out


def test_the_programs_help_has_a_line_for_each_command(cli):
    done = cli("--help")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert all(f"{command} {line}" in text for command, (_, line) in COMMANDS.items())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_commands_line_is_that_of_its_module(command):
    module, line = COMMANDS[command]
    documented = import_module(f"classic_rc.cli.{module}").__doc__
    assert documented.startswith(f"``classic-rc {command}``: {line}")


def test_what_is_not_in_the_table_cannot_be_chosen_or_varied():
    with pytest.raises(KeyError):
        list(choose_options(["--frobnicate"]))
    with pytest.raises(KeyError):
        vary_option("--frobnicate", help="nothing")


def test_a_varied_option_leaves_the_table_as_it_is():
    varied = vary_option("--output", required=True)
    assert isinstance(varied, Option)
    assert (varied.flags, varied.name) == (OPTIONS["--output"].flags, "--output")
    assert varied.settings["required"]
    assert "required" not in OPTIONS["--output"].settings


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (parse_integer, "-7", -7),
        (parse_finite_number, "-1e-3", -0.001),
        (resample_count, "0", 0),
        (resample_count, "1000000000", 10**9),
        (resample_count, "200", 200),
        (job_count, "-1", -1),
        (job_count, "3", 3),
    ],
)
def test_values_are_parsed(parse, text, value):
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "found", "expected"),
    [
        (parse_integer, "1.5", "whole number"),
        (parse_integer, "", "whole number"),
        (parse_finite_number, "nan", "finite number"),
        (parse_finite_number, "-inf", "finite number"),
        (parse_finite_number, "x", "finite number"),
        (resample_count, "ten", "whole number"),
        (resample_count, "1000000001", "1,000,000,000"),
        (OPTIONS["--intervals"].settings["type"], "0", "resamples"),
        (OPTIONS["--intervals"].settings["type"], "sample", "resamples"),
        (OPTIONS["--cv"].settings["type"], "1", "at least 2"),
        (job_count, "0", "-1 for all cores"),
        (job_count, "-2", "-1 for all cores"),
        (job_count, "two", "whole number"),
    ],
)
def test_malformed_values_are_refused(parse, found, expected):
    with pytest.raises(argparse.ArgumentTypeError, match=expected) as error:
        parse(found)
    assert re.search(rf" '?{found}'?(?!\w)", str(error.value))


OPTION_MODULES = {"option", "options", "input_options", "analysis_options", "output_options"}


@pytest.mark.parametrize(
    ("args", "imported"), [(["--help"], set()), (["list", "readers"], {"listing"} | OPTION_MODULES)]
)
def test_a_command_imports_no_other(args, imported):
    code = f"import sys; from classic_rc.cli.main import main; main({args!r}); print(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    modules = done.stdout.splitlines()[-1].split()
    loaded = {name.removeprefix("classic_rc.cli.") for name in modules if name.startswith("classic_rc.cli.")}
    assert loaded == {"main", "console"} | imported
