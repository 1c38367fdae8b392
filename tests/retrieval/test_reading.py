"""Sentences and their places, read from files, JSON lines and passages, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import sys
from errno import ENOENT
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError, UsageError
from classic_rc.io.text import read_line_blocks
from classic_rc.questions import Passage
from classic_rc.retrieval.reading import (
    LINE_KINDS,
    PassageInput,
    SentencePlaceWriter,
    TextFile,
    find_files,
    read_first_line,
    read_texts,
    sentence_place,
)
from tests.errors import raises

PARAGRAPH = "Nora planted beans. Rabbits ate them! Who built the fence?"
SENTENCES = ["Nora planted beans.", "Rabbits ate them!", "Who built the fence?"]


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    return write


def records_of(source):
    """Return the number, the label and the sentences of each record that has sentences."""
    records = []
    for block in source.blocks(lambda n_bytes: None):
        assert len(block.numbers) == len(block.sentences)
        for number, sentence in zip(block.numbers.tolist(), block.sentences, strict=True):
            if not records or records[-1][0] != number:
                records.append((number, block.labels.get(number), []))
            records[-1][2].append(sentence)
    return records


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def test_a_line_is_a_sentence_unless_it_is_blank(write):
    path = write("a.txt", "One.\n\n \t\u3000\n  Two. Three. \n\0\n")
    texts = {number: sentences for number, _, sentences in records_of(TextFile(path))}
    assert texts == {1: ["One."], 4: ["Two. Three."], 5: ["\0"]}


def test_paragraphs_are_divided_into_sentences(write):
    path = write("a.txt", f"\n{PARAGRAPH}\nOne.")
    assert records_of(TextFile(path, paragraphs=True)) == [
        (2, None, SENTENCES),
        (3, None, ["One."]),
    ]


def test_json_lines_give_a_field_and_an_id(write):
    path = write(
        "a",
        rows(
            {"id": "n1", "body": PARAGRAPH},
            {"id": 7, "body": " "},
            {"body": "One."},
            {"id": 9, "body": "T"},
        ),
    )
    source = TextFile(path, paragraphs=True, field="body")
    assert records_of(source) == [(1, "n1", SENTENCES), (3, None, ["One."]), (4, "9", ["T"])]
    with raises(DataError, field="no", line=1):
        records_of(TextFile(path, field="body", id_field="no"))


def test_json_lines_are_recognised_by_name_or_first_line(write):
    for name in ("a.jsonl", "A.NDJSON", "a.jsonl.gz"):
        with raises(DataError, source=write(name, "No JSON.\n"), line=1):
            records_of(TextFile(write(name, "No JSON.\n")))
    assert records_of(TextFile(write("a.txt", '{"text": "One."'))) == [
        (1, None, ['{"text": "One."'])
    ]
    assert records_of(TextFile(write("a.txt", "One.\n" + rows({"text": "Two."}))))[1][2] == [
        '{"text": "Two."}'
    ]


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ('{"text": 3}', {"field": "text", "found": "the number 3", "expected": "a string"}),
        ('{"txt": ""}', {"field": "text", "found": "an object with txt", "expected": "a string"}),
        ('{"text": "a"', {"problem": re.compile("JSON")}),
        ("[]", {"found": "an empty list", "expected": "an object"}),
    ],
)
def test_a_malformed_row_is_one_error_with_its_place(write, row, facts):
    path = write("a.jsonl", f'{{"text": "One."}}\n{row}\n')
    with raises(DataError, source=path, line=2, **facts):
        records_of(TextFile(path))


def test_passages_have_their_ids_and_the_sentence_marks_of_their_dataset():
    source = PassageInput(
        "p", [Passage("a", PARAGRAPH), Passage("b", "One two.", ((0, 3), (4, 8)))]
    )
    assert records_of(source) == [(1, "a", SENTENCES), (2, "b", ["One", "two."])]
    read = []
    list(source.blocks(read.append))
    assert sum(read) == source.size


@pytest.mark.parametrize(
    ("texts", "paragraphs"),
    [
        ([PARAGRAPH], True),
        (["One."], False),
        (["One."] * 3 + [PARAGRAPH], False),
        (["One."] * 2 + [PARAGRAPH], True),
        ([], False),
        (["One."] * 1000 + [PARAGRAPH] * 5000, False),
        (["One " * 300_000] + [PARAGRAPH] * 10, False),
    ],
)
def test_auto_looks_at_the_first_texts(write, texts, paragraphs):
    for path in (
        write("a.txt", "\n\n".join(texts)),
        write("a.jsonl", rows(*({"text": text} for text in texts))),
    ):
        (source,) = read_texts(path)
        assert source.paragraphs is paragraphs
        assert read_texts(path, lines="paragraphs")[0].paragraphs
        assert not read_texts(path, lines="sentences")[0].paragraphs


def test_auto_looks_at_all_of_a_folder_together(write, tmp_path):
    write("f/a.txt", "One.\n")
    write("f/b.txt.gz", gzip.compress(PARAGRAPH.encode(), mtime=0))
    write("f/c.jsonl", rows({"text": "Two."}))
    assert [source.paragraphs for source in read_texts(str(tmp_path / "f"))] == [True] * 3


def test_an_unknown_kind_of_lines(write):
    with raises(
        UsageError,
        field="lines",
        found="words",
        expected=f"one of {', '.join(map(repr, LINE_KINDS))}",
    ):
        read_texts(write("a.txt", "One."), lines="words")


def test_standard_input_is_sampled_and_read_from_its_start(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{PARAGRAPH}\nOne.\n".encode())))
    (source,) = read_texts("-")
    assert (source.name, source.size) == ("stdin", None)
    assert records_of(source) == [(1, None, SENTENCES), (2, None, ["One."])]


def test_folders_are_walked_in_a_fixed_order_without_hidden_files(write, tmp_path):
    for name in (
        "b/2.txt",
        "b/10.txt",
        "a.txt",
        "c.txt",
        ".hidden",
        ".git/x",
        "__MACOSX/y",
        "a/z/1.txt",
    ):
        write(f"f/{name}", "One.")
    folder = tmp_path / "f"
    expected = ["a.txt", "c.txt", "a/z/1.txt", "b/10.txt", "b/2.txt"]
    files = [Path(file).relative_to(folder).as_posix() for file in find_files(str(folder))]
    assert files == expected


def test_missing_inputs_are_refused(write, tmp_path):
    with raises(DataError, source=str(tmp_path / "nothing"), problem=re.compile("^no such file")):
        find_files(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with raises(DataError, source=str(tmp_path / "empty"), problem=re.compile("no files")):
        find_files(str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("\n\nOne.\nTwo.", "One."),
        ('{"a": 1}\n', {"a": 1}),
        ("[1] One.", "[1] One."),
        ("[1]", [1]),
        ("\n", None),
    ],
)
def test_the_first_line_and_its_json(write, content, value):
    assert read_first_line(write("a", content)) == value


PACKERS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def lines_of(path, **limits):
    return [
        line
        for lines in read_line_blocks(str(path), lambda n_bytes: None, **limits)
        for line in lines
    ]


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
def test_compression_is_recognised_by_the_first_bytes(packer, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(packer("One.\r\nZwölf.\r\rThree".encode()))
    assert lines_of(path) == ["One.", "Zwölf.", "", "Three"]


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_parts_one_after_the_other_are_one_file(packer, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(packer(b"One.\nTw") + packer(b"o.\n"))
    assert lines_of(path) == ["One.", "Two."]


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
def test_every_byte_of_the_file_is_reported(packer, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(packer(b"A line.\n" * 100_000))
    reported = []
    assert sum(map(len, read_line_blocks(str(path), reported.append))) == 100_000
    assert sum(reported) == path.stat().st_size


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf16_has_a_byte_order_mark(order, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes("\ufeffZwölf.\r\n€\n".encode(f"utf-16-{order}"))
    assert lines_of(path) == ["Zwölf.", "€"]


def test_broken_utf8_is_replaced_and_nuls_and_genuine_text_stay(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"\xef\xbb\xbfa\xffb\nc\0d\n\xe2\x82\n\xe2\x82\xac\n")
    assert lines_of(path) == ["a\ufffdb", "c\0d", "\ufffd", "€"]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))))
def test_lines_are_split_only_at_line_ends(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("lines") / "corpus"
    path.write_bytes("".join(f"{text}\n" for text in texts).encode("utf-8"))
    # U+FEFF at the very start is read as a byte order mark, and some texts begin like archives.
    if not texts or (texts[0][:1].isascii() and not texts[0].startswith(("PK\x03\x04", "BZh"))):
        assert lines_of(path) == texts


@pytest.mark.parametrize("packer", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("readable", [0.5, 0.999])
def test_a_truncated_file_gives_its_lines_and_then_one_error(packer, readable, tmp_path):
    path = tmp_path / "corpus.gz"
    data = packer("".join(f"{number * number}\n" for number in range(30_000)).encode())
    path.write_bytes(data[: int(len(data) * readable)])
    read = []
    with raises(
        DataError, source=str(path), problem=re.compile("damaged"), hint=re.compile("complete file")
    ):
        for lines in read_line_blocks(str(path), lambda n_bytes: None):
            read += lines


def test_altered_bytes_give_one_error(tmp_path):
    path = tmp_path / "corpus.gz"
    data = bytearray(gzip.compress(b"A line of text.\n" * 1000, mtime=0))
    data[-8] ^= 1  # its checksum
    path.write_bytes(data)
    with raises(
        DataError, source=str(path), problem=re.compile("damaged"), hint=re.compile("complete file")
    ):
        lines_of(path)


@pytest.mark.parametrize(
    ("content", "found_text"),
    [
        (b"PK\x03\x04rest", "a zip archive"),
        (b"\x28\xb5\x2f\xfd\x20\x9f\xe5\xc8", "bytes that are not UTF-8"),
        ("Кто пел?".encode("cp1251"), "bytes that are not UTF-8"),
        (
            gzip.compress(b"name".ljust(257, b"\0") + b"ustar".ljust(255, b"\0"), mtime=0),
            "a tar archive",
        ),
    ],
)
def test_formats_other_than_text_are_refused(content, found_text, tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(content)
    with raises(DataError, source=str(path), found=found_text, expected=re.compile("^UTF-8 text")):
        lines_of(path)


def test_long_lines_are_complete_and_endless_ones_refused(tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(b"x" * 1_000_000 + b"\n" + b"y" * 1_000_000)
    assert [len(line) for line in lines_of(path)] == [1_000_000, 1_000_000]
    with raises(
        DataError,
        source=str(path),
        found="at least 1,000,000 characters",
        expected="fewer than 1,000,000",
    ):
        lines_of(path, longest=1_000_000)


def test_a_missing_file_is_an_error(tmp_path):
    with raises(
        DataError, source=str(tmp_path / "nothing"), problem=re.compile(os.strerror(ENOENT))
    ):
        lines_of(tmp_path / "nothing")


@pytest.mark.parametrize("packer", PACKERS.values(), ids=PACKERS)
def test_standard_input_may_be_compressed_too_and_stays_open(packer, monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(packer(b"One.\nTwo.\n")))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert lines_of("-") == ["One.", "Two."]
    assert not stdin.buffer.closed


def test_an_empty_file_has_no_line(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    assert lines_of(path) == []


RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["a.txt", "b.jsonl", "ç"]),
        st.integers(1, 2**40),
        st.none() | st.text(st.characters(exclude_categories=["Cs"])),
        st.integers(0, 3),
    ),
    max_size=12,
)


@given(RECORDS)
def test_every_sentence_finds_its_input_and_its_line_or_label(records):
    writer, expected = SentencePlaceWriter(), []
    for name, number, label, n_sentences in records:
        numbers = np.full(n_sentences, number)
        writer.add(name, numbers, {} if label is None else {number: label})
        place = f"{name}:{number}" if label is None else f"{name}#{label}"
        expected += [place] * n_sentences
    arrays = writer.arrays()
    assert [sentence_place(arrays, i) for i in range(len(expected))] == expected
    assert len(arrays["places"]) == len(expected)


def test_records_with_and_without_labels_come_in_one_block():
    writer = SentencePlaceWriter()
    writer.add("a", np.array([1, 1, 2, 3, 5]), {1: "one", 3: "three", 4: "no sentence"})
    writer.add("a", np.array([5, 7]), {5: "five", 7: "seven"})
    arrays = writer.arrays()
    assert [
        sentence_place(arrays, i) for i in range(7)
    ] == "a#one a#one a:2 a#three a:5 a#five a#seven".split()
    assert len(arrays["label_offsets"]) - 1 == 4


def test_places_have_four_bytes_per_sentence_if_possible():
    writer = SentencePlaceWriter()
    writer.add("a", np.full(5, 2**31 - 1), {})
    assert writer.arrays()["places"].dtype == np.int32
    writer.add("a", np.array([2**31]), {})
    assert writer.arrays()["places"].dtype == np.int64
