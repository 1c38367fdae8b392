"""What differs between two texts: equality up to case, blanks and punctuation, and a word diff on one line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from classic_rc.questions import normalised_text

_NO_WORD = re.compile(r"[\W_]+")


def words_only(text: str) -> str:
    """Return the letters and digits of a text in one case; of a text without any, the text in one case.

    Examples
    --------
    >>> words_only("Who, Ann?"), words_only("?!")
    ('whoann', '?!')
    """
    return _NO_WORD.sub("", text.casefold()) or normalised_text(text)


_DIFF_WORDS = 1000
_SHOWN_WORDS = 6


def word_diff(one: str, other: str, width: int = 96) -> str:
    """Return the words that differ, in the notation of wdiff, on one line of at most `width` characters.

    Parameters
    ----------
    one, other : str
        Words of `one` are ``[-removed-]``, words of `other` are ``{+added+}``.
    width : int

    Examples
    --------
    >>> word_diff("What did Nora plant in spring?", "What did Nora plant in summer?")
    'in [-spring?-] {+summer?+}'
    >>> word_diff("Who ran?", "who ran"), word_diff("Who ran?", "Who ran?")
    ('case, blanks or punctuation', 'equal')
    """
    if one == other:
        return "equal"
    words, others = one.split(), other.split()
    keys, other_keys = [words_only(w) for w in words], [words_only(w) for w in others]
    if keys == other_keys or words_only(one) == words_only(other):
        return "case, blanks or punctuation"
    n = next((i for i, pair in enumerate(zip(keys, other_keys, strict=False)) if pair[0] != pair[1]), None)
    n = min(len(keys), len(other_keys)) if n is None else n
    start = max(n - 1, 0)  # with one word before the first difference
    changed = slice(start, start + _DIFF_WORDS)  # comparing very long texts word by word takes long
    matcher = difflib.SequenceMatcher(None, keys[changed], other_keys[changed], autojunk=False)
    parts: list[str] = []
    operations = matcher.get_opcodes()
    for i, (tag, a, b, c, d) in enumerate(operations):
        if tag == "equal":
            same = others[start + c : start + d]
            parts += same if len(same) <= 2 else [*(same[:1] if i else []), *(["…"] if i else []), same[-1]]
            if len(same) > 2 and i == len(operations) - 1:
                parts.pop()
        if b > a and tag != "equal":
            parts.append(f"[-{_clip(words[start + a : start + b])}-]")
        if d > c and tag != "equal":
            parts.append(f"{{+{_clip(others[start + c : start + d])}+}}")
    return _join(parts, width)


def _join(parts: Sequence[str], width: int) -> str:
    """Join parts; if they are too long, the first ones that fit, or the start of a long change."""
    line = " ".join(parts)
    if len(line) <= width:
        return line
    ends = [len(" ".join(parts[: n + 1])) for n in range(len(parts))]
    fitting = parts[: sum(end <= width - 2 for end in ends)]
    if any(part.startswith(("[-", "{+")) for part in fitting):
        return " ".join(fitting).rstrip(" …") + " …"
    return line[: width - 1].rstrip(" …") + "…"


def _clip(words: Sequence[str]) -> str:
    """Join words; of many, only the first and last ones and their number."""
    if len(words) <= _SHOWN_WORDS:
        return " ".join(words)
    return f"{' '.join(words[:2])} … {words[-1]} ({len(words)} words)"
