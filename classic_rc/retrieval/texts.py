"""Texts as UTF-8 in two arrays, and the fingerprint of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.byte_pieces import character_places

_BLOCK = 2**12
"""How many texts are encoded, decoded or hashed together: few enough to fit into a core's cache."""

_PREFIX = 8
"""The bytes of a text's length in a fingerprint."""


class StoredTexts(Sequence[str]):
    """Texts that are stored as UTF-8 and decoded on access: text i is ``data[offsets[i]:offsets[i +
    1]]``.

    Examples
    --------
    >>> texts = StoredTexts.of(["Zoë", "", "Nora"])
    >>> texts[0], len(texts), list(texts[1:])
    ('Zoë', 3, ['', 'Nora'])
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.integer[Any]]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Encode texts in memory, with offsets of the smallest type that holds them."""
        texts = texts if isinstance(texts, list) else list(texts)
        parts = []
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))  # in characters
        for start in range(0, len(texts), _BLOCK):
            block = slice(start, start + _BLOCK)
            parts.append(_encode("".join(texts[block])))
            if len(parts[-1]) > lengths[block].sum():  # not only ASCII
                lengths[block] = [len(_encode(text)) for text in texts[block]]
        offsets = offsets_of(lengths)
        data = np.frombuffer(b"".join(parts), np.uint8)
        return cls(data, offsets.astype(np.min_scalar_type(offsets[-1])))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> Self:
        """Return the texts of the arrays that :meth:`arrays` gave."""
        return cls(arrays[f"{name}_data"], arrays[f"{name}_offsets"])

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the two arrays under the names ``name_data`` and ``name_offsets``."""
        return {f"{name}_data": self.data, f"{name}_offsets": self.offsets}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> StoredTexts: ...
    def __getitem__(self, index: int | slice) -> str | StoredTexts:
        position = range(len(self))[index]
        if isinstance(position, int):
            return self._bytes(position).decode("utf-8", "surrogatepass")
        if position.step != 1:
            return StoredTexts.of(self[i] for i in position)
        stop = max(position.start, position.stop)
        return StoredTexts(self.data, self.offsets[position.start : stop + 1])

    def __iter__(self) -> Iterator[str]:
        for block, bounds in self._blocks():
            text = block.decode("utf-8", "surrogatepass")
            if len(text) < len(block):
                bounds = np.append(character_places(block), len(text))[bounds]
            for first, last in pairwise(bounds.tolist()):
                yield text[first:last]

    def coded(self) -> Iterator[bytes]:
        """Yield the UTF-8 bytes of each text."""
        for block, bounds in self._blocks():
            for first, last in pairwise(bounds.tolist()):
                yield block[first:last]

    def count_with(self, character: str) -> int:
        """Return how many texts have a character."""
        first, *rest = _encode(character)
        start = int(self.offsets[0])
        end = max(int(self.offsets[-1]) - len(rest), start)
        places = start + np.flatnonzero(self.data[start:end] == first)
        for number, byte in enumerate(rest, start=1):
            places = places[self.data[places + number] == byte]
        return len(np.unique(np.searchsorted(self.offsets, places, side="right")))

    def hash_into(self, digest: hashlib._Hash) -> None:
        """Update a sha256 with the UTF-8 bytes of each text, after its length in eight bytes,
        little-endian.
        """
        for block, bounds in self._blocks():
            starts = bounds[:-1] + _PREFIX * np.arange(len(bounds) - 1)
            prefixes = starts[:, None] + np.arange(_PREFIX)
            hashed = np.empty(len(block) + prefixes.size, dtype=np.uint8)
            is_text = np.ones(len(hashed), dtype=np.bool_)
            is_text[prefixes] = False
            lengths = np.diff(bounds).astype("<u8")
            hashed[prefixes] = lengths.view(np.uint8).reshape(-1, _PREFIX)
            hashed[is_text] = np.frombuffer(block, np.uint8)
            digest.update(hashed.data)

    def _blocks(self) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
        """Yield the bytes of some texts, and the offset of each in them."""
        for start in range(0, len(self), _BLOCK):
            bounds = self.offsets[start : start + _BLOCK + 1].astype(np.int64)
            first, last = bounds[0], bounds[-1]
            yield self.data[first:last].tobytes(), bounds - first

    def _bytes(self, index: int) -> bytes:
        start, end = self.offsets[index : index + 2].tolist()
        return self.data[start:end].tobytes()


def fingerprint(texts: Iterable[str]) -> str:
    """Return the hex sha256 of texts, in order.

    Examples
    --------
    >>> fingerprint(["ab", "c"]) == fingerprint(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    StoredTexts.of(texts).hash_into(digest)
    return digest.hexdigest()


def update_fingerprint(digest: hashlib._Hash, text: str) -> None:
    """Update a sha256 with one more text; :meth:`StoredTexts.hash_into` is faster for many."""
    coded = _encode(text)
    digest.update(len(coded).to_bytes(_PREFIX, "little") + coded)


def _encode(text: str) -> bytes:
    # JSON can contain unpaired surrogates; they must survive encoding and decoding.
    return text.encode("utf-8", "surrogatepass")
