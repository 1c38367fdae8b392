"""Recognition of the published dataset that questions are from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classic_rc.datasets import load
from classic_rc.datasets.official import FINGERPRINTS, OfficialPart, match_official_parts
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task


def dataset(
    *stories: str, reader: str | None = "mctest", split: str | None = None, **meta
) -> Dataset:
    options = (Candidate("a"), Candidate("b"))
    questions = [
        Question(
            f"{story},0",
            Passage(story, "Text."),
            "?",
            options,
            frozenset({0}),
            Task.SINGLE_CHOICE,
            meta,
        )
        for story in stories
    ]
    return Dataset(questions, "mine", split, reader)


def test_story_ids_identify_the_dataset_and_split():
    parts = match_official_parts(dataset("mc160.dev.0", "mc500.test.3", "mc160.dev.1"))
    assert [
        (origin, split_data.name, split_data.split, len(split_data)) for origin, split_data in parts
    ] == [
        (OfficialPart("MC160", "dev", False), "mc160.dev", "dev", 2),
        (OfficialPart("MC500", "test", None), "mc500.test", "test", 1),
    ]


def test_a_single_part_is_the_dataset_itself():
    data = dataset("mc500.dev.0")
    ((origin, matched),) = match_official_parts(data)
    assert matched is data
    assert origin == OfficialPart("MC500", "dev", False)


@pytest.mark.parametrize(
    ("reader", "split", "expected"),
    [
        ("race", "dev", OfficialPart("RACE", "dev", False)),
        ("race", "test", OfficialPart("RACE", "test", None)),
        ("record", None, OfficialPart("ReCoRD", None, None)),
        ("squad", "validation", OfficialPart("SQuAD", "dev", None)),
        ("jsonl", "dev", None),
        (None, "dev", None),
    ],
)
def test_the_reader_identifies_the_dataset(reader, split, expected):
    assert match_official_parts(dataset("a", reader=reader, split=split))[0][0] == expected


def test_splits_in_one_source_are_separated():
    train, dev = (dataset(name, reader="race", split=name) for name in ("train", "dev"))
    questions = [
        replace(q, meta={"split": split_data.split})
        for split_data in (train, dev)
        for q in split_data
    ]
    parts = match_official_parts(Dataset(questions, "both", None, "race"))
    names = [(origin.split, split_data.name) for origin, split_data in parts]
    assert names == [("train", "race.train"), ("dev", "race.dev")]


def test_user_stories_have_no_official_dataset():
    assert match_official_parts(dataset("mystory.1"))[0][0] is None


def test_cnn_and_daily_mail_are_separated_by_url():
    question = dataset("a")[0]
    at = {
        url: Passage(url, "Text.", meta={"url": url})
        for url in ("http://web/dailymail.co.uk/x", "http://cnn/x")
    }
    data = Dataset(
        [replace(question, id=url, passage=passage) for url, passage in at.items()],
        "d",
        "test",
        "cnn-dailymail",
    )
    assert [origin.dataset for origin, _ in match_official_parts(data)] == ["Daily Mail", "CNN"]


def test_official_files_are_recognised(shared_data):
    for path, expected in (
        ("mctest/mc160.train.tsv", ("MC160", "train")),
        ("mctest/mc500.dev.tsv", ("MC500", "dev")),
        ("multirc/dev_83-fixedIds.json", ("MultiRC", "dev")),
        ("multirc/superglue/val.jsonl", ("MultiRC", "dev")),
        ("dream/dev.json", ("DREAM", "dev")),
        ("quoref/quoref-dev-v0.1.json", ("Quoref", "dev")),
        ("mcscript/dev-data.xml", ("MCScript", "dev")),
    ):
        data = load(shared_data / path)
        assert match_official_parts(data) == [(OfficialPart(*expected, True), data)]
        assert FINGERPRINTS[data.fingerprint] == expected


def test_a_changed_official_file_is_not_exact(shared_data):
    data = load(shared_data / "mctest" / "mc160.dev.tsv")
    assert match_official_parts(data[1:])[0][0] == OfficialPart("MC160", "dev", False)
