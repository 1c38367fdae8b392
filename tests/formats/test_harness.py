"""Answers of models in logs of lm-evaluation-harness."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classic_rc import evaluate, load
from classic_rc.errors import DataError, UsageError
from classic_rc.formats import FORMATS, read_predictions, read_scores, write_predictions
from classic_rc.formats.harness_settings import name_of_log, read_settings
from classic_rc.metrics.multirc import SELECTION_METRICS
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset, TextCandidates
from classic_rc.systems import System, as_systems, name_systems
from tests.errors import raises
from tests.formats.builders import select, selected
from tests.harness_logs import (
    GOLD,
    QUESTIONS,
    belebele_docs,
    belebele_rows,
    choice_row,
    multirc_rows,
    text_row,
    write_log,
)

VALUES = [
    [-1.0, -2.0, -3.0, -4.0],  # right
    [-1.0, -2.0, -3.0, -4.0],  # wrong
    [-2.5, -2.5, -2.5, -2.5],  # a tie, of which the harness takes the first: wrong
    [-9.0, -8.0, -7.0, -0.1],  # right
]


def answers(path: Path, dataset: Dataset, format: str | None = None) -> list[Any]:
    predictions = read_predictions(path, dataset, format)
    assert not isinstance(predictions, Scores)
    return selected(predictions)


def accuracy(path: Path, dataset: Dataset, format: str | None = None) -> float:
    (row,) = evaluate(dataset, [System(path=str(path), format=format)]).rows
    return row.metrics()["accuracy"]


@pytest.mark.parametrize("task", ["race", "boolq"])
def test_the_accuracy_is_that_of_the_harness(shared_golden, task):
    (path,) = (shared_golden / "harness").glob(f"samples_{task}_*.jsonl")
    (results,) = (shared_golden / "harness").glob("results_*.json")
    figures = json.loads(results.read_text(encoding="utf-8"))["results"][f"{task}_local"]
    dataset = load(path)
    assert accuracy(path, dataset) == figures["acc,none"]
    logged = [json.loads(line)["acc"] for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = zip(answers(path, dataset), dataset, strict=True)
    assert [answer <= question.gold for answer, question in pairs] == [acc == 1 for acc in logged]


def test_options_of_multirc_are_labelled_as_the_harness_counts(shared_golden):
    (path,) = (shared_golden / "harness").glob("samples_multirc_*.jsonl")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    dataset = load(path)
    assert sum(len(question.candidates) for question in dataset) == len(rows) == 90
    predictions = read_predictions(path, dataset)
    measure = SELECTION_METRICS["accuracy"]
    value = measure.aggregate(measure.statistics(dataset, predictions))
    accuracies = [row["acc"] for row in rows]
    assert value == pytest.approx(np.mean(accuracies), abs=1e-12)
    assert any("acc 46.67 (42 of 90)" in note for note in dataset.notes)
    other = read_predictions(path, dataset, "harness-yes")
    assert measure.aggregate(measure.statistics(dataset, other)) == pytest.approx(1 - value)


def test_of_equal_log_likelihoods_the_first_counts(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    dataset = load(path)
    assert answers(path, dataset) == [{0}, {0}, {0}, {3}]
    assert accuracy(path, dataset) == 0.5
    predictions = read_predictions(path, dataset)
    assert [prediction.n_tied for prediction in predictions] == [1, 1, 4, 1]


def test_scores_are_the_log_likelihoods(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    scores = read_scores(path, load(path))
    assert scores.relative_ties
    assert np.array_equal(scores.values, np.ravel(VALUES))
    solved = evaluate(load(path), [f"score-file,path={path}"], ties="partial").rows[0]
    assert solved.metrics()["accuracy"] == pytest.approx(2.25 / 4)


def test_infinite_log_likelihoods_are_ranked(tmp_path):
    values = [[float("-inf"), -2.0, -3.0, -4.0], *VALUES[1:]]
    path = write_log(tmp_path, belebele_rows(values))
    assert answers(path, load(path))[0] == {1}


def normed(delimiter: str) -> list[dict[str, Any]]:
    """Return rows whose logged acc_norm divides by the characters of the option."""
    rows = []
    options = ["é" * 8, "long as can be", "o"]
    values = [-8.1, -9.0, -5.0]
    norms = [value / len(option) for value, option in zip(values, options, strict=True)]
    best = norms.index(max(norms))
    for i in range(3):
        doc = {"question": f"Which is number {i}?", "choices": options, "answer": i}
        row = choice_row(i, doc, [f"{delimiter}{option}" for option in options], values, i)
        rows.append({**row, "acc_norm": float(best == i)})
    return rows


@pytest.mark.parametrize("delimiter", [" ", "\n\n\t\t\t\t"])
def test_acc_norm_divides_by_characters_without_the_delimiter_of_the_task(tmp_path, delimiter):
    path = write_log(tmp_path, normed(delimiter))
    dataset = load(path)
    assert answers(path, dataset) == [{2}] * 3
    assert answers(path, dataset, "harness-norm") == [{1}] * 3


def test_an_empty_option_is_the_worst_by_acc_norm(tmp_path):
    doc = {"question": "Which?", "choices": ["", "x"], "answer": 1}
    row = choice_row(0, doc, [" ", " x"], [0.0, -5.0], 1) | {"acc_norm": 1.0}
    path = write_log(tmp_path, [row])
    assert answers(path, load(path), "harness-norm") == [{1}]


def test_samples_that_a_filter_leaves_are_averaged(tmp_path):
    samples = (["A", "B"], ["A", "A"], ["B", "nothing"], ["C", "D"])
    rows = [text_row(i, doc, "", " A") for i, doc in enumerate(belebele_docs())]
    for row, responses in zip(rows, samples, strict=True):
        row["filtered_resps"] = [responses]
    path = write_log(tmp_path, rows)
    assert accuracy(path, load(path)) == pytest.approx((0.5 + 1 + 0 + 0) / 4)


def test_acc_norm_needs_log_likelihoods_of_options(tmp_path):
    path = write_log(tmp_path, multirc_rows([[1, 0]], [[1, 0]]))
    with raises(UsageError, field="format", found="harness-norm", expected="harness"):
        read_predictions(path, load(path), "harness-norm")


def test_a_log_that_disagrees_with_its_accuracies_is_noted(tmp_path):
    rows = belebele_rows(VALUES)
    rows[0]["acc"] = 0.0
    path = write_log(tmp_path, rows)
    notes: list[str] = []
    read_predictions(path, load(path), notes=notes)
    assert notes == [
        f"{path}: acc is 25.00 in the log, 50.00 by its best log-likelihoods, other on 1 of 4 "
        "questions"
    ]


def test_multirc_selects_what_the_harness_takes_for_label_1(tmp_path):
    rows = multirc_rows([[1, 0, 1], [0, 1]], [[1, 1, 0], [0, 0]])
    path = write_log(tmp_path, rows)
    dataset = load(path)
    assert answers(path, dataset) == [{0, 1}, set()]
    assert answers(path, dataset, "harness-yes") == [{2}, {0, 1}]
    assert read_scores(path, dataset).values.tolist() == [0.5, 0.5, -0.5, -0.5, -0.5]


def test_labels_in_the_right_order_have_one_reading(tmp_path):
    rows = multirc_rows([[1, 0]], [[1, 0]])
    for row in rows:
        no, yes = row["arguments"]["gen_args_1"], row["arguments"]["gen_args_0"]
        row["arguments"] = {"gen_args_0": no, "gen_args_1": yes}
    path = write_log(tmp_path, rows)
    dataset = load(path)
    assert answers(path, dataset, "harness-yes") == answers(path, dataset) == [{0}]
    assert not any("reversed" in note for note in dataset.notes)


def test_generated_labels_that_say_nothing_count_as_wrong(tmp_path):
    docs = [row["doc"] for row in multirc_rows([[1, 0, 1]], [[0, 0, 0]])]
    responses = ("Yes.", "well", "hmm")
    rows = [text_row(i, doc, responses[i], str(doc["label"])) for i, doc in enumerate(docs)]
    path = write_log(tmp_path, rows)
    notes: list[str] = []
    predictions = read_predictions(path, load(path), notes=notes)
    # option 1 is wrong and selected, option 2 right and not
    assert selected(predictions) == [{0, 1}]
    (note,) = notes
    assert "2 of 3 answers could not be parsed and count as wrong" in note


def test_answers_that_the_filter_missed_are_in_a_note(tmp_path):
    rows = []
    for i, doc in enumerate(belebele_docs()):
        gold = "ABCD"[GOLD[i]]
        filtered = gold if i < 2 else "[invalid]"
        row = text_row(i, doc, filtered, gold, resps=[[f"I think the answer is {gold}."]])
        rows.append(row)
    path = write_log(tmp_path, rows)
    notes: list[str] = []
    read_predictions(path, load(path), notes=notes)
    assert notes[-1] == (
        f"{path}: exact_match is 50.00 in the log, 100.00 by its whole texts, other on 2 of 4 "
        "questions"
    )


def test_generated_letters_and_texts_are_answers(tmp_path):
    responses = ("The answer is (A).", "on Sundays", "no idea", "D. the garden")
    docs = belebele_docs()
    rows = [text_row(i, docs[i], responses[i], f" {'ABCD'[GOLD[i]]}") for i in range(4)]
    path = write_log(tmp_path, rows)
    dataset = load(path)
    assert [set(question.gold) for question in dataset] == [{i} for i in GOLD]
    notes: list[str] = []
    predictions = read_predictions(path, dataset, notes=notes)
    assert selected(predictions) == [{0}, {1}, None, {3}]
    assert len(notes) == 2
    assert "1 of 4 answers could not be parsed and count as wrong" in notes[0]
    assert notes[1] == (
        f"{path}: exact_match is 0.00 in the log, 75.00 by its answers, other on 3 of 4 questions; "
        "25.00 by its whole texts, other on 1 of 4 questions"
    )
    assert accuracy(path, dataset) == 0.75
    with raises(UsageError, found="decisions", expected="scores"):
        read_scores(path, dataset)


def test_generated_numbers_must_show_where_they_start(tmp_path):
    docs = belebele_docs()
    path = write_log(tmp_path, [text_row(i, docs[i], "2", "2") for i in range(2)])
    with raises(
        DataError,
        source=str(path),
        field="target",
        hint=re.compile("--gold-as index0 or --gold-as index1"),
    ):
        load(path)
    for first, option in (("index0", 2), ("index1", 1)):
        dataset = load(path, gold_as=first)
        assert [set(question.gold) for question in dataset] == [{option}] * 2
        assert answers(path, dataset) == [{option}] * 2


def test_generated_numbers_that_start_from_1_are_answers(tmp_path):
    docs = belebele_docs()
    rows = [text_row(i, docs[i], str(4 - i), str(GOLD[i] + 1)) for i in range(4)]
    path = write_log(tmp_path, rows)
    assert accuracy(path, load(path)) == 0.0
    assert answers(path, load(path)) == [{3}, {2}, {1}, {0}]


def elsewhere(dataset: Dataset) -> Dataset:
    """Return the same questions with other ids, blanks and case, in another order, with their
    options reversed.
    """
    questions = []
    for i, question in enumerate(reversed(dataset)):
        options = [f" {candidate.text.upper()} " for candidate in reversed(question.candidates)]
        (right,) = question.gold_texts
        gold = [candidate.text for candidate in question.candidates].index(right)
        text = question.passage.text.replace(" ", "\n ")
        changes: dict[str, Any] = {
            "passage": replace(question.passage, id=f"p{i}", text=text),
            "candidates": TextCandidates(options),
            "gold": frozenset({len(options) - 1 - gold}),
        }
        questions.append(replace(question, id=f"q{i}", **changes))
    return Dataset(questions, name="elsewhere")


def test_questions_are_matched_by_content(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    other = elsewhere(load(path))
    assert answers(path, other) == [{0}, {3}, {3}, {3}]
    assert accuracy(path, other) == 0.5
    assert read_scores(path, other)[0].tolist() == VALUES[3][::-1]


def test_part_of_the_questions_is_enough_and_others_are_not(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    dataset = load(path)
    assert answers(path, dataset[1:3]) == [{0}, {0}]
    other = replace(dataset[0], id="other", text="Who keeps bees?")
    others = Dataset([*dataset[1:], other], name="others")
    with raises(DataError, source=str(path)) as caught:
        read_predictions(path, others)
    assert "'other'" in str(caught.value)
    assert f"classic-rc run {path}" in str(caught.value)


def test_other_passages_are_matched_by_question_and_options(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    questions = []
    for question in load(path):
        passage = replace(question.passage, text=f"Sent 1: {question.passage.text}")
        questions.append(replace(question, passage=passage))
    notes: list[str] = []
    predictions = read_predictions(path, Dataset(questions, name="others"), notes=notes)
    assert selected(predictions) == [{0}, {0}, {0}, {3}]
    assert notes == [
        f"{path}: 4 of 4 questions are matched by question and options alone, because their "
        "passages differ"
    ]


def test_equal_questions_keep_their_order(tmp_path):
    rows = belebele_rows(VALUES)
    twin = {**belebele_rows([VALUES[3], *VALUES[1:]])[0], "doc_id": 4}
    path = write_log(tmp_path, [*rows, twin])
    assert answers(path, load(path)) == [{0}, {0}, {0}, {3}, {3}]


def test_requests_without_a_prompt_are_not_options(tmp_path):
    rows = belebele_rows(VALUES)
    for row in rows:
        for i, pair in enumerate(list(row["arguments"].values()), start=4):
            row["arguments"][f"gen_args_{i}"] = pair | {"arg_0": ""}
        row["filtered_resps"] += [["-0.01", "True"]] * 4
    path = write_log(tmp_path, rows)
    assert answers(path, load(path)) == [{0}, {0}, {0}, {3}]


RESULTS = {
    "results": {"made": {"acc,none": 0.5}, "made_too": {}},
    "n-shot": {"made": 5},
    "versions": {"made": 2.0},
    "n-samples": {"made": {"original": 9, "effective": 4}},
    "config": {"model": "hf", "model_args": "pretrained=org/tiny-1b,dtype=float16", "limit": 4.0},
    "lm_eval_version": "0.4.3",
    "chat_template": "{{ messages }}",
}


def test_the_results_file_names_the_model_and_its_settings(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES), results=RESULTS)
    settings = read_settings(str(path))
    assert settings is not None
    assert settings.model == "org/tiny-1b"
    assert settings.facts["few-shot"] == 5
    assert str(settings).startswith(
        "5-shot, task version 2.0, lm-eval 0.4.3, model hf, model_args pretrained="
    )
    (row,) = evaluate(load(path), [str(path)]).rows
    assert row.name == "org/tiny-1b"
    assert row.params["settings"]["model_args"] == RESULTS["config"]["model_args"]


@pytest.mark.parametrize(
    "results", [None, [], {"config": 3, "n-shot": []}], ids=["none", "list", "odd"]
)
def test_a_log_without_a_usable_results_file_has_its_own_name(tmp_path, results):
    path = write_log(tmp_path, belebele_rows(VALUES), results=results)
    assert name_of_log(str(path)) == "samples_made"
    assert name_of_log(str(tmp_path / "answers.jsonl")) is None


def test_two_logs_of_one_model_have_two_names(tmp_path):
    first_log = write_log(tmp_path / "a", belebele_rows(VALUES), results=RESULTS)
    two = write_log(tmp_path / "b", belebele_rows(VALUES), results=RESULTS)
    names = [system.name for system in name_systems(as_systems([str(first_log), str(two)]))]
    assert names == ["org/tiny-1b", "org/tiny-1b (2)"]


def test_readings_of_one_log_have_their_own_signatures(tmp_path):
    path = str(write_log(tmp_path, multirc_rows([[1, 0, 1]], [[1, 1, 0]])))
    rows = evaluate(load(path), {"a": path, "b": System(path=path, format="harness-yes")}).rows
    assert "format:harness-yes" in rows[1].short_signature
    assert rows[0].signature != rows[1].signature


def test_logs_are_not_written(tmp_path):
    dataset = load("sample:single-choice")
    predictions = select(dataset, {0})
    with raises(UsageError, field="format", found="harness", expected="jsonl"):
        write_predictions(tmp_path / "a", dataset, predictions=predictions, format="harness")


def test_only_logs_are_recognised():
    log = json.dumps(belebele_rows(VALUES)[0])
    assert FORMATS["harness"].recognises(log)
    assert not FORMATS["harness"].recognises(f"[{log}]")
    assert not FORMATS["harness"].recognises('{"doc": "A", "arguments": 1, "resps": 2}')
    assert not FORMATS["harness"].recognises("[3]")
    assert not FORMATS["harness-norm"].recognises(log)
    assert not FORMATS["harness-yes"].recognises(log)
    assert len(QUESTIONS) == len(VALUES)
