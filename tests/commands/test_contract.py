"""What every command of the registry keeps, and a throw-away command of another package."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import classic_rc
from classic_rc.cli.option import Option
from classic_rc.cli.options import TABLE
from classic_rc.cli.registry import COMMANDS

MOST_SHORT, MOST_LONG, MOST_COMMANDS = 20, 32, 15
COMMANDS_FOLDER = Path(classic_rc.__file__).parent / "commands"


def module_of(name):
    return import_module(COMMANDS[name].module)


def options_of(name):
    return list(TABLE.choose(module_of(name).OPTIONS))


def flags_in(text):
    """The flags that have an entry in a help text."""
    return re.findall(r"^  (?:-\w(?: \S+)?, )?(--[\w-]+)", text, re.MULTILINE)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_there_are_few_commands_and_each_folder_or_file_is_one():
    assert len(COMMANDS.own) <= MOST_COMMANDS
    homes = {command.module.split(".")[2] for command in COMMANDS.own.values()}
    assert homes == {
        path.stem for path in COMMANDS_FOLDER.iterdir() if not path.name.startswith("_")
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_the_long_help_shows_every_option(cli, name):
    done = cli(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: classic-rc {name} ")
    flagged = [option for option in options_of(name) if not option.is_positional]
    assert len(flagged) <= MOST_LONG
    assert {*flags_in(done.out)} == {"--help", *(option.flag for option in flagged)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_shows_the_usual_options(cli, name):
    done = cli(name, "-h")
    flagged = [option for option in options_of(name) if not option.is_positional]
    help_flags = flags_in(done.out)
    assert (done.code, len(help_flags) <= MOST_SHORT) == (0, True)
    assert {*help_flags} == {"--help", *(option.flag for option in flagged if not option.rare)}
    rare = sum(option.rare for option in flagged)
    assert (f"{rare} more options: classic-rc {name} --help" in done.out) is (rare > 0)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_line_is_that_of_its_module(name):
    line = COMMANDS[name].help
    assert line.endswith(".")
    documented = " ".join(module_of(name).__doc__.split())
    assert documented.startswith(f"``classic-rc {name}``: {line}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_heading_a_help_and_one_declaration(name):
    options = options_of(name)
    assert len({option.dest for option in options}) == len(options)
    assert len({option.name for option in options}) == len(options)
    assert all(
        option.settings["help"] and (option.is_positional or option.heading) for option in options
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_lists_can_be_listed(cli, name):
    assert {*COMMANDS[name].lists} == {*getattr(module_of(name), "LISTS", {})}
    assert all(cli("list", what).code == 0 for what in COMMANDS[name].lists)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_use_is_one_line_that_names_the_help(cli, name):
    done = cli(name, "--frobnicate")
    (line,) = done.err.splitlines()
    assert (done.code, "--frobnicate" in line or f"classic-rc {name} --help" in line) == (2, True)


def test_an_option_of_one_command_is_declared_by_it():
    """The shared table has what several commands have, and variations of it."""
    users = {option.name: set() for option in TABLE}
    varied = set()
    for name in COMMANDS.own:
        varied |= {item.name for item in module_of(name).OPTIONS if isinstance(item, Option)}
        for option in options_of(name):
            users.setdefault(option.name, set()).add(name)
    alone = {option.name for option in TABLE if len(users[option.name]) < 2} - varied
    assert alone <= ALONE


ALONE = {"--digits"}


def test_no_text_of_main_names_a_command():
    tree = ast.parse((COMMANDS_FOLDER.parent / "cli" / "main.py").read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert not [text for text in texts if text in COMMANDS.own]
