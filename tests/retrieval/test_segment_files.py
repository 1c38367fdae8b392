"""Damaged and crafted files of an index: one clear error, or the answers of the undamaged index."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.damage import REFUSED, SAME, flip_bits, make_index, read_answers
from classic_rc.errors import ClassicRCError, DataError
from classic_rc.retrieval import open_corpus
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.reading import TextFile
from classic_rc.retrieval.storage import (
    MANIFEST,
    REBUILD_HINT,
    REPAIR_HINT,
    VERIFIED,
    StoredSegment,
)
from tests.errors import raises
from tests.retrieval.facts import check_index, edit_manifest, flip_bit, segment_files


@pytest.fixture
def index(tmp_path):
    return make_index(tmp_path, n_sentences=24)


def test_no_flipped_bit_changes_an_answer(index):
    outcomes = flip_bits(index, 200, seed=1)
    assert {outcome for _, outcome in outcomes} <= {REFUSED, SAME}
    # blanks of the manifest
    n_same = sum(count for (_, outcome), count in outcomes.items() if outcome == SAME)
    assert n_same < 5


def _places(value, path=()):
    """Yield the path of everything in a JSON value."""
    keys: Iterable[Any] = ()
    if isinstance(value, dict):
        keys = value
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield (*path, key)
        yield from _places(value[key], (*path, key))


STRANGE: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31,
    2**63,
    10**400,
    1.5,
    "",
    "x",
    "../x",
    "\0",
    "<i4",
    "<f8",
    "|V9",
    "O",
    [],
    {},
]


def test_a_changed_manifest_is_one_error_or_changes_no_answer(index):
    manifest_text = json.loads((index / MANIFEST).read_text(encoding="utf-8"))
    expected = read_answers(index)[:-1]
    # one segment of several
    places = [p for p in _places(manifest_text) if p[0] != "segments" or p[1:2] in ((), (1,))]
    messages = []
    for number, path in enumerate(places):
        for strange in [..., *STRANGE[number % 4 :: 4]]:

            def change(content, path=path, strange=strange):
                for key in path[:-1]:
                    content = content[key]
                if strange is ...:
                    del content[path[-1]]
                else:
                    content[path[-1]] = strange

            (index / MANIFEST).write_text(json.dumps(manifest_text), encoding="utf-8")
            edit_manifest(index, change, signed=False)
            try:
                assert read_answers(index)[:-1] == expected, (path, strange)
            except ClassicRCError as error:
                messages.append(str(error))
    assert len(messages) > 3 * len(places)
    assert max(map(len, messages)) < 600
    assert not any("\n" in message for message in messages)


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 40, b"\xff" * 40, b"\0" * 1000])
def test_a_file_that_is_no_segment_is_refused(index, content):
    path = segment_files(index)[1]
    path.write_bytes(content)
    digest = content[-32:].hex()
    stored = StoredSegment(path.name, len(content), digest)
    edit_manifest(index, lambda m: m["segments"].__setitem__(1, stored._asdict()))
    with raises(DataError, source=str(path), hint=REPAIR_HINT):
        open_corpus(index)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(fingerprint="0" * 64),
        lambda m: m.update(n_terms=3),
        lambda m: m["segments"].pop(),
        lambda m: m["counts"].update(text_bytes=1),
    ],
)
def test_a_changed_value_of_the_manifest_is_found_by_its_checksum(index, change):
    edit_manifest(index, change, signed=False)
    with raises(DataError, source=str(index / MANIFEST), hint=REBUILD_HINT):
        open_corpus(index)
    with raises(DataError, source=str(index / MANIFEST), hint=REBUILD_HINT):
        build_index([TextFile(str(index.parent / "lines.txt"))], index, append=True)


def test_a_segment_under_the_name_of_another_one_is_built_again(index, tmp_path):
    text = TextFile(str(index.parent / "lines.txt"))
    build_index([text], tmp_path / "whole", segment_sentences=4)
    expected = {path.name: path.read_bytes() for path in segment_files(tmp_path / "whole")}
    first, second, *_ = segment_files(tmp_path / "whole")
    (tmp_path / "whole" / MANIFEST).unlink()
    first.write_bytes(second.read_bytes())
    assert build_index([text], tmp_path / "whole", segment_sentences=4).kept == len(expected) - 1
    assert {path.name: path.read_bytes() for path in segment_files(tmp_path / "whole")} == expected


def _settle(index: Path) -> None:
    """Make the files old: file systems count changes in steps, so that a new file could change
    unnoticed.
    """
    time.sleep(2.1)


def test_a_file_that_has_just_changed_is_not_noted_as_verified(index):
    open_corpus(index)
    assert not (index / VERIFIED).exists()


def test_a_verified_file_is_verified_again_when_it_has_changed(index):
    _settle(index)
    expected = read_answers(index)
    assert len(json.loads((index / VERIFIED).read_text(encoding="utf-8"))) == 3
    path = segment_files(index)[1]
    content, before = path.read_bytes(), path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the system counts time in steps
        path.write_bytes(content)
        flip_bit(path, 100, 4)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (os.name == "nt")))
    with raises(DataError, source=str(path), hint=REPAIR_HINT):
        open_corpus(index)
    path.write_bytes(content)
    assert read_answers(index) == expected

    note = json.loads((index / VERIFIED).read_text(encoding="utf-8"))
    for damaged in (
        "",
        "{",
        "[]",
        "\0",
        json.dumps({path.name: 1}),
        json.dumps(dict.fromkeys(note, "0")),
    ):
        (index / VERIFIED).write_text(damaged, encoding="utf-8")
        assert read_answers(index) == expected
    assert build_index([TextFile(str(index.parent / "lines.txt"))], index, append=True).kept == 3
    check_index(index)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_no_segment(index):
    path = segment_files(index)[1]
    path.unlink()
    os.mkfifo(path)
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(path), hint=REPAIR_HINT):
            look(index)


def test_no_flipped_bit_of_an_unfinished_build_changes_the_index(tmp_path):
    text = tmp_path / "lines.txt"
    text.write_text("".join(f"Fox number {i} ran.\n\n" for i in range(9)), encoding="utf-8")
    finished = build_index([TextFile(str(text))], tmp_path / "index", segment_sentences=3).manifest
    path = segment_files(tmp_path / "index")[1]
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        (tmp_path / "index" / MANIFEST).unlink()
        built = build_index([TextFile(str(text))], tmp_path / "index", segment_sentences=3)
        assert (built.manifest, built.kept) == (finished, 2)
        assert path.read_bytes() == content
