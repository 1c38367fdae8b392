"""Sentences of dialogues, without the labels of their speakers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.questions import Passage
from classic_rc.text.dream import spoken_sentences
from classic_rc.text.sentences import passage_sentences
from tests.text.builders import texts_of

LINES = st.lists(
    st.sampled_from(
        ["W: Hi. How are you?", "Mary Ann: Fine", "no label", "", "at 5:30: late", "M:"]
    )
)


def spoken(text: str) -> list[tuple[str, int, str]]:
    sentences = spoken_sentences(Passage("p", text))
    return [(text[start:end], turn, speaker) for start, end, turn, speaker in sentences]


def test_turns_end_sentences_and_labels_are_left_out():
    assert spoken("W: Hi, Bob. Tired?\nBob Ray: Yes\nW: So am I") == [
        ("Hi, Bob.", 0, "W"),
        ("Tired?", 0, "W"),
        ("Yes", 1, "Bob Ray"),
        ("So am I", 2, "W"),
    ]


def test_text_before_the_first_turn_has_no_speaker():
    assert spoken("They met. \nA: Hi\nB: Hello")[0] == ("They met.", -1, "")


@pytest.mark.parametrize(
    "text",
    [
        "One thing: he ran.",
        "He said this.\nShe said: no\nThen they left.\nNote: all of them",
        "At 5:30 he ran.\nAt 6:30 she ran.",
        "One two three four: too long for a label\nfive six seven eight: too",
    ],
)
def test_other_text_keeps_its_sentences(text):
    passage = Passage("p", text)
    sentence_bounds = [(s.start, s.end) for s in spoken_sentences(passage)]
    assert sentence_bounds == list(passage_sentences(passage))
    assert {(s.turn, s.speaker) for s in spoken_sentences(passage)} == {(-1, "")}


def test_the_datasets_own_marks_are_kept():
    passage = Passage("p", "A: Hi\nB: Hello", ((0, 5), (6, 14)))
    assert spoken_sentences(passage) == [(0, 5, -1, ""), (6, 14, -1, "")]


@given(LINES)
def test_sentences_are_in_order_and_hold_all_letters_but_labels(lines):
    text = "\n".join(lines)
    sentences = spoken_sentences(Passage("p", text))
    for sentence, next_sentence in pairwise(sentences):
        assert sentence.end <= next_sentence.start
        assert sentence.turn <= next_sentence.turn
    is_dialogue = any(sentence.turn >= 0 for sentence in sentences)
    for letters in texts_of(text, sentences):
        assert letters.strip() == letters != ""
        assert not (is_dialogue and letters.startswith(("W:", "Mary Ann:", "M:")))
