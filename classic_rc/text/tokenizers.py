"""The tokenizer interface, the tokenizers ``word``, ``char`` and MultiRC's own, and the pieces
of texts.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.kernels.byte_pieces import (
    PADDING,
    KeyCache,
    character_places,
    class_table,
    find_pieces,
    piece_keys,
)
from classic_rc.work import tracked

ASCII = "".join(map(chr, range(128)))
"""The ASCII characters."""

ASCII_BLANKS = "".join(filter(str.isspace, ASCII))
"""The ASCII characters that a regular expression's ``\\s`` matches, four control characters
among them.
"""

WORD_LENGTH = 256
"""No tokenizer with separators divides a word of ASCII letters and digits that is shorter."""


class Tokenizer(ABC):
    """A way to cut text into tokens. It has no state and never changes case.

    Attributes
    ----------
    name : str
        The name in an analyzer's specification: ``"word"``.
    description : str
        One sentence.
    citation : str
        The source of the rules.
    separators : str
        ASCII characters between tokens, the blank among them: the text on both sides of one has the
        same tokens as each side by itself. So texts can be cut there, and each distinct piece is
        tokenized once. Empty if there are none. If there are some, fewer than :data:`WORD_LENGTH`
        ASCII letters and digits between two of them are one token.
    joiners : str
        ASCII characters that are separators in this sense where both neighbours are ASCII and one
        of them is no letter or digit, such as a full stop before a blank.
    usual : mapping
        The settings of the analyzer of this name that differ from the defaults of
        :class:`~classic_rc.text.analyzers.Analyzer`: ``{"stemmer": "porter"}``.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    separators: ClassVar[str] = ""
    joiners: ClassVar[str] = ""
    usual: ClassVar[Mapping[str, Any]] = {}

    @property
    def version(self) -> str:
        """The version of the package that the tokens depend on; empty without one.

        Raises
        ------
        MissingPackageError
            The package is not installed.
        """
        return ""

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """Return the surface tokens of `text`, in order."""

    @abstractmethod
    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the character offsets (start, end) in `text` of each token of ``tokenize(text)``.

        A normalised token has the offsets of the characters that it was made from.
        """

    def normalize(self, token: str, lowercase: bool) -> str:
        """Return the form in which a surface token is counted, in its own case or in lower case."""
        return token.lower() if lowercase else token

    def __repr__(self) -> str:
        return f"<tokenizer {self.name}>"


class RegexTokenizer(Tokenizer):
    """A tokenizer whose tokens are the matches of a regular expression.

    The pattern has no capturing groups. It can neither match a separator nor look beyond one.
    """

    pattern: ClassVar[re.Pattern[str]]

    def prepare(self, text: str) -> str:
        """Return the string that the pattern is matched against; it has the length of `text`, so
        offsets hold.
        """
        return text

    def tokenize(self, text: str) -> list[str]:
        """Return the matches of the pattern."""
        return self.pattern.findall(self.prepare(text))

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of the matches."""
        return [match.span() for match in self.pattern.finditer(self.prepare(text))]


HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"  # two planes with nothing else
)
"""The blocks of Chinese characters, as a character class."""

KANA = "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f\U0001aff0-\U0001b16f"
"""The blocks of Hiragana and Katakana, as a character class."""

UNSPACED = (
    HAN + KANA + "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
)
"""The blocks of scripts written without spaces between words, as a character class."""

HANGUL = "\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3"
"""Hangul syllables, and the letters that begin a decomposed one, as a character class."""

HANGUL_ENDS = "\u1160-\u11ff\ud7b0-\ud7fb"
"""The letters that go on with a decomposed Hangul syllable, as a character class."""

_ASCII_WORD = re.compile(
    r"[A-Za-z0-9]+(?:(?:'(?<=[A-Za-z]')(?=[A-Za-z])|[.,](?<=[0-9][.,])(?=[0-9]))[A-Za-z0-9]+)*"
)


class WordTokenizer(Tokenizer):
    """Unicode words of NFC-normalised text.

    A word is a maximal run of letters and digits, with their combining marks and joiners. An
    apostrophe between two letters (``don't``, ``o'clock``) and a full stop or comma between two
    digits (``3.5``, ``1,000``) stay inside; the typographic apostrophe becomes the plain one.
    Underscores and all other punctuation separate.
    """

    name = "word"
    description = (
        "Unicode words of NFC text, with inner apostrophes and decimal points; all other marks "
        "separate, hyphens too."
    )
    citation = "After Unicode Standard Annex 29, rules WB4, WB6, WB7, WB11 and WB12."
    separators = "".join(c for c in ASCII if not c.isalnum() and c not in "'.,")
    joiners = "'.,"

    def tokenize(self, text: str) -> list[str]:
        """Return the words, NFC-normalised and with plain apostrophes."""
        if text.isascii():  # this pattern finds the same words, twice as fast
            return _ASCII_WORD.findall(text)
        return self._pattern().findall(normalise_words(text))

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of each word in the original text, normalised or not."""
        # The pattern is closed under canonical equivalence: normalising the words of the original
        # text gives the words of the normalised text. So no map from normalised to original offsets
        # is needed.
        pattern = _ASCII_WORD if text.isascii() else self._pattern()
        return [match.span() for match in pattern.finditer(text)]

    def _pattern(self) -> re.Pattern[str]:
        return _word_pattern()


class CharTokenizer(WordTokenizer):
    """Like :class:`WordTokenizer`, but each character of an unspaced script, with its marks, is
    a token.
    """

    name = "char"
    description = (
        "Each character of Han, Kana, Thai, Lao, Khmer and Myanmar is a token; other text as in "
        "word."
    )
    citation = (
        "After Unicode Standard Annex 29, section 4: such scripts need a dictionary to find words."
    )

    def _pattern(self) -> re.Pattern[str]:
        return char_pattern()


class SyllableTokenizer(CharTokenizer):
    """Like :class:`CharTokenizer`, but without a border inside a syllable's letters.

    The vowels that Thai and Lao write before or after their consonant, and the consonants that
    Khmer and Myanmar write below one, are part of its token. A syllable of Hangul is a token too.
    """

    name = "syllable"
    description = (
        "As in char, but vowels and lower consonants stay with theirs, and each syllable of Hangul "
        "is a token."
    )
    citation = "After the clusters of Theeramunkong et al. 2000 (Thai), and of Unicode."

    def _pattern(self) -> re.Pattern[str]:
        return _syllable_pattern()


def unspaced_share(texts: Iterable[str]) -> float:
    """Return the share, from 0 to 1, of letters and digits that belong to scripts written without
    spaces.

    Above a few per cent, use the analyzer ``char``: ``word`` would make one token of an entire
    sentence.

    Examples
    --------
    >>> unspaced_share(["猫 cat", "dog"])
    0.14285714285714285
    """
    texts = list(texts) if isinstance(texts, Iterator) else texts  # else they are read twice
    unspaced_run = re.compile(f"(?:(?=[^\\W_])[{UNSPACED}])+")
    unspaced = 0
    for text in texts:
        if not text.isascii():
            unspaced += sum(map(len, unspaced_run.findall(text)))
    if not unspaced:
        return 0.0
    return unspaced / sum(len(run) for text in texts for run in re.findall(r"[^\W_]+", text))


def normalise_words(text: str) -> str:
    """Return the text as :class:`WordTokenizer` cuts it: in NFC, with plain apostrophes.

    `unicodedata` sorts a run of marks in quadratic time. So long runs that are not in order are
    sorted before.
    """
    if not unicodedata.is_normalized("NFC", text):  # says no at the first mark out of order
        text = unicodedata.normalize("NFC", _long_mark_runs().sub(_sort_marks, text))
    return text.replace("’", "'")


@cache
def _long_mark_runs() -> re.Pattern[str]:
    # No language has runs of more than 30 marks: Unicode Standard Annex 15, "Stream-Safe Text
    # Format".
    return re.compile(f"[{mark_class()}]{{31,}}")


def _sort_marks(run: re.Match[str]) -> str:
    """Return an equivalent run of marks in canonical order: Unicode Standard, section 3.11."""
    marks = "".join(unicodedata.normalize("NFD", mark) for mark in run[0])
    pieces = (
        sorted(group, key=unicodedata.combining) for _, group in groupby(marks, _begins_order)
    )
    return "".join(mark for piece in pieces for mark in piece)


def _begins_order(mark: str) -> bool:
    """Return whether no mark moves across this one."""
    return unicodedata.combining(mark) == 0


@cache
def _word_pattern() -> re.Pattern[str]:
    return re.compile(_word_regex())


@cache
def char_pattern() -> re.Pattern[str]:
    """Return the pattern of the tokens of :class:`CharTokenizer`."""
    return re.compile(split_pattern())


def split_pattern(script: str = "") -> str:
    """Return the pattern of single characters of unspaced scripts and of other words.

    No word has a letter of the class `script`.
    """
    others = _word_regex(excluded=UNSPACED + script)
    return f"(?=[^\\W_])[{UNSPACED}][{mark_class()}]*|{others}"


@cache
def _syllable_pattern() -> re.Pattern[str]:
    letter = f"(?=[^\\W_])[{UNSPACED}{HANGUL}][{mark_class()}{HANGUL_ENDS}]*"
    # Khmer's and Myanmar's signs that put the next consonant below.
    stacked = f"{letter}(?:(?<=[\u17d2\u1039]){letter})*"
    before, after = "[\u0e40-\u0e44\u0ec0-\u0ec4]", "[\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]"
    syllable = f"(?:{before}(?={letter}))?{stacked}(?:{after}[{mark_class()}]*)*"
    return re.compile(f"{syllable}|{_word_regex(excluded=UNSPACED + HANGUL)}")


def _word_regex(excluded: str = "") -> str:
    """Return the pattern of words; it matches no character of the class `excluded`."""
    marks = mark_class()
    letter_or_digit, letter = f"[^\\W_{excluded}]", f"[^\\W\\d_{excluded}]"
    run = f"{letter_or_digit}+(?:[{marks}]+{letter_or_digit}*)*"
    apostrophe = f"['’](?:(?<={letter}['’])|(?<=[{marks}]['’]))(?={letter})"
    decimal = r"[.,](?<=\d[.,])(?=\d)"
    return f"{run}(?:(?:{apostrophe}|{decimal}){run})*"


@cache
def mark_class() -> str:
    """Return the combining marks (categories Mn, Mc, Me) and the joiners U+200C and U+200D, as a
    character class.

    ``\\w`` matches none of them, although words of most scripts contain them.
    """
    # Planes 2 and 3 have only ideographs; the last marks are in plane 14.
    places = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = (code for code in places if unicodedata.category(chr(code))[0] == "M")
    return character_class([0x200C, 0x200D, *marks])


def character_class(codes: Iterable[int]) -> str:
    """Return the inside of a character class with these code points, as ranges."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


class MultiRCTokenizer(Tokenizer):
    """Text between blanks and ``( ) , . ? ! " : ' /``, after a transcription to ASCII.

    From the released scripts: ``&quot;`` is a quotation mark; before cutting, letters lose their
    accents and typographic punctuation becomes plain, so ``Peña’s`` is ``Pena`` and ``s``. Hyphens,
    semicolons and all other signs stay in their words.

    Our reading: the release transcribes any script to Latin letters (Perl's Text::Unidecode). This
    class transcribes Latin letters, punctuation and the few signs of the MultiRC texts and drops
    other characters. A character that would become several words (``¼``) stays one word. The
    analyzer does the lower-casing.

    Examples
    --------
    >>> MultiRCTokenizer().tokenize("Peña’s well-known &quot;plan&quot; (3:30)…")
    ['Pena', 's', 'well-known', 'plan', '3', '30']
    """

    name = "multirc2018"
    description = "MultiRC's tokenizer: ASCII letters, split at blanks and ( ) , . ? ! \" : ' /."
    citation = (
        "Khashabi et al. (NAACL 2018), SurfaceLR; github.com/CogComp/multirc, surfaceLR_train.pl."
    )
    separators = ASCII_BLANKS + "(),.?!\":'/"

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens, in the case of the text."""
        return _MULTIRC_TOKEN.findall(
            _blank_entities(text if text.isascii() else "".join(map(_transcribe, text)))
        )

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of each token, from the first to the last character it was made
        from.
        """
        written = [_transcribe(character) for character in text]
        origin = [i for i, characters in enumerate(written) for _ in characters]
        matches = _MULTIRC_TOKEN.finditer(_blank_entities("".join(written)))
        spans = (match.span() for match in matches)
        return [(origin[start], origin[end - 1] + 1) for start, end in spans]


_CUT = r"\s(),.?!\":'/"
_MULTIRC_TOKEN = re.compile(f"[^{_CUT}]+")
_CUTS = re.compile(f"[{_CUT}]")
_ENTITY = re.compile("&quot;", re.IGNORECASE)

_PLAIN = {
    **dict.fromkeys("‐‑‒–−", "-"),
    **dict.fromkeys("—―", "--"),
    **dict.fromkeys("‘’‛′", "'"),
    **dict.fromkeys("“”‟″", '"'),
    "‚": ",",
    "„": ",,",
    "«": "<<",
    "»": ">>",
    "‹": "<",
    "›": ">",
    "•": "*",
    "·": "*",
    "¡": "!",
    "¿": "?",
    "£": "PS",
    "€": "EU",
    "¥": "Y=",
    "§": "SS",
    "¶": "P",
    "©": "(c)",
    "®": "(r)",
    "°": "deg",
    "±": "+-",
    "×": "x",
    "÷": "/",
    "⁄": "⁄",
    "¦": "|",
    "Æ": "AE",
    "æ": "ae",
    "Œ": "OE",
    "œ": "oe",
    "Ø": "O",
    "ø": "o",
    "Ð": "D",
    "ð": "d",
    "Đ": "D",
    "đ": "d",
    "Þ": "Th",
    "þ": "th",
    "ß": "ss",
    "Ł": "L",
    "ł": "l",
    "ı": "i",
}


def _blank_entities(text: str) -> str:
    return _ENTITY.sub(" " * len("&quot;"), text) if "&" in text else text


@cache
def _transcribe(character: str) -> str:
    """Transcribe a character to ASCII: to only word characters or only separators, never both."""
    if character.isascii():
        return character
    if character.isspace():
        return " "
    parts = unicodedata.normalize("NFKD", _PLAIN.get(character, character))
    written = "".join(_PLAIN.get(sign, sign if sign.isascii() else "") for sign in parts)
    return _CUTS.sub("", written) or written


_CHUNK_CHARACTERS = 2**16
"""Characters of the texts that are cut together: few enough that their pieces fit into a core's
cache.
"""

_FEW_CHARACTERS = 2**14
"""Fewer characters than these are cut by Python's own functions: a call of NumPy takes a
microsecond.
"""

_LONG_TEXT = 2**20
"""The most characters of a text that is not split."""


class Pieces(NamedTuple):
    """The pieces of some texts, by number."""

    numbers: NDArray[np.int32]  # of all texts, concatenated
    counts: NDArray[np.int64]  # (n_texts,): how many pieces each text has
    # (n_pieces, 2): the characters of each piece in its text; None if they are not known
    places: NDArray[np.int32] | None = None


class TextPieces(NamedTuple):
    """The pieces of texts, a few texts at a time."""

    chunks: list[Pieces]
    # (n_texts + 1,): the first of the texts of `chunks` that is part of each text; None if each
    # text is one
    first_parts: NDArray[np.int64] | None = None


class PieceTable:
    """The distinct pieces of texts, numbered in the order of first occurrence.

    If the tokenizer has separators, texts are cut there, and a piece has the tokens that it has by
    itself. Else the pieces of a text are its surface tokens. Few or unusual texts are cut only at
    blanks: a piece may have other separators inside, so how a text is cut depends on the texts that
    come with it. Its tokens do not.

    Most pieces are found in the cache of keys, as arrays. The others become strings, and a
    dictionary has their numbers.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer, self._classes = tokenizer, class_table(*cutting_of(tokenizer))
        self._numbers = numbering()
        self._cache: KeyCache | None = None  # until there are many texts

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the pieces, in the order of their numbers."""
        return iter(self._numbers)

    def cut(self, texts: Sequence[str]) -> TextPieces:
        """Return the pieces of texts, in order.

        They are never in memory as strings at the same time: only their numbers are.
        """
        first_parts = None
        if self._tokenizer.separators:
            texts, first_parts = _split_long_texts(texts)
        if sum(map(len, texts)) < block_size(_FEW_CHARACTERS):
            return TextPieces([self._cut_strings(texts)], first_parts)
        chunks = tracked(_split_chunks(texts), len(texts), len, share=0.8)
        return TextPieces(list(map(self._cut_chunk, chunks)), first_parts)

    def _number(self, pieces: Iterable[str], n: int) -> NDArray[np.int32]:
        return np.fromiter(map(self._numbers.__getitem__, pieces), np.int32, n)

    def _cut_strings(self, texts: Sequence[str]) -> Pieces:
        pieces: list[str] = []
        counts: list[int] = []
        tokenize, at_blanks = self._tokenizer.tokenize, bool(self._tokenizer.separators)
        for text in texts:
            text_pieces = text.split(" ") if at_blanks else tokenize(text)
            pieces += text_pieces
            counts.append(len(text_pieces))
        return Pieces(self._number(pieces, len(pieces)), np.array(counts, dtype=np.int64))

    def _cut_chunk(self, texts: Sequence[str]) -> Pieces:
        if not self._tokenizer.separators:
            return self._cut_strings(texts)
        joined = " ".join(["", *texts, " " * PADDING])
        buffer = joined.encode("utf-8", "surrogatepass")
        # a script without blanks: few pieces are short or occur twice
        if 2 * len(buffer) > 5 * len(joined):
            return self._cut_strings(texts)
        starts, lengths = find_pieces(buffer, self._classes)
        ends = starts + lengths
        first, last = starts, ends  # of each piece, as characters of `joined`
        if len(buffer) > len(joined):
            places = character_places(buffer)
            first, last = places.take(starts), places.take(ends)
        text_lengths = np.array(list(map(len, texts)), dtype=np.int64)
        bounds = 1 + offsets_of(1 + text_lengths)
        counts = np.diff(np.searchsorted(first, bounds))
        keys = piece_keys(buffer, starts, lengths)
        self._cache = cache = self._cache or KeyCache()
        numbers = cache.find(keys)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            bounds_of_unknown = zip(
                first.take(unknown).tolist(), last.take(unknown).tolist(), strict=True
            )
            pieces = [joined[start:end] for start, end in bounds_of_unknown]
            new_numbers = self._number(pieces, len(pieces))
            cache.add(keys.take(unknown), new_numbers, len(self._numbers))
            numbers[unknown] = new_numbers
        places = np.stack((first, last), axis=1)
        places -= np.repeat(bounds[:-1], counts)[:, np.newaxis]
        return Pieces(numbers, counts, places.astype(np.int32))


COMMON_JOINERS = "'.,:;\"#*"
COMMON_SEPARATORS = "".join(c for c in ASCII if not c.isalnum() and c not in "_" + COMMON_JOINERS)
"""Where texts are cut for all tokenizers that allow it, so that they share the pieces."""


def cutting_of(tokenizer: Tokenizer) -> tuple[str, str]:
    """Return the separators and the joiners at which texts are cut for a tokenizer: the common
    ones if all of them are its own.
    """
    separators = set(tokenizer.separators)
    if separators.issuperset(COMMON_SEPARATORS) and separators.union(tokenizer.joiners).issuperset(
        COMMON_JOINERS
    ):
        return COMMON_SEPARATORS, COMMON_JOINERS
    return tokenizer.separators, tokenizer.joiners


def numbering() -> defaultdict[str, int]:
    """Return a dictionary that numbers its keys from 0, in the order in which they are first
    looked up.
    """
    return defaultdict(itertools.count().__next__)


def _split_chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield runs of about `_CHUNK_CHARACTERS` characters; the first run is divided further, by
    doubling.

    At the start of a new vocabulary, few words are known until a run is finished.
    """
    ends = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    np.cumsum(ends, out=ends)
    doublings = np.frexp(np.maximum(ends / block_size(_CHUNK_CHARACTERS), 1 / 16))[1]  # -3 to 0
    run = np.where(
        ends < block_size(_CHUNK_CHARACTERS), doublings, ends // block_size(_CHUNK_CHARACTERS)
    )
    bounds = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), len(texts)]
    return (texts[start:stop] for start, stop in itertools.pairwise(bounds) if start < stop)


def _split_long_texts(texts: Sequence[str]) -> tuple[Sequence[str], NDArray[np.int64] | None]:
    """Split texts at blanks into parts that fit into memory as arrays.

    Also returns the number of each text's first part, shape (n_texts + 1,); None if no text is
    long.
    """
    if max(map(len, texts), default=0) <= block_size(_LONG_TEXT):
        return texts, None
    parts = [list(_parts(text)) for text in texts]
    return [piece for text_parts in parts for piece in text_parts], offsets_of(
        list(map(len, parts))
    )


def _parts(text: str) -> Iterator[str]:
    start = 0
    while (end := text.find(" ", start + block_size(_LONG_TEXT))) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
