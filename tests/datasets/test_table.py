"""CSV and TSV: cells, candidates in one column or several, quoting, and refused tables."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from classic_rc.datasets import from_rows, load
from classic_rc.errors import DataError
from tests.contents import all_options
from tests.errors import raises


def _table(tmp_path, text, name="own.csv", **options):
    path = tmp_path / name
    path.write_text(text, "utf-8", newline="")
    return load(path, **options)


@pytest.mark.parametrize(
    ("cell", "gold"),
    [
        ("1", {1}),
        ("1.0", {1}),
        ('"[1, 2]"', {1, 2}),
        ("[sic]", {3}),
        ("Ann", {1}),
        ('"""Ann"""', {1}),
        ('"[""Ann"", ""1990""]"', {1, 2}),
        ('"""1990"""', {2}),
        ("", None),
        ("null", None),
    ],
)
def test_gold_is_read_from_a_cell(tmp_path, cell, gold):
    task = "multiple-answer" if gold and len(gold) > 1 else "single-choice"
    text = "passage,question,candidate_0,candidate_1,candidate_2,candidate_3,gold,task\n"
    text += f"P,Q,Bob,Ann,1990,[sic],{cell},{task}\n"
    assert _table(tmp_path, text)[0].gold == gold


def test_blanks_around_names_of_columns_and_a_row_before_them(tmp_path):
    data = _table(
        tmp_path, ",,,,\nid , passage,question, candidate_0,candidate_1,gold\nq,P,Q,a,b,1\n"
    )
    assert (data[0].id, data[0].gold) == ("q", {1})
    assert data.notes == ("rows of empty cells skipped: 1",)


def test_candidates_in_one_cell_or_in_fewer(tmp_path):
    text = 'passage\tquestion\tcandidates\tgold\nP\tQ\t"[""a"", ""b""]"\t1\n'
    assert [c.text for c in _table(tmp_path, text)[0].candidates] == ["a", "b"]
    text = "passage,question,candidate_1,candidate_0,candidate_2,gold\nP,Q,b,a,,1\nP,R,b,a,c,2\n"
    assert all_options(_table(tmp_path, text)) == [
        ["a", "b"],
        ["a", "b", "c"],
    ]
    header = ",".join(f"candidate_{i}" for i in range(11))
    text = f"passage,question,{header},gold\nP,Q,{','.join(map(str, range(11)))},10\n"
    (texts,) = all_options(_table(tmp_path, text))
    assert texts[-2:] == ["9", "10"]


def test_quoted_line_ends_and_long_cells(tmp_path):
    long = "word " * 40_000
    text = (
        f'passage,question,candidate_0,gold\r\n"one\r\ntwo ""x"", {long}",Q,a,0\r\n\r\nP,Q,a,0\r\n'
    )
    dataset = _table(tmp_path, text)
    assert dataset[0].passage.text == f'one\ntwo "x", {long}'
    assert [q.id for q in dataset] == ["line-2", "line-5"]
    assert dataset.notes == ("blank lines skipped: 1",)


@pytest.mark.parametrize(
    ("text", "where", "field", "reported", "expected"),
    [
        ("passage,question,candidate_0,gold\nP,Q,a\n", "line 2", None, "3", "4, as in the header"),
        (
            "passage,question,candidate_0,gold,gold\nP,Q,a,0,0\n",
            "line 1",
            None,
            "'gold'",
            "unique names",
        ),
        (
            "passage,question,candidate_1,gold\nP,Q,a,0\n",
            "line 1",
            None,
            "candidate_1",
            "candidate_0, candidate_1",
        ),
        (
            "passage,question,candidate_0,candidates,gold\nP,Q,a,a,0\n",
            "line 1",
            None,
            "candidate_0, candidates",
            "candidate_0, candidate_1, …, or only candidates",
        ),
        (
            "passage,question,candidate_0,candidate_1,gold\nP,Q,,a,0\n",
            "line 2",
            "candidate_0",
            "''",
            "text",
        ),
        (
            "passage,question,candidates,gold\nP,Q,\"['a' 'b']\",0\n",
            "line 2",
            "candidates",
            "\"['a' 'b']\"",
            "a list in JSON",
        ),
        (
            "passage,question,candidates,gold\nP,Q,[a,0\n",
            "line 2",
            "candidates",
            "'[a'",
            "an object or a list",
        ),
        ("passage,question,candidate_0,gold\n", None, None, None, "at least one question"),
    ],
)
def test_wrong_tables_are_refused(tmp_path, text, where, field, reported, expected):
    facts = {
        "where": where,
        "field": field,
        "found": reported,
        "expected": re.compile(re.escape(expected)),
    }
    with raises(DataError, source=str(tmp_path / "own.csv"), **facts):
        _table(tmp_path, text)


def test_a_table_with_other_columns(tmp_path):
    text = "story\task\tA\tB\tC\tanswer\tkind\nOnce upon a time.\tWho?\tx\ty\t\t2\tk\n"
    dataset = _table(
        tmp_path,
        text,
        "t.tsv",
        fields="passage=story,question=ask,candidates=A+B+C,gold=answer",
        gold_as="index1",
    )
    assert [c.text for c in dataset[0].candidates] == ["x", "y"]
    assert (dataset[0].gold, dataset[0].meta) == ({1}, {"kind": "k"})


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs"])),
        min_size=1,
    )
)
def test_a_table_and_json_lines_have_the_same_fingerprint(tmp_path_factory, texts):
    import csv
    import io

    assume(texts[-1] and all(texts))
    rows = []
    for i, text in enumerate(texts):
        row = {"id": str(i), "passage": text, "question": text, "candidates": texts, "gold": i}
        rows.append(row)
    folder = tmp_path_factory.getbasetemp()
    stream = io.StringIO()
    writer = csv.writer(stream)
    candidate_columns = [f"candidate_{i}" for i in range(len(texts))]
    writer.writerow(["id", "passage", "question", *candidate_columns, "gold"])
    for row in rows:
        writer.writerow([row["id"], row["passage"], row["question"], *texts, row["gold"]])
    (folder / "table.csv").write_bytes(stream.getvalue().encode("utf-8"))
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    fingerprints = {load(folder / name).fingerprint for name in ("table.csv", "rows.jsonl")}
    assert fingerprints == {from_rows(rows).fingerprint}
