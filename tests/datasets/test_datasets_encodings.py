"""Every reader reads every encoding, and refuses what is none."""

from __future__ import annotations

import codecs

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError


def test_every_reader_reads_every_encoding_alike(form, tmp_path, write):
    path = write(tmp_path, form)
    text = path.read_text("utf-8")
    plain = load(path)
    for data in (
        text.replace("\n", "\r\n").encode("utf-8"),
        text.replace("\n", "\r").encode("utf-8-sig"),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.replace("\n", "\r\n").encode("utf-16-be"),
    ):
        path.write_bytes(data)
        other = load(path)
        assert other.fingerprint == plain.fingerprint
        assert other.sources[0].sha256 != plain.sources[0].sha256


def test_every_reader_refuses_other_bytes(form, tmp_path, write):
    path = write(tmp_path, form)
    data = path.read_bytes()
    path.write_bytes(data[:-3] + b"\xff" + data[-3:])
    with pytest.raises(DataError, match=f"byte offset {len(data) - 3} ") as caught:
        load(path)
    assert caught.value.source == str(path)


def test_every_reader_refuses_an_empty_file(form, tmp_path, write):
    path = write(tmp_path, form, b"\n \n")
    with pytest.raises(DataError, match="the file is empty"):
        load(path)
    with pytest.raises(DataError, match="the file is empty"):
        load(path, reader=form.removesuffix("-line"))
