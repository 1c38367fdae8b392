"""Bar charts of breakdowns: what is drawn is what was measured."""

from __future__ import annotations

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.evaluation import Contest, break_down, evaluate, group_questions
from classic_rc.reports.figures import FIGURE_FORMATS, figure_bytes
from classic_rc.solvers import parse_solver

pytest.importorskip("matplotlib", reason="figures need matplotlib")

from classic_rc.reports.figures import breakdown_figure


@pytest.fixture(scope="module")
def breakdowns():
    data = load("sample:single-choice")
    contest = Contest.of(evaluate(data, [parse_solver("longest"), parse_solver("sw+d")]))
    return [break_down(contest, group_questions(data, key), n=50) for key in ("type", "question-type")]


def test_a_panel_a_key_and_a_bar_a_cell(breakdowns):
    figure = breakdown_figure(breakdowns)
    assert len(figure.axes) == 2
    for axes, breakdown in zip(figure.axes, breakdowns, strict=True):
        groups = (breakdown.total, *breakdown.groups)
        widths = sorted(bar.get_width() for bar in axes.patches)
        assert widths == pytest.approx(sorted(100 * cell.value for group in groups for cell in group.cells))
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert names == [f"{group.name} ({group.questions})" for group in groups]
        assert len(axes.lines) == 1 + sum(cell.interval is not None for group in groups for cell in group.cells)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["longest", "sw+d"]


def test_small_groups_are_pale(breakdowns):
    figure = breakdown_figure(breakdowns[1:])
    groups = (breakdowns[1].total, *breakdowns[1].groups)
    assert any(group.is_small for group in groups)
    alphas = [bar.get_alpha() for bar in figure.axes[0].patches]
    assert alphas == [0.3 if group.is_small else 1 for _ in range(2) for group in groups]
    assert "pale: n < 10" in figure.axes[0].get_title(loc="left")


def test_without_systems_bars_are_shares():
    data = load("sample:single-choice")
    contest = Contest(data.name, data.fingerprint, data.task, Contest.of(evaluate(data, [])).groups, ())
    made = break_down(contest, group_questions(data, "verbatim"), n=10)
    (axes,) = breakdown_figure([made]).axes
    assert [bar.get_width() for bar in axes.patches] == [100, 50, 50]
    assert axes.get_xlabel() == "% of the questions"


def test_names_are_no_mathematics_and_no_commands(dataset_of_names):
    figure = breakdown_figure([dataset_of_names])
    for form in FIGURE_FORMATS:
        assert figure_bytes(figure, form) == figure_bytes(figure, form)
    shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert shown[1:] == ["\\x1b[31m (12)", "$x^{$ (12)"]


@pytest.fixture
def dataset_of_names():
    from classic_rc.datasets.labels import Labels

    data = load("sample:single-choice")
    labels = Labels("$k$_", {q.id: frozenset({"$x^{$" if i % 2 else "\x1b[31m"}) for i, q in enumerate(data)})
    contest = Contest.of(evaluate(data, [parse_solver("longest"), parse_solver("shortest")]))
    return break_down(contest, group_questions(data, "$k$_", [labels]), n=10)


def test_nothing_to_draw():
    with pytest.raises(UsageError, match="no breakdown to draw"):
        breakdown_figure([])
