"""The registry of readers: one line each, imported on first use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from classic_rc.datasets import READERS, expand_sample_names, load
from classic_rc.datasets.registry import read_to_learn
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.questions import Task
from tests.errors import raises

MODULES = {type(reader).__module__.rpartition(".")[2] for reader in READERS.own.values()}
"""The modules of our readers."""

_SAME_FORM = {
    *(("quoref", "squad"), ("c3", "dream"), ("dream", "c3")),
    *((form, "huggingface") for form in ("quail-line", "logiqa2", "boolq", "belebele")),
}
"""Files, and readers of other datasets that can read them because the datasets share a form."""


def imported(code: str) -> set[str]:
    """The modules of readers that a fresh process has imported after some code."""
    code = f"import sys\nfrom classic_rc.datasets.registry import *\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {
        name.rpartition(".")[2]
        for name in done.stdout.split()
        if name.startswith("classic_rc.datasets.")
    } & MODULES


@pytest.mark.ci
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("'race' in READERS, len(READERS.package_of('race') or '')", set()),
        ("load('sample:cloze')", {"own_files"}),
        ("load(SAMPLES['sample:cloze'])", MODULES),
    ],
)
def test_only_the_readers_that_are_used_are_imported(code, expected):
    assert imported(code) == expected


def test_sample_names_stand_for_one_dataset_a_task():
    names = expand_sample_names("sample")
    tasks = [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE, Task.MULTI_SPAN]
    assert [load(name).task for name in names] == tasks
    assert [load(name).name for name in names] == names
    assert expand_sample_names("mc500.dev.tsv") == ["mc500.dev.tsv"]
    with raises(
        UsageError, field="sample", found="sample:close", expected=re.compile("^sample:cloze")
    ):
        load("sample:close")
    with raises(UsageError, field="sample", found="sample"):
        load("sample")
    with raises(UsageError, field="gold_as", found="letter"):
        load("sample:cloze", gold_as="letter")


def test_a_missing_path_is_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "mc500.dev.tsv").write_text("x", "utf-8")
    path = tmp_path / "mc500dev.tsv"
    with raises(DataError, source=str(path), hint=re.compile(r"mc500\.dev\.tsv\?$")) as caught:
        load(path)
    assert caught.value.exit_code == 3
    path = tmp_path / "nowhere" / "a.json"
    with raises(DataError, source=str(path), hint=re.compile("nowhere' does not exist")):
        load(path)
    with raises(DataError, source="a\0b", problem=re.compile("no such file")):
        load("a\0b")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="everything is readable")
def test_a_file_that_cannot_be_read(tmp_path, write):
    path = write(tmp_path, "jsonl")
    path.chmod(0)
    with raises(DataError, source=str(path), problem=re.compile("cannot be read")):
        load(path)


def test_readers_are_chosen_by_name(tmp_path, write):
    path = write(tmp_path, "squad")
    assert load(path, reader="squad").fingerprint == load(path, READERS["squad"]).fingerprint
    with raises(UsageError, field="reader", found="sqad", expected=re.compile("^squad")):
        load(path, reader="sqad")


def test_every_reader_refuses_the_files_of_others(form, tmp_path, write):
    path = write(tmp_path, form)
    for name, reader in READERS.items():
        if name != form.removesuffix("-line") and (form, name) not in _SAME_FORM:
            with pytest.raises(ClassicRCError):
                load(path, reader)


@pytest.mark.parametrize(
    "text", ["hello", "[]", "{}", "[1, 2]", '{"data": []}', "<html></html>", '"text"', "7"]
)
def test_unknown_formats_are_refused(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8")
    with raises(DataError, source=str(path), expected=re.compile("mctest, race, ")):
        load(path)


_MINE = {"text": "It rained.", "ask": "Did it?", "options": ["no", "yes"], "key": "B"}
_OWN = {"passage": "It rained.", "question": "Did it?", "candidates": ["no", "yes"], "gold": 1}
_FIELDS = "passage=text,question=ask,candidates=options,gold=key"


def _one(path, row):
    path.write_text(json.dumps(row), "utf-8")
    return str(path)


def test_data_to_learn_from_is_read_in_its_own_format(tmp_path):
    reading = {"fields": _FIELDS, "gold_as": "letter"}
    own_data, mine = _one(tmp_path / "own.jsonl", _OWN), _one(tmp_path / "mine.jsonl", _MINE)
    data = [
        read_to_learn(path, options)
        for path, options in (
            (own_data, reading),
            (own_data, {"gold_as": "index0"}),
            (mine, reading),
            (f"{mine},fields={_FIELDS}", {}),
            (f"{mine},fields={_FIELDS}", {"fields": "passage=a,question=b"}),
        )
    ]
    assert [sorted(dataset[0].gold) for dataset in data] == [[1]] * 5


def test_data_to_learn_from_that_nothing_reads_has_its_own_error(tmp_path):
    path = _one(tmp_path / "bad.jsonl", {**_OWN, "gold": 7})
    with raises(DataError, source=path, field="gold"):
        read_to_learn(path, {"fields": _FIELDS})
    path = _one(tmp_path / "mine.jsonl", {**_MINE, "ask": 7})
    with raises(DataError, source=path, field="ask"):
        read_to_learn(path, {"fields": _FIELDS})
