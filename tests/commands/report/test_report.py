"""``report`` writes one page; ``explain`` writes one question's page, and colours where they can
be seen.
"""

from __future__ import annotations

import json
import re

import pytest

import classic_rc


@pytest.fixture
def report(cli, tmp_path):
    """Runs ``report`` and gives what it did, and the page."""

    def run(*args):
        file = tmp_path / "report.html"
        done = cli("report", *args, "-o", file)
        return done, file.read_text(encoding="utf-8") if file.exists() else ""

    return run


def explained_in(page: str) -> list[str]:
    """The systems that explain the first question."""
    card = page.partition('class="card"')[2].partition('class="card"')[0]
    return re.findall("<h2>(.*?)</h2>", card.partition("</form>")[0])


@pytest.mark.parametrize("sample", ["multiple-answer", "multi-span"])
def test_every_task_has_its_page(report, sample):
    done, page = report(f"sample:{sample},spans=2", "--without", "check", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert explained_in(page) == ["sw+d"]
    assert page.count('class="card"') == len(classic_rc.load(f"sample:{sample}"))
    assert "<script" not in page
    assert 'id="leaks"' not in page


def test_the_usual_page_says_whether_the_data_leaks(report, single):
    done, page = report(single, "--title", "Mine", "--published")
    assert done.code == 0
    assert 'id="leaks"' in page
    assert "no published figures" in page
    assert "<title>Mine: classical baselines</title>" in page
    assert not done.messages("warning", "too narrow")  # the accuracy is a mean
    assert str(single.parent) not in page
    assert report(single, "--title", "Mine", "--published")[1] == page


def test_breakdowns_are_by_what_the_data_or_a_file_says(report, single, tmp_path):
    done, page = report(single, "--without", "check")
    assert re.findall("<label>(.*?) <select>", page) == ["System", "Answers", "kind", "level"]
    labels = tmp_path / "hardness.csv"
    labels.write_text("id,hardness\nq1,easy\nq2,hard\nq3,hard\n", encoding="utf-8")
    done, page = report(single, "--without", "check", "--by", "hardness", "--labels", labels)
    assert done.code == 0
    assert re.findall('<option class="g0-.">(.*?)</option>', page) == ["easy", "hard"]
    assert re.findall('g0-.(?="><details)', page) == ["g0-0", "g0-1", "g0-1"]
    done, _ = report(single, "--by", "hardnes", "--labels", labels)
    done.fails(2, found="hardnes", expected="hardness")


def test_a_page_of_several_datasets_is_refused(report):
    done, page = report("sample")
    done.fails(2, "sample:cloze", field="DATA", found="sample", expected=re.compile("sample:cloze"))
    assert page == ""


def test_a_page_needs_a_file_and_gold(cli, hidden, tmp_path):
    assert cli("report", hidden).code == 2
    assert cli("report", hidden, "-o", tmp_path / "r.html").code == 3
    assert cli("report", hidden, "-o", hidden).code == 2


@pytest.mark.parametrize("suffix", ["md", "tex", "html"])
def test_a_datasheet_is_written_in_the_format_of_its_suffix(cli, tmp_path, suffix):
    file = tmp_path / f"sheet.{suffix}"
    command = (
        "report",
        "sample:single-choice",
        "--datasheet",
        "--fact",
        "Licence=CC BY",
        "-s",
        "sw+d",
        "-o",
        file,
    )
    done = cli(*command, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    first = file.read_text(encoding="utf-8")
    for text in ("CC BY", "Lengths", "Findings", "sw+d", "--datasheet"):
        assert text.replace("--", "-{}-" if suffix == "tex" else "--") in first
    assert str(tmp_path) not in first
    if suffix == "md":
        cli(*command, "--quiet")
        assert file.read_text(encoding="utf-8") == first


def test_the_numbers_of_a_datasheet(cli, tmp_path):
    file = tmp_path / "sheet.json"
    command = (
        "report",
        "sample:single-choice",
        "--datasheet",
        "-s",
        "sw+d",
        "--by",
        "question-type",
        "--without",
        "check",
    )
    assert cli(*command, "-o", file, "--quiet").code == 0
    plain = json.loads(file.read_text(encoding="utf-8"))
    value = cli("run", "sample:single-choice", "-s", "sw+d", "--format", "json").row("sw+d")[
        "metrics"
    ]["accuracy"]
    assert plain["floors"]["rows"][0]["metrics"]["accuracy"] == value
    assert sum(n for _, n in plain["lengths"]["sample:single-choice"]["question"]) == 24
    assert plain["groups"][0]["breakdowns"][0]["key"] == "question-type"
    assert plain["facts"]["Task"] == "single choice"


def test_what_a_datasheet_cannot_be(cli, tmp_path):
    cli("report", "sample:cloze", "--datasheet", "-o", tmp_path / "sheet.doc").fails(
        2, field="--output", expected=re.compile(".md, .tex, .html, .json")
    )
    cli("report", "sample", "--datasheet", "-o", tmp_path / "sheet.md").fails(
        2, field="DATA", found="sample"
    )
    cli("report", "sample:cloze", "--datasheet", "--fact", "CC", "-o", tmp_path / "sheet.md").fails(
        2, field="--fact", found="CC", expected="NAME=TEXT"
    )
