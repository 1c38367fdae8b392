"""Chunks: runs of content words."""

from __future__ import annotations

import itertools
import re

from hypothesis import example, given
from hypothesis import strategies as st

from classic_rc.text.analyzers import get_analyzer, stop_words
from classic_rc.text.annotated import AnnotatedText, content_runs, locate_tokens
from classic_rc.text.sentences import split_sentences
from tests.text.builders import texts_of

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
    assert texts_of(text, chunks) == ["red fox", "old Tom"]
    assert [chunk.sentence for chunk in chunks] == [0, 1]


def test_a_text_of_stop_words_keeps_them():
    assert words("It was the") == [("it", "was", "the")]
    assert words("It was Tom") == [("tom",)]
    assert words("?!") == words("") == []


def test_words_can_be_chunks_by_themselves():
    assert words("The old fox", single=True) == [("old",), ("fox",)]


@given(st.text(alphabet="the fox-it .,A\n", max_size=60))
def test_chunks_lie_in_order_and_hold_their_words(text):
    sentences = split_sentences(text)
    chunks = content_runs(text, sentences, get_analyzer("word"), stop_words("nltk"))
    for chunk, next_chunk in itertools.pairwise(chunks):
        assert chunk.end <= next_chunk.start
    for chunk in chunks:
        assert chunk.words
        start, end = sentences[chunk.sentence]
        assert start <= chunk.start < chunk.end <= end
        assert text[chunk.start : chunk.end].lower().startswith(chunk.words[0])


SKIPPED = re.compile(r"(?:[\W_]|['’]\w+)*")


def locate_slowly(tokens, text):
    """Return what `locate_tokens` returns, by its definition; the pattern takes exponential
    time.
    """
    places, end = [], 0
    for token in tokens:
        start = text.find(token, end)
        if start >= 0 and SKIPPED.fullmatch(text, end, start):
            places.append((start, end := start + len(token)))
        elif not any(c.isalnum() for c in token) or (
            token[0] == token[-1] == "-" and token[1:-1].isalpha()
        ):
            places.append((end, end))
        else:
            return None
    return tuple(places) if SKIPPED.fullmatch(text, end) else None


@example("’_a", [])
@given(
    st.text("ab_'’ .-`é", max_size=14),
    st.lists(st.text("ab_'.-`é", min_size=1, max_size=3), max_size=5),
)
def test_tokens_are_located_as_by_a_slow_search(text, tokens):
    assert locate_tokens(tokens, text) == locate_slowly(tokens, text)


@given(st.text("ab_'’ .-", max_size=14), st.data())
def test_pieces_of_the_text_are_located_as_by_a_slow_search(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = [text[i:j] for i, j in itertools.pairwise(cuts)]
    tokens = [piece for piece in pieces if data.draw(st.booleans())]
    assert locate_tokens(tokens, text) == locate_slowly(tokens, text)


def test_long_stretches_between_tokens_take_linear_time():
    n = 20_000
    assert locate_tokens(["z"], "'_" * n + " x z") is None
    assert locate_tokens(["z"], "'_" * n + " z") == ((2 * n + 1, 2 * n + 2),)
    assert locate_tokens(["``"] * n, "." * n) == ((0, 0),) * n
    assert locate_tokens(["``"] * n, "." * n + "x``") is None
    assert locate_tokens(["_"] * n, "_" * n) == tuple((i, i + 1) for i in range(n))
    assert locate_tokens(["-q-"] * n, "'a." * n) == ((0, 0),) * n


def test_a_text_has_the_words_of_an_incomplete_annotation():
    assert AnnotatedText(("Fox", "fox", "den"), complete=False).fits("The FOX's den.")
    assert not AnnotatedText(("fox", "hen"), complete=False).fits("The fox's den.")
    assert AnnotatedText(("fox",) * 10_000, complete=False).fits("a " * 5_000 + "fox")
