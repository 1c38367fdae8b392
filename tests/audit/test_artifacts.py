"""Partial inputs: the right ones find a planted leak, and none finds a leak in clean data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc import near_duplicates
from classic_rc.audit import artifacts
from classic_rc.audit.artifacts import MEASURED_TASKS, MIN_GROUPS, PARTIAL_INPUTS, AboveMean, measure_partial_inputs
from classic_rc.errors import UsageError
from classic_rc.evaluation.evaluate import predict
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.metrics import get_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Task
from classic_rc.solvers import Length
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

CUES = [m for m in PARTIAL_INPUTS if m.solver.name != "surface-lr"]
FEW = {"permutations": 2000, "resamples": 1000}


def by_name(partial):
    return {result.name: result for result in partial.results}


def test_a_telling_word_is_found_by_what_reads_the_options(simulated, task, leaks):
    results = by_name(measure_partial_inputs(simulated(task, 1, n_passages=40, leak=leaks["word"]), **FEW))
    for name in ("options", "question and options", "passage and options"):
        assert results[name].tested.interval.low > 0.05
        assert results[name].p_holm <= 0.05
    for name in ("position", "negation words"):
        assert results[name].tested.interval.low < 0.05
        assert results[name].p_holm > 0.05


def test_long_right_options_are_found_by_length(simulated, task, leaks):
    results = by_name(measure_partial_inputs(simulated(task, 2, leak=leaks["length"]), family=CUES, **FEW))
    for name in ("length in characters", "length in words"):
        assert results[name].tested.interval.low > 0.05
    assert results["position"].tested.interval.low < 0.05


def test_short_right_options_are_found_as_well(simulated, task):
    def shorter(rng, options, gold):
        return [o.split()[0] if i in gold else f"{o} {o}" for i, o in enumerate(options)]

    results = by_name(measure_partial_inputs(simulated(task, 3, leak=shorter), family=CUES, **FEW))
    assert results["length in words"].tested.interval.low > 0.2


def test_right_options_at_one_position_are_found_by_position(simulated, task):
    dataset = simulated(task, 4)
    moved = [q if i % 2 else with_right_option_first(q) for i, q in enumerate(dataset)]
    results = by_name(measure_partial_inputs(replace(dataset, questions=moved), family=CUES, **FEW))
    assert results["position"].tested.interval.low > 0.05
    assert results["length in words"].tested.interval.low < 0.05


def with_right_option_first(question):
    order = sorted(range(len(question.candidates)), key=lambda i: i not in question.gold)
    gold = frozenset(range(len(question.gold)))
    return replace(question, candidates=tuple(question.candidates[i] for i in order), gold=gold)


def test_options_of_the_passages_words_are_found_by_overlap(simulated, task):
    dataset = simulated(task, 5)

    def quoting(question):
        words = question.passage.text.split()
        options = [
            Candidate(" ".join(words[7 * i : 7 * i + 3])) if i in question.gold else c
            for i, c in enumerate(question.candidates)
        ]
        return replace(question, candidates=tuple(options))

    results = by_name(
        measure_partial_inputs(replace(dataset, questions=list(map(quoting, dataset))), family=CUES, **FEW)
    )
    assert results["verbatim overlap"].tested.interval.low > 0.2


def test_without_a_leak_there_is_none(simulated, task):
    partial = measure_partial_inputs(simulated(task, 6, n_passages=40), **FEW)
    assert all(result.tested.interval.low < 0.05 for result in partial.results)
    assert all(result.p_holm > 0.05 for result in partial.results)


@pytest.mark.slow
def test_false_alarms_of_the_family_are_about_as_many_as_they_should_be(simulated):
    """200 datasets without a leak, half of them single-choice: 2 to 9 % raise any alarm at the 5 % level."""
    tasks = (Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER)
    alarms = 0
    for seed in range(200):
        partial = measure_partial_inputs(simulated(tasks[seed % 2], seed), permutations=2000, resamples=10)
        alarms += min(result.p_holm for result in partial.results) <= 0.05
    assert 0.02 <= alarms / 200 <= 0.09


# What the numbers are.


def test_numbers_are_those_of_out_of_fold_predictions(simulated):
    dataset = simulated(Task.SINGLE_CHOICE, 7)
    results = by_name(measure_partial_inputs(dataset, family=CUES, **FEW))
    predictions = predict(dataset, Length(), cv=5).predictions
    gain = results["length in characters"].tested
    assert gain.value == get_metric("accuracy")(dataset, predictions)
    assert gain.chance == pytest.approx(0.25)
    assert gain.gain == gain.value - gain.chance
    assert gain.interval.low < gain.gain < gain.interval.high


def test_the_interval_is_that_of_a_plain_bootstrap(simulated):
    """Against resampling passages in a loop, metric and chance anew for each resample."""
    dataset = simulated(Task.SINGLE_CHOICE, 8)
    predictions = predict(dataset, Length(), cv=5).predictions
    groups = passage_groups(dataset)
    right = get_metric("accuracy").statistics(dataset, predictions)[:, 0]
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(2000):
        drawn = rng.integers(groups.max() + 1, size=groups.max() + 1)
        chosen = np.concatenate([np.flatnonzero(groups == g) for g in drawn])
        gains.append(right[chosen].mean() - 0.25)
    results = by_name(measure_partial_inputs(dataset, family=CUES, permutations=10))
    found = results["length in characters"].tested.interval
    assert found == pytest.approx(np.quantile(gains, [0.025, 0.975]), abs=0.015)


def test_an_interval_takes_some_passages(simulated):
    few = simulated(Task.SINGLE_CHOICE, 9, n_passages=MIN_GROUPS - 1)
    enough = simulated(Task.SINGLE_CHOICE, 9, n_passages=MIN_GROUPS)
    assert all(r.tested.interval is None for r in measure_partial_inputs(few, family=CUES, **FEW).results)
    assert all(r.tested.interval for r in measure_partial_inputs(enough, family=CUES, **FEW).results)


def test_everything_follows_from_the_seed(simulated):
    dataset = simulated(Task.MULTIPLE_ANSWER, 10)
    first, again, other = (
        measure_partial_inputs(dataset, family=CUES, seed=seed, **FEW).to_dict()["results"] for seed in (1, 1, 2)
    )
    for result in (*first, *again, *other):
        del result["seconds"]
    assert first == again
    assert first != other


def test_holm_is_over_what_was_tried(simulated):
    dataset = simulated(Task.SINGLE_CHOICE, 11)
    few = measure_partial_inputs(dataset, family=CUES[:1], **FEW).results
    assert [r.p_holm for r in few] == [r.p for r in few]
    many = by_name(measure_partial_inputs(dataset, family=CUES, **FEW))
    assert many[few[0].name].p == few[0].p
    assert many[few[0].name].p_holm >= few[0].p_holm


# Learning, and what cannot be tried.


def test_training_data_takes_the_place_of_folds(simulated, leaks):
    task = Task.SINGLE_CHOICE
    train, dataset = (simulated(task, seed, leak=leaks["length"]) for seed in (12, 13))
    renamed = replace(train, questions=[replace(q, id=f"t{q.id}") for q in train], name="train")
    partial = measure_partial_inputs(dataset, train=renamed, family=CUES, **FEW)
    assert partial.learned_from == "train"
    assert by_name(partial)["length in words"].tested.interval.low > 0.05
    shared = replace(renamed, questions=[*renamed, *(replace(q, id=f"s{q.id}") for q in dataset[:8])])
    partial = measure_partial_inputs(dataset, train=shared, family=CUES, **FEW)
    assert any("8 questions are left out" in warning for warning in partial.warnings)


@pytest.mark.parametrize("task", list(Task))
def test_what_is_not_for_a_task_is_left_out_and_said_so(task):
    dataset = synthetic_dataset(task, n_passages=12)
    partial = measure_partial_inputs(dataset, permutations=10, resamples=10)
    tried = {r.name for r in partial.results}
    assert tried | set(partial.left_out) == {m.name for m in PARTIAL_INPUTS}
    assert not tried & set(partial.left_out)
    assert bool(tried) is (task in MEASURED_TASKS)
    for name, reason in partial.left_out.items():
        assert reason == f"not for {task} questions", name


def test_cloze_questions_are_measured_by_f1_and_exact_match():
    partial = measure_partial_inputs(synthetic_dataset(Task.CLOZE, n_passages=12), family=CUES, **FEW)
    results = by_name(partial)
    assert set(results) == {"length in characters", "length in words", "most frequent entity"}
    assert list(results["most frequent entity"].gains) == ["f1", "em"]


def test_reasons_to_try_nothing(simulated):
    dataset = simulated(Task.SINGLE_CHOICE, 14, n_passages=3)
    hidden = replace(dataset, questions=[replace(dataset[0], gold=None), *dataset[1:]])
    one_passage = dataset.filter(lambda q: q.passage is dataset[0].passage)
    for data, reason in (
        (hidden, "hidden"),
        (one_passage, "two different passages"),
        (Dataset([]), "no questions"),
    ):
        partial = measure_partial_inputs(data, **FEW)
        assert partial.results == ()
        assert all(reason in why for why in partial.left_out.values())


def test_a_partial_input_that_cannot_learn_is_left_out(simulated):
    all_right = [replace(q, gold=frozenset(range(len(q.candidates)))) for q in simulated(Task.MULTIPLE_ANSWER, 15)]
    partial = measure_partial_inputs(Dataset(all_right), family=CUES, **FEW)
    assert partial.results == ()
    assert "right" in partial.left_out["length in words"]


def test_bad_options(simulated):
    dataset = simulated(Task.SINGLE_CHOICE, 16, n_passages=3)
    with raises(UsageError, field="permutations", found="0"):
        measure_partial_inputs(dataset, permutations=0)
    with raises(UsageError, field="resamples", found="0"):
        measure_partial_inputs(dataset, resamples=0)
    with raises(UsageError, field="cv", found="5"):
        measure_partial_inputs(dataset, train=dataset, cv=5)
    with raises(UsageError) as refused:
        measure_partial_inputs(dataset, train=dataset)
    assert f"left of {dataset.name}" in str(refused.value)
    with raises(UsageError) as refused:
        measure_partial_inputs(dataset, group="author")
    assert "group" in str(refused.value)
    with raises(UsageError, field="training data", found="cloze", expected="single-choice"):
        measure_partial_inputs(dataset, train=synthetic_dataset(Task.CLOZE))


def test_above_the_mean_of_the_question():
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=3)[:4]
    scores = Scores.from_lists([[1.0, 3.0, 2.0], [5.0, 5.0], [], [0.0, 0.0, 0.0, 9.0]])
    answers = [p.answers for p in AboveMean().decide(scores, dataset)]
    assert answers == [(frozenset({1}),), (frozenset(),), (frozenset(),), (frozenset({3}),)]


def test_threads_change_nothing(task):
    dataset = synthetic_dataset(task, n_passages=20, seed=4)

    def results(jobs):
        partial = measure_partial_inputs(dataset, jobs=jobs, **FEW)
        assert all(result.seconds > 0 for result in partial.results)
        return [replace(result, seconds=0.0) for result in partial.results], partial.left_out, partial.warnings

    assert results(3) == results(1)


def test_threads_share_the_overlap(monkeypatch):
    found, find = [], near_duplicates._find_pairs
    monkeypatch.setattr(near_duplicates, "_find_pairs", lambda *texts: found.append(texts) or find(*texts))
    dataset, train = (synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=seed) for seed in (6, 7))
    measure_partial_inputs(dataset, train=train, jobs=3, **FEW)
    sizes = [(len(texts), len(others)) for texts, others in found]
    assert len(sizes) == len(set(sizes)) > 0


def test_threads_share_the_folds(monkeypatch):
    found, find = [], FoldPlan._find_groups
    monkeypatch.setattr(
        FoldPlan, "_find_groups", lambda plan, questions: found.append(plan) or find(plan, questions)
    )
    measure_partial_inputs(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20, seed=5), jobs=3, **FEW)
    assert len(found) == 1


def test_many_questions_are_learned_in_two_folds_unless_their_number_is_given(monkeypatch):
    data = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12)
    monkeypatch.setattr(artifacts, "MANY_QUESTIONS", len(data))
    assert measure_partial_inputs(data, permutations=10, resamples=10).learned_from.startswith("cv5")
    monkeypatch.setattr(artifacts, "MANY_QUESTIONS", len(data) - 1)
    assert measure_partial_inputs(data, permutations=10, resamples=10).learned_from.startswith("cv2")
    assert measure_partial_inputs(data, cv=3, permutations=10, resamples=10).learned_from.startswith("cv3")
