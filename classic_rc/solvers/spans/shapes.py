"""What spans look like, and what questions ask with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.text.encode_spans import EncodedSpans

_CLASSES = ("x", "Xx", "XX", "0")
"""What a word looks like: lower case, a capital first, all capitals, with a digit."""
_OTHERS = (",", "'s")
"""What else a span may have: punctuation between its words, and a possessive at its end."""
_N_MASKS = 2 ** (len(_CLASSES) + len(_OTHERS))
N_SHAPES = len(_CLASSES) ** 2 * _N_MASKS + 1
"""How many shapes there are; the last is that of a span without words."""
_PUNCTUATION = re.compile(r"[^\w\s]")
_DIGIT = re.compile(r"\d")


def span_shapes(spans: EncodedSpans) -> NDArray[np.int64]:
    """The shape of every span, a number below :data:`N_SHAPES`; see :func:`shape_name`."""
    look, marked, possessive = _looks(spans)
    first, end = spans.first, spans.last
    last = np.maximum(end - 1, first)
    held = [_any(look == k, first, end) for k in range(len(_CLASSES))]
    held += [_any(marked, first, last), possessive[last] & ~spans.cut]
    mask = sum(flags.astype(np.int64) << k for k, flags in enumerate(held))
    code = (look[first] * len(_CLASSES) + look[last]) * _N_MASKS + mask
    return np.where(first == end, N_SHAPES - 1, code)


def _any(flags: NDArray[np.bool_], first: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether any flag is set from `first` to before `end`."""
    before = offsets_of(flags.astype(np.int64))
    return before[end] > before[first]


def _looks(spans: EncodedSpans) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each token what it looks like, whether punctuation follows it, and whether it is a possessive.

    One more stands at the end, for spans that begin after the last token.
    """
    rows = []
    texts = {id(q.passage): q.passage.text for q in spans.questions}.values()
    starts, ends = spans.token_starts.tolist(), spans.token_ends.tolist()
    for text, (begin, stop) in zip(texts, pairwise(spans.passage_offsets.tolist()), strict=True):
        for i in range(begin, stop):
            word = text[starts[i] : ends[i]]
            following = starts[i + 1] if i + 1 < stop else ends[i]
            is_marked = _PUNCTUATION.search(text, ends[i], following) is not None
            rows.append((_class(word), is_marked, word.endswith(("'s", "\u2019s"))))
    look, marked, possessive = np.array([*rows, (0, False, False)], dtype=np.int64).T
    return look, marked > 0, possessive > 0


def _class(word: str) -> int:
    if _DIGIT.search(word):
        return 3
    if word[:1].isupper():
        return 2 if len(word) > 1 and word.isupper() else 1
    return 0


def shape_name(shape: int) -> str:
    """A shape for people: the first word's, the last word's, and in braces what the span has.

    Examples
    --------
    >>> shape_name(N_SHAPES - 1)
    'no word'
    >>> shape_name((1 * 4 + 0) * 64 + 0b010011)
    'Xx…x {x Xx ,}'
    """
    if shape == N_SHAPES - 1:
        return "no word"
    edges, mask = divmod(shape, _N_MASKS)
    first, last = divmod(edges, len(_CLASSES))
    held = [name for k, name in enumerate((*_CLASSES, *_OTHERS)) if mask >> k & 1]
    return f"{_CLASSES[first]}…{_CLASSES[last]} {{{' '.join(held)}}}"


WH_WORDS = (
    "other", "who", "whom", "whose", "what", "which", "when", "where", "why",
    "how", "how many", "how much", "how old", "how long", "how far", "how often",
)  # fmt: skip
"""What questions ask with; ``other`` is none of these."""
_WH = re.compile(rf"\b(?:{'|'.join(sorted(WH_WORDS[1:], key=len, reverse=True))})\b")


def question_kinds(questions: Sequence[str]) -> NDArray[np.int64]:
    """The first wh-word of each question, as its place in :data:`WH_WORDS`."""
    found = (_WH.search(" ".join(text.lower().split())) for text in questions)
    return np.array([WH_WORDS.index(match[0]) if match else 0 for match in found], dtype=np.int64)
