"""What goes wrong ends with one line on stderr and the exit code for its kind; what went right is printed."""

from __future__ import annotations

import pytest

from classic_rc.errors import MissingPackageError

SINGLE, SEVERAL = "sample:single-choice", "sample:multiple-answer"


def fails(done, code, *parts):
    assert done.code == code, done.err
    errors = [line for line in done.err.splitlines() if line.startswith("classic-rc: error: ")]
    assert len(errors) == 1, done.err
    assert "Traceback" not in done.err
    for part in parts:
        assert part in errors[0]


@pytest.mark.parametrize(
    ("args", "kind", "meant"),
    [
        (["rnu", "sample"], "command", "run"),
        (["list", "solver"], "list", "solvers"),
        (["run", SINGLE, "-s", "slidingwindow"], "solver", "sliding-window"),
        (["run", SINGLE, "-s", "sw+d:mctest16"], "variant of sw+d", "mctest160"),
        (["run", SINGLE, "-s", "sw+d,wndow=3"], "parameter of sw+d", "window"),
        (["run", SINGLE, "-s", "sw+d,analyzer=wrd"], "analyzer", "word"),
        (["run", SINGLE, "-s", "sw+d,stop_words=smrt"], "stop list", "smart"),
        (["run", SINGLE, "--reader", "json"], "reader", "jsonl"),
        (["run", SEVERAL, "-s", "longest", "--tune-metric", "f1a"], "multiple-answer metric", "f1_a"),
        (["run", SINGLE, "--group-by", "levle"], "key of sample:single-choice", "level"),
        (["run", "sample:single"], "sample", "sample:single-choice"),
        (["run", SINGLE, "--tresh", "1"], "option of classic-rc run", "--threshold"),
        (["predict", SINGLE, "-s", "longest", "--as", "jsnl"], "format", "jsonl"),
        (["explain", SINGLE, "lantern.11"], "question of sample:single-choice", "lantern.1"),
    ],
)
def test_an_unknown_name_gets_the_one_that_was_meant(cli, args, kind, meant):
    done = cli(*args)
    fails(done, 2, f"unknown {kind} ", "did you mean", repr(meant))
    assert done.out == ""


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ([], "required: COMMAND"),
        (["run"], "required: DATA"),
        (["predict", SINGLE], "required: -s"),
        (["run", SINGLE, "--ties", "maybe"], "--ties: invalid choice: 'maybe'"),
        (["run", SINGLE, "--format", "xml"], "--format: invalid choice: 'xml'"),
        (["run", SINGLE, "--gold-as", "number"], "--gold-as: invalid choice: 'number'"),
        (["run", SINGLE, "--seed", "x"], "--seed: 'x' is no whole number"),
        (["run", SINGLE, "--threshold", "high"], "--threshold: 'high' is no finite number"),
        (["run", SINGLE, "--threshold", "nan"], "--threshold: 'nan' is no finite number"),
        (["run", SINGLE, "--threshold", "inf"], "--threshold: 'inf' is no finite number"),
        (["run", SINGLE, "--jobs", "0"], "0 processes cannot work"),
        (["run", SINGLE, "--jobs", "-2"], "-2 processes cannot work"),
        (["run", SINGLE, "--jobs", "two"], "--jobs: 'two' is no whole number"),
        (["run", SINGLE, "--spans", "0"], "--spans takes k=N"),
        (["run", SINGLE, "--spans", "k=ten"], "--spans takes k=N"),
        (["run", SINGLE, "-s", "longest", SEVERAL], "name all DATA together"),
        (["run", SINGLE, "-s", "longest,words"], "no key=value"),
        (["run", SINGLE, "-s", "longest,unit=miles"], "'characters', 'words', got 'miles'"),
        (["run", SINGLE, "-s", "longest,decision=first"], "must be a decision rule, got 'first'"),
        (["run", SINGLE, "-s", "all-positive"], "is for multiple-answer questions"),
        (["run", SINGLE, "-s", "constant-position:majority"], "--train DATA"),
        (["run", SINGLE, "-s", "constant-position:majority", "--train", "sample:cloze"], "has cloze questions"),
        (["run", SEVERAL, "-s", "longest", "--tune", SINGLE], "has single-choice questions"),
        (["run", SEVERAL, "-s", "longest", "--tune-metric", "quoref_f1"], "unknown multiple-answer metric"),
        (["run", "sample:multi-span", "-s", "sliding-window:race"], "cannot tune its parameters on generated"),
        (["explain", SINGLE, "lantern.1", "-s", "sliding-window:race"], "--tune DATA"),
        (["predict", SINGLE, "-s", "longest", "--as", "record"], "these are single-choice"),
        (["predict", SINGLE, "-s", "longest", "--as", "mctest-answers", "--ties", "strict"], "--ties first"),
    ],
)
def test_usage_is_exit_code_2(cli, args, part):
    done = cli(*args)
    fails(done, 2, part)
    assert done.out == ""


def test_an_option_that_the_format_has_no_use_for_is_refused(cli, single):
    fails(cli("run", single, "--subset", "high"), 2, "the reader jsonl has no use for subset")
    fails(cli("run", single, "--answers", single), 2, "the reader jsonl has no use for answers")


def test_thresholds_below_nothing_need_an_equals_sign(cli):
    assert cli("run", SEVERAL, "-s", "longest", "--threshold", "-1.5").code == 0
    assert cli("run", SEVERAL, "-s", "longest", "--threshold=-1e-3").code == 0


@pytest.mark.parametrize("content", ["", "\n\n", "{", "[]", "{}", "\x00\x00", "a,b\n1,2\n"])
def test_malformed_data_is_exit_code_3(cli, write, content):
    path = write("bad.jsonl", content)
    fails(cli("run", path), 3, str(path))


def test_missing_data_is_exit_code_3(cli, tmp_path):
    fails(cli("run", tmp_path / "nothing.json"), 3, "nothing.json: no such file")
    fails(cli("run", SINGLE, "--train", tmp_path / "nothing.json"), 3, "nothing.json: no such file")
    fails(cli("score", SINGLE, tmp_path / "nothing.json"), 3, "nothing.json")
    fails(cli("run", SINGLE, "-s", f"{tmp_path / 'no.py'}:Solver"), 3, "no.py: there is no such file")
    (tmp_path / "empty").mkdir()
    fails(cli("run", tmp_path / "empty"), 3, "empty")


def test_a_missing_package_is_exit_code_4(cli, monkeypatch):
    def load(*args, **kwargs):
        raise MissingPackageError("frobnicate", needed_for="this dataset", extra="frob")

    monkeypatch.setattr("classic_rc.datasets.registry.load", load)
    fails(cli("run", SINGLE), 4, "this dataset needs the package frobnicate: pip install 'classic_rc[frob]'")


def test_hidden_gold_cannot_be_measured(cli, hidden):
    fails(cli("run", hidden), 3, "3 of 3 questions hide their gold answers", "`classic-rc predict`")
    fails(cli("run", "sample:multiple-answer", "-s", "longest", "--tune", hidden), 2, "has single-choice")
    done = cli("run", SINGLE, "-s", "sliding-window:race", "--tune", hidden)
    fails(done, 3, "3 of 3 questions hide their gold answers", "nothing can be tuned")


def test_a_threshold_cannot_be_tuned_within_one_passage(cli, write):
    rows = [{"passage": "One.", "question": "Q?", "candidates": ["a", "b"], "gold": [0]}]
    done = cli("run", write("one.jsonl", rows), "-s", "longest")
    fails(done, 2, "at least two different passages", "--threshold")


def test_the_datasets_that_can_be_read_are_reported(cli, write, single, several):
    bad = write("bad.jsonl", '{"passage": "p", "question": 3}\n')
    done = cli("run", single, bad, several, "-s", "random")
    assert done.code == 3
    assert [line.split(" ", 1)[0] for line in done.out.splitlines() if "questions" in line] == ["single", "several"]
    assert str(bad) in done.err


@pytest.mark.parametrize(
    "args",
    [
        ["run", SINGLE, "-s", "random", "--intervals", "9" * 20],
        ["compare", "sw+d", "--data", SINGLE, "--resamples", "9" * 20],
        ["breakdown", SINGLE, "--by", "question-type", "--resamples", "9" * 20],
        ["hard", SINGLE, "-s", "sw+d", "--resamples", "9" * 20],
        ["run", "sample:multi-span", "-s", "random", "--spans", "k=" + "9" * 5000],
        ["run", SINGLE, "-s", "random", "--intervals", "9" * 5000],
    ],
)
def test_numbers_beyond_all_bounds_are_refused(cli, args):
    fails(cli(*args), 2, args[-1].removeprefix("k=")[:20])


def test_too_little_memory_is_one_line(cli, monkeypatch):
    def full(*args, **more):
        raise MemoryError

    monkeypatch.setattr("classic_rc.datasets.registry.load", full)
    fails(cli("stats", SINGLE), 2, "not enough memory")


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
    station = write("station.jsonl", [{"passage": "The station.", "question": "?", "candidates": ["a"], "gold": 0}])
    done = cli("run", single, station, single, "-s", f"{solver}:Stops")
    assert done.code == 130
    assert done.err.endswith("classic-rc: interrupted\n")
    assert done.out.startswith("single (jsonl)")
    assert done.out.count("questions,") == 1


def test_ctrl_c_before_any_result_prints_none(cli, write):
    solver = write("stops.py", STOPS)
    station = write("station.jsonl", [{"passage": "The station.", "question": "?", "candidates": ["a"], "gold": 0}])
    done = cli("run", station, "-s", f"{solver}:Stops")
    assert (done.code, done.out) == (130, "")


def test_control_characters_in_errors_are_spelled_out(cli):
    done = cli("run", "no\x1b[31m\nsuch")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert r"no\x1b[31m\nsuch: no such file" in done.err
