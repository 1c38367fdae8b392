"""Members of tar archives are those that tarfile finds, and limits hold for all of them."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.errors import DataError
from classic_rc.io import files
from classic_rc.io.members import archive_members
from tests.depth import examples
from tests.errors import raises

_NAMES = st.sampled_from(
    [
        "a",
        "b/c.txt",
        "./b/d",
        "b//e",
        "RACE/dev/1.txt",
        "x" * 100,
        "x" * 101,
        "é",
        "a:b",
        "..",
        "a b",
    ]
)
_MEMBERS = st.lists(
    st.tuples(_NAMES, st.binary(max_size=600), st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE])),
    max_size=5,
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


def read(content):
    return [(path, bytes(member())) for path, member in archive_members(content, "a.tar")]


def read_with_tarfile(content):
    """What tarfile finds, which is slow."""
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        members = []
        for member in filter(tarfile.TarInfo.isreg, archive):
            components = [part for part in member.name.split("/") if part != "."]
            members.append((tuple(components), archive.extractfile(member).read()))
        return members


@given(
    _MEMBERS,
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    st.data(),
)
@settings(max_examples=examples(50, 300))
def test_the_members_are_those_that_tarfile_finds(members, form, data):
    """Also in damaged archives: what is read at all is read as tarfile reads it."""
    if form == tarfile.USTAR_FORMAT:
        members = [member for member in members if len(member[0]) < 100]
    content = bytearray(pack(members, form))
    for position, value in data.draw(
        st.lists(st.tuples(st.integers(0, 4096), st.integers(0, 255)), max_size=2)
    ):
        content[position % len(content)] = value
    # so that the change is not found by the checksum
    if len(content) >= 512 and data.draw(st.booleans()):
        content[148:156] = b" " * 8
        content[148:156] = b"%06o\0 " % sum(content[:512])
    size = data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content))))
    content = bytes(content[:size])
    try:
        stored_members = read(content)
    except DataError:
        return
    expected = [(tuple(filter(None, path)), text) for path, text in read_with_tarfile(content)]
    assert stored_members == expected


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_plain_archives_are_read_as_tarfile_does(form, monkeypatch):
    members = [
        ("a", b"", tarfile.DIRTYPE),
        ("a/1.txt", b"one", tarfile.REGTYPE),
        ("a/2.txt", b"x" * 513, tarfile.REGTYPE),
    ]
    content = pack(members, form, mode=0o644, uid=1000, uname="someone")
    monkeypatch.setattr(
        tarfile, "open", lambda *args, **kwargs: pytest.fail("tarfile, which is slow, is asked")
    )
    assert read(content) == [(("a", "1.txt"), b"one"), (("a", "2.txt"), b"x" * 513)]


@pytest.mark.parametrize("name", ["a", "a" * 101, "é"], ids=["plain", "long", "accent"])
@pytest.mark.parametrize(("limit", "n_allowed"), [("MAX_FILES", 2), ("MAX_INPUT", 3)])
def test_limits_hold_for_all_members(monkeypatch, name, limit, n_allowed):
    content = pack([(f"{name}{i}", b"text", tarfile.REGTYPE) for i in range(3)])
    assert len(read(content)) == 3
    monkeypatch.setattr(files, limit, n_allowed)
    with raises(DataError):
        read(content)
