"""Archives are read without unpacking, and hostile ones are refused."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import struct
import tarfile
import tempfile
import tracemalloc
import zipfile
import zlib
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.files import MAX_INPUT, sha256_of
from classic_rc.io.members import archive_members
from tests.depth import examples
from tests.errors import raises


def _tar(*members: tuple[str, bytes], mode: Literal["w", "w:gz"] = "w:gz", **facts) -> bytes:
    """An archive of files; `facts` are set on every member's header."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode, format=tarfile.PAX_FORMAT) as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in facts.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(content) if info.isreg() else None)
    return stream.getvalue()


_SPECIAL = "a link, a device or a sparse file"
_DAMAGED = re.compile("^the archive is damaged")


@pytest.fixture
def article(content):
    """An article of RACE as its file has it."""
    return json.dumps(content("race")).encode()


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_tar_detection_ignores_the_file_name(tmp_path, article, mode):
    path = tmp_path / "download"
    path.write_bytes(
        _tar(("RACE/test/middle/7.txt", article), ("__MACOSX/RACE/._x", b"\0"), mode=mode)
    )
    dataset = load(path)
    assert (dataset.name, dataset.split, len(dataset)) == ("race.test", "test", 2)
    assert dataset.sources[0].path == str(path)
    assert dataset.notes == ("macOS metadata files skipped (._*, .DS_Store, __MACOSX): 1",)
    folder = tmp_path / "RACE" / "test" / "middle"
    folder.mkdir(parents=True)
    (folder / "7.txt").write_bytes(article)
    assert load(tmp_path / "RACE").fingerprint == dataset.fingerprint


def test_mctest_answers_are_found_in_an_archive(tmp_path, write):
    story = write(tmp_path, "mctest")
    members = [
        ("MCTest/mc160.dev.tsv", story.read_bytes()),
        ("MCTestAnswers/mc160.dev.ans", story.with_suffix(".ans").read_bytes()),
    ]
    (tmp_path / "mctest.tgz").write_bytes(_tar(*members))
    dataset = load(tmp_path / "mctest.tgz")
    assert dataset.fingerprint == load(story).fingerprint
    assert len(dataset.sources) == 1


def test_articles_are_in_numeric_order(tmp_path, content):
    members = []
    for number in (10, 9, 100):
        value = content("race") | {"id": f"middle{number}.txt"}
        members.append((f"RACE/dev/middle/{number}.txt", json.dumps(value).encode()))
    (tmp_path / "a.tar").write_bytes(_tar(*members, mode="w"))
    assert [passage.id for passage in load(tmp_path / "a.tar").passages] == [
        "middle9",
        "middle10",
        "middle100",
    ]


@pytest.mark.parametrize(
    ("names", "facts", "member", "reported", "expected"),
    [
        (["/etc/passwd"], {}, "//etc/passwd", "'/etc/passwd'", "a relative path without '..'"),
        (["a/../../b"], {}, "/a/../../b", "'a/../../b'", "a relative path without '..'"),
        (["..\\b"], {}, "/..\\b", r"'..\\b'", "a relative path without '..'"),
        (["C:/b"], {}, "/C:/b", "'C:/b'", "a relative path without '..'"),
        (
            ["a"],
            {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
            "/a",
            _SPECIAL,
            "plain files",
        ),
        (["a"], {"type": tarfile.FIFOTYPE}, "/a", _SPECIAL, "plain files"),
        (["a", "./a"], {}, "/./a", None, "unique names"),
        (["__MACOSX/._a"], {}, "", None, None),
    ],
)
def test_hostile_archives_are_refused(tmp_path, names, facts, member, reported, expected):
    data = _tar(*((name, b"" if facts else b"x") for name in names), **facts)
    path = tmp_path / "a.tar.gz"
    path.write_bytes(data)
    with raises(DataError, source=f"{path}{member}", found=reported, expected=expected) as caught:
        load(path)
    assert caught.value.exit_code == 3


def test_huge_members_are_refused_before_reading(tmp_path):
    header = tarfile.TarInfo("RACE/dev/middle/1.txt")
    header.size = 1 << 40
    (tmp_path / "a.tar").write_bytes(header.tobuf() + bytes(1024))
    with raises(DataError, found=f"{1 << 40:,} bytes", expected=f"at most {MAX_INPUT:,} bytes"):
        load(tmp_path / "a.tar")


def test_the_size_in_a_gzip_header_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_INPUT", 1_000_000)
    bomb = bytearray(gzip.compress(bytes(5_000_000)))
    bomb[-4:] = (10).to_bytes(4, "little")
    for name in ("a.tar.gz", "own.jsonl.gz"):
        (tmp_path / name).write_bytes(bomb)
        facts = {"found": "more than 1,000,000 bytes", "expected": "at most 1,000,000 bytes"}
        with raises(DataError, source=str(tmp_path / name), **facts):
            load(tmp_path / name)


def test_a_broken_header_is_not_the_end_of_the_archive(tmp_path, article):
    data = bytearray(
        _tar(("RACE/dev/middle/7.txt", article), ("RACE/dev/middle/8.txt", article), mode="w")
    )
    second = data.index(b"RACE/dev/middle/8.txt")
    data[second + 10] ^= 1
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    with raises(
        DataError, source=str(path), problem=re.compile(f"bad checksum at byte {second:,}")
    ):
        load(path)
    path.write_bytes(data[:second])
    with raises(DataError, source=str(path), problem=_DAMAGED):
        load(path)


def test_every_reader_reads_gzip_files(form, tmp_path, write):
    path = write(tmp_path, form)
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    if form == "race":  # the file's name is part of the format
        packed = packed.rename(path)
        assert len(load(packed)) == 2
    else:
        assert load(packed).fingerprint == load(path).fingerprint


def _zip(*members: tuple[str, bytes], **facts) -> bytes:
    """An archive of files; `facts` are set on every member's entry."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in facts.items():
                setattr(info, key, value)
            archive.writestr(info, content)
    return stream.getvalue()


def test_zip_archives_are_read_in_place(tmp_path, article, write):
    path = tmp_path / "download"
    path.write_bytes(
        _zip(("RACE/test/middle/7.txt", article), ("__MACOSX/RACE/._x", b"\0"), ("RACE/dev/", b""))
    )
    dataset = load(path)
    assert (dataset.name, dataset.split, len(dataset)) == ("race.test", "test", 2)
    (source,) = dataset.sources
    assert (source.path, source.sha256) == (str(path), sha256_of(path))
    assert dataset.notes == ("macOS metadata files skipped (._*, .DS_Store, __MACOSX): 1",)
    with tarfile.open(fileobj=io.BytesIO(_tar(("RACE/test/middle/7.txt", article)))) as tar:
        tar.extractall(tmp_path, filter="data")
    assert load(tmp_path / "RACE").fingerprint == dataset.fingerprint


def test_answers_can_be_in_another_archive(tmp_path, write):
    story = write(tmp_path, "mctest")
    answers = story.with_suffix(".ans").read_bytes()
    (tmp_path / "stories.zip").write_bytes(_zip(("MCTest/mc160.dev.tsv", story.read_bytes())))
    (tmp_path / "answers.zip").write_bytes(
        _zip(("MCTestAnswers/mc160.dev.ans", answers), ("readme", b""))
    )
    (tmp_path / "others.tar").write_bytes(_tar(("mc500.dev.ans", answers), mode="w"))
    assert load(tmp_path / "stories.zip")[0].gold is None
    dataset = load(tmp_path / "stories.zip", answers=tmp_path / "answers.zip")
    assert dataset.fingerprint == load(story).fingerprint
    archives = [str(tmp_path / name) for name in ("stories.zip", "answers.zip")]
    assert [source.path for source in dataset.sources] == archives
    source = str(tmp_path / "others.tar")
    with raises(DataError, source=source, found="mc500.dev.ans", expected="mc160.dev.ans"):
        load(tmp_path / "stories.zip", answers=source)


@pytest.mark.parametrize(
    ("names", "facts", "member", "reported", "expected"),
    [
        (["../evil.txt"], {}, "/../evil.txt", "'../evil.txt'", "a relative path without '..'"),
        (["/etc/evil"], {}, "//etc/evil", "'/etc/evil'", "a relative path without '..'"),
        (["c:/evil"], {}, "/c:/evil", "'c:/evil'", "a relative path without '..'"),
        (["a\\..\\b"], {}, "/a\\..\\b", "'a\\\\..\\\\b'", "a relative path without '..'"),
        (["a.txt", "./a.txt"], {}, "/./a.txt", None, "unique names"),
        (["link"], {"external_attr": 0o120777 << 16}, "/link", "a link", "plain files"),
    ],
)
def test_hostile_zip_archives_are_refused(tmp_path, names, facts, member, reported, expected):
    path = tmp_path / "a.zip"
    path.write_bytes(_zip(*((name, b"x") for name in names), **facts))
    with raises(DataError, source=f"{path}{member}", found=reported, expected=expected):
        load(path)


def test_encrypted_and_unknown_members_are_refused(tmp_path, article):
    path = tmp_path / "a.zip"
    data = _zip(("dev/middle/7.txt", article))
    entry = data.index(b"PK\x01\x02")
    for position, value, facts in (
        (8, 1, {"found": "an encrypted member"}),
        (10, 99, {"problem": _DAMAGED}),
    ):
        changed = bytearray(data)
        changed[entry + position] = value
        path.write_bytes(changed)
        with raises(DataError, source=f"{path}/dev/middle/7.txt", **facts):
            load(path)


def test_other_splits_of_an_archive_are_not_in_memory(tmp_path, article):
    others = [(f"RACE/train/middle/{i}.txt", bytes(2**20)) for i in range(20)]
    path = tmp_path / "RACE.tar.gz"
    path.write_bytes(_tar(*others, ("RACE/dev/middle/7.txt", article)))
    tracemalloc.start()
    try:
        assert len(load(path, split="dev")) == 2
        assert tracemalloc.get_traced_memory()[1] < 10 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("n_before", [None, 0, 1])
def test_an_archive_is_read_where_no_temporary_file_can_be_written(
    tmp_path, monkeypatch, article, n_before
):
    """`n_before` blocks fit on the disk; None: not even an empty file."""

    class FullDisk(io.BytesIO):
        def write(self, block):
            if self.tell() + len(block) > n_before * 2**20:
                raise OSError(28, "No space left on device")
            return super().write(block)

    def make_file(*_, **__):
        if n_before is None:
            raise FileNotFoundError(2, "No usable temporary directory found")
        return FullDisk()

    path = tmp_path / "RACE.tar.gz"
    path.write_bytes(_tar(("a", bytes(2**21)), ("RACE/dev/middle/7.txt", article)))
    expected = load(path)
    monkeypatch.setattr(tempfile, "TemporaryFile", make_file)
    dataset = load(path)
    assert (dataset.fingerprint, dataset.sources) == (expected.fingerprint, expected.sources)


def test_no_more_than_the_limit_of_a_zip_is_unpacked(tmp_path, monkeypatch, article):
    """ARC's archive has a corpus of 1.4 GB, which is not read with its questions."""
    monkeypatch.setattr(files, "MAX_INPUT", 1_000_000)
    path = tmp_path / "a.zip"
    members = ("0.txt", bytes(600_000)), ("1.txt", bytes(600_000)), ("dev/middle/7.txt", article)
    path.write_bytes(_zip(*members))
    (_, first), (_, second), (_, last) = archive_members(str(path), str(path))
    assert (len(first()), last()) == (600_000, article)
    with raises(
        DataError, source=f"{path}/1.txt", found="600,000 bytes", problem="too large when unpacked"
    ):
        second()
    path.write_bytes(_zip(("corpus", bytes(2_000_000)), ("dev/middle/7.txt", article)))
    assert len(load(path)) == 2
    monkeypatch.setattr(files, "MAX_FILES", 1)
    with raises(DataError, source=str(path), problem="too many members"):
        load(path)


def test_a_member_is_not_unpacked_beyond_the_size_in_its_entry(tmp_path):
    """A zip with a false size: 20 MB of blanks that its entry calls 10 bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(b"{" + b" " * 20_000_000) + packer.flush()
    name, sizes = b"x.jsonl", (0, len(body), 10)
    member = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 20, 0, 8, 0, 0, *sizes, 7, 0) + name + body
    facts = (20, 20, 0, 8, 0, 0, *sizes, 7, *[0] * 6)
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", *facts) + name
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(entry), len(member), 0)
    path = tmp_path / "false.zip"
    path.write_bytes(member + entry + end)
    tracemalloc.start()
    try:
        with raises(DataError, source=f"{path}/x.jsonl"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_an_empty_zip_is_refused(tmp_path):
    (tmp_path / "a.zip").write_bytes(_zip())
    with raises(DataError, source=str(tmp_path / "a.zip"), problem="the archive has no files"):
        load(tmp_path / "a.zip")


@given(
    st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(1, 255)), max_size=4),
    st.integers(0, 2_000),
)
@settings(
    max_examples=examples(25, 150), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_damaged_zip_is_read_or_raises_data_error(article, flips, cut):
    data = bytearray(_zip(("RACE/dev/middle/7.txt", article), ("RACE/dev/high/8.txt", article)))
    for position, mask in flips:
        data[position % len(data)] ^= mask
    with contextlib.suppress(DataError):
        members = archive_members(bytes(data[: len(data) - cut]), "a.zip")
        assert len([read() for _, read in members]) <= 2
