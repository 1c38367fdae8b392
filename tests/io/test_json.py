"""Strict JSON parsing, and errors that name the place of a value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError
from classic_rc.io.json import Node, describe, parse_json

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES, st.booleans())
def test_what_python_writes_is_read_back(value, ascii):
    assert parse_json(json.dumps(value, ensure_ascii=ascii), "f") == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1, NaN]}', r"f, \$\.a\[1\]: not a JSON value: found NaN"),
        ("[-Infinity]", r"f, \$\[0\]: not a JSON value: found -Infinity"),
        ("[1e999]", r"f, \$\[0\]: number too large: found 1e999"),
        ('{"a b": ' + "9" * 5000 + "}", r"f, \$\['a b'\]: number too large: found an integer of 5,000 digits"),
        ('{"x": {"a": 1, "a": 2}}', r"f, \$\.x: a key stands twice in one object: found 'a'"),
        (r'["\ud83d"]', r"f, \$\[0\]: half of a surrogate pair"),
        (r'["\udE00\ud83d"]', r"f, \$\[0\]: half of a surrogate pair"),
        (r'{"\ud83d": 1}', "half of a surrogate pair in a key"),
        ("[" * 200_000, "f: JSON nested too deeply"),
        ('[{"a": 1, "a": 1}, ' + "[" * 200_000, "f: JSON nested too deeply"),
        ('{"a": 1,\n "b" 2}', r"f, line 2 column 6: not valid JSON \(expecting ':' delimiter\): found '2}'"),
        ('{"a": ', "f, line 1 column 7: not valid JSON .*: found the end of the text"),
        ("[1]\n[2]", r"f, line 2 column 1: not valid JSON \(more text after the JSON value\): found '\[2\]'"),
        ('["a\tb"]', "not valid JSON"),
        ('{"a": NaN, "b": }', "f, line 1 column 17: not valid JSON"),
    ],
)
def test_what_is_not_json_is_one_error_with_its_place(text, message):
    with pytest.raises(DataError, match=message):
        parse_json(text, "f")


def test_surrogate_pairs_and_escaped_backslashes_are_text():
    assert parse_json(r'["\ud83d\uDE00", "\\ud83d"]', "f") == ["\U0001f600", r"\ud83d"]


def test_a_line_of_many_is_named():
    with pytest.raises(DataError, match=r"f, line 7, \$\.a: not a JSON value"):
        parse_json('{"a": NaN}', "f", 7)
    with pytest.raises(DataError, match="f, line 7 column 2: not valid JSON"):
        parse_json("{", "f", 7)


_ROOT = {"data": [{"id": "x", "n": 3, "yes": True, "texts": ["a", 1], "none": None}]}


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (
            lambda node: node.text("n"),
            r"f, \$\.data\[0\], field 'n': wrong type: found the number 3, expected a string",
        ),
        (lambda node: node.text("gone"), "field 'gone': missing: found an object with id, n, yes, texts, none"),
        (lambda node: node.integer("yes"), "field 'yes': wrong type: found true, expected a whole number"),
        (lambda node: node.flag("n"), "field 'n': wrong type: found the number 3, expected true or false"),
        (lambda node: node.name("none"), "field 'none': wrong type: found null"),
        (lambda node: node.texts("texts"), r"\$\.data\[0\]\.texts, field '\[1\]': wrong type: found the number 1"),
        (lambda node: node.texts("id"), "field 'id': wrong type: found 'x', expected a list"),
        (lambda node: node.child("id"), "field 'id': wrong type: found 'x', expected an object or a list"),
        (
            lambda node: node.child("texts").text("a"),
            r"\$\.data\[0\]\.texts: wrong type: found a list of 2, expected an",
        ),
        (lambda node: node.child("texts").text(2), r"texts, field '\[2\]': missing: found a list of 2"),
        (lambda node: node.text(0), r"\$\.data\[0\]: wrong type: found an object .*, expected a list"),
        (lambda node: list(node.elements()), "expected a list"),
    ],
)
def test_a_node_says_what_it_expects(take, message):
    (node,) = Node(_ROOT, "f").items("data")
    with pytest.raises(DataError, match=message):
        take(node)


@given(_VALUES)
def test_every_value_is_described_in_a_few_words(value):
    assert 0 < len(describe(value)) < 500
