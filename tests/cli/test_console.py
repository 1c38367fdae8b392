"""Output: formats, files, and consoles with limited encodings."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys

import pytest

from classic_rc import __version__
from classic_rc.cli.inputs import shows_progress
from classic_rc.cli.main import main
from classic_rc.io.json import JSON_SCHEMA, render_json


def test_results_are_on_stdout_and_all_else_on_stderr(cli, own_files):
    done = cli("run", own_files / "race", "--threshold", "1", "-s", "random")
    assert "warning:" not in done.out
    assert done.err.count("\n") == done.err.count("classic-rc: ")


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_output_files_are_utf8_with_lf(cli, write, tmp_path, form):
    data = write("mine.jsonl", [_greek()])
    out = tmp_path / "results"
    done = cli("run", data, "-s", "random", "--by", "kind", "--format", form, "-o", out)
    assert (done.code, done.out) == (0, "")
    content = out.read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert ("λόγος" in content.decode("utf-8")) is (form != "json")
    if form == "json":
        assert "λόγος" in json.loads(content)["runs"][0]["rows"][0]["groups"]


def _greek():
    return {
        "passage": "ἐν ἀρχῇ ἦν ὁ λόγος",
        "question": "τί;",
        "candidates": ["a", "b"],
        "gold": 0,
        "meta": {"kind": "λόγος"},
    }


def test_an_output_file_is_replaced_as_a_whole(cli, single, tmp_path):
    out = tmp_path / "table.txt"
    out.write_text("old " * 10_000, encoding="utf-8")
    cli("run", single, "-s", "random", "-o", out)
    assert out.read_text(encoding="utf-8").startswith("single (jsonl)")
    assert "old" not in out.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["single.jsonl", "table.txt"]


@pytest.mark.parametrize(
    ("failure", "code"), [(PermissionError(13, "Permission denied"), 2), (KeyboardInterrupt(), 130)]
)
def test_an_output_file_is_never_half_written(cli, single, tmp_path, monkeypatch, failure, code):
    out = tmp_path / "table.txt"
    out.write_text("old", encoding="utf-8")

    def replace(temporary, path):
        assert temporary.read_text(encoding="utf-8").startswith("single (jsonl)")
        raise failure

    monkeypatch.setattr("os.replace", replace)
    done = cli("run", single, "-s", "random", "-o", out)
    assert done.code == code
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["single.jsonl", "table.txt"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
def test_what_cannot_be_written_is_printed(cli, single, tmp_path):
    out = "/dev/full"
    done = cli("run", single, "-s", "random", "-o", out, "--save", tmp_path / "saved")
    assert done.code == 2
    done.fails(2, out)
    assert done.out.startswith("single (jsonl)")
    assert (tmp_path / "saved" / "run.json").is_file()


@pytest.mark.parametrize("command", ["run", "predict", "explain"])
def test_an_impossible_output_is_refused_before_anything_is_read(cli, tmp_path, command):
    data = [tmp_path / "no data"]
    more = {"run": [], "predict": ["-s", "longest"], "explain": ["q1"]}[command]
    for out in (tmp_path, tmp_path / "no folder" / "out.txt"):
        done = cli(command, *data, *more, "-o", out)
        done.fails(2, out, field="--output", found=str(out))
        assert done.out == ""


def test_an_output_file_never_replaces_an_input(cli, single, tmp_path, monkeypatch):
    before = single.read_bytes()
    monkeypatch.chdir(tmp_path)
    for args in (
        ("run", single),
        ("run", "sample", "--train", single),
        ("run", "sample:cloze", "-s", single),
    ):
        cli(*args, "-o", "single.jsonl").fails(2, field="--output", found="single.jsonl")
    assert single.read_bytes() == before


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("run", ["DATA", "-s", "longest"]),
        ("compare", ["--data", "DATA", "longest", "shortest", "--intervals", "20"]),
        ("check", ["DATA"]),
        ("reproduce", ["RECORD"]),
        ("explain", ["DATA", "q1"]),
    ],
)
def test_every_result_in_json_begins_with_the_version(cli, single, tmp_path, command, args):
    paths = {"DATA": single, "RECORD": tmp_path / "record"}
    if command == "reproduce":
        cli("run", single, "-s", "longest", "--save", paths["RECORD"])
    done = cli(command, *(paths.get(arg, arg) for arg in args), "--format", "json")
    assert done.code == 0, done.err
    assert list(done.json.items())[:2] == [("version", __version__), ("schema", JSON_SCHEMA)]
    assert len(done.json) > 2
    record = cli(command, *(paths.get(arg, arg) for arg in args), "--format", "json").json
    assert list(done.json)[-1] == "times" or "times" not in done.json
    assert "seconds" not in json.dumps({**done.json, "times": None})
    assert {**record, "times": None} == {**done.json, "times": None}


def test_infinite_numbers_are_written_where_they_may_be():
    assert '"score": Infinity' in render_json({"score": float("inf")}, infinite=True)
    with pytest.raises(ValueError, match="not JSON compliant"):
        render_json({"score": float("inf")})


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null here")
def test_a_device_stays_a_device(cli, single):
    assert cli("run", single, "-s", "random", "-o", "/dev/null").code == 0
    assert not os.path.isfile("/dev/null")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_link_stays_a_link(cli, single, tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    assert cli("run", single, "-s", "random", "-o", link).code == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("single")


class Console(io.TextIOWrapper):
    """A stream of some encoding, a terminal or not."""

    def __init__(self, encoding, tty=False):
        super().__init__(io.BytesIO(), encoding=encoding, newline="\r\n")
        self._tty = tty

    def isatty(self):
        return self._tty

    def text(self, encoding=None):
        self.flush()
        return self.buffer.getvalue().decode(encoding or self.encoding)


@pytest.fixture
def console(monkeypatch):
    def on(encoding, *args, tty=False, **environment):
        for name in ("NO_COLOR", "PYTHONIOENCODING"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        out, err = Console(encoding, tty), Console(encoding, tty)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        code = main([str(arg) for arg in args])
        return code, out, err

    return on


def test_a_pipe_gets_utf8_with_lf_whatever_the_locale(console, single):
    code, out, _ = console("ascii", "run", single, "-s", "random")
    assert code == 0
    assert "·" in out.text("utf-8")
    assert "\r" not in out.text("utf-8")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
@pytest.mark.parametrize("tty", [False, True])
def test_a_poor_encoding_gets_ascii_for_what_it_lacks(console, write, encoding, tty):
    passage = "Zoë Dvořák went → to “Οδησσός”… 日本 😀."
    data = write(
        "mine.jsonl",
        [{"passage": passage, "question": "Who went?", "candidates": ["Dvořák"], "gold": 0}],
    )
    for args in (
        ("run", data, "-s", "random"),
        ("explain", data, "q1"),
        ("list", "formats"),
    ):
        code, out, err = console(encoding, *args, tty=tty, PYTHONIOENCODING=encoding)
        assert (code, err.text()) == (0, "")
        text = out.text()
        assert text
        if args[0] == "explain":
            assert "Dvor" in text
            assert "went" in text
        if args[:2] == ("list", "formats") and encoding == "ascii":
            assert "..." in text
    code, _, err = console(encoding, "run", "日本.jsonl", tty=tty, PYTHONIOENCODING=encoding)
    assert code == 3
    assert ".jsonl: " in err.text()


@pytest.mark.parametrize("quiet", [True, False])
def test_progress_is_shown_unless_quiet(quiet):
    assert shows_progress(argparse.Namespace(quiet=quiet)) is not quiet


def test_the_contents_of_files_cannot_drive_the_terminal(cli, write):
    row = {
        "passage": "Ann \x1b[2J left\x07 for \u202eHome\u202c.\u2028Bob stayed.",
        "question": "Where \x1b]0;title\x07did Ann go?",
        "candidates": ["for \x1b[5mHome", "out\n\nside", "\x9b31m"],
        "gold": 0,
        "id": "q\x1b[31m1",
        "meta": {"ki\x1bnd": "wh\x1b[31mere\r\n"},
    }
    data = write("mine.jsonl", [row])
    outputs = [cli("explain", data, row["id"])]
    outputs += [
        cli("run", data, "--by", "ki\x1bnd", "--format", form)
        for form in ("table", "markdown", "latex", "csv", "json")
    ]
    for done in outputs:
        assert done.code == 0
        assert not set(done.out) & set("\x1b\x07\x9b\r\u202e\u2028")
    assert r"q\x1b[31m1: Where \x1b]0;title\x07did Ann go?" in outputs[0].out
    assert r"out\n\nside" in outputs[0].out
    done = cli("explain", data, "nothing of that kind")
    assert "\x1b" not in done.err
