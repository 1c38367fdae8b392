"""The embedded sample is complete and correct, and equal to its other layouts in data/."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from classic_rc.datasets import load
from classic_rc.questions import PLACEHOLDER, Task

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "classic_rc" / "datasets" / "sample"
DATA = ROOT / "data"

KEYS = [
    "id",
    "passage",
    "passage_id",
    "question",
    "candidates",
    "gold",
    "task",
    "sentences",
    "meta",
]
COUNTS = {  # passages, questions, candidates
    "single-choice": (6, 24, 96),
    "multiple-answer": (5, 15, 76),
    "cloze": (3, 8, 113),
    "multi-span": (3, 9, 0),
}
Row = dict[str, Any]


def rows(task: str) -> list[Row]:
    text = (SAMPLE / f"{task.replace('-', '_')}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def every_row() -> list[Row]:
    return [row for task in COUNTS for row in rows(task)]


@pytest.mark.parametrize("task", COUNTS)
def test_samples_have_their_counts_and_keys(task):
    sample_rows = rows(task)
    passages = {row["passage_id"] for row in sample_rows}
    n_candidates = sum(len(row.get("candidates", [])) for row in sample_rows)
    assert (len(passages), len(sample_rows), n_candidates) == COUNTS[task]
    for row in sample_rows:
        assert row["task"] == task
        assert list(row) == [key for key in KEYS if key in row]
        assert row["meta"]["type"] in ("one", "multiple")


def test_files_are_utf8_with_line_feeds_and_small():
    files = sorted(SAMPLE.iterdir())
    names = [f"{task.replace('-', '_')}.jsonl" for task in COUNTS]
    assert [file.name for file in files] == sorted(names)
    for file in files:
        content = file.read_bytes()
        assert b"\r" not in content
        assert content.decode("utf-8").endswith("}\n")
    test_files = [file for file in DATA.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in [*files, *test_files]) < 150_000


def test_ids_are_unique_over_all_files_and_name_their_passage():
    ids = [row["id"] for row in every_row()]
    n_questions = sum(questions for _, questions, _ in COUNTS.values())
    assert len(set(ids)) == len(ids) == n_questions
    assert all(row["id"].startswith(f"{row['passage_id']}.") for row in every_row())


def test_a_passage_is_the_same_in_all_its_questions_and_80_to_220_words_long():
    texts: dict[str, str] = {}
    for row in every_row():
        assert texts.setdefault(row["passage_id"], row["passage"]) == row["passage"]
    n_passages = sum(passages for passages, _, _ in COUNTS.values())
    assert len(set(texts.values())) == len(texts) == n_passages
    assert all(80 <= len(text.split()) <= 220 for text in texts.values())


def test_single_choice_gold_is_balanced_over_letters_and_questions_over_levels_and_types():
    sample_rows = rows("single-choice")
    assert Counter(row["gold"] for row in sample_rows) == {0: 6, 1: 6, 2: 6, 3: 6}
    assert all(len(set(row["candidates"])) == 4 for row in sample_rows)
    assert Counter(row["meta"]["level"] for row in sample_rows) == {"middle": 16, "high": 8}
    assert Counter(row["meta"]["type"] for row in sample_rows) == {"one": 11, "multiple": 13}


def test_multiple_answer_gold_indexes_options_and_has_both_extremes():
    sample_rows = rows("multiple-answer")
    for row in sample_rows:
        assert 3 <= len(set(row["candidates"])) == len(row["candidates"]) <= 7
        assert row["gold"] == sorted(set(row["gold"]))
        assert set(row["gold"]) <= set(range(len(row["candidates"])))
    shares = [len(row["gold"]) / len(row["candidates"]) for row in sample_rows]
    assert shares.count(0) == 1
    assert shares.count(1) == 1
    assert sum(len(row["gold"]) for row in sample_rows) == 35


def test_sentence_marks_cover_the_passage_and_hold_the_sentences_used():
    marked = [row for row in rows("multiple-answer") if "sentences" in row]
    assert {row["passage_id"] for row in marked} == {"bakery", "lighthouse", "salt-road"}
    for row in marked:
        sentences = [row["passage"][start:end] for start, end in row["sentences"]]
        assert " ".join(sentences) == row["passage"]
        assert all(re.fullmatch(r"[A-Z].*[.]", sentence) for sentence in sentences)
        used = row["meta"]["sentences_used"]
        assert set(used) <= set(range(len(sentences)))
        assert (row["meta"]["type"] == "multiple") == (len(used) > 1)


def test_cloze_candidates_are_mentions_and_gold_is_among_them():
    sample_rows = rows("cloze")
    for row in sample_rows:
        for candidate in row["candidates"]:
            assert row["passage"][candidate["start"] : candidate["end"]] == candidate["text"]
        ends = [0] + [candidate["end"] for candidate in row["candidates"]]
        starts = [candidate["start"] for candidate in row["candidates"]]
        assert all(start >= end for start, end in zip(starts, ends, strict=False)), (
            "mentions overlap"
        )
        assert row["question"].count(PLACEHOLDER) == 1
        assert PLACEHOLDER not in row["passage"]
        assert set(row["gold"]) <= {candidate["text"] for candidate in row["candidates"]}
        assert row["gold"]
    mentions = Counter(candidate["text"] for candidate in sample_rows[0]["candidates"])
    assert max(mentions.values()) > 1, "repeated mentions are kept"
    assert any(len(row["gold"]) > 1 for row in sample_rows)


def test_span_gold_occurs_in_the_passage_and_needs_no_candidates():
    sample_rows = rows("multi-span")
    for row in sample_rows:
        assert "candidates" not in row
        for text in row["gold"]:
            assert re.search(rf"\b{re.escape(text)}\b", row["passage"])
    assert Counter(len(row["gold"]) for row in sample_rows) == {1: 4, 2: 4, 3: 1}


def gold_of(row: Row) -> frozenset[int] | tuple[str, ...]:
    if not Task(row["task"]).has_choices:
        return tuple(row["gold"])
    return frozenset(row["gold"] if isinstance(row["gold"], list) else [row["gold"]])


@pytest.mark.parametrize("task", COUNTS)
def test_the_sample_loads_by_name(task):
    dataset = load(f"sample:{task}")
    assert dataset.task is Task(task)
    assert len(dataset.passages) == COUNTS[task][0]
    for question, row in zip(dataset, rows(task), strict=True):
        assert (question.id, question.text) == (row["id"], row["question"])
        assert (question.passage.id, question.passage.text) == (row["passage_id"], row["passage"])
        texts = [c if isinstance(c, str) else c["text"] for c in row.get("candidates", [])]
        assert [c.text for c in question.candidates] == texts
        assert question.gold == gold_of(row)
        assert question.passage.sentences == (
            tuple(map(tuple, row["sentences"])) if "sentences" in row else None
        )
        assert question.meta["type"] == row["meta"]["type"]


@pytest.mark.parametrize(
    ("path", "task", "passages"),
    [
        ("mctest/sample.dev.tsv", "single-choice", ["lantern", "hedgehog", "kites"]),
        ("race/dev", "single-choice", ["school-boat", "library-of-things"]),
        ("race/dev/high", "single-choice", ["library-of-things"]),
        ("multirc/sample.json", "multiple-answer", ["bakery", "lighthouse", "salt-road"]),
    ],
)
def test_the_other_layouts_hold_the_same_questions(path, task, passages):
    """Compared as a set: each layout has its own ids, order of passages and white space."""

    def content(passage: str, question: str, candidates: list[str], gold: frozenset[int]) -> tuple:
        return " ".join(passage.split()), question, tuple(candidates), gold

    expected = {
        content(row["passage"], row["question"], row["candidates"], gold_of(row))
        for row in rows(task)
        if row["passage_id"] in passages
    }
    contents = [
        content(q.passage.text, q.text, [c.text for c in q.candidates], q.gold)
        for q in load(DATA / path)
    ]
    assert len(contents) == len(expected)
    assert set(contents) == expected
