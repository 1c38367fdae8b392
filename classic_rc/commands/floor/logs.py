"""Models of lm-evaluation-harness compared with chance and floor, from a log's own questions or
a results file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from classic_rc.results.evaluator_tasks import evaluator_tasks
from classic_rc.results.floors import METRIC_NAMES, FloorDataset, above, above_columns, load_floors
from classic_rc.tables import Cell, Column, RowGroup, Table

if TYPE_CHECKING:
    from classic_rc.results.evaluation import Evaluation

_ACCURACIES = ("acc", "acc_norm")
"""The metrics of the harness whose chance is 1 of the number of options."""

_RECORDED = ("task", "version", "data", "subset", "split", "options")
"""What results files record of :class:`~classic_rc.results.evaluator_tasks.EvaluatorTask`."""

_NO_FLOOR = "no floor without the log"
_ANSWERS, _COMPUTED = "the log's answers", "the same questions, computed here"


def log_table(evaluation: Evaluation) -> Table:
    """Return a log's models with chance and floor, both measured on the log's own questions."""
    from classic_rc.results.outcomes import Block

    metric = evaluation.results.primary.name
    untrained = [
        row for row in evaluation.rows if row.block is Block.UNTRAINED and not row.tuned_here
    ]
    chance = next(row for row in untrained if row.solver == "random")
    best = max(untrained, key=lambda row: row.metrics()[metric])
    at_chance, at_floor = (row.metrics()[metric] for row in (chance, best))
    blocks: dict[str, list[list[Any]]] = {_ANSWERS: [], _COMPUTED: []}
    for row, number in zip(evaluation.rows, evaluation.measure(), strict=True):
        assert number.value is not None
        cells = [Cell(row.name), Cell(number.value, number.interval)]
        heading = _ANSWERS if row.block is Block.GIVEN else _COMPUTED
        blocks[heading].append([*cells, *above(number.value, at_chance, at_floor)])
    dataset, label = evaluation.dataset, METRIC_NAMES.get(metric, metric)
    notes = [
        f"chance: random; floor: {best.name}, the best in {label} of {len(untrained)} rows that "
        "learn nothing; both on the log's own questions: nothing was looked up",
    ]
    if evaluation.resampling is not None:
        notes.append(evaluation.resampling.note)
    columns = [Column("system"), Column(label, "percent", key=metric), *above_columns()]
    groups = [RowGroup(rows, heading) for heading, rows in blocks.items() if rows]
    title = f"{dataset.name} · {len(dataset):,} questions · data {dataset.fingerprint[:8]}"
    facts = {"dataset": dataset.name, "questions": len(dataset)}
    return Table(title, columns, groups, notes, facts=facts)


def results_table(results: Mapping[str, Any], source: str) -> Table:
    """Return the tasks of a results file of the harness with chance, and with a floor only if it
    certainly applies.

    A results file has no questions. A shipped floor is shown only if the task, its version, data,
    subset and split, the code of its options, the number of questions and the metric are all
    recorded, and equal.
    """
    tasks = results.get("results")
    rows = [
        cells
        for task in (tasks if isinstance(tasks, dict) else ())
        for cells in _task_cells(results, task)
    ]
    columns = [
        Column("task"),
        Column("metric"),
        Column("n", "count", key="questions"),
        Column("value", "percent"),
        Column("chance", "percent"),
        Column("floor", "percent"),
        *above_columns(),
        Column("notes", "note"),
    ]
    notes = [
        "a results file has no questions: the floor of the questions that were asked comes from "
        "the log: lm_eval run … --log_samples, then classic-rc floor samples_TASK_*.jsonl"
    ]
    return Table(f"Results of lm-evaluation-harness ({source})", columns, [RowGroup(rows)], notes)


def _task_cells(results: Mapping[str, Any], task: str) -> Iterator[list[Any]]:
    config, values = _part(results, "configs", task), _part(results, "results", task)
    if not config:
        return  # a group of tasks
    at_chance = _find_chance(config)
    for key, value in values.items():
        metric = key.partition(",")[0]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if metric not in _ACCURACIES or not is_number or not 0 <= value <= 1:
            continue
        floor_dataset = find_harness_floor(results, task, key)
        chance, floor, note = at_chance, None, _NO_FLOOR
        if floor_dataset is not None:
            chance = floor_dataset.value(floor_dataset.chance)
            floor = floor_dataset.value(floor_dataset.floor)
            note = f"{floor_dataset.name}: {floor_dataset.floor.system}"
        elif chance is None:
            note = "the file does not say how many options there are: use the log"
        adjusted = [None if base is None else above(value, base)[0] for base in (chance, floor)]
        n = _part(results, "n-samples", task).get("effective")
        if not isinstance(n, int):
            n = None
        yield [task, metric, n, float(value), chance, floor, *adjusted, note]


def _part(results: Mapping[str, Any], key: str, task: str) -> dict[str, Any]:
    """Return what a part of the file has about a task; nothing if it lacks it, or has something
    else there.
    """
    by_task = results.get(key)
    entry = by_task.get(task) if isinstance(by_task, dict) else None
    return entry if isinstance(entry, dict) else {}


def _find_chance(config: Mapping[str, Any]) -> float | None:
    """Return chance if the file has the options as a list, or the code that takes as many from
    each question.
    """
    choices = config.get("doc_to_choice")
    if (
        config.get("output_type") == "multiple_choice"
        and isinstance(choices, list)
        and len(choices) > 1
    ):
        return 1 / len(choices)
    code = _digest_of_options(config)
    same_code = (task for task in evaluator_tasks() if code and task.options == code)
    return next((task.chance for task in same_code), None)


def _digest_of_options(config: Mapping[str, Any]) -> str | None:
    """Return the digest of the code that makes the options of a question and finds the right
    one.
    """
    code = [config.get(key) for key in ("doc_to_choice", "doc_to_target")]
    if not all(isinstance(text, str) for text in code):
        return None
    return sha256("".join(map(str, code)).encode()).hexdigest()


def find_harness_floor(results: Mapping[str, Any], task: str, metric: str) -> FloorDataset | None:
    """Return the shipped dataset that a task certainly uses; None if anything differs or is not
    recorded.

    `metric` has the name and the filter, as in ``"acc,none"``.
    """
    config = _part(results, "configs", task)
    split = config.get("test_split") or config.get("validation_split")
    counts = _part(results, "n-samples", task)
    versions = results.get("versions")
    version = versions.get(task) if isinstance(versions, dict) else None
    version = None if version is None else str(version)
    source = config.get("dataset_path"), config.get("dataset_name"), split
    recorded = (config.get("task"), version, *source, _digest_of_options(config))
    if None in recorded or config.get("process_docs") or config.get("dataset_kwargs"):
        return None
    name, _, filter_ = metric.partition(",")
    sizes = [counts.get("original"), counts.get("effective")]
    for facts in evaluator_tasks():
        floor_dataset = load_floors().get(facts.floor or "")
        is_task = recorded == tuple(getattr(facts, field) for field in _RECORDED)
        if floor_dataset is None or not is_task or sizes != [floor_dataset.questions] * 2:
            continue
        if filter_ == "none" and facts.metric.get(name) == floor_dataset.metric:
            return floor_dataset
    return None
