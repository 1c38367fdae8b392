"""The file of evaluators' tasks has those of lm-evaluation-harness as the harness has them."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from classic_rc.results.evaluator_tasks import EvaluatorTask, evaluator_tasks
from classic_rc.text.scorers import get_scorer

lm_eval = pytest.importorskip(
    "lm_eval", reason="lm-evaluation-harness is not installed: pip install '.[harness]'"
)
TASKS = [task for task in evaluator_tasks() if task.evaluator == "lm-evaluation-harness"]
if lm_eval.__version__ != TASKS[0].release:
    pytest.skip(f"the facts are from lm-eval {TASKS[0].release}", allow_module_level=True)

TEXTS = (
    "The end of a day", "the end, of a day!", "DAY", "", "el fin – de los días", "fin días",
    "das Ende des Tages", "của ngày", "एक दिन।", "दिन", "1990年の3月 day", "1990年", "ال يوم", "$5",
)  # fmt: skip


@pytest.fixture(scope="module")
def settings() -> dict[str, dict[str, Any]]:
    """The harness's settings of the tasks, by name."""
    from lm_eval.tasks._yaml_loader import load_yaml

    names = {task.task for task in TASKS}
    task_settings = {}
    for path in sorted(Path(lm_eval.__file__).parent.rglob("tasks/**/*.yaml")):
        text = path.read_text(encoding="utf-8")
        name = re.search(r"^task: *[\"']?([\w-]+)", text, re.MULTILINE)
        if name and name[1] in names:
            task_settings[name[1]] = load_yaml(path, resolve_func=False)
    return task_settings


def facts(config: dict[str, Any], task: EvaluatorTask) -> tuple[Any, ...]:
    """Return version, data, subset, split and metrics; of a task in Python, its own last three."""
    if "class" in config:
        code = Path(config["class"].rpartition(".")[0]).with_suffix(".py").read_text("utf-8")
        version, data = re.findall(r' (?:VERSION|DATASET_PATH) = "?([\w/]+)', code)
        return version, data, task.subset, task.split, task.metric
    version = config.get("metadata", {}).get("version")
    metrics = [metric["metric"] for metric in config["metric_list"]]
    return (
        None if version is None else str(version),
        config["dataset_path"],
        config.get("dataset_name"),
        config.get("test_split") or config["validation_split"],
        [name.rpartition(".")[2] for name in metrics],
    )


def test_the_facts_are_those_of_the_harness(settings):
    splits: dict[str, set[str]] = {}
    for task in TASKS:
        *named, split, metrics = facts(settings[task.task], task)
        assert [task.version, task.data, task.subset] == named, task.task
        assert {*task.metric} == {*metrics}, task.task
        splits.setdefault(task.task, {split}).add(task.split)
    several = {name: names for name, names in splits.items() if len(names) > 1}
    # validation is not the harness's own
    assert several == {"race": {"test", "validation"}}


@pytest.mark.parametrize("name", ["mlqa", "tydiqa"])
def test_span_metrics_are_those_of_the_scorer(name):
    utils = importlib.import_module(f"lm_eval.tasks.{name}.utils")
    place = -2 if name == "mlqa" else -1
    tasks = [task for task in TASKS if task.task.startswith(name)]
    for language, task in {task.task.split("_")[place]: task for task in tasks}.items():
        scorer = get_scorer(task.metric["f1"].removesuffix("_f1"))
        for answer in TEXTS:
            for gold in filter(None, TEXTS):
                assert scorer.exact_match((gold,), answer) == utils.exact_match_score(
                    answer, gold, language
                )
                assert scorer.f1((gold,), answer) == utils.f1_score(answer, gold, language)
