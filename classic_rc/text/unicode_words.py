"""Words of any script: the default tokenizer, and the one for scripts written without spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from classic_rc.text.base import Tokenizer

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003ffff"  # Han: the two planes that hold nothing else
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f"  # Hiragana, Katakana
)
"""The blocks of the scripts that put no space between words, as a character class."""

_ASCII_WORD = re.compile(
    r"[A-Za-z0-9]+(?:(?:'(?<=[A-Za-z]')(?=[A-Za-z])|[.,](?<=[0-9][.,])(?=[0-9]))[A-Za-z0-9]+)*"
)


class WordTokenizer(Tokenizer):
    """Unicode words of NFC-normalised text.

    A word is a maximal run of letters, digits and the combining marks and joiners on them. An apostrophe
    between two letters (``don't``, ``o'clock``) and a stop or comma between two digits (``3.5``, ``1,000``)
    stay inside; the typographic apostrophe becomes the plain one. Underscores and all other punctuation
    separate.
    """

    name = "word"
    description = "Unicode words of NFC text, combining marks, inner apostrophes and decimal stops included."
    citation = "After Unicode Standard Annex 29, rules WB4, WB6, WB7, WB11 and WB12."
    blanks_separate = True

    def tokenize(self, text: str) -> list[str]:
        """The words, normalised."""
        if text.isascii():  # the same words by a pattern that is twice as fast
            return _ASCII_WORD.findall(text)
        return self._pattern().findall(_normalize(text))

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where each word stands in the text as given, normalised or not."""
        # The pattern is closed under canonical equivalence: the words of the text as it stands are, normalised,
        # the words of the normalised text. So no map from normalised to original offsets is needed.
        pattern = _ASCII_WORD if text.isascii() else self._pattern()
        return [match.span() for match in pattern.finditer(text)]

    def _pattern(self) -> re.Pattern[str]:
        return _word_pattern()


class CharTokenizer(WordTokenizer):
    """As :class:`WordTokenizer`, but each character of an unspaced script, with the marks on it, is a token."""

    name = "char"
    description = "Each character of Han, Kana, Thai, Lao, Khmer and Myanmar a token; other text as in word."
    citation = "After Unicode Standard Annex 29, section 4: such scripts need a dictionary to find words."

    def _pattern(self) -> re.Pattern[str]:
        return _char_pattern()


def unspaced_share(texts: Iterable[str]) -> float:
    """The share of letters and digits that belong to scripts written without spaces, in 0..1.

    Above a few percent, ``word`` takes whole sentences for words and ``char`` is the analyzer to use.

    Examples
    --------
    >>> unspaced_share(["猫 cat", "dog"])
    0.14285714285714285
    """
    texts = [text for text in texts if text]
    unspaced_run = re.compile(f"(?:(?=[^\\W_])[{_UNSPACED}])+")
    unspaced = sum(len(run) for text in texts if not text.isascii() for run in unspaced_run.findall(text))
    if not unspaced:
        return 0.0
    return unspaced / sum(len(run) for text in texts for run in re.findall(r"[^\W_]+", text))


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("’", "'")


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(_words())


@cache
def _char_pattern() -> re.Pattern[str]:
    return re.compile(f"(?=[^\\W_])[{_UNSPACED}][{_marks()}]*|{_words(without=_UNSPACED)}")


def _words(without: str = "") -> str:
    """A pattern for words that has no character of the class `without`."""
    marks = _marks()
    letter_or_digit, letter = f"[^\\W_{without}]", f"[^\\W\\d_{without}]"
    run = f"{letter_or_digit}+(?:[{marks}]+{letter_or_digit}*)*"
    apostrophe = f"['’](?:(?<={letter}['’])|(?<=[{marks}]['’]))(?={letter})"
    decimal = r"[.,](?<=\d[.,])(?=\d)"
    return f"{run}(?:(?:{apostrophe}|{decimal}){run})*"


@cache
def _marks() -> str:
    """The combining marks (categories Mn, Mc, Me) and the joiners U+200C and U+200D, as a character class.

    ``\\w`` matches none of them, though they stand inside the words of most scripts.
    """
    # Planes 2 and 3 hold ideographs alone; plane 14 has the last marks.
    places = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    ranges: list[list[int]] = [[0x200C, 0x200D]]
    for code in places:
        if unicodedata.category(chr(code))[0] == "M":
            if ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
