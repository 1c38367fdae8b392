"""The tasks of evaluators name datasets and metrics that exist, and agree with the floors."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from benchmarks.floor import main
from classic_rc.datasets.fetch import is_hub_name, named_datasets
from classic_rc.metrics import METRICS
from classic_rc.results.evaluator_tasks import evaluator_tasks, tasks_of
from classic_rc.results.floors import load_floors

TASKS = evaluator_tasks()


def test_every_floor_is_a_dataset_and_every_metric_is_one_of_the_package():
    names = set(load_floors())
    for name, reader in named_datasets().items():
        names |= {f"{name}:{split}" for split in reader.splits}
    for task in TASKS:
        if task.floor and not is_hub_name(task.floor):
            has_data = task.command.startswith(f"classic-rc floor {task.floor} --compute ")
            assert has_data or task.floor in names
    assert {name for task in TASKS for name in task.metric.values()} <= {"", *METRICS}


def test_tasks_are_many_different_and_complete():
    keys = Counter((task.evaluator, task.task, task.version, task.split) for task in TASKS)
    assert max(keys.values()) == 1
    assert len({task.task for task in TASKS}) > 300
    columns = ("task", "data", "subset", "split", "questions", "floor", "command")
    assert not [task for task in TASKS for name in columns if "{" in str(getattr(task, name))]
    assert {task.baseline is None for task in TASKS if task.evaluator == "core"} == {False}
    assert [task.task for task in tasks_of("boolq:dev")] == ["boolq", "boolq"]


def test_chance_is_that_of_the_shipped_floor_and_its_command_shows_it():
    for task in TASKS:
        floor = load_floors().get(task.floor or "")
        if floor is not None:
            assert task.command.startswith(f"classic-rc floor {floor.name}")
            if floor.metric in task.metric.values():
                assert task.chance in (None, floor.value(floor.chance))


@pytest.mark.parametrize(
    ("row", "candidates", "gold"),
    [
        ({"query": "Passage: P\nQ: x?\nQ: Q?\nChoices:\nA.) a\nB.) b c\nAnswer:", "gold": 1},
         ["a", "b c"], 1),
        ({"query": "Context: P\nQuestion: Q?\nChoices: A. a\nB. b\n", "gold": 0}, ["a", "b"], 0),
        ({"context": "Context: P\nQuestion: Q?\nA. yes\nB. no\nAnswer: ", "continuation": "no"},
         ["yes", "no"], 1),
        ({"query": "Passage: P\nQuestion: Q?", "choices": ["no", "yes"], "gold": 1},
         ["no", "yes"], 1),
    ],
)  # fmt: skip
def test_questions_of_core_are_taken_apart(tmp_path, row, candidates, gold):
    data, folder = tmp_path / "core.jsonl", tmp_path / "build"
    data.write_text(json.dumps(row) + "\n", encoding="utf-8")
    main([str(folder), "--core", str(data)])
    question = json.loads((folder / data.name).read_text(encoding="utf-8"))
    assert question["passage"][0] == "P"
    assert question["question"] == "Q?"
    assert (question["candidates"], question["gold"]) == (candidates, gold)


def test_a_text_without_a_passage_is_refused(tmp_path):
    data = tmp_path / "copa.jsonl"
    data.write_text('{"query": "It rained, therefore", "gold": 0}\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"copa.jsonl, line 1: no passage"):
        main([str(tmp_path / "build"), "--core", str(data)])
