"""``classic-rc reproduce RECORD``: a saved run gives the same numbers again, and a difference
has an exit code.
"""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def saved(cli, single, tmp_path):
    """The file of a record with three rows."""
    folder = tmp_path / "runs"
    specs = ("-s", "sw+d", "-s", "longest", "-s", "random")
    assert cli("run", single, *specs, "--save", folder, "--intervals", 20, "--quiet").code == 0
    return folder / "run.json"


def test_a_saved_run_comes_out_again_from_its_folder_or_its_file(cli, saved):
    for path in (saved, saved.parent):
        done = cli("reproduce", path)
        assert done.code == 0
        assert "all 3 rows are the same" in done.out
        assert done.err == ""


def _edit(path, change):
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    path.write_text(json.dumps(record), encoding="utf-8")


def test_a_number_that_differs_is_printed_old_and_new_and_exits_1(cli, saved, tmp_path):
    def change(record):
        row = record["runs"][0]["rows"][0]
        row["metrics"]["accuracy"] = 0.125
        for outcome in list(row["outcomes"].values())[1:]:
            outcome["answer"] = [2]

    _edit(saved, change)
    out = tmp_path / "found.md"
    done = cli("reproduce", saved, "--format", "markdown", "-o", out)
    assert done.code == 1
    assert done.out == ""
    text = out.read_text(encoding="utf-8")
    assert "1 of 3 rows differ" in text
    line = next(line for line in text.splitlines() if "metrics.accuracy" in line)
    assert "0.125" in line
    assert line.endswith("| 2 | q2, q3 |")


def test_changed_and_missing_data_exit_3_before_anything_is_scored(
    cli, saved, single, tmp_path, monkeypatch
):
    from classic_rc.running import rerun

    monkeypatch.setattr(
        rerun, "evaluate", lambda *args, **kwargs: pytest.fail("something was scored")
    )
    content = single.read_bytes()
    single.write_bytes(content.replace(b"fence", b"fenCe", 1))
    done = cli("reproduce", saved)
    assert (done.code, done.out) == (3, "")
    assert done.messages("error", "single.jsonl", "sha256")
    single.unlink()
    done = cli("reproduce", saved)
    assert (done.code, done.out) == (3, "")
    assert done.messages("error", "single.jsonl")


def test_own_code_needs_trust(cli, single, tmp_path):
    code = tmp_path / "own.py"
    code.write_text(
        "from classic_rc import Scores, Solver\n\nclass Flat(Solver):\n    def "
        "score_candidates(self, questions):\n        return Scores.from_lists([[0.0] * "
        "len(q.candidates) for q in questions])\n",
        encoding="utf-8",
    )
    assert cli("run", single, "-s", f"{code}:Flat", "--save", tmp_path / "runs").code == 0
    done = cli("reproduce", tmp_path / "runs")
    done.fails(2, "--trust")
    assert cli("reproduce", tmp_path / "runs", "--trust").code == 0
    cli("run", single, "-s", f"{code}:Flat", "--trust").fails(2, field="--trust")
    suite = tmp_path / "suite.toml"
    written = cli("run", single, "-s", f"{code}:Flat", "--format", "suite", "-o", suite)
    assert written.err.rstrip().endswith("--trust")
    cli("run", suite, "--save", tmp_path / "out").fails(2, field="--trust")
    assert cli("run", suite, "--save", tmp_path / "out", "--trust").code == 0


def test_a_table_is_verified_against_what_is_here(cli, saved, single):
    assert cli("table", saved, "--verify").code == 0
    single.write_bytes(single.read_bytes().replace(b"fence", b"fenCe", 1))
    assert cli("table", saved).code == 0
    done = cli("table", saved, "--verify")
    assert (done.code, done.out) == (1, "")
    assert str(single) in done.err

    def change(record):
        statistics = next(iter(record["runs"][0]["rows"][0]["outcomes"].values()))["statistics"]
        statistics["accuracy"] = [1.0 - statistics["accuracy"][0]]

    _edit(saved, change)
    cli("table", saved).fails(3, field="accuracy", source=str(saved))


def test_what_is_no_record_is_refused(cli, single, tmp_path):
    cli("reproduce", tmp_path / "nothing").fails(3, source=str(tmp_path / "nothing"))
    for option in (["--trust"], ["--search", tmp_path]):
        done = cli("reproduce", single, *option)
        done.fails(2, "`classic-rc run DATA --save DIR`", field=option[0])
    old = tmp_path / "run.json"
    old.write_text('{"version": "0.0.1", "runs": []}', encoding="utf-8")
    done = cli("reproduce", old)
    done.fails(3, "run --save", source=str(old))
