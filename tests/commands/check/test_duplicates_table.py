"""The tables of duplicates, and of scores without them."""

from __future__ import annotations

import classic_rc
from classic_rc.commands.check.duplicates import find_duplicates
from classic_rc.commands.check.integrity import find_defects
from classic_rc.commands.check.tables import duplicates_table
from tests.tables import headings, texts

PASSAGE = (
    "Nora planted beans in the garden behind the old mill, and Omar built a fence of apple wood "
    "around it."
)
ROW = {
    "id": "q1",
    "passage_id": "p1",
    "passage": PASSAGE,
    "gold": 0,
    "question": "What did Nora plant behind the mill?",
    "candidates": ["beans", "apples", "a fence"],
}
COPY = {
    **ROW,
    "id": "t1",
    "passage_id": "t",
    "question": "What did Nora plant behind the old mill?",
}


def test_pairs_are_shown_with_what_differs():
    data, train = classic_rc.from_rows([ROW]), classic_rc.from_rows([COPY])
    table = duplicates_table(find_duplicates(data, train))
    assert headings(table) == {
        0: "near copies of training questions (1, warning)",
        1: "passages that are in the training data (1, warning)",
    }
    rows = texts(table)
    assert rows[0][:2] == ["q1", "t1"]
    assert rows[0][3] == "the [-old-] mill? …"
    assert rows[1] == ["p1", "t", "1.00", "equal"]
    assert texts(duplicates_table(find_defects(data, train))) == rows


def test_without_duplicates_there_is_no_table():
    assert duplicates_table(find_duplicates(classic_rc.from_rows([ROW]))) is None


def test_only_the_least_similar_pairs_are_shown():
    words = [f"word{i}" for i in range(60)]
    rows = [
        {**ROW, "passage_id": "p0", "id": "q0", "passage": " ".join(words), "question": "First?"}
    ]
    for i in range(1, 6):
        text = " ".join(["new"] * i + words[i:])
        rows.append(
            {
                **ROW,
                "id": f"q{i}",
                "passage_id": f"p{i}",
                "passage": text,
                "question": f"{i} {i} {i}?",
            }
        )
    table = duplicates_table(find_duplicates(classic_rc.from_rows(rows)), max_pairs=2)
    similarities = [float(row[2]) for row in texts(table)]
    assert len(similarities) == 2
    assert similarities == sorted(similarities)
