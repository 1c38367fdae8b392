"""Many texts are split in arrays exactly as one text is split by the rules."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Passage
from classic_rc.text.sentence_arrays import iter_sentence_texts, iter_sentences, split_many
from classic_rc.text.sentences import WORD_TABLES, split_sentences

WORDS = [
    *sorted(word for table in WORD_TABLES for word in table),
    *("fox", "He", "12", "1998", "ii", "XIV", "U.S", "J", "don't", "x-Corp", "Corp)", "“Bar”", "É"),
]
STOPS = [
    *(". ", "! ", "? ", '." ', ".) ", ".'' ", ". '' ", "... ", "… ", "?! ", " . "),
    *(".\n\n", ".", " ", ". . .\n", " . ''\n", "! !\n", "\r\n"),
]
STOPPED_WORDS = st.tuples(st.sampled_from(WORDS), st.sampled_from(STOPS)).map("".join)
TEXTS = st.lists(STOPPED_WORDS, max_size=30).map("".join)


def split_one_by_one(texts: list[str]) -> list[list[tuple[int, int]]]:
    return list(map(split_sentences, texts))


@given(st.lists(TEXTS | st.text() | st.text("aB.!?… \n\"')。3ก"), max_size=5))
def test_the_borders_are_those_of_the_rules(texts):
    assert list(iter_sentences(split_many(texts))) == split_one_by_one(texts)


@given(st.lists(TEXTS, max_size=5), st.integers(1, 100))
def test_the_size_of_a_chunk_does_not_matter(texts, size):
    with small_blocks(size):
        assert list(iter_sentences(split_many(texts))) == split_one_by_one(texts)


@pytest.mark.parametrize(
    "text", ["He ran. " * 200_000, "Mr. Fox ran... " * 9_000, " " * 100 + "1. A"]
)
def test_long_texts_are_split_as_one_by_one(text):
    assert list(iter_sentences(split_many([text, "", text]))) == split_one_by_one([text, "", text])


@pytest.mark.parametrize(
    "text", ["...", "....", ". A", "A.!", "He left . . .\n", "Who . ?\n", "\n. A"]
)
@pytest.mark.parametrize("neighbour", ["", "\n", "\nHe ran.", "He ran.\n", "He ran. " * 9_000])
def test_texts_that_end_at_once_or_in_a_line_end_are_split_as_one_by_one(text, neighbour):
    for texts in ([text], [neighbour, text], [text, neighbour]):
        assert list(iter_sentences(split_many(texts))) == split_one_by_one(texts)


def test_marked_passages_keep_their_sentences_among_others():
    text = "One. Two."
    plain, empty, marked = Passage("a", text), Passage("c", ""), Passage("b", text, ((0, 9),))
    passages = [plain, marked, empty, plain]
    assert list(iter_sentence_texts(passages)) == [["One.", "Two."], [text], [], ["One.", "Two."]]
    assert list(iter_sentence_texts([])) == []


def test_chunks_of_real_datasets_are_split_as_one_text_at_a_time(shared_data):
    texts: list[str] = []
    for name in ("dream/dev.json", "squad/dev-397-passages.json", "mutual/dev.jsonl"):
        content = (shared_data / name).read_text(encoding="utf-8")
        texts += [text.replace("<br>", "\n") for text in strings_of(content)]
    assert len(texts) > 5000
    assert list(iter_sentences(split_many(texts))) == split_one_by_one(texts)


def strings_of(content: str) -> list[str]:
    texts: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict | list):
            for member in value.values() if isinstance(value, dict) else value:
                collect(member)

    lines = content.split("\n")
    for document in lines if lines[0].endswith("}") else [content]:
        if document.strip():
            collect(json.loads(document))
    return texts
