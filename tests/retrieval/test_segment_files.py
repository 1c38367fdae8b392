"""Damaged and crafted files of an index: one clear error, or the answers of the undamaged index."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
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
    Manifest,
    StoredSegment,
    map_segment,
    write_segment,
)
from tests.errors import raises
from tests.retrieval.facts import check_index, edit_manifest, segment_files


@pytest.fixture
def index(tmp_path):
    return make_index(tmp_path, n_sentences=24)


def test_no_flipped_bit_changes_an_answer(index):
    outcomes = flip_bits(index, 200, seed=1)
    assert {outcome for _, outcome in outcomes} <= {REFUSED, SAME}
    assert (
        sum(count for (name, outcome), count in outcomes.items() if outcome == SAME) < 5
    )  # blanks of the manifest


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


@pytest.mark.parametrize("signed", [False, True])
def test_a_crafted_manifest_is_one_error_or_changes_no_answer(index, signed):
    whole, expected = json.loads((index / MANIFEST).read_text(encoding="utf-8")), read_answers(index)[:-1]
    places = [path for path in _places(whole) if "segments" not in path or path[1:2] in ((), (1,))]
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

            (index / MANIFEST).write_text(json.dumps(whole), encoding="utf-8")
            edit_manifest(index, change, signed=signed)
            try:
                assert read_answers(index)[:-1] == expected, (path, strange)
            except ClassicRCError as error:
                messages.append(str(error))
    assert len(messages) > 3 * len(places)
    assert max(map(len, messages)) < 600
    assert not any("\n" in message for message in messages)


def _craft(index: Path, change: Callable[[dict[str, np.ndarray]], Any]) -> Path:
    """Write other arrays into the second segment, so that all checksums fit, and return its path."""
    manifest = Manifest.read(index)
    arrays = {name: np.array(array) for name, array in map_segment(index, manifest.segments[1]).items()}
    change(arrays)
    name = manifest.segments[1].name
    stored = write_segment(index, name.removeprefix("segment-").removesuffix(".bin"), arrays)
    edit_manifest(index, lambda m: m["segments"].__setitem__(1, stored._asdict()))
    return index / name


def _rewrite_table(index: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Write another table of arrays into the second segment, so that all checksums fit, and return its path."""
    path = segment_files(index)[1]
    content = path.read_bytes()[:-32]
    length = int.from_bytes(content[-8:], "little")
    table = json.loads(content[-8 - length : -8])
    change(table)
    described = json.dumps(table).encode()
    content = content[: -8 - length] + described + len(described).to_bytes(8, "little")
    digest = hashlib.sha256(content)
    path.write_bytes(content + digest.digest())
    stored = StoredSegment(path.name, len(content) + 32, digest.hexdigest())
    edit_manifest(index, lambda m: m["segments"].__setitem__(1, stored._asdict()))
    return path


@pytest.mark.parametrize("first", range(16))
def test_swapped_arrays_are_refused(index, first):
    def swap(table):
        rows = table["arrays"]
        rows[first], rows[first + 1] = rows[first + 1], rows[first]

    table = []
    _rewrite_table(index, lambda m: table.extend(m["arrays"]))
    if table[first] == table[first + 1]:
        pytest.skip("these arrays have one type and length")
    path = _rewrite_table(index, swap)
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(path), hint=REPAIR_HINT):
            look(index)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table["arrays"].pop(),
        lambda table: table["arrays"].append(["|u1", 0]),
        lambda table: table["arrays"].__setitem__(3, ["<f8", table["arrays"][3][1]]),
        lambda table: table["arrays"].__setitem__(3, ["O", 1]),
        lambda table: table["arrays"].__setitem__(0, ["|u1", -64]),
        lambda table: table["arrays"].__setitem__(0, ["|u1", 10**400]),
        lambda table: table["arrays"].__setitem__(0, ["|u1", 10**9]),
        lambda table: table["arrays"].__setitem__(8, ["<i8", 2]),
        lambda table: table["arrays"].__setitem__(8, None),
        lambda table: table.pop("arrays"),
        lambda table: table.pop("key"),
        lambda table: table.update(key=3),
    ],
)
def test_a_wrong_table_of_arrays_is_refused(index, change):
    path = _rewrite_table(index, change)
    with raises(DataError, source=str(path), hint=REPAIR_HINT):
        open_corpus(index)


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
    path = _craft(index, lambda arrays: change(arrays[name]))
    found = re.compile(
        {"code_counts": "code_counts|posting_codes", "totals": "totals|posting_codes"}.get(name, name)
    )
    if name == "posting_sentences":
        found = re.compile("posting")
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(path), field=found, hint=REPAIR_HINT):
            look(index)


def test_a_text_that_begins_within_a_character_is_refused(tmp_path):
    (tmp_path / "text.txt").write_text("é é\né é\né é\né é\n", encoding="utf-8")
    build_index([TextFile(str(tmp_path / "text.txt"))], tmp_path / "index", segment_sentences=2)

    def shift(arrays):
        arrays["sentence_offsets"][1] -= 1

    path = _craft(tmp_path / "index", shift)
    with raises(DataError, source=str(path), field="sentence_data"):
        open_corpus(tmp_path / "index")


def test_a_segment_under_the_name_of_another_one_is_built_again(index, tmp_path):
    text = TextFile(str(index.parent / "lines.txt"))
    build_index([text], tmp_path / "whole", segment_sentences=4)
    expected = {path.name: path.read_bytes() for path in segment_files(tmp_path / "whole")}
    one, two, *_ = segment_files(tmp_path / "whole")
    (tmp_path / "whole" / MANIFEST).unlink()
    one.write_bytes(two.read_bytes())
    assert build_index([text], tmp_path / "whole", segment_sentences=4).kept == len(expected) - 1
    assert {path.name: path.read_bytes() for path in segment_files(tmp_path / "whole")} == expected


def _settle(index: Path) -> None:
    """Make the files old: file systems count changes in steps, so that a new file could change unnoticed."""
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
        path.write_bytes(content[:100] + bytes([content[100] ^ 4]) + content[101:])
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + (os.name == "nt")))
    with raises(DataError, source=str(path), hint=REPAIR_HINT):
        open_corpus(index)
    path.write_bytes(content)
    assert read_answers(index) == expected

    note = json.loads((index / VERIFIED).read_text(encoding="utf-8"))
    for damaged in ("", "{", "[]", "\0", json.dumps({path.name: 1}), json.dumps(dict.fromkeys(note, "0"))):
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
    whole = build_index([TextFile(str(text))], tmp_path / "index", segment_sentences=3).manifest
    path = segment_files(tmp_path / "index")[1]
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        (tmp_path / "index" / MANIFEST).unlink()
        built = build_index([TextFile(str(text))], tmp_path / "index", segment_sentences=3)
        assert (built.manifest, built.kept) == (whole, 2)
        assert path.read_bytes() == content
