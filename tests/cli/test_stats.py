"""``classic-rc stats``: formats, figures, exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex

import pytest


def test_the_sample(cli):
    done = cli("stats", "sample")
    assert done.code == 0
    assert done.messages("notice", "report sample --datasheet")
    assert cli("stats", "sample:cloze", "--quiet").err == ""
    assert "sample:single-choice" in done.out
    assert "tokens a passage" in done.out


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_forms(cli, form):
    done = cli("stats", "sample:cloze", "--format", form)
    assert done.code == 0
    assert {"markdown": "| tokens a passage |", "latex": "tokens a passage &"}[form] in done.out


def test_json_and_csv_say_the_same(cli):
    plain = cli("stats", "sample:cloze", "--format", "json").json
    records = cli("stats", "sample:cloze", "--format", "csv").records
    rows = plain["common"]["rows"]
    assert [row["statistic"] for row in rows] == [record["statistic"] for record in records]
    assert float(records[5]["mean"]) == rows[5]["values"][0]["mean"]


def test_the_analyzer_is_the_common_tables(cli):
    everything = cli("stats", "sample:cloze", "--format", "json").json
    content = cli("stats", "sample:cloze", "--format", "json", "--analyzer", "word+stop=lucene").json
    mean = [
        next(r["values"][0]["mean"] for r in found["common"]["rows"] if r["statistic"] == "tokens a passage")
        for found in (everything, content)
    ]
    assert mean[1] < mean[0]
    assert "word+stop=lucene" in content["common"]["notes"][0]


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("extra", [[], ["--by", "question-type", "--analyzer", "word+stop=lucene"]])
def test_the_command_of_the_notice_gives_the_same_numbers(cli, single, tmp_path, monkeypatch, form, extra):
    monkeypatch.chdir(tmp_path)
    old = cli("stats", single, "sample:single-choice", "--format", form, *extra)
    (notice,) = old.messages("notice")
    command = shlex.split(notice.split("`")[1])
    assert command[:2] == ["classic-rc", "report"]
    assert cli(*command[1:], "--quiet").code == 0
    text = (tmp_path / f"sheet.{form}").read_text(encoding="utf-8")
    if form == "csv":
        shown = [r for r in csv.DictReader(io.StringIO(text)) if r["statistic"]]
        assert shown == [r for r in old.records if r["statistic"]]
    else:
        new = json.loads(text)
        assert (new["common"], new["papers"]) == (old.json["common"], old.json["papers"])


def test_an_output_file(cli, tmp_path):
    file = tmp_path / "stats.md"
    done = cli("stats", "sample:cloze", "--format", "markdown", "-o", file)
    assert (done.code, done.out) == (0, "")
    assert "tokens a passage" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_histograms(cli, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    file = tmp_path / f"lengths.{suffix}"
    done = cli("stats", "sample:cloze", "sample:multi-span", "--plot", file)
    assert done.code == 0
    assert file.stat().st_size > 1000
    assert "tokens a passage" in done.out


def test_a_figure_of_no_known_format_is_refused_first(cli, tmp_path):
    done = cli("stats", "sample", "--plot", tmp_path / "lengths.gif")
    done.fails(2, ".pdf, .png, .svg", field="--plot", found=str(tmp_path / "lengths.gif"))
    assert done.out == ""


def test_an_unreadable_dataset_does_not_cost_the_others(cli, tmp_path):
    done = cli("stats", tmp_path / "none.json", "sample:cloze")
    done.fails(3, source=str(tmp_path / "none.json"))
    assert "sample:cloze" in done.out


def test_an_unknown_analyzer(cli):
    done = cli("stats", "sample:cloze", "--analyzer", "wrod")
    done.fails(2, found="wrod", expected=re.compile(r"\bword\b"))
