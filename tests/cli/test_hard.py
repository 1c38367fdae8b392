"""``classic-rc compare --hard``: the table, the files and the exit codes."""

from __future__ import annotations

import pytest

from classic_rc.datasets import load


def test_ids_and_a_dataset_that_can_be_run(cli, tmp_path):
    args = ("compare", "sw+d", "surface-lr", "--data", "sample:single-choice", "--hard", "--report", "ir")
    args += ("--intervals", 50)
    ids, lines = tmp_path / "hard.txt", tmp_path / "hard.jsonl"
    done = cli(*args, "--ids", ids)
    assert done.code == 0
    assert cli(*args, "--ids", lines).code == 0
    found = load(lines)
    assert ids.read_text(encoding="utf-8").splitlines() == [q.id for q in found]
    assert len(found) == 10
    assert "10 of 24 questions are hard" in done.out
    table = {line.split("  ")[0]: line for line in done.out.splitlines()}
    assert "by construction; learned from cv5" in table["surface-lr"]
    assert "by construction" not in table["ir:passage"]
    assert "expectation" in table["random"]
    assert "P(X > 0), X ~ Binomial(2, p)" in done.out
    run = cli("run", lines, "-s", "sw+d", "-s", "surface-lr", "--cv", 2, "--format", "json")
    assert run.row("sw+d")["metrics"]["accuracy"] == 0
    reported = cli(*args, "--format", "json")
    plain = reported.json
    assert plain["hard"] == [q.id for q in found]
    assert plain["fingerprint"] == found.fingerprint
    assert [row["by_construction"] for row in plain["rows"]] == [True, True, False, False]
    before = cli("run", "sample:single-choice", "-s", "ir", "--format", "json").row("ir")["metrics"]["accuracy"]
    after = cli("run", lines, "-s", "ir", "--format", "json").row("ir")["metrics"]["accuracy"]
    assert (plain["rows"][3]["before"]["value"], plain["rows"][3]["after"]["value"]) == (before, after)


def test_options_reach_the_filter(cli, single):
    args = ("compare", "sw+d", "constant-position:first", "--data", single, "--format", "json", "--intervals", 10)
    strict, lenient = cli(*args, "--hard").json, cli(*args, "--hard", 1).json
    assert [len(plain["hard"]) for plain in (strict, lenient)] == [0, 2]
    assert lenient["solved"] == {"metric": "accuracy", "above": 0.5, "max_solved": 1}
    learned = cli(*args, "--hard", "--report", "surface-lr", "--cv", 2).json
    assert "train:cv2" in learned["rows"][-1]["signature"].replace("trained_on", "train")


@pytest.mark.parametrize(
    ("args", "code", "facts", "fields"),
    [
        (["longest", "--data", "DATA", "--baseline", "longest"], 2, [], {"field": "--baseline"}),
        (["longest"], 2, [], {"field": "--data"}),
        (["RECORD", "--data", "DATA"], 2, [], {"field": "systems"}),
        (["longest", "--data", "HIDDEN"], 3, ["3 of 3 questions", "gold"], {"source": "hidden"}),
        (["longest", "--data", "DATA", "--ids", "DATA"], 2, ["single.jsonl"], {"field": "--ids"}),
    ],
)
def test_what_is_wrong_is_one_error_with_an_exit_code(cli, single, hidden, tmp_path, args, code, facts, fields):
    paths = {"DATA": single, "HIDDEN": hidden, "RECORD": tmp_path / "record"}
    if "RECORD" in args:
        cli("run", single, "-s", "longest", "--save", paths["RECORD"])
    cli("compare", "--hard", *(paths.get(arg, arg) for arg in args)).fails(code, *facts, **fields)


@pytest.mark.parametrize("option", [["--report", "ir"], ["--ids", "hard.txt"]])
def test_options_of_the_subset_need_it(cli, single, option):
    cli("compare", "sw", "sw+d", "--data", single, *option).fails(2, "add --hard", field=option[0])
