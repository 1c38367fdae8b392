"""Results in notebooks: all text is escaped; frames need pandas, and one error says so if it is
missing.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

import classic_rc
from classic_rc.commands.check import check_dataset
from classic_rc.errors import MissingPackageError
from classic_rc.questions import Dataset
from classic_rc.results import with_intervals, with_significance
from classic_rc.results.curves import PrecisionRecallCurve
from classic_rc.tables import Column, RowGroup, Table, render
from tests.errors import raises

MARKUP = '<script>alert("1")</script>&amp;\x1b[31m'


class Cells(HTMLParser):
    """The texts of a table's cells, and the tags around them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def evaluation():
    dataset = classic_rc.load("sample:multiple-answer")
    return classic_rc.evaluate(
        dataset, [classic_rc.parse_solver("all-positive"), classic_rc.parse_solver("random")]
    )


@pytest.fixture(scope="module")
def report():
    rows = [
        {"question": f"{i}?", "candidates": ["a", "b"], "passage": f"p {i}", "gold": 0}
        for i in range(40)
    ]
    return check_dataset(classic_rc.from_rows(rows))


@pytest.fixture(scope="module")
def curve():
    dataset = classic_rc.load("sample:multiple-answer")
    return PrecisionRecallCurve.from_scores(
        classic_rc.parse_solver("sw+d").score_candidates(dataset), dataset, MARKUP
    )


def test_markup_in_cells_stays_text():
    table = Table(MARKUP, [Column(MARKUP), Column(MARKUP)], [RowGroup([[MARKUP, MARKUP]])])
    cells = Cells(render(table, "html"))
    assert cells.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert cells.rows[1] == [r'<script>alert("1")</script>&amp;\x1b[31m'] * 2


def test_an_evaluation_shows_its_metrics_in_percent(evaluation):
    header, positive, random = Cells(evaluation._repr_html_()).rows
    assert (header[0], header[-2:]) == ("system", ["selected", "notes"])
    metrics = evaluation.rows[0].metrics()
    assert positive == [
        "all-positive",
        *(f"{100 * value:.2f}" for value in metrics.values()),
        "100.0",
        "",
    ]
    assert (random[0], random[-1]) == ("random", "expectation")


def test_printing_an_evaluation_shows_the_table_of_run(evaluation, capsys):
    from classic_rc.cli.main import main

    assert main(["run", "sample:multiple-answer", "-s", "all-positive", "-s", "random"]) == 0
    assert capsys.readouterr().out == f"{evaluation}\n"
    assert repr(evaluation) == "<Evaluation of sample:multiple-answer: all-positive, random>"


def test_blocks_have_headings():
    dataset = classic_rc.load("sample:single-choice")
    evaluation = classic_rc.evaluate(dataset, ["length", "sw+d"], cv=3)
    rows = Cells(evaluation._repr_html_()).rows
    assert [row[0] for row in rows[1:]] == [
        *("learns nothing from gold answers", "sw+d", "trained on gold answers", "length"),
    ]
    assert [len(row) for row in rows[1:]] == [1, 4, 1, 4]


def test_an_evaluation_shows_intervals_and_names_as_text(evaluation):
    with_markup = with_intervals(
        replace(evaluation, dataset=replace(evaluation.dataset, name=MARKUP)), 50
    )
    html = with_markup._repr_html_()
    low, high = with_markup.measure()[0].interval
    assert "<script" not in html
    assert any(f" [{100 * low:.1f}, {100 * high:.1f}]" in cell for cell in Cells(html).rows[1])


def test_an_evaluation_without_rows_is_an_empty_table(evaluation):
    (header,) = Cells(replace(evaluation, rows=())._repr_html_()).rows
    assert header[-2:] == ["selected", "notes"]


def test_a_check_report_shows_every_finding(report):
    rows = Cells(report._repr_html_()).rows[1:]
    assert len(rows) == len(report.cues)
    assert [row[2] for row in rows] == [str(cue.kind) for cue in report.cues]
    assert [row[4] for row in rows] == [f"{100 * cue.precision:.1f}" for cue in report.cues]


def test_every_value_that_a_notebook_shows_is_harmless(evaluation):
    rows = [
        {
            "id": f"{i}{MARKUP}",
            "passage": MARKUP,
            "question": MARKUP,
            "candidates": [MARKUP, "b"],
            "gold": 0,
        }
        for i in range(6)
    ]
    dataset = classic_rc.from_rows(rows, name=MARKUP)
    check = check_dataset(dataset, header=False)
    displays = (
        classic_rc.parse_solver("sw+d").explain(dataset[0]),
        *(dataset[0], replace(dataset[0], gold=None), dataset, check),
    )
    assert check.defects
    for value in displays:
        html = value._repr_html_()
        assert "<script" not in html
        assert "http" not in html


def test_a_cell_shows_the_answer_the_candidates_and_the_passage_once():
    dataset = classic_rc.load("sample:single-choice")
    explanation = classic_rc.parse_solver("sw+d").explain(dataset.by_id["lantern.4"])
    html = explanation._repr_html_()
    assert html.startswith("<style>")
    assert "wins by 1.51 over" in re.sub("<.*?>", "", html)
    assert html.count("shook itself") == 1
    assert html.count('type="radio"') == 4
    plain = dataset[0]._repr_html_()
    assert plain.count("badge right") == 1
    assert "<input" not in plain
    # a heading, five questions, and how many more
    assert len(Cells(dataset._repr_html_()).rows) == 1 + 5 + 1


def test_without_pandas_the_error_names_the_extra(evaluation, report, curve, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (evaluation, report, curve):
        with raises(
            MissingPackageError, package="pandas", needed_for="to_frame()", extra="pandas"
        ) as caught:
            result.to_frame()
        assert "pip install 'classic_rc[pandas]'" in str(caught.value)


def test_pandas_is_given_plain_records_and_columns(evaluation, report, curve, monkeypatch):
    pandas_stub = SimpleNamespace(json_normalize=lambda records: records, DataFrame=dict)
    monkeypatch.setitem(sys.modules, "pandas", pandas_stub)
    first = evaluation.to_frame(full=True)[0]
    assert (first["dataset"], first["solver"]) == ("sample:multiple-answer", "all-positive")
    assert first["metrics"] == evaluation.rows[0].metrics()
    assert [row["name"] for row in report.to_frame()] == [cue.name for cue in report.cues]
    columns = curve.to_frame()
    assert list(columns) == ["threshold", "precision", "recall", "f1"]
    assert len({len(values) for values in columns.values()}) == 1


def test_frames_have_a_row_a_system_and_a_column_a_number(evaluation, report, curve):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = evaluation.to_frame(full=True)
    assert frame["solver"].tolist() == ["all-positive", "random"]
    assert frame["metrics.f1_a"].tolist() == [row.metrics()["f1_a"] for row in evaluation.rows]
    assert len(report.to_frame()) == len(report.cues)
    assert curve.to_frame()["precision"].tolist() == curve.precision.tolist()


def test_the_readable_frame_has_what_readers_look_at_first():
    pytest.importorskip("pandas", reason="pandas is not installed")
    dataset = classic_rc.load("sample:single-choice")
    plain = classic_rc.evaluate(dataset, {"A": "sw+d", "B": "longest"})
    first = ["dataset", "split", "questions", "system"]
    assert list(plain.to_frame().columns)[:6] == [*first, "accuracy", "tie_rate"]
    assert {"block", "solver", "tuned_on", "trained_on", "signature"} <= set(
        plain.to_frame().columns
    )
    tested = with_significance(with_intervals(plain, 50), "B")
    frame = tested.to_frame()
    bounds = ["accuracy_low", "accuracy_high", "accuracy_p"]
    assert list(frame.columns)[:8] == [*first, "accuracy", *bounds[:2], "tie_rate"]
    assert frame["system"].tolist() == ["A", "B"]


def test_a_dataset_without_questions_can_be_shown():
    empty = Dataset([], "empty")
    assert "empty · 0 questions" in check_dataset(empty)._repr_html_()
