"""The sentence splitter, rule by rule and on text with marked sentence ends."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.questions import Passage
from classic_rc.text.sentences import SENTENCE_MARKS, passage_sentences, split_sentences
from tests.text.builders import texts_at


def sentences(text: str) -> list[str]:
    return texts_at(text, split_sentences(text))


# Each example is a text with a bar where sentences are to be split.
EXAMPLES = [
    # plain stops, careless writers
    "The fox ran. | He hid! | Did she see him? | Yes.",
    "he ran. | she hid.",
    "It cost 3.50 and v1.2 of fox.txt was fine. | Then 5 came.",
    "The year was 1990. | Nothing happened.",
    "No stop at the end. | here neither",
    # titles and what is always continued
    "Mr. Fox met Dr. J. Hen and Prof. Owl. | They left.",
    "He met Mrs. Hen. | Gen. Dog came.",
    "Some animals, e.g. Foxes, run, i.e. They flee, vs. Hens.",
    "Foxes et al. (2013) ran. | See Foxes et al. | The end.",
    # numbers
    "See No. 5 and pp. 7 of vol. 2 now. | He said no. | Five left.",
    "On Jan. 5 it rained. | It rained in Jan. | It was cold. | In Feb. 2001 too.",
    # amounts and times
    "He came at 5 p.m. | Fox left at 6 a.m. | Then Hen slept.",
    "At 5 p.m. Friday and 6 p.m. EST he came at 7 p.m. or so.",
    "Foxes, hens, etc. | Dogs too. | Hens, etc. and dogs.",
    # initials and letters
    "J. K. Fox and A. A. Hen read J.-P. Owl. | She slept.",
    "Take vitamin C. | Oranges have it. | Plan B. | Run.",
    "George W. Fox ran. | It was by Fox B. | He said so.",
    # abbreviations that may end a sentence
    "The U.S. Army left the U.S. | They went to St. Ives on Main St. | There they stayed.",
    "Fox Inc. said so. | Fox Jr. ran. | He works at Fox Inc. | She does not.",
    "He lived in Washington, D.C. | It was hot.",
    # ellipses
    "Well... I see. | Wait... | He left. | And so… she ran… | They hid.",
    "Oh . . . no. | Oh. . . | No.",
    # quotes and brackets
    'He said, "I left." | She said, "Why?" | "I see."',
    '"Stop!" said Lion. | "Why?" asked Fox. | "I like it." she said.',
    "‘Go.’ | “He went.” | (They left.) | [Then he came.] | It's (sic!) here.",
    '"No." | John left. | "He is from the U.S." | They know.',
    "He barked, ''Woof.'' | It was loud. | `` Now . '' | He went.",
    "- He ran. | - She hid. | • Both slept.",
    "What?! | No way!! | Really?",
    # enumerations
    "1. Open the box. | 2. Close it. | (a) Lock it.",
    "A. Fox. | B. Hen.",
    # other scripts
    "他走了。 | 她来了！ | 「好。」 | 真的？ | 3。",
    "वह गया। | वह आई।",
    "ذهب الثعلب. | جاءت الدجاجة؟ | نعم.",
]


@pytest.mark.parametrize("marked", EXAMPLES)
def test_texts_are_split_at_the_marked_borders(marked):
    expected = marked.split(" | ")
    assert sentences(" ".join(expected)) == expected


def test_full_width_stops_need_no_blank():
    assert sentences("他走了。「她来了！」真的？") == ["他走了。", "「她来了！」", "真的？"]


def test_blank_lines_separate_and_line_ends_do_not():
    assert sentences("A title\n \nthe fox\nran. He\thid.\r\n\r\n\r\nEnd") == [
        "A title",
        "the fox\nran.",
        "He\thid.",
        "End",
    ]


@given(st.text() | st.text("aB.!?… \n\"')。3") | st.lists(st.sampled_from(EXAMPLES)).map("\n".join))
def test_sentences_cover_all_but_blanks_in_order(text):
    sentences = split_sentences(text)
    for sentence in texts_at(text, sentences):
        assert sentence.strip() == sentence != ""
    borders = [0, *itertools.chain(*sentences), len(text)]
    assert borders == sorted(borders)
    gaps = zip(borders[::2], borders[1::2], strict=True)
    assert not "".join(texts_at(text, gaps)).strip()


def test_a_datasets_own_marks_are_respected():
    text = "One. Two. Three."
    assert passage_sentences(Passage("p", text)) == ((0, 4), (5, 9), (10, 16))
    assert passage_sentences(Passage("p", text, sentences=((0, 9),))) == ((0, 9),)
    assert passage_sentences(Passage("p", text, sentences=())) == ()


def test_sentences_agree_with_the_marks_of_multirc(shared_data):
    agreed = missed = wrong = 0
    for file in sorted((shared_data / "multirc").glob("*.json")):
        for paragraph in json.loads(file.read_text(encoding="utf-8"))["data"]:
            marked = re.findall(
                r"<b>Sent \d+: </b>(.*?)<br>", paragraph["paragraph"]["text"], re.DOTALL
            )
            marked = [sentence.strip() for sentence in marked if sentence.strip()]
            ends, text = set(), ""
            for sentence in marked:
                text += sentence
                ends.add(len(text))
                text += " "
            sentence_ends = {end for _, end in split_sentences(text)}
            agreed += len(ends & sentence_ends)
            missed += len(ends - sentence_ends)
            wrong += len(sentence_ends - ends)
    # Most of what is left are the marks' own mistakes: 'The crash occurred about 6:45 p.m. | at
    # Hurlburt Field'.
    assert agreed > 7000
    assert missed < 0.01 * agreed
    assert wrong < 0.01 * agreed


@pytest.mark.parametrize(("unit", "ends"), [("日本。", True), ("何？」", True), ("e.g.", False)])
def test_long_text_without_blanks_is_split_at_full_width_marks_only(unit, ends):
    n, text = 50_000, unit * 50_000
    assert sentences(text) == ([unit] * n if ends else [text])


@pytest.mark.parametrize("marks", SENTENCE_MARKS.values())
def test_the_marks_of_each_language_end_a_sentence(marks):
    for mark in marks:
        assert sentences(f"狐{mark} 狸") == [f"狐{mark}", "狸"]


def test_a_blank_between_letters_of_thai_ends_a_sentence_unless_it_is_no_border():
    text = "สวัสดี ครับ 3 คน (abc) ไป"
    assert sentences(text) == ["สวัสดี", "ครับ 3 คน (abc) ไป"]
    assert split_sentences(text, at_blanks=False) == [(0, len(text))]
