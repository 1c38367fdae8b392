"""Tokenizers: what each makes of a text, with the place of every token."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache
from typing import ClassVar


class Tokenizer(ABC):
    """A way of cutting text into tokens; it keeps no state and never changes case.

    Attributes
    ----------
    name : str
        As in an analyzer's specification: ``"word"``.
    description : str
        One sentence.
    citation : str
        Where the rules come from.
    blanks_separate : bool
        Whether what stands between two blanks (U+0020) has the same tokens when it stands alone, so that texts
        can be cut there and each distinct piece is tokenized once.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    blanks_separate: ClassVar[bool] = False

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """The surface tokens of `text`, in order."""

    @abstractmethod
    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where each token of ``tokenize(text)`` stands: character offsets (start, end) into `text` as given.

        A token that was normalised still points at the characters it was made from.
        """

    def normalize(self, token: str, lowercase: bool) -> str:
        """What is counted for a surface token, in its own or in lower case, wherever it stands."""
        return token.lower() if lowercase else token

    def __repr__(self) -> str:
        return f"<tokenizer {self.name}>"


class RegexTokenizer(Tokenizer):
    """A tokenizer whose tokens are the matches of a regular expression.

    Attributes
    ----------
    pattern : re.Pattern
        Without a capturing group. If it can match a blank, or looks beyond one, ``blanks_separate`` is to be False.
    """

    blanks_separate = True
    pattern: ClassVar[re.Pattern[str]]

    def prepare(self, text: str) -> str:
        """What the pattern is matched against; as long as `text`, so that offsets hold."""
        return text

    def tokenize(self, text: str) -> list[str]:
        """What the pattern matches."""
        return self.pattern.findall(self.prepare(text))

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where the pattern matches."""
        return [match.span() for match in self.pattern.finditer(self.prepare(text))]


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


class MultiRCTokenizer(Tokenizer):
    """What stands between blanks and ``( ) , . ? ! " : ' /`` once the text is written in ASCII.

    Known from the released scripts, and done here: ``&quot;`` is a quotation mark; letters lose their accents and
    typographic punctuation becomes plain before anything is cut, so that ``Peña’s`` is ``Pena`` and ``s``. Hyphens,
    semicolons and all other signs stay in their words.

    Our reading: the release writes any script in Latin letters (Perl's Text::Unidecode). Here Latin letters,
    punctuation and the few signs of the MultiRC texts are, and other characters are dropped; a character that
    would become several words (``¼``) stays in one. The lower-casing is left to the analyzer.

    Examples
    --------
    >>> MultiRCTokenizer().tokenize("Peña’s well-known &quot;plan&quot; (3:30)…")
    ['Pena', 's', 'well-known', 'plan', '3', '30']
    """

    name = "multirc2018"
    description = "MultiRC's own: ASCII letters, cut at blanks and ( ) , . ? ! \" : ' /."
    citation = "Khashabi et al. (NAACL 2018), SurfaceLR; github.com/CogComp/multirc, surfaceLR_train.pl."
    blanks_separate = True

    def tokenize(self, text: str) -> list[str]:
        """The tokens, in the case of the text."""
        return _TOKEN.findall(_without_entities(text if text.isascii() else "".join(map(_ascii, text))))

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where each token stands: from the first to the last character that it was made from."""
        written = [_ascii(character) for character in text]
        origin = [i for i, characters in enumerate(written) for _ in characters]
        matches = _TOKEN.finditer(_without_entities("".join(written)))
        return [(origin[match.start()], origin[match.end() - 1] + 1) for match in matches]


_CUT = r"\s(),.?!\":'/"
_TOKEN = re.compile(f"[^{_CUT}]+")
_CUTS = re.compile(f"[{_CUT}]")
_ENTITY = re.compile("&quot;", re.IGNORECASE)

_PLAIN = {
    **dict.fromkeys("‐‑‒–−", "-"), **dict.fromkeys("—―", "--"),
    **dict.fromkeys("‘’‛′", "'"), **dict.fromkeys("“”‟″", '"'), "‚": ",", "„": ",,",
    "«": "<<", "»": ">>", "‹": "<", "›": ">", "•": "*", "·": "*", "¡": "!", "¿": "?",
    "£": "PS", "€": "EU", "¥": "Y=", "§": "SS", "¶": "P", "©": "(c)", "®": "(r)", "°": "deg", "±": "+-",
    "×": "x", "÷": "/", "⁄": "⁄", "¦": "|", "Æ": "AE", "æ": "ae", "Œ": "OE", "œ": "oe", "Ø": "O", "ø": "o",
    "Ð": "D", "ð": "d", "Đ": "D", "đ": "d", "Þ": "Th", "þ": "th", "ß": "ss", "Ł": "L", "ł": "l", "ı": "i",
}  # fmt: skip


def _without_entities(text: str) -> str:
    return _ENTITY.sub(" " * len("&quot;"), text) if "&" in text else text


@cache
def _ascii(character: str) -> str:
    """What is written for a character, which is all of one word or cuts words, never both."""
    if character.isascii():
        return character
    if character.isspace():
        return " "
    parts = unicodedata.normalize("NFKD", _PLAIN.get(character, character))
    written = "".join(_PLAIN.get(part, part if part.isascii() else "") for part in parts)
    return _CUTS.sub("", written) or written
