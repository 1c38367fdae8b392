"""Arrays in one file, and files that are written completely or not at all."""

from __future__ import annotations

import hashlib
import os
import re
from errno import ENOENT
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from classic_rc.errors import DataError, UsageError
from classic_rc.retrieval import manifest as storage
from classic_rc.retrieval.manifest import (
    REBUILD_HINT,
    StoredArray,
    check_content,
    map_arrays,
    write_arrays,
    write_json,
)
from tests.errors import raises

FLAT = arrays_of.arrays(
    st.sampled_from([np.uint8, np.int32, np.int64, np.float32]), st.integers(0, 40), elements=st.integers(0, 100)
)


@given(st.dictionaries(st.text(min_size=1, max_size=3), FLAT, max_size=5))
def test_arrays_come_back_read_only_and_aligned(tmp_path_factory, arrays):
    folder = tmp_path_factory.mktemp("arrays")
    stored = write_arrays(folder / "file.bin", arrays)
    mapped = map_arrays(folder, stored)
    assert list(mapped) == list(arrays)
    for name, array in arrays.items():
        assert mapped[name].dtype == array.dtype
        np.testing.assert_array_equal(mapped[name], array)
        assert stored.arrays[name].offset % 64 == 0
        if len(array):
            assert not mapped[name].flags.writeable
            assert mapped[name].flags.aligned
    check_content(folder, stored)
    assert os.listdir(folder) == ["file.bin"]


@pytest.fixture
def written(tmp_path):
    arrays = {"a": np.arange(100), "b": np.arange(7, dtype=np.uint8)}
    return tmp_path, write_arrays(tmp_path / "file.bin", arrays)


def test_a_missing_a_short_and_a_long_file_are_refused_at_once(written):
    folder, stored = written
    path = folder / stored.name
    content = path.read_bytes()
    for damaged in (content[:-1], content + b"\0", b""):
        path.write_bytes(damaged)
        facts = {"found": f"{len(damaged):,} bytes", "expected": f"{len(content):,}", "hint": REBUILD_HINT}
        with raises(DataError, source=str(path), **facts):
            map_arrays(folder, stored)
    path.unlink()
    for look in (map_arrays, check_content):
        with raises(DataError, source=str(path), problem=re.compile(os.strerror(ENOENT)), hint=REBUILD_HINT):
            look(folder, stored)


@pytest.mark.parametrize("place", [0, 799, 800, 838, 895])
def test_every_altered_byte_is_found_by_the_checksum(written, place):
    folder, stored = written
    path = folder / stored.name
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    map_arrays(folder, stored)
    found = f"sha256 {hashlib.sha256(content).hexdigest()[:16]}"
    with raises(DataError, source=str(path), found=found, expected=stored.sha256[:16]):
        check_content(folder, stored)


@pytest.mark.parametrize(
    "array", [("no such type", 1, 0), ("<i8", 10**9, 0), ("<i8", 1, 10**9), ("<i8", -1, 0), ("O", 1, 0)]
)
def test_an_impossible_array_table_is_an_error(written, array):
    folder, stored = written
    facts = {"expected": "the arrays of the manifest", "hint": REBUILD_HINT}
    with raises(DataError, source=str(folder / stored.name), **facts):
        map_arrays(folder, stored._replace(arrays={"a": StoredArray(*array)}))


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_json(path, [1])

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.os, "fsync", fail)
    with raises(UsageError) as caught:
        write_json(path, [2])
    assert f"{path}: No space left" in str(caught.value)
    with raises(UsageError) as caught:
        write_arrays(tmp_path / "b.bin", {})
    assert f"{tmp_path / 'b.bin'}: No space left" in str(caught.value)
    assert path.read_text(encoding="utf-8") == "[\n 1\n]\n"
    assert not (tmp_path / "b.bin").exists()


def test_replacing_waits_until_readers_close_the_old_file(tmp_path, monkeypatch):
    """On Windows an open file cannot be replaced."""
    replace, refusals = os.replace, iter([True, True])

    def busy(source: Path, target: Path) -> None:
        if next(refusals, False):
            raise PermissionError(13, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(storage.os, "replace", busy)
    write_json(tmp_path / "a.json", [1])
    assert (tmp_path / "a.json").exists()
    refusals = iter([True] * 10)
    with raises(UsageError) as caught:
        write_json(tmp_path / "a.json", [2])
    assert f"{tmp_path / 'a.json'}: Access is denied" in str(caught.value)
