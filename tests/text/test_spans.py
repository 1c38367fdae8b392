"""The span generator and its lazy candidates."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Passage
from classic_rc.text.analyzers import stop_words
from classic_rc.text.scorers import SCORERS
from classic_rc.text.segmenters import NewmmTokenizer
from classic_rc.text.sentences import split_sentences
from classic_rc.text.spans import SpanCandidates, SpanGenerator, text_codes
from classic_rc.text.tokenizers import WordTokenizer
from tests.errors import raises
from tests.text.builders import texts_at, texts_of

WORDS = (
    "the|of|The|He|Fox|Hen|Fox's|fox|ran|it's|don't|$3.50|8%|3|e\u0301te\u0301's|"
    '.|,|"|\n\n|and|U.S.|May'
)
PROSE = st.lists(st.sampled_from(WORDS.split("|"))).map(" ".join)


def spans(text: str, **parameters) -> list[str]:
    return SpanGenerator(**parameters)(Passage("p", text)).texts()


def test_spans_begin_and_end_with_no_stop_word():
    assert spans("A fox of the north ran.") == [
        "fox",
        "fox of the north",
        "fox of the north ran",
        "north",
        "north ran",
        "ran",
    ]


def test_spans_have_at_most_max_tokens():
    assert spans("one two three four", max_tokens=2) == [
        "one",
        "one two",
        "two",
        "two three",
        "three",
        "three four",
        "four",
    ]


def test_spans_lie_within_a_sentence():
    assert spans("fox ran. hen hid.") == ["fox", "fox ran", "ran", "hen", "hen hid", "hid"]


@pytest.mark.parametrize(
    ("sentences", "texts"),
    [
        (((0, 3), (4, 13)), ["one", "two", "two three", "three"]),
        (((4, 7),), ["two"]),
        ((), []),
    ],
)
def test_spans_lie_within_the_sentences_that_a_dataset_marks(sentences, texts):
    passage = Passage("p", "one two three", sentences)
    assert SpanGenerator()(passage).texts() == texts


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("he met the Bank of England here", "Bank of England"),
        ("he met Charles de Gaulle here", "Charles de Gaulle"),
        ("he met J. R. R. Fox-Hen & Sons here", "J. R. R. Fox-Hen & Sons"),
        ("he heard The Who play", "The Who"),
        ("then May will", "May"),
        ("he saw A Fox Who Was in Love with the Sea now", "A Fox Who Was in Love"),
        ("The Fox and the Hen ran", "The Fox and the Hen"),
    ],
)
def test_names_are_in_whatever_their_length_and_words(text, name):
    assert name in spans(text, max_tokens=1, stop_words="smart")


def test_punctuation_ends_a_name():
    assert "Fox, Hen" not in spans("he met Fox, Hen", max_tokens=1)
    assert "Fox “Hen" not in spans("he met Fox “Hen”", max_tokens=1)


def test_stop_words_that_open_a_sentence_are_no_name():
    assert spans("The Who") == []
    assert spans("Run. He did.") == ["Run"]


def test_numbers_take_the_signs_that_touch_them_and_are_never_stop_words(tmp_path):
    stops = tmp_path / "stops.txt"
    stops.write_text("3\nof", encoding="utf-8")
    assert spans("$3.50 of 8%, 3 % of €", max_tokens=1, stop_words=str(stops)) == [
        "$3.50",
        "8%",
        "3",
    ]


def test_possessives_come_without_their_ending_too():
    assert spans("the fox's den") == ["fox", "fox's", "fox's den", "den"]
    assert spans("the fox’s") == ["fox", "fox’s"]


def test_clitics_make_no_content_of_a_stop_word():
    assert spans("they're here, he'd won; O'Hen ran", max_tokens=1) == ["O'Hen", "ran"]


def test_the_text_of_a_span_is_copied_from_the_passage():
    text = "un e\u0301te\u0301’s fin"
    candidates = SpanGenerator(max_tokens=1)(Passage("p", text))
    assert texts_of(text, candidates) == candidates.texts()
    assert "e\u0301te\u0301" in candidates.texts()


def test_spans_of_unspaced_scripts_are_runs_of_characters():
    assert spans("狐狸。", tokenizer="char") == ["狐", "狐狸", "狸"]


@given(PROSE | st.text(), st.integers(1, 5), st.sampled_from(["none", "lucene", "nltk"]))
def test_all_windows_are_spans_and_all_others_are_names_or_possessives(text, max_tokens, stop_list):
    candidates = SpanGenerator(max_tokens=max_tokens, stop_words=stop_list)(Passage("p", text))
    offsets = list(zip(candidates.starts.tolist(), candidates.ends.tolist(), strict=True))
    assert offsets == sorted(set(offsets))

    places = WordTokenizer().locate(text)
    words, stops = texts_at(text, places), stop_words(stop_list)
    bare = [word.lower().replace("’", "'") for word in words]
    is_plain = ["'" not in word and word not in stops for word in bare]
    in_one_sentence, windows = set(), set()
    for begin, finish in split_sentences(text):
        inside = [i for i, (start, end) in enumerate(places) if begin <= start and end <= finish]
        for first, last in itertools.combinations_with_replacement(inside, 2):
            in_one_sentence.add((first, last))
            if is_plain[first] and is_plain[last] and last < first + max_tokens:
                windows.add((first, last))
    ranges = candidates.first_tokens.tolist(), candidates.last_tokens.tolist()
    token_ranges = set(zip(*ranges, strict=True))
    assert windows <= token_ranges <= in_one_sentence
    for first, last in token_ranges - windows:
        name = all(word != word.lower() for word in (words[first], words[last]))
        assert name or "'" in bare[first] + bare[last]
        assert name or last < first + max_tokens


@given(PROSE)
def test_candidates_are_made_as_the_items_of_a_sequence(text):
    candidates = SpanGenerator(max_tokens=3)(Passage("p", text))
    listed = list(candidates)
    assert all(isinstance(candidate, Candidate) for candidate in listed)
    assert [c.text for c in listed] == candidates.texts() == texts_of(text, listed)
    assert len(candidates) == len(listed) == len(candidates.starts)
    for i in (0, -1) if listed else ():
        assert repr(candidates[i]) == repr(listed[i])
    with pytest.raises(IndexError):
        candidates[len(listed)]


def test_slices_stay_lazy():
    candidates = SpanGenerator()(Passage("p", "one two three four five"))
    every_third = candidates[2:9:3]
    assert isinstance(every_third, SpanCandidates)
    assert every_third.texts() == candidates.texts()[2:9:3]
    assert np.shares_memory(every_third.starts, candidates.starts)
    assert repr(every_third) == "<3 spans>"


def test_a_million_spans_are_arrays():
    candidates = SpanGenerator(max_tokens=2000, stop_words="none")(Passage("p", "fox " * 2000))
    assert len(candidates) == 2000 * 2001 // 2
    assert candidates.starts.dtype == candidates.ends.dtype == np.int32


@pytest.mark.parametrize("text", ["", " \n", "...", "的。"])
def test_little_text_makes_few_spans(text):
    assert len(SpanGenerator()(Passage("p", text))) == text.count("的")


def test_the_signature_names_all_parameters():
    assert SpanGenerator().signature == "max_tokens=10,stop_words=nltk,tokenizer=word"
    assert (
        SpanGenerator(max_tokens=3, stop_words="none").signature
        == "max_tokens=3,stop_words=none,tokenizer=word"
    )


@pytest.mark.parametrize(
    ("parameters", "field", "found_text", "expected"),
    [
        ({"max_tokens": 0}, "max_tokens", "0", "an integer of at least 1"),
        ({"max_tokens": 2.5}, "max_tokens", "2.5", "an integer of at least 1"),
        ({"stop_words": "nltkk"}, "stop list", "nltkk", "nltk"),
        ({"tokenizer": "treebank"}, "tokenizer", "treebank", re.compile("word.*char.*kiwi")),
    ],
)
def test_parameters_are_checked(parameters, field, found_text, expected):
    with raises(UsageError, field=field, found=found_text, expected=expected):
        SpanGenerator(**parameters)


def test_texts_between_blanks_and_marks_are_spans_whatever_their_length():
    span_texts = spans("狐狸在河边，乌鸦叫。", tokenizer="char", max_tokens=2, stop_words="none")
    assert {"狐狸在河边", "狐狸在河边，乌鸦叫", "狐狸", "乌"} <= set(span_texts)
    assert "狐狸在" not in span_texts


def test_signs_belong_to_the_number_and_not_to_the_next_character():
    assert {"95%", "95%以"} <= set(spans("有95%以上", tokenizer="char"))


def test_arabic_spans_begin_after_a_clitic_too():
    assert spans("والثعلب") == ["والثعلب", "الثعلب"]
    assert spans("وفد") == ["وفد"]


def test_the_signature_has_the_versions_of_a_dictionary(monkeypatch):
    monkeypatch.setattr(NewmmTokenizer, "version", "9.9")
    assert SpanGenerator(tokenizer="newmm").signature.endswith("tokenizer=newmm-9.9")
    with raises(UsageError, field="tokenizer"):
        SpanGenerator(tokenizer="whitespace")


@given(st.text("The ant, a 1.5\n’s-", max_size=60), st.sampled_from(sorted(SCORERS)))
def test_codes_of_spans_are_those_of_their_texts(text, name):
    def code_of(text: str) -> int:
        words = scorer.normalise(text).split()
        return sum(len(word) ** 2 + ord(word[0]) for word in words)

    scorer = SCORERS[name]
    spans = SpanGenerator()(Passage("p", text))
    for candidates in (spans, list(spans), [*spans, Candidate(""), Candidate(" a ")]):
        codes = text_codes(candidates, code_of, by_words=scorer.by_words)
        assert codes.tolist() == [code_of(candidate.text) for candidate in candidates]
