"""ReCoRD's and SQuAD's prediction files."""

import json

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from classic_rc.formats import get_format
from classic_rc.predictions import Prediction


def test_a_question_left_out_has_no_answer(made):
    predictions = get_format("record").read('{"19": "Wren"}', made["cloze"], source="a")
    assert [(p.question_id, p.answers) for p in predictions] == [("17", ()), ("18", ()), ("19", (("Wren",),))]


def test_an_answer_that_is_not_there_is_left_out(made):
    predictions = [Prediction("17", ()), Prediction("18", (("Tam",),)), Prediction("19", ())]
    assert get_format("record").write(made["cloze"], predictions=predictions) == '{\n"18": "Tam"\n}\n'


def test_multi_span_answers_are_lists_and_may_be_read_from_a_text(made):
    text = '{"s0": ["Ines", "Tam"], "s1": "Tam", "s2": []}'
    predictions = get_format("squad").read(text, made["multi-span"], source="a")
    assert [p.answers for p in predictions] == [(("Ines", "Tam"),), (("Tam",),), ((),)]
    written = get_format("squad").write(made["multi-span"], predictions=predictions)
    assert json.loads(written) == {"s0": ["Ines", "Tam"], "s1": ["Tam"], "s2": []}


def test_single_span_answers_are_texts(made):
    predictions = [Prediction(f"s{i}", (("Tam",),)) for i in range(3)]
    written = get_format("squad").write(made["span"], predictions=predictions)
    assert json.loads(written) == {"s0": "Tam", "s1": "Tam", "s2": "Tam"}


@pytest.mark.parametrize(
    ("format", "shape", "text", "message"),
    [
        ("record", "cloze", '{"5": "Tam"}', "answers.txt, $.5: nothing of this name is asked: found id '5'"),
        ("record", "cloze", '{"17": "Tam", "17": "Wren"}', "a key stands twice in one object: found '17'"),
        ("record", "cloze", '{"17": ["Tam"]}', "$.17: not an answer: found a list of 1, expected a string"),
        ("record", "cloze", '{"17": null}', "$.17: not an answer: found null"),
        ("record", "cloze", '["Tam"]', "$: wrong type: found a list of 1, expected an object"),
        ("record", "cloze", '{"17": "Tam"', "not valid JSON"),
        ("record", "cloze", '{"17": "\\ud83d"}', "half of a surrogate pair"),
        ("squad", "span", '{"s0": ["Tam"]}', "$.s0: not an answer: found a list of 1, expected a string"),
        ("squad", "multi-span", '{"s0": ["Tam", 3]}', "$.s0[1]: not an answer: found the number 3"),
    ],
)
def test_malformed_files_are_one_error_with_its_place(fails, format, shape, text, message):
    assert message in fails(DataError, format, shape, text)


@pytest.mark.parametrize(
    ("name", "file", "format"),
    [("record", "record/record_explorer_123.json", "record"), ("quoref", "quoref/quoref-dev-v0.1.json", "squad")],
)
def test_official_predictions_are_read_and_written_again(shared_data, shared_golden, name, file, format):
    dataset = load(shared_data / file)
    cases = json.loads((shared_golden / f"{name}_metrics.json").read_text(encoding="utf-8"))["cases"]
    for case in cases:
        predictions = get_format(format).read(json.dumps(case["predictions"]), dataset, source="a")
        assert sum(not p.answers for p in predictions) == len(dataset) - len(case["predictions"])
        assert json.loads(get_format(format).write(dataset, predictions=predictions)) == case["predictions"]
