"""Token ids by dictionaries alone, one piece between blanks at a time: the reference of ``TextEncoder``.

It is the encoder of the releases before pieces were found as arrays; benchmarks compare with it too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.text.analyzers import get_analyzer, get_tokenizer


class PlainEncoder:
    """Cuts texts at blanks, or into surface tokens, and looks each piece up in a dictionary."""

    def __init__(self, analyzer: str) -> None:
        self.analyzer = get_analyzer(analyzer)
        self._tokenizer = get_tokenizer(self.analyzer.tokenizer)
        self._pieces: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._tokens: list[int] = []
        self._offsets = [0]

    @property
    def vocabulary(self) -> list[str]:
        return list(self._ids)

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        numbers: list[int] = []
        n_pieces: list[int] = []
        at_blanks, tokenize = bool(self._tokenizer.separators), self._tokenizer.tokenize
        for text in texts:
            pieces = text.split(" ") if at_blanks else tokenize(text)
            numbers += [self._pieces.setdefault(piece, len(self._pieces)) for piece in pieces]
            n_pieces.append(len(pieces))
        for piece in list(self._pieces)[len(self._offsets) - 1 :]:
            words = self.analyzer.fold(tokenize(piece) if at_blanks else [piece])
            self._tokens += [self._ids.setdefault(word, len(self._ids)) for word in words if word is not None]
            self._offsets.append(len(self._tokens))
        offsets = np.array(self._offsets, dtype=np.int64)
        of_piece = np.array(numbers, dtype=np.int64)
        counts = np.diff(offsets)[of_piece]
        tokens = np.array(self._tokens, dtype=np.int32)[ragged_indices(offsets[of_piece], counts)]
        return tokens, offsets_of(counts)[offsets_of(np.array(n_pieces, dtype=np.int64))]
