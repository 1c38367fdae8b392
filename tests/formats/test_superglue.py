import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.formats import default_format, get_format
from classic_rc.predictions import Prediction
from tests.errors import raises

superglue = get_format("superglue")


def line(idx, **questions):
    """A passage's line; questions as q7={20: 1}."""
    rows = [
        {"idx": int(q[1:]), "answers": [{"idx": i, "label": label} for i, label in answers.items()]}
        for q, answers in questions.items()
    ]
    return json.dumps({"idx": idx, "passage": {"questions": rows}})


ANSWER = "$.passage.questions[0].answers[0]"
ZERO, THREE = line(0, q0={0: 1, 1: 0, 2: 1}, q1={3: 0, 4: 0}), line(3, q7={20: 1})


def test_multirc_has_one_line_per_passage(task_datasets):
    selected = [frozenset({0, 2}), frozenset(), frozenset({0})]
    predictions = [
        Prediction(q.id, (answer,))
        for q, answer in zip(task_datasets["superglue"], selected, strict=True)
    ]
    assert (
        superglue.write(task_datasets["superglue"], predictions=predictions) == f"{ZERO}\n{THREE}\n"
    )


def test_lines_questions_and_options_are_matched_by_number(task_datasets):
    text = THREE + "\n" + line(0, q1={4: 0, 3: 0}, q0={2: 1, 0: 1, 1: 0})
    predictions = superglue.read(text, task_datasets["superglue"], source="a")
    assert [p.answers for p in predictions] == [
        (frozenset({0, 2}),),
        (frozenset(),),
        (frozenset({0}),),
    ]


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
def test_malformed_multirc_lines(refused, text, where, field, found_text, expected):
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
    predictions = [
        Prediction(q.id, ((text,),)) for q, text in zip(task_datasets["cloze"], "abc", strict=True)
    ]
    text = '{"idx": 17, "label": "a"}\n{"idx": 18, "label": "b"}\n{"idx": 19, "label": "c"}\n'
    assert superglue.write(task_datasets["cloze"], predictions=predictions) == text
    reread = superglue.read(
        "\n".join(reversed(text.split("\n"))), task_datasets["cloze"], source="a"
    )
    assert [p.answers for p in reread] == [p.answers for p in predictions]


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
def test_malformed_record_lines(refused, text, where, field, found_text, expected):
    refused(
        "superglue", "cloze", text, where=where, field=field, found=found_text, expected=expected
    )


def test_other_datasets_are_refused(task_datasets):
    predictions = [Prediction(q.id, (frozenset(),)) for q in task_datasets["multiple-answer"]]
    facts = {
        "field": "format",
        "found": re.compile(f"^question {task_datasets['multiple-answer'][0].id} "),
    }
    with raises(UsageError, **facts):
        superglue.write(task_datasets["multiple-answer"], predictions=predictions)
    with raises(UsageError, **facts):
        superglue.read("", task_datasets["multiple-answer"], source="a")


def test_the_released_validation_set_round_trips(shared_data):
    dataset = load(shared_data / "multirc" / "superglue" / "val.jsonl")
    gold = [Prediction(q.id, (q.gold,)) for q in dataset]
    text = default_format(dataset).write(dataset, predictions=gold)
    assert [p.answers[0] for p in superglue.read(text, dataset, source="a")] == [
        q.gold for q in dataset
    ]
    with open(shared_data / "multirc" / "superglue" / "val.jsonl", encoding="utf-8") as lines:
        released = [json.loads(row) for row in lines]
    for row in released:
        del row["version"], row["passage"]["text"]
        for question in row["passage"]["questions"]:
            del question["question"]
            for answer in question["answers"]:
                del answer["text"]
    assert [json.loads(row) for row in text.splitlines()] == released
