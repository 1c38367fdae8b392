"""Rows with known schemas, as Hugging Face datasets provide them."""

from __future__ import annotations

import re

import pytest

from classic_rc.datasets import from_rows, load
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Task
from tests.contents import cut
from tests.errors import raises


def test_rows_of_race_equal_its_files(tmp_path, write, content):
    value = content("race")
    rows = [
        {
            "example_id": value["id"],
            "article": value["article"],
            "question": q,
            "options": options,
            "answer": answer,
        }
        for q, options, answer in zip(
            value["questions"], value["options"], value["answers"], strict=True
        )
    ]
    original = load(write(tmp_path, "race"))
    assert from_rows(rows).fingerprint == original.fingerprint
    assert [q.meta for q in from_rows(rows)] == [q.meta for q in original]


def test_rows_of_dream_equal_its_files(tmp_path, write, content):
    (turns, ((question),), id), *_ = content("dream")
    row = {"id": 0, "dialogue_id": id, "dialogue": turns, **question}
    assert from_rows([row]).fingerprint == load(write(tmp_path, "dream")).fingerprint


@pytest.mark.parametrize("as_lists", [False, True])
def test_rows_of_c3_equal_its_files(tmp_path, write, content, as_lists):
    rows = []
    for turns, questions, id in content("c3"):
        columns = {
            key: [question[key] for question in questions]
            for key in ("question", "answer", "choice")
        }
        rows.append(
            {"documents": turns, "document_id": id, "questions": columns if as_lists else questions}
        )
    original = load(write(tmp_path, "c3", name="talks.json"))
    assert from_rows(rows).fingerprint == original.fingerprint
    assert [q.meta for q in from_rows(rows)] == [q.meta for q in original]
    if as_lists:
        rows[1]["questions"]["answer"] = []
        with raises(DataError, found="1 of question, 0 of answer, 1 of choice"):
            from_rows(rows)


def test_rows_of_multirc_are_grouped_by_question(tmp_path, write, content):
    passage = content("superglue")["passage"]
    question = passage["questions"][0]
    rows = [
        {
            "paragraph": passage["text"],
            "question": question["question"],
            "answer": answer["text"],
            "idx": {"paragraph": 3, "question": 4, "answer": answer["idx"]},
            "label": answer["label"],
        }
        for answer in question["answers"]
    ]
    dataset = from_rows(rows)
    assert dataset.fingerprint == load(write(tmp_path, "superglue")).fingerprint
    assert dataset[0].meta == {"pid": "3", "qid": "4", "answer_idx": (9, 10)}
    assert from_rows([row | {"label": -1} for row in rows])[0].gold is None
    with raises(
        DataError, where="row 1", field="label", found="-1", expected=re.compile("0 or 1, or -1")
    ):
        from_rows([rows[0], rows[1] | {"label": -1}])


def test_rows_of_record_have_mentions_as_candidates(tmp_path, write, content):
    original = load(write(tmp_path, "record-line"))
    line = content("record-line")
    text = line["passage"]["text"]
    spans = [(e["start"], e["end"] + 1) for e in line["passage"]["entities"]]
    row = {
        "passage": text,
        "query": line["qas"][0]["query"],
        "entities": ["Ann Lee", "Bob", "Rome"],
        "entity_spans": {
            "text": cut(text, spans),
            "start": [a for a, _ in spans],
            "end": [b for _, b in spans],
        },
        "answers": ["Bob"],
        "idx": {"passage": 5, "query": 8},
    }
    assert from_rows([row]).fingerprint == original.fingerprint
    del row["entity_spans"]
    assert [c.text for c in from_rows([row])[0].candidates] == row["entities"]
    assert from_rows([row | {"answers": []}])[0].gold is None


def test_rows_of_squad_and_quoref():
    row = {
        "id": "s1",
        "title": "Letters",
        "context": "Maya wrote to Ines.",
        "question": "Who?",
        "answers": {"text": ["Maya", "Maya"], "answer_start": [0, 0]},
    }
    empty = row | {"id": "s2", "answers": {"text": [], "answer_start": []}}
    dataset = from_rows([row, empty])
    assert [q.gold for q in dataset] == [("Maya",), ("",)]
    assert dataset[0].passage is dataset[1].passage
    assert dataset.notes == ("questions without an answer, kept with the empty text as gold: 1",)
    quoref = row | {
        "context_id": "c",
        "answers": {"text": ["Maya", "Ines"], "answer_start": [0, 14]},
    }
    (question,) = from_rows([quoref])
    assert (question.task, question.gold) == (Task.MULTI_SPAN, ("Maya", "Ines"))


@pytest.mark.parametrize("key", ["question", "question_stem"])
def test_rows_of_arc_and_openbookqa(key):
    row = {
        "id": "a",
        key: "What melts ice?",
        "choices": {"text": ["cold", "heat"], "label": ["1", "2"]},
        "answerKey": "2",
    }
    assert from_rows([row])[0].gold == {1}
    assert from_rows([row | {"answerKey": ""}])[0].gold is None
    with raises(DataError, where="row 0", field="answerKey", found="'3'"):
        from_rows([row | {"answerKey": "3"}])
    with raises(UsageError, field="gold_as", found="letter", expected=re.compile("fields")):
        from_rows([row], gold_as="letter")
