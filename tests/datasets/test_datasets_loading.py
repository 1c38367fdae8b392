"""Ways in: paths, folders, names, and what is said of files that nothing recognises."""

from __future__ import annotations

import hashlib
import json
import os
import shlex

import pytest

import classic_rc.datasets
from classic_rc.datasets import READERS, Reader, expand, load
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.io import archives as inputs
from classic_rc.questions import Task


def test_public_names():
    assert set(classic_rc.datasets.__all__) == {"READERS", "Reader", "expand", "from_rows", "load"}
    for name, reader in READERS.items():
        assert isinstance(reader, Reader)
        assert reader.name == name
        assert all((reader.title, reader.description, reader.citation))


def test_sample_names():
    names = expand("sample")
    assert [load(name).task for name in names] == [
        Task.SINGLE_CHOICE,
        Task.MULTIPLE_ANSWER,
        Task.CLOZE,
        Task.MULTI_SPAN,
    ]
    assert [load(name).name for name in names] == names
    assert expand("mc500.dev.tsv") == ["mc500.dev.tsv"]
    with pytest.raises(UsageError, match="unknown sample 'sample:close': did you mean 'sample:cloze'"):
        load("sample:close")
    with pytest.raises(UsageError, match="unknown sample 'sample'"):
        load("sample")


def test_a_path_that_is_not_there(tmp_path):
    (tmp_path / "mc500.dev.tsv").write_text("x", "utf-8")
    with pytest.raises(DataError, match=r"no such file or folder\. Did you mean .*mc500\.dev\.tsv\?") as caught:
        load(tmp_path / "mc500dev.tsv")
    assert caught.value.exit_code == 3
    with pytest.raises(DataError, match=r"There is no folder .*nowhere' either"):
        load(tmp_path / "nowhere" / "a.json")
    with pytest.raises(DataError, match="no such file or folder"):
        load("a\0b")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="everything is readable")
def test_a_file_that_cannot_be_read(tmp_path, write):
    path = write(tmp_path, "jsonl")
    path.chmod(0)
    with pytest.raises(DataError, match="cannot be read"):
        load(path)


def test_readers_by_name(tmp_path, write):
    path = write(tmp_path, "squad")
    assert load(path, reader="squad").fingerprint == load(path, READERS["squad"]).fingerprint
    with pytest.raises(UsageError, match="unknown reader 'sqad': did you mean 'squad'"):
        load(path, reader="sqad")


def test_options_that_mean_nothing(tmp_path, write):
    path = write(tmp_path, "squad")
    for option in ({"subset": "high"}, {"answers": "a"}, {"gold_as": "text"}):
        with pytest.raises(UsageError, match=f"the reader squad has no use for {next(iter(option))}"):
            load(path, **option)
    with pytest.raises(UsageError, match="the reader squad has no use for fields"):
        load(path, "squad", fields="passage=a,question=b")


def test_every_reader_says_what_it_misses_in_a_file_of_another(form, tmp_path, write):
    path = write(tmp_path, form)
    for name, reader in READERS.items():
        if name != form.removesuffix("-line") and (form, name) != ("quoref", "squad"):  # it is SQuAD's form
            with pytest.raises(ClassicRCError):
                load(path, reader)


def test_blank_lines_are_passed_over_and_counted_once(tmp_path, content):
    line = json.dumps(content("arc"))
    (tmp_path / "a.jsonl").write_text(f"\n{line}\n \n{line.replace('arc_1', 'arc_2')}\n\n", "utf-8")
    dataset = load(tmp_path / "a.jsonl")
    assert (len(dataset), dataset.notes) == (2, ("blank lines passed over: 2",))


# --- splits


def test_the_file_name_tells_the_split(tmp_path, write):
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
    with pytest.raises(
        DataError, match=r"val\.json: the source does not hold this split: found val, expected 'test'"
    ):
        load(tmp_path / "val.json", split="test")


def test_a_folder_of_splits(tmp_path, content, write):
    for split in ("train", "dev"):
        value = content("quoref")
        value["data"][0]["paragraphs"][0]["qas"][0]["id"] = split
        write(tmp_path, "quoref", value, name=f"quoref-{split}.json")
    (tmp_path / "LICENSE").write_text("Free.", "utf-8")
    (tmp_path / "._quoref-dev.json").write_bytes(b"\0")
    both = load(tmp_path)
    assert (both.split, [q.meta["split"] for q in both]) == (None, ["dev", "train"])
    assert len(both.passages) == 1
    assert both.notes == (
        "files that macOS leaves behind (._*, .DS_Store, __MACOSX) passed over: 1",
        "other files passed over (LICENSE): 1",
    )
    dev = load(tmp_path, split="dev")
    assert (dev.name, dev.split, [q.id for q in dev]) == ("quoref.dev", "dev", ["dev"])
    assert [source.path for source in dev.sources] == [str(tmp_path / "quoref-dev.json")]


def test_a_broken_file_of_a_folder_is_not_passed_over(tmp_path, write):
    write(tmp_path, "squad", name="train.json")
    (tmp_path / "dev.json").write_text('{"data": [', "utf-8")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8")
    with pytest.raises(DataError, match=r"dev\.json, line 1 column 11: not valid JSON"):
        load(tmp_path)
    (tmp_path / "dev.json").unlink()
    assert "other files passed over (photo.jpg): 1" in load(tmp_path).notes


def test_ids_are_unique_over_the_files_of_a_folder(tmp_path, write):
    write(tmp_path, "squad", name="train.json")
    write(tmp_path, "squad", name="dev.json")
    with pytest.raises(
        DataError, match=r"train\.json, question s1: two questions have one id: found another in .*dev"
    ):
        load(tmp_path)


def test_a_folder_of_ones_own_files(tmp_path):
    for split in ("train", "dev"):
        row = {"id": split, "text": "T", "ask": "Q", "options": ["a", "b"], "key": "B"}
        (tmp_path / f"{split}.jsonl").write_text(json.dumps(row), "utf-8")
    dataset = load(tmp_path, fields="id=id,passage=text,question=ask,candidates=options,gold=key", split="dev")
    assert ([q.id for q in dataset], dataset[0].gold) == (["dev"], {1})


def test_folders_without_data(tmp_path, write):
    with pytest.raises(DataError, match="the folder holds no file"):
        load(tmp_path)
    (tmp_path / "notes.txt").write_text("some notes", "utf-8")
    with pytest.raises(DataError, match=r"no reader recognises a file in it: found notes\.txt"):
        load(tmp_path)
    with pytest.raises(DataError, match="no file in it is of the format dream: expected DREAM"):
        load(tmp_path, reader="dream")
    with pytest.raises(DataError, match="no article of RACE in it"):
        load(tmp_path, reader="race")


def test_folders_without_end(tmp_path, monkeypatch):
    deep = tmp_path.joinpath(*"abcdefghij")
    deep.mkdir(parents=True)
    with pytest.raises(DataError, match="folders nested too deeply: expected at most 8"):
        load(tmp_path)
    monkeypatch.setattr(inputs, "MAX_FILES", 2)
    for i in range(3):
        (deep / f"{i}.json").write_text("{}", "utf-8")
    with pytest.raises(DataError, match="more than 2 files"):
        load(deep)


def test_race_in_folders(tmp_path, content, write):
    for level, number in [("high", 2), ("high", 10), ("middle", 1)]:
        value = content("race") | {"id": f"{level}{number}.txt"}
        write(tmp_path / "RACE" / "test", "race", value, name=f"{level}/{number}.txt")
    (tmp_path / "RACE" / "readme").write_text("RACE", "utf-8")
    whole = load(tmp_path)
    assert [passage.id for passage in whole.passages] == ["high2", "high10", "middle1"]
    assert (whole.name, whole.split) == ("race.test", "test")
    assert whole.notes == ("other files passed over (readme): 1",)
    high = load(tmp_path / "RACE", subset="high")
    assert high.name == "race.test.high"
    assert high.fingerprint == load(tmp_path / "RACE" / "test" / "high").fingerprint
    with pytest.raises(DataError, match="does not hold this split: found test, expected 'dev'"):
        load(tmp_path, split="dev")
    os.rename(tmp_path / "RACE" / "test" / "high" / "2.txt", tmp_path / "RACE" / "test" / "middle" / "2.txt")
    with pytest.raises(DataError, match=r"2\.txt, \$, field 'id': .* found 'high2\.txt', expected 'middle2\.txt'"):
        load(tmp_path)


def test_race_is_recognised_behind_a_readme(tmp_path, write):
    write(tmp_path / "RACE" / "dev", "race")
    (tmp_path / "README.md").write_text("hello", "utf-8")
    assert load(tmp_path).reader == "race"


def test_provenance_is_of_the_stored_bytes(tmp_path, write):
    path = write(tmp_path, "squad")
    (source,) = load(path).sources
    assert (source.path, source.sha256) == (str(path), hashlib.sha256(path.read_bytes()).hexdigest())


def test_provenance_of_very_many_files_is_one_digest(tmp_path, content, write):
    for number in range(70):
        write(tmp_path / "dev", "race", content("race") | {"id": f"high{number}.txt"}, name=f"high/{number}.txt")
    (first,) = load(tmp_path).sources
    assert first.path == str(tmp_path)
    (tmp_path / "dev").rename(tmp_path / "test")
    assert load(tmp_path).sources[0].sha256 != first.sha256


# --- files that nothing recognises


@pytest.mark.parametrize(
    ("row", "fields", "gold_as"),
    [
        (
            {"context": "Ann sang.", "q": {"text": "Who?"}, "choices": ["Bob", "Ann"], "label": 1},
            "passage=context,question=q.text,candidates=choices,gold=label",
            "index0",
        ),
        (
            {"article": "Ann sang.", "query": "Who?", "options": [{"text": "Bob"}, {"text": "Ann"}], "answer": "B"},
            "passage=article,question=query,candidates=options.text,gold=answer",
            "letter",
        ),
        (
            {"idx": 3, "a": "Ann sang all day.", "b": "Who sang?", "c": ["Bob", "Ann"], "answerKey": "2"},
            "passage=a,question=b,candidates=c,gold=answerKey",
            "index1",
        ),
        (
            {"id": "x", "story": "S", "question": "Q", "options": ["u", "v"], "correct_answer": "v"},
            "passage=story,question=question,candidates=options,gold=correct_answer,id=id",
            "text",
        ),
        (
            {"text": "T", "question": "Q", "answers": ["u", "v"], "labels": [0, 1], "label": [0, 1]},
            "passage=text,question=question,candidates=answers,gold=label",
            "index0",
        ),
        (
            {"text": "T", "question": "Q", "option_a": "u", "option_b": "v", "option_c": "w", "answer": "C"},
            "passage=text,question=question,candidates=option_a+option_b+option_c,gold=answer",
            "letter",
        ),
    ],
)
@pytest.mark.parametrize("name", ["rows.jsonl", "my rows.json"])
def test_the_proposed_command_reads_the_file(tmp_path, row, fields, gold_as, name):
    path = tmp_path / name
    path.write_text(json.dumps([row] if name.endswith(".json") else row), "utf-8")
    with pytest.raises(DataError, match="no reader recognises it: found rows with ") as caught:
        load(path)
    assert caught.value.exit_code == 3
    command = caught.value.hint.partition("classic-rc run ")[2]
    assert shlex.split(command) == [str(path), "--fields", fields, "--gold-as", gold_as]
    assert len(load(path, fields=fields, gold_as=gold_as)) == 1


def test_a_foreign_table_is_told_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("story,ask,A,B,answer\nOnce.,Who?,x,y,B\n", "utf-8")
    with pytest.raises(DataError, match="found rows with story, ask, A, B, answer") as caught:
        load(path)
    assert "--fields passage=story,question=ask,candidates=A+B,gold=answer --gold-as letter" in caught.value.hint


@pytest.mark.parametrize("text", ["hello", "[]", "{}", "[1, 2]", '{"data": []}', "<html></html>", '"text"', "7"])
def test_what_is_no_data_at_all(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"no reader recognises it: found .*, expected a format of mctest, race, "):
        load(path)
