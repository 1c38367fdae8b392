"""Wrong values of every option of every command: one line names what is wrong, and nothing is
written.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
from importlib import import_module
from pathlib import Path

import pytest

from classic_rc.cli.options import TABLE
from classic_rc.cli.registry import COMMANDS
from classic_rc.commands.grade import load_assignment

DATA, DEV, OUTPUT = "own", {"--split": "dev"}, "new"
SMALLEST = {
    "run": ([DATA], {**DEV, "--solver": "sw"}),
    "floor": ([], {}),
    "predict": ([DATA], {**DEV, "--solver": "sw"}),
    "compare": (["sw", "sw+d"], {**DEV, "--data": DATA}),
    "table": (["record"], {}),
    "check": ([DATA], {**DEV, "--fail": "shortcuts"}),
    "reproduce": (["record"], {}),
    "perturb": ([DATA], {**DEV, "--with": "no-question", "--output": OUTPUT}),
    "explain": ([DATA, "q1"], {**DEV, "--solver": "sw"}),
    "report": ([DATA], {**DEV, "--solver": "sw", "--without": "check", "--output": OUTPUT}),
    "fit": ([DATA], {**DEV, "--solver": "surface-lr", "--output": OUTPUT}),
    "fetch": (["race"], {}),
    "index": (["texts.jsonl"], {"--output": "index"}),
    "grade": (["ties.py"], {"--assignment": "ties", "--seed": "3"}),
    "list": (["solvers"], {}),
}
"""The arguments and options of a command line that succeeds; `fetch` alone needs the network."""

NONSENSE = "no_such_thing"
BLANK = ["", " "]
ADVICE = re.compile("expected|choose from|did you mean|needs|add|leave|repeat|too long")
QUICK = [NONSENSE, *BLANK, "-1", "nan", "9" * 25, "sw,,word"]
VALUES = [*QUICK, "0", "inf", "9" * 300, "none.jsonl", "folder", "picture.png", "a.toml", ",", "="]


@pytest.fixture
def folder(cli, forty_questions, tmp_path, monkeypatch):
    """A folder with small input for every command, and no network."""

    def refuse(*address, **more):
        raise AssertionError("the network is used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.chdir(tmp_path)
    Path(DATA).mkdir()
    for split in ("train", "dev"):
        shutil.copy(forty_questions, Path(DATA, f"{split}.jsonl"))
    systems = ["-s", "sw", "-s", "longest"]
    assert cli("run", f"{DATA}/dev.jsonl", *systems, "--save", "record").code == 0
    texts = [json.dumps({"id": str(i), "text": f"Owl {i} flew."}) for i in range(5)]
    Path("texts.jsonl").write_text("\n".join(texts), encoding="utf-8")
    Path("ties.py").write_bytes(load_assignment("ties").drawn(3).source().encode())
    Path("folder").mkdir()
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    return tmp_path


def written(folder):
    """What is in the folder, and its text."""
    texts = dict.fromkeys(sorted(folder.rglob("*")), "")
    for path in filter(Path.is_file, texts):
        texts[path] = path.read_bytes().decode(errors="replace")
    return texts


def words_with(command, option, value):
    """The smallest command line of a command, with a value of one of its arguments."""
    arguments, options = SMALLEST[command]
    options = {flag: text for flag, text in options.items() if flag not in option.flags}
    if option.is_positional:
        places = [argument.flags for argument in arguments_of(command)]
        place = places.index(option.flags)
        arguments = [*arguments[:place], value, *arguments[place + 1 :]]
    else:
        options[option.flag] = value
    return [command, *arguments, *(f"{flag}={text}" for flag, text in options.items())]


def options_of(command):
    """The options that have a value."""
    options = TABLE.choose(import_module(COMMANDS[command].module).OPTIONS)
    return [option for option in options if option.settings.get("action") != "store_true"]


def arguments_of(command):
    return [option for option in options_of(command) if option.is_positional]


def check_value(cli, folder, words, option, value):
    """Run a command line; return its error, or None if the value is accepted."""
    before = written(folder)
    done = cli(*words)
    after = written(folder)
    new = {path: text for path, text in after.items() if before.get(path) != text}
    if done.code in (0, 1):  # 1 is a result: a finding, or a wrong solution
        assert value.strip(), "a blank value is accepted"
        if value == NONSENSE:
            assert value in f"{done.out}{new}", "the value has no effect"
        for path in sorted(new, reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        return None
    assert done.code in (2, 3), done.err
    assert not new, done.err
    assert "Traceback" not in done.err
    (line,) = done.messages("error")
    (error,) = done.errors or [None]
    if done.code == 2:
        assert done.out == ""
        assert ADVICE.search(line) or error.expected, line
    parts = [repr(piece) if not piece.strip() else piece for piece in re.split("[,=]", value)]
    names = {option.dest, option.flags[-1], option.settings.get("metavar", option.dest)}
    shown_value = value.strip() or repr(value)
    assert any(text in line for text in (*names, shown_value, *parts)), line
    return error


def faults_of(cli, folder, command, option, values):
    """Yield what is wrong about the messages for values, and for a slip in a known name."""
    values = list(values)
    for value in values:
        words = words_with(command, option, value)
        try:
            error = check_value(cli, folder, words, option, value)
        except AssertionError as fault:
            yield f"classic-rc {' '.join(words)}: {fault}"
            continue
        if value == NONSENSE and "choose from" in str(error):
            choices = re.search(r"choose from (\S+?)(,| |$)", str(error))[1]
            values.append(choices[:-1])
        elif value not in VALUES and "did you mean" not in str(error):
            yield f"classic-rc {' '.join(words)}: {error}: {choices!r} was meant"


def test_every_command_has_a_smallest_command_line_that_succeeds(cli, folder):
    assert SMALLEST.keys() == COMMANDS.own.keys()
    for command, (arguments, options) in SMALLEST.items():
        if command != "fetch":
            words = (f"{flag}={text}" for flag, text in options.items())
            assert cli(command, *arguments, *words).code == 0, command


@pytest.mark.parametrize(
    ("values", "step"),
    [
        pytest.param(QUICK, False, id="each option of its first command"),
        pytest.param(VALUES, True, id="each option of each command", marks=pytest.mark.ci),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(cli, folder, values, step):
    seen, faults = [], []
    for command in COMMANDS.own:
        for option in options_of(command):
            declared = option.flags, option.settings
            if step or declared not in seen:
                seen.append(declared)
                faults += faults_of(cli, folder, command, option, values)
    assert not faults, "\n".join(faults)


def test_a_value_that_is_given_twice_is_refused(cli, folder):
    for command in COMMANDS.own:
        for option in options_of(command):
            if option.settings.get("action") == "append":
                words = words_with(command, option, NONSENSE)
                done = cli(*words, f"{option.flag}={NONSENSE}")
                done.fails(2, option.flag, repr(NONSENSE), field=option.flag)
