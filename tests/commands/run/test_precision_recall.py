"""``classic-rc run --figure pr``: curves of scores, points of decisions."""

from __future__ import annotations

import csv
import io
import sys

import pytest

from classic_rc.commands.run import command
from classic_rc.errors import UsageError


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


def by_system(text):
    points = {}
    for record in records(text):
        points.setdefault(record["system"], []).append(record)
    return points


@pytest.fixture
def decided(cli, multiple_answer, tmp_path):
    """Decisions of the longest option and longer ones, as a submission."""
    path = tmp_path / "decided.json"
    cli(
        "predict",
        multiple_answer,
        "-s",
        "longest",
        "--threshold",
        "6.5",
        "--format",
        "multirc",
        "-o",
        path,
    )
    return path


@pytest.fixture
def scores(cli, multiple_answer, tmp_path):
    path = tmp_path / "scores.json"
    cli("predict", multiple_answer, "-s", "longest", "--format", "multirc", "--scores", "-o", path)
    return path


def test_points_go_to_stdout(cli, multiple_answer):
    done = cli("run", multiple_answer, "--figure", "pr", "-s", "longest", "-s", "sw+d")
    assert (done.code, done.err) == (0, "")
    points = by_system(done.out)
    assert points.keys() == {"longest", "sw+d"}
    for rows in points.values():
        assert {row["average"] for row in rows} == {"macro"}
    first, *_, last = points["longest"]
    assert (float(first["recall"]), float(last["recall"])) == (0.25, 1)


def test_scores_in_a_file_are_a_curve_and_decisions_a_point(cli, multiple_answer, scores, decided):
    systems = ["-s", "longest", "-s", scores, "-s", f"people={decided}"]
    points = by_system(cli("run", multiple_answer, "--figure", "pr", *systems).out)
    assert list(points) == ["longest", "scores", "people"]
    curve, expected = (
        [list(row.values())[1:] for row in points[name]] for name in ("scores", "longest")
    )
    assert curve == expected
    (point,) = points["people"]
    assert point["threshold"] == ""
    done = cli("run", multiple_answer, "-s", decided, "--format", "json")
    assert float(point["f1"]) == pytest.approx(done.row("score-file")["metrics"]["f1_m"])


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml")])
def test_a_figure_is_written_by_its_suffix(cli, multiple_answer, decided, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    out = tmp_path / f"figure.{suffix}"
    done = cli("run", multiple_answer, "--figure", "pr", "-s", "sw+d", "-s", decided, "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert out.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["figure", "figure.gif"])
def test_other_suffixes_are_refused_before_anything_is_read(cli, tmp_path, name):
    done = cli("run", tmp_path / "no data", "--figure", "pr", "-s", "sw+d", "-o", tmp_path / name)
    done.fails(
        2, tmp_path / name, ".pdf, .png, .svg, .csv", field="--output", found=str(tmp_path / name)
    )
    assert done.out == ""


def test_without_matplotlib_there_are_points_and_no_figures(
    cli, multiple_answer, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = cli(
        "run", tmp_path / "no data", "--figure", "pr", "-s", "sw+d", "-o", tmp_path / "a.pdf"
    )
    done.fails(4, "pip install 'classic_rc[plot]'", package="matplotlib", extra="plot")
    assert (
        cli("run", multiple_answer, "--figure", "pr", "-s", "sw+d", "-o", tmp_path / "a.csv").code
        == 0
    )


def test_a_figure_that_cannot_be_written_is_printed_as_points(
    cli, multiple_answer, tmp_path, monkeypatch
):
    pytest.importorskip("matplotlib")

    def refuse(path, content):
        assert content.startswith(b"%PDF")
        raise UsageError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(command, "write_file", refuse)
    done = cli("run", multiple_answer, "--figure", "pr", "-s", "sw+d", "-o", tmp_path / "a.pdf")
    assert done.code == 2
    assert "No space left" in done.err
    assert done.out == cli("run", multiple_answer, "--figure", "pr", "-s", "sw+d").out


@pytest.mark.parametrize(
    "option", [("--threshold", "1"), ("--by", "kind"), ("--save", "record"), ("--intervals",)]
)
def test_options_of_results_are_refused(cli, multiple_answer, option):
    cli("run", multiple_answer, "--figure", "pr", "-s", "longest", *option).fails(
        2, field=option[0]
    )


@pytest.mark.parametrize("data", ["sample:cloze", "sample:multi-span"])
def test_questions_without_choices_are_refused(cli, data):
    done = cli("run", data, "--figure", "pr", "-s", "sw+d")
    done.fails(2, "precision", data.removeprefix("sample:"))
    assert done.out == ""
