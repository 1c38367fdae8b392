"""The name of a harness log, and the file ``results_*.json`` next to it: the model's name and
its settings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

_FILE = re.compile(
    r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]*\d)(?:\.jsonl)?(?:\.gz)?"
)
_NAME_ARGUMENTS = ("pretrained", "model", "model_name", "path")


class LogSettings(NamedTuple):
    """What the file ``results_*.json`` next to a log says about its model and its task."""

    model: str | None
    # few-shot number, version, model_args and others, those that are known
    facts: Mapping[str, Any]
    n_documents: int | None

    def __str__(self) -> str:
        """Return the facts as one line: ``0-shot, task version 1.0, lm-eval 0.4.13``."""
        parts = []
        for name, value in self.facts.items():
            is_text = isinstance(value, str)
            text = value if is_text else json.dumps(value, ensure_ascii=False)
            parts.append(f"{value}-shot" if name == "few-shot" else f"{name} {text}")
        return ", ".join(parts)


def task_of_log(path: str) -> str | None:
    """Return the task in the name of a log, or None.

    Examples
    --------
    >>> task_of_log("out/samples_arc_easy_2026-11-22T03-10-09.779004.jsonl")
    'arc_easy'
    """
    match = _FILE.fullmatch(Path(path).name)
    return match["task"] if match else None


def name_of_log(path: str) -> str | None:
    """Return the model's name, else that of the log without its date; None if the file's name is
    not a log's.
    """
    task = task_of_log(path)
    if task is None:
        return None
    settings = read_settings(path)
    return (settings and settings.model) or f"samples_{task}"


def read_settings(path: str) -> LogSettings | None:
    """Return what the results file with the log's date says, else the only one in the folder, or
    None.
    """
    match = _FILE.fullmatch(Path(path).name)
    if match is None:
        return None
    folder = Path(path).parent
    same_date = folder / f"results_{match['date']}.json"
    others = [same_date] if same_date.is_file() else sorted(folder.glob("results*.json"))
    content = _read_json(others[0]) if len(others) == 1 else {}
    return _read_results(content, match["task"]) if content else None


def _read_json(path: Path) -> Mapping[str, Any]:
    """Return the object in a file; an empty one if there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def find_part(value: Any, *keys: str) -> Any:
    """Return the value at some keys of objects in objects, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _read_results(content: Mapping[str, Any], task: str) -> LogSettings:
    setting = partial(find_part, content)
    results = setting("results") or ()
    tasks = [name for name in results if str(name).startswith(task)]
    key = tasks[0] if len(tasks) == 1 and task not in results else task
    arguments = setting("config", "model_args")
    pairs = arguments if isinstance(arguments, Mapping) else _split_arguments(arguments)
    kind = setting("config", "model")
    names = (str(pairs[name]) for name in _NAME_ARGUMENTS if pairs.get(name))
    model = next(names, None) or kind or setting("model_name")
    if kind == "classic-rc" and pairs.get("solver"):
        model = f"classic-rc {pairs['solver']}"
    facts = {
        "few-shot": setting("n-shot", key),
        "task version": setting("versions", key),
        "lm-eval": setting("lm_eval_version"),
        "model": kind,
        "model_args": arguments or None,
        "chat template": "applied" if setting("chat_template") else None,
        "system instruction": "given" if setting("system_instruction") else None,
        "limit": setting("config", "limit"),
    }
    known_facts = {name: value for name, value in facts.items() if value is not None}
    n_documents = setting("n-samples", key, "effective")
    return LogSettings(
        model if isinstance(model, str) else None,
        known_facts,
        n_documents if isinstance(n_documents, int) else None,
    )


def _split_arguments(arguments: Any) -> dict[str, str]:
    parts = arguments.split(",") if isinstance(arguments, str) else ()
    pairs = (argument.partition("=") for argument in parts)
    return {name.strip(): value.strip() for name, equals, value in pairs if equals}
