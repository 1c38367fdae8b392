"""Positions of right options, counted by hand; and what an interrupted check leaves."""

from __future__ import annotations

import pytest

import classic_rc
from classic_rc.audit import artifacts, check
from classic_rc.audit.check import CheckInterrupted, check_dataset, measure_label_balance
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

PASSAGE = Passage("p", "")


def dataset(*rows, task=Task.SINGLE_CHOICE):
    return Dataset(
        [
            Question(f"q{i}", PASSAGE, "?", tuple(Candidate(str(c)) for c in range(k)), frozenset(gold), task)
            for i, (k, gold) in enumerate(rows)
        ]
    )


def test_positions_are_counted_against_what_each_question_offers():
    balance = measure_label_balance(dataset((2, {0}), (2, {0}), (4, {0}), (4, {3})))
    assert balance.right_share == pytest.approx(4 / 12)
    assert balance.positions == (3, 0, 0, 1)
    assert balance.expected == pytest.approx((1.5, 1.5, 0.5, 0.5))
    assert balance.chi_square == pytest.approx(1.5 + 1.5 + 0.5 + 0.5)
    assert balance.degrees == 3
    assert balance.p == pytest.approx(0.2615, abs=1e-4)


def test_where_several_may_be_right_only_their_share_is_told():
    balance = measure_label_balance(dataset((4, {0, 1}), (2, ()), task=Task.MULTIPLE_ANSWER))
    assert balance.right_share == pytest.approx(2 / 6)
    assert balance.positions == ()
    assert balance.chi_square is None


def test_nothing_to_compare():
    assert measure_label_balance(dataset((0, ()))) is None
    assert measure_label_balance(dataset((1, {0}))).chi_square is None
    assert measure_label_balance(dataset((3, ()))).chi_square is None


def test_an_interrupted_check_has_what_was_found(monkeypatch):
    data = classic_rc.load("sample:single-choice")
    whole = check_dataset(data, regressions=False)
    learners = artifacts._run_learners

    def interrupted(*arguments):
        results = learners(*arguments)
        yield next(results)
        raise KeyboardInterrupt

    monkeypatch.setattr(artifacts, "_run_learners", interrupted)
    with pytest.raises(CheckInterrupted) as caught:
        check_dataset(data, regressions=False)
    report = caught.value.report
    assert report.findings == whole.findings
    assert report.balance == whole.balance
    assert report.words == whole.words
    tried = {result.name: result.p for result in report.partial_inputs.results}
    assert tried.items() <= {result.name: result.p for result in whole.partial_inputs.results}.items()
    missing, copies = report.missing
    assert copies == "duplicates"
    assert missing.startswith("learning from position by")
    assert missing.count(";") == sum(result.learned for result in whole.partial_inputs.results) - 2


def test_a_check_interrupted_among_duplicates_has_rules_and_counts(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    data = classic_rc.load("sample:single-choice")
    whole = check_dataset(data, regressions=False)
    monkeypatch.setattr(check, "find_copies", interrupted)
    with pytest.raises(CheckInterrupted) as caught:
        check_dataset(data, regressions=False)
    assert caught.value.report.missing == ("duplicates",)
    tried = [(result.name, result.p_holm) for result in caught.value.report.partial_inputs.results]
    assert tried == [(result.name, result.p_holm) for result in whole.partial_inputs.results]
    with pytest.raises(CheckInterrupted) as caught:
        check_dataset(data)
    learning, copies = caught.value.report.missing
    assert learning.startswith("learning from question; passage; option characters")
    assert copies == "duplicates"


def test_a_check_interrupted_at_once_misses_everything(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "find_own_defects", interrupted)
    with pytest.raises(CheckInterrupted) as caught:
        check_dataset(classic_rc.load("sample:single-choice"))
    assert caught.value.report.missing == (
        "defects",
        "balance and words of options",
        "artifacts and shortcuts",
        "duplicates",
    )
    assert caught.value.report.partial_inputs.results == ()
