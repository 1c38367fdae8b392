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


@pytest.fixture
def score(ask):
    """A metric over (number of options, gold, selected) triples."""

    def run(name, triples):
        questions = [ask(Task.MULTIPLE_ANSWER, gold, n) for n, gold, _ in triples]
        return get_metric(name)(
            questions, [Prediction("q", (selected,)) for *_, selected in triples]
        )

    return run


def test_precision_and_recall_are_averaged_before_their_harmonic_mean(score):
    triples = [(4, frozenset({0, 1}), frozenset({0})), (4, frozenset({0}), frozenset({0, 1, 2, 3}))]
    precision, recall = (1 + 1 / 4) / 2, (1 / 2 + 1) / 2
    assert score("f1_m", triples) == pytest.approx(2 * precision * recall / (precision + recall))
    assert score("f1_a", triples) == pytest.approx(2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3))
    assert (score("em0", triples), score("em1", triples)) == (0, 0.5)


def test_nothing_selected_has_precision_one_and_nothing_right_recall_one(ask):
    f1_m = get_metric("f1_m")
    partly_selected, nothing_selected = (
        ask(Task.MULTIPLE_ANSWER, frozenset({0}), 2),
        ask(Task.MULTIPLE_ANSWER, frozenset(), 2),
    )
    rows = f1_m.statistics(
        [partly_selected, nothing_selected, nothing_selected], [select(), select(0), select()]
    )
    assert rows.tolist() == [[1, 0], [0, 1], [1, 1]]


def test_empty_sums_of_f1_a(score):
    assert score("f1_a", [(2, frozenset({0}), frozenset())]) == 0
    assert score("f1_a", [(2, frozenset(), frozenset({0}))]) == 0
    assert score("f1_a", [(2, frozenset(), frozenset())]) == 1


@given(selections())
def test_the_metrics_follow_their_definitions(ask, triples):
    questions = [ask(Task.MULTIPLE_ANSWER, gold, n) for n, gold, _ in triples]
    predictions = [Prediction("q", (selected,)) for *_, selected in triples]
    got = {metric.name: metric(questions, predictions) for metric in METRICS}

    wrong = [len(gold ^ selected) for _, gold, selected in triples]
    precision = np.mean([len(g & s) / len(s) if s else 1 for _, g, s in triples])
    recall = np.mean([len(g & s) / len(g) if g else 1 for _, g, s in triples])
    assert got["em0"] == pytest.approx(np.mean([w == 0 for w in wrong]))
    assert got["em1"] == pytest.approx(np.mean([w <= 1 for w in wrong]))
    assert got["f1_m"] == pytest.approx(
        2 * precision * recall / (precision + recall) if precision + recall else 0
    )
    missed_or_extra, hits = sum(wrong), sum(len(g & s) for _, g, s in triples)
    assert got["f1_a"] == pytest.approx(
        2 * hits / (2 * hits + missed_or_extra) if hits + missed_or_extra else 1
    )
    assert all(0 <= value <= 1 for value in got.values())


@given(selections())
def test_the_accuracy_of_options_is_scikit_learns(ask, triples):
    questions = [ask(Task.MULTIPLE_ANSWER, gold, n) for n, gold, _ in triples]
    got = selection_metric("accuracy")(
        questions, [Prediction("q", (selected,)) for *_, selected in triples]
    )
    gold, selected = ([int(i in row[k]) for row in triples for i in range(row[0])] for k in (1, 2))
    assert got == pytest.approx(accuracy_score(gold, selected) if gold else 1)


@given(selections())
def test_superglue_f1_m_is_scikit_learns_macro_f1_whatever_zero_division_is(ask, triples):
    for n, gold, selected in triples:
        if n:
            value = get_metric("superglue_f1_m")(
                [ask(Task.MULTIPLE_ANSWER, gold, n)], [select(*selected)]
            )
            labels = [[int(i in option_ids) for i in range(n)] for option_ids in (gold, selected)]
            for zero_division in (0.0, 1.0):
                expected = f1_score(*labels, average="macro", zero_division=zero_division)
                assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "selected", "f1"),
    [((0, 1), (0, 1), 1.0), ((), (), 1.0), ((0, 1), (), 0.0), ((0,), (), 1 / 3), ((), (1,), 1 / 3)],
)
def test_superglue_f1_m_takes_the_labels_that_occur(score, gold, selected, f1):
    assert score("superglue_f1_m", [(2, frozenset(gold), frozenset(selected))]) == pytest.approx(f1)


@given(selections(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_selection_by_chance_is_the_mean_over_every_selection(ask, triples, probability):
    questions = [ask(Task.MULTIPLE_ANSWER, gold, n) for n, gold, _ in triples]
    chance = [Prediction("q", (), selection_probability=probability) for _ in questions]
    for metric in METRICS:
        rows = metric.statistics(questions, chance)
        for question, row in zip(questions, rows, strict=True):
            masks = list(product([0, 1], repeat=len(question.candidates)))
            weights = tuple(
                probability ** sum(mask) * (1 - probability) ** (len(mask) - sum(mask))
                for mask in masks
            )
            answers = tuple(frozenset(i for i, bit in enumerate(mask) if bit) for mask in masks)
            expected = metric.statistics([question], [Prediction("q", answers, weights)])[0]
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
    of_question = [rows[q.meta["pid"], q.meta["qid"]] for q in dataset]
    return [select(*(i for i, score in enumerate(row) if score == 1)) for row in of_question]


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
    assert [tp / selected, tp / right] == pytest.approx(
        [expected["precision_a"], expected["recall_a"]], abs=1e-12
    )


@pytest.mark.parametrize("name", RELEASED)
def test_released_predictions_score_what_the_authors_print(multirc_dev, shared_data, name):
    file = shared_data / "multirc" / "baseline-scores" / f"{name}.json"
    predictions = decisions(multirc_dev, json.loads(file.read_text(encoding="utf-8")))
    got = [100 * get_metric(metric)(multirc_dev, predictions) for metric in ("f1_m", "f1_a", "em0")]
    assert [round(value, 2) for value in got] == list(RELEASED[name])


def test_nothing_selected_on_multirc_dev(multirc_dev):
    got = [100 * metric(multirc_dev, [select()] * len(multirc_dev)) for metric in METRICS[:3]]
    assert [round(value, 2) for value in got] == [0.63, 0, 0.31]


def test_a_fair_coin_on_multirc_dev_in_closed_form(multirc_dev):
    coin = [Prediction(q.id, (), selection_probability=0.5) for q in multirc_dev]
    got = [round(100 * metric(multirc_dev, coin), 2) for metric in METRICS[:4]]
    assert got == [48.46, 46.12, 5.77, 25.29]
