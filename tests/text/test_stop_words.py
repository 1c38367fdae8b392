"""Stop lists by name and from files."""

from __future__ import annotations

import errno
import os
import re

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.text.analyzers import STOP_LISTS, stop_list_signature, stop_words
from tests.errors import raises


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("none", 0),
        ("smart", 570),
        ("mctest", 581),
        ("mcobzarenco", 585),
        ("lucene", 33),
        ("nltk", 179),
        ("sklearn", 318),
    ],
)
def test_a_list_has_as_many_words_as_published(name, size):
    assert len(stop_words(name)) == size


def test_every_list_is_described_in_a_sentence():
    assert all(description.endswith(".") for description in STOP_LISTS.values())


def test_published_lists_differ_from_smart_by_named_marks():
    assert stop_words("mctest") - stop_words("smart") == {
        ",",
        "?",
        ";",
        "_",
        "$",
        "'s",
        ".",
        "-LRB-",
        "-RRB-",
        '"',
        ":",
    }
    assert stop_words("mcobzarenco") - stop_words("mctest") == {"!", "'", "''", "``"}


@pytest.mark.parametrize(
    ("name", "file"), [("mctest", "stopwords.txt"), ("mcobzarenco", "mcobzarenco-stopwords.txt")]
)
def test_published_lists_are_those_of_the_released_files(name, file, shared_data):
    released = (shared_data / "mctest" / file).read_text(encoding="utf-8").splitlines()
    assert stop_words(name) == set(released)


def test_a_file_is_read_in_lower_case_without_blanks_and_byte_order_mark(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_bytes("\ufeffThe\r\n\r\n  été \nfox".encode())
    assert stop_words(str(file)) == {"the", "été", "fox"}


def test_a_missing_file_is_a_data_error_that_names_it():
    with raises(DataError, source="no/such.txt", hint=re.compile("smart")):
        stop_words("no/such.txt")


def test_a_file_in_another_encoding_is_a_data_error_that_names_the_byte(tmp_path):
    file = tmp_path / "latin.txt"
    file.write_bytes("the\nété".encode("latin-1"))
    with raises(DataError, source=str(file), where="byte 4", hint=re.compile("UTF-8")):
        stop_words(str(file))


def test_a_folder_is_a_data_error(tmp_path):
    with raises(DataError, source=f"{tmp_path}/", found=os.strerror(errno.EISDIR)):
        stop_words(f"{tmp_path}/")


def test_an_unknown_name_is_answered_with_the_nearest():
    with raises(UsageError, field="stop list", found="lucine", expected="lucene"):
        stop_words("lucine")


def test_a_files_signature_is_its_name_and_content_without_its_folder(tmp_path):
    for folder, words in (("a", "one\ntwo"), ("b", "two\none\n"), ("c", "three")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.txt").write_text(words, encoding="utf-8")
    a, b, c = (stop_list_signature(str(tmp_path / folder / "mine.txt")) for folder in "abc")
    assert a == b != c
    assert a.startswith("mine.txt@")
    assert stop_list_signature("smart") == "smart"
