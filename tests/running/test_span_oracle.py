"""The score of a perfect choice among spans."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.decisions import RelativeThreshold
from classic_rc.errors import DataError, UsageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.metrics import get_metric
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.running.span_oracle import compute_span_oracle, oracle_predictions
from classic_rc.solvers import Random, SpanSlidingWindow, parse_solver
from classic_rc.text.spans import SpanGenerator
from tests.errors import raises

PASSAGE = Passage("p", "The fox met 2 hens of the farm. The owl slept.")


def question(
    id: str, *gold: str, task: Task = Task.MULTI_SPAN, passage: Passage = PASSAGE
) -> Question:
    return Question(id, passage, "Who?", (), gold, task)


def spans(*questions: Question) -> Dataset:
    return add_span_candidates(Dataset(questions), SpanGenerator(max_tokens=2))


def test_all_gold_texts_are_wanted_of_several_and_one_of_alternatives():
    two_golds, alternative_golds = (
        question("a", "the fox", "owl"),
        question("b", "fox", "hens of the farm"),
    )
    oracle = compute_span_oracle(spans(two_golds, alternative_golds))
    assert oracle.ceilings["quoref_em"] == 0.5
    assert oracle.ceilings["quoref_f1"] == pytest.approx((1 + (1 + 0.5) / 2) / 2)
    assert oracle.single_span_ceilings == {"quoref_em": 0.0, "quoref_f1": 0.5}
    alternatives = compute_span_oracle(
        spans(question("c", "hens of the farm", "The owl", task=Task.SPAN))
    )
    assert alternatives.ceilings == {"em": 1.0, "f1": 1.0} == alternatives.single_span_ceilings


def test_the_ceilings_have_the_same_bits_in_blocks_of_any_size():
    golds = ("fox x", "hens y z", "owl", "a b c d slept", "fox met u v w", "farm q")
    passages = [replace(PASSAGE, id=f"p{i}") for i in range(6)]
    rows = [(golds[i % 6], passages[i // 7 % 6]) for i in range(40)]
    questions = [question(f"q{i}", gold, passage=p) for i, (gold, p) in enumerate(rows)]
    dataset = spans(*questions)
    whole = compute_span_oracle(dataset)
    for size in (1, 30, 70):
        with small_blocks(size):
            blocks = compute_span_oracle(dataset)
        assert (blocks.ceilings, blocks.note) == (whole.ceilings, whole.note)


def test_texts_are_compared_as_the_metric_compares_them():
    assert compute_span_oracle(spans(question("a", "The OWL."))).ceilings["quoref_em"] == 1.0
    assert compute_span_oracle(spans(question("a", "2.0"))).ceilings["quoref_em"] == 1.0


def test_no_choice_of_spans_scores_more():
    golds = [("fox met hens", "slept"), ("owl fox",), ("x", "2 hens of the farm")]
    questions = [question(str(i), *gold) for i, gold in enumerate(golds)]
    metric = get_metric("quoref_f1")
    for q, prediction in zip(questions, oracle_predictions(spans(*questions)), strict=True):
        texts = sorted(set(SpanGenerator(max_tokens=2)(PASSAGE).texts()))
        choices = (c for n in (1, 2, 3) for c in itertools.combinations_with_replacement(texts, n))
        best = max(metric.value(q.gold, choice) for choice in choices)
        assert metric.value(q.gold, prediction.answers[0]) == best


def test_a_passage_without_spans_and_an_unanswerable_question_score_nothing():
    empty = question("a", "fox", passage=Passage("e", ""))
    unanswerable = question("b", "", task=Task.SPAN)
    assert compute_span_oracle(spans(empty)).ceilings == {"quoref_em": 0.0, "quoref_f1": 0.0}
    assert compute_span_oracle(spans(unanswerable)).ceilings == {"em": 0.0, "f1": 0.0}


def test_hidden_gold_is_refused():
    hidden = Question("q7", PASSAGE, "Who?", (), None, Task.SPAN)
    with raises(DataError, where="question q7"):
        compute_span_oracle(spans(hidden))


def test_every_run_on_spans_notes_the_ceilings():
    dataset = Dataset([question("a", "fox"), question("b", "hens of the farm", "owl")])
    evaluation = evaluate(dataset, [Random()], spans=SpanGenerator(max_tokens=1))
    assert evaluation.notes == (
        "a perfect choice among the candidate spans would score EM 50.00, F1 87.50; "
        "a perfect choice of one span per question, EM 50.00, F1 75.00",
    )
    assert evaluation.to_dict()["dataset"]["notes"] == list(evaluation.notes)
    single = evaluate(Dataset([question("a", "fox", task=Task.SPAN)]), [Random()])
    assert single.notes == (
        "a perfect choice among the candidate spans would score EM 100.00, F1 100.00",
    )
    choices = Dataset(
        [Question("c", PASSAGE, "?", (Candidate("a"),), frozenset({0}), Task.SINGLE_CHOICE)]
    )
    assert evaluate(choices, [Random()]).notes == ()


def test_a_relative_threshold_answers_with_several_spans():
    dataset = Dataset([question("a", "fox", "owl")])
    near = evaluate(
        dataset, [parse_solver("span-sw,margin=1e6")], spans=SpanGenerator(max_tokens=1)
    )
    (row,) = near.rows
    assert sorted(row.outcomes.answers[0]) == ["2", "farm", "fox", "hens", "met", "owl", "slept"]
    assert "relative_threshold:1000000.0" in row.signature
    several_spans = SpanSlidingWindow(decision=RelativeThreshold(margin=1e6, max_spans=1))
    assert len(evaluate(dataset, [several_spans]).rows[0].outcomes.answers[0]) == 1
    single = Dataset([question("a", "fox", task=Task.SPAN)])
    with raises(UsageError, expected=re.compile("multi-span")):
        evaluate(single, [parse_solver("span-sw,margin=1")])


@pytest.mark.ci
def test_quoref_dev(shared_data):
    dataset = add_span_candidates(load(shared_data / "quoref" / "quoref-dev-v0.1.json"))
    oracle = compute_span_oracle(dataset)
    assert oracle.ceilings == pytest.approx({"quoref_em": 0.9855, "quoref_f1": 0.9964}, abs=5e-5)
    assert oracle.single_span_ceilings == pytest.approx(
        {"quoref_em": 0.8958, "quoref_f1": 0.9442}, abs=5e-5
    )
