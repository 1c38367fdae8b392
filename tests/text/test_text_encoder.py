"""Token ids of texts, against the analyzer's own tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.text import encode as text_encoder
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import TextEncoder

WORDS = (
    "The|a|fox|foxes,|(fox)|don't|U.S.|3.5|_|!|e\u0301t\u00e9|猫と犬|half past three|\n|\u00a0x|two  blanks".split(
        "|"
    )
)
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=12)


@pytest.mark.parametrize("spec", ["word", "lucene-english", "mctest+porter", "dream", "multirc2018+stop=smart"])
@settings(max_examples=60, deadline=None)
@given(groups=st.lists(st.lists(TEXT, max_size=5), max_size=3), size=st.integers(1, 40))
def test_ids_stand_for_the_analyzers_tokens(spec, groups, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_encoder, "_CHUNK_CHARACTERS", size)
        encoder, analyzer = TextEncoder(spec), get_analyzer(spec)
        for texts in groups:
            tokens, offsets = encoder.encode(texts)
            words = [encoder.vocabulary[token] for token in tokens.tolist()]
            expected = [analyzer.analyze(text) for text in texts]
            assert words == [word for own in expected for word in own]
            assert offsets.tolist() == [sum(map(len, expected[:i])) for i in range(len(texts) + 1)]


def test_ids_are_given_in_the_order_of_first_sight():
    encoder = TextEncoder("word")
    encoder.encode(["b a.", "A c"])
    encoder.encode(["d b"])
    assert encoder.vocabulary == ["b", "a", "c", "d"]


def test_a_piece_is_analysed_once(monkeypatch):
    encoder, seen = TextEncoder("word"), []
    tokenize = encoder._tokenizer.tokenize
    monkeypatch.setattr(encoder._tokenizer, "tokenize", lambda text: (seen.append(text), tokenize(text))[1])
    encoder.encode(["one fish two fish", "one"])
    encoder.encode(["two fish"])
    assert seen == ["one", "fish", "two"]
    assert encoder.n_pieces == 3
