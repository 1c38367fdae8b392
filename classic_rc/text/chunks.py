"""Chunks of text: the groups of words that alignment aligns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from classic_rc.text.analyzers import Analyzer

_JOINT = re.compile(r"\s*|-")
"""What may stand between two words of a run: blanks or one hyphen, but no other mark."""


class TextChunk(NamedTuple):
    """A group of words that stand together.

    Parameters
    ----------
    words : tuple of str
        As the analyzer has them; never empty.
    start, end : int
        Its characters in the text, `end` exclusive.
    sentence : int
        The number of its sentence.
    """

    words: tuple[str, ...]
    start: int
    end: int
    sentence: int = 0


def content_runs(
    text: str,
    sentences: Sequence[tuple[int, int]],
    analyzer: Analyzer,
    stop_words: frozenset[str],
    *,
    single: bool = False,
) -> list[TextChunk]:
    """Maximal runs of content words: what stands between stop words, punctuation and the borders of sentences.

    They stand in for the noun and verb groups of a shallow parser, which needs a model.

    Parameters
    ----------
    text : str
    sentences : sequence of (int, int)
        Character offsets, the end exclusive.
    analyzer : Analyzer
        One that drops punctuation.
    stop_words : frozenset of str
        Compared with the lower-cased word. A text of nothing else keeps them: "the three" is a run then.
    single : bool
        Each word by itself.

    Examples
    --------
    >>> from classic_rc.text.analyzers import get_analyzer
    >>> text = "Who pulled the big-eared fox, sly Tom, out of the grocery store?"
    >>> stops = frozenset(["who", "the", "out", "of"])
    >>> [chunk.words for chunk in content_runs(text, [(0, len(text))], get_analyzer("word"), stops)]
    [('pulled',), ('big', 'eared', 'fox'), ('sly', 'tom'), ('grocery', 'store')]
    """
    located = [
        (word, start + begin, end + begin, number)
        for number, (begin, finish) in enumerate(sentences)
        for word, start, end in analyzer.locate(text[begin:finish])
    ]
    content = [token for token in located if token[0].lower() not in stop_words] or located
    runs: list[list[tuple[str, int, int, int]]] = []
    for token in content:
        if (
            not single
            and runs
            and token[3] == runs[-1][-1][3]
            and _JOINT.fullmatch(text, runs[-1][-1][2], token[1])
        ):
            runs[-1].append(token)
        else:
            runs.append([token])
    return [TextChunk(tuple(t[0] for t in run), run[0][1], run[-1][2], run[0][3]) for run in runs]
