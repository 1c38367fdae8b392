"""The tables of a check."""

from __future__ import annotations

import pytest

from classic_rc.audit.artifacts import PartialInputs
from classic_rc.audit.check import Balance, CheckReport
from classic_rc.audit.findings import compare_checks
from classic_rc.audit.integrity import KINDS, Finding
from classic_rc.audit.measuring import PartialResult, Verdict
from classic_rc.audit.words import LeakingWords, WordCount
from classic_rc.evaluation.resampling import Interval
from classic_rc.questions import Task
from classic_rc.reports.checks import check_tables, comparison_table, fail_messages
from classic_rc.tables import render
from classic_rc.testing import synthetic_dataset
from tests.tables import texts

INTERVAL = Interval(0.06, 0.2)


def result(name, verdict=Verdict.ARTIFACT, interval=INTERVAL, follows_from=None, rule=None):
    return PartialResult(
        name, ("options",), "words", False, rule or name, 0.41234, 0.25, 0.16234, interval, 0.001, 0.01,
        verdict, follows_from, tuple(f"q{i}" for i in range(7)), 17, 0.1,
    )  # fmt: skip


def report(results=(), left_out=None, words=None, balance=None, findings=(), majority=None):
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER, name="made")
    partial = PartialInputs(tuple(results), left_out or {}, "f1_a", "cv5", 5.0, majority)
    return CheckReport(dataset, partial, words, balance, tuple(findings), 1.0)


def tables(*args, accepted=(), **kwargs):
    return check_tables(report(*args, **kwargs), accepted)


def text(*args, form="table", **kwargs):
    return render(tables(*args, **kwargs), form)


def test_a_finding_has_its_figures_its_examples_and_what_is_left():
    results = [result("is long"), result("is odd", follows_from="is long"), result("has a dash", None)]
    shown = text(results)
    (row,) = texts(tables(results)[0])
    assert row == ["is long", "ARTIFACT", "41.23", "25.00", "+16.23 [+6.0, +20.0]", "0.0100", "17"]
    assert "ARTIFACT is long (sees options)" in shown
    assert "answers 7: q0, q1, q2, q3, q4\n" in shown
    assert "from it follow: is odd" in shown
    assert "no finding, without the passage: 1; the best: has a dash, +16.23 points" in shown
    assert shown.startswith("made · 24 questions, 8 passages · data ")


def test_without_findings_the_table_says_so():
    assert "nothing found" in text([result("is long", None)])


def test_the_majority_is_a_row_and_no_finding():
    found, *_ = tables([result("is long", None)], majority=0.7)
    assert texts(found)[-1][:4] == ["is the most frequent answer", "majority", "70.00", "70.00"]
    assert any("chance is their most frequent answer, 70.0 %" in note for note in found.notes)


def test_accepted_findings_get_one_line():
    accepted = (result("is long"), result("is odd", follows_from="is long"))
    shown = text([result("has a dash", None)], accepted=accepted)
    assert "accepted: is long (and 1 that follow)" in shown


def test_reasons_to_fail():
    made = report(
        [result("is long"), result("is odd", follows_from="is long"), result("is copied", Verdict.SHORTCUT)],
        findings=[Finding(KINDS["gold-differs"], 2, ("q",)), Finding(KINDS["passage-repeated"], 3, ("q",)),
                  Finding(KINDS["empty-option"], 4, ("q",))],
    )  # fmt: skip

    def kinds(*wanted):
        return [line.split(": ")[1] for line in fail_messages(made, frozenset(wanted))]

    assert kinds("artifacts") == ["artifact"]
    assert kinds("shortcuts") == ["shortcut"]
    assert kinds("duplicates", "defects") == ["defects", "duplicates"]
    assert kinds() == []


def test_few_passages_have_no_interval():
    found, *_ = tables([result("is long", interval=None)])
    assert found["gain"]["is long"].interval is None


def test_what_was_not_tried_and_why():
    why = {"position": "not for cloze questions", "negation words": "not for cloze questions", "options": "other"}
    shown = text([result("is long")], why)
    assert "not tried (not for cloze questions): position, negation words" in shown
    assert "not tried (other): options" in shown
    hidden, *_ = tables(left_out=dict.fromkeys(why, "gold answers are hidden"))
    assert texts(hidden) == [["all", "gold answers are hidden"]]


def test_changes_between_two_checks():
    earlier = {"partial_inputs": {"results": [
        {"name": name, "gain": gain, "verdict": verdict, "follows_from": None}
        for name, gain, verdict in (
            ("is long", 0.05, "artifact"), ("is gone", 0.3, "artifact"), ("is new", 0.01, None),
            ("is less", 0.4, "artifact"), ("is same", 0.165, "artifact"),
        )
    ]}}  # fmt: skip
    later = report([result("is long"), result("is new"), result("is less"), result("is same")])
    compared = {c.name: (str(c.change), c.before) for c in compare_checks(earlier, later)}
    assert compared == {
        "is new": ("new", 0.01), "is long": ("worse", 0.05), "is same": ("same", 0.165),
        "is less": ("better", 0.4), "is gone": ("gone", 0.3),
    }  # fmt: skip
    assert "worse" in render(comparison_table(compare_checks(earlier, later), "v1", "v2"), "table")


def test_words_that_tell():
    word = WordCount("indeed", 30, 5, 8.75, 12, 0.51234, 1e-9, 1.5e-7)
    found = LeakingWords((word,) * 12, 40, 20, 100.0, 0.05, "word")
    table = tables(words=found)[1]
    assert (
        table.title == "words that tell right options from wrong ones: 12 of the 40 that are in at least 20 options"
    )
    assert texts(table) == [["indeed", "30", "5", "8.8", "12", "+0.512", "1.5e-07"]] * 10
    assert table.notes == ["and 2 more"]
    shown = text(words=LeakingWords((), 40, 20, 100, 0.05, "word"))
    assert "no word tells right options from wrong ones (40 in at least 20 options)" in shown


def test_findings_with_examples_that_fit_in_the_line():
    ids = tuple(f"some/very/long/folder/name/and/a/file-{i}.txt#{i}" for i in range(3))
    shown = text(findings=[Finding(KINDS["empty-option"], 1234, ids), Finding(KINDS["none-right"], 1, ("q",))])
    kind = KINDS["empty-option"]
    assert f"{kind.what}: some/ver…le-0.txt#0, " in shown
    assert "nothing found" in text()


def test_balance():
    shown = text(balance=Balance(0.25, (30, 50), (40.0, 40.0), 5.0, 1, 0.0253))
    assert "right options: 25.0 % of all" in shown
    assert "right options by position: 30, 50 (expected 40, 40)" in shown
    assert "chi-square 5.0 (df 1), p 0.025" in shown


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_every_table_renders(form):
    findings = [Finding(kind, 1, ("q",)) for kind in KINDS.values()]
    shown = text([result("options")], findings=findings, form=form)
    assert all(kind.what in shown for kind in KINDS.values())
