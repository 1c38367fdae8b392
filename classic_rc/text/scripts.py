"""The script that most letters of a text belong to."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

_SAMPLED_CHARACTERS = 256  # of each text, evenly spaced: a page in HTML starts with Latin letters

_LEAST_KANA = 0.1
"""The least share of kana among kana and Chinese characters in Japanese texts. It is usually more
than a half, and a few per cent in Chinese texts about Japan.
"""
_PERSIAN_LETTERS = "پچژگکیٹڈڑںے"
_LEAST_PERSIAN = 0.03
"""The least share of letters that Arabic does not have in Persian and Urdu: usually a sixth."""


def dominant_script(texts: Iterable[str]) -> str | None:
    """Return the script with the most letters, such as ``"latin"``, ``"han"`` or ``"thai"``.

    Names are Unicode's, in lower case, with three exceptions: ``"han"`` is Chinese characters,
    ``"japanese"`` is kana together with the Chinese characters in the same texts, and
    ``"perso-arabic"`` is the Arabic script of Persian, Urdu and others. Marks, digits and modifier
    letters do not count. The order of the texts does not matter, and long texts are
    sampled. None if there is no letter.

    Examples
    --------
    >>> dominant_script(["東京タワーの高さ", "iPhone"]), dominant_script(["東京大學", "iPod"])
    ('japanese', 'han')
    """
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text[:: len(text) // _SAMPLED_CHARACTERS + 1])
    letters: Counter[str] = Counter()
    for character, count in characters.items():
        if unicodedata.category(character) in ("Ll", "Lo", "Lt", "Lu"):
            letters[_script(character)] += count
    kana = letters["japanese"]
    if kana and kana >= _LEAST_KANA * (kana + letters["han"]):
        letters["japanese"] += letters.pop("han", 0)
    persian = sum(characters[letter] for letter in _PERSIAN_LETTERS)
    if persian > _LEAST_PERSIAN * letters["arabic"]:
        letters["perso-arabic"] = letters.pop("arabic")
    return min(+letters, key=lambda script: (-letters[script], script), default=None)


def _script(letter: str) -> str:
    # unicodedata does not tell the script, but the name of a letter begins with it
    name = unicodedata.name(letter, "unknown").lower()
    script = name.removeprefix("fullwidth ").removeprefix("halfwidth ").split()[0]
    return {"cjk": "han", "hiragana": "japanese", "katakana": "japanese"}.get(script, script)
