"""Precision-recall curves: every point equals deciding by its threshold; micro curves equal
scikit-learn's.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import average_precision_score, precision_recall_curve

from classic_rc.datasets import load
from classic_rc.decisions import Argmax, Threshold
from classic_rc.errors import DataError, UsageError
from classic_rc.formats import read_predictions, read_scores
from classic_rc.metrics import get_metric
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.results.curves import AVERAGES, PrecisionRecallCurve
from classic_rc.solvers import Random
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.simulated import scored_options

PASSAGE = Passage("p", "Some text.")


def ask(n, gold, task=Task.MULTIPLE_ANSWER):
    candidates = tuple(Candidate(str(i)) for i in range(n))
    return Question("q", PASSAGE, "?", candidates, gold, task)


def flat_gold(questions):
    flags = []
    for question in questions:
        flags += [int(i in question.gold) for i in range(len(question.candidates))]
    return np.array(flags)


@pytest.mark.parametrize("average", AVERAGES)
@given(case=scored_options())
def test_each_point_is_what_its_threshold_decides(average, case):
    scores, questions = case
    curve = PrecisionRecallCurve.from_scores(scores, questions, "a", average)
    assert (curve.name, curve.average, curve.is_point) == ("a", average, False)
    for i, threshold in enumerate(curve.thresholds.tolist()):
        decided = Threshold(value=threshold).decide(scores, questions)
        point = PrecisionRecallCurve.from_predictions(decided, questions, average=average)
        assert point.is_point
        assert point.thresholds is None
        assert curve.precision[i] == pytest.approx(point.precision[0], abs=1e-12)
        assert curve.recall[i] == pytest.approx(point.recall[0], abs=1e-12)
        assert curve.f1[i] == pytest.approx(AVERAGES[average](questions, decided), abs=1e-12)


@pytest.mark.parametrize("average", AVERAGES)
@given(case=scored_options())
def test_curves_go_from_nothing_to_everything_and_recall_never_falls(average, case):
    scores, questions = case
    curve = PrecisionRecallCurve.from_scores(scores, questions, average=average)
    assert curve.precision[0] == 1
    assert curve.recall[-1] == pytest.approx(1)
    assert (np.diff(curve.recall) >= 0).all()
    assert (np.diff(curve.thresholds) < 0).all()
    for values in (curve.precision, curve.recall, curve.f1):
        assert ((values >= 0) & (values <= 1)).all()


@given(scored_options())
def test_micro_curves_are_scikit_learns(case):
    scores, questions = case
    curve = PrecisionRecallCurve.from_scores(scores, questions, average="micro")
    gold = flat_gold(questions)
    if not gold.any():
        assert curve.average_precision is None
        return
    precision, recall, _ = precision_recall_curve(gold, scores.values)
    assert curve.precision == pytest.approx(precision[::-1])
    assert curve.recall == pytest.approx(recall[::-1])
    assert curve.average_precision == pytest.approx(average_precision_score(gold, scores.values))


def test_macro_averages_follow_multircs_conventions():
    """One question without a right option, one without an option, one with one right of two."""
    questions = [ask(1, frozenset()), ask(0, frozenset()), ask(2, frozenset({1}))]
    curve = PrecisionRecallCurve.from_scores(Scores.from_lists([[3.0], [], [2.0, 1.0]]), questions)
    assert curve.thresholds.tolist() == [3.0, 2.5, 1.5, 0.0]
    assert curve.precision == pytest.approx([1, 2 / 3, 1 / 3, 1 / 2])
    assert curve.recall == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1])


def test_there_is_no_area_where_none_is_defined():
    questions, scores = [ask(2, frozenset({1}))], Scores.from_lists([[2.0, 1.0]])
    macro = PrecisionRecallCurve.from_scores(scores, questions, average="macro")
    assert macro.average_precision is None
    point = PrecisionRecallCurve.from_predictions(
        [Prediction("q", (frozenset({1}),))], questions, average="micro"
    )
    assert point.average_precision is None


def test_single_choices_are_selected_or_not_like_any_other():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE)
    scores = Random(seed=3).score_candidates(dataset)
    curve = PrecisionRecallCurve.from_scores(scores, dataset, average="micro")
    precision, recall, _ = precision_recall_curve(flat_gold(dataset), scores.values)
    assert curve.precision == pytest.approx(precision[::-1])
    assert curve.recall == pytest.approx(recall[::-1])


@pytest.mark.parametrize("average", AVERAGES)
def test_decided_single_choices_have_their_accuracy_for_both(average):
    dataset = synthetic_dataset(Task.SINGLE_CHOICE)
    decided = Argmax().decide(Random(seed=3).score_candidates(dataset), dataset)
    accuracy = get_metric("accuracy")(dataset, decided)
    point = PrecisionRecallCurve.from_predictions(decided, dataset, average=average)
    assert (point.precision[0], point.recall[0]) == pytest.approx((accuracy, accuracy))
    assert 0 < accuracy < 1


OPTIONS = [ask(2, frozenset())]


@pytest.mark.parametrize(
    ("questions", "error", "facts"),
    [
        ([ask(2, ("1",), Task.CLOZE)], UsageError, {"field": "questions", "found": "cloze"}),
        ([ask(2, None)], DataError, {"where": "question q"}),
        ([], UsageError, {"field": "questions", "found": "0"}),
    ],
)
def test_only_options_of_known_gold_have_precision(questions, error, facts):
    n = len(questions)
    with raises(error, **facts):
        PrecisionRecallCurve.from_scores(Scores.from_lists([[1.0, 2.0]] * n), questions)
    with raises(error, **facts):
        PrecisionRecallCurve.from_predictions([Prediction("q", (frozenset(),))] * n, questions)


def test_infinite_scores_have_no_curve():
    with raises(UsageError, field="scores", found="inf"):
        PrecisionRecallCurve.from_scores(Scores.from_lists([[1.0, np.inf]]), OPTIONS)


def test_an_unknown_average_is_met_with_the_known():
    scores = Scores.from_lists([[1.0, 2.0]])
    with raises(UsageError, field="average", found="makro", expected=re.compile("macro")):
        PrecisionRecallCurve.from_scores(scores, OPTIONS, average="makro")


@pytest.fixture(scope="module")
def multirc(shared_data):
    folder = shared_data / "multirc"
    return load(folder / "dev_83-fixedIds.json"), folder / "baseline-scores"


@pytest.mark.parametrize(("average", "f1"), [("macro", 86.44), ("micro", 83.77)])
def test_people_are_a_point_at_their_official_f1(multirc, average, f1):
    dataset, folder = multirc
    human = read_predictions(folder / "human-01.json", dataset)
    point = PrecisionRecallCurve.from_predictions(human, dataset, "human", average)
    precision, recall = point.precision[0], point.recall[0]
    assert round(100 * 2 * precision * recall / (precision + recall), 2) == f1
    assert round(100 * point.f1[0], 2) == f1


@pytest.mark.parametrize(
    ("name", "average", "f1"),
    [
        ("lucene_paragraphs", "macro", 64.25),
        ("lucene_paragraphs", "micro", 60.04),
        ("simpleLR", "macro", 66.53),
        ("simpleLR", "micro", 63.18),
    ],
)
def test_curves_of_released_scores_pass_the_released_predictions(multirc, name, average, f1):
    """The predictions were made from the scores, by the thresholds 0.0499 and -0.76."""
    dataset, folder = multirc
    scores = read_scores(folder / "raw" / f"{name}-raw.json", dataset)
    curve = PrecisionRecallCurve.from_scores(scores, dataset, name, average)
    decided = read_predictions(folder / f"{name}.json", dataset)
    point = PrecisionRecallCurve.from_predictions(decided, dataset, name, average)
    is_same_precision = np.isclose(curve.precision, point.precision[0], rtol=0, atol=1e-12)
    is_same_recall = np.isclose(curve.recall, point.recall[0], rtol=0, atol=1e-12)
    (i,) = np.flatnonzero(is_same_precision & is_same_recall)
    assert round(100 * curve.f1[i], 2) == f1
    published = {"lucene_paragraphs": 0.0499, "simpleLR": -0.76}[name]
    assert curve.thresholds[i + 1] < published < curve.thresholds[i - 1]
