import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.formats import default_format, get_format
from classic_rc.predictions import Prediction
from tests.errors import raises
from tests.formats.builders import select, selected

superglue = get_format("superglue")


def line(idx, **questions):
    """A passage's line; questions as q7={20: 1}."""
    rows = []
    for name, labels in questions.items():
        answers = [{"idx": i, "label": label} for i, label in labels.items()]
        rows.append({"idx": int(name[1:]), "answers": answers})
    return json.dumps({"idx": idx, "passage": {"questions": rows}})


ANSWER = "$.passage.questions[0].answers[0]"
ZERO = line(0, q0={0: 1, 1: 0, 2: 1}, q1={3: 0, 4: 0})
THREE = line(3, q7={20: 1})


def test_multirc_has_one_line_per_passage(task_datasets):
    dataset = task_datasets["superglue"]
    text = superglue.write(dataset, predictions=select(dataset, {0, 2}, (), {0}))
    assert text == f"{ZERO}\n{THREE}\n"


def test_lines_questions_and_options_are_matched_by_number(task_datasets):
    text = THREE + "\n" + line(0, q1={4: 0, 3: 0}, q0={2: 1, 0: 1, 1: 0})
    predictions = superglue.read(text, task_datasets["superglue"], source="a")
    assert selected(predictions) == [{0, 2}, set(), {0}]


@pytest.mark.parametrize(
    ("text", "where", "field", "found_text", "expected"),
    [
        (ZERO, None, None, "none for passage idx 3, question idx 7, answer idx 20", "one for each"),
        (
            f"{ZERO}\n{line(3, q7={21: 1})}",
            f"line 2, {ANSWER}",
            None,
            "passage idx 3, question idx 7, answer idx 21",
            "one of 6 entries such as passage idx 0, question idx 0, answer idx 0",
        ),
        (
            f"{ZERO}\n{THREE}\n{THREE}",
            f"line 3, {ANSWER}",
            None,
            "passage idx 3, question idx 7, answer idx 20",
            "one answer (the first is at line 2, $.passage.questions[0].answers[0])",
        ),
        (f"{ZERO}\n{line(3, q7={20: 2})}", f"line 2, {ANSWER}", "label", "the number 2", "0 or 1"),
        (
            f"{ZERO}\n{line(3, q7={20: True})}",
            f"line 2, {ANSWER}",
            "label",
            "true",
            "a whole number",
        ),
        (f'{ZERO}\n{{"idx": 3}}', "line 2", "passage", "an object with idx", "an object or a list"),
        (f"{ZERO}\n{THREE[:-1]}", "line 2 column 88", None, "the end of the text", None),
    ],
)
def test_malformed_lines_of_multirc_are_refused_with_their_place(
    refused, text, where, field, found_text, expected
):
    refused(
        "superglue",
        "superglue",
        text,
        where=where,
        field=field,
        found=found_text,
        expected=expected,
    )


def test_record_has_one_line_per_query(task_datasets):
    dataset, answers = task_datasets["cloze"], [(("a",),), (("b",),), (("c",),)]
    predictions = [Prediction(q.id, answer) for q, answer in zip(dataset, answers, strict=True)]
    text = '{"idx": 17, "label": "a"}\n{"idx": 18, "label": "b"}\n{"idx": 19, "label": "c"}\n'
    assert superglue.write(dataset, predictions=predictions) == text
    backwards = "\n".join(reversed(text.split("\n")))
    assert [p.answers for p in superglue.read(backwards, dataset, source="a")] == answers


@pytest.mark.parametrize(
    ("text", "where", "field", "found_text", "expected"),
    [
        ('{"idx": 17, "label": "Tam"}', None, None, "none for idx 18", "one for each"),
        (
            '{"idx": 17, "label": 3}\n{"idx": 18, "label": ""}\n{"idx": 19, "label": ""}',
            "line 1",
            "label",
            "the number 3",
            "a string",
        ),
        ('{"idx": "17", "label": "Tam"}', "line 1", "idx", "'17'", "a whole number"),
        ('{"idx": 5, "label": "Tam"}', "line 1", None, "idx 5", "one of 3 entries such as idx 17"),
    ],
)
def test_malformed_lines_of_record_are_refused_with_their_place(
    refused, text, where, field, found_text, expected
):
    refused(
        "superglue", "cloze", text, where=where, field=field, found=found_text, expected=expected
    )


def test_other_datasets_are_refused(task_datasets):
    dataset = task_datasets["multiple-answer"]
    facts = {"field": "format", "found": re.compile(f"^question {dataset[0].id} ")}
    with raises(UsageError, **facts):
        superglue.write(dataset, predictions=select(dataset, ()))
    with raises(UsageError, **facts):
        superglue.read("", dataset, source="a")


def test_the_released_validation_set_round_trips(shared_data):
    dataset = load(shared_data / "multirc" / "superglue" / "val.jsonl")
    gold = [question.gold for question in dataset]
    text = default_format(dataset).write(dataset, predictions=select(dataset, *gold))
    assert selected(superglue.read(text, dataset, source="a")) == gold
    with open(shared_data / "multirc" / "superglue" / "val.jsonl", encoding="utf-8") as lines:
        released = [json.loads(row) for row in lines]
    for row in released:
        del row["version"], row["passage"]["text"]
        for question in row["passage"]["questions"]:
            del question["question"]
            for answer in question["answers"]:
                del answer["text"]
    assert [json.loads(row) for row in text.splitlines()] == released
