"""Reading a source: splits, folders, provenance, and options that do not apply."""

from __future__ import annotations

import hashlib
import json
import os
import re

from classic_rc.datasets import load
from classic_rc.errors import DataError, UsageError
from classic_rc.io import files
from tests.errors import raises


def test_unsupported_options_are_refused(tmp_path, write):
    path = write(tmp_path, "squad")
    for option in ({"subset": "high"}, {"answers": "a"}, {"gold_as": "text"}):
        ((field, value),) = option.items()
        with raises(UsageError, field=field, found=value, expected="one of split") as caught:
            load(path, **option)
        assert "squad" in str(caught.value)
    with raises(UsageError, field="fields"):
        load(path, "squad", fields="passage=a,question=b")


def test_blank_lines_are_skipped_and_counted_once(tmp_path, content):
    line = json.dumps(content("arc"))
    (tmp_path / "a.jsonl").write_text(f"\n{line}\n \n{line.replace('arc_1', 'arc_2')}\n\n", "utf-8")
    dataset = load(tmp_path / "a.jsonl")
    assert (len(dataset), dataset.notes) == (2, ("blank lines skipped: 2",))


def test_the_split_comes_from_the_file_name(tmp_path, write):
    for name, split in [
        ("train-data.json", "train"),
        ("q-dev-v0.1.json", "dev"),
        ("val.json", "val"),
        ("a.json", None),
    ]:
        path = write(tmp_path, "squad", name=name)
        assert load(path).split == split
        assert load(path, split=split).split == split
    assert load(tmp_path / "a.json", split="dev").split == "dev"
    assert load(tmp_path / "val.json", split="validation").split == "val"
    with raises(
        DataError, source=str(tmp_path / "val.json"), field="split", found="val", expected="'test'"
    ):
        load(tmp_path / "val.json", split="test")


def test_a_folder_of_splits_is_read_whole_or_by_split(tmp_path, content, write):
    for split in ("train", "dev"):
        value = content("quoref")
        value["data"][0]["paragraphs"][0]["qas"][0]["id"] = split
        write(tmp_path, "quoref", value, name=f"quoref-{split}.json")
    (tmp_path / "LICENSE").write_text("Free.", "utf-8")
    (tmp_path / "._quoref-dev.json").write_bytes(b"\0")
    dataset = load(tmp_path)
    assert (dataset.split, [q.meta["split"] for q in dataset]) == (None, ["dev", "train"])
    assert len(dataset.passages) == 1
    assert dataset.notes == (
        "macOS metadata files skipped (._*, .DS_Store, __MACOSX): 1",
        "other files skipped (LICENSE): 1",
    )
    dev = load(tmp_path, split="dev")
    assert (dev.name, dev.split, [q.id for q in dev]) == ("quoref.dev", "dev", ["dev"])
    assert [source.path for source in dev.sources] == [str(tmp_path / "quoref-dev.json")]


def test_a_broken_data_file_in_a_folder_is_an_error(tmp_path, write):
    write(tmp_path, "squad", name="train.json")
    (tmp_path / "dev.json").write_text('{"data": [', "utf-8")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    with raises(DataError, source=str(tmp_path / "dev.json"), where="line 1 column 11"):
        load(tmp_path)
    (tmp_path / "dev.json").unlink()
    assert "other files skipped (photo.jpg): 1" in load(tmp_path).notes


def test_ids_are_unique_over_the_files_of_a_folder(tmp_path, write):
    write(tmp_path, "squad", name="train.json")
    write(tmp_path, "squad", name="dev.json")
    facts = {
        "where": re.compile("question s1$"),
        "found": re.compile("dev.json"),
        "expected": "unique ids",
    }
    with raises(DataError, source=str(tmp_path / "train.json"), **facts):
        load(tmp_path)


def test_a_folder_of_user_files(tmp_path):
    for split in ("train", "dev"):
        row = {"id": split, "text": "T", "ask": "Q", "options": ["a", "b"], "key": "B"}
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(row), "utf-8")
    dataset = load(
        tmp_path, fields="id=id,passage=text,question=ask,candidates=options,gold=key", split="dev"
    )
    assert ([q.id for q in dataset], dataset[0].gold) == (["dev"], {1})


def test_folders_without_data_are_refused(tmp_path, write):
    with raises(DataError, source=str(tmp_path), problem="the folder has no files"):
        load(tmp_path)
    (tmp_path / "notes.txt").write_text("some notes", "utf-8")
    with raises(DataError, source=str(tmp_path), found="notes.txt"):
        load(tmp_path)
    with raises(DataError, source=str(tmp_path), expected="files of DREAM"):
        load(tmp_path, reader="dream")
    with raises(DataError, source=str(tmp_path), expected=re.compile("train/middle/1.txt")):
        load(tmp_path, reader="race")


def test_folders_with_too_many_levels_or_files_are_refused(tmp_path, monkeypatch):
    deep = tmp_path.joinpath(*"abcdefghij")
    deep.mkdir(parents=True)
    with raises(DataError, expected="at most 8 levels"):
        load(tmp_path)
    monkeypatch.setattr(files, "MAX_FILES", 2)
    for i in range(3):
        (deep / f"{i}.json").write_text("{}", "utf-8")
    with raises(DataError, source=str(deep), found="more than 2", expected="at most 2"):
        load(deep)


def test_race_in_folders_is_read_by_split_and_level(tmp_path, content, write):
    for level, number in [("high", 2), ("high", 10), ("middle", 1)]:
        value = content("race") | {"id": f"{level}{number}.txt"}
        write(tmp_path / "RACE" / "test", "race", value, name=f"{level}/{number}.txt")
    (tmp_path / "RACE" / "readme").write_text("RACE", "utf-8")
    dataset = load(tmp_path)
    assert [passage.id for passage in dataset.passages] == ["high2", "high10", "middle1"]
    assert (dataset.name, dataset.split) == ("race.test", "test")
    assert dataset.notes == ("other files skipped (readme): 1",)
    high = load(tmp_path / "RACE", subset="high")
    assert high.name == "race.test.high"
    assert high.fingerprint == load(tmp_path / "RACE" / "test" / "high").fingerprint
    with raises(DataError, source=str(tmp_path), field="split", found="test", expected="'dev'"):
        load(tmp_path, split="dev")
    folder = tmp_path / "RACE" / "test"
    os.rename(folder / "high" / "2.txt", folder / "middle" / "2.txt")
    moved = str(tmp_path / "RACE" / "test" / "middle" / "2.txt")
    with raises(
        DataError,
        source=moved,
        where="$",
        field="id",
        found="'high2.txt'",
        expected="'middle2.txt'",
    ):
        load(tmp_path)


def test_race_is_recognised_next_to_a_readme(tmp_path, write):
    write(tmp_path / "RACE" / "dev", "race")
    (tmp_path / "README.md").write_text("hello", "utf-8")
    assert load(tmp_path).reader == "race"


def test_provenance_hashes_the_stored_bytes(tmp_path, write):
    path = write(tmp_path, "squad")
    (source,) = load(path).sources
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (source.path, source.sha256) == (str(path), digest)


def test_provenance_of_very_many_files_is_one_digest(tmp_path, content, write):
    for number in range(70):
        write(
            tmp_path / "dev",
            "race",
            content("race") | {"id": f"high{number}.txt"},
            name=f"high/{number}.txt",
        )
    (first,) = load(tmp_path).sources
    assert first.path == str(tmp_path)
    (tmp_path / "dev").rename(tmp_path / "test")
    assert load(tmp_path).sources[0].sha256 != first.sha256


def test_an_id_of_different_questions_becomes_unique_and_a_repeated_question_is_refused(tmp_path):
    row = {"id": "a", "passage": "P", "question": "Q", "candidates": ["x", "y"], "gold": 0}
    rows = [
        row,
        {**row, "question": "R"},
        {**row, "id": "a (2)"},
        {**row, "candidates": ["x", "z"]},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    dataset = load(path)
    assert [question.id for question in dataset] == ["a", "a (2)", "a (2) (2)", "a (3)"]
    assert any(
        note.startswith("question ids that an earlier") and note.endswith(": 3")
        for note in dataset.notes
    )
    assert load(path, skip="bad").fingerprint == dataset.fingerprint
    path.write_text("\n".join(map(json.dumps, [row, {**row, "gold": 1}])), "utf-8")
    with raises(DataError, where="line 2, question a", expected="unique ids"):
        load(path)
