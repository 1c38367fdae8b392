"""From files, JSON lines and passages to sentences with their places."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sys

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Passage
from classic_rc.retrieval.reading import Passages, TextFile, find_files, first_line, read_texts

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


def records_of(source, start=1):
    return [tuple(record) for record in source.records(hashlib.sha256(), lambda n_bytes: None, start)]


def rows(*objects):
    return "".join(json.dumps(row) + "\n" for row in objects)


def test_a_line_is_a_sentence_unless_it_is_blank(write):
    path = write("a.txt", "One.\n\n \t\u3000\n  Two. Three. \n\0\n")
    assert records_of(TextFile(path)) == [(1, None, ["One."]), (4, None, ["Two. Three."]), (5, None, ["\0"])]


def test_paragraphs_are_divided_into_sentences(write):
    path = write("a.txt", f"\n{PARAGRAPH}\nOne.")
    assert records_of(TextFile(path, paragraphs=True)) == [(2, None, SENTENCES), (3, None, ["One."])]


def test_json_lines_give_a_field_and_an_id(write):
    path = write(
        "a", rows({"id": "n1", "body": PARAGRAPH}, {"id": 7, "body": " "}, {"body": "One."}, {"id": 9, "body": "T"})
    )
    source = TextFile(path, paragraphs=True, field="body")
    assert records_of(source) == [(1, "n1", SENTENCES), (3, None, ["One."]), (4, "9", ["T"])]
    assert records_of(TextFile(path, field="body", id_field="no"))[0] == (1, None, [PARAGRAPH])


def test_the_name_says_json_lines_as_well_as_the_first_line(write):
    for name in ("a.jsonl", "A.NDJSON", "a.jsonl.gz"):
        with pytest.raises(DataError, match="line 1"):
            records_of(TextFile(write(name, "No JSON.\n")))
    assert records_of(TextFile(write("a.txt", '{"text": "One."'))) == [(1, None, ['{"text": "One."'])]
    assert records_of(TextFile(write("a.txt", "One.\n" + rows({"text": "Two."}))))[1][2] == ['{"text": "Two."}']


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"text": 3}', r"line 2, field 'text': wrong type: found the number 3, expected a string"),
        ('{"txt": ""}', r"line 2, field 'text': missing: found an object with txt"),
        ('{"text": "a"', "line 2"),
        ("[]", "line 2"),
    ],
)
def test_a_malformed_row_is_one_error_with_its_place(write, row, message):
    path = write("a.jsonl", f'{{"text": "One."}}\n{row}\n')
    with pytest.raises(DataError, match=message) as caught:
        records_of(TextFile(path))
    assert caught.value.source == path


def test_reading_starts_anywhere_and_the_digest_holds_what_was_skipped(write):
    passages = Passages("p", [Passage("a", PARAGRAPH), Passage("b", "One.")])
    for source in (
        TextFile(write("a.txt", "One.\n\nTwo.\nThree.\n")),
        TextFile(write("a.jsonl", rows({"text": "One."}, {"text": ""}, {"text": "Two."}))),
        passages,
    ):
        whole = []
        digest = hashlib.sha256()
        for record in source.records(digest, lambda n_bytes: None):
            whole.append((record, digest.hexdigest()))
        for i, (record, _) in enumerate(whole):
            digest = hashlib.sha256()
            rest = []
            for later in source.records(digest, lambda n_bytes: None, record.number):
                rest.append((later, digest.hexdigest()))
            assert rest == whole[i:]


def test_passages_have_their_ids_and_the_sentence_marks_of_their_dataset():
    source = Passages("p", [Passage("a", PARAGRAPH), Passage("b", "One two.", ((0, 3), (4, 8)))])
    assert records_of(source) == [(1, "a", SENTENCES), (2, "b", ["One", "two."])]
    read = []
    list(source.records(hashlib.sha256(), read.append))
    assert sum(read) == source.size


def test_stamps_differ_where_content_does(write):
    path = write("a.txt", "One.")
    stamp = TextFile(path).stamp
    assert TextFile(path).stamp == stamp
    os.utime(path, ns=(1, 1))
    assert TextFile(path).stamp != stamp
    one = Passages("p", [Passage("a", "One.")])
    assert one.stamp == Passages("q", [Passage("a", "One.")]).stamp
    assert one.stamp != Passages("p", [Passage("b", "One.")]).stamp
    assert one.stamp != Passages("p", [Passage("a", "One.", ((0, 3),))]).stamp


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
    for path in (write("a.txt", "\n\n".join(texts)), write("a.jsonl", rows(*({"text": text} for text in texts)))):
        (source,) = read_texts(path)
        assert source.paragraphs is paragraphs
        assert read_texts(path, lines="paragraphs")[0].paragraphs
        assert not read_texts(path, lines="sentences")[0].paragraphs


def test_auto_looks_at_all_of_a_folder_together(write, tmp_path):
    write("f/a.txt", "One.\n")
    write("f/b.txt.gz", gzip.compress(PARAGRAPH.encode()))
    write("f/c.jsonl", rows({"text": "Two."}))
    assert [source.paragraphs for source in read_texts(str(tmp_path / "f"))] == [True] * 3


def test_an_unknown_kind_of_lines(write):
    with pytest.raises(UsageError, match="lines must be one of 'auto'"):
        read_texts(write("a.txt", "One."), lines="words")


def test_standard_input_is_sampled_and_read_from_its_start(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{PARAGRAPH}\nOne.\n".encode())))
    (source,) = read_texts("-")
    assert (source.name, source.size, source.stamp) == ("stdin", None, None)
    assert records_of(source) == [(1, None, SENTENCES), (2, None, ["One."])]


def test_folders_are_walked_in_one_order_without_what_is_hidden(write, tmp_path):
    for name in ("b/2.txt", "b/10.txt", "a.txt", "c.txt", ".hidden", ".git/x", "__MACOSX/y", "a/z/1.txt"):
        write(f"f/{name}", "One.")
    folder = tmp_path / "f"
    expected = ["a.txt", "c.txt", "a/z/1.txt", "b/10.txt", "b/2.txt"]
    assert find_files(str(folder)) == [str(folder.joinpath(*name.split("/"))) for name in expected]


def test_what_is_no_input(write, tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        find_files(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="the folder holds no file"):
        find_files(str(tmp_path / "empty"))


@pytest.mark.parametrize(
    ("content", "value"),
    [("\n\nOne.\nTwo.", "One.\n"), ('{"a": 1}\n', {"a": 1}), ("[1] One.", "[1] One."), ("[1]", [1]), ("\n", None)],
)
def test_the_first_line_and_its_json(write, content, value):
    assert first_line(write("a", content)) == value
