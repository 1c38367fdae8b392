"""``classic-rc check --hard``: the table, the files and the exit codes."""

from __future__ import annotations

import pytest

from classic_rc.datasets import load


def test_ids_and_a_dataset_that_can_be_run(cli, tmp_path):
    args = (
        "compare",
        "--hard",
        "--data",
        "sample:single-choice",
        "sw+d",
        "surface-lr",
        "--report",
        "ir",
        "--intervals",
        50,
    )
    ids, lines = tmp_path / "hard.txt", tmp_path / "hard.jsonl"
    done = cli(*args, "-o", ids)
    assert done.code == 0
    assert cli(*args, "-o", lines).code == 0
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
    args = (
        "compare",
        "--hard",
        "--data",
        single,
        "sw+d",
        "constant-position:first",
        "--format",
        "json",
        "--intervals",
        10,
    )
    strict, lenient = cli(*args, "--hard").json, cli(*args, "--hard", 1).json
    assert [len(plain["hard"]) for plain in (strict, lenient)] == [0, 2]
    assert lenient["solved"] == {"metric": "accuracy", "above": 0.5, "max_solved": 1}
    learned = cli(*args, "--hard", "--report", "surface-lr", "--cv", 2).json
    assert "train:cv2" in learned["rows"][-1]["signature"].replace("trained_on", "train")


def test_latex_and_markdown(cli, single):
    assert r"\toprule" in cli("compare", "--hard", "--data", single, "longest", "--format", "latex").out
    assert "| system |" in cli("compare", "--hard", "--data", single, "longest", "--format", "markdown").out


@pytest.mark.parametrize(
    ("args", "code", "facts", "fields"),
    [
        (["DATA", "longest", "--hard", "1"], 2, ["1"], {}),
        (["DATA", "surface-lr", "--train", "DATA"], 2, ["train"], {}),
        (["HIDDEN", "longest"], 3, ["3 of 3 questions", "gold"], {"source": "hidden"}),
        (["nothing", "longest"], 3, [], {"source": "nothing"}),
        (["DATA", "longest", "-o", "DATA"], 2, ["single.jsonl"], {"field": "--output"}),
    ],
)
def test_what_is_wrong_is_one_error_with_an_exit_code(cli, single, hidden, args, code, facts, fields):
    paths = {"DATA": single, "HIDDEN": hidden}
    cli("compare", "--hard", "--data", *(paths.get(arg, arg) for arg in args)).fails(code, *facts, **fields)


def test_ids_with_a_line_break_do_not_cost_the_scores(cli, write, tmp_path):
    row = {"id": "a\nb", "passage": "p", "question": "q", "candidates": ["x", "yy"], "gold": 0}
    broken = write("broken.jsonl", [row])
    done = cli("compare", "--hard", "--data", broken, "longest", "-o", tmp_path / "ids.txt")
    done.fails(2, r"a\nb", "-o FILE.jsonl", field="--output")
    assert "longest" in done.out  # the scores are not lost


def test_files_are_members_and_systems_have_the_users_names(cli, tmp_path):
    file = tmp_path / "swd.jsonl"
    assert cli("predict", "sample:single-choice", "-s", "swd", "-o", file, "--format", "jsonl").code == 0
    args = ("compare", "--hard", "--data", "sample:single-choice", "--format", "json")
    found = cli(*args, f"Own={file}", "--report", "SW=sw").json
    assert [row["name"] for row in found["rows"]] == ["Own", "random", "SW"]
    assert found["hard"] == cli(*args, "swd").json["hard"]
