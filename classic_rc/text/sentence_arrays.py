"""The sentences of many texts at once: the borders of
:func:`~classic_rc.text.sentences.split_sentences`, most of them found in arrays.

A stop is plain if no rule but the one on lower case can apply to it: a single mark, after a word
that is in no table of the rules and is neither an initial nor an acronym, and before a capital or a
digit. A plain stop is a border. Every other stop is decided by the rules, one by one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.questions import Passage
from classic_rc.text.sentences import (
    BLANK_LINE,
    CLOSERS,
    FULL_WIDTH_MARKS,
    OPENERS,
    SPACED_MARKS,
    STOP,
    UNMARKED_LETTERS,
    WORD_TABLES,
    is_border,
    split_sentences,
)

_CHUNK_CHARACTERS = 2**16
"""Characters of the texts that are split together: few enough for a core's cache."""

_LONG_CHUNK = 2**20
"""A longer text is split by the rules alone, because its arrays would need much memory."""

_MOST_CLOSERS = 2
"""How many closing marks after a stop are skipped in arrays."""


class SentenceOffsets(NamedTuple):
    """The sentences of some texts, in order."""

    starts: NDArray[np.int64]  # (n_sentences,): the first character of each, within its text
    ends: NDArray[np.int64]  # (n_sentences,): the character after its last one
    counts: NDArray[np.int64]  # (n_texts,): how many sentences each text has


def split_many(texts: Iterable[str]) -> Iterator[SentenceOffsets]:
    """Yield the sentences of texts, a few texts at a time, in order.

    They are those of :func:`~classic_rc.text.sentences.split_sentences` for each text.

    Examples
    --------
    >>> texts = ["Mr. Fox ran. He hid.", "", "So what?"]
    >>> for sentences in split_many(texts):
    ...     print(sentences.counts, sentences.starts, sentences.ends)
    [2 0 1] [ 0 13  0] [12 20  8]
    """
    chunk: list[str] = []
    n_characters, limit = 0, block_size(_CHUNK_CHARACTERS)
    for text in texts:
        if n_characters > limit:
            yield _split_chunk(chunk)
            chunk, n_characters = [], 0
        chunk.append(text)
        n_characters += len(text)
    yield _split_chunk(chunk)


def split_passages(passages: Iterable[Passage]) -> Iterator[SentenceOffsets]:
    """Yield the sentences of passages, a few passages at a time, in order: those that the dataset
    marks, or if it marks none the result of :func:`split_many`.
    """
    yield _as_arrays([])  # so that chunks of no passages can be joined
    for is_marked, group in itertools.groupby(passages, lambda p: p.sentences is not None):
        if is_marked:
            yield _as_arrays([passage.sentences or () for passage in group])
        else:
            yield from split_many(passage.text for passage in group)


def iter_sentences(sentences: Iterable[SentenceOffsets]) -> Iterator[list[tuple[int, int]]]:
    """Yield the offsets (start, end) of the sentences of each text.

    Examples
    --------
    >>> list(iter_sentences(split_many(["Mr. Fox ran. He hid.", ""])))
    [[(0, 12), (13, 20)], []]
    """
    for starts, ends, counts in sentences:
        places = list(zip(starts.tolist(), ends.tolist(), strict=True))
        borders = itertools.pairwise(offsets_of(counts).tolist())
        yield from (places[first:last] for first, last in borders)


def iter_sentence_texts(
    passages: Iterable[Passage], sentences: Iterable[SentenceOffsets] | None = None
) -> Iterator[list[str]]:
    """Yield the sentences of each passage as texts, those of `sentences` if they are known."""
    passages, to_split = itertools.tee(passages)
    places_of = iter_sentences(split_passages(to_split) if sentences is None else sentences)
    for passage, places in zip(passages, places_of, strict=False):
        text = passage.text
        yield [text[start:end] for start, end in places]


def _as_arrays(sentences: Sequence[Sequence[tuple[int, int]]]) -> SentenceOffsets:
    pairs = list(itertools.chain(*sentences))
    places = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    counts = np.array(list(map(len, sentences)), dtype=np.int64)
    return SentenceOffsets(places[:, 0], places[:, 1], counts)


_BLANK, _OPENER, _CLOSER, _MARK, _WORD, _CAPITAL, _OTHER_STOP, _UNKNOWN = 1 << np.arange(
    8, dtype=np.uint8
)
"""The classes of a character, as flags. `_WORD` is an ASCII letter or digit, `_CAPITAL` one that is
not in lower case, `_OTHER_STOP` a mark or letter of the scripts whose stops need no blank, and
`_UNKNOWN` any other character beyond ASCII.
"""

_LAST_CODE = 0xFFFF
"""Stands for every character above U+FFFF. Unicode assigns no character to this code point."""


@cache
def _class_table() -> NDArray[np.uint8]:
    """Return the class of each code point up to :data:`_LAST_CODE`."""
    table = np.zeros(_LAST_CODE + 1, dtype=np.uint8)
    table[128:] = _UNKNOWN
    characters = list(map(chr, range(_LAST_CODE)))
    for pattern, flag in (
        (r"\s", _BLANK),
        (f"[{re.escape(OPENERS)}]", _OPENER),
        (f"[{CLOSERS}]", _CLOSER),
        (f"[{SPACED_MARKS}]", _MARK),
        ("[A-Za-z0-9]", _WORD),
        ("[A-Z0-9]", _CAPITAL),
        (f"[{FULL_WIDTH_MARKS}{UNMARKED_LETTERS}]", _OTHER_STOP),
    ):
        codes = [ord(match[0]) for match in re.finditer(pattern, "".join(characters))]
        table[codes] |= flag
        table[codes] &= ~_UNKNOWN
    return table


_WORD_LENGTH = 1 + max(len(word) for table in WORD_TABLES for word in table if word.isalnum())
"""A word of so many letters and digits is in no table."""


@cache
def _table_keys() -> NDArray[np.uint64]:
    """Return the keys of the words that a rule may look for, ascending: those of the tables, and
    the short numbers of enumerations.
    """
    romans: set[str] = set()
    for letters in ("ivx", "IVX"):
        for n in range(1, 5):
            romans.update(map("".join, itertools.product(letters, repeat=n)))
    words = {word for table in WORD_TABLES for word in table if word.isalnum()}
    words |= romans | {f"{number:02}" for number in range(100)}
    keys = {int.from_bytes(word.encode("ascii"), "big") for word in words}
    return np.array(sorted(keys), dtype=np.uint64)


class _Characters(NamedTuple):
    """The characters of some texts, joined."""

    text: str
    codes: NDArray[np.uint8] | NDArray[np.uint32]
    classes: NDArray[np.uint8]

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the characters of a text that ends with a blank."""
        if text.isascii():
            codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
            return cls(text, codes, _class_table().take(codes))
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return cls(text, codes, _class_table().take(np.minimum(codes, _LAST_CODE)))

    def are(self, places: NDArray[np.int64], flags: np.uint8) -> NDArray[np.bool_]:
        """Return whether the characters at some places are of one of the classes."""
        return (self.classes.take(places) & flags) != 0

    def are_quotes(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the characters at some places both open and close."""
        return self.are(places, _OPENER) & self.are(places, _CLOSER)

    def outside(self, flags: np.uint8) -> NDArray[np.int64]:
        """Return the places of the characters that are of none of the classes, and the last
        place.
        """
        places = np.flatnonzero((self.classes & flags) == 0)
        return np.append(places, len(self.text) - 1)


_BORDER = " "
"""Between the texts of a chunk."""


def _split_chunk(texts: Sequence[str]) -> SentenceOffsets:
    # Blanks at the end serve all places before the first character.
    characters = _Characters.of(_BORDER.join([*texts, " " * _WORD_LENGTH]))
    if len(characters.text) > _LONG_CHUNK or (characters.classes & _OTHER_STOP).any():
        return _as_arrays(list(map(split_sentences, texts)))
    lengths = np.array(list(map(len, texts)), dtype=np.int64)
    text_starts = offsets_of(lengths + len(_BORDER))[:-1]
    blank_lines: list[int] = []
    for start, text in zip(text_starts.tolist(), texts, strict=True):
        blank_lines += [start + gap.start() for gap in BLANK_LINE.finditer(text)]
    gaps = np.sort(np.concatenate((text_starts + lengths, blank_lines)).astype(np.int64))
    filled = characters.outside(_BLANK)
    plain, unsure = _find_stops(characters, gaps, filled)
    fixed = np.sort(np.concatenate((text_starts, gaps, plain)))
    decided = _decide_stops(characters.text, unsure, fixed, gaps)
    borders = filled.searchsorted(np.sort(np.concatenate((fixed, decided))))
    first, last = borders[:-1], borders[1:] - 1
    has_text = first <= last
    starts = filled.take(first[has_text])
    ends = filled.take(last[has_text]) + 1
    text_of = text_starts.searchsorted(starts, side="right") - 1
    text_start = text_starts.take(text_of)
    counts = np.bincount(text_of, minlength=len(texts))
    return SentenceOffsets(starts - text_start, ends - text_start, counts)


def _find_stops(
    characters: _Characters, gaps: NDArray[np.int64], filled: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the borders after plain stops, and the places of the stops that the rules decide."""
    marks = np.flatnonzero(characters.classes & _MARK)
    marks = marks[~characters.are(marks - 1, _MARK)]
    after = marks + 1
    for _ in range(_MOST_CLOSERS):
        after += characters.are(after, _CLOSER)
    # A mark between other characters, as in 3.5, is no stop. Nor does one at the end of a paragraph
    # matter.
    paragraph_end = gaps.take(gaps.searchsorted(marks))
    following = filled.take(filled.searchsorted(after))
    may_stop = characters.are(after, _BLANK | _CLOSER | _MARK) & (following < paragraph_end)
    marks, after, following = marks[may_stop], after[may_stop], following[may_stop]
    paragraph_end = paragraph_end[may_stop]

    words = characters.outside(_BLANK | _OPENER)
    word = words.take(words.searchsorted(after))
    begins = characters.are(word, _CAPITAL) | (word >= paragraph_end)
    has_quotes = characters.are_quotes(following) & characters.are_quotes(following + 1)
    is_plain = characters.are(after, _BLANK) & begins & ~has_quotes
    is_plain &= characters.codes.take(marks) < 128  # an ellipsis has a rule of its own
    is_plain &= _follow_usual_word(characters, marks)
    return after[is_plain], marks[~is_plain]


def _follow_usual_word(characters: _Characters, marks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether the word before each mark is none that a rule looks for."""
    key = np.zeros(len(marks), dtype=np.uint64)
    length = np.zeros(len(marks), dtype=np.int64)
    in_word = np.ones(len(marks), dtype=np.bool_)
    for back in range(_WORD_LENGTH):
        place = marks - 1 - back
        in_word &= characters.are(place, _WORD)
        length += in_word
        codes = np.where(in_word, characters.codes.take(place), 0).astype(np.uint64)
        key |= codes << np.uint64(8 * back)
    keys = _table_keys()
    index = np.minimum(keys.searchsorted(key), len(keys) - 1)
    is_usual = (length > 1) & (keys.take(index) != key)
    is_usual |= length == _WORD_LENGTH
    # a closing mark, or a blank after a word
    is_closed = (length == 0) & ~characters.are(marks - 1, _UNKNOWN | _BLANK)
    is_apart = characters.are(marks - 1, _BLANK) & characters.are(marks - 2, _WORD)
    return is_usual | is_closed | is_apart


def _decide_stops(
    text: str, stops: NDArray[np.int64], fixed: NDArray[np.int64], gaps: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the borders after the stops that the rules accept, one stop after the other."""
    starts = fixed.take(fixed.searchsorted(stops, side="right") - 1)
    ends = gaps.take(gaps.searchsorted(stops))
    borders = [0]
    match_end = 0
    for place, start, end in zip(stops.tolist(), starts.tolist(), ends.tolist(), strict=True):
        stop = STOP.match(text, place, end) if place >= match_end else None
        if stop is not None:
            match_end = stop.end()
            if is_border(text, stop, max(start, borders[-1]), end):
                borders.append(match_end)
    return np.array(borders, dtype=np.int64)
