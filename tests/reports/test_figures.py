"""Figures show what was computed, are the same each time, and leave matplotlib unchanged."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.datasets.labels import Labels
from classic_rc.errors import MissingPackageError, UsageError
from classic_rc.reports import figures
from classic_rc.results import break_down, group_questions
from classic_rc.results.curves import PrecisionRecallCurve
from classic_rc.solvers import parse_solver
from tests.errors import raises

CURVE = PrecisionRecallCurve(
    "one",
    "macro",
    precision=np.array([1, 0.75, 0.5]),
    recall=np.array([0.125, 0.5, 1]),
    thresholds=np.array([3.0, 2.5, 0.1]),
)
POINT = PrecisionRecallCurve("people", "macro", np.array([0.9]), np.array([0.8]))


def named(*names):
    return [replace(CURVE, name=name) for name in names]


@pytest.fixture(scope="module")
def matplotlib():
    return pytest.importorskip("matplotlib")


@pytest.fixture
def figure(matplotlib):
    figure = figures.precision_recall_figure([CURVE, POINT, *named("two", "three")])
    figure.canvas.draw()
    return figure


BEGINNINGS = {"pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml"}


@pytest.mark.parametrize("form", figures.FIGURE_FORMATS)
def test_every_format_is_the_same_each_time(matplotlib, form):
    first = figures.figure_bytes(figures.precision_recall_figure([CURVE, POINT]), form)
    second = figures.figure_bytes(figures.precision_recall_figure([CURVE, POINT]), form)
    assert first == second
    assert first.startswith(BEGINNINGS[form])
    assert b"CreationDate" not in first
    assert b"dc:date" not in first


def test_the_fonts_of_a_pdf_are_embedded_as_publishers_want_them(matplotlib):
    content = figures.figure_bytes(figures.precision_recall_figure([CURVE]), "pdf")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_an_unknown_format_is_refused(figure):
    with raises(UsageError, field="figure format", found="gif", expected="pdf, png, svg"):
        figures.figure_bytes(figure, "gif")


def test_the_numbers_are_drawn(matplotlib):
    with figures.styled_figure() as (_, axes):
        curve, point = figures.draw_precision_recall([CURVE, POINT], axes)
    assert curve.get_xydata().tolist() == np.column_stack([CURVE.recall, CURVE.precision]).tolist()
    assert curve.get_drawstyle() == "steps-pre"
    assert point.get_xydata().tolist() == [[0.8, 0.9]]
    assert point.get_linestyle() == "None"
    assert point.get_marker() not in ("", "None")


def test_grey_lines_join_equal_f1(figure):
    (axes,) = figure.axes
    grey = axes.get_lines()[:10]
    for line, level in zip(grey, np.arange(1, 11) / 10, strict=True):
        recall, precision = line.get_data()
        assert 2 * precision * recall / (precision + recall) == pytest.approx(level)
        assert (precision[0], recall[-1]) == pytest.approx((1, 1))
    right = axes.child_axes[0]
    levels = [label.get_text() for label in right.get_yticklabels()]
    assert levels == [*(f"0.{i}" for i in range(1, 10)), "F1m"]
    assert right.get_yticks() == pytest.approx([line.get_ydata()[-1] for line in grey])


def test_the_legend_names_all_and_covers_nothing(figure):
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "people", "two", "three"]
    within = legend.get_window_extent()
    (axes,) = figure.axes
    assert within.y1 <= axes.get_tightbbox().y0
    assert (within.x0, within.y0) >= (0, 0)
    assert within.x1 <= figure.bbox.x1


def test_long_names_are_broken_within_the_figure(matplotlib):
    names = [
        "sw+d,analyzer=mctest,stop_words=mctest,distance=min,distance_weight=1,inverse_counts=corpus",
        "b",
    ]
    figure = figures.precision_recall_figure(named(*names))
    figure.canvas.draw()
    (legend,) = figure.legends
    assert "".join(legend.get_texts()[0].get_text().split("\n")) == names[0]
    assert legend.get_window_extent().x0 >= 0
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_names_are_text_and_nothing_else(matplotlib):
    names = ["_hidden", "$\\frac{", "a$b$c", "x\x1b[31m"]
    figure = figures.precision_recall_figure(named(*names))
    figure.canvas.draw()
    legend_texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend_texts == [*names[:3], "x\\x1b[31m"]


def test_the_area_follows_the_name_if_there_is_one(matplotlib):
    precision, recall = np.array([1, 1, 0.5]), np.array([0, 0.5, 1])
    micro = PrecisionRecallCurve("a", "micro", precision, recall, CURVE.thresholds)
    point = PrecisionRecallCurve("b", "micro", np.array([0.5]), np.array([0.5]))
    figure = figures.precision_recall_figure([micro, point])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a (AP 0.75)", "b"]
    assert figure.axes[0].get_xlabel() == "recall (all options)"
    assert figure.axes[0].child_axes[0].get_yticklabels()[-1].get_text() == "F1a"


def test_many_systems_all_look_different_in_colour_and_without(matplotlib):
    with figures.styled_figure() as (_, axes):
        lines = figures.draw_precision_recall(named(*map(str, range(40))), axes)
    looks = [
        (line.get_color(), line.get_marker(), str(line._unscaled_dash_pattern)) for line in lines
    ]
    assert len(set(looks)) == 40
    assert len({look[1:] for look in looks}) == 40
    assert len({look[0] for look in looks[:7]}) == 7


def test_markers_of_two_curves_do_not_overlap(matplotlib):
    recall = np.linspace(0, 1, 1000)
    curves = [PrecisionRecallCurve(name, "macro", 1 - recall / 2, recall, -recall) for name in "ab"]
    with figures.styled_figure() as (_, axes):
        lines = figures.draw_precision_recall(curves, axes)
    marked = [recall[line.get_markevery()] for line in lines]
    assert np.abs(np.subtract.outer(*marked)).min() > 0.02


def test_one_figure_shows_one_average(matplotlib):
    micro = replace(CURVE, average="micro")
    with raises(UsageError, field="curves", found="macro and micro"):
        figures.precision_recall_figure([CURVE, micro])
    with raises(UsageError, field="curves", found="no curves"):
        figures.precision_recall_figure([])


def test_the_users_settings_neither_matter_nor_change(matplotlib):
    plain = figures.figure_bytes(figures.precision_recall_figure([CURVE]), "svg")
    with matplotlib.rc_context({"font.size": 31, "axes.facecolor": "red", "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        assert figures.figure_bytes(figures.precision_recall_figure([CURVE]), "svg") == plain
        assert dict(matplotlib.rcParams) == before


@pytest.mark.ci
def test_no_display_and_no_pyplot_are_needed(matplotlib):
    code = (
        "import sys, numpy as np\n"
        "from classic_rc.results.curves import PrecisionRecallCurve as Curve\n"
        "from classic_rc.reports.figures import figure_bytes, precision_recall_figure\n"
        "assert 'matplotlib' not in sys.modules\n"
        "figure = precision_recall_figure([Curve('a', 'macro', np.ones(2), np.ones(2), "
        "np.ones(2))])\nfigure_bytes(figure, 'png')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_missing_matplotlib_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with raises(MissingPackageError, package="matplotlib", extra="plot"):
        figures.precision_recall_figure([CURVE])


def test_csv_holds_every_point_in_full_precision():
    third = PrecisionRecallCurve("a\n,b", "macro", np.array([1 / 3]), np.array([2 / 3]))
    records = list(csv.DictReader(io.StringIO(figures.curves_csv([CURVE, third]))))
    assert list(records[0]) == ["system", "average", "threshold", "precision", "recall", "f1"]
    assert [float(r["threshold"]) for r in records[:3]] == CURVE.thresholds.tolist()
    assert [float(r["f1"]) for r in records[:3]] == CURVE.f1.tolist()
    rates = [repr(1 / 3), repr(2 / 3), repr(float(third.f1[0]))]
    assert list(records[3].values()) == ["a\\n,b", "macro", "", *rates]


@pytest.fixture(scope="module")
def breakdowns(matplotlib):
    data = load("sample:single-choice")
    results = evaluate(data, [parse_solver("longest"), parse_solver("sw+d")]).results
    return [
        break_down(results, group_questions(data, key), n=50) for key in ("type", "question-type")
    ]


def test_a_panel_a_key_and_a_bar_a_cell(breakdowns):
    figure = figures.breakdown_figure(breakdowns)
    assert len(figure.axes) == 2
    for axes, breakdown in zip(figure.axes, breakdowns, strict=True):
        cells = [cell for group in breakdown.lines for cell in group.cells]
        widths = sorted(bar.get_width() for bar in axes.patches)
        assert widths == pytest.approx(sorted(100 * cell.value for cell in cells))
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert names == [f"{group.name} ({group.questions})" for group in breakdown.lines]
        n_intervals = sum(cell.interval is not None for cell in cells)
        assert len(axes.lines) == 1 + n_intervals
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["longest", "sw+d"]


def test_small_groups_are_pale(breakdowns):
    figure = figures.breakdown_figure(breakdowns[1:])
    groups = (breakdowns[1].total, *breakdowns[1].groups)
    assert any(group.is_small for group in groups)
    alphas = [bar.get_alpha() for bar in figure.axes[0].patches]
    assert alphas == [0.3 if group.is_small else 1 for _ in range(2) for group in groups]
    assert "pale: n < 10" in figure.axes[0].get_title(loc="left")


def test_without_systems_bars_are_shares(matplotlib):
    data = load("sample:single-choice")
    results = evaluate(data, []).results
    breakdown = break_down(results, group_questions(data, "verbatim"), n=10)
    (axes,) = figures.breakdown_figure([breakdown]).axes
    assert [bar.get_width() for bar in axes.patches] == [100, 50, 50]
    assert axes.get_xlabel() == "% of the questions"


def test_names_are_no_mathematics_and_no_commands(dataset_of_names):
    figure = figures.breakdown_figure([dataset_of_names])
    for form in figures.FIGURE_FORMATS:
        assert figures.figure_bytes(figure, form)
    tick_labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert tick_labels[1:] == ["\\x1b[31m (12)", "$x^{$ (12)"]


@pytest.fixture
def dataset_of_names(matplotlib):
    data = load("sample:single-choice")
    names = {}
    for i, question in enumerate(data):
        names[question.id] = frozenset({"$x^{$" if i % 2 else "\x1b[31m"})
    labels = Labels("$k$_", names)
    results = evaluate(data, [parse_solver("longest"), parse_solver("shortest")]).results
    return break_down(results, group_questions(data, "$k$_", [labels]), n=10)


def test_without_breakdowns_there_is_nothing_to_draw(matplotlib):
    with raises(UsageError, field="breakdowns"):
        figures.breakdown_figure([])
