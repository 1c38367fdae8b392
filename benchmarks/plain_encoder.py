"""Token ids by dictionaries alone, one piece between blanks at a time: the reference of
``TextEncoder``.

The package's encoder worked like this before it found pieces as arrays. Tests compare the ids, and
``benchmarks/encoding.py`` the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.text.analyzers import get_analyzer, get_tokenizer

_CHUNK_CHARACTERS = 2**16


class _Numbers(dict[str, int]):
    def __missing__(self, text: str) -> int:
        self[text] = fresh = len(self)
        return fresh


class PlainEncoder:
    """Cuts texts at blanks, or into surface tokens, and looks each piece up in a dictionary."""

    def __init__(self, analyzer: str) -> None:
        self.analyzer = get_analyzer(analyzer)
        self._tokenizer = get_tokenizer(self.analyzer.tokenizer)
        self._pieces, self._ids = _Numbers(), _Numbers()
        self._tokens, self._offsets = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)

    @property
    def vocabulary(self) -> list[str]:
        return list(self._ids)

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        cut = [self._cut(chunk) for chunk in _chunks(texts)]
        self._analyze_new_pieces()
        n_tokens = np.diff(self._offsets)
        tokens, lengths = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        for pieces, n_pieces in cut:
            counts = n_tokens[pieces]
            tokens.append(self._tokens[ragged_indices(self._offsets[pieces], counts)])
            lengths.append(np.diff(offsets_of(counts)[offsets_of(n_pieces)]))
        return np.concatenate(tokens), offsets_of(np.concatenate(lengths))

    def _cut(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        pieces: list[str] = []
        counts: list[int] = []
        for text in texts:
            own = text.split(" ") if self._tokenizer.separators else self._tokenizer.tokenize(text)
            pieces += own
            counts.append(len(own))
        numbers = np.fromiter(map(self._pieces.__getitem__, pieces), np.int32, len(pieces))
        return numbers, np.array(counts, dtype=np.int64)

    def _analyze_new_pieces(self) -> None:
        words: list[str] = []
        counts: list[int] = []
        for piece in list(self._pieces)[len(self._offsets) - 1 :]:
            own = self._tokenizer.tokenize(piece) if self._tokenizer.separators else [piece]
            words += own
            counts.append(len(own))
        distinct = list(dict.fromkeys(words))
        folded = zip(distinct, self.analyzer.fold(distinct), strict=True)
        id_of = {word: -1 if final is None else self._ids[final] for word, final in folded}
        ids = np.fromiter(map(id_of.__getitem__, words), np.int32, len(words))
        kept_before = offsets_of((ids >= 0).astype(np.int8))
        ends = kept_before[offsets_of(np.array(counts, dtype=np.int64))[1:]]
        self._tokens = np.concatenate((self._tokens, ids[ids >= 0]))
        self._offsets = np.concatenate((self._offsets, self._offsets[-1] + ends))


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for i, text in enumerate(texts):
        size += len(text) + 1
        if size >= _CHUNK_CHARACTERS:
            yield texts[start : i + 1]
            start, size = i + 1, 0
    if start < len(texts):
        yield texts[start:]
