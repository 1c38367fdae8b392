"""Stemmers by name; none needs a download."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial

from classic_rc.errors import unknown_name
from classic_rc.text.porter import porter_stem

STEMMERS: dict[str, str] = {
    "none": "No stemming.",
    "porter": "Porter (1980) with its author's later changes, as in Lucene's PorterStemFilter.",
    "porter-nltk": "Porter with nltk's changes, as in nltk's PorterStemmer().",
    "snowball": "Snowball English, also known as Porter 2 (2001).",
    "lancaster": "Paice and Husk (1990), which removes more than the others.",
}
"""A one-sentence description of each stemmer."""


@cache
def stemmer(name: str) -> Callable[[str], str]:
    """Return the stemming function of this name; its input should be lower case.

    The Porter stemmers do not change case; ``snowball`` and ``lancaster`` lower-case the word first.

    Raises
    ------
    UsageError
        No stemmer has this name.

    Examples
    --------
    >>> stemmer("porter")("happily"), stemmer("lancaster")("maximum"), stemmer("none")("trees")
    ('happili', 'maxim', 'trees')
    """
    if name not in STEMMERS:
        raise unknown_name("stemmer", name, STEMMERS)
    if name == "none":
        return _identity
    if name == "snowball":
        from nltk.stem.snowball import EnglishStemmer

        return EnglishStemmer().stem
    if name == "lancaster":
        from nltk.stem.lancaster import LancasterStemmer

        return LancasterStemmer().stem
    # Cached: the words of queries are mostly words of the passages, stemmed already.
    return lru_cache(maxsize=2**17)(partial(porter_stem, nltk=name == "porter-nltk"))


def _identity(word: str) -> str:
    return word
