"""Systems that fail, interrupted runs, outputs that cannot be written, and answers that say
nothing.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest

from classic_rc import evaluate, load
from classic_rc.errors import OutputError, SystemFailedError
from classic_rc.solvers import Solver
from tests.command_line import read_record, row_names

SAMPLE = "sample:single-choice"
OWN = """
import time
from classic_rc.predictions import Scores
from classic_rc.solvers import Solver

class Good(Solver):
    def __init__(self, *, decision=None):
        self.decision = decision
    def score_candidates(self, questions):
        return [[float(len(c.text)) for c in q.candidates] for q in questions]

class Init(Good):
    def __init__(self, *, decision=None):
        self.decision = 1 / 0  # Init
class Fit(Good):
    def fit(self, questions, y=None):
        return {}["model"]  # Fit
class Score(Good):
    def score_candidates(self, questions):
        return [missing for q in questions]  # Score
class Shape(Good):
    def score_candidates(self, questions):  # Shape
        return [[1.0] for q in questions]
class NaN(Good):
    def score_candidates(self, questions):
        return Scores.from_lists([[float("nan")] * len(q.candidates) for q in questions])  # NaN
class Explain(Good):
    def explain_each(self, questions):
        return questions[0].nothing  # Explain
class Exit(Good):
    def fit(self, questions, y=None):
        raise SystemExit(0)  # Exit
class Stop(Good):
    def score_candidates(self, questions):
        raise KeyboardInterrupt
class Slow(Good):
    def score_candidates(self, questions):
        print("slow", flush=True)
        time.sleep(60)
"""


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN, encoding="utf-8")
    return path


def line_of(name: str) -> str:
    """The line of the file that a class marks with its name."""
    ends = [line.partition("# ")[2] for line in OWN.splitlines()]
    return f"line {ends.index(name) + 1}"


@pytest.mark.parametrize("name", ["Init", "Fit", "Score", "Shape", "NaN", "Exit"])
def test_a_system_that_fails_is_a_row_of_dashes(cli, own_file, tmp_path, name):
    done = cli("run", SAMPLE, "-s", "sw", "-s", f"{own_file}:{name}", "--save", tmp_path / "r")
    done.fails(5, line_of(name), name=name, place=re.compile(f"own.py, {line_of(name)}$"))
    (dashes,) = (line for line in done.out.splitlines() if line.startswith(f"{name} "))
    assert dashes.count("–") == 2
    assert line_of(name) in done.out  # in the notes of the row, or below the table
    (run,) = read_record(tmp_path / "r")["runs"]
    assert [row["name"] for row in run["rows"]] == ["sliding-window"]
    assert [entry["name"] for entry in run["missing"]] == [name]


def test_systems_that_all_fail_are_all_shown(cli, own_file):
    done = cli("run", SAMPLE, "-s", f"{own_file}:Init", "-s", f"A={own_file}:Fit")
    assert (done.code, [error.exit_code for error in done.errors]) == (5, [5, 5])
    assert [line.split()[0] for line in done.out.splitlines() if "own.py" in line] == ["Init", "A"]


@pytest.mark.parametrize(
    ("command", "survivors"),
    [
        (["predict", SAMPLE, "-s", "OWN:Score"], ""),
        (["explain", SAMPLE, "lantern.1", "-s", "OWN:Explain", "-s", "sw"], "sliding-window"),
        (["compare", "sw", "sw+d", "OWN:Score", "--data", SAMPLE], "sw+d"),
        (
            ["run", SAMPLE, "--perturbed", "no-question", "-s", "OWN:Fit", "-s", "sw"],
            "sliding-window",
        ),
        (
            ["run", "sample:multiple-answer", "--figure", "pr", "-s", "OWN:Score", "-s", "longest"],
            "longest",
        ),
        (
            ["run", SAMPLE, "--cv", "2", "--jobs", "2", "-s", "OWN:Score", "-s", "sw"],
            "sliding-window",
        ),
    ],
)
def test_every_command_keeps_the_other_systems(cli, own_file, command, survivors):
    done = cli(*(arg.replace("OWN", str(own_file)) for arg in command))
    done.fails(5, "own.py, line ")
    assert survivors in done.out
    assert bool(survivors) == bool(done.out)


def test_a_report_has_the_rest(cli, own_file, tmp_path):
    page = tmp_path / "r.html"
    systems = [f"-s{own_file}:{name}" for name in ("Explain", "Fit")]
    done = cli("report", SAMPLE, "--without", "check", "-o", page, *systems)
    assert (done.code, {error.name for error in done.errors}) == (5, {"Explain", "Fit"})
    assert line_of("Fit") in page.read_text("utf-8")


def test_a_failed_cell_of_a_suite_is_tried_again(cli, own_file, tmp_path):
    suite = tmp_path / "s.toml"
    suite.write_text(
        f'[datasets.one]\npath = "{SAMPLE}"\n[systems]\nSW = "sw"\nA = "own.py:Score"\nB = '
        '"own.py:Init"\n',
        "utf-8",
    )
    done = cli("run", suite, "--save", tmp_path / "out", "--trust")
    assert (done.code, {error.name for error in done.errors}) == (5, {"A", "Init"})
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 1
    mended = OWN.replace("missing for q", "[0.0] * len(q.candidates) for q").replace(
        "1 / 0", "decision"
    )
    own_file.write_text(mended, "utf-8")
    done = cli("run", suite, "--save", tmp_path / "out", "--trust")
    assert done.code == 0
    assert row_names(read_record(tmp_path / "out")) == [["SW", "A", "B"]]


def test_from_python_the_cause_is_kept():
    class Wrong(Solver):
        def __init__(self, *, decision=None):
            self.decision = decision

        def score_candidates(self, questions):
            return 7

    with pytest.raises(SystemFailedError) as caught:
        evaluate(load(SAMPLE), {"W": Wrong()})
    assert isinstance(caught.value.__cause__, OutputError)
    assert caught.value.name == "W"
    assert caught.value.place.split(",")[0].endswith("test_failures.py")
    assert evaluate(load(SAMPLE), {"W": Wrong(), "SW": "sw"}).errors.keys() == {"W"}


# --------------------------------------------------------------------------------------------------
# Interruptions


def test_an_interrupted_run_keeps_its_rows_and_says_what_is_missing(cli, own_file, tmp_path):
    saved = tmp_path / "r"
    done = cli(
        "run",
        SAMPLE,
        "sample:cloze",
        "-s",
        "sw",
        "-s",
        f"{own_file}:Stop",
        "-s",
        "random",
        "--save",
        saved,
    )
    assert done.code == 130
    assert [line.split()[0] for line in done.out.splitlines() if " not finished" in line] == [
        "Stop",
        "random",
    ]
    missing = [f"{SAMPLE}: Stop", f"{SAMPLE}: random", "sample:cloze"]
    assert read_record(saved)["interrupted"] == missing
    assert [row["name"] for row in read_record(saved)["runs"][0]["rows"]] == ["sliding-window"]
    assert cli("table", saved).messages("warning", *missing)
    assert cli("reproduce", saved).code == 0


@pytest.mark.ci
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_the_end_that_a_batch_system_asks_for_is_an_interruption(own_file, tmp_path):
    command = [
        sys.executable,
        "-m",
        "classic_rc",
        "run",
        SAMPLE,
        "-s",
        "sw",
        "-s",
        f"{own_file}:Slow",
    ]
    process = subprocess.Popen(
        [*command, "--save", tmp_path / "r"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"slow\n"
    # a run that is killed keeps its rows too
    assert read_record(tmp_path / "r")["interrupted"] == [f"{SAMPLE}: Slow"]
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"not finished" in out


# --------------------------------------------------------------------------------------------------
# Outputs and inputs


@pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="the system has no folder that nobody can write"
)
@pytest.mark.parametrize(
    ("args", "option"),
    [
        (["run", "DATA", "-o", "/proc/x"], "--output"),
        (["run", "DATA", "--save", "/proc/x/y"], "--save"),
        (["run", "DATA", "-o", "DIR/none/x"], "--output"),
        (["run", "DATA", "--format", "suite", "-o", "/proc/x.toml"], "--output"),
        (["index", "FILE", "-o", "/proc/x"], "--output"),
        (["check", "DATA", "--ids", "/proc/x"], "--ids"),
        (["predict", "DATA", "-s", "sw", "-o", "/proc/x"], "--output"),
    ],
)
def test_outputs_are_tried_before_the_work_starts(cli, single, tmp_path, monkeypatch, args, option):
    def load(*args, **more):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("classic_rc.datasets.registry.load", load)
    places = {"DATA": str(single), "FILE": str(single), "DIR": str(tmp_path)}
    for name, place in places.items():
        args = [arg.replace(name, place) for arg in args]
    cli(*args).fails(2, args[-1], field=option, found=args[-1])


def test_a_folder_of_binaries_is_not_indexed(cli, tmp_path):
    lucene = tmp_path / "lucene"
    lucene.mkdir()
    (lucene / "segments_1").write_bytes(b"\x3f\xd7\x6c\x17\x08segments" + bytes(80))
    done = cli("index", lucene, "-o", tmp_path / "i")
    done.fails(3, f"-s ir,engine=lucene,corpus={lucene}", source=str(lucene))
    (lucene / "segments_1").rename(lucene / "a.bin")
    cli("index", lucene, "-o", tmp_path / "i").fails(
        3, source=str(lucene / "a.bin"), found=re.compile("binary")
    )


def test_a_figure_has_no_date_whatever_the_environment_says(cli, single, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    figures = [tmp_path / f"{i}.pdf" for i in range(2)]
    for figure, date in zip(figures, ("0", "today"), strict=True):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
        assert (
            cli("run", single, "-s", "sw", "--by", "kind", "--figure", "groups", "-o", figure).code
            == 0
        )
    assert figures[0].read_bytes() == figures[1].read_bytes()


# --------------------------------------------------------------------------------------------------
# Answers that say nothing


def test_answers_that_say_nothing_are_a_part_of_the_row_and_of_the_paper(
    cli, single, write, tmp_path
):
    answers = write("llm.jsonl", [{"id": "q1", "answer": "B"}, {"id": "q2", "answer": "who knows"}])
    answers.write_text(answers.read_text("utf-8") + '{"id": "q3", "answer": null}\n', "utf-8")
    counts = {"answers": 3, "unparsed": 1, "empty": 1}
    note = "1 of 3 answers unparsed (33.3%), 1 of 3 answers empty (33.3%)"
    saved = tmp_path / "r"
    systems = ["-s", f"LLM={answers}", "-s", f"score-file,path={answers}", "-s", "sw"]
    assert cli("run", single, *systems, "--save", saved).out.count(note) == 2
    rows = {row["name"]: row["answers"] for row in read_record(saved)["runs"][0]["rows"]}
    assert rows.pop("sliding-window") is None
    assert rows.keys() == {"LLM", "score-file"}
    for row in rows.values():
        assert counts.items() <= row.items()
        forms = {form: form_row["answers"] for form, form_row in row["forms"].items()}
        assert forms == {"the whole text": 1, "": 1}
    texts = {name: str(n) for name, n in counts.items()}
    for command in (["run", single, *systems], ["table", saved]):
        (row,) = (r for r in cli(*command, "--format", "csv").records if "LLM" in r.values())
        assert texts.items() <= row.items()
    assert "‡" in cli("table", saved).out
    assert r"$^{\ddagger}$" in cli("table", saved, "--format", "latex").out
    for options in ([], ["--format", "markdown"], ["--methods"]):
        assert note in cli("table", saved, *options).out.replace("\\", "")
    suite = write("s.toml", f'[datasets.d]\npath = "{single}"\n[systems]\nLLM = "{answers}"\n')
    for _ in range(2):  # computed, and kept
        assert note in cli("run", suite, "--save", tmp_path / "out").out
