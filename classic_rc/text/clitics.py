"""A tokenizer for matching words: negations are words, other clitics are dropped, number words
become digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from classic_rc.text.tokenizers import WordTokenizer

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_NUMBERS = {
    **{word: str(value) for value, word in enumerate(_UNITS.split())},
    **{word: str(10 * value) for value, word in enumerate(_TENS.split(), start=2)},
    **{word: str(value) for value, word in enumerate(_ORDINALS.split(), start=1)},
    **{"once": "1", "twice": "2", "dozen": "12", "thousand": "1000", "million": "1000000"},
}
"""Number words, and the digits that replace them."""

_NEGATIONS = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
"""The words that negations leave where cutting off ``n't`` would leave something else."""

_CLITIC = re.compile(r"'(?:s|m|d|re|ve|ll|em)$", re.IGNORECASE)
_NOT = "n't"


class CliticTokenizer(WordTokenizer):
    """The words of :class:`~classic_rc.text.tokenizers.WordTokenizer`, taken apart at clitics.

    ``don't`` becomes ``do`` and ``not``, ``can't`` becomes ``can`` and ``not``, and ``cannot`` is
    counted as ``not``. The clitics ``'s 'm 'd 're 've 'll 'em`` are dropped. Number words are
    counted as digits: those up to twenty, the tens, ``hundred``, ``thousand``, ``million``, the
    ordinals up to ``tenth``, ``once``, ``twice`` and ``dozen``.

    Examples
    --------
    >>> tokenizer = CliticTokenizer()
    >>> [
    ...     tokenizer.normalize(token, True)
    ...     for token in tokenizer.tokenize("He's seven and can't swim.")
    ... ]
    ['he', '7', 'and', 'can', 'not', 'swim']
    """

    name: ClassVar[str] = "clitics"
    description: ClassVar[str] = (
        "Words as in word, with n't as a word of its own, without other clitics, and number words "
        "as digits."
    )
    citation: ClassVar[str] = "Our own, for the feature ranker."
    usual: ClassVar[Mapping[str, Any]] = {"stemmer": "porter"}

    def tokenize(self, text: str) -> list[str]:
        """Return the words; every negation ends with the token ``n't``."""
        return [token for word in super().tokenize(text) for token in _split_word(word)]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of each word; ``n't`` is the last three characters of its word."""
        places = []
        for start, end in super().locate(text):
            word = text[start:end].replace("’", "'")
            if len(_split_word(word)) == 2:
                border = end - len(_NOT)
                places += [(start, border), (border, end)]
            else:
                places.append((start, start + len(_without_clitic(word))))
        return places

    def normalize(self, token: str, lowercase: bool) -> str:
        """Return the token in its case or in lower case; number words become digits and
        negations ``not``.
        """
        low = token.lower()
        if low in (_NOT, "cannot"):
            return "not"
        return _NUMBERS.get(low) or (low if lowercase else token)


def _split_word(word: str) -> list[str]:
    """Return the tokens of a word: the word and its negation, or the word without a clitic."""
    low = word.lower()
    if low in _NEGATIONS:
        return [_NEGATIONS[low], _NOT]
    if low.endswith(_NOT) and len(low) > len(_NOT):
        return [word[: -len(_NOT)], _NOT]
    return [_without_clitic(word)]


def _without_clitic(word: str) -> str:
    return _CLITIC.sub("", word) or word
