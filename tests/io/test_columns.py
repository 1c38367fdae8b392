"""Parquet and Arrow files as rows: types, missing values, labels, batches, shards and damage."""

from __future__ import annotations

import datetime
import decimal
import json
import re
import sys
import tarfile
from importlib.util import find_spec

import pytest

from classic_rc.datasets import load
from classic_rc.datasets.reading import content_of
from classic_rc.errors import DataError, MissingPackageError
from classic_rc.io.columns import ColumnarRows, find_shards, join_shards
from classic_rc.io.files import column_format
from tests.datasets.conftest import BELEBELE, BOOLQ, QUAIL, ROW
from tests.errors import raises

needs_arrow = pytest.mark.skipif(
    find_spec("pyarrow") is None, reason="pyarrow is missing: pip install '.[hf]'"
)
FIELDS = "passage=ctx,question=ask.text,candidates=opts,gold=label"


def _rows(n=6):
    return [
        {
            "ctx": "Ann met Bob.",
            "ask": {"text": f"Who met {i}?"},
            "opts": ["Ann", "Eve", "Bob"],
            "label": i % 3,
        }
        for i in range(n)
    ]


def _table(rows, names=None):
    import pyarrow as pa

    table = pa.Table.from_pylist(rows)
    if names is None:
        return table
    features = {"label": {"names": names, "_type": "ClassLabel"}}
    return table.replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": features}})}
    )


def _write(path, table):
    import pyarrow as pa
    from pyarrow import feather, parquet

    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".feather":
        feather.write_feather(table, str(path), compression="uncompressed")
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return path


def _read(path):
    return list(ColumnarRows(str(path), (str(path),)).rows())


def test_shards_are_joined_only_if_all_are_there():
    names = [f"data/train-0000{i}-of-00003.parquet" for i in (2, 0, 1)]
    assert join_shards(names) == {"data/train-*-of-00003.parquet": tuple(sorted(names))}
    assert join_shards(names[:2]) == {}
    assert find_shards("train.parquet") is None


def test_without_pyarrow_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1 and more")
    with raises(MissingPackageError, package="pyarrow", extra="hf"):
        load(path)


@needs_arrow
@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.arrow", "named-wrongly.json"])
def test_all_formats_have_the_same_questions(tmp_path, name):
    path = _write(tmp_path / name, _table(_rows()))
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(_rows()), "utf-8")
    dataset = load(path, fields=FIELDS)
    assert dataset.fingerprint == load(plain, fields=FIELDS).fingerprint
    assert [sorted(question.gold) for question in dataset] == [[0], [1], [2]] * 2
    assert column_format(path.read_bytes()[:8])


@needs_arrow
def test_unknown_columns_get_a_command(tmp_path):
    path = _write(tmp_path / "x.parquet", _table(_rows()))
    with raises(
        DataError, found=re.compile(r"^rows with ctx \(.*, ask\.text \(.*, opts \(.*, label \(")
    ) as caught:
        load(path)
    assert "--fields" in caught.value.hint
    assert "gold=label" in caught.value.hint


@needs_arrow
def test_values_are_plain(tmp_path):
    import pyarrow as pa

    kinds = {
        "day": pa.array([datetime.date(2020, 1, 2), None]),
        "price": pa.array([decimal.Decimal("1.50"), None]),
        "share": pa.array([float("nan"), 0.5]),
        "word": pa.array(["a", "b"]).dictionary_encode(),
        "pairs": pa.array([[("k", 1.0)], None], pa.map_(pa.string(), pa.float64())),
        "nested": pa.array([[{"x": float("nan"), "y": "z"}], []]),
    }
    path = _write(tmp_path / "x.parquet", pa.table(kinds))
    assert _read(path) == [
        {"day": "2020-01-02", "price": "1.50", "share": None, "word": "a", "pairs": {"k": 1.0}}
        | {"nested": [{"x": None, "y": "z"}]},
        {"day": None, "price": None, "share": 0.5, "word": "b", "pairs": None, "nested": []},
    ]


@needs_arrow
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["no", "yes", "maybe"], ["no", "yes", None]),
        (["A", "B", "C"], ["A", "B", None]),
        (["1", "2", "3"], ["1", "2", None]),
        (["0", "1", "2"], [0, 1, -1]),
        (["False", "True"], [0, 1, -1]),
        (["True", "False"], ["True", "False", None]),
        (["option_a", "option_b", "option_c"], [0, 1, -1]),
        (["opt1", "opt2", "opt3"], [0, 1, -1]),
    ],
)
def test_labels_are_names_unless_the_names_only_count(tmp_path, names, expected):
    path = _write(
        tmp_path / "x.parquet", _table([{"label": 0}, {"label": 1}, {"label": -1}], names)
    )
    assert [row["label"] for row in _read(path)] == expected


@needs_arrow
def test_labels_in_another_order_than_the_candidates(tmp_path):
    rows = [{"ctx": "It rained.", "q": f"Did it {i}?", "label": i % 2} for i in range(4)]
    path = _write(tmp_path / "x.parquet", _table(rows, ["yes", "no"]))
    dataset = load(path, fields="passage=ctx,question=q,candidates=const:no|yes,gold=label")
    assert [question.gold_texts for question in dataset] == [("yes",), ("no",)] * 2


@needs_arrow
def test_columns_of_bytes_are_left_out_with_a_note(tmp_path):
    rows = [{**row, "image": {"bytes": b"\x89PNG", "path": "a.png"}} for row in _rows()]
    dataset = load(_write(tmp_path / "x.parquet", _table(rows)), fields=FIELDS)
    assert "image" not in dataset[0].meta
    assert any("image" in note for note in dataset.notes)


@needs_arrow
@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.arrow"])
def test_a_truncated_file_is_an_error(tmp_path, name):
    path = _write(tmp_path / name, _table(_rows(2000)))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with raises(DataError, source=str(path), problem="the file is damaged or incomplete"):
        load(path, fields=FIELDS)


@needs_arrow
def test_a_file_without_rows_is_an_error(tmp_path):
    path = _write(tmp_path / "x.parquet", _table(_rows()).slice(0, 0))
    with raises(DataError, source=str(path), problem="no rows"):
        load(path)


@needs_arrow
def test_shards_are_the_whole_dataset(tmp_path):
    table = _table(_rows())
    unsharded = load(_write(tmp_path / "whole.parquet", table), fields=FIELDS)
    folder = tmp_path / "repo" / "data"
    folder.mkdir(parents=True)
    for i in range(2):
        _write(folder / f"train-0000{i}-of-00002.parquet", table.slice(3 * i, 3))
    _write(folder / "validation-00000-of-00001.parquet", table.slice(0, 2))
    train = load(tmp_path / "repo", fields=FIELDS, split="train")
    assert (train.fingerprint, train.split, len(train.passages)) == (
        unsharded.fingerprint,
        "train",
        1,
    )
    matching_shards = load(folder / "train-*-of-00002.parquet", fields=FIELDS)
    assert (matching_shards.fingerprint, matching_shards.name) == (unsharded.fingerprint, "train")
    assert len(load(tmp_path / "repo", fields=FIELDS, split="dev")) == 2
    (folder / "train-00001-of-00002.parquet").unlink()
    assert len(load(tmp_path / "repo", fields=FIELDS, split="train")) == 3


@needs_arrow
def test_a_member_of_an_archive(tmp_path):
    path = _write(tmp_path / "dev.parquet", _table(_rows()))
    with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as archive:
        archive.add(path, "data/dev.parquet")
    packed = load(tmp_path / "data.tar.gz", fields=FIELDS)
    assert packed.fingerprint == load(path, fields=FIELDS).fingerprint


@needs_arrow
def test_rows_of_squad_are_recognised(tmp_path):
    answers = [{"text": ["Ann"], "answer_start": [0]}, {"text": [], "answer_start": []}]
    rows = [
        {
            "id": str(i),
            "title": "t",
            "context": "Ann met Bob.",
            "question": "Who?",
            "answers": answer,
        }
        for i, answer in enumerate(answers)
    ]
    dataset = load(_write(tmp_path / "x.parquet", _table(rows)))
    assert (dataset.reader, [question.gold for question in dataset]) == (
        "huggingface",
        [("Ann",), ("",)],
    )


@needs_arrow
@pytest.mark.parametrize(
    "row", [QUAIL, BOOLQ, BELEBELE, ROW], ids=["quail", "boolq", "belebele", "huggingface"]
)
def test_rows_of_readers_are_recognised(tmp_path, row):
    (tmp_path / "dev.jsonl").write_text(json.dumps(row), encoding="utf-8")
    from_json = load(tmp_path / "dev.jsonl")
    from_parquet = load(_write(tmp_path / "x.parquet", _table([row])))
    assert from_parquet.reader == from_json.reader
    (question,), (expected,) = (
        from_parquet,
        from_json,
    )  # rows without ids are named after their place
    assert content_of(question) == content_of(expected)
    assert question.gold == expected.gold
