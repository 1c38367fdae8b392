"""Porter's stemmer, in the two versions that papers used.

Written here because nltk's takes two seconds of CPU time to import, in every process that stems; this one is also
several times faster. The tests compare both.
"""

from __future__ import annotations

_IRREGULAR = {
    **{"skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news"},
    **{"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing"},
    **{"cannings": "canning", "canning": "canning", "howe": "howe"},
    **{"proceed": "proceed", "exceed": "exceed", "succeed": "succeed"},
}
"""Words that nltk's version does not stem by rules."""

# What becomes of a suffix if the stem before it is long enough. Only the longest suffix of a word is looked at.
_STEP_2 = {
    **{"ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble"},
    **{"alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate"},
    **{"alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive"},
    **{"biliti": "ble", "logi": "log"},
}
_STEP_2_NLTK = {**_STEP_2, "fulli": "ful"}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_REMOVED = frozenset("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split())


class _Letters(dict[int, str]):
    """The shapes of single letters: vowel, consonant, or a y, which can be either."""

    def __missing__(self, letter: int) -> str:
        return "c"


_LETTERS = _Letters({ord(vowel): "v" for vowel in "aeiou"} | {ord("y"): "y"})


def porter_stem(word: str, nltk: bool = False) -> str:
    """Return the stem of a word.

    Parameters
    ----------
    word : str
        In lower case.
    nltk : bool
        Whether to use the rules of nltk's ``NLTK_EXTENSIONS``. Otherwise, the rules are those of Porter's own
        program (``MARTIN_EXTENSIONS`` in nltk).

    Examples
    --------
    >>> porter_stem("relational"), porter_stem("happily"), porter_stem("enjoy"), porter_stem("enjoy", nltk=True)
    ('relat', 'happili', 'enjoi', 'enjoy')
    """
    if nltk and word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    # No rule changes the shape of what precedes a suffix, so the shape is computed once and cut and extended.
    shape = _shape(word)
    word, shape = _step_1(word, shape, nltk)
    if nltk and word.endswith("alli") and _measure(shape, len(word) - 4):
        word, shape = word[:-2], shape[:-2]  # before step 2 as well
    word, shape = _replace(word, shape, _STEP_2_NLTK if nltk else _STEP_2, (7, 6, 5, 4, 3), nltk)
    word, shape = _replace(word, shape, _STEP_3, (5, 4, 3), nltk)
    for length in (5, 4, 3, 2):
        if (suffix := word[-length:]) in _REMOVED:
            end = len(word) - len(suffix)
            if _measure(shape, end) > 1 and (suffix != "ion" or word[end - 1] in "st"):
                word = word[:end]
            break
    if word.endswith("e"):
        measure = _measure(shape, len(word) - 1)
        if measure > 1 or (measure == 1 and not _is_short(word[:-1], shape, nltk)):
            word = word[:-1]
    if word.endswith("ll") and _measure(shape, len(word) - 1) > 1:
        word = word[:-1]
    return word


def _shape(word: str) -> str:
    """Return ``v`` or ``c`` for each letter; a y after a consonant is a vowel."""
    shape = word.translate(_LETTERS)
    if "y" not in shape:
        return shape
    letters, before = [], "v"
    for letter in shape:
        before = letter if letter != "y" else "v" if before == "c" else "c"
        letters.append(before)
    return "".join(letters)


def _measure(shape: str, end: int) -> int:
    """Return how often consonants follow vowels in the letters before `end`: Porter's m."""
    return shape.count("vc", 0, end)


def _is_short(word: str, shape: str, nltk: bool) -> bool:
    """Return whether a word ends like ``hop``: consonant, vowel, and a consonant except w, x and y."""
    end = len(word)
    if nltk and end == 2:
        return shape.startswith("vc")
    return end >= 3 and shape[end - 3 : end] == "cvc" and word[-1] not in "wxy"


def _step_1(word: str, shape: str, nltk: bool) -> tuple[str, str]:
    """Remove -s, -ed and -ing, and replace -y."""
    if word.endswith("s"):
        if word.endswith("ies"):
            word = word[:-1] if nltk and len(word) == 4 else word[:-2]
        elif word.endswith("sses"):
            word = word[:-2]
        elif not word.endswith("ss"):
            word = word[:-1]
    if nltk and word.endswith("ied"):
        word = word[:-1] if len(word) == 4 else word[:-2]
    elif word.endswith("eed"):
        if _measure(shape, len(word) - 3):
            word = word[:-1]
    elif word.endswith(("ed", "ing")):
        stem = word[:-2] if word.endswith("ed") else word[:-3]
        if "v" in shape[: len(stem)]:
            word = _mend(stem, shape, nltk)
            if len(word) > len(stem):
                shape = shape[: len(stem)] + "v"
    if word.endswith("y"):
        end = len(word) - 1
        if (end > 1 and shape[end - 1] == "c") if nltk else "v" in shape[:end]:
            word, shape = word[:-1] + "i", shape[:end] + "v"
    return word, shape[: len(word)]


def _mend(stem: str, shape: str, nltk: bool) -> str:
    """Return what -ed or -ing was added to: ``conflate``, ``hop``, ``file``."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if stem[-1] == stem[-2:-1] and shape[len(stem) - 1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(shape, len(stem)) == 1 and _is_short(stem, shape, nltk) else stem


def _replace(
    word: str, shape: str, suffixes: dict[str, str], lengths: tuple[int, ...], nltk: bool
) -> tuple[str, str]:
    """Replace the longest of some suffixes if consonants follow vowels before it."""
    for length in lengths:
        suffix = word[-length:]
        if suffix in suffixes:
            end = len(word) - len(suffix)
            # nltk counts the l of -logi with the stem, so that "geology" has a long enough one.
            if _measure(shape, end + 1 if nltk and suffix == "logi" else end):
                new = suffixes[suffix]
                return word[:end] + new, shape[:end] + new.translate(_LETTERS)
            break
    return word, shape
