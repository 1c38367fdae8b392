"""MultiRC's metrics and SuperGLUE's variant, which depend only on the counts of a selection."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from classic_rc.datasets import load
from classic_rc.metrics import get_metric, metrics_for, selection_metric
from classic_rc.predictions import Prediction
from classic_rc.questions import Task

METRICS = metrics_for(Task.MULTIPLE_ANSWER)

RELEASED = {
    "human-01": (86.44, 83.77, 56.56),
    "lucene_paragraphs": (64.25, 60.04, 7.45),
    "simpleLR": (66.53, 63.18, 11.75),
    "allOnes": (61.00, 59.95, 0.84),
}


def select(*options: int) -> Prediction:
    return Prediction("q", (frozenset(options),))


@st.composite
def selections(draw):
    """The gold and the selected options of a few questions of up to seven options."""
    questions = []
    for n in draw(st.lists(st.integers(0, 7), min_size=1, max_size=6)):
        options = st.frozensets(st.integers(0, n - 1)) if n else st.just(frozenset())
        questions.append((n, draw(options), draw(options)))
    return questions


@pytest.fixture(scope="session")
def score(ask):
    """A metric over (number of options, gold, selected) triples."""

    def run(metric, triples):
        questions = [ask(Task.MULTIPLE_ANSWER, frozenset(gold), n) for n, gold, _ in triples]
        return metric(questions, [select(*selected) for *_, selected in triples])

    return run


def harmonic_mean(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0


def test_precision_and_recall_are_averaged_before_their_harmonic_mean(score):
    triples = [(4, {0, 1}, {0}), (4, {0}, {0, 1, 2, 3})]
    f1_m, f1_a, em0, em1, _ = (score(metric, triples) for metric in METRICS)
    assert f1_m == pytest.approx(harmonic_mean((1 + 1 / 4) / 2, (1 / 2 + 1) / 2))
    assert f1_a == pytest.approx(harmonic_mean(2 / 5, 2 / 3))
    assert (em0, em1) == (0, 0.5)


def test_nothing_selected_has_precision_one_and_nothing_right_recall_one(ask):
    one_right = ask(Task.MULTIPLE_ANSWER, frozenset({0}), 2)
    none_right = ask(Task.MULTIPLE_ANSWER, frozenset(), 2)
    questions = [one_right, none_right, none_right]
    rows = get_metric("f1_m").statistics(questions, [select(), select(0), select()])
    assert rows.tolist() == [[1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize(("gold", "selected", "value"), [((0,), (), 0), ((), (0,), 0), ((), (), 1)])
def test_f1_a_is_one_only_if_nothing_is_right_and_nothing_selected(score, gold, selected, value):
    assert score(get_metric("f1_a"), [(2, gold, selected)]) == value


@given(selections())
def test_the_metrics_follow_their_definitions(score, triples):
    values = {metric.name: score(metric, triples) for metric in METRICS}
    n_wrong, hits, precisions, recalls = [], 0, [], []
    for _, gold, selected in triples:
        n_shared = len(gold & selected)
        n_wrong.append(len(gold ^ selected))
        hits += n_shared
        precisions.append(n_shared / len(selected) if selected else 1)
        recalls.append(n_shared / len(gold) if gold else 1)
    assert values["em0"] == pytest.approx(np.mean([n == 0 for n in n_wrong]))
    assert values["em1"] == pytest.approx(np.mean([n <= 1 for n in n_wrong]))
    f1_m = harmonic_mean(np.mean(precisions), np.mean(recalls))
    assert values["f1_m"] == pytest.approx(f1_m)
    n_labels = 2 * hits + sum(n_wrong)
    assert values["f1_a"] == pytest.approx(2 * hits / n_labels if n_labels else 1)
    assert all(0 <= value <= 1 for value in values.values())


def labels_of(n, options):
    return [int(i in options) for i in range(n)]


@given(selections())
def test_the_accuracy_of_options_is_scikit_learns(score, triples):
    right, selected = [], []
    for n, gold, selection in triples:
        right += labels_of(n, gold)
        selected += labels_of(n, selection)
    expected = accuracy_score(right, selected) if right else 1
    assert score(selection_metric("accuracy"), triples) == pytest.approx(expected)


@given(selections())
def test_superglue_f1_m_is_scikit_learns_macro_f1_whatever_zero_division_is(score, triples):
    for n, gold, selected in triples:
        if n:
            value = score(get_metric("superglue_f1_m"), [(n, gold, selected)])
            labels = labels_of(n, gold), labels_of(n, selected)
            for zero_division in (0.0, 1.0):
                expected = f1_score(*labels, average="macro", zero_division=zero_division)
                assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "selected", "f1"),
    [((0, 1), (0, 1), 1.0), ((), (), 1.0), ((0, 1), (), 0.0), ((0,), (), 1 / 3), ((), (1,), 1 / 3)],
)
def test_superglue_f1_m_takes_the_labels_that_occur(score, gold, selected, f1):
    assert score(get_metric("superglue_f1_m"), [(2, gold, selected)]) == pytest.approx(f1)


@given(selections(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_selection_by_chance_is_the_mean_over_every_selection(ask, triples, probability):
    questions = [ask(Task.MULTIPLE_ANSWER, gold, n) for n, gold, _ in triples]
    chance = [Prediction("q", (), selection_probability=probability) for _ in questions]
    for metric in METRICS:
        rows = metric.statistics(questions, chance)
        for question, row in zip(questions, rows, strict=True):
            answers, weights = [], []
            for mask in product([0, 1], repeat=len(question.candidates)):
                n_selected = sum(mask)
                n_left = len(mask) - n_selected
                answers.append(frozenset(np.flatnonzero(mask).tolist()))
                weights.append(probability**n_selected * (1 - probability) ** n_left)
            every_selection = Prediction("q", tuple(answers), tuple(weights))
            (expected,) = metric.statistics([question], [every_selection])
            assert row == pytest.approx(expected, abs=1e-12)


def test_no_answer_counts_as_every_option_labelled_wrongly(ask):
    question = ask(Task.MULTIPLE_ANSWER, frozenset({0, 1}), 5)
    for metric in METRICS:
        rows = metric.statistics([question] * 2, [Prediction("q", ()), select(2, 3, 4)])
        assert rows[0].tolist() == rows[1].tolist()


@pytest.fixture(scope="module")
def multirc_dev(shared_data):
    return load(shared_data / "multirc" / "dev_83-fixedIds.json")


def decisions(dataset, entries):
    rows = {(entry["pid"], str(entry["qid"])): entry["scores"] for entry in entries}
    of_question = [np.array(rows[q.meta["pid"], q.meta["qid"]]) for q in dataset]
    return [select(*np.flatnonzero(row == 1).tolist()) for row in of_question]


@pytest.mark.parametrize("case", range(3))
def test_recorded_outputs_of_the_official_script(multirc_dev, golden, case):
    recorded = golden("multirc")[case]
    predictions = decisions(multirc_dev, recorded["predictions"])
    expected = recorded["expected"]
    for metric in METRICS[:4]:
        assert metric(multirc_dev, predictions) == pytest.approx(expected[metric.name], abs=1e-12)
    means = get_metric("f1_m").statistics(multirc_dev, predictions).mean(axis=0)
    assert means == pytest.approx([expected["precision_m"], expected["recall_m"]], abs=1e-12)
    tp, selected, right = get_metric("f1_a").statistics(multirc_dev, predictions).sum(axis=0)
    assert tp / selected == pytest.approx(expected["precision_a"], abs=1e-12)
    assert tp / right == pytest.approx(expected["recall_a"], abs=1e-12)


@pytest.mark.parametrize("name", RELEASED)
def test_released_predictions_score_what_the_authors_print(multirc_dev, shared_data, name):
    file = shared_data / "multirc" / "baseline-scores" / f"{name}.json"
    predictions = decisions(multirc_dev, json.loads(file.read_text(encoding="utf-8")))
    assert percents(multirc_dev, predictions) == pytest.approx(RELEASED[name], abs=0.005)


def percents(dataset, predictions):
    """F1m, F1a and EM0."""
    return [100 * metric(dataset, predictions) for metric in METRICS[:3]]


def test_nothing_selected_scores_next_to_nothing_on_multirc_dev(multirc_dev):
    nothing = [select()] * len(multirc_dev)
    assert percents(multirc_dev, nothing) == pytest.approx([0.63, 0, 0.31], abs=0.005)


def test_a_fair_coin_on_multirc_dev_in_closed_form(multirc_dev):
    coin = [Prediction(q.id, (), selection_probability=0.5) for q in multirc_dev]
    assert percents(multirc_dev, coin) == pytest.approx([48.46, 46.12, 5.77], abs=0.005)
    assert get_metric("em1")(multirc_dev, coin) == pytest.approx(0.2529, abs=0.00005)
