"""Readings: what a value can mean, and what all rows mean together; encoding and decoding are
inverse.
"""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.encodings import READINGS, MismatchError, decode, explain
from classic_rc.errors import DataError
from classic_rc.formats import get_format
from classic_rc.questions import Passage, Question, Task, TextCandidates
from tests.errors import raises

_DISTINCT = st.lists(
    st.text(string.ascii_lowercase, min_size=2), min_size=1, max_size=6, unique=True
)


@given(_DISTINCT, st.data())
def test_encoding_and_decoding_are_inverse(texts, data):
    right = data.draw(st.sets(st.sampled_from(range(len(texts)))))
    codes = {
        "index0": lambda i: i,
        "index1": lambda i: i + 1,
        "letter": lambda i: string.ascii_uppercase[i],
        "text": lambda i: texts[i],
    }
    for coding, code in codes.items():
        assert decode([code(i) for i in right], texts, coding) == right
    assert decode([i in right for i in range(len(texts))], texts, "flags") == right


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists),
    _DISTINCT,
)
def test_any_value_is_gold_or_a_mismatch(value, texts):
    for coding in READINGS:
        if coding in explain(value, texts):
            assert decode(value, texts, coding) <= set(range(len(texts)))
        else:
            with pytest.raises(MismatchError, match="expected"):
                decode(value, texts, coding)


@pytest.mark.parametrize(
    ("value", "texts", "labels", "right"),
    [
        ("A", ["w", "x", "y"], ["B", "C", "A"], {2}),
        ("(a)", ["w", "x", "y"], ["B", "C", "A"], {2}),
        ("A, B", ["w", "x", "y"], ["B", "C", "A"], {0, 2}),
        (3, ["w", "x", "y"], ["2", "3", "1"], {1}),
        ("option_b", ["w", "x"], ["option_a", "option_b"], {1}),
        ("B. w", ["w", "x"], ["B", "A"], {0}),
    ],
)
def test_labels_name_the_options_beside_them(value, texts, labels, right):
    assert decode(value, texts, "label", labels) == right


@pytest.mark.parametrize(
    ("value", "texts", "right"),
    [
        (True, ["no", "yes"], {1}),
        ("FALSE", ["yes", "no"], {1}),
        ("yes", ["true", "false"], {0}),
        (1990, ["1989", "1990"], {1}),
        ("007", ["7", "007"], {1}),
    ],
)
def test_texts_may_be_numbers_and_truths(value, texts, right):
    assert decode(value, texts, "text") == right


@pytest.mark.parametrize("text", ["A", "true", "007", "1990"])
def test_text_gold_in_own_columns_is_read_or_names_the_option(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(
        f"passage,question,candidate_0,candidate_1,gold\nP,Q,B,{text},{text}\n", "utf-8"
    )
    if text == "A":
        with raises(DataError, field="gold", hint=re.compile("--gold-as text")):
            load(path)
    else:
        assert load(path)[0].gold == {1}
    assert load(path, gold_as="text")[0].gold == {1}


def test_letters_in_own_columns_name_their_option(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("passage,question,candidate_0,candidate_1,gold\nP,Q,x,y,B\n", "utf-8")
    with raises(DataError, field="gold", hint=re.compile("--gold-as letter")):
        load(path)
    assert load(path, gold_as="letter")[0].gold == {1}


def test_one_stray_number_among_letters_is_refused_or_as_declared_no_answer():
    passage = Passage("p", "P")
    ask = [
        Question(f"q{i}", passage, "Q", TextCandidates("wxyz"), frozenset({0}), Task.SINGLE_CHOICE)
        for i in range(3)
    ]
    text = "id,answer\nq0,A\nq1,2\nq2,B\n"
    with raises(
        DataError, field="answer", where="line 3", hint=re.compile("reading=index0.*reading=letter")
    ):
        get_format("answers").read(text, ask, source="a")
    notes = []
    reading = (
        get_format("answers")
        .with_options({"reading": "letter"})
        .read(text, ask, source="a", notes=notes)
    )
    assert [p.answers for p in reading] == [(frozenset({0}),), (), (frozenset({1}),)]
    assert any("could not be parsed" in note for note in notes)


def test_labels_of_cosmos_qa_may_be_floats_as_pandas_writes_them(tmp_path):
    path = tmp_path / "valid.csv"
    header = "id,context,question,answer0,answer1,answer2,answer3,label"
    path.write_text(f"{header}\na,C,Q,w,x,y,z,0.0\nb,C,Q,w,x,y,z,3.0\nc,C,Q,w,x,y,z,\n", "utf-8")
    assert [question.gold for question in load(path)] == [{0}, {3}, None]
