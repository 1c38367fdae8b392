"""Lines of plain and compressed files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError
from classic_rc.retrieval.reading import read_lines

PACKERS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def lines_of(path, **limits):
    return list(read_lines(str(path), lambda n_bytes: None, **limits))


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
def test_what_is_compressed_is_told_by_its_first_bytes(packer, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(packer("One.\r\nZwölf.\r\rThree".encode()))
    assert lines_of(path) == ["One.\n", "Zwölf.\n", "\n", "Three"]


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_parts_one_after_the_other_are_one_file(packer, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(packer(b"One.\nTw") + packer(b"o.\n"))
    assert lines_of(path) == ["One.\n", "Two.\n"]


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
def test_every_byte_of_the_file_is_reported(packer, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(packer(b"A line.\n" * 100_000))
    reported = []
    assert sum(1 for _ in read_lines(str(path), reported.append)) == 100_000
    assert sum(reported) == path.stat().st_size


def test_broken_utf8_is_replaced_and_nuls_and_genuine_text_stay(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"\xef\xbb\xbfa\xffb\nc\0d\n\xe2\x82\n\xe2\x82\xac\n")
    assert lines_of(path) == ["a\ufffdb\n", "c\0d\n", "\ufffd\n", "€\n"]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
def test_lines_are_divided_at_line_ends_alone(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("lines") / "corpus"
    path.write_bytes("".join(f"{text}\n" for text in texts).encode("utf-8"))
    # A mark at the very start is taken for a byte order mark, and some texts begin as archives do.
    if not texts or (texts[0][:1].isascii() and not texts[0].startswith(("PK\x03\x04", "BZh"))):
        assert lines_of(path) == [f"{text}\n" for text in texts]


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("kept", [0.5, 0.999])
def test_a_truncated_file_gives_its_lines_and_then_one_error(packer, kept, tmp_path):
    path = tmp_path / "corpus.gz"
    data = packer("".join(f"{number * number}\n" for number in range(300_000)).encode())
    path.write_bytes(data[: int(len(data) * kept)])
    read = []
    with pytest.raises(DataError, match=r"broken or cut short .*Get the whole file") as caught:
        read.extend(read_lines(str(path), lambda n_bytes: None))
    assert caught.value.source == str(path)


def test_altered_bytes_give_one_error(tmp_path):
    path = tmp_path / "corpus.gz"
    data = bytearray(gzip.compress(b"A line of text.\n" * 1000))
    data[-8] ^= 1  # its checksum
    path.write_bytes(data)
    with pytest.raises(DataError, match="broken or cut short"):
        lines_of(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("text".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"\x28\xb5\x2f\xfdrest", "zstd"),
        (gzip.compress(b"name".ljust(257, b"\0") + b"ustar".ljust(255, b"\0")), "a tar archive"),
    ],
)
def test_what_is_no_text_is_refused(content, what, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(content)
    with pytest.raises(DataError, match=what):
        lines_of(path)


def test_long_lines_are_whole_and_endless_ones_refused(tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(b"x" * 1_000_000 + b"\n" + b"y" * 1_000_000)
    assert [len(line) for line in lines_of(path)] == [1_000_001, 1_000_000]
    with pytest.raises(DataError, match="a line of more than"):
        lines_of(path, longest=1_000_001)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        lines_of(tmp_path / "nothing")


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
def test_standard_input_may_be_compressed_too_and_stays_open(packer, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(packer(b"One.\nTwo.\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert lines_of("-") == ["One.\n", "Two.\n"]
    assert not stdin.buffer.closed


def test_an_empty_file_has_no_line(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    assert lines_of(path) == []
