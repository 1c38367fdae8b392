"""The model ``classic-rc`` in the real lm-evaluation-harness, on local tasks that the tests
write.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from classic_rc import Dataset, evaluate, load
from classic_rc.cli.main import main
from classic_rc.datasets import perturb_dataset
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.decisions import Argmax, Threshold
from classic_rc.errors import UsageError
from classic_rc.formats import read_predictions
from classic_rc.metrics.multirc import SELECTION_METRICS
from classic_rc.predictions import Prediction
from classic_rc.questions import Task
from classic_rc.solvers.saved import save_solver
from classic_rc.solvers.specs import parse_solver
from classic_rc.systems import System
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.harness.builders import label_documents

pytest.importorskip(
    "lm_eval", reason="lm-evaluation-harness is not installed: pip install '.[harness]'"
)

CHOICES = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=15, seed=4).filter(
    lambda q: q.passage.id != "p2"
)
"""With two to five options, an empty passage and an empty question; without empty options, which
have no length.
"""
SELECTIONS = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, seed=4)


def gold(dataset: Dataset) -> list[int]:
    return [min(i for i in question.gold or () if isinstance(i, int)) for question in dataset]


def write_task(folder: Path, name: str, rows: Sequence[Mapping[str, Any]], **changes: Any) -> None:
    """Write the rows of a task and its YAML."""
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    values = {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{passage}}\nQuestion: {{question}}\nAnswer:",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
        **changes,
    }
    lines = [f"{key}: {json.dumps(value)}\n" for key, value in values.items()]
    (folder / f"{name}.yaml").write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tasks."""
    folder = tmp_path_factory.mktemp("tasks")
    options = [[candidate.text for candidate in question.candidates] for question in CHOICES]
    texts = [{"passage": q.passage.text, "question": q.text} for q in CHOICES]
    lists, written = [], []
    for text, row_options, right in zip(texts, options, gold(CHOICES), strict=True):
        row = {**text, "options": row_options}
        lists.append({**row, "gold": right})
        written.append({**row, "gold": row_options[right]})
    write_task(folder, "lists", lists, doc_to_choice="options", doc_to_target="gold")
    write_task(folder, "repeated", lists, doc_to_choice="options", doc_to_target="gold", repeats=2)
    write_task(folder, "texts", written, doc_to_choice="options", doc_to_target="gold")
    yes = [{**text, "label": i % 2} for i, text in enumerate(texts)]
    write_task(folder, "boolean", yes, doc_to_choice=["no", "yes"], doc_to_target="label")
    letters = []
    for i, question in enumerate(CHOICES):
        choices = {"text": options[i][:2], "label": ["A", "B"]}
        letter = {"question": question.text, "choices": choices, "answerKey": "AB"[i % 2]}
        letters.append(letter)
    write_task(
        folder,
        "letters",
        letters,
        doc_to_text="question",
        doc_to_choice=["A", "B"],
        doc_to_target="answerKey",
    )
    prompt = "{{paragraph}}\nQuestion: {{question}}\nAnswer: {{answer}}\nRight?"
    acc = [{"metric": "acc"}]
    common: dict[str, Any] = {"doc_to_text": prompt, "doc_to_target": "label", "metric_list": acc}
    labelled = label_documents(SELECTIONS)
    write_task(folder, "labels", labelled, doc_to_choice=["no", "yes"], **common)
    write_task(folder, "reversed", labelled, doc_to_choice=["yes", "no"], **common)
    write_task(
        folder,
        "generated",
        lists,
        output_type="generate_until",
        doc_to_target="gold",
        metric_list=[{"metric": "exact_match"}],
    )
    return folder


def run(
    tasks: Path, names: list[str], num_fewshot: int | None = None, **arguments: Any
) -> dict[str, Any]:
    """Return the harness's results, by task."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    import classic_rc.harness.model  # noqa: F401  # registers the model

    results = lm_eval.simple_evaluate(
        model="classic-rc",
        model_args=arguments,
        tasks=names,
        num_fewshot=num_fewshot,
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=0,
    )
    figures: dict[str, Any] = results["results"]
    return figures


def answers_of(dataset: Dataset) -> Sequence[Prediction]:
    """Return the answers of the sliding window: the first best option, or the options above 2.5."""
    rule = Argmax(ties="first") if dataset.task is Task.SINGLE_CHOICE else Threshold(value=2.5)
    return rule.decide(parse_solver("sliding-window").score_candidates(dataset), dataset)


def ours(dataset: Dataset, spec: str) -> float:
    return evaluate(dataset, [spec], ties="first").rows[0].metrics()["accuracy"]


@pytest.mark.parametrize(
    ("arguments", "spec"),
    [
        ({"solver": "sw+d"}, "sw+d"),
        ({"solver": "sliding-window", "window": 3}, "sliding-window,window=3"),
        ({"solver": "lexical"}, "lexical"),
        ({"solver": "ir:passage"}, "ir:passage"),
        ({"solver": "constant-position:last"}, "constant-position:last"),
        (
            {"solver": "combination", "solvers": "[sw; longest]"},
            "combination,solvers=[sw; longest]",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_its_accuracy_is_that_of_ties_first(tasks, arguments, spec):
    figures = run(tasks, ["lists", "texts", "repeated"], **arguments)
    for name in ("lists", "texts", "repeated"):
        assert figures[name]["acc,none"] == ours(CHOICES, spec)
        assert figures[name]["acc_norm,none"] == figures[name]["acc,none"]


def test_a_learned_solver_comes_with_its_file(tasks, tmp_path):
    path = str(tmp_path / "lr.solver")
    save_solver(
        parse_solver("surface-lr").fit(synthetic_dataset(Task.SINGLE_CHOICE, 30, seed=5)), path
    )
    assert run(tasks, ["lists"], path=path)["lists"]["acc,none"] == ours(
        CHOICES, f"saved,path={path}"
    )


def test_yes_and_no_are_options_of_one_task_and_letters_of_another(tasks):
    figures = run(tasks, ["boolean", "letters"], solver="longest")
    n = len(CHOICES)
    assert figures["boolean"]["acc,none"] == (n // 2) / n
    n_right = 0
    for i, question in enumerate(CHOICES):
        first, second = (len(candidate.text) for candidate in question.candidates[:2])
        n_right += int(first < second) == i % 2
    assert figures["letters"]["acc,none"] == n_right / n


def test_options_in_rows_of_their_own_are_selected_together(tasks):
    figures = run(tasks, ["labels", "reversed"], solver="sliding-window", threshold=2.5)
    metric = SELECTION_METRICS["accuracy"]
    predictions = answers_of(SELECTIONS)
    expected = metric.aggregate(metric.statistics(SELECTIONS, predictions))
    assert figures["labels"]["acc,none"] == pytest.approx(expected, abs=1e-12)
    assert figures["reversed"]["acc,none"] == pytest.approx(1 - expected, abs=1e-12)


def test_options_only_are_those_of_the_perturbed_data(tasks):
    hidden = perturb_dataset(CHOICES, "options-only")
    for solver in ("longest", "shortest"):
        figures = run(tasks, ["lists"], solver=solver, inputs="options")
        assert figures["lists"]["acc,none"] == ours(hidden, solver)


def test_examples_in_the_prompt_change_nothing(tasks):
    assert run(tasks, ["lists"], 3, solver="sw+d")["lists"]["acc,none"] == ours(CHOICES, "sw+d")


def test_generated_answers_are_refused(tasks):
    with raises(UsageError, field="tasks", found="generated", expected="multiple-choice tasks"):
        run(tasks, ["generated"], solver="sw+d")


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m classic_rc.harness`` without a network."""
    return subprocess.run(
        [sys.executable, "-m", "classic_rc.harness", *arguments],
        cwd=folder,
        env={**os.environ, "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_command_line_is_the_harnesss_own_and_writes_logs(tasks, tmp_path):
    arguments = [
        "--model",
        "classic-rc",
        "--model_args",
        "solver=sliding-window,window=3",
        "--tasks",
        "lists",
    ]
    arguments += ["--include_path", str(tasks), "--log_samples", "--output_path", "out"]
    done = command(tmp_path, "run", *arguments)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("out/*/samples_lists_*.jsonl")
    (row,) = evaluate(load(path), [System(path=str(path))]).rows
    assert row.metrics()["accuracy"] == ours(CHOICES, "sliding-window,window=3")
    assert all(prediction.n_tied for prediction in read_predictions(path, load(path)))


def test_a_refusal_is_one_sentence(tasks, tmp_path):
    old_form = ["--model", "classic-rc", "--model_args", "solver=sw+d,windo=3", "--tasks", "lists"]
    done = command(tmp_path, *old_form, "--include_path", str(tasks))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "unknown parameter of sw+d 'windo'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("dataset", "model", "arguments"),
    [
        (CHOICES, "dummy", []),
        (SELECTIONS, "classic-rc", ["--model_args", "solver=sliding-window,threshold=2.5"]),
    ],
    ids=["single-choice", "multiple-answer"],
)
def test_what_perturb_writes_runs_with_any_model(dataset, model, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.jsonl").write_text(to_jsonl(dataset), encoding="utf-8")
    assert (
        main(
            [
                "perturb",
                "data.jsonl",
                "--with",
                "no-question",
                "-o",
                "made.jsonl",
                "--format",
                "lm-eval",
            ]
        )
        == 0
    )
    copy = perturb_dataset(dataset, "no-question")
    options = [
        "--model",
        model,
        "--tasks",
        "made",
        "--include_path",
        ".",
        "--output_path",
        model,
        "--log_samples",
    ]
    done = command(tmp_path, "run", *options, *arguments)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob(f"{model}/*/samples_made_*.jsonl")
    log = load(path)
    assert [q.text for q in log] == [q.text for q in copy]
    assert [q.gold for q in log] == [q.gold for q in copy]
    answers = [prediction.answers for prediction in read_predictions(path, log)]
    if model == "classic-rc":
        assert answers == [prediction.answers for prediction in answers_of(copy)]


def test_releases_that_load_plug_ins_find_the_model():
    from classic_rc.harness.model import ClassicRC

    (entry_point,) = entry_points(group="lm_eval.models", name="classic-rc")
    assert entry_point.load() is ClassicRC
