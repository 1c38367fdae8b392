"""Numbers for the distinct pieces of texts: most pieces of a text have occurred before."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.byte_pieces import (
    PADDING,
    KeyCache,
    character_places,
    class_table,
    find_pieces,
    piece_keys,
)
from classic_rc.text.tokenizers import Tokenizer

_CHUNK_CHARACTERS = 2**16
"""Characters of the texts that are cut together: few enough that their pieces fit into a core's cache."""

_FEW_CHARACTERS = 2**14
"""Fewer characters than these are cut by Python's own functions: a call of NumPy takes a microsecond."""

_LONG_TEXT = 2**20
"""The most characters of a text that is not split."""


class Pieces(NamedTuple):
    """The pieces of some texts, by number."""

    numbers: NDArray[np.int32]  # of all texts, concatenated
    counts: NDArray[np.int64]  # (n_texts,): how many pieces each text has


class PieceTable:
    """The distinct pieces of texts, numbered in the order of first occurrence.

    If the tokenizer has separators, texts are cut there, and a piece has the tokens that it has by itself. Else the
    pieces of a text are its surface tokens. Few or unusual texts are cut only at blanks: a piece may have other
    separators inside, so how a text is cut depends on the texts that come with it. Its tokens do not.

    Most pieces are found in the cache of keys, as arrays. The others become strings, and a dictionary has their
    numbers.

    Parameters
    ----------
    tokenizer : Tokenizer
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._numbers = numbering()
        self._cache: KeyCache | None = None  # until there are many texts

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the pieces, in the order of their numbers."""
        return iter(self._numbers)

    def cut(self, texts: Sequence[str]) -> list[Pieces]:
        """Return the pieces of texts, a few texts at a time, in order."""
        if sum(map(len, texts)) < _FEW_CHARACTERS:
            return [self._cut_strings(texts)]
        return list(map(self._cut_chunk, _split_chunks(texts)))

    def _number(self, pieces: Iterable[str], n: int) -> NDArray[np.int32]:
        return np.fromiter(map(self._numbers.__getitem__, pieces), np.int32, n)

    def _cut_strings(self, texts: Sequence[str]) -> Pieces:
        pieces: list[str] = []
        counts: list[int] = []
        tokenize, at_blanks = self._tokenizer.tokenize, bool(self._tokenizer.separators)
        for text in texts:
            own = text.split(" ") if at_blanks else tokenize(text)
            pieces += own
            counts.append(len(own))
        return Pieces(self._number(pieces, len(pieces)), np.array(counts, dtype=np.int64))

    def _cut_chunk(self, texts: Sequence[str]) -> Pieces:
        if not self._tokenizer.separators:
            return self._cut_strings(texts)
        joined = " ".join(["", *texts, " " * PADDING])
        buffer = joined.encode("utf-8", "surrogatepass")
        if 2 * len(buffer) > 5 * len(joined):  # a script without blanks: few pieces are short or occur twice
            return self._cut_strings(texts)
        starts, lengths = find_pieces(buffer, class_table(self._tokenizer.separators, self._tokenizer.joiners))
        ends = starts + lengths
        first, last = starts, ends  # of each piece, as characters of `joined`
        if len(buffer) > len(joined):
            places = character_places(buffer)
            first, last = places.take(starts), places.take(ends)
        bounds = 1 + offsets_of(1 + np.array(list(map(len, texts)), dtype=np.int64))
        counts = np.diff(np.searchsorted(first, bounds))
        keys = piece_keys(buffer, starts, lengths)
        self._cache = cache = self._cache or KeyCache()
        numbers = cache.find(keys)
        unknown = np.flatnonzero(numbers < 0)
        if len(unknown):
            bounds_of_unknown = zip(first.take(unknown).tolist(), last.take(unknown).tolist(), strict=True)
            pieces = [joined[start:end] for start, end in bounds_of_unknown]
            found = self._number(pieces, len(pieces))
            cache.add(keys.take(unknown), found, len(self._numbers))
            numbers[unknown] = found
        return Pieces(numbers, counts)


def numbering() -> defaultdict[str, int]:
    """Return a dictionary that numbers its keys from 0, in the order in which they are first looked up."""
    return defaultdict(itertools.count().__next__)


def _split_chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield runs of about `_CHUNK_CHARACTERS` characters; the first run is divided further, by doubling.

    At the start of a new vocabulary, few words are known until a run is finished.
    """
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    doublings = np.frexp(np.maximum(ends / _CHUNK_CHARACTERS, 1 / 16))[1]  # -3 to 0
    run = np.where(ends < _CHUNK_CHARACTERS, doublings, ends // _CHUNK_CHARACTERS)
    bounds = [0, *(np.flatnonzero(np.diff(run)) + 1).tolist(), len(texts)]
    return (texts[start:stop] for start, stop in itertools.pairwise(bounds) if start < stop)


def split_long_texts(texts: Sequence[str]) -> tuple[Sequence[str], NDArray[np.int64] | None]:
    """Split texts at blanks into parts that fit into memory as arrays.

    Returns
    -------
    parts : sequence of str
        The texts, if none is long.
    first : ndarray of int64, shape (n_texts + 1,), or None
        The number of each text's first part; None if no text is long.
    """
    if max(map(len, texts), default=0) <= _LONG_TEXT:
        return texts, None
    parts = [list(_parts(text)) for text in texts]
    return [part for own in parts for part in own], offsets_of(np.array(list(map(len, parts)), dtype=np.int64))


def _parts(text: str) -> Iterator[str]:
    start = 0
    while (end := text.find(" ", start + _LONG_TEXT)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
