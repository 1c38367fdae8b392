"""From texts to token ids over a vocabulary that grows as texts come."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.tokenizers import get_tokenizer

_CHUNK_CHARACTERS = 2**16
"""Of the texts that are cut together: so few that their pieces fit into a core's cache."""


class _Ids(dict[str, int]):
    """Strings to ids, given out in the order of first sight."""

    def __missing__(self, text: str) -> int:
        self[text] = fresh = len(self)
        return fresh


class TextEncoder:
    """Makes token ids of texts.

    Texts are cut into pieces, most of which have been seen before: at blanks where the tokenizer allows it, else
    into surface tokens. Each distinct piece is analysed once.

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
        self._tokenizer = get_tokenizer(self.analyzer.tokenizer)
        self._pieces, self._ids = _Ids(), _Ids()
        self._piece_tokens, self._piece_offsets = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)

    @property
    def vocabulary(self) -> list[str]:
        """The token that each id stands for."""
        return list(self._ids)

    @property
    def n_pieces(self) -> int:
        """How many distinct pieces are remembered."""
        return len(self._pieces)

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of the texts' tokens, one text after the other, and where each text starts.

        The pieces are never all held as strings.
        """
        cut = [self._cut(chunk) for chunk in _chunks(texts)]
        self._analyze_new_pieces()
        n_tokens = np.diff(self._piece_offsets)
        tokens, lengths = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.int64)]
        for pieces, n_pieces in cut:
            counts = n_tokens[pieces]
            tokens.append(self._piece_tokens[ragged_indices(self._piece_offsets[pieces], counts)])
            lengths.append(np.diff(offsets_of(counts)[offsets_of(n_pieces)]))
        return np.concatenate(tokens), offsets_of(np.concatenate(lengths))

    def _cut(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The numbers of the texts' pieces, one text after the other, and how many each has."""
        pieces: list[str] = []
        counts: list[int] = []
        tokenize, at_blanks = self._tokenizer.tokenize, self._tokenizer.blanks_separate
        for text in texts:
            found = text.split(" ") if at_blanks else tokenize(text)
            pieces += found
            counts.append(len(found))
        numbers = np.fromiter(map(self._pieces.__getitem__, pieces), np.int32, len(pieces))
        return numbers, np.array(counts, dtype=np.int64)

    def _analyze_new_pieces(self) -> None:
        known = len(self._piece_offsets) - 1
        if known == len(self._pieces):
            return
        words: list[str] = []
        counts: list[int] = []
        tokenize = self._tokenizer.tokenize if self._tokenizer.blanks_separate else _alone
        for piece in itertools.islice(self._pieces, known, None):
            found = tokenize(piece)
            words += found
            counts.append(len(found))
        distinct = list(dict.fromkeys(words))
        folded = zip(distinct, self.analyzer.fold(distinct), strict=True)
        id_of = {word: -1 if final is None else self._ids[final] for word, final in folded}
        ids = np.fromiter(map(id_of.__getitem__, words), np.int32, len(words))
        kept_before = offsets_of((ids >= 0).astype(np.int8))
        ends = kept_before[offsets_of(np.array(counts, dtype=np.int64))[1:]]
        self._piece_tokens = np.concatenate((self._piece_tokens, ids[ids >= 0]))
        self._piece_offsets = np.concatenate((self._piece_offsets, self._piece_offsets[-1] + ends))


def _alone(piece: str) -> list[str]:
    return [piece]


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for i, text in enumerate(texts):
        size += len(text) + 1
        if size >= _CHUNK_CHARACTERS:
            yield texts[start : i + 1]
            start, size = i + 1, 0
    if start < len(texts):
        yield texts[start:]
