"""From texts to token ids over a vocabulary that grows as texts come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.tokenizers import get_tokenizer

__all__ = ["TextEncoder"]

_CHUNK_CHARACTERS = 2**20


class _Ids(dict[str, int]):
    """Words to ids, given out in the order of first sight."""

    def __missing__(self, word: str) -> int:
        self[word] = fresh = len(self)
        return fresh


class TextEncoder:
    """Makes token ids of texts; each word of the vocabulary is analysed once.

    Parameters
    ----------
    analyzer : str or Analyzer

    Examples
    --------
    >>> encoder = TextEncoder("word+stop=lucene")
    >>> tokens, offsets = encoder.encode(["The fox", "A fox ran"])
    >>> tokens.tolist(), offsets.tolist(), encoder.vocabulary
    ([0, 0, 1], [0, 1, 3], ['fox', 'ran'])
    """

    def __init__(self, analyzer: str | Analyzer) -> None:
        self.analyzer = get_analyzer(analyzer)
        self._surface, self._final = _Ids(), _Ids()
        self._renumber: list[int] = []

    @property
    def vocabulary(self) -> list[str]:
        """The token that each id stands for."""
        return list(self._final)

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of the texts' tokens, one text after the other, and where each text starts.

        The tokens are never all held as strings.
        """
        tokenizer = get_tokenizer(self.analyzer.tokenizer)
        ids, counts = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        for chunk in _chunks(texts):
            words, n_words = tokenizer.bulk(chunk)
            ids.append(np.fromiter(map(self._surface.__getitem__, words), np.int32, len(words)))
            counts.append(n_words)
        fresh = list(self._surface)[len(self._renumber) :]
        self._renumber += [-1 if word is None else self._final[word] for word in self.analyzer.fold(fresh)]
        offsets, renumber = offsets_of(np.concatenate(counts)), np.array(self._renumber, dtype=np.int32)
        return _renumbered(np.concatenate(ids), offsets, renumber)


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for i, text in enumerate(texts):
        size += len(text) + 1
        if size >= _CHUNK_CHARACTERS:
            yield texts[start : i + 1]
            start, size = i + 1, 0
    if start < len(texts):
        yield texts[start:]


def _renumbered(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], renumber: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    final = renumber[tokens] if len(renumber) else tokens
    keep = final >= 0
    if keep.all():
        return final, offsets
    kept_before = np.concatenate(([0], np.cumsum(keep)))
    return final[keep], kept_before[offsets]
