"""Chunks: runs of content words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.annotated import content_runs
from classic_rc.text.sentences import split_sentences
from classic_rc.text.stop_words import stop_words

STOPS = frozenset("the of and in it was who".split())


def words(text, sentences=None, **options):
    sentences = [(0, len(text))] if sentences is None else sentences
    return [c.words for c in content_runs(text, sentences, get_analyzer("word"), STOPS, **options)]


def test_stop_words_and_punctuation_separate():
    assert words("The old fox, sly Tom and it") == [("old", "fox"), ("sly", "tom")]
    assert words("fox. Tom") == [("fox",), ("tom",)]
    assert words("fox\nTom") == [("fox", "tom")]


def test_a_hyphen_joins_and_a_dash_separates():
    assert words("a well-known fox") == [("a", "well", "known", "fox")]
    assert words("fox - Tom") == [("fox",), ("tom",)]
    assert words("fox—Tom") == [("fox",), ("tom",)]


def test_borders_of_sentences_separate():
    text = "red fox old Tom"
    assert words(text, [(0, 7), (8, 15)]) == [("red", "fox"), ("old", "tom")]
    chunks = content_runs(text, [(0, 7), (8, 15)], get_analyzer("word"), STOPS)
    assert [(text[c.start : c.end], c.sentence) for c in chunks] == [("red fox", 0), ("old Tom", 1)]


def test_a_text_of_stop_words_keeps_them():
    assert words("It was the") == [("it", "was", "the")]
    assert words("It was Tom") == [("tom",)]
    assert words("?!") == words("") == []


def test_words_by_themselves():
    assert words("The old fox", single=True) == [("old",), ("fox",)]


@given(st.text(alphabet="the fox-it .,A\n", max_size=60))
def test_chunks_lie_in_order_and_hold_their_words(text):
    sentences = split_sentences(text)
    chunks = content_runs(text, sentences, get_analyzer("word"), stop_words("nltk"))
    assert all(one.end <= other.start for one, other in zip(chunks, chunks[1:], strict=False))
    for chunk in chunks:
        assert chunk.words
        start, end = sentences[chunk.sentence]
        assert start <= chunk.start < chunk.end <= end
        assert text[chunk.start : chunk.end].lower().startswith(chunk.words[0])
