"""Combinations and score files on the command line: every sub-command that takes a solver takes them."""

from __future__ import annotations

import json
import re

import pytest

from classic_rc.solvers import parse_solver


@pytest.fixture
def theirs(cli, single, tmp_path):
    """Somebody's scores of the single-answer questions."""
    path = tmp_path / "theirs.jsonl"
    assert cli("predict", single, "-s", "word-distance", "--as", "jsonl", "-o", path).code == 0
    return path


def test_it_runs_beside_its_members_and_leaves_a_record_to_run_again(cli, single, theirs, tmp_path):
    spec = f"combination,solvers=[score-file,path={theirs}; sw+d,window=4],weights=[1; 0.34],normalise=question"
    done = cli("run", single, "-s", spec, "-s", "sw+d", "--format", "json", "--save", tmp_path / "run")
    assert (done.code, done.err) == (0, "")
    params = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["runs"][0]["rows"][0]["params"]
    assert params["solvers"] == [f"score-file,path={theirs}", "sw+d,window=4"]
    again = f"combination,solvers=[{'; '.join(params['solvers'])}],weights=[1; 0.34],normalise=question"
    assert cli("run", single, "-s", again, "--format", "json").rows[0]["signature"] == done.rows[0]["signature"]
    assert repr(parse_solver(again)) == repr(parse_solver(spec))


@pytest.mark.parametrize("weights", ["tuned", "stacked"])
def test_weights_are_tuned_or_learned_out_of_fold_or_elsewhere(cli, several, single, weights):
    spec = f"combination,solvers=[sw+d; longest],weights={weights}"
    for data in (single, several):
        rows = cli("run", data, "-s", spec, "--cv", "2", "--format", "json").rows
        (row,) = (row for row in rows if row["solver"] == "combination")
        assert (row["tuned_on"] or row["trained_on"]) == "cv2"
        role = "--tune" if weights == "tuned" else "--train"
        done = cli("run", data, "-s", spec, role, data)
        assert done.code == 0
        assert re.search(r"weights [\d.]+; [\d.]+" if weights == "tuned" else "learned from", done.out)
    done = cli("run", single, "-s", spec, "-s", "surface-lr")
    assert done.code == 2
    assert "learns from gold answers" in done.err


def test_it_is_explained_predicted_and_drawn(cli, single, several, theirs):
    spec = f"combination,solvers=[score-file,path={theirs}; sw+d],weights=[1; 0.34]"
    explained = json.loads(cli("explain", single, "q1", "-s", spec, "--format", "json").out)
    numbers = explained["candidates"][1]["numbers"]
    assert numbers["sw+d weight"] == 0.34
    assert numbers["score-file share"] + numbers["sw+d share"] == pytest.approx(explained["candidates"][1]["score"])
    assert cli("predict", single, "-s", spec).out.count("score") == 9
    done = cli("curve", several, "-s", "combination,solvers=[sw+d; longest]", "-s", "sw+d")
    assert (done.code, done.err) == (0, "")
    assert '"combination,solvers=[sw+d; longest]",macro,' in done.out


def test_it_is_fitted_once_and_run_from_its_file(cli, single, theirs, tmp_path):
    path = tmp_path / "both.npz"
    spec = f"combination,solvers=[score-file,path={theirs}; surface-lr],weights=stacked"
    done = cli("fit", single, "-s", spec, "-o", path)
    assert done.code == 0
    saved = cli("run", single, "-s", f"saved,path={path}", "--format", "json").rows[0]
    fresh = cli("run", single, "-s", spec, "--train", single, "--format", "json").rows[0]
    assert saved["metrics"] == fresh["metrics"]
    assert saved["trained_on"] is None
    assert any("learned from the data that is reported" in said for said in saved["caveats"])


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("combination,solvers=[sw+d; rte]", "member 2 of combination, 'rte': unknown solver"),
        ("combination,solvers=[sw+d; ir", "do not pair"),
        ("combination,solvers=[sw+d; ir],weights=[1]", "a finite number for each of its 2 members"),
        ("combination:mctest160-rte", "score-file needs a file: path=FILE"),
        ("combination", "combination needs two solvers or more: solvers=[A; B]"),
    ],
)
def test_errors_are_one_line(cli, single, spec, complaint):
    done = cli("run", single, "-s", spec)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err
    assert done.err.count("\n") == 1


def test_a_score_file_of_other_data_is_refused(cli, single, several, theirs):
    done = cli("run", several, "-s", f"score-file,path={theirs}")
    assert done.code == 3
    assert f"{theirs}" in done.err
