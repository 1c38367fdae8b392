"""Rules of an option's characters: punctuation, capitals, white space, signs."""

from __future__ import annotations

import unicodedata

import numpy as np

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import PartialInput, characters, has, matches, ordered, shares


def _is_mark(c: str) -> bool:
    return unicodedata.category(c)[0] == "P"


def _is_odd(c: str) -> bool:
    return (c.isspace() and c not in " \n") or (unicodedata.category(c) in ("Cf", "Cc") and c != "\n")


_MARKUP = r"</?\w[^<>]*>|&(?:\w+|#\d+);|\*+\w|\b__?\w|https?:|`"

_PUNCTUATION = (
    has(
        "ends with a punctuation mark",
        "punctuation",
        "does not end with a punctuation mark",
        lambda t: t.of_texts(lambda text: bool(text.rstrip()) and _is_mark(text.rstrip()[-1])),
    ),
    has(
        "starts with a punctuation mark",
        "punctuation",
        "does not start with a punctuation mark",
        lambda t: t.of_texts(lambda text: bool(text.lstrip()) and _is_mark(text.lstrip()[0])),
    ),
    has("has a comma", "punctuation", "has no comma", matches("[,，、،]")),
    has("has an apostrophe", "punctuation", "has no apostrophe", matches("['’]")),
    has("has a hyphen or dash", "punctuation", "has no hyphen or dash", matches("[-‐‑–—]")),
    has("has quotation marks", "punctuation", "has no quotation marks", matches('["“”«»「」『』]')),
    has("has brackets", "punctuation", "has no brackets", matches(r"[()\[\]{}（）【】]")),
    has("has a colon or semicolon", "punctuation", "has no colon or semicolon", matches("[:;：；]")),
    has("has two marks in a row", "punctuation", "never has two marks in a row", matches(r"[.,;:!?]{2}")),
    has("has an ellipsis", "punctuation", "has no ellipsis", matches(r"…|\.\.\.")),
    has("has a slash", "punctuation", "has no slash", matches(r"[/\\／]")),
    has(
        "has a question or exclamation mark",
        "punctuation",
        "has no question or exclamation mark",
        matches("[?!？！]"),
    ),
    has(
        "has typographic quotes or apostrophes", "punctuation", "has no typographic quotes", matches("[“”‘’«»‹›„‚]")
    ),
    has("has markup (a tag, an entity, stars)", "punctuation", "has no markup", matches(_MARKUP)),
    *ordered(
        characters(_is_mark), "punctuation", "one with the most punctuation", "one with the least punctuation"
    ),
)

_CAPITALS = (
    has(
        "starts with a capital",
        "capitals",
        "does not start with a capital",
        lambda t: t.of_texts(lambda text: text.lstrip()[:1].isupper()),
    ),
    has("is all in capitals", "capitals", "is not all in capitals", lambda t: t.of_texts(str.isupper)),
    has(
        "has every word capitalised",
        "capitals",
        "does not have every word capitalised",
        lambda t: t.of_texts(str.istitle),
    ),
    has(
        "has a capital after its first letter",
        "capitals",
        "has no capital after its first letter",
        lambda t: t.count_characters(str.isupper) > t.of_texts(lambda text: text.lstrip()[:1].isupper()),
    ),
    *ordered(characters(str.isupper), "capitals", "one with the most capitals", "one with the fewest capitals"),
)

_BLANKS = (
    has("starts with white space", "white space", "does not start with white space", matches(r"^\s")),
    has("ends with white space", "white space", "does not end with white space", matches(r"\s\Z")),
    has("has two blanks in a row", "white space", "never has two blanks in a row", matches(r"\s\s")),
    has("has an odd blank or an invisible character", "white space", "has no odd blank", characters(_is_odd)),
    has("has white space at its ends", "white space", "has no white space at its ends", matches(r"^\s|\s\Z")),
    has("has a line break", "white space", "has no line break", matches(r"[\n\r]")),
    has("has a blank before a mark", "white space", "has no blank before a mark", matches(r"\s[.,;:!?]")),
)


_TRADITIONAL = (
    "東馬車門書學師國來時會說這個們為過對開長問關間見頭電業點機話體動氣樣經與無讓還邊風飛魚鳥麗黃萬兒兩貝頁"
    "當發後從買賣紅綠藍銀錢鐵鐘圖場處實導應總歲歷給視親覺記許認語誰請讀變質費資輕轉農運遠連進選遲達"
)


def _is_vowel(c: str) -> bool:
    return c.casefold() in "aeiou"


def _same_ends(text: str) -> bool:
    letters = [c for c in text.casefold() if c.isalnum()]
    return len(letters) > 1 and letters[0] == letters[-1]


def _n_scripts(text: str) -> int:
    """Return how many scripts the letters have, by the first words of their names."""
    return 1 if text.isascii() else len({unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha()})


def _script_share(table: OptionTable) -> Floats:
    return table.count_characters(lambda c: not c.isascii()) / np.maximum(table.lengths, 1)


_SIGNS = (
    has("has a character beyond ASCII", "characters", "is all ASCII", characters(lambda c: not c.isascii())),
    has("has a digit", "characters", "has no digit", characters(str.isdigit)),
    has(
        "is in another Unicode form (not NFC)",
        "characters",
        "is in the Unicode form NFC",
        lambda t: t.of_texts(lambda text: not unicodedata.is_normalized("NFC", text)),
    ),
    has(
        "has a sign that is no letter, digit, mark or blank",
        "characters",
        "has only letters, digits, marks and blanks",
        characters(lambda c: unicodedata.category(c)[0] == "S"),
    ),
    has(
        "repeats a letter three times",
        "characters",
        "never repeats a letter three times",
        matches(r"([^\W\d_])\1\1"),
    ),
    has("starts with a vowel", "derived", "starts with no vowel", matches(r"^\s*[aeiouAEIOU]")),
    has(
        "has a full-width or other compatibility character",
        "characters",
        "has no full-width or other compatibility character",
        lambda t: t.of_texts(lambda text: not text.isascii() and not unicodedata.is_normalized("NFKC", text)),
    ),
    has(
        "has letters of several scripts",
        "characters",
        "has letters of one script",
        lambda t: t.of_texts(_n_scripts) > 1,
    ),
    has(
        "has traditional Chinese characters",
        "characters",
        "has no traditional Chinese characters",
        characters(frozenset(_TRADITIONAL).__contains__),
    ),
    has("has a doubled letter", "characters", "has no doubled letter", matches(r"([^\W\d_])\1")),
    has(
        "starts and ends with the same letter",
        "characters",
        "starts and ends with different letters",
        lambda t: t.of_texts(_same_ends),
    ),
    *ordered(
        shares(characters(_is_vowel), lambda t: t.lengths),
        "characters",
        "one with the largest share of vowels",
        "one with the smallest share of vowels",
    ),
    *ordered(
        lambda t: t.of_texts(lambda text: len(set(filter(str.isalnum, text.casefold())))),
        "characters",
        "one with the most different letters",
        "one with the fewest different letters",
    ),
    *ordered(
        shares(characters(str.isdigit), lambda t: t.lengths),
        "characters",
        "one with the largest share of digits",
        "one with the smallest share of digits",
    ),
    *ordered(
        _script_share,
        "characters",
        "one with the largest share beyond ASCII",
        "one with the smallest share beyond ASCII",
    ),
)

CHARACTER_RULES: tuple[PartialInput, ...] = (*_PUNCTUATION, *_CAPITALS, *_BLANKS, *_SIGNS)
