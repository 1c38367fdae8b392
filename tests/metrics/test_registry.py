"""The registry of metrics, and what every metric has in common."""

import pytest

from classic_rc.errors import UsageError
from classic_rc.metrics import (
    METRICS,
    SELECTION_METRICS,
    get_metric,
    metrics_for,
    primary_metric,
    selection_metric,
)
from classic_rc.questions import Task
from classic_rc.testing import check_metric
from tests.errors import raises

EVERY = {**METRICS, "accuracy of options": SELECTION_METRICS["accuracy"]}


@pytest.mark.parametrize("task", Task)
def test_the_metrics_of_tables_measure_their_task(task):
    table_metrics = metrics_for(task, unanswerable=True)
    assert all(task in metric.tasks for metric in table_metrics)
    assert primary_metric(task) in table_metrics
    labels = [metric.label for metric in table_metrics]
    assert len(set(labels)) == len(labels)


def test_only_data_with_questions_without_an_answer_have_metrics_for_both_kinds():
    added = set(metrics_for(Task.SPAN, unanswerable=True)) - set(metrics_for(Task.SPAN))
    assert {metric.name for metric in added} == {
        "has_ans_em",
        "has_ans_f1",
        "no_ans_em",
        "no_ans_f1",
    }
    assert metrics_for(Task.CLOZE, unanswerable=True) == metrics_for(Task.CLOZE)


def test_an_unknown_name_is_met_with_the_nearest():
    assert get_metric("f1_a") is METRICS["f1_a"]
    with raises(UsageError, field="metric", found="acuracy", expected="accuracy"):
        get_metric("acuracy")


def test_thresholds_are_tuned_for_what_tables_show_and_for_the_accuracy_of_options():
    selection_metrics = list(SELECTION_METRICS)
    assert {metric.name for metric in metrics_for(Task.MULTIPLE_ANSWER)} < set(selection_metrics)
    assert all(Task.MULTIPLE_ANSWER in selection_metric(name).tasks for name in selection_metrics)
    assert selection_metric("accuracy") is not METRICS["accuracy"]
    with raises(UsageError, field="multiple-answer metric", found="em", expected="em1, em0"):
        selection_metric("em")


@pytest.mark.parametrize("metric", EVERY.values(), ids=EVERY)
def test_every_metric_keeps_the_contract(metric):
    check_metric(metric)
