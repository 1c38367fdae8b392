"""Tables in memory: data frames, Arrow tables, and datasets of Hugging Face, which read like
their files.
"""

from __future__ import annotations

import json
import re

import pytest

import classic_rc
from classic_rc import evaluate, from_rows, load
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.errors import DataError, UsageError
from tests.errors import raises

SAMPLE = load("sample:single-choice")
ROWS = [{**row, "gold": row["gold"][0]} for row in map(json.loads, to_jsonl(SAMPLE).splitlines())]


def tables():
    pandas, pyarrow, datasets = (
        pytest.importorskip(name) for name in ("pandas", "pyarrow", "datasets")
    )
    frame, hugging = pandas.DataFrame(ROWS), datasets.Dataset.from_list(ROWS)
    return {
        "frame": frame,
        "frame with an index": frame.set_index("id"),
        "arrow table": pyarrow.Table.from_pylist(ROWS),
        "record batch": pyarrow.RecordBatch.from_pylist(ROWS),
        "dataset": hugging,
        "selected dataset": hugging.select(range(len(ROWS))),
        "streamed dataset": hugging.to_iterable_dataset(),
        "only split": datasets.DatasetDict(dev=hugging),
    }


def test_every_table_is_the_dataset_of_its_rows():
    for name, table in tables().items():
        assert load(table).fingerprint == from_rows(table).fingerprint == SAMPLE.fingerprint, name


def test_evaluate_and_its_training_data_take_tables():
    expected = evaluate(SAMPLE, ["sw+d", "lexical"], train=SAMPLE[:8])
    for table in (tables()[name] for name in ("frame", "arrow table", "dataset")):
        evaluation = evaluate(table, ["sw+d", "lexical"], train=load(table)[:8])
        assert [row.metrics() for row in evaluation.rows] == [
            row.metrics() for row in expected.rows
        ]
    frame = tables()["frame"]
    evaluation = evaluate(SAMPLE, ["sw+d", "lexical"], train=frame[:8])
    assert [row.metrics() for row in evaluation.rows] == [row.metrics() for row in expected.rows]
    train = [frame[:4], tables()["dataset"].select(range(4, 8))]
    parts = evaluate(SAMPLE, ["sw+d", "lexical"], train=train)
    assert [row.metrics() for row in parts.rows] == [row.metrics() for row in expected.rows]


def test_a_dataset_of_hugging_face_reads_like_its_parquet_file(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        passage=datasets.Value("string"),
        question=datasets.Value("string"),
        candidates=datasets.Sequence(datasets.Value("string")),
        gold=datasets.ClassLabel(names=["no", "yes", "perhaps"]),
        picture=datasets.Value("binary"),
        when=datasets.Value("date32"),
    )
    row = {
        "passage": "It rained.",
        "question": "Did it?",
        "candidates": ["yes", "perhaps", "no"],
        "picture": b"x",
    }
    rows = [{**row, "question": f"Did it {i}?", "gold": i % 3, "when": None} for i in range(6)]
    table = datasets.Dataset.from_list(rows, features=features)
    table.to_parquet(str(tmp_path / "rows.parquet"))
    in_memory, saved = load(table), load(tmp_path / "rows.parquet")
    assert in_memory[0].candidates[next(iter(in_memory[0].gold))].text == "no"
    assert [(q.text, q.gold) for q in in_memory] == [(q.text, q.gold) for q in saved]
    assert [q.meta for q in in_memory] == [q.meta for q in saved]


def test_a_split_is_chosen_by_name():
    datasets = pytest.importorskip("datasets")
    unsplit = datasets.Dataset.from_list(ROWS)
    splits = datasets.DatasetDict(train=unsplit, validation=unsplit.select(range(8)))
    dev = load(splits, split="dev")
    assert (len(dev), dev.split, dev.reader) == (8, "validation", "rows")
    with raises(UsageError, field="split", expected="one of train, validation") as caught:
        load(splits)
    data = splits  # as the message writes it
    call = re.search(r"classic_rc\.load\(.*\)", str(caught.value))
    assert len(eval(call[0], {"classic_rc": classic_rc, "data": data})) == 8
    with raises(DataError, field="split", found="train, validation", expected="'test'"):
        load(splits, split="test")
    with raises(UsageError, field="split"):
        evaluate(splits, ["sw"])
    split_rows = [{**row, "split": "train" if i < 20 else "dev"} for i, row in enumerate(ROWS)]
    assert len(from_rows(split_rows, split="validation")) == 4
    assert from_rows(ROWS, split="validation").split == "validation"


def test_tables_that_cannot_be_read_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    with raises(DataError, problem=re.compile("one name"), found="'id'"):
        load(pandas.concat([frame, frame], axis=1))
    with raises(UsageError, field="reader", found="race"):
        load(frame, reader="race")
    with raises(UsageError, field="dataset", found=re.compile("Series")):
        evaluate(frame["id"], ["sw"])
    with raises(UsageError, field="dataset", found="list"):
        evaluate(ROWS, ["sw"])
    with raises(DataError, problem="no rows"):
        load(frame[:0])


def test_missing_cells_and_dates_of_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS).assign(
        when=pandas.Timestamp("2020-02-01"), weight=[None, *[1.5] * (len(ROWS) - 1)]
    )
    dataset = load(frame)
    assert dataset[0].meta["weight"] is None
    assert dataset[1].meta["weight"] == 1.5
    assert dataset[0].meta["when"].startswith("2020-02-01")
