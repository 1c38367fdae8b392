"""RACE's answers by article."""

from __future__ import annotations

import json

import pytest

from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.formats import get_format, read_predictions, write_predictions
from classic_rc.predictions import Prediction
from classic_rc.questions import Dataset
from tests.errors import raises

race = get_format("race")
GOOD = ['{"id": "high7.txt", "answers": ["B", "D"]}', '{"id": "middle12.txt", "answers": ["A"]}']


def chosen(predictions):
    return [next(iter(p.answers[0])) for p in predictions]


def test_articles_may_have_any_order(made):
    for lines in (GOOD, GOOD[::-1], [GOOD[0].replace(".txt", ""), GOOD[1]]):
        assert chosen(race.read("\n".join(lines), made["race"], source="a")) == [1, 3, 0]


def test_a_part_of_the_questions_is_read_from_their_articles(made):
    part = [made["race"][1]]
    assert chosen(race.read("\n".join(GOOD), part, source="a", partial=True)) == [3]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (GOOD[0], {"found": "none for id 'middle12'", "expected": "one for each"}),
        ("\n".join([*GOOD, GOOD[0]]), {"where": "line 3", "found": "id 'high7'", "expected": "one answer"}),
        ("\n".join([*GOOD, '{"id": "x", "answers": []}']), {"found": "id 'x'", "expected": "2 entries"}),
        (
            "\n".join([GOOD[0], GOOD[1].replace('"A"', '"A", "B"')]),
            {"where": "line 2", "found": "2", "expected": "1"},
        ),
        (
            "\n".join([GOOD[0], GOOD[1].replace('"A"', '"E"')]),
            {"field": "answers[0]", "found": "'E'", "expected": "A"},
        ),
        ("\n".join([GOOD[0], GOOD[1].replace('"A"', "0")]), {"found": "the number 0", "expected": "A, B, C, D"}),
    ],
)
def test_other_files_are_refused(refused, text, facts):
    refused("race", "race", text, **facts)


def test_all_questions_of_an_article_must_be_there(made):
    with raises(UsageError, field="format", found="question 1 of high7", expected="question 0"):
        race.write(made["race"][1:], predictions=[Prediction(q.id, (frozenset({0}),)) for q in made["race"][1:]])
    with raises(UsageError, field="format", expected="a dataset read from RACE files"):
        race.read("\n".join(GOOD), made["single-choice"], source="a")


@pytest.mark.ci
def test_the_datasets_own_articles_are_such_rows(shared_data, tmp_path):
    """The fields are those of the dataset, so its own answers, one article a line, score 100."""
    dev = load(shared_data / "race" / "RACE-train-dev.tar.gz", split="dev", subset="middle")
    gold = [Prediction(q.id, (q.gold,)) for q in dev]
    path = tmp_path / "answers.jsonl"
    write_predictions(path, dev, predictions=gold)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == len(dev.passages)
    assert rows[0]["id"] == f"{dev[0].passage.id}.txt"
    assert [p.answers for p in read_predictions(path, dev)] == [(q.gold,) for q in dev]
    assert len(race.write(Dataset(dev[:0]), predictions=[])) == 0
