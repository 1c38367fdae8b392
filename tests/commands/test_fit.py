"""``fit`` saves a fitted solver, and ``-s saved`` runs it."""

from __future__ import annotations

import json

import pytest

LESSONS, EXAM = "sample:single-choice", "sample:multiple-answer"


def test_a_fitted_solver_is_run_from_its_file(cli, tmp_path):
    model = tmp_path / "model.npz"
    done = cli("fit", LESSONS, "-s", "surface-lr:mitre2018", "-o", model)
    assert (done.code, done.out) == (0, "")
    (line,) = done.err.splitlines()
    for fact in (
        "surface-lr:mitre2018",
        "24 questions",
        "6 passages",
        LESSONS,
        f"-s saved,path={model}",
    ):
        assert fact in line
    spec = f"saved,path={model}"
    saved = cli("run", LESSONS, "-s", spec, "--format", "json")
    anew = cli("run", LESSONS, "-s", "surface-lr:mitre2018", "--train", LESSONS, "--format", "json")
    assert saved.row("saved:surface-lr:mitre2018")["metrics"] == anew.row("surface-lr")["metrics"]
    assert saved.row("saved:surface-lr:mitre2018")["block"] == "trained"
    assert saved.messages("warning", f"saved:surface-lr:mitre2018: {model}")
    saved_row = ("-s", f"saved,path={model}", "--baseline", "saved:surface-lr:mitre2018")
    assert cli("run", LESSONS, "-s", "sw+d", *saved_row).code == 0
    cli("run", LESSONS, "-s", "sw+d", *saved_row[:3], "saved").fails(2, "path=FILE", field="path")
    rows = [
        json.loads(line) for line in cli("predict", EXAM, "-s", spec, "--scores").out.splitlines()
    ]
    assert len({row["score"] for row in rows}) > 10
    explained = cli("explain", LESSONS, "lantern.1", "-s", spec)
    assert "solver: surface-lr" in explained.out
    assert "more  # --all shows them" in explained.out


@pytest.mark.parametrize(
    ("args", "code", "facts"),
    [
        ((LESSONS, "-s", "sw+d", "-o", "m"), 2, ["sw+d", "save"]),
        ((LESSONS, "-s", "surface-lr"), 2, ["-o/--output"]),
        (
            (LESSONS, "-s", "surface-lr", "-o", "no/such/folder/m"),
            2,
            ["m", "no/such/folder does not exist"],
        ),
        (("nowhere.json", "-s", "surface-lr", "-o", "m"), 3, ["nowhere.json"]),
    ],
)
def test_what_cannot_be_done_is_one_line(cli, tmp_path, monkeypatch, args, code, facts):
    monkeypatch.chdir(tmp_path)
    done = cli("fit", *args)
    done.fails(code, *facts)
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_name_before_the_solver_changes_nothing(cli, tmp_path):
    with_name, plain = tmp_path / "named", tmp_path / "plain"
    assert cli("fit", LESSONS, "-s", "LR=lr", "-o", with_name).code == 0
    assert cli("fit", LESSONS, "-s", "lr", "-o", plain).code == 0
    rows = [
        cli("run", EXAM, "-s", f"saved,path={path}", "--format", "json").rows
        for path in (with_name, plain)
    ]
    assert rows[0][0]["metrics"] == rows[1][0]["metrics"]
    refused = cli("fit", LESSONS, "-s", str(with_name), "-o", plain)
    refused.fails(2, field="--solver", found=str(with_name))
