"""Files that are neither text nor archives are refused in one line; nothing is loaded that could
run code.
"""

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
    "content",
    [
        _zip("[Content_Types].xml", "xl/workbook.xml"),
        _zip("model/data.pkl", "model/data/0", "model/version"),
        pickle.dumps({"rows": [1, 2]}),
        gzip.compress(pickle.dumps([1]), mtime=0),
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        _arrays(),
        b"\x28\xb5\x2f\xfd\0\0",
        b"BZh91AY&SY\0\xff",
    ],
    ids=[
        "Excel",
        "PyTorch",
        "pickle",
        "packed pickle",
        "PDF",
        "PNG",
        "NumPy",
        "zstd",
        "broken bzip2",
    ],
)
def test_a_binary_file_is_refused(tmp_path, content):
    path = tmp_path / "data.bin"
    path.write_bytes(content)
    with raises(DataError) as caught:
        load(path)
    assert (caught.value.source or "").startswith(str(path))
    assert caught.value.exit_code == 3
    assert caught.value.hint


def test_a_database_is_refused(tmp_path):
    path = tmp_path / "questions.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table questions (passage text)")
    connection.close()
    with raises(DataError, source=str(path)):
        load(path)


def test_text_that_begins_like_a_format_is_text(tmp_path):
    path = tmp_path / "orc.csv"
    path.write_text(
        "ORC,question,candidate_0,candidate_1,gold\nOrcs ate.,Who ate?,orcs,elves,0\n", "utf-8"
    )
    dataset = load(
        path, fields="passage=ORC,question=question,candidates=candidate_0+candidate_1,gold=gold"
    )
    assert dataset[0].passage.text == "Orcs ate."


def test_a_foreign_npz_is_no_saved_solver(tmp_path):
    path = tmp_path / "features.npz"
    np.savez(path, x=np.arange(3))
    with raises(DataError, source=str(path), problem="the file is not valid text"):
        load(path)
