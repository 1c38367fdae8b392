"""Damaged and crafted files of an index: one clear error, or the answers of the undamaged index."""

from __future__ import annotations

import copy
import json
import os
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.damage import REFUSED, SAME, flip_bits, make_index, read_answers
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.retrieval import segment_files
from classic_rc.retrieval.building import BUILDING, build_index
from classic_rc.retrieval import open_corpus
from classic_rc.retrieval.storage import read_folder
from classic_rc.retrieval.manifest import (
    MANIFEST,
    REBUILD_HINT,
    Manifest,
    add_checksum,
    map_arrays,
    quote_path,
    write_arrays,
)
from classic_rc.retrieval.reading import TextFile
from classic_rc.retrieval.segment_files import VERIFIED
from tests.errors import raises

SEGMENT = "segment-00001.bin"


@pytest.fixture
def index(tmp_path):
    return make_index(tmp_path, n_sentences=24)


def test_no_flipped_bit_changes_an_answer(index):
    outcomes = flip_bits(index, 200, seed=1)
    assert {outcome for _, outcome in outcomes} <= {REFUSED, SAME}
    assert (
        sum(count for (name, outcome), count in outcomes.items() if outcome == SAME) < 5
    )  # blanks of the manifest


def test_no_flipped_bit_changes_an_answer_of_an_index_without_a_checksum_of_its_manifest(index):
    """Older versions wrote such manifests."""
    _edit(index, lambda m: m.pop("checksum"))

    def read(folder: Path) -> object:
        return read_answers(folder)[:-1]  # nothing else protects the fingerprint

    outcomes = flip_bits(index, 200, seed=2, read=read)
    assert {outcome for _, outcome in outcomes} <= {REFUSED, SAME}


def _read(index: Path) -> dict:
    return json.loads((index / MANIFEST).read_text(encoding="utf-8"))


def _write(index: Path, content: dict, how: str = "as it is") -> None:
    content = copy.deepcopy(content)
    if how != "as it is":
        content.pop("checksum", None)
    if how == "new checksum":
        content = add_checksum(content)
    (index / MANIFEST).write_text(json.dumps(content), encoding="utf-8")


def _edit(index, change, how="as it is"):
    content = _read(index)
    change(content)
    _write(index, content, how)


def _places(value, path=()):
    """Yield the path of everything in a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
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


@pytest.mark.parametrize("how", ["as it is", "without checksum", "new checksum"])
def test_a_crafted_manifest_is_one_error_or_changes_no_answer(index, how):
    whole, expected = _read(index), read_answers(index)[:-1]
    places = [path for path in _places(whole) if "segments" not in path or path[1:2] in ((), (1,))]
    messages = []
    for number, path in enumerate(places):
        for strange in [..., *STRANGE[number % 4 :: 4]]:
            content = copy.deepcopy(whole)
            parent = content
            for key in path[:-1]:
                parent = parent[key]
            if strange is ...:
                del parent[path[-1]]
            else:
                parent[path[-1]] = strange
            _write(index, content, how)
            try:
                assert read_answers(index)[:-1] == expected, (path, strange)
            except ClassicRCError as error:
                messages.append(str(error))
    assert len(messages) > 3 * len(places)
    assert max(map(len, messages)) < 600
    assert not any("\n" in message for message in messages)


NAMES = list(segment_files._ELEMENTS)


@pytest.mark.parametrize("how", ["without checksum", "new checksum"])
@pytest.mark.parametrize(("first", "second"), [*pairwise(NAMES), ("term_offsets", "posting_offsets")])
def test_swapped_arrays_are_refused(index, how, first, second):
    def swap(content):
        arrays = content["segments"][1]["arrays"]
        arrays[first], arrays[second] = arrays[second], arrays[first]

    _edit(index, swap, how)
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(index / SEGMENT), field=re.compile("."), hint=REBUILD_HINT):
            look(index)


def test_swapped_segments_are_refused(index):
    _edit(index, lambda m: m["segments"].reverse(), "new checksum")
    facts = {"found": "'segment-00002.bin'", "expected": "segment-00000.bin", "hint": REBUILD_HINT}
    with raises(DataError, source=str(index / MANIFEST), where="$.segments[0]", field="name", **facts):
        open_corpus(index)


@pytest.mark.parametrize(
    ("change", "source", "field"),
    [
        (lambda m: m["segments"][1]["arrays"]["places"].__setitem__(2, 64), SEGMENT, "places"),
        (lambda m: m["segments"][1]["arrays"]["places"].__setitem__(0, "<u4"), SEGMENT, "places"),
        (lambda m: m["segments"][1]["arrays"]["totals"].__setitem__(1, 2), SEGMENT, "totals"),
        (lambda m: m["segments"][1]["arrays"].update(notes=["|u1", 0, 0]), SEGMENT, "notes"),
        (lambda m: m["segments"][1]["counts"].update(tokens=3), MANIFEST, "counts"),
        (lambda m: m["segments"][1].update(arrays=[]), MANIFEST, None),
    ],
)
def test_a_wrong_table_of_arrays_is_refused(index, change, source, field):
    _edit(index, change, "new checksum")
    with raises(DataError, source=str(index / source), field=field, hint=REBUILD_HINT):
        open_corpus(index)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(fingerprint="0" * 64),
        lambda m: m.update(n_terms=3),
        lambda m: m.update(built_from=""),
        lambda m: m["segments"].pop(),
        lambda m: m["segments"][0]["counts"].update(text_bytes=1),
    ],
)
def test_a_changed_value_of_the_manifest_is_found_by_its_checksum(index, change):
    _edit(index, change)
    with raises(DataError, source=str(index / MANIFEST), hint=REBUILD_HINT):
        open_corpus(index)
    with raises(DataError, source=str(index / MANIFEST), hint=REBUILD_HINT):
        build_index([TextFile(str(index.parent / "lines.txt"))], index, append=True)


def _last(value):
    def change(array):
        array[-1] = value

    return change


def _first(value):
    def change(array):
        array[0] = value

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("term_offsets", _first(1)),
        ("term_offsets", _last(10**12)),
        ("term_offsets", lambda array: array.__setitem__(2, 10**12)),
        ("term_keys", _last(0)),
        ("posting_offsets", _first(-1)),
        ("posting_offsets", _last(0)),
        ("posting_offsets", lambda array: array.__setitem__(1, -5)),
        ("posting_sentences", _first(99)),
        ("posting_sentences", _last(-1)),
        ("posting_sentences", lambda array: array.sort()),
        ("posting_codes", _first(255)),
        ("posting_codes", lambda array: array.fill(0)),
        ("code_counts", _first(0)),
        ("code_counts", _first(-3)),
        ("code_counts", _last(10**6)),
        ("totals", _first(3)),
        ("totals", _last(-1)),
        ("totals", lambda array: array.__setitem__(1, 10**9)),
        ("sentence_data", _first(0xFF)),
        ("sentence_data", lambda array: array.fill(0x80)),
        ("sentence_offsets", _last(0)),
        ("sentence_offsets", lambda array: array.__setitem__(3, 255)),
        ("input_data", _first(0xC3)),
        ("input_offsets", _last(1)),
        ("input_starts", _first(1)),
        ("input_starts", _last(100)),
        ("label_data", _last(0x80)),
        ("label_offsets", _last(9)),
        ("places", _first(0)),
        ("places", _last(-100)),
    ],
)
def test_numbers_outside_of_their_arrays_are_refused_though_the_checksums_fit(index, name, change):
    manifest = Manifest.read(index)
    stored = manifest.segments[1]
    arrays = {key: np.array(array) for key, array in map_arrays(index, stored.file).items()}
    change(arrays[name])
    file = write_arrays(index / SEGMENT, arrays)
    segments = (manifest.segments[0], stored.__class__(stored.counts, file), manifest.segments[2])
    replace(manifest, segments=segments).write(index)
    found = re.compile(
        {"code_counts": "code_counts|posting_codes", "totals": "totals|posting_codes"}.get(name, name)
    )
    if name == "posting_sentences":
        found = re.compile("posting")
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(index / SEGMENT), field=found, hint=REBUILD_HINT):
            look(index)


def test_a_text_that_begins_within_a_character_is_refused(tmp_path):
    (tmp_path / "text.txt").write_text("é é\n\né é\n", encoding="utf-8")
    index = tmp_path / "index"
    (stored,) = build_index([TextFile(str(tmp_path / "text.txt"))], index).manifest.segments
    arrays = {name: np.array(array) for name, array in map_arrays(index, stored.file).items()}
    arrays["sentence_offsets"][1] -= 1
    with raises(DataError, field="sentence_data"):
        segment_files.check_values(index / "x", arrays)


@pytest.fixture
def hashed(monkeypatch):
    """The names of the files whose content is hashed, by an own process."""
    names, check = [], segment_files.check_stream

    def record(path, file, stored):
        names.append(stored.name)
        check(path, file, stored)

    monkeypatch.setattr(segment_files, "check_stream", record)
    monkeypatch.setattr(segment_files, "_verified", {})
    return names


def test_a_file_that_has_just_changed_is_verified_at_every_opening(index, hashed):
    for _ in range(2):
        open_corpus(index)
    assert len(hashed) == 6
    assert not (index / VERIFIED).exists()


@pytest.mark.parametrize("noted", [False, True])
def test_a_file_is_verified_once_for_each_of_its_states(index, hashed, monkeypatch, noted):
    monkeypatch.setattr(segment_files, "_SETTLED_NANOSECONDS", -(10**15))
    monkeypatch.setattr(segment_files, "_NOTED_BYTES", 0 if noted else 10**9)
    expected = read_answers(index)
    assert len(hashed) == 3
    assert (index / VERIFIED).exists() == noted
    if noted:
        segment_files._verified.clear()  # as in another process
    assert read_answers(index) == expected
    assert len(hashed) == 3

    path = index / SEGMENT
    content, before = path.read_bytes(), path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the system counts time in steps
        path.write_bytes(content[:100] + bytes([content[100] ^ 4]) + content[101:])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (os.name == "nt")))
    with raises(DataError, source=str(path), hint=REBUILD_HINT):
        open_corpus(index)
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    assert read_answers(index) == expected


@pytest.mark.parametrize("content", ["", "{", "[]", '{"segment-00000.bin": 1}', '{"segment-00000.bin": "0"}', "\0"])
def test_a_damaged_note_of_verified_states_is_not_believed(index, hashed, monkeypatch, content):
    monkeypatch.setattr(segment_files, "_SETTLED_NANOSECONDS", -(10**15))
    monkeypatch.setattr(segment_files, "_NOTED_BYTES", 0)
    (index / VERIFIED).write_text(content, encoding="utf-8")
    open_corpus(index)
    assert len(hashed) == 3
    segment_files._verified.clear()
    open_corpus(index)
    assert len(hashed) == 3


def test_a_note_of_verified_states_does_not_hinder_other_users_and_builds(index, monkeypatch):
    monkeypatch.setattr(segment_files, "_SETTLED_NANOSECONDS", -(10**15))
    monkeypatch.setattr(segment_files, "_NOTED_BYTES", 0)

    def fail(*args):
        raise UsageError("read-only file system")

    monkeypatch.setattr(segment_files, "_verified", {})
    with monkeypatch.context() as patched:
        patched.setattr(segment_files, "write_json", fail)
        open_corpus(index)
    segment_files._verified.clear()
    open_corpus(index)
    assert (index / VERIFIED).exists()
    build_index([TextFile(str(index.parent / "lines.txt"))], index, append=True)
    check_index(index)
    open_corpus(index)
    (index / MANIFEST).unlink()
    for path in index.glob("segment-*"):
        path.unlink()
    build_index([TextFile(str(index.parent / "lines.txt"))], index)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_no_segment(index):
    (index / SEGMENT).unlink()
    os.mkfifo(index / SEGMENT)
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(index / SEGMENT), hint=REBUILD_HINT):
            look(index)


def test_no_flipped_bit_of_an_unfinished_build_changes_the_index(tmp_path):
    text = tmp_path / "lines.txt"
    text.write_text("".join(f"Fox number {i} ran.\n\n" for i in range(9)), encoding="utf-8")
    build_index([TextFile(str(text))], tmp_path / "whole", segment_sentences=3)
    expected = Manifest.read(tmp_path / "whole").fingerprint
    folder = tmp_path / "index"
    rng = np.random.default_rng(0)
    state, refused = _unfinished(text, folder), []
    for _ in range(60):
        damaged = bytearray(state)
        damaged[rng.integers(len(state))] ^= 1 << int(rng.integers(8))
        (folder / BUILDING).write_bytes(damaged)
        try:
            build_index([TextFile(str(text))], folder, segment_sentences=3)
            assert Manifest.read(folder).fingerprint == expected
        except DataError as error:
            refused.append(error)
        (folder / MANIFEST).unlink(missing_ok=True)
    assert refused
    assert all(error.source == str(folder / BUILDING) for error in refused)


def _unfinished(text, folder):
    """Leave a build unfinished, and return its state."""
    from classic_rc.retrieval import building

    states, write = [], building.BuildState.write

    def record(self, folder, plan):
        write(self, folder, plan)
        states.append((folder / BUILDING).read_bytes())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(building.BuildState, "write", record)
        build_index([TextFile(str(text))], folder, segment_sentences=3)
    (folder / MANIFEST).unlink()
    return states[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(stamps=[]),
        lambda s: s.update(options=[]),
        lambda s: s["options"].update(inputs=3),
        lambda s: s["position"].__setitem__(0, 9),
        lambda s: s["position"].__setitem__(0, -1),
        lambda s: s["position"].__setitem__(2, 10**400),
        lambda s: s["position"].__setitem__(2, 0),
        lambda s: s["manifest"].update(segments={}),
    ],
)
def test_a_crafted_state_of_a_build_is_one_error(tmp_path, change):
    text = tmp_path / "lines.txt"
    text.write_text("".join(f"Fox number {i} ran.\n\n" for i in range(9)), encoding="utf-8")
    folder = tmp_path / "my index"
    state = json.loads(_unfinished(text, folder))
    change(state)
    (folder / BUILDING).write_text(json.dumps(state), encoding="utf-8")
    hint = f"Remove {quote_path(folder / BUILDING)} to discard the unfinished build, then start again"
    with raises(DataError, source=str(folder / BUILDING), hint=hint):
        build_index([TextFile(str(text))], folder, segment_sentences=3)
