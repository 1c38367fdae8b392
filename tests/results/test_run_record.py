"""The run record and its JSON schema: every number can be computed again from the record."""

from __future__ import annotations

import json

import numpy as np
import pytest

from classic_rc import __version__, evaluate
from classic_rc.datasets import load
from classic_rc.facts import facts_digest
from classic_rc.folds import passage_groups
from classic_rc.metrics import METRICS
from classic_rc.results.record import run_record, runs_to_dict
from classic_rc.solvers import DEFAULT_SOLVERS, parse_solver
from classic_rc.systems import record_file

SAMPLES = ["sample:single-choice", "sample:multiple-answer", "sample:cloze", "sample:multi-span"]


@pytest.fixture(scope="module")
def evaluations():
    evaluated = []
    for name in SAMPLES:
        dataset = load(name)
        solvers = [parse_solver(solver) for solver in DEFAULT_SOLVERS[dataset.task]]
        evaluated.append(evaluate(dataset, solvers, by="type"))
    return evaluated


def test_the_record_is_json_and_holds_what_the_results_hold(evaluations):
    record = json.loads(json.dumps(run_record(evaluations), allow_nan=False))
    plain = json.loads(json.dumps(runs_to_dict(evaluations), allow_nan=False))
    assert record["version"] == plain["version"] == __version__
    for run, plain_run, evaluation in zip(record["runs"], plain["runs"], evaluations, strict=True):
        (source,) = run["dataset"].pop("sources")
        assert len(source["sha256"]) == 64
        assert source["bytes"] > 0
        assert run["dataset"].pop("facts") == facts_digest(evaluation.dataset)
        assert run["dataset"].pop("read_with")["path"] == evaluation.dataset.name
        assert len(run.pop("protocol")["systems"]) == len(evaluation.rows)
        assert all(row.pop("outcomes") and row.pop("selections") for row in run["rows"])
        grouping = run.pop("grouping")
        key = evaluation.group_by
        masks = evaluation.groupings.get(key, {})
        positions = {value: np.flatnonzero(mask).tolist() for value, mask in masks.items()}
        assert grouping == (key and {"key": key, "groups": positions})
        assert run.pop("passage_groups") == passage_groups(evaluation.dataset).tolist()
        assert run == plain_run
        assert run["dataset"]["fingerprint"] == evaluation.dataset.fingerprint


def test_every_metric_follows_from_the_outcomes_kept(evaluations):
    record = json.loads(json.dumps(run_record(evaluations)))
    for run in record["runs"]:
        for row in run["rows"]:
            outcomes = row["outcomes"].values()
            assert len(outcomes) == run["dataset"]["questions"]
            for name, value in row["metrics"].items():
                statistics = np.array([outcome["statistics"][name] for outcome in outcomes])
                assert METRICS[name].aggregate(statistics) == value
            if row["tie_rate"] is not None:
                assert np.mean([outcome["tied"] > 1 for outcome in outcomes]) == row["tie_rate"]


def test_the_answers_kept_are_the_answers_given(evaluations):
    record = run_record(evaluations)
    for run, evaluation in zip(record["runs"], evaluations, strict=True):
        for row in run["rows"]:
            for question in evaluation.dataset:
                answer = row["outcomes"][question.id]["answer"]
                if row["expected"]:
                    assert answer is None
                elif question.task.has_choices:
                    assert all(0 <= index < len(question.candidates) for index in answer)
                else:
                    assert all(isinstance(text, str) for text in answer)


def test_the_environment_is_kept(evaluations):
    environment = run_record(evaluations)["environment"]
    assert set(environment) == {"python", "platform", "packages"}
    assert environment["packages"]["scikit-learn"]


def test_groups_have_all_questions_and_all_metrics(evaluations):
    for run in runs_to_dict(evaluations)["runs"]:
        for row in run["rows"]:
            groups = row["groups"].values()
            assert sum(group["questions"] for group in groups) == row["questions"]
            for group in groups:
                assert group["metrics"].keys() == row["metrics"].keys()


def test_data_that_begin_with_a_version_are_no_record(tmp_path):
    path = tmp_path / "dev-v1.1.json"
    path.write_text('{"version": "1.1", "data": []}', encoding="utf-8")
    assert record_file(str(path)) is None
