"""The families of features: what is counted of options, and what each family sees."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple


class FeatureSource(IntEnum):
    """What a feature is made of, in the order in which people can act on it."""

    POSITION = 0
    FIELD = 1
    UNUSUAL = 2  # markup, blanks at ends, invisible and unusual characters
    OPTION = 3
    WORD = 4
    WORDS = 5
    RANK = 6
    CHARACTER = 7
    PIECE = 8
    ORDER = 9


class Family(NamedTuple):
    """Features that are made in the same way."""

    source: FeatureSource
    name: str  # with {} for the value
    sees: frozenset[str]  # of "options", "question", "passage", "fields", "order"
    how: str = ""  # how an example is marked: "word", "piece", "first", "last"
    context: str = (
        ""  # what says at which position the right option is; its features are chosen together
    )


_OPTIONS = frozenset({"options"})
WORD = Family(FeatureSource.WORD, 'the word "{}"', _OPTIONS, "word")
NOT = Family(FeatureSource.WORD, 'the word "{}" or "n\'t"', _OPTIONS, "word")
WORD_CUE = Family(FeatureSource.WORD, "{}", _OPTIONS, "word")
WORDS = Family(FeatureSource.WORDS, 'the words "{}"', _OPTIONS, "word")
FIRST_WORD = Family(FeatureSource.WORD, 'the first word "{}"', _OPTIONS, "word")
LAST_WORD = Family(FeatureSource.WORD, 'the last word "{}"', _OPTIONS, "word")
WHOLE = Family(FeatureSource.OPTION, 'the option "{}"', _OPTIONS)
USED_ONCE = Family(FeatureSource.OPTION, "{}", _OPTIONS)
UNUSUAL = Family(FeatureSource.UNUSUAL, "the character {}", _OPTIONS, "piece")
ODD = Family(FeatureSource.UNUSUAL, "{}", _OPTIONS)
MARK = Family(FeatureSource.CHARACTER, "the character {}", _OPTIONS, "piece")
LETTER = Family(FeatureSource.PIECE, "the letter {}", _OPTIONS, "piece")
PIECE = Family(FeatureSource.PIECE, 'the characters "{}"', _OPTIONS, "piece")
FIRST = Family(FeatureSource.CHARACTER, "begins with {}", _OPTIONS, "first")
LAST = Family(FeatureSource.CHARACTER, "ends with {}", _OPTIONS, "last")
SHAPE = Family(FeatureSource.CHARACTER, "{}", _OPTIONS)
FIELD = Family(FeatureSource.FIELD, "{}", frozenset({"fields"}))
FIELD_NAME = re.compile(r'field "([^"]+)"')
