"""Datasets written as our own JSON lines and read back unchanged."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from classic_rc.datasets import from_rows, load
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.testing import synthetic_dataset


def read_back(dataset: Dataset, folder) -> Dataset:
    path = folder / "written.jsonl"
    path.write_text(to_jsonl(dataset), encoding="utf-8", newline="")
    return load(path)


def same(dataset: Dataset, expected: Dataset) -> None:
    assert dataset.fingerprint == expected.fingerprint
    assert dataset.split == expected.split
    assert len(dataset.passages) == len(expected.passages)
    for a, b in zip(dataset, expected, strict=True):
        assert (a.task, a.gold) == (b.task, b.gold)
        assert [(c.text, c.start, c.end) for c in a.candidates] == [
            (c.text, c.start, c.end) for c in b.candidates
        ]
        assert a.passage.sentences == b.passage.sentences
        for key in (*a.passage.meta, *a.meta):
            assert json.dumps(a.meta_value(key)) == json.dumps(b.meta_value(key))


@pytest.mark.parametrize("name", ["single-choice", "multiple-answer", "cloze", "multi-span"])
def test_samples_round_trip(name, tmp_path):
    same(load(f"sample:{name}"), read_back(load(f"sample:{name}"), tmp_path))


@pytest.mark.parametrize("task", list(Task))
def test_synthetic_questions_round_trip(task, tmp_path):
    dataset = synthetic_dataset(task)
    same(dataset, read_back(dataset, tmp_path))


def test_offsets_splits_hidden_gold_and_special_characters_round_trip(tmp_path):
    text = 'One "quoted"\nline.\u2028 <b>Two</b> \\ שלום 🙂\x07 Three.'
    passage = Passage(
        "p", text, sentences=((0, 19), (20, len(text))), meta={"level": 3, "tags": ["a", "b"]}
    )
    options = (Candidate("One", 0, 3), Candidate("none of these"))
    questions = [
        Question(
            "q/1",
            passage,
            "Which\tone?",
            options,
            frozenset({0, 1}),
            Task.SINGLE_CHOICE,
            {"type": "x"},
        ),
        Question("q 2", passage, "", options, None, Task.SINGLE_CHOICE, {"level": 4}),
    ]
    dataset = Dataset(questions, "mine", split="dev")
    back = read_back(dataset, tmp_path)
    same(dataset, back)
    assert [q.meta_value("level") for q in back] == [3, 4]
    assert back[0].meta["split"] == "dev"


def test_generated_spans_are_not_written(tmp_path):
    dataset = load("sample:multi-span")
    assert to_jsonl(add_span_candidates(dataset)) == to_jsonl(dataset)


def test_official_files_round_trip(shared_data, tmp_path):
    for name in (
        "mctest/mc160.dev.tsv",
        "multirc/superglue/val.jsonl",
        "record/record_explorer_123.json",
    ):
        dataset = load(shared_data / name)
        same(dataset, read_back(dataset, tmp_path))


def test_a_part_of_a_dataset_has_no_read_with():
    dataset = load("sample:cloze")
    assert dataset.read_with is not None
    assert dataset.read_with["path"] == "sample:cloze"
    assert dataset.read_with["reader"] == "jsonl"
    assert dataset[2:4].read_with is None
    assert dataset.filter(lambda question: True).read_with is None
    assert replace(dataset, name="other").read_with == dataset.read_with
    assert (
        from_rows([{"passage": "a", "question": "b", "candidates": ["c"], "gold": 0}]).read_with
        is None
    )
