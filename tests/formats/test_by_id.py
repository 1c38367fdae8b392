"""ReCoRD's and SQuAD's prediction files."""

import json

import pytest

from classic_rc.datasets import load
from classic_rc.formats import get_format
from classic_rc.predictions import Prediction


def test_a_missing_question_has_no_answer(task_datasets):
    predictions = get_format("record").read('{"19": "Wren"}', task_datasets["cloze"], source="a")
    answers = {p.question_id: p.answers for p in predictions}
    assert answers == {"17": (), "18": (), "19": (("Wren",),)}


def test_a_question_without_an_answer_is_not_written(task_datasets):
    predictions = [Prediction("17", ()), Prediction("18", (("Tam",),)), Prediction("19", ())]
    text = get_format("record").write(task_datasets["cloze"], predictions=predictions)
    assert text == '{\n"18": "Tam"\n}\n'


def test_multi_span_answers_are_lists_and_may_be_read_from_a_text(task_datasets):
    text = '{"s0": ["Ines", "Tam"], "s1": "Tam", "s2": []}'
    predictions = get_format("squad").read(text, task_datasets["multi-span"], source="a")
    assert [p.answers for p in predictions] == [(("Ines", "Tam"),), (("Tam",),), ((),)]
    written = get_format("squad").write(task_datasets["multi-span"], predictions=predictions)
    assert json.loads(written) == {"s0": ["Ines", "Tam"], "s1": ["Tam"], "s2": []}


def test_single_span_answers_are_texts(task_datasets):
    predictions = [Prediction(f"s{i}", (("Tam",),)) for i in range(3)]
    written = get_format("squad").write(task_datasets["span"], predictions=predictions)
    assert json.loads(written) == {"s0": "Tam", "s1": "Tam", "s2": "Tam"}


@pytest.mark.parametrize(
    ("format", "shape", "text", "where", "field", "found_text", "expected"),
    [
        (
            "record",
            "cloze",
            '{"5": "Tam"}',
            "$.5",
            None,
            "id '5'",
            "one of 3 entries such as id '17'",
        ),
        ("record", "cloze", '{"17": "Tam", "17": "Wren"}', "$", None, "'17'", "each key once"),
        ("record", "cloze", '{"17": ["Tam"]}', "$.17", None, "a list of 1", "a string"),
        ("record", "cloze", '{"17": null}', "$.17", None, "null", "a string"),
        ("record", "cloze", '["Tam"]', "$", None, "a list of 1", "an object"),
        ("record", "cloze", '{"17": "Tam"', "line 1 column 13", None, "the end of the text", None),
        ("record", "cloze", '{"17": "\\ud83d"}', "$.17", None, r"'\ud83d'", "complete characters"),
        ("squad", "span", '{"s0": ["Tam"]}', "$.s0", None, "a list of 1", "a string"),
        ("squad", "multi-span", '{"s0": ["Tam", 3]}', "$.s0[1]", None, "the number 3", "a string"),
    ],
)
def test_malformed_files_are_refused_with_their_place(
    refused, format, shape, text, where, field, found_text, expected
):
    refused(format, shape, text, where=where, field=field, found=found_text, expected=expected)


@pytest.mark.parametrize(
    ("name", "file", "format"),
    [
        ("record", "record/record_explorer_123.json", "record"),
        ("quoref", "quoref/quoref-dev-v0.1.json", "squad"),
    ],
)
def test_official_predictions_are_read_and_written_again(
    shared_data, shared_golden, name, file, format
):
    dataset, layout = load(shared_data / file), get_format(format)
    golden = (shared_golden / f"{name}_metrics.json").read_text(encoding="utf-8")
    for released in (case["predictions"] for case in json.loads(golden)["cases"]):
        predictions = layout.read(json.dumps(released), dataset, source="a")
        n_missing = sum(not p.answers for p in predictions)
        assert n_missing == len(dataset) - len(released)
        assert json.loads(layout.write(dataset, predictions=predictions)) == released
