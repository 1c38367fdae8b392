"""Treebank tokens of very many texts, counted: each distinct piece between blanks is tokenized once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.text.sentences import split_sentences
from classic_rc.text.treebank import treebank_rules

_CLOSERS = "])}>\"'»”’"
"""What may stand between a sentence's last stop and its end."""
_OPENERS = ("''", '""', "\"''")
"""Quotes that mean something else where a sentence begins."""
_BORDER = "\ue000"
"""A token by itself, for private use and in no dataset known."""
_BATCH = 1000


class TreebankCounter:
    """Counts the tokens of :class:`~classic_rc.text.treebank.TreebankTokenizer`, many texts at a time.

    The rules look at what stands between two blanks and, besides, only for a stop that ends the sentence. Pieces
    within a sentence therefore have the same tokens everywhere; they are tokenized together and remembered.

    Examples
    --------
    >>> lengths, vocabulary = TreebankCounter().count(["He can't.", "", "No. Can he?"])
    >>> lengths.tolist(), len(vocabulary)
    ([4, 0, 5], 8)
    """

    def __init__(self) -> None:
        self._tokens: dict[str, list[str]] = {}

    def count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], frozenset[str]]:
        """The number of tokens of each text, and the distinct tokens of all, in their own case."""
        cut = [[key for start, end in split_sentences(text) for key in _keys(text[start:end])] for text in texts]
        distinct = set(chain.from_iterable(cut))
        self._learn(distinct - self._tokens.keys())
        sizes = {key: len(self._tokens[key]) for key in distinct}
        n_keys = sum(map(len, cut))
        size = np.fromiter(map(sizes.__getitem__, chain.from_iterable(cut)), np.int64, n_keys)
        ends = offsets_of(np.fromiter(map(len, cut), np.int64, len(cut)))
        return np.diff(offsets_of(size)[ends]), frozenset(token for key in distinct for token in self._tokens[key])

    def _learn(self, keys: set[str]) -> None:
        tokenize = treebank_rules().tokenize
        inner = [key for key in keys if " " not in key]
        for batch in (inner[i : i + _BATCH] for i in range(0, len(inner), _BATCH)):
            bordered = " ".join(chain.from_iterable((_BORDER, piece) for piece in batch))
            tokens = list(_between_borders(tokenize(f"{bordered} {_BORDER}")))
            if len(tokens) != len(batch):  # a piece is the border itself
                tokens = [tokenize(f"{_BORDER} {piece} {_BORDER}")[1:-1] for piece in batch]
            self._tokens.update(zip(batch, tokens, strict=True))
        for key in keys.difference(inner):
            self._tokens[key] = tokenize(key.removesuffix(" "))


def _keys(sentence: str) -> Iterator[str]:
    """The pieces of a sentence; one that has to be tokenized by itself with a blank in or behind it."""
    *pieces, last = sentence.split(" ")
    body = last.rstrip(_CLOSERS)
    if not body or sentence.startswith(_OPENERS):
        yield sentence + " "
        return
    yield from filter(None, pieces)
    if last[:-1].isalnum() and last.endswith("."):
        yield last[:-1]
        yield "."
    else:
        yield last + " " if last.endswith(("'", *_CLOSERS, ".")) else last


def _between_borders(tokens: list[str]) -> Iterator[list[str]]:
    borders = [i for i, token in enumerate(tokens) if token == _BORDER]
    return (tokens[start + 1 : end] for start, end in pairwise(borders))
