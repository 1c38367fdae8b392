"""Partial inputs: planted leaks are found and named, and none is found in clean data."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from classic_rc import near_duplicates
from classic_rc.audit import artifacts
from classic_rc.audit.artifacts import MEASURED_TASKS, PARTIAL_INPUTS, measure_partial_inputs
from classic_rc.audit.measuring import MIN_GROUPS, Verdict
from classic_rc.audit.options import OptionTable
from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.testing import synthetic_dataset
from tests.audit.planted import PLANTED, make, null_dataset, on_gold
from tests.errors import raises

LEARNED_ONLY = frozenset({"rare spellings"})


def measure(dataset, **options):
    return measure_partial_inputs(dataset, **{"regressions": False, **options})


def by_name(partial):
    return {result.name: result for result in partial.results}


def is_named(planted, seed, regressions=False, n=800):
    findings = measure(make(seed, planted.leak, n=n), regressions=regressions).findings
    return bool(findings) and findings[0].name in planted.names and findings[0].verdict == planted.verdict


@pytest.mark.parametrize("name", sorted(PLANTED.keys() - LEARNED_ONLY))
def test_a_planted_leak_is_the_first_finding(name):
    assert is_named(PLANTED[name], 1, n=320)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLANTED))
def test_a_planted_leak_is_the_first_finding_in_95_of_100_datasets(name):
    assert sum(is_named(PLANTED[name], seed, name in LEARNED_ONLY) for seed in range(100)) >= 95


def test_all_kinds_of_clean_data_together_raise_few_alarms():
    """Of 8 datasets, one of each kind, with some 200 rules each: at a level of 5 %, two or more are one in 17."""
    alarms = [seed for seed in range(8) if measure(null_dataset(seed)).findings]
    assert len(alarms) <= 1


@pytest.mark.slow
def test_200_clean_datasets_raise_at_most_16_alarms():
    assert sum(bool(measure(null_dataset(seed), regressions=True).findings) for seed in range(200)) <= 16


# Verdicts, and what findings say


@pytest.fixture(scope="module")
def stopped():
    """Six of ten right options end with a full stop."""
    return measure(make(2, PLANTED["final full stop"].leak, n=200), regressions=True)


def test_a_finding_has_its_rule_its_figures_and_its_questions(stopped):
    dataset = make(2, PLANTED["final full stop"].leak, n=200)
    first = stopped.findings[0]
    answered = [q.id for q in dataset if q.gold_texts[0].endswith(".")]
    assert (first.name, first.verdict, first.sees) == ("ends with '.'", Verdict.ARTIFACT, ("options",))
    assert list(first.answered) == answered
    assert first.remaining == 200 - len(answered)
    assert first.value == pytest.approx((len(answered) + (200 - len(answered)) / 4) / 200)
    assert first.chance == pytest.approx(0.25)
    assert first.sentence.startswith("the right option ends with '.': ")
    assert first.interval.low < first.gain == first.value - first.chance < first.interval.high
    assert first.to_dict()["examples"] == answered[:5]


def test_what_follows_from_a_finding_says_so(stopped):
    followers = {r.name: r.follows_from for r in stopped.findings[1:]}
    assert set(followers.values()) == {"ends with '.'"}
    assert {"has the character '.'", "option characters"} <= set(followers)


def test_findings_that_need_the_passage_are_shortcuts():
    findings = measure(make(3, PLANTED["copied from the passage"].leak)).findings
    assert findings[0].verdict is Verdict.SHORTCUT
    for finding in findings:
        assert (finding.verdict is Verdict.SHORTCUT) is ("passage" in finding.sees)


def test_names_say_what_is_seen():
    for row in PARTIAL_INPUTS:
        assert row.reads_passage is ("passage" in row.sees)
    assert len({row.name for row in PARTIAL_INPUTS}) == len(PARTIAL_INPUTS)


def test_two_leaks_are_two_findings():
    def both(draft):
        PLANTED["final full stop"].leak(draft)
        PLANTED["letter in meta"].leak(draft)

    leading = {r.name for r in measure(make(4, both)).findings if r.follows_from is None}
    assert {"ends with '.'", "has its letter in meta key"} <= leading


def test_the_level_is_a_least_gain():
    data = make(5, on_gold(0.2, lambda text: text + "."), n=400)
    assert measure(data).findings[0].name == "ends with '.'"
    assert measure(data, level=30).findings == ()


def yes_no(share, n=400, leak=False):
    base = make(6, n=n, k=2)
    golds = [0 if i % 100 < 100 * share else 1 for i in range(n)]
    mixed = random.Random(0).sample(golds, n)
    return Dataset(
        [
            Question(
                q.id,
                q.passage,
                f"{q.text} {'truly' if leak and g and i % 3 else ''}",
                (Candidate("yes"), Candidate("no")),
                frozenset({g}),
                Task.SINGLE_CHOICE,
            )
            for i, (q, g) in enumerate(zip(base, mixed, strict=True))
        ],
        "yes or no",
    )


def test_where_all_options_are_the_same_chance_is_the_majority():
    partial = measure(yes_no(0.7), regressions=True)
    assert partial.majority == pytest.approx(0.7)
    assert all(result.chance == partial.majority for result in partial.results)
    assert partial.findings == ()


def test_questions_that_tell_yes_from_no_are_an_artifact():
    partial = measure(yes_no(0.5, leak=True), regressions=True)
    findings = partial.findings
    assert (findings[0].name, findings[0].sees) == (
        "is 'no' where the question has the word 'truly'",
        ("question",),
    )
    learned = by_name(partial)["question"]
    assert learned.verdict is Verdict.ARTIFACT
    assert learned.gain > 0.2


# Learning, and what cannot be tried


def test_training_data_takes_the_place_of_folds():
    leak = PLANTED["id modulo 4"].leak
    train = make(8, leak, n=400)
    train = replace(train, questions=[replace(q, id=f"t{q.id}") for q in train], name="train")
    partial = measure(make(9, leak, n=400), train=train, regressions=True)
    assert partial.learned_from == "train"
    assert by_name(partial)["position by the number in id modulo 4"].verdict is Verdict.ARTIFACT
    assert not by_name(partial)["options"].verdict


def test_questions_shared_with_training_data_are_left_out():
    data = make(9, n=40)
    train = replace(data, questions=[*make(8, n=40), *(replace(q, id=f"s{q.id}") for q in data[:8])], name="t")
    train = replace(train, questions=[replace(q, id=f"t{q.id}") for q in train])
    assert any("8 questions are left out" in warning for warning in measure(data, train=train).warnings)


@pytest.mark.parametrize("task", list(Task))
def test_what_is_not_for_a_task_is_left_out_and_said_so(task):
    partial = measure(synthetic_dataset(task, n_passages=12), regressions=True)
    assert bool(partial.results) is (task in MEASURED_TASKS)
    if task not in MEASURED_TASKS:
        assert partial.left_out == {row.name: f"not for {task} questions" for row in PARTIAL_INPUTS}
    else:
        assert partial.metric == MEASURED_TASKS[task]


def test_cloze_mentions_with_equal_texts_are_one_option():
    passage = Passage("p", "Ann met Bob. Bob and ann left.")
    question = Question(
        "q", passage, "@placeholder left", tuple(map(Candidate, ("Ann", "Bob", "Bob", "ann"))), ("bob",), Task.CLOZE
    )
    table = OptionTable.of(Dataset([question]))
    assert (table.texts, table.right.tolist(), table.sizes.tolist()) == (["Ann", "Bob"], [False, True], [2])


def test_an_interval_takes_some_passages():
    leak = PLANTED["final full stop"].leak
    assert measure(make(3, leak, n=4 * (MIN_GROUPS - 1))).results[0].interval is None
    assert measure(make(3, leak, n=4 * MIN_GROUPS)).results[0].interval is not None


def test_the_interval_is_that_of_resampled_passages():
    """Against a plain bootstrap of passages."""
    import numpy as np

    data = make(8, PLANTED["final full stop"].leak, n=200)
    result = by_name(measure(data))["ends with '.'"]
    credit = np.array([1.0 if q.gold_texts[0].endswith(".") else 0.25 for q in data])
    groups, rng = passage_groups(data), np.random.default_rng(0)
    gains = []
    for _ in range(2000):
        drawn = rng.integers(groups.max() + 1, size=groups.max() + 1)
        gains.append(np.concatenate([credit[groups == g] for g in drawn]).mean() - 0.25)
    assert result.interval == pytest.approx(np.quantile(gains, [0.025, 0.975]), abs=0.02)


def test_reasons_to_try_nothing():
    dataset = make(14, n=12)
    hidden = replace(dataset, questions=[replace(dataset[0], gold=None), *dataset[1:]])
    for data, reason in (
        (hidden, "hidden"),
        (dataset.filter(lambda q: q.passage is dataset[0].passage), "two different passages"),
        (Dataset([]), "no questions"),
        (make(1, n=12, k=1), "no question has two options"),
    ):
        partial = measure(data)
        assert partial.results == ()
        assert all(reason in why for why in partial.left_out.values())


def test_bad_options():
    dataset = make(16, n=12)
    with raises(UsageError, field="cv", found="5"):
        measure(dataset, train=dataset, cv=5)
    with raises(UsageError) as refused:
        measure(dataset, train=dataset)
    assert f"left of {dataset.name}" in str(refused.value)
    with raises(UsageError) as refused:
        measure(dataset, group="author")
    assert "group" in str(refused.value)
    with raises(UsageError, field="training data", found="cloze", expected="single-choice"):
        measure(dataset, train=synthetic_dataset(Task.CLOZE))


def test_threads_change_nothing():
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=10, seed=4)

    def results(jobs):
        partial = measure(dataset, jobs=jobs, regressions=True)
        return [replace(result, seconds=0.0) for result in partial.results], partial.left_out, partial.warnings

    assert results(3) == results(1)


def test_near_duplicates_are_looked_for_once(monkeypatch):
    found, find = [], near_duplicates._find_pairs
    monkeypatch.setattr(near_duplicates, "_find_pairs", lambda *texts: found.append(texts) or find(*texts))
    dataset, train = (synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=seed) for seed in (6, 7))
    measure(dataset, train=train, jobs=3)
    sizes = [(len(texts), len(others)) for texts, others in found]
    assert len(sizes) == len(set(sizes)) > 0


def test_threads_share_the_folds(monkeypatch):
    found, find = [], FoldPlan._find_groups
    monkeypatch.setattr(
        FoldPlan, "_find_groups", lambda plan, questions: found.append(plan) or find(plan, questions)
    )
    measure(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=5), jobs=3)
    assert len(found) == 1


def test_many_questions_are_learned_in_two_folds_unless_their_number_is_given(monkeypatch):
    data = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12)
    monkeypatch.setattr(artifacts, "MANY_QUESTIONS", len(data))
    assert measure(data).learned_from.startswith("cv5")
    monkeypatch.setattr(artifacts, "MANY_QUESTIONS", len(data) - 1)
    assert measure(data).learned_from.startswith("cv2")
    assert measure(data, cv=3).learned_from.startswith("cv3")
