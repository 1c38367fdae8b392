"""A dataset as a task for lm-evaluation-harness: JSON lines, and the task's YAML.

The keys of the YAML follow the harness's New Task Guide (versions 0.4): ``dataset_path: json``
reads a local file, and ``doc_to_text``, ``doc_to_choice`` and ``doc_to_target`` name the prompt,
the continuations that are compared, and the index of the right one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from classic_rc.errors import UsageError
from classic_rc.questions import Dataset, Task, candidate_texts
from classic_rc.running.plan import require_gold

_PROMPT = "{{passage}}\nQuestion: {{question}}\nAnswer:"
_OPTION_PROMPT = "{{passage}}\nQuestion: {{question}}\nAnswer: {{option}}\nIs this answer right?"


def harness_rows(dataset: Dataset) -> str:
    """Return the rows of the task as JSON lines; UsageError without options, DataError if gold is
    hidden.

    A single-choice question is a row: ``id``, ``passage_id``, ``passage``, ``question``,
    ``candidates`` and ``gold``, the index of the right candidate (a list, if any question has
    several). This is also our own format. If several answers may be right, each option is a row
    with ``option`` and ``label``, 1 if it is right, as in the harness's own MultiRC task.
    """
    _check(dataset)
    return "".join(json.dumps(row) + "\n" for row in _rows(dataset))


def task_name(name: str) -> str:
    """Return the name of a task: characters other than letters, digits, ``_``, ``-`` and ``.``
    become ``_``.
    """
    return re.sub(r"[^\w.-]", "_", name)


def harness_yaml(dataset: Dataset, name: str, data_file: str) -> str:
    """Return the YAML of the task `name`; `data_file` is the path of the rows, as the harness
    will open it.
    """
    _check(dataset)
    single = dataset.task is Task.SINGLE_CHOICE
    metrics = ("acc", "acc_norm") if single else ("acc",)
    metric_list = [{"metric": m, "aggregation": "mean", "higher_is_better": True} for m in metrics]
    values: dict[str, Any] = {
        "task": task_name(name),
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": data_file}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": _PROMPT if single else _OPTION_PROMPT,
        "doc_to_choice": "candidates" if single else ["no", "yes"],
        "doc_to_target": "gold" if single else "label",
        "metric_list": metric_list,
        "metadata": {"version": 1.0},
    }
    # Every JSON value is a YAML value. ASCII only, so that no encoding matters.
    lines = [f"{key}: {json.dumps(value)}" for key, value in values.items()]
    ascii_name = " ".join(dataset.name.encode("ascii", "replace").decode("ascii").split())
    comment = f"# {ascii_name}, {len(dataset):,} questions; data {dataset.fingerprint[:12]}"
    return "\n".join([comment, *lines]) + "\n"


def _check(dataset: Dataset) -> None:
    if dataset.task is None or not dataset.task.has_choices:
        raise UsageError(
            f"lm-evaluation-harness compares options, and {dataset.name} has {dataset.task} "
            "questions: write our own format, with --format jsonl",
            field="--format",
            found="lm-eval",
            expected="jsonl",
        )
    require_gold(dataset, "the harness cannot score answers")


def _rows(dataset: Dataset) -> Iterator[dict[str, Any]]:
    has_several = any(len(question.gold or ()) != 1 for question in dataset)
    for question in dataset:
        right = sorted(i for i in question.gold or () if isinstance(i, int))
        texts = list(candidate_texts(question.candidates))
        common = {
            "id": question.id,
            "passage_id": question.passage.id,
            "passage": question.passage.text,
            "question": question.text,
        }
        if question.task is Task.SINGLE_CHOICE:
            gold = right if has_several else right[0]
            yield {**common, "task": question.task.value, "candidates": texts, "gold": gold}
        else:
            for i, text in enumerate(texts):
                yield {**common, "option_index": i, "option": text, "label": int(i in right)}
