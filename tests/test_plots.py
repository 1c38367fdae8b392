"""The public figures take one result or several, and are the figures that the command line
draws.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import classic_rc
from classic_rc import plots
from classic_rc.errors import UsageError
from classic_rc.reports.figures import FIGURE_FORMATS, figure_bytes
from tests.errors import raises


@pytest.fixture(scope="module", autouse=True)
def matplotlib():
    return pytest.importorskip("matplotlib", reason="figures need matplotlib")


@pytest.fixture(scope="module")
def curve():
    from classic_rc.results.curves import PrecisionRecallCurve

    data = classic_rc.load("sample:multiple-answer")
    scores = classic_rc.parse_solver("sw+d").fit(data).score_candidates(data)
    return PrecisionRecallCurve.from_scores(scores, data, "one")


@pytest.fixture(scope="module")
def breakdown():
    from classic_rc.results import break_down, group_questions

    data = classic_rc.load("sample:single-choice")
    results = classic_rc.evaluate(data, [classic_rc.parse_solver("longest")]).results
    return break_down(results, group_questions(data, "type"), n=20)


def test_one_curve_is_drawn_as_a_list_of_one_is(curve):
    alone, listed = plots.precision_recall(curve), plots.precision_recall([curve])
    assert figure_bytes(alone, "svg") == figure_bytes(listed, "svg")
    assert [text.get_text() for text in alone.legends[0].get_texts()] == ["one"]


def test_one_breakdown_is_drawn_as_a_list_of_one_is(breakdown):
    alone, listed = plots.breakdown(breakdown), plots.breakdown([breakdown])
    assert figure_bytes(alone, "svg") == figure_bytes(listed, "svg")
    assert len(plots.breakdown([breakdown, breakdown]).axes) == 2


@pytest.mark.parametrize("draw", [plots.precision_recall, plots.breakdown])
def test_nothing_to_draw_is_refused(draw):
    with raises(UsageError, field=re.compile("^(curves|breakdowns)$")):
        draw([])


@pytest.mark.parametrize("form", FIGURE_FORMATS)
def test_a_file_is_of_the_format_that_its_name_says(tmp_path, curve, form):
    plots.save(plots.precision_recall(curve), tmp_path / f"figure.{form.upper()}")
    assert (tmp_path / f"figure.{form.upper()}").read_bytes() == figure_bytes(
        plots.precision_recall(curve), form
    )


@pytest.mark.parametrize("name", ["figure.gif", "figure", ".png"])
def test_another_name_is_refused_before_anything_is_written(tmp_path, curve, name):
    with raises(
        UsageError,
        field="path",
        found=str(tmp_path / name),
        expected=re.compile(r"\.pdf, \.png, \.svg"),
    ):
        plots.save(plots.precision_recall(curve), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_the_module_loads_without_matplotlib():
    code = (
        "import sys, classic_rc; classic_rc.plots.save; print({'matplotlib', 'numpy'} & "
        "set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == "set()"
