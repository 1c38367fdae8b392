import json
from dataclasses import replace

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.formats import get_format, read_predictions
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset
from tests.errors import raises
from tests.formats.builders import select, selected

multirc = get_format("multirc")

ENTRIES = [
    {"pid": "news/two.txt", "qid": 0, "scores": [1]},
    {"pid": "news/one.txt", "qid": "1", "scores": [0, 1.0]},
    {"pid": "news/one.txt", "qid": "0", "scores": [1, 0, 1]},
]


def changed(index, **fields):
    entries = list(ENTRIES)
    entries[index] = entries[index] | fields
    return json.dumps(entries)


def test_zeros_and_ones_are_decisions_matched_by_id(task_datasets):
    predictions = multirc.read(json.dumps(ENTRIES), task_datasets["multiple-answer"], source="a")
    assert selected(predictions) == [{0, 2}, {1}, {0}]
    assert [p.n_candidates for p in predictions] == [3, 2, 1]


def test_any_other_number_makes_them_scores(task_datasets):
    scores = multirc.read(changed(0, scores=[0.5]), task_datasets["multiple-answer"], source="a")
    assert [row.tolist() for row in scores] == [[1, 0, 1], [0, 1], [0.5]]


def test_raw_scores_are_preferred_to_decisions(task_datasets):
    dataset = task_datasets["multiple-answer"]
    decisions = select(dataset, {0})
    scores = Scores.from_lists([[0.5, 2, -1], [0, 0], [1]])
    expected = '[\n{"pid": "news/one.txt", "qid": "0", "scores": [0.5, 2.0, -1.0]},\n'
    assert multirc.write(dataset, scores, decisions).startswith(expected)
    expected = '[\n{"pid": "news/one.txt", "qid": "0", "scores": [1, 0, 0]},\n'
    assert multirc.write(dataset, predictions=decisions).startswith(expected)


def test_other_datasets_questions_are_named_by_their_ids(task_datasets):
    plain = Dataset([replace(q, meta={}) for q in task_datasets["multiple-answer"]])
    text = multirc.write(plain, predictions=select(plain, ()))
    assert json.loads(text)[2] == {"pid": "news/two.txt", "qid": "news/two.txt==0", "scores": [0]}


@pytest.mark.parametrize(
    ("text", "where", "field", "found_text", "expected"),
    [
        (
            json.dumps(ENTRIES[1:]),
            None,
            None,
            "none for pid 'news/two.txt', qid '0'",
            "one for each",
        ),
        (
            json.dumps([*ENTRIES, ENTRIES[1]]),
            "$[3]",
            None,
            "pid 'news/one.txt', qid '1'",
            "one answer (the first",
        ),
        (
            changed(1, qid="9"),
            "$[1]",
            None,
            "pid 'news/one.txt', qid '9'",
            "one of 3 entries such as pid",
        ),
        (changed(1, scores=[1]), "$[1]", "scores", "1", "2, one for each option"),
        (changed(1, scores=[1, "1"]), "$[1].scores", "[1]", "'1'", "a finite number"),
        (
            changed(1, scores=[0, 10**400]),
            "$[1].scores",
            "[1]",
            "a number with over 18 digits",
            "a finite number",
        ),
        (
            changed(1, scores=[0, float("nan")]),
            "$[1].scores[1]",
            None,
            "NaN",
            "a finite number or null",
        ),
        (json.dumps([*ENTRIES[:2], 7]), "$[2]", None, "the number 7", "an object"),
        (json.dumps({"entries": ENTRIES}), "$", None, "an object with entries", "a list"),
    ],
)
def test_malformed_files_are_refused_with_their_place(
    refused, text, where, field, found_text, expected
):
    refused(
        "multirc",
        "multiple-answer",
        text,
        where=where,
        field=field,
        found=found_text,
        expected=expected,
    )


def test_duplicate_ids_are_refused(task_datasets):
    question = task_datasets["multiple-answer"][0]
    twins = Dataset([question, replace(question, id="other")])
    with raises(UsageError, field="pid, qid", found="pid 'news/one.txt', qid '0'"):
        multirc.read("[]", twins, source="a")


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("human-01.json", list),
        ("lucene_paragraphs.json", list),
        ("simpleLR.json", list),
        ("allOnes.json", list),
        ("raw/lucene_paragraphs-raw.json", Scores),
        ("raw/simpleLR-raw.json", Scores),
    ],
)
def test_released_files_are_read_and_written_again(shared_data, tmp_path, file, kind):
    dataset = load(shared_data / "multirc" / "dev_83-fixedIds.json")
    path = shared_data / "multirc" / "baseline-scores" / file
    content = read_predictions(path, dataset)
    assert isinstance(content, kind)
    arguments = {"scores" if kind is Scores else "predictions": content}
    written = json.loads(multirc.write(dataset, **arguments))
    released = json.loads(path.read_text(encoding="utf-8"))

    def by_id(entries):
        return {(entry["pid"], str(entry["qid"])): entry["scores"] for entry in entries}

    assert by_id(written) == by_id(released)
