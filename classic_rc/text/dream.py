"""The tokens of the sliding window that was released with DREAM, its bugs included."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from classic_rc.text.tokenizers import Tokenizer
from classic_rc.text.treebank import align, treebank_rules


class DreamTokenizer(Tokenizer):
    """Tokens as the released ``dsw++/run.py`` of DREAM makes them, but for their case.

    Known from that file, and done here: punctuation other than ``:`` is deleted, so that ``twenty-one`` and
    ``don't`` become ``twentyone`` and ``dont``; number words become digits; the rest is Treebank tokens (without
    stops there is no sentence to split); ``half past 3`` and ``10 to 3`` become ``3:30`` and ``2:50``.

    Reproduced bugs: "and" is a number word, alone it becomes ``0``; neighbouring number words are added up (``one
    two`` is ``3``); words in -th and -ieth lose that ending, ordinals or not (``with`` becomes ``wi``); "quarter"
    is only known as ``quater``; ``from 10 to 3`` is a time of day, too.

    Our reading: the lower-casing that comes first there is left to the analyzer. What the file does around its
    tokens (speakers, answers of "no", "I" as man or woman) belongs to its solver and is not done here.

    Examples
    --------
    >>> DreamTokenizer().tokenize("M: It's half past three.")
    ['M', ':', 'Its', '3:30']
    """

    name = "dream"
    description = "DREAM's own: no punctuation but the colon, number words as digits, times of day as 3:30."
    citation = "Sun et al. (TACL 2019), distance-based sliding window; github.com/nlpdata/dream, dsw++/run.py."

    def tokenize(self, text: str) -> list[str]:
        """The tokens, in the case of the text."""
        return [token.text for token in _tokens(text)]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where each token stands: a number or time from the first to the last of its words."""
        return [(token.start, token.end) for token in _tokens(text)]


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Word(NamedTuple):
    """A word and, for each of its characters, where what it was made from starts and ends."""

    text: str
    starts: list[int]
    ends: list[int]


_DELETED = frozenset(string.punctuation) - {":"}

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_NUMBERS = (
    {"and": (1, 0), "": (1, 10)}  # the empty word is what remains of "th"
    | {word: (1, units) for units, word in enumerate(_UNITS.split())}
    | {word: (1, 10 * tens) for tens, word in enumerate(_TENS.split())}
    | {word: (scale, 0) for word, scale in _SCALES.items()}
)
"""What a number word multiplies the number before it by, and adds to it."""


def _tokens(text: str) -> list[_Token]:
    words = list(_digits(_words(text)))
    joined = " ".join(word.text for word in words)
    starts = [start for word in words for start in (*word.starts, 0)]
    ends = [end for word in words for end in (*word.ends, 0)]
    tokens = treebank_rules().tokenize(joined)
    places = align(tokens, joined)
    return _times([_Token(token, starts[i], ends[j - 1]) for token, (i, j) in zip(tokens, places, strict=True)])


def _words(text: str) -> Iterator[_Word]:
    for match in re.finditer(r"\S+", text):
        kept = [i for i in range(*match.span()) if text[i] not in _DELETED]
        if kept:
            yield _Word("".join(text[i] for i in kept), kept, [i + 1 for i in kept])


def _digits(words: Iterable[_Word]) -> Iterator[_Word]:
    """The words, each run of number words replaced by one word of digits."""
    run: list[tuple[int, int]] = []
    start = end = 0
    for word in words:
        value, rest = _number_word(word.text)
        if value is not None:
            start, end = (start if run else word.starts[0]), word.ends[-1]
            run.append(value)
            continue
        if run:
            yield _number(run, start, end)
            run = []
        yield _Word(rest, word.starts[: len(rest)], word.ends[: len(rest)])
    if run:
        yield _number(run, start, end)


def _number_word(word: str) -> tuple[tuple[int, int] | None, str]:
    """The factor and summand that a number word stands for, else None; and the word without an ordinal's ending."""
    if (ordinal := _ORDINALS.get(word.lower())) is not None:
        return (1, ordinal), word
    if word.lower().endswith("ieth"):
        word = word[:-4] + "y"
    elif word.lower().endswith("th"):
        word = word[:-2]
    return _NUMBERS.get(word.lower()), word


def _number(run: list[tuple[int, int]], start: int, end: int) -> _Word:
    total = current = 0
    for factor, summand in run:
        current = current * factor + summand
        if factor > 100:
            total, current = total + current, 0
    digits = str(total + current)
    return _Word(digits, [start] * len(digits), [end] * len(digits))


def _times(tokens: list[_Token]) -> list[_Token]:
    """The tokens, each "minutes past/to hour" replaced by one token hour:minutes."""
    result: list[_Token] = []
    rest = iter(range(len(tokens)))
    for i in rest:
        token = tokens[i]
        time = _time(result[-1].text, token.text, tokens[i + 1].text) if result and i + 1 < len(tokens) else None
        if time is None:
            result.append(token)
        else:
            result[-1] = _Token(time, result[-1].start, tokens[i + 1].end)
            next(rest)
    return result


def _time(minutes: str, past_or_to: str, hour: str) -> str | None:
    minutes = {"half": "30", "quater": "15"}.get(minutes.lower(), minutes)
    if past_or_to.lower() not in ("past", "to") or not minutes.isdecimal() or not hour.isdecimal():
        return None
    m, h = int(minutes), int(hour)
    if past_or_to.lower() == "to":
        m, h = 60 - m, h - 1
    return f"{h}:{m}" if 0 < m < 60 and 0 <= h <= 24 else None
