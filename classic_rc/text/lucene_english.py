"""The words of Lucene's EnglishAnalyzer: its StandardTokenizer, then possessives removed and
lower case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from classic_rc.text.tokenizers import (
    COMMON_JOINERS,
    COMMON_SEPARATORS,
    Tokenizer,
    character_class,
)

_MAX_UNITS = 255
"""The longest token, in UTF-16 units; a longer one is split there."""

_ASCII_WORD = re.compile(
    r"[A-Za-z0-9]+(?:(?:[.':](?<=[A-Za-z].)(?=[A-Za-z])|[.,;'](?<=[0-9].)(?=[0-9]))[A-Za-z0-9]+)*"
)
"""Finds the words of ASCII text without underscores, twice as fast as the full pattern."""

_POSSESSIVE = ("'s", "'S", "’s", "’S", "＇s", "＇S")


class LuceneEnglishTokenizer(Tokenizer):
    """Words by Unicode Standard Annex 29, as Lucene's StandardTokenizer finds them, without
    possessive ``'s``.

    Underscores join words. One full stop, apostrophe or colon between letters stays inside a word
    (``U.S``, ``don't``, ``a:b``), and so does one full stop, comma, semicolon or apostrophe between
    digits. Each ideograph, hiragana character and emoji is a token; runs of Thai, Lao, Khmer and
    Myanmar are not divided. Character classes come from Python's Unicode tables, which are newer
    than Lucene's.
    """

    name = "lucene-english"
    description = "Words as in Lucene's EnglishAnalyzer: Unicode words without possessive 's."
    citation = (
        "Lucene 8, StandardTokenizer and EnglishPossessiveFilter; Unicode Standard Annex 29, "
        "version 9."
    )
    usual: ClassVar[Mapping[str, Any]] = {"stemmer": "porter", "stop_words": "lucene"}
    separators = COMMON_SEPARATORS
    joiners = COMMON_JOINERS  # quotation marks join Hebrew letters, # and * begin an emoji

    def tokenize(self, text: str) -> list[str]:
        """Return the words, possessives included."""
        pattern = _pattern_for(text)
        words = pattern.findall(text)
        if not _JOINER_SET.isdisjoint(text):
            words = [word for word in words if not _is_joiners(word)]
        if 2 * len(text) <= _MAX_UNITS or 2 * max(map(len, words), default=0) <= _MAX_UNITS:
            return words
        return [text[start:end] for start, end in _find_words(pattern, text)]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of the words, possessives included."""
        return list(_find_words(_pattern_for(text), text))

    def normalize(self, token: str, lowercase: bool) -> str:
        """Remove the possessive, and lower-case character by character, as Java does."""
        if token.endswith(_POSSESSIVE):
            token = token[:-2]
        if not lowercase:
            return token
        return token.lower() if token.isascii() else "".join(map(_lower, token))


def _lower(character: str) -> str:
    # Only the dotted capital I has two characters in lower case; Java keeps the first.
    return character.lower()[0]


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _find_words(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the words; a word that is too long is cut, and the search continues at
    the cut.

    Lucene looks at no more than `_MAX_UNITS` units at once. A long match is therefore read in
    windows of that size, and its rest is never matched again: the time is linear in the length of
    the text.
    """
    position = 0
    while match := pattern.search(text, position):
        start, end = match.span()
        if _utf16_length(match[0]) <= _MAX_UNITS:
            if not _is_joiners(match[0]):
                yield start, end
            position = end
            continue
        position = start
        while position < end:
            word = pattern.match(text, position, _window_end(text, position))
            if word is not None and not _is_joiners(word[0]):
                yield position, word.end()
                position = word.end()
            else:  # joiners are part of a word if its first letter or digit is in the same window
                joiners = _joiner_run().match(text, position)
                position = max(position, joiners.end() - _MAX_UNITS if joiners else 0) + 1


def _window_end(text: str, start: int) -> int:
    """Return the end of the longest part of `text` from `start` that has at most `_MAX_UNITS`
    UTF-16 units.
    """
    units = text[start : start + _MAX_UNITS].encode("utf-16-le", "surrogatepass")[: 2 * _MAX_UNITS]
    end = start + len(units.decode("utf-16-le", "surrogatepass"))
    # a pair that the window cuts is outside
    return end - (_utf16_length(text[start:end]) > _MAX_UNITS)


def _is_joiners(word: str) -> bool:
    return word[0] in _JOINER_SET and _joiner_run().fullmatch(word) is not None


def _pattern_for(text: str) -> re.Pattern[str]:
    return _ASCII_WORD if text.isascii() and "_" not in text else _word_pattern()


_KATAKANA = (
    "\u3031-\u3035\u309b\u309c\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u32d0-\u32fe\u3300-\u3357\uff66-\uff9d"
)
_SINGLE_CHARACTERS = (
    "\u2e80-\u2fd5\u3007\u3021-\u3029\u3038-\u303a\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9\U00020000-\U0003ffff"
    "\u3041-\u3096\u309d-\u309f\U0001b001-\U0001b11f"  # Hiragana
)
_UNDIVIDED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    # Khmer, Tai
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u19cf\u1a20-\u1aad\uaa80-\uaadf\U00011700-\U0001172b"
)
_HEBREW = "\u05d0-\u05ea\u05f0-\u05f2\ufb1d\ufb1f-\ufb28\ufb2a-\ufb4f"
_OTHER_LETTERS = (
    "\u05f3\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189"
)
_EMOJI = (
    "©®‼⁉™↔-↙↩↪⌚⌛⌨⎈⏏⏩-⏳⏸-⏺▪▫▶◀◻-◾☀-★☇-☒☔-⚅⚐-✅✈-✒✔✖✝✡✨✳✴❄❇❌❎❓-❕❗❣-❧➕-➗➡➰➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f16f\U0001f18e\U0001f191-\U0001f19a"
    "\U0001f1ad-\U0001f1e5\U0001f200-\U0001f20f\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f"
    "\U0001f249-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff"
    "\U0001f80c-\U0001f80f\U0001f848-\U0001f84f\U0001f85a-\U0001f85f\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff"
    "\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001fffd"
)
_SKIN_TONES = "\U0001f3fb-\U0001f3ff"
_JOINERS = "_\u202f\u203f\u2040\u2054\ufe33\ufe34\ufe4d-\ufe4f\uff3f"
_JOINER_SET = frozenset(_JOINERS)
_BETWEEN_ANY = "'.\u2018\u2019\u2024\ufe52\uff07\uff0e"
_BETWEEN_LETTERS = _BETWEEN_ANY + ":\u00b7\u02d7\u0387\u05f4\u2027\ufe13\ufe55\uff1a"
_BETWEEN_DIGITS = (
    _BETWEEN_ANY
    + ",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b"
)


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the grammar of Lucene's StandardTokenizer.

    Every character class also matches the marks and format characters that follow (rule WB4).
    """
    letters, digits, marks = _character_classes()

    def one(characters: str) -> str:
        return f"[{characters}][{marks}]*+"

    join, letter, digit, kana, undivided = map(
        one, (_JOINERS, letters, digits, _KATAKANA, _UNDIVIDED)
    )
    between_letters = f'{one(_BETWEEN_LETTERS)}|"(?<=[{_HEBREW}]")(?=[{_HEBREW}])'
    number = f"{digit}(?:(?:(?:{join})*|{one(_BETWEEN_DIGITS)}){digit})*"
    word = f"{letter}(?:(?:(?:{join})*|{between_letters}){letter})*(?:'(?<=[{_HEBREW}]'))?"
    unit = f"(?:(?:{word}|{number})+|{kana}(?:(?:{join})*{kana})*)"
    flag, emoji = one("\U0001f1e6-\U0001f1ff"), f"{one(_EMOJI)}(?:{one(_SKIN_TONES)})?"
    emoji = f"\u200d?{emoji}(?:(?<=\u200d){emoji})*|{flag}{flag}|[0-9#*]\ufe0f?\u20e3"
    # Joiners without a word are a match too, which callers drop: looking for a word after each of
    # them would take time that grows with the square of their number.
    return re.compile(
        f"[{_JOINERS}](?:[{_JOINERS}]|[{marks}]++(?=[{_JOINERS}]))*+(?![{marks}]*+[{letters}{digits}{_KATAKANA}])"
        f"|(?:{join})*+{unit}(?:(?:{join})+{unit})*(?:{join})*|(?:{undivided})+|{one(_SINGLE_CHARACTERS)}|{emoji}"
    )


@cache
def _joiner_run() -> re.Pattern[str]:
    return re.compile(f"(?:[{_JOINERS}][{_character_classes()[2]}]*+)++")


@cache
def _character_classes() -> tuple[str, str, str]:
    """Return the letters, the digits, and the marks and formats, each as the inside of a
    character class.
    """
    special = re.compile(f"[{_KATAKANA}{_SINGLE_CHARACTERS}{_UNDIVIDED}\u3006]")
    other_letters = re.compile(f"[{_OTHER_LETTERS}]")
    letters, digits, marks = [], [ord("\u066b")], []
    # Planes 2 and 3 have only ideographs; the last marks are in plane 14.
    for code in (*range(0x20000), *range(0xE0000, 0xE0200)):
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] == "M" or (category == "Cf" and code != 0x200B) or code in (0xFF9E, 0xFF9F):
            marks.append(code)
        elif category == "Nd":
            digits.append(code)
        elif (
            category[0] == "L" or category == "Nl" or other_letters.match(character)
        ) and not special.match(character):
            letters.append(code)
    return character_class(letters), character_class(sorted(digits)), character_class(marks)
