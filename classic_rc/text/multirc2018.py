"""The tokens of the surface-feature logistic regression that was released with MultiRC."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from classic_rc.text.base import Tokenizer


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
