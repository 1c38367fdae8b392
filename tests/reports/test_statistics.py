"""Tables, records and histograms of statistics."""

from __future__ import annotations

import csv
import io
import json

import pytest

from classic_rc.audit.statistics import describe_datasets
from classic_rc.datasets import load
from classic_rc.reports.statistics import statistics_csv, statistics_tables
from classic_rc.tables import render
from tests.tables import header, texts


def test_the_papers_figures_are_next_to_ours(quoref):
    table, common = statistics_tables(describe_datasets([quoref]))
    assert header(table) == ["", "train", "paper", "dev", "paper", "test", "paper", "counted"]
    assert texts(table)[0] == ["questions", "–", "19,399", "2", "2,418", "–", "2,537", "all"]
    assert header(common) == ["", "mine_&$"]
    rows = {row[0]: row[1] for row in texts(common)}
    assert rows["tokens a passage"] == "5.0 (0.0)"
    assert rows["right answers verbatim %"] == "100.0"
    assert rows["questions with who %"] == "100.0"


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_every_form_has_every_figure(quoref, form):
    text = "".join(render(table, form) for table in statistics_tables(describe_datasets([quoref])))
    assert "19,399" in text
    assert "5.0 (0.0)" in text


def test_records_are_in_full_precision():
    found = describe_datasets([load("sample:single-choice")])
    records = list(csv.DictReader(io.StringIO(statistics_csv(found))))
    own = json.loads(json.dumps(found.to_dict(), allow_nan=False))["common"]["rows"]
    assert len(records) == len(own)
    for record, row in zip(records, own, strict=True):
        assert record["statistic"] == row["statistic"]
        assert {key: float(record[key]) for key in row["values"][0]} == row["values"][0]


def test_published_figures_are_in_records_too(quoref):
    record = next(iter(csv.DictReader(io.StringIO(statistics_csv(describe_datasets([quoref]))))))
    assert (record["column"], record["count"], record["published"]) == ("train", "", "19399")
