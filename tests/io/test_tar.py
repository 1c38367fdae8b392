"""Members of tar archives: plain ones, which are read directly, equal those that tarfile finds."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.io import files, tar

_NAMES = st.sampled_from(
    ["a", "b/c.txt", "./b/d", "b//e", "RACE/dev/1.txt", "x" * 100, "x" * 101, "é", "a:b", "..", "a b"]
)
_MEMBERS = st.lists(
    st.tuples(_NAMES, st.binary(max_size=600), st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE])), max_size=5
)


def pack(members, form=tarfile.GNU_FORMAT, **facts):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, content, kind in members:
            info = tarfile.TarInfo(name)
            info.type = kind
            info.size = len(content) if kind == tarfile.REGTYPE else 0
            for fact, value in facts.items():
                setattr(info, fact, value)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@given(_MEMBERS, st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]), st.data())
@settings(max_examples=300)
def test_what_is_read_directly_is_what_tarfile_finds(members, form, data):
    content = bytearray(pack([m for m in members if form != tarfile.USTAR_FORMAT or len(m[0]) < 100], form))
    for position, value in data.draw(st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 255)), max_size=2)):
        content[position % len(content)] = value
    if len(content) >= 512 and data.draw(st.booleans()):  # so that the change is not found by the checksum
        content[148:156] = b" " * 8
        content[148:156] = b"%06o\0 " % sum(content[:512])
    content = bytes(content[: data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))])
    direct = tar._find_plain_members(content)
    if direct is not None:
        assert direct == list(tar._find_members(content, "a.tar"))


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_plain_archives_are_read_directly(form):
    members = [
        ("a", b"", tarfile.DIRTYPE),
        ("a/1.txt", b"one", tarfile.REGTYPE),
        ("a/2.txt", b"x" * 513, tarfile.REGTYPE),
    ]
    content = pack(members, form, mode=0o644, uid=1000, uname="someone")
    assert tar._find_plain_members(content) == list(tar._find_members(content, "a.tar"))
    found = [(path, bytes(part)) for path, part in tar.tar_members(content, "a.tar")]
    assert found == [(("a", "1.txt"), b"one"), (("a", "2.txt"), b"x" * 513)]


@pytest.mark.parametrize(
    ("names", "facts"),
    [
        (["é"], {}),
        (["/a"], {}),
        (["a/../b"], {}),
        (["C:/b"], {}),
        (["a\\b"], {}),
        (["a", "./a"], {}),
        (["a"], {"type": tarfile.SYMTYPE}),
        (["a"], {"uid": 1 << 30}),
        (["a" * 101], {}),
    ],
)
def test_what_is_not_plain_is_left_to_tarfile(names, facts):
    content = pack([(name, b"x" if not facts else b"", tarfile.REGTYPE) for name in names], **facts)
    assert tar._find_plain_members(content) is None


def test_a_wrong_checksum_or_a_missing_end_is_not_plain():
    content = pack([("a", b"text", tarfile.REGTYPE)])
    assert tar._find_plain_members(content) is not None
    assert tar._find_plain_members(content[:1024]) is None
    assert tar._find_plain_members(content[:1] + b"b" + content[2:]) is None


def test_limits_hold_for_plain_members(monkeypatch):
    content = pack([(name, b"text", tarfile.REGTYPE) for name in "abc"])
    monkeypatch.setattr(files, "MAX_FILES", 2)
    assert tar._find_plain_members(content) is None
    monkeypatch.setattr(files, "MAX_FILES", 3)
    assert tar._find_plain_members(content) is not None
    monkeypatch.setattr(files, "MAX_INPUT", 3)
    assert tar._find_plain_members(content) is None
