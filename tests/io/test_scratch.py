"""Temporary files."""

from __future__ import annotations

import tempfile

import pytest

from classic_rc.io.scratch import ScratchFile


def test_bytes_are_read_where_they_were_written():
    with ScratchFile(10) as file:
        first, second = file.append(b"first"), file.append(b"rest")
        assert first is not None
        assert second is not None
        assert (file.read(first, 5), file.read(second, 4)) == (b"first", b"rest")
        assert file.append(b"no") is None
        assert file.append(b"!") == 9


@pytest.mark.parametrize("fails", ["open", "write"])
def test_a_file_that_cannot_be_written_has_no_room(monkeypatch, fails):
    class Full:
        def seek(self, place):
            pass

        def write(self, data):
            raise OSError("no space left on device")

        def close(self):
            pass

    def open_file(**_):
        if fails == "open":
            raise FileNotFoundError("no folder")
        return Full()

    monkeypatch.setattr(tempfile, "TemporaryFile", open_file)
    with ScratchFile(10) as file:
        assert file.append(b"data") is None
