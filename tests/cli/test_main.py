"""Each kind of error has one line and an exit code; the program also runs as a separate process."""

from __future__ import annotations

import os
import re
import shutil

import numpy as np
import pytest

from classic_rc.datasets.registry import SAMPLES
from classic_rc.errors import MissingPackageError

SINGLE, SEVERAL = "sample:single-choice", "sample:multiple-answer"


@pytest.mark.parametrize(
    ("args", "kind", "typed", "meant"),
    [
        (["rnu", "sample"], "command", "rnu", "run"),
        (["grade", "--assignment", "windo"], "assignment or file", "windo", "window"),
        (["list", "solver"], "list", "solver", "solvers"),
        (["run", SINGLE, "-s", "slidingwindow"], "solver", "slidingwindow", "sliding-window"),
        (["run", SINGLE, "-s", "sw+d:mctest16"], "variant", "mctest16", "mctest160"),
        (["run", SINGLE, "-s", "sw+d,wndow=3"], "parameter", "wndow", "window"),
        (["run", SINGLE, "-s", "sw+d,analyzer=wrd"], "analyzer", "wrd", "word"),
        (["run", SINGLE, "-s", "sw+d,stop_words=smrt"], "stop list", "smrt", "smart"),
        (["run", f"{SINGLE},reader=json"], "reader", "json", "jsonl"),
        (["run", SEVERAL, "-s", "longest", "--tune-metric", "f1a"], "metric", "f1a", "f1_a"),
        (["run", SINGLE, "--by", "levle"], "key", "levle", "level"),
        (["run", "sample:single"], "sample", "sample:single", "sample:single-choice"),
        (["run", SINGLE, "--tresh", "1"], "option of classic-rc run", "--tresh", "--threshold"),
        (["predict", SINGLE, "-s", "longest", "--format", "jsnl"], "format", "jsnl", "jsonl"),
        (["explain", SINGLE, "lantern.11"], f"question of {SINGLE}", "lantern.11", "lantern.1"),
    ],
)
def test_an_unknown_name_gets_the_one_that_was_meant(cli, args, kind, typed, meant):
    done = cli(*args)
    expected = re.compile(rf"(^|, ){re.escape(meant)}(, |$)")
    done.fails(2, repr(typed), repr(meant), field=re.compile(kind), found=typed, expected=expected)
    assert done.out == ""


@pytest.mark.parametrize(
    ("args", "facts"),
    [
        ([], ["COMMAND", "`classic-rc --help`"]),
        (["run"], ["DATA", "`classic-rc run --help`"]),
        (["predict", SINGLE], ["-s", "`classic-rc predict --help`"]),
        (["run", SINGLE, "-s", "longest", SEVERAL], [repr(SEVERAL), "DATA"]),
        (
            ["run", SINGLE, "-s", "longest,unit=miles"],
            ["'unit'", "'characters'", "'words'", "'miles'"],
        ),
        (
            ["run", SINGLE, "-s", "all-positive"],
            ["all-positive", "multiple-answer", "single-choice"],
        ),
        (
            ["run", SINGLE, "-s", "constant-position:majority"],
            ["constant-position", "--train DATA"],
        ),
        (["explain", SINGLE, "lantern.1", "-s", "length"], ["length", "--train DATA", "--cv 5"]),
        (["predict", SINGLE, "-s", "longest", "--format", "record"], ["record", "single-choice"]),
        (
            ["predict", SINGLE, "-s", "longest", "--format", "mctest-answers", "--ties", "strict"],
            ["strict", "--ties first"],
        ),
    ],
)
def test_usage_is_exit_code_2(cli, args, facts):
    done = cli(*args)
    done.fails(2, *facts)
    assert done.out == ""


def test_thresholds_below_nothing_need_an_equals_sign(cli):
    assert cli("run", SEVERAL, "-s", "longest", "--threshold", "-1.5").code == 0
    assert cli("run", SEVERAL, "-s", "longest", "--threshold=-1e-3").code == 0


@pytest.mark.parametrize("content", ["", "{", "a,b\n1,2\n"])
def test_malformed_data_is_exit_code_3(cli, write, content):
    path = write("bad.jsonl", content)
    cli("run", path).fails(3, str(path))


def test_missing_data_is_exit_code_3(cli, tmp_path):
    cli("run", tmp_path / "nothing.json").fails(
        3, source=str(tmp_path / "nothing.json"), where=None
    )
    done = cli("run", SINGLE, "--train", tmp_path / "nothing.json")
    done.fails(3, source=str(tmp_path / "nothing.json"), where=None)
    cli("run", SINGLE, "-s", tmp_path / "nothing.json").fails(
        3, source=str(tmp_path / "nothing.json")
    )
    cli("run", SINGLE, "-s", f"{tmp_path / 'no.py'}:Solver").fails(
        3, source=str(tmp_path / "no.py")
    )
    (tmp_path / "empty").mkdir()
    cli("run", tmp_path / "empty").fails(3, source=str(tmp_path / "empty"))


def test_a_missing_package_is_exit_code_4(cli, monkeypatch):
    def load(*args, **kwargs):
        raise MissingPackageError("frobnicate", needed_for="this dataset", extra="frob")

    monkeypatch.setattr("classic_rc.datasets.registry.load", load)
    cli("run", SINGLE).fails(4, "this dataset", "frobnicate", "pip install 'classic_rc[frob]'")


def test_the_datasets_that_can_be_read_are_reported(cli, write, single, multiple_answer):
    bad = write("bad.jsonl", '{"passage": "p", "question": 3}\n')
    done = cli("run", single, bad, multiple_answer, "-s", "random")
    assert done.code == 3
    assert done.titles == ["single", "several"]
    assert str(bad) in done.err


@pytest.mark.parametrize(
    "args",
    [
        ["run", SINGLE, "-s", "random", "--intervals", "9" * 20],
        ["compare", "sw+d", "--data", SINGLE, "--intervals", "9" * 20],
        ["run", "-s", "random", "sample:multi-span,spans=" + "9" * 5000],
        ["run", SINGLE, "-s", "random", "--intervals", "9" * 5000],
    ],
)
def test_numbers_beyond_all_bounds_are_refused(cli, args):
    cli(*args).fails(2, args[-1].rpartition("=")[2][:20])


def test_too_little_memory_is_one_line(cli, monkeypatch):
    def full(*args, **more):
        raise MemoryError

    monkeypatch.setattr("classic_rc.datasets.registry.load", full)
    cli("check", SINGLE).fails(2, "memory")


def test_the_first_error_gives_the_exit_code(cli, tmp_path, single):
    missing = tmp_path / "missing.jsonl"
    assert cli("run", missing, single, "-s", "all-positive").code == 3
    assert cli("run", single, missing, "-s", "all-positive").code == 2


STOPS = """
from classic_rc import Scores, Solver

class Stops(Solver):
    def score_candidates(self, questions):
        if "station" in questions[0].passage.text:
            raise KeyboardInterrupt
        return Scores.from_lists([0.0] * len(q.candidates) for q in questions)
"""


def test_ctrl_c_in_the_second_dataset_keeps_the_first_ones_table(cli, write, single):
    solver = write("stops.py", STOPS)
    station = write(
        "station.jsonl",
        [{"passage": "The station.", "question": "?", "candidates": ["a"], "gold": 0}],
    )
    done = cli("run", single, station, single, "-s", f"{solver}:Stops")
    assert done.code == 130
    assert done.err.endswith("classic-rc: interrupted\n")
    assert done.out.startswith("single (jsonl)")
    assert done.out.count("questions,") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["run", SINGLE, "-s", "sw"],
        ["predict", SINGLE, "-s", "sw"],
        ["compare", "sw", "sw+d", "--data", SINGLE],
        ["report", SINGLE, "-s", "sw", "-o", "{}/page.html"],
        ["index", SINGLE, "-o", "{}/index"],
    ],
    ids=lambda args: args[0],
)
def test_jobs_that_gain_nothing_are_said_to_be_unused(cli, tmp_path, args):
    args = [arg.format(tmp_path) for arg in args]
    assert cli(*args).err.count("is not used") == 0
    assert cli(*args, "--jobs", 2).err.count("is not used") == 1
    shutil.rmtree(tmp_path / "index", ignore_errors=True)
    assert cli(*args, "--jobs", 2, "-q").err.count("is not used") == 0


def test_control_characters_in_errors_are_spelled_out(cli):
    done = cli("run", "no\x1b[31m\nsuch")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert r"no\x1b[31m\nsuch: " in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize(
    "args",
    [
        ["run", "{}"],
        ["run", "sample:single-choice", "--train", "{}"],
        ["run", "sample:single-choice", "-s", "{}"],
        ["compare", "{}", "sw+d", "--data", "sample:single-choice"],
        ["run", "sample:single-choice", "-s", "longest", "--labels", "{}"],
        ["run", "sample:single-choice", "-s", "saved,path={}"],
        ["reproduce", "{}"],
        ["index", "{}", "-o", "index"],
        ["run", "sample:single-choice", "-s", "{}.py:Own"],
    ],
)
def test_no_command_waits_for_a_pipe(cli, tmp_path, monkeypatch, args):
    monkeypatch.chdir(tmp_path)
    for name in ("pipe", "pipe.py"):
        os.mkfifo(tmp_path / name)
    done = cli(*(arg.format(tmp_path / "pipe") for arg in args))
    assert done.code in (2, 3)
    assert len(done.messages("error")) == 1, done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("content", "format_name"),
    [
        (b"\x93NUMPY\x01\0", "a NumPy array"),
        (b"PK\x03\x04", "zip"),
        (b"\x89PNG\r\n", "a PNG image"),
    ],
)
def test_a_binary_file_is_named_and_the_fix_too(cli, tmp_path, content, format_name):
    path = tmp_path / "answers.bin"
    path.write_bytes(content + bytes(40))
    cli("run", SINGLE, "-s", path).fails(3)
    if format_name != "zip":  # a damaged archive
        for args in ([path], [SINGLE, "-s", path]):
            cli("run", *args).fails(3, path, format_name, "JSON lines or CSV")


def test_a_zip_of_other_files_is_no_log(cli, tmp_path):
    np.savez(tmp_path / "a.npz", scores=np.arange(3))
    cli("run", SINGLE, "-s", tmp_path / "a.npz").fails(3, "scores.npy", ".eval")


@pytest.mark.parametrize("content", ['[{"answer": "A"}]', '["A", "B"]'])
def test_a_list_of_answers_needs_ids(cli, write, content):
    cli("run", SINGLE, "-s", write("answers.json", content)).fails(3, '"id"')


def test_a_number_after_an_option_that_needs_an_equals_sign(cli):
    fields = {"field": "--intervals", "found": "abc"}
    cli("run", SINGLE, "--intervals", "abc").fails(2, "--intervals=N", **fields)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and named pipes")
def test_a_system_that_is_no_regular_file(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("two", "one")
    os.symlink("one", "two")
    os.mkfifo("pipe")
    os.mkdir("folder")
    cli("run", "one").fails(3, "one", "'two'")
    for name in ("one", "pipe", "folder"):
        cli("run", SINGLE, "-s", name).fails(3, name, "expected a file of predictions")


def test_a_name_of_several_datasets_is_not_one(cli):
    cli("predict", "sample", "-s", "sw").fails(2, *SAMPLES)
