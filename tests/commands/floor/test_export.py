"""The file of floors for other projects: plain JSON that is complete and agrees with the floors."""

from __future__ import annotations

import json
import re
from pathlib import Path

from classic_rc.results.evaluator_tasks import evaluator_tasks
from classic_rc.results.floor_export import SCHEMA, export_floors, floor_numbers
from classic_rc.results.floors import load_floors

PAGE = Path(__file__).parents[3] / "docs" / "floor.md"


def test_every_floor_and_every_task_is_there():
    plain = json.loads(json.dumps(export_floors(load_floors()), allow_nan=False))
    assert plain["schema"] == SCHEMA
    assert plain["floors"].keys() == load_floors().keys()
    tasks = [
        (evaluator, task)
        for evaluator, task_floors in plain["tasks"].items()
        for task, _ in task_floors.items()
    ]
    assert set(tasks) == {(task.evaluator, task.task) for task in evaluator_tasks()}
    entries = [
        entry
        for task_floors in plain["tasks"].values()
        for task_entries in task_floors.values()
        for entry in task_entries
    ]
    assert all(entry["floor"] or entry["command"] for entry in entries)
    for entry in entries:
        if entry["floor"]:
            assert entry["floor"] == plain["floors"][entry["dataset"]]


def test_numbers_are_those_of_the_rows():
    dataset_floor = load_floors()["race:test"]
    numbers = floor_numbers(dataset_floor)
    assert numbers["floor"] == dataset_floor.value(dataset_floor.floor)
    assert numbers["chosen_on"] == "race:dev"
    assert numbers["trained"]["without_copies"] is None  # made by earlier code
    constant = [
        dataset_floor.value(row)
        for row in load_floors()["race:dev"].rows
        if "position" in row.system
    ]
    assert floor_numbers(load_floors()["race:dev"])["majority"] in constant


def test_the_lines_of_the_page_read_it_beside_a_results_file(cli, tmp_path, monkeypatch, capsys):
    lines = re.findall(r"```python\n(import json\n.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    monkeypatch.chdir(tmp_path)
    cli("floor", "--format", "json", "-o", "floors.json")
    results = {
        "results": {"race": {"acc,none": 0.5}, "boolq": {"acc,none": 0.7}},
        "configs": {"race": {"test_split": "validation"}, "boolq": {"test_split": "validation"}},
    }
    Path("results.json").write_text(json.dumps(results), encoding="utf-8")
    (code,) = lines
    exec(code, {})
    race, boolq = capsys.readouterr().out.splitlines()
    floor = load_floors()["race-last:dev"]
    assert race.startswith(f"race 0.5 0.25 {floor.value(floor.floor)}")
    assert boolq == "boolq 0.7 0.5 run: classic-rc floor superglue-boolq:dev --compute"
