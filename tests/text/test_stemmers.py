"""Stemmers by name."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from nltk.stem.porter import PorterStemmer

from classic_rc.errors import UsageError
from classic_rc.text.analyzers import STEMMERS, stemmer
from tests.errors import raises


@pytest.mark.parametrize(
    ("name", "stems"),
    [
        ("none", ["flies", "dying", "generously", "maximum"]),
        ("porter", ["fli", "dy", "gener", "maximum"]),
    ],
)
def test_a_stemmer_gives_its_stems(name, stems):
    assert [stemmer(name)(word) for word in ("flies", "dying", "generously", "maximum")] == stems


def test_porter_leaves_capitals_alone():
    assert stemmer("porter")("Running") == "Run"


SUFFIXES = (
    "s ies sses ss ed ied eed ing y ily lle ational tional enci anci izer bli alli entli eli ousli "
    "ization ation ator alism iveness fulness ousness aliti iviti biliti logi fulli icate ative "
    "alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion rion ou "
    "ism ate iti ous ive ize e ll"
).split()
BEGINNINGS = [
    "".join(letters) for n in range(5) for letters in itertools.product("aybtx", repeat=n)
]
IRREGULAR = (
    "sky skies dying lying tying news inning innings outings cannings howe proceed exceed succeed"
).split()


def test_porter_is_that_of_nltk():
    nltk = PorterStemmer(mode="MARTIN_EXTENSIONS")
    words = [*IRREGULAR, *BEGINNINGS]
    words += map("".join, itertools.product(BEGINNINGS[::3], SUFFIXES))
    words += map("".join, itertools.product(("", "y", "tro", "é"), SUFFIXES, SUFFIXES))
    assert len(words) > 25_000
    expected = [nltk.stem(word, to_lowercase=False) for word in words]
    assert [stemmer("porter")(word) for word in words] == expected


@pytest.mark.ci
def test_porter_does_not_import_nltk():
    use = (
        "import sys; from classic_rc.text.analyzers import stemmer; "
        "print(stemmer('porter')('runs'), "
    )
    code = use + "'nltk' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "run False\n"


@pytest.mark.parametrize("name", STEMMERS)
@pytest.mark.parametrize("word", ["", "a", "é", "中", "\ud800", "don't", "3.5"])
def test_every_stemmer_takes_every_token(name, word):
    assert isinstance(stemmer(name)(word), str)


def test_an_unknown_stemmer_is_answered_with_the_nearest():
    with raises(UsageError, field="stemmer", found="portr", expected="porter"):
        stemmer("portr")
