"""Tables, records and histograms of statistics."""

from __future__ import annotations

import csv
import io
import json

import pytest

from classic_rc.audit.statistics import statistics
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports import render
from classic_rc.reports.figures import histogram_figure
from classic_rc.reports.statistics import statistics_csv, statistics_tables


def quoref() -> Dataset:
    """Two questions in Quoref's form."""
    passage = Passage("p", "Ada met Bo. Ada left.")
    questions = [
        Question(f"q{i}", passage, "Who $met$ <b>Bo</b>?", (), gold, Task.MULTI_SPAN)
        for i, gold in enumerate([("Ada",), None])
    ]
    return Dataset(questions, "mine_&$", "dev", "quoref")


def test_the_papers_figures_stand_beside_ours():
    table, common = statistics_tables(statistics([quoref()]))
    assert list(table.header) == ["", "train", "paper", "dev", "paper", "test", "paper", "counted"]
    assert list(table.rows[0]) == ["questions", "–", "19,399", "2", "2,418", "–", "2,537", "all"]
    assert list(common.header) == ["", "mine_&$"]
    rows = {row[0]: row[1] for row in common.rows}
    assert rows["tokens a passage"] == "5.0 (0.0)"
    assert rows["right answers verbatim %"] == "100.0"
    assert rows["questions with who %"] == "100.0"


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_every_form_has_every_figure(form):
    text = "".join(render(table, form) for table in statistics_tables(statistics([quoref()])))
    assert "19,399" in text
    assert "5.0 (0.0)" in text


def test_records_are_in_full_precision():
    found = statistics([load("sample:single-choice")])
    records = list(csv.DictReader(io.StringIO(statistics_csv(found))))
    own = json.loads(json.dumps(found.to_dict(), allow_nan=False))["common"]["rows"]
    assert len(records) == len(own)
    for record, row in zip(records, own, strict=True):
        assert record["statistic"] == row["statistic"]
        assert {key: float(record[key]) for key in row["values"][0]} == row["values"][0]


def test_published_figures_are_in_records_too():
    record = next(iter(csv.DictReader(io.StringIO(statistics_csv(statistics([quoref()]))))))
    assert (record["column"], record["count"], record["published"]) == ("train", "", "19399")


def test_histograms():
    pytest.importorskip("matplotlib")
    one = histogram_figure(statistics([load("sample:single-choice")]))
    assert [axes.get_xlabel() for axes in one.axes] == [
        "tokens a passage",
        "tokens a question",
        "tokens a candidate",
    ]
    shares = one.axes[1].patches[0].get_data().values
    assert shares.sum() == pytest.approx(100, abs=5)
    two = histogram_figure(statistics([quoref(), load("sample:cloze")]))
    assert [text.get_text() for text in two.legends[0].get_texts()] == ["mine_&$", "sample:cloze"]
    assert [len(axes.patches) for axes in two.axes] == [2, 2, 1]


def test_nothing_to_draw():
    pytest.importorskip("matplotlib")
    empty = Question("q", Passage("p", ""), "", (Candidate(""),), None, Task.SINGLE_CHOICE)
    figure = histogram_figure(statistics([Dataset([empty])]))
    assert len(figure.axes) == 3
    with pytest.raises(UsageError, match="no text"):
        histogram_figure(statistics([]))
