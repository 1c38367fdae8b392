"""Stemmers by name."""

from __future__ import annotations

import pytest

from classic_rc.errors import UsageError
from classic_rc.text.stemmers import STEMMERS, stemmer
from tests.errors import raises


@pytest.mark.parametrize(
    ("name", "stems"),
    [
        ("none", ["flies", "dying", "generously", "maximum"]),
        ("porter", ["fli", "dy", "gener", "maximum"]),
        ("porter-nltk", ["fli", "die", "gener", "maximum"]),
        ("snowball", ["fli", "die", "generous", "maximum"]),
        ("lancaster", ["fli", "dying", "gen", "maxim"]),
    ],
)
def test_stems(name, stems):
    assert [stemmer(name)(word) for word in ("flies", "dying", "generously", "maximum")] == stems


def test_porter_leaves_capitals_alone():
    assert stemmer("porter")("Running") == "Run"


@pytest.mark.parametrize("name", STEMMERS)
@pytest.mark.parametrize("word", ["", "a", "é", "中", "\ud800", "don't", "3.5"])
def test_every_stemmer_takes_every_token(name, word):
    assert isinstance(stemmer(name)(word), str)


def test_an_unknown_stemmer_is_answered_with_the_nearest():
    with raises(UsageError, field="stemmer", found="snowbal", expected="snowball"):
        stemmer("snowbal")
