"""What differs between two texts: equality up to case, blanks and punctuation, and a word diff
on one line.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from classic_rc.equality import normalised_text
from classic_rc.tables.text import column_width
from classic_rc.text.tokenizers import UNSPACED, unspaced_share

_NO_WORD = re.compile(r"[\W_]+")
_CHARACTERS = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
"""The words of scripts without spaces: single characters, and what is between them."""

_DIFF_WORDS = 1000
_SHOWN_WORDS = 6


def words_only(text: str) -> str:
    """Return the letters and digits of a text in one case; of a text without any, the text in one
    case.

    Examples
    --------
    >>> words_only("Who, Ann?"), words_only("?!")
    ('whoann', '?!')
    """
    return _NO_WORD.sub("", text.casefold()) or normalised_text(text)


def word_diff(before: str, after: str, width: int = 96) -> str:
    """Return the words that differ, in the notation of wdiff, on one line of at most `width`
    columns.

    In scripts without spaces, characters are compared.

    Parameters
    ----------
    before, after : str
        Words of `before` are ``[-removed-]``, words of `after` are ``{+added+}``.
    width : int
        Wide characters take two columns.

    Examples
    --------
    >>> word_diff("What did Nora plant in spring?", "What did Nora plant in summer?")
    'in [-spring?-] {+summer?+}'
    >>> word_diff("Who ran?", "who ran"), word_diff("Who ran?", "Who ran?")
    ('case, blanks or punctuation', 'equal')
    >>> word_diff("他们买了一瓶油。", "他们卖了一瓶油。")
    '他们 [-买-] {+卖+} 了一瓶油。'
    """
    if before == after:
        return "equal"
    if words_only(before) == words_only(after):
        return "case, blanks or punctuation"
    has_spaces = unspaced_share((before, after)) < 0.5
    glue, context = (" ", 1) if has_spaces else ("", 4)  # words shown before and after a difference
    split = str.split if has_spaces else _CHARACTERS.findall
    words, others = split(before), split(after)
    keys, other_keys = list(map(words_only, words)), list(map(words_only, others))
    pairs = enumerate(zip(keys, other_keys, strict=False))
    differing = (i for i, (key, other_key) in pairs if key != other_key)
    n = next(differing, min(len(keys), len(other_keys)))
    start = max(n - context, 0)
    changed = slice(start, start + _DIFF_WORDS)  # comparing very long texts word by word takes long
    matcher = difflib.SequenceMatcher(None, keys[changed], other_keys[changed], autojunk=False)
    parts: list[str] = []
    operations = matcher.get_opcodes()
    for i, (tag, a, b, c, d) in enumerate(operations):
        removed = words[start + a : start + b]
        added = others[start + c : start + d]
        if tag == "equal":
            is_last = i == len(operations) - 1
            if len(added) <= 2 * context:
                parts.append(glue.join(added))
            else:
                parts += [glue.join(added[:context]), "…"] if i else []
                parts += [] if is_last else [glue.join(added[-context:])]
            continue
        parts += [f"[-{_clip(removed, glue, context)}-]"] if removed else []
        parts += [f"{{+{_clip(added, glue, context)}+}}"] if added else []
    return _join(parts, width)


def _join(parts: Sequence[str], width: int) -> str:
    """Join parts; if they are too long, the first ones that fit, or the start of a long change."""
    line = " ".join(parts)
    if column_width(line) <= width:
        return line
    ends = [column_width(" ".join(parts[: n + 1])) for n in range(len(parts))]
    fitting = parts[: sum(end <= width - 2 for end in ends)]
    if any(phrase.startswith(("[-", "{+")) for phrase in fitting):
        return " ".join(fitting).rstrip(" …") + " …"
    while column_width(line) > width - 1:
        line = line[:-1]
    return line.rstrip(" …") + "…"


def _clip(words: Sequence[str], glue: str, context: int) -> str:
    """Join words; of many, only the first and last ones and their number."""
    if len(words) <= _SHOWN_WORDS * context:
        return glue.join(words)
    unit = "words" if glue else "characters"
    beginning = glue.join(words[: 2 * context])
    end = glue.join(words[-context:])
    return f"{beginning} … {end} ({len(words)} {unit})"
