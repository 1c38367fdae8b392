"""The turns of dialogues, and the tokens of DREAM's authors."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import tee
from typing import NamedTuple

from classic_rc.questions import Passage
from classic_rc.text.sentence_arrays import iter_sentences, split_many
from classic_rc.text.tokenizers import Tokenizer
from classic_rc.text.treebank import align, treebank_rules

# --------------------------------------------------------------------------------------------------
# Turns.


class SpokenSentence(NamedTuple):
    """A sentence without the label of its speaker."""

    start: int  # character offsets in the passage; `end` is exclusive
    end: int
    turn: int  # the number of its turn, from 0; -1 outside turns
    speaker: str  # the label in front of its turn: "W", "Mary"; empty outside turns


_LABEL = re.compile(
    r"^[^\S\n]*([^\W\d_][\w.'’&-]*(?: [\w.'’&-]+){0,2}) ?[:：](?=\s|$)[^\S\n]*", re.MULTILINE
)
_COLON = re.compile(r"[:：](?!\d|//)")
_SPEAKER = re.compile(
    r"(?:(?<!\S)[^\W\d_]|(?:^|(?<=[\n。！？])|(?<=[.!?]\s))"
    r"[^\W\d_][\w.'’&-]{0,14}(?: [\w.'’&-]{1,15})?) ?\Z"
)
_SPEAKER_LENGTH = 34
_LEAST_TURNS = 2
_LEAST_SHARE = 0.5
"""A text is a dialogue if two or more of its lines, and more than this share of those with text,
begin a turn.
"""


def iter_spoken_sentences(passages: Iterable[Passage]) -> Iterator[list[SpokenSentence]]:
    """Yield the sentences of each passage; in a dialogue, without the labels of speakers, and cut
    at turns.

    A passage is a dialogue if two or more of its lines, and more than half, begin with a label of
    up to three words and a colon. If the dataset marks sentences, those are returned, and turns are
    not looked for.

    Examples
    --------
    >>> for sentence in spoken_sentences(Passage("p", "W: Hi. Bob?\\nM: Yes")):
    ...     print(sentence)
    SpokenSentence(start=3, end=6, turn=0, speaker='W')
    SpokenSentence(start=7, end=11, turn=0, speaker='W')
    SpokenSentence(start=15, end=18, turn=1, speaker='M')
    """
    with_turns = ((passage, _find_turns(passage)) for passage in passages)
    to_join, to_split = tee(with_turns)
    texts = (passage.text[turn.start : turn.end] for passage, turns in to_split for turn in turns)
    split_turns = iter_sentences(split_many(texts))
    for passage, turns in to_join:
        sentences = [SpokenSentence(*place, -1, "") for place in passage.sentences or ()]
        # `turns` comes first, so that `zip` ends before it takes a turn of the next passage.
        for (begin, _, turn, speaker), places in zip(turns, split_turns, strict=False):
            sentences += [
                SpokenSentence(begin + start, begin + end, turn, speaker) for start, end in places
            ]
        yield sentences


def spoken_sentences(passage: Passage) -> list[SpokenSentence]:
    """Return the sentences of a passage, as :func:`iter_spoken_sentences` yields them."""
    return next(iter_spoken_sentences([passage]))


def _find_turns(passage: Passage) -> list[SpokenSentence]:
    """Return the turns of a passage; all of it as one outside dialogues, and none if its sentences
    are marked.
    """
    if passage.sentences is not None:
        return []
    text = passage.text
    labels = list(_LABEL.finditer(text))
    n_lines = sum(bool(line.strip()) for line in text.split("\n")) if labels else 0
    if len(labels) < _LEAST_TURNS or len(labels) <= _LEAST_SHARE * n_lines:
        return [SpokenSentence(0, len(text), -1, "")]
    starts = [label.start() for label in labels]
    ends = [*starts[1:], len(text)]
    turns = [SpokenSentence(0, starts[0], -1, "")]
    for turn, (label, end) in enumerate(zip(labels, ends, strict=True)):
        turns.append(SpokenSentence(label.end(), end, turn, label[1]))
    return turns


def without_speakers(text: str) -> str:
    """Return a text without what looks like labels of speakers: single letters before a colon, and
    one or two words before a colon where a line or a sentence begins.

    Examples
    --------
    >>> without_speakers("W: Hi. Bob?\\nMr. Hill: Yes, at 5:30.")
    ': Hi. Bob?\\n: Yes, at 5:30.'
    """
    *turns, rest = _COLON.split(text)
    for i, turn in enumerate(turns):
        if speaker := _SPEAKER.search(turn, max(len(turn) - _SPEAKER_LENGTH, 0)):
            turns[i] = turn[: speaker.start()]
    return ":".join([*turns, rest])


# --------------------------------------------------------------------------------------------------
# DREAM's tokens.


class DreamTokenizer(Tokenizer):
    """The tokens of DREAM's released ``dsw++/run.py``, except that case is kept.

    From that file: punctuation other than ``:`` is deleted, so ``twenty-one`` and ``don't`` become
    ``twentyone`` and ``dont``; number words become digits; the rest is tokenized by Treebank rules
    (without full stops there is no sentence to split); ``half past 3`` and ``10 to 3`` become
    ``3:30`` and ``2:50``.

    Bugs of that file, reproduced here: "and" is a number word, so by itself it becomes ``0``;
    adjacent number words are added (``one two`` is ``3``); any word in -th or -ieth loses that
    ending, ordinal or not (``with`` becomes ``wi``); "quarter" is known only as ``quater``; ``from
    10 to 3`` becomes a time of day.

    Our reading: the file lower-cases first, which the analyzer does here. What the file does around
    tokenization (speakers, answers of "no", "I" as man or woman) is part of its solver and is not
    done here.

    Examples
    --------
    >>> DreamTokenizer().tokenize("M: It's half past three.")
    ['M', ':', 'Its', '3:30']
    """

    name = "dream"
    description = (
        "DREAM's tokenizer: no punctuation except the colon, number words as digits, times of day "
        "as 3:30."
    )
    citation = (
        "Sun et al. (TACL 2019), distance-based sliding window; github.com/nlpdata/dream, "
        "dsw++/run.py."
    )

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens, in the case of the text."""
        return [token.text for token in _tokenize(text)]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return each token's offsets; a number or a time spans all words it was made from."""
        return [(token.start, token.end) for token in _tokenize(text)]


class _DialogueToken(NamedTuple):
    text: str
    start: int
    end: int


class _Word(NamedTuple):
    """A word, and for each of its characters the offsets of the characters it was made from."""

    text: str
    starts: list[int]
    ends: list[int]


_DELETED = frozenset(string.punctuation) - {":"}

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety"
_SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
}
_NUMBERS = (
    {"and": (1, 0), "": (1, 10)}  # "" is what "th" becomes without its ending
    | {word: (1, units) for units, word in enumerate(_UNITS.split())}
    | {word: (1, 10 * tens) for tens, word in enumerate(_TENS.split())}
    | {word: (scale, 0) for word, scale in _SCALES.items()}
)
"""For each number word, the factor that multiplies the number so far and the summand added to
it.
"""


def _tokenize(text: str) -> list[_DialogueToken]:
    words = list(_replace_number_words(_split_words(text)))
    joined = " ".join(word.text for word in words)
    starts = [start for word in words for start in (*word.starts, 0)]
    ends = [end for word in words for end in (*word.ends, 0)]
    tokens = treebank_rules().tokenize(joined)
    places = align(tokens, joined)
    located = []
    for token, (first, stop) in zip(tokens, places, strict=True):
        located.append(_DialogueToken(token, starts[first], ends[stop - 1]))
    return _merge_times(located)


def _split_words(text: str) -> Iterator[_Word]:
    for match in re.finditer(r"\S+", text):
        places = [i for i in range(*match.span()) if text[i] not in _DELETED]
        if places:
            letters = "".join([text[i] for i in places])
            yield _Word(letters, places, [i + 1 for i in places])


def _replace_number_words(words: Iterable[_Word]) -> Iterator[_Word]:
    """Yield the words, with each run of number words replaced by one word of digits."""
    run: list[tuple[int, int]] = []
    start = end = 0
    for word in words:
        value, rest = _number_word(word.text)
        if value is not None:
            start, end = (start if run else word.starts[0]), word.ends[-1]
            run.append(value)
            continue
        if run:
            yield _digits_of(run, start, end)
            run = []
        yield _Word(rest, word.starts[: len(rest)], word.ends[: len(rest)])
    if run:
        yield _digits_of(run, start, end)


def _number_word(word: str) -> tuple[tuple[int, int] | None, str]:
    """Return the (factor, summand) of a number word or None, and the word without an ordinal
    ending.
    """
    if (ordinal := _ORDINALS.get(word.lower())) is not None:
        return (1, ordinal), word
    if word.lower().endswith("ieth"):
        word = word[:-4] + "y"
    elif word.lower().endswith("th"):
        word = word[:-2]
    return _NUMBERS.get(word.lower()), word


def _digits_of(run: list[tuple[int, int]], start: int, end: int) -> _Word:
    total = current = 0
    for factor, summand in run:
        current = current * factor + summand
        if factor > 100:
            total, current = total + current, 0
    digits = str(Decimal(total + current))  # Python refuses to write an int of thousands of digits
    return _Word(digits, [start] * len(digits), [end] * len(digits))


def _merge_times(tokens: list[_DialogueToken]) -> list[_DialogueToken]:
    """Merge each "minutes past/to hour" into one token "hour:minutes"."""
    merged: list[_DialogueToken] = []
    rest = iter(range(len(tokens)))
    for i in rest:
        time = None
        if merged and i + 1 < len(tokens):
            minutes, hour = merged[-1], tokens[i + 1]
            time = _format_time(minutes.text, tokens[i].text, hour.text)
        if time is None:
            merged.append(tokens[i])
        else:
            merged[-1] = _DialogueToken(time, minutes.start, hour.end)
            next(rest)
    return merged


def _format_time(minutes: str, past_or_to: str, hour: str) -> str | None:
    minutes = {"half": "30", "quater": "15"}.get(minutes.lower(), minutes)
    if past_or_to.lower() not in ("past", "to") or not minutes.isdecimal() or not hour.isdecimal():
        return None
    m, h = _read_small_number(minutes), _read_small_number(hour)
    if past_or_to.lower() == "to":
        m, h = 60 - m, h - 1
    return f"{h}:{m}" if 0 < m < 60 and 0 <= h <= 24 else None


def _read_small_number(digits: str) -> int:
    """Return the number of these decimal digits, at most 100: Python refuses to read thousands
    of digits.
    """
    number = 0
    for digit in digits:
        number = min(10 * number + unicodedata.decimal(digit), 100)
    return number
