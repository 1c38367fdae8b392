"""Binary files that are no data are named for what they are."""

from __future__ import annotations

import gzip
import io
import pickle
import sqlite3
import zipfile

import numpy as np
import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from tests.errors import raises


def _zip(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"\0\1\2")
    return buffer.getvalue()


def _arrays() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.arange(3))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (_zip("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
        (_zip("[Content_Types].xml", "word/document.xml"), "a Word document"),
        (_zip("model/data.pkl", "model/data/0", "model/version"), "a file of PyTorch"),
        (pickle.dumps({"rows": [1, 2]}), "a pickle, which can run code when it is loaded"),
        (gzip.compress(pickle.dumps([1]), mtime=0), "a pickle, which can run code when it is loaded"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (_arrays(), "a NumPy array"),
        (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file"),
        (b"FEA1\0\0\0\0", "a Feather file of version 1"),
        (b"\x28\xb5\x2f\xfd\0\0", "a file compressed with zstd"),
        (b"BZh91AY&SY\0\xff", "a file compressed with bzip2"),
    ],
)
def test_a_binary_file_is_named(tmp_path, content, what):
    path = tmp_path / "data.bin"
    path.write_bytes(content)
    with raises(DataError, source=str(path), found=what) as caught:
        load(path)
    assert caught.value.hint


def test_a_database_is_named(tmp_path):
    path = tmp_path / "questions.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table questions (passage text)")
    connection.close()
    with raises(DataError, found="an SQLite database"):
        load(path)


def test_text_that_begins_like_a_format_is_text(tmp_path):
    path = tmp_path / "orc.csv"
    path.write_text("ORC,question,candidate_0,candidate_1,gold\nOrcs ate.,Who ate?,orcs,elves,0\n", "utf-8")
    dataset = load(path, fields="passage=ORC,question=question,candidates=candidate_0+candidate_1,gold=gold")
    assert dataset[0].passage.text == "Orcs ate."


def test_a_foreign_npz_is_no_saved_solver(tmp_path):
    path = tmp_path / "features.npz"
    np.savez(path, x=np.arange(3))
    with raises(DataError, found="NumPy arrays (npz)"):
        load(path)
