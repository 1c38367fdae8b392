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
from classic_rc.encodings import (
    GOLD_AS,
    READINGS,
    MismatchError,
    Written,
    decide_mixed_reading,
    decide_reading,
    decode,
    explain,
)
from classic_rc.errors import DataError
from classic_rc.formats import get_format
from classic_rc.io.json import Node
from classic_rc.questions import Passage, Question, Task, TextCandidates
from tests.errors import raises

_DISTINCT = st.lists(
    st.text(string.ascii_lowercase, min_size=2), min_size=1, max_size=6, unique=True
)


@given(_DISTINCT, st.data())
def test_encoding_and_decoding_are_inverse(texts, data):
    positions = range(len(texts))
    right = data.draw(st.sets(st.sampled_from(positions)))
    letters = string.ascii_uppercase
    codes = {"index0": positions, "index1": range(1, 99), "letter": letters, "text": texts}
    for coding, codes_of_options in codes.items():
        assert decode([codes_of_options[i] for i in right], texts, coding) == right
    assert decode([i in right for i in positions], texts, "flags") == right


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


STRAY_NUMBER = "id,answer\nq0,A\nq1,2\nq2,B\n"


def three_questions():
    content = Passage("p", "P"), "Q", TextCandidates("wxyz"), frozenset({0}), Task.SINGLE_CHOICE
    return [Question(f"q{i}", *content) for i in range(3)]


def test_one_stray_number_among_letters_is_refused():
    choices = re.compile("reading=index0.*reading=letter")
    with raises(DataError, field="answer", where="line 3", hint=choices):
        get_format("answers").read(STRAY_NUMBER, three_questions(), source="a")


def test_one_stray_number_among_declared_letters_is_no_answer():
    letters = get_format("answers").with_options({"reading": "letter"})
    notes = []
    reading = letters.read(STRAY_NUMBER, three_questions(), source="a", notes=notes)
    assert [p.answers for p in reading] == [(frozenset({0}),), (), (frozenset({1}),)]
    assert any("could not be parsed" in note for note in notes)


def gold_rows(*values, texts=("red", "blue", "2")):
    """Rows of a file, each with its gold and the same options."""
    rows = []
    for line, value in enumerate(values, start=1):
        rows.append(Written(Node(value, "a", line), value, texts, explain(value, texts)))
    return rows


@pytest.mark.parametrize(
    ("values", "reading"),
    [((), "text"), ((0, 1), "index0"), ((3, 1), "index1"), (("B", "C"), "letter")],
)
def test_all_rows_together_decide_the_reading(values, reading):
    assert decide_reading(gold_rows(*values), option=GOLD_AS) == reading


def test_a_reading_is_to_be_chosen_where_rows_mean_different_options():
    meant = re.compile("index0: '2'; index1: 'blue'; text: '2'")
    with raises(DataError, field="gold", found=meant, hint=re.compile("--gold-as index1")):
        decide_reading(gold_rows("2"), option=GOLD_AS)


@pytest.mark.parametrize(
    ("values", "expected"),
    [((None, 1), " or ".join(READINGS.values())), (("B", None), READINGS["letter"])],
)
def test_a_row_without_a_reading_is_refused(values, expected):
    found = re.compile("null with the options 'red'")
    with raises(DataError, found=found, expected=expected):
        decide_reading(gold_rows(*values), option=GOLD_AS)


def test_a_row_without_a_reading_may_be_left_out():
    assert decide_reading(gold_rows("B", None), option=GOLD_AS, skip_bad=True) == "letter"


@pytest.mark.parametrize(("skip_bad", "hint"), [(True, "Choose what fits"), (False, "--skip bad")])
def test_rows_of_two_readings_are_refused_and_the_more_frequent_one_is_named_first(skip_bad, hint):
    rows = gold_rows("B", "red", "C")
    choices = r".*--gold-as letter \(2 of 3 rows\) or --gold-as text \(1 of 3 rows\)"
    with raises(DataError, where="line 2", hint=re.compile(hint + choices)):
        decide_reading(rows, option=GOLD_AS, skip_bad=skip_bad)


@pytest.mark.parametrize(("values", "reading"), [((), None), (("B", "C"), "letter")])
def test_answers_have_the_reading_of_all_of_them(values, reading):
    rows = gold_rows(*values)
    assert decide_mixed_reading(rows, rows, field="answer", option=GOLD_AS) == reading


def test_answers_without_a_common_reading_are_refused():
    rows = gold_rows("B", "red")
    with raises(DataError, field="answer", hint=re.compile("--gold-as letter or .*text")):
        decide_mixed_reading(rows, rows, field="answer", option=GOLD_AS)


def test_labels_of_cosmos_qa_may_be_floats_as_pandas_writes_them(tmp_path):
    path = tmp_path / "valid.csv"
    header = "id,context,question,answer0,answer1,answer2,answer3,label"
    path.write_text(f"{header}\na,C,Q,w,x,y,z,0.0\nb,C,Q,w,x,y,z,3.0\nc,C,Q,w,x,y,z,\n", "utf-8")
    assert [question.gold for question in load(path)] == [{0}, {3}, None]
