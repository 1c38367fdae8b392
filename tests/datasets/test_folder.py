"""Folders with several datasets, and files that are not datasets."""

from __future__ import annotations

import json
import os

import pytest

from classic_rc.datasets.folder import list_datasets
from classic_rc.datasets.memory import join_datasets
from classic_rc.datasets.registry import load
from classic_rc.errors import DataError
from tests.errors import raises

ROW = {
    "passage": "Ann saw a cat.",
    "question": "Who saw it?",
    "candidates": ["Ann", "Bob"],
    "gold": 0,
}


@pytest.fixture
def fill(tmp_path):
    """Writes files into a folder: a dataset of one question each, or the given text."""

    def fill_it(*names, **texts):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({**ROW, "question": f"{name}?"}) + "\n", encoding="utf-8")
        for name, text in texts.items():
            (tmp_path / name.replace("__", ".")).write_text(text, encoding="utf-8")
        return str(tmp_path)

    return fill_it


def names_of(content):
    return [[os.path.basename(path) for path in listed.paths] for listed in content.datasets]


def test_a_file_is_a_dataset_and_others_are_named(fill):
    folder = fill(
        "train.jsonl", "dev.jsonl", "test.jsonl", README__md="# about", list__txt="the\na\n"
    )
    content = list_datasets(folder)
    assert names_of(content) == [["dev.jsonl"], ["test.jsonl"], ["train.jsonl"]]
    assert content.others == ("README.md", "list.txt")


@pytest.mark.parametrize(
    ("files", "datasets"),
    [
        (["part-0.jsonl", "part-1.jsonl"], [("part", 2)]),
        (
            ["train-00001-of-00002.jsonl", "train-00002-of-00002.jsonl", "dev.jsonl"],
            [(None, 1), ("train", 2)],
        ),
        (["dev.part1.jsonl", "dev.part2.jsonl"], [("dev", 2)]),
        (["x_1.jsonl", "x_2.jsonl", "x_10.jsonl"], [(None, 1)] * 3),  # a gap: no shards
        (["eval-2018.jsonl", "eval-2019.jsonl"], [(None, 1)] * 2),  # years
        (["mc160.dev.jsonl", "mc500.dev.jsonl"], [(None, 1)] * 2),
        (["v1.jsonl", "v2.jsonl"], [(None, 1)] * 2),
    ],
)
def test_shards_are_files_whose_numbers_are_consecutive(fill, files, datasets):
    listed = list_datasets(fill(*files)).datasets
    assert [(data.name, len(data.paths)) for data in listed] == datasets


def test_shards_are_joined_in_the_order_of_their_numbers(fill):
    folder = fill(*(f"x_{i}.jsonl" for i in range(1, 12)))
    (listed,) = list_datasets(folder).datasets
    assert listed.name == "x"
    joined = join_datasets([load(path) for path in listed.paths])
    assert [question.text for question in joined] == [f"x_{i}.jsonl?" for i in range(1, 12)]


def test_numbered_files_alone_have_the_name_of_the_folder(fill, tmp_path):
    fill("own/1.jsonl", "own/2.jsonl")
    (joined,) = list_datasets(str(tmp_path / "own")).datasets
    assert (joined.name, len(joined.paths)) == ("own", 2)


def test_split_and_subset_choose_files(fill, shared_data):
    folder = fill("train.jsonl", "dev_a.jsonl", "dev_b.jsonl")
    assert names_of(list_datasets(f"{folder},split=validation")) == [
        [f"dev_{name}.jsonl,split=validation"] for name in "ab"
    ]
    with raises(DataError, field="split", expected="'test'"):
        list_datasets(f"{folder},split=test")
    mctest = str(shared_data / "mctest")
    assert names_of(list_datasets(f"{mctest},subset=mc160")) == [
        [f"mc160.{split}.tsv,subset=mc160"] for split in ("dev", "train")
    ]


def test_one_dataset_is_the_folder_itself(fill):
    folder = fill("dev.jsonl", README__md="# about")
    content = list_datasets(folder)
    assert (content.datasets[0].paths, content.others) == ((folder,), ())


def test_a_malformed_file_of_the_same_kind_is_not_left_out(fill):
    folder = fill("dev.jsonl", "train.jsonl", test__jsonl='{"passage": ')
    assert names_of(list_datasets(folder)) == [["dev.jsonl"], ["test.jsonl"], ["train.jsonl"]]


def test_layouts_of_pieces_are_one_dataset(tmp_path, write):
    for name in ("race", "cnn-dailymail"):
        file = write(tmp_path / name, name)
        file.with_stem("8").write_bytes(file.read_bytes())
        folder = str(tmp_path / name)
        assert [data.paths for data in list_datasets(folder).datasets] == [(folder,)]


def test_what_is_in_the_shared_folders(shared_data):
    mctest = list_datasets(str(shared_data / "mctest"))
    assert names_of(mctest) == [
        [f"{name}.tsv"] for name in ("mc160.dev", "mc160.train", "mc500.dev", "mc500.train")
    ]
    assert "stopwords.txt" in mctest.others
    assert not any(name.endswith(".ans") for name in mctest.others)
    assert names_of(list_datasets(str(shared_data / "dream"))) == [["dev.json"], ["train.json"]]
    assert names_of(list_datasets(str(shared_data / "multirc"))) == [
        ["dev_83-fixedIds.json"],
        ["train_456-fixedIds.json"],
    ]


MCTEST_SCORES = "0.5,0.25,0,1\t1,2,3,4\n"


@pytest.mark.parametrize(
    ("name", "text", "description", "command"),
    [
        ("scores.tsv", MCTEST_SCORES, "scores", "classic-rc run DATA -s {}"),
        ("answers.txt", "A\tB\tC\tD\n", "letters", "classic-rc run DATA -s {}"),
        (
            "p.jsonl",
            '{"question_id": "q1", "candidate": 0, "score": 1.5}\n',
            "predictions",
            "run DATA -s {}",
        ),
        ("p.json", '[{"pid": "1", "qid": "2", "scores": [0, 1]}]', "predictions", "run DATA -s {}"),
        ("p.json", '{"q1": "an answer", "q2": "another"}', "predictions", "run DATA -s {}"),
        ("p.json", '{"q1": ["a", "b"], "q2": []}', "predictions", "run DATA -s {}"),
        (
            "p.jsonl",
            '{"idx": 3, "label": "Ann"}\n{"idx": 4, "label": "Bob"}\n',
            "predictions",
            "run DATA -s {}",
        ),
        ("p.jsonl", '{"idx": 0, "passage": {"questions": []}}\n', "predictions", "run DATA -s {}"),
        ("run.json", '{"version": "0.2.0", "runs": []}', "a run record", "classic-rc compare {}"),
        (
            "results_1.json",
            '{"results": {}, "configs": {}, "versions": {}}',
            "a results file",
            "with --log_samples",
        ),
        ("x.ans", "A\tB\tC\tD\n", "MCTest's answers", "x.tsv,answers={}"),
    ],
)
def test_other_files_are_named_with_their_command(tmp_path, name, text, description, command):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load(path)
    assert caught.value.source == str(path)
    assert description in caught.value.found
    assert command.format(path) in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        '{"story": "Ann saw.", "ask": "Who?", "options": ["a", "b"]}\n',
        '{"context": "Ann saw.", "question": "Who?", "answer": "Ann"}',
        "1\tAnn saw.\tWho?\n",
        "text,question\nAnn,Who\n",
        "A new story\n",
    ],
)
def test_data_in_an_unknown_layout_is_not_taken_for_them(tmp_path, text):
    path = tmp_path / "own.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load(path)
    assert caught.value.problem != "not a dataset"


def test_folders_of_an_index_and_a_record_are_named(tmp_path, cli_main):
    index, record = tmp_path / "index", tmp_path / "record"
    assert cli_main("index", "sample:single-choice", "-o", index) == 0
    assert cli_main("run", "sample:single-choice", "-s", "longest", "--save", record) == 0
    model = tmp_path / "model.npz"
    assert cli_main("fit", "sample:single-choice", "-s", "surface-lr", "-o", model) == 0
    for path, description, command in (
        (index, "a search index", f"classic-rc run DATA -s ir,corpus={index}"),
        (record, "a run record", f"classic-rc compare {record / 'run.json'}"),
        (model, "a saved solver", f"classic-rc run DATA -s saved,path={model}"),
    ):
        with pytest.raises(DataError) as caught:
            load(path)
        assert caught.value.found == description
        assert command in caught.value.hint


@pytest.fixture
def cli_main(capsys):
    from classic_rc.cli.main import main

    return lambda *args: main([str(arg) for arg in args])
