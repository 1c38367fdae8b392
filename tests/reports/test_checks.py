"""The tables of a check."""

from __future__ import annotations

import pytest

from classic_rc.audit.artifacts import Gain, PartialInputs, PartialResult
from classic_rc.audit.check import Balance, CheckReport
from classic_rc.audit.integrity import KINDS, Finding
from classic_rc.audit.words import LeakingWords, WordCount
from classic_rc.evaluation.resampling import Interval
from classic_rc.questions import Task
from classic_rc.reports.checks import check_tables, leak_messages
from classic_rc.reports.tables import render
from classic_rc.testing import synthetic_dataset


def result(name, low, p_holm=0.01, **others):
    gain = Gain(0.41234, 0.25, 0.16234, None if low is None else Interval(low, 0.2))
    return PartialResult(name, "Length()", {"f1_a": gain, **others}, p_holm / 2, p_holm, 0.1)


def report(results=(), left_out=None, words=None, balance=None, findings=(), task=Task.MULTIPLE_ANSWER):
    dataset = synthetic_dataset(task, name="made")
    partial = PartialInputs(tuple(results), left_out or {}, "cv5", 10_000, 2000, 0)
    return CheckReport(dataset, partial, words, balance, tuple(findings), 1.0)


def text(*args, level=5.0, form="table", **kwargs):
    return "\n".join(render(table, form) for table in check_tables(report(*args, **kwargs), level))


def test_numbers_are_in_points():
    shown = text([result("options", 0.06), result("length in words", -0.00001, 1)])
    assert "options          41.23   25.00  +16.23  +6.00 to +20.00    0.0100  LEAKS" in shown
    assert "length in words  41.23   25.00  +16.23  +0.00 to +20.00    1.0000\n" in shown
    assert shown.startswith("made · 24 questions, 8 passages · data ")


def test_other_metrics_are_next_to_the_tested_one():
    shown = text([result("options", 0.06, f1_m=Gain(0.5, 0.52, -0.02, None))])
    assert "p (Holm)    F1m   gain" in shown
    assert "0.0100  50.00  -2.00  LEAKS" in shown


def test_the_level_decides_what_leaks():
    rows = [result("options", 0.06), result("length in words", 0.03), result("position", None)]
    for level, names in ((5, ["options"]), (2, ["options", "length in words"]), (6, [])):
        messages = leak_messages(report(rows), level)
        assert [message.split(": ")[1] for message in messages] == names
        assert text(rows, level=level).count("LEAKS\n") == len(names)
    assert leak_messages(report(rows)) == ["made leaks: options: +16.23 points (+6.00 to +20.00)"]


def test_few_passages_have_no_interval():
    shown = text([result("options", None)])
    assert "–    0.0100" in shown
    assert "no interval, and so no leak, with fewer than 10 different passages" in shown


def test_what_was_not_tried_and_why():
    why = {"position": "not for cloze questions", "negation words": "not for cloze questions", "options": "other"}
    shown = text([result("length in words", 0.0)], why)
    assert "not tried (not for cloze questions): position, negation words" in shown
    assert "not tried (other): options" in shown
    assert "all            gold answers are hidden" in text(left_out=dict.fromkeys(why, "gold answers are hidden"))


def test_words_that_tell():
    word = WordCount("indeed", 30, 5, 8.75, 12, 0.51234, 1e-9, 1.5e-7)
    found = LeakingWords((word,) * 12, 40, 20, 100.0, 0.05, "word")
    shown = text(words=found)
    assert "words that tell right options from wrong ones: 12 of the 40 that are in at least 20 options" in shown
    assert shown.count("indeed        30         5              8.8        12  +0.512  1.5e-07") == 10
    assert "and 2 more" in shown
    shown = text(words=LeakingWords((), 40, 20, 100, 0.05, "word"))
    assert "no word tells right options from wrong ones (40 in at least 20 options)" in shown


def test_findings_with_examples_that_fit_in_the_line():
    ids = tuple(f"some/very/long/folder/name/and/a/file-{i}.txt#{i}" for i in range(3))
    shown = text(findings=[Finding(KINDS["empty-option"], 1234, ids), Finding(KINDS["none-right"], 1, ("q",))])
    kind = KINDS["empty-option"]
    (line,) = (line for line in shown.splitlines() if line.startswith(f"{kind.severity}  ") and kind.why in line)
    assert line.split("1,234")[0].split("  ", 1)[1].strip() == kind.what
    assert f"{kind.what}: some/ver…le-0.txt#0, " in shown
    assert max(map(len, shown.splitlines())) <= 96
    assert "nothing found" in text()


def test_balance():
    shown = text(balance=Balance(0.25, (30, 50), (40.0, 40.0), 5.0, 1, 0.0253))
    assert "right options: 25.0 % of all" in shown
    assert "right options by position: 30, 50 (expected 40, 40)" in shown
    assert "chi-square 5.0 (df 1), p 0.025" in shown


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_every_table_renders(form):
    findings = [Finding(kind, 1, ("q",)) for kind in KINDS.values()]
    shown = text([result("options", 0.06)], findings=findings, form=form)
    assert all(kind.what in shown for kind in KINDS.values())


def test_every_finding_fits_in_the_line():
    findings = [Finding(kind, 99_999, ("q" * 50,) * 3) for kind in KINDS.values()]
    assert max(map(len, text(findings=findings).splitlines())) <= 100
