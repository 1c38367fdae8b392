"""Cues that are known from published artifacts, and who published them: a family of few features.

Its bound is lower than that of all features, so a small set can show what many sets have had.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_TESTWISE = "Millman, Bishop and Ebel 1965"
_NLI = "Gururangan et al. 2018"
_WORDS = {
    "a word of negation": (
        "not|cannot|no|never|none|neither|nor|nothing|nobody|nowhere|without|(?:[a-z]+ ?)?n['’]t",
        "Niven and Kao 2019; Poliak et al. 2018",
    ),
    "an absolute word": (
        "all|always|never|only|every|everyone|everybody|everything|must|entirely|completely",
        _TESTWISE,
    ),
    "a cautious word": (
        "some|sometimes|may|might|could|often|usually|generally|probably|possibly|perhaps|likely",
        f"{_TESTWISE}; {_NLI}",
    ),
    "a reference to other options": (
        "(?:all|none|both|neither|any) of (?:the|these|those|them)(?: above)?|the above",
        "Haladyna and Downing 1989",
    ),
}
WORD_CUES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, (words, _) in _WORDS.items()
}
"""Groups of words: what an option with one of them has."""

PUBLISHED: Mapping[str, str] = {
    **{name: paper for name, (_, paper) in _WORDS.items()},
    'the word "not"': "Niven and Kao 2019",
    'the word "not" or "n\'t"': "Niven and Kao 2019",
    "has the most characters": f"{_TESTWISE}; {_NLI}",
    "has the fewest characters": f"{_TESTWISE}; {_NLI}",
    **{f"is option {i}": f"{_TESTWISE}; Attali and Bar-Hillel 2003" for i in range(1, 13)},
    "has the most words of the question": _TESTWISE,
    "has most of its words in the passage": "McCoy, Pavlick and Linzen 2019",
    "shares most of its words with other options": "Haladyna and Downing 1989",
    "has a digit": _NLI,
}
"""The names of features, and who found what they count in a dataset or test."""
