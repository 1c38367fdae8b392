"""The Children's Book Test, on small files invented here."""

from __future__ import annotations

import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from tests.contents import cut
from tests.errors import raises


def test_cbt_has_twenty_sentences_and_a_query(tmp_path, write):
    dataset = load(write(tmp_path, "cbt"))
    assert (dataset.name, dataset.split, len(dataset)) == ("cbt.valid.NE", "valid", 2)
    first, second = dataset
    assert (first.id, second.id) == ("cbtest_NE_valid_2ex-1", "cbtest_NE_valid_2ex-2")
    assert first.text == "Then @placeholder ate them all ."
    assert (first.gold, second.gold) == (("Fay",), ("Hal",))
    assert [
        c.text for c in first.candidates
    ] == "Ann Bob Carla Dora Emil Fay Gus Hal Ida Jo".split()
    assert first.meta == {"type": "NE"}
    sentences = cut(first.passage.text, first.passage.sentences)
    assert len(sentences) == 20
    assert (sentences[0], sentences[19]) == ("Fay had 1 `` figs '' .", "Fay had 20 `` figs '' .")


def test_cbt_folder_is_read_by_kind_of_word(tmp_path, write):
    for kind in ("NE", "CN"):
        for split in ("train", "test_2500ex"):
            write(tmp_path, "cbt", name=f"CBTest/data/cbtest_{kind}_{split}.txt")
    (tmp_path / "CBTest" / "data" / "cbt_train.txt").write_text(
        "_BOOK_TITLE_ : Figs\nFay ate .\n", "utf-8"
    )
    dataset = load(tmp_path, subset="cn", split="test")
    assert [q.id for q in dataset] == ["cbtest_CN_test_2500ex-1", "cbtest_CN_test_2500ex-2"]
    assert dataset.notes == ("other files skipped (cbt_train.txt): 1",)
    assert {q.meta["type"] for q in load(tmp_path)} == {"NE", "CN"}


@pytest.mark.parametrize(
    ("old", "new", "where", "reported", "expected"),
    [
        ("3 Hal", "4 Hal", "line 25", "'4'", "3"),
        ("20 Hal had 20 `` figs '' .\n21", "20", "line 43", "20 lines", "21"),
        ("20 Fay had 20 `` figs '' .\n", "\n", "line 20", "19 lines", "21"),
        (
            ".\tHal\t\t",
            ".\tHal\t",
            "line 43",
            r"'Then XXXXX ate them all .\tHal\tAnn|Bob|Carla|Dor...'",
            "query",
        ),
        (".\tHal\t", ".\tEve\t", "line 43", "'Eve'", "Ann|Bob|Carla|Dora|Emil|Fay|Gus|Hal|Ida|Jo"),
        ("Then XXXXX ate them all .\tFay", "Then ate .\tFay", "line 21", "'Then ate .'", "XXXXX"),
    ],
)
def test_a_malformed_book_test_is_refused(
    tmp_path, write, content, old, new, where, reported, expected
):
    text = content("cbt")
    assert old in text
    path = write(tmp_path, "cbt", text.replace(old, new))
    with raises(
        DataError,
        source=str(path),
        where=where,
        found=reported,
        expected=re.compile(re.escape(expected)),
    ):
        load(path, reader="cbt")


def test_another_number_of_candidates_is_counted(tmp_path, write, content):
    dataset = load(write(tmp_path, "cbt", content("cbt").replace("|Ida|Jo", "||Ida")))
    assert dataset.notes == ("queries with more or fewer than ten candidates (kept): 2",)
    assert "" not in {c.text for q in dataset for c in q.candidates}
