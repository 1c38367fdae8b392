"""The tasks of evaluators that ask about a passage, and the floors of exactly their questions.

The facts are in ``evaluator_tasks.toml``. No data is read, so this module imports neither NumPy nor
the datasets' readers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

_LOG = (
    "lm_eval run --model dummy --tasks {0} --log_samples --output_path out; "
    "classic-rc floor out/*/samples_{0}_*.jsonl"
)


@dataclass(frozen=True, slots=True)
class EvaluatorTask:
    """A task of an evaluator. The fields to `split` are written as in the evaluator's settings."""

    evaluator: str  # "lm-evaluation-harness" or "core"
    task: str
    version: str | None
    data: str  # dataset_path
    subset: str | None  # dataset_name
    split: str
    # the evaluator's names -> those of classic_rc; "" if the metric is not measured here
    metric: Mapping[str, str]
    questions: str  # which questions of the split
    chance: float | None  # None if it is not the same for each question
    baseline: float | None  # what CORE takes for chance
    floor: str | None  # the dataset with exactly these questions
    command: str  # it shows or computes the floor of exactly these questions
    release: str  # of the evaluator, where the facts are from
    options: str | None  # the SHA-256 of the code of the options in a results file
    family: str  # the name of the entry: tasks that differ in names only


@cache
def evaluator_tasks() -> tuple[EvaluatorTask, ...]:
    """Return the tasks of all evaluators."""
    text = files("classic_rc.results").joinpath("evaluator_tasks.toml").read_text(encoding="utf-8")
    tasks = []
    for evaluator, source in tomllib.loads(text).items():
        release = source["release"]
        for entry in source["task"]:
            for names in product(*entry.get("of", ())):
                tasks.append(_read_task(entry, names, evaluator=evaluator, release=release))
    return tuple(tasks)


def tasks_of(floor_name: str) -> list[EvaluatorTask]:
    """Return the tasks that ask exactly the questions of a dataset.

    Examples
    --------
    >>> [task.task for task in tasks_of("race-last:dev")]
    ['race']
    """
    return [task for task in evaluator_tasks() if task.floor == floor_name]


def _read_task(entry: Mapping[str, Any], names: tuple[str, ...], **source: str) -> EvaluatorTask:
    parts = "|".join(names).split("|")  # the name "ca|projecte-aina" fills {0} and {1}
    facts: dict[str, Any] = {}
    for key, value in entry.items():
        if key != "of":
            facts[key] = value.format(*parts) if isinstance(value, str) else value
    floor, task = facts.get("floor"), facts["task"]
    if floor is None:
        command = _LOG.format(task)
    elif floor.startswith("hf:"):
        command = f"classic-rc floor {task} --compute {floor}"
    else:
        command = f"classic-rc floor {floor} --compute"
    optional = dict.fromkeys(("version", "subset", "chance", "baseline", "floor", "options"))
    defaults = {**optional, "questions": "all", "command": command, "family": entry["task"]}
    return EvaluatorTask(**{**defaults, **source, **facts})
