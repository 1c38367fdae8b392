"""Texts as two arrays, which can be mapped from files; and what identifies a sequence of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of

_BLOCK = 2**10


class Texts(Sequence[str]):
    """Texts that stay UTF-8 until they are looked at.

    Parameters
    ----------
    data : ndarray of uint8
        The texts' bytes, one after the other.
    offsets : ndarray of integers, shape (n_texts + 1,)
        Text i is ``data[offsets[i]:offsets[i + 1]]``.

    Examples
    --------
    >>> texts = Texts.of(["Zoë", "", "Nora"])
    >>> texts[0], len(texts), list(texts[1:])
    ('Zoë', 3, ['', 'Nora'])
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.integer[Any]]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """These texts, in memory, with offsets of the smallest type that holds them."""
        coded = [_coded(text) for text in texts]
        offsets = offsets_of(np.fromiter(map(len, coded), np.int64, len(coded)))
        return cls(np.frombuffer(b"".join(coded), np.uint8), offsets.astype(np.min_scalar_type(offsets[-1])))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], name: str) -> Self:
        """The texts of :meth:`arrays`."""
        return cls(arrays[f"{name}_data"], arrays[f"{name}_offsets"])

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """The two arrays, by the names ``name_data`` and ``name_offsets``."""
        return {f"{name}_data": self.data, f"{name}_offsets": self.offsets}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Texts: ...
    def __getitem__(self, index: int | slice) -> str | Texts:
        which = range(len(self))[index]
        if isinstance(which, int):
            return self._bytes(which).decode("utf-8", "surrogatepass")
        if which.step != 1:
            return Texts.of(self[i] for i in which)
        return Texts(self.data, self.offsets[which.start : max(which.start, which.stop) + 1])

    def coded(self) -> Iterator[bytes]:
        """The UTF-8 of each text."""
        for start in range(0, len(self), _BLOCK):
            bounds = self.offsets[start : start + _BLOCK + 1].tolist()
            block = self.data[bounds[0] : bounds[-1]].tobytes()
            for first, last in pairwise(bounds):
                yield block[first - bounds[0] : last - bounds[0]]

    def _bytes(self, index: int) -> bytes:
        start, end = self.offsets[index : index + 2].tolist()
        return self.data[start:end].tobytes()


def fingerprint(texts: Iterable[str]) -> str:
    """Hex sha256 of texts, in order.

    Examples
    --------
    >>> fingerprint(["ab", "c"]) == fingerprint(["a", "bc"])
    False
    """
    digest = hashlib.sha256()
    add_to_fingerprint(digest, map(_coded, texts))
    return digest.hexdigest()


def add_to_fingerprint(digest: hashlib._Hash, coded: Iterable[bytes]) -> None:
    """Put the UTF-8 of more texts into a sha256, each behind its length."""
    for text in coded:
        digest.update(len(text).to_bytes(8, "little") + text)


def _coded(text: str) -> bytes:
    # Halves of surrogate pairs, which JSON can spell, must come back as they were.
    return text.encode("utf-8", "surrogatepass")
