"""Strict JSON parsing, and errors that name the place of a value."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError
from classic_rc.io.json import Node, describe_value, parse_json
from tests.errors import raises

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(_VALUES, st.booleans())
def test_python_json_round_trips(value, ascii):
    assert parse_json(json.dumps(value, ensure_ascii=ascii), "f") == value


@pytest.mark.parametrize(
    ("text", "where", "found_text", "expected"),
    [
        ('{"a": [1, NaN]}', "$.a[1]", "NaN", "a finite number or null"),
        ("[-Infinity]", "$[0]", "-Infinity", "a finite number or null"),
        ("[1e999]", "$[0]", "1e999", "a finite number"),
        ('{"a b": ' + "9" * 5000 + "}", "$['a b']", "an integer of 5,000 digits", "at most 4,000"),
        ('{"x": {"a": 1, "a": 2}}', "$.x", "'a'", "each key once"),
        (r'["\ud83d"]', "$[0]", r"'\ud83d'", "complete characters"),
        (r'["\udE00\ud83d"]', "$[0]", r"'\ude00\ud83d'", "complete characters"),
        (r'{"\ud83d": 1}', "$", r"'\ud83d'", "complete characters"),
        ('{"a": 1,\n "b" 2}', "line 2 column 6", "'2}'", None),
        ('{"a": ', "line 1 column 7", "the end of the text", None),
        ("[1]\n[2]", "line 2 column 1", "'[2]'", None),
        ('["a\tb"]', "line 1 column 4", "'\\tb\"]'", None),
        ('{"a": NaN, "b": }', "line 1 column 17", "'}'", None),
    ],
)
def test_malformed_json_is_refused(text, where, found_text, expected):
    with raises(DataError, source="f", where=where, found=found_text, expected=expected):
        parse_json(text, "f")


@pytest.mark.parametrize("start", ["", '[{"a": 1, "a": 1}, '])
def test_deep_nesting_is_one_error(start):
    with raises(DataError, source="f", where=None, problem=re.compile("nested too deeply")):
        parse_json(start + "[" * 200_000, "f")


def test_a_repeated_key_among_many_is_found_in_one_pass():
    """A comparison for each pair of 200,000 keys would take minutes."""
    keys = [*range(200_000), 199_999]
    with raises(DataError, where="$", found="'199999'"):
        parse_json("{" + ", ".join(f'"{key}": 0' for key in keys) + "}", "f")


def test_the_first_repeated_key_is_named():
    with raises(DataError, where="$.x", found="'b'"):
        parse_json('{"x": {"a": 1, "b": 2, "c": 3, "c": 4, "b": 5}}', "f")


def test_surrogate_pairs_and_escaped_backslashes_are_text():
    assert parse_json(r'["\ud83d\uDE00", "\\ud83d"]', "f") == ["\U0001f600", r"\ud83d"]


def test_errors_name_the_line():
    with raises(DataError, source="f", where="line 7, $.a", found="NaN"):
        parse_json('{"a": NaN}', "f", 7)
    with raises(DataError, source="f", where="line 7 column 2", found="the end of the text"):
        parse_json("{", "f", 7)


_ROOT = {"data": [{"id": "x", "n": 3, "yes": True, "texts": ["a", 1], "none": None}]}


@pytest.mark.parametrize(
    ("take", "where", "field", "found_text", "expected"),
    [
        (lambda node: node.text("n"), "$.data[0]", "n", "the number 3", "a string"),
        (
            lambda node: node.text("gone"),
            "$.data[0]",
            "gone",
            "an object with id, n, yes, texts, none",
            "a string",
        ),
        (lambda node: node.integer("yes"), "$.data[0]", "yes", "true", "a whole number"),
        (lambda node: node.flag("n"), "$.data[0]", "n", "the number 3", "true or false"),
        (
            lambda node: node.name("none"),
            "$.data[0]",
            "none",
            "null",
            "a non-empty string or a whole number",
        ),
        (lambda node: node.texts("texts"), "$.data[0].texts", "[1]", "the number 1", "a string"),
        (lambda node: node.texts("id"), "$.data[0]", "id", "'x'", "a list"),
        (lambda node: node.child("id"), "$.data[0]", "id", "'x'", "an object or a list"),
        (
            lambda node: node.child("texts").text("a"),
            "$.data[0].texts",
            None,
            "a list of 2",
            "an object",
        ),
        (
            lambda node: node.child("texts").text(2),
            "$.data[0].texts",
            "[2]",
            "a list of 2",
            "a string",
        ),
        (
            lambda node: node.text(0),
            "$.data[0]",
            None,
            "an object with id, n, yes, texts, none",
            "a list",
        ),
        (
            lambda node: list(node.elements()),
            "$.data[0]",
            None,
            "an object with id, n, yes, texts, none",
            "a list",
        ),
    ],
)
def test_a_node_refuses_other_types(take, where, field, found_text, expected):
    (node,) = Node(_ROOT, "f").items("data")
    with raises(
        DataError, source="f", where=where, field=field, found=found_text, expected=expected
    ):
        take(node)


@given(_VALUES)
def test_every_value_is_described_in_a_few_words(value):
    assert 0 < len(describe_value(value)) < 500
