"""Folders of question categories."""

from __future__ import annotations

import pytest

from classic_rc.errors import DataError
from classic_rc.text.annotations import read_categories


def test_a_question_can_have_several(tmp_path):
    (tmp_path / "who.txt").write_text("a.0,0\n\na.0,1\n", encoding="utf-8")
    (tmp_path / "neg.txt").write_text("a.0,1", encoding="utf-8")
    categories = read_categories(tmp_path)
    assert categories.of_question == {"a.0,0": {"who"}, "a.0,1": {"who", "neg"}}


def test_the_signature_is_of_the_content(tmp_path):
    for folder, line_end in (("one", "\n"), ("two", "\r\n"), ("three", "x\n")):
        (tmp_path / folder / "dev").mkdir(parents=True)
        (tmp_path / folder / "dev" / "who.txt").write_bytes(f"a{line_end}b".encode())
    one, two, three = (read_categories(tmp_path / f / "dev").signature for f in ("one", "two", "three"))
    assert one == two != three
    assert one.startswith("dev@")


def test_what_is_no_folder_of_categories_is_refused(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        read_categories(tmp_path / "none")
    with pytest.raises(DataError, match="no category in the folder"):
        read_categories(tmp_path)
    (tmp_path / "who.txt").write_text("a.0,0\na.0,1\na.0,0\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"who\.txt, line 3: named twice: found 'a\.0,0'"):
        read_categories(tmp_path)
