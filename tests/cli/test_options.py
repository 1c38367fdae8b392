"""The options of commands: how many each has, that one table declares them, and how their values
are parsed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from importlib import import_module
from itertools import chain

import pytest

from classic_rc.cli.options import TABLE
from classic_rc.cli.registry import COMMANDS


def choice_of(command):
    return import_module(COMMANDS[command].module).OPTIONS


def options_of(command):
    return list(TABLE.choose(choice_of(command)))


def value(name, text):
    all_options = chain.from_iterable(map(options_of, COMMANDS))
    option = next(option for option in all_options if option.name == name)
    return option.settings["type"](text)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_every_option_of_the_table_is_an_option_of_some_command():
    used = {option.name for command in COMMANDS for option in options_of(command)}
    assert used >= {option.name for option in TABLE}


def test_the_programs_help_has_a_line_for_each_command(cli):
    done = cli("--help")
    assert done.code == 0
    text = " ".join(done.out.split())
    assert all(f"{name} {command.help}" in text for name, command in COMMANDS.items())


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
    ("name", "reported", "expected"),
    [
        ("--intervals", "0", "resamples"),
        ("--intervals", "1000000001", "1,000,000,000"),
        ("--intervals", "sample", "resamples"),
        ("--cv", "1", "at least 2"),
        ("--jobs", "0", "-1 for all cores"),
        ("--jobs", "-2", "-1 for all cores"),
        ("--jobs", "two", "number of processes"),
        ("--threshold", "nan", "finite number, exact or multirc2018"),
        ("--threshold", "x", "finite number, exact or multirc2018"),
        ("--skip", "good", "bad, unlabelled"),
        ("--without", "results", "check, explanations, floors"),
    ],
)
def test_malformed_values_are_refused(name, reported, expected):
    with pytest.raises(argparse.ArgumentTypeError, match=expected) as error:
        value(name, reported)
    assert re.search(rf" '?{reported}'?(?!\w)", str(error.value))


@pytest.mark.ci
@pytest.mark.parametrize(
    ("args", "imported"),
    [(["--help"], set()), (["list", "readers"], {"commands.list", "cli.option", "cli.options"})],
)
def test_a_command_imports_no_other(args, imported):
    code = (
        f"import sys; from classic_rc.cli.main import main; main({args!r}); print(); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    modules = done.stdout.splitlines()[-1].split()
    shell = ("classic_rc.cli.", "classic_rc.commands.")
    loaded = {name.removeprefix("classic_rc.") for name in modules if name.startswith(shell)}
    assert loaded == {"cli.main", "cli.console", "cli.registry"} | imported
