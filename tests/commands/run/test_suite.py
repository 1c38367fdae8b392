"""``classic-rc run SUITE.toml``: what is printed, kept, reused and refused; and ``--format
suite``.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import tomllib

import pytest

from classic_rc.errors import UsageError
from classic_rc.io.files import exclusive_lock
from classic_rc.running.suite import read_suite
from tests.command_line import read_record, row_names
from tests.depth import thinned

SUITE = """
baseline = "SW"
intervals = 100

[datasets.one]
path = "sample:single-choice"
by = "question-type"

[datasets.several]
path = "sample:multiple-answer"

[systems]
Random = "random"
SW = "sw"
Frequency = {one = "shortest", several = "longest"}
Spans = {one = "span-sw", several = "ir"}
"""


@pytest.fixture
def suite(write):
    return write("suite.toml", SUITE)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def lines(done):
    """The lines about finished cells."""
    return [line.removeprefix("classic-rc: ") for line in done.err.splitlines() if " cells" in line]


def numbers(record):
    """Return the runs of a record without names of datasets, times and places."""
    runs = record["runs"]
    for run in runs:
        del run["dataset"]["name"], run["dataset"]["read_with"]
        del run["protocol"]["systems"]
        for row in run["rows"]:
            del row["seconds"], row["params"]
    return runs


def test_a_suite_prints_a_table_for_each_dataset_and_a_line_for_each_cell(cli, suite, out):
    done = cli("run", suite, "--save", out)
    assert done.code == 0, done.err
    assert done.titles == ["one", "several"]
    finished = lines(done)
    assert finished[0].startswith("one: Random: Acc. 25.00 (1 of 8 cells)")
    assert finished[-1].startswith("several: Spans: F1a ")
    # all-positive is shown with questions of several right answers
    assert finished[-1].endswith(" (9 of 9 cells)")
    assert len(finished) == 9
    (reason,) = [line for line in finished if "no result" in line]
    assert reason.startswith("one: Spans: ")
    assert len(list((out / "cells").iterdir())) == 8


def test_the_record_is_that_of_run_and_other_commands_read_it(cli, suite, out, tmp_path):
    assert cli("run", suite, "--save", out).code == 0
    systems = ["-s", "Random=random", "-s", "SW=sw"]
    done = cli(
        *("run", "sample:multiple-answer", *systems, "-s", "Frequency=longest", "-s", "Spans=ir"),
        *("--baseline", "SW", "--intervals", "100", "--save", tmp_path / "run"),
    )
    assert done.code == 0
    record, run_file = read_record(out), read_record(tmp_path / "run")
    assert [run["dataset"]["name"] for run in record["runs"]] == ["one", "several"]
    assert record["runs"][0]["missing"][0]["name"] == "Spans"
    assert numbers(record)[1] == numbers(run_file)[0]
    assert cli("reproduce", out).code == 0
    compared = cli("compare", f"{out}", "--format", "json")
    assert compared.code == 0
    assert "several" in compared.out


STOPS = """
import os, signal
from pathlib import Path
from classic_rc import Scores, Solver

class Stops(Solver):
    def score_candidates(self, questions):
        kind = Path("stop").read_text() if Path("stop").exists() else ""
        if kind == "SIGTERM":
            os.kill(os.getpid(), signal.SIGTERM)
        if kind == "SIGINT":  # which a process in the background may ignore
            raise KeyboardInterrupt
        return Scores.from_lists([0.0] * len(q.candidates) for q in questions)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way there")
@pytest.mark.parametrize("kind", thinned(["SIGINT", "SIGTERM"], 2, first=1))
def test_an_interrupted_suite_keeps_what_is_finished_and_goes_on(
    cli, write, out, tmp_path, monkeypatch, kind
):
    monkeypatch.chdir(tmp_path)
    write("stops.py", STOPS)
    path = write(
        "suite.toml", SUITE.replace("Random = ", 'Stops = {several = "stops.py:Stops"}\nRandom = ')
    )
    stop = write("stop", kind)
    handler = signal.getsignal(signal.SIGTERM)
    done = cli("run", path, "--save", out, "--trust")
    assert done.code == 130
    assert signal.getsignal(signal.SIGTERM) is handler
    assert f"classic-rc run {path} --trust --save {out}" in done.err
    assert "5 of 10 cells are finished (4 now)" in done.err
    assert row_names(read_record(out)) == [["Random", "SW", "Frequency"], ["all-positive"]]
    assert "all-positive" in done.out
    stop.unlink()
    resumed = cli("run", path, "--save", out, "--trust")
    assert resumed.code == 0
    assert lines(resumed)[-1].endswith(" (10 of 10 cells, 4 reused)")
    assert resumed.out == cli("run", path, "--save", out.with_name("whole"), "--trust").out


def test_an_unreadable_dataset_loses_only_its_own_cells(cli, write, out):
    path = write("suite.toml", SUITE.replace("sample:single-choice", "gone.jsonl"))
    done = cli("run", path, "--save", out)
    done.fails(3, "gone.jsonl")
    assert "several (" in done.out
    assert len(read_record(out)["runs"]) == 1


KILLED = """
import os
import signal

import classic_rc


class Own(classic_rc.Solver):
    def score_candidates(self, questions):
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.ci
@pytest.mark.skipif(os.name == "nt", reason="processes end in another way")
def test_a_killed_worker_is_one_line_and_finished_cells_stay(cli, write, out, tmp_path):
    write("own.py", KILLED)
    systems = '[systems]\nSW = "sw"\nLexical = "lexical"\n'
    suite = write("suite.toml", f'[datasets.one]\npath = "sample:single-choice"\n{systems}')
    assert cli("run", suite, "--save", out).code == 0
    suite.write_text(
        f'[datasets.one]\npath = "sample:single-choice"\n{systems}Own = "own.py:Own"\nIR = "ir"\n'
    )
    done = cli("run", suite, "--save", out, "--jobs", "2", "--trust")
    assert done.code == 5
    assert "a process ended (from outside" in done.err
    assert "Traceback" not in done.err
    assert {"SW", "Lexical"} <= {*row_names(read_record(out))[0]}


def test_a_second_suite_in_a_folder_waits(cli, suite, out):
    out.mkdir()
    waits = []
    with exclusive_lock(out / ".lock", waits.append):
        thread = threading.Thread(target=lambda: waits.append(cli("run", suite, "--save", out)))
        thread.start()
        thread.join(3)
        assert thread.is_alive()
        assert not (out / "run.json").exists()
    thread.join(120)
    (done,) = waits
    assert done.code == 0
    assert f"another suite runs in {out}: waiting" in done.err


def test_a_record_of_other_data_stays_under_another_name(cli, out):
    first = ("run", "sample:single-choice", "-s", "sw", "--save", out)
    assert "was the record" not in cli(*first).err
    assert "was the record" not in cli(*first).err
    done = cli("run", "sample:multiple-answer", "-s", "sw", "--save", out)
    assert (
        f"{out / 'run.json'} was the record of sample:single-choice: it is run.1.json" in done.err
    )
    earlier = json.loads((out / "run.1.json").read_text())
    assert earlier["runs"][0]["dataset"]["name"] == "sample:single-choice"
    assert read_record(out)["runs"][0]["dataset"]["name"] == "sample:multiple-answer"


def test_a_system_that_answers_no_dataset_is_an_error(cli, write, out):
    path = write("suite.toml", SUITE + 'Ours = "gone.jsonl"\n')
    done = cli("run", path, "--save", out)
    assert done.code == 3
    assert all("Ours" in message and "gone.jsonl" in message for message in done.messages("error"))
    assert row_names(read_record(out))[0] == ["Random", "SW", "Frequency"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("-s", "sw"), "--solver"),
        (("--cv", "3"), "--cv"),
        (("--threshold", "0"), "--threshold"),
        (("--by", "type"), "--by"),
        (("--train", "sample:cloze"), "--train"),
        (("sample:cloze",), "DATA"),
    ],
)
def test_options_that_a_suite_replaces_are_refused(cli, suite, out, arguments, field):
    first, *others = arguments
    done = cli(
        "run", suite, *(arguments if first.startswith("-") else [first, *others]), "--save", out
    )
    done.fails(2, suite.name, field=field)
    assert isinstance(done.errors[0], UsageError)
    assert not out.exists()


def test_a_suite_needs_a_folder(cli, suite, tmp_path):
    cli("run", suite).fails(2, "--save", field="--save", expected="--save DIR")
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    cli("run", suite, "--save", file).fails(2, file)


# --------------------------------------------------------------------------------------------------
# --format suite


@pytest.mark.parametrize(
    "arguments",
    [
        (
            "{single}",
            "sample:several",
            "-s",
            "sw",
            "-s",
            "random",
            "--seed",
            "3",
            "--ties",
            "random",
        ),
        (
            "{single}",
            "-s",
            "sw",
            "-s",
            "A=sw,window=2",
            "-s",
            "ours.jsonl",
            "--by",
            "kind",
            "--metrics",
            "accuracy",
        ),
        (
            "sample:multiple-answer",
            "-s",
            "sw",
            "--baseline",
            "ir",
            "--intervals",
            "50",
            "--threshold",
            "1.5",
        ),
        ("sample:single-choice", "-s", "surface-lr", "-s", "ir,exclude_verbatim=True", "--cv", "2"),
        ("{single}", "--train", "sample:single-choice", "--drop-overlap", "-s", "surface-lr"),
    ],
)
def test_a_written_suite_gives_the_same_numbers(cli, single, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites").mkdir()
    assert (
        cli("predict", single.name, "-s", "sw+d", "-o", "ours.jsonl", "--format", "jsonl").code == 0
    )
    typed = [
        a.format(single=single.name).replace("sample:several", "sample:multiple-answer")
        for a in arguments
    ]
    written = cli("run", *typed, "--format", "suite", "-o", "suites/typed.toml")
    assert written.code == 0, written.err
    assert written.out == ""
    assert cli("run", *typed, "--save", "typed").code == 0
    done = cli("run", "suites/typed.toml", "--save", "made")
    assert done.code == 0, done.err
    typed_record, made_record = read_record(tmp_path / "typed"), read_record(tmp_path / "made")
    assert row_names(typed_record) == row_names(made_record)
    typed_runs, made_runs = numbers(typed_record), numbers(made_record)
    for run in (*typed_runs, *made_runs):
        run["dataset"].pop("warnings")  # the same ones, in another order
    assert typed_runs == made_runs


def test_written_paths_are_relative_to_the_suite(cli, single, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites").mkdir()
    assert (
        cli("run", single.name, "-s", "sw", "--format", "suite", "-o", "suites/typed.toml").code
        == 0
    )
    content = tomllib.loads((tmp_path / "suites/typed.toml").read_text("utf-8"))
    assert content["datasets"]["single"]["path"] == "../single.jsonl"
    (dataset,) = read_suite(str(tmp_path / "suites/typed.toml")).datasets
    assert os.path.samefile(dataset.values["path"], single)


def test_several_datasets_of_one_name_get_different_ones(cli, single, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("run", single, single, "-s", "sw", "--format", "suite", "-o", "typed.toml").code == 0
    assert [dataset.name for dataset in read_suite("typed.toml").datasets] == [
        "single",
        "single (2)",
    ]


def test_a_suite_is_written_as_toml_and_nowhere_else(cli, single, tmp_path):
    cli("run", single, "--format", "suite", "-o", tmp_path / "typed.txt").fails(
        2, ".toml", field="--output"
    )
    cli("run", single, "--format", "suite", "-o", tmp_path / "a.toml", "--save", "x").fails(
        2, field="--save"
    )
    cli("run", single, "--format", "suite", "-o", tmp_path / "no" / "a.toml").fails(
        2, field="--output"
    )
