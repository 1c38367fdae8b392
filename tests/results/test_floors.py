"""Floors: those that come with the package as tables, and the entries of new ones."""

from __future__ import annotations

import json
import re

import pytest

from classic_rc import evaluate, load
from classic_rc.errors import UsageError
from classic_rc.results import with_intervals
from classic_rc.results.evaluator_tasks import evaluator_tasks
from classic_rc.results.floor_entries import entry_of, floors_text
from classic_rc.results.floor_export import export_floors
from classic_rc.results.floors import (
    Floor,
    find_by_fingerprint,
    floor,
    load_floors,
    parse_floors,
    read_entries,
)
from tests.errors import raises


@pytest.mark.parametrize("name", load_floors())
def test_a_table_has_all_rows_and_says_which_one_is_the_floor(name):
    dataset = load_floors()[name]
    table = Floor(dataset, dataset.by).table()
    assert table["above chance"]["random"].value == 0
    assert table["above floor"].keys() >= {row.system for row in dataset.rows}
    assert f"floor: {dataset.floor.system}, the best" in table.notes[0]
    assert find_by_fingerprint(dataset.fingerprint).fingerprint == dataset.fingerprint


@pytest.mark.parametrize(("name", "right"), [("race:tset", "race:test"), ("rcae:test", "race")])
def test_an_unknown_name_is_met_with_known_ones(name, right):
    with raises(UsageError, field="dataset", expected=re.compile(right)):
        floor(name)


def test_rows_have_groups_of_one_key_only():
    with raises(UsageError, field="--by", found="colour"):
        Floor(load_floors()["race:test"], "colour").table()


def test_the_entry_of_an_evaluation_is_read_back(tmp_path):
    systems = ["random", "sw+d", "longest"]
    evaluation = evaluate(load("sample:single-choice"), systems, by="type")
    entry = json.loads(json.dumps(entry_of(with_intervals(evaluation, 50))))
    (dataset,) = parse_floors([entry]).values()
    accuracies = [row.metrics()["accuracy"] for row in evaluation.rows]
    assert [row.metrics["accuracy"] for row in dataset.rows] == pytest.approx(accuracies)
    low, high = dataset.floor.above["above_chance"]
    assert low <= (max(accuracies) - 0.25) / 0.75 <= high
    file = tmp_path / "floors.json"
    file.write_text(floors_text([entry]), encoding="utf-8")
    assert read_entries(file) == [entry]


def test_the_export_has_every_floor_and_every_task():
    exported = export_floors(load_floors())
    assert exported["floors"].keys() == load_floors().keys()
    names = {name for tasks in exported["tasks"].values() for name in tasks}
    assert names == {task.task for task in evaluator_tasks()}
