"""Pieces of text in a byte buffer: their places, exact keys of short ones, and a cache from keys to
numbers.

A piece is a run of bytes between separators. A class table decides which bytes separate, so a
buffer is cut without looking at one piece at a time. A piece of at most :data:`SHORT` bytes fits
into two 64-bit words together with its length. These words are its key: different pieces have
different keys.
"""

from __future__ import annotations

import string
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHORT = 15
"""The most bytes of a piece that has a key."""

PADDING = 16
"""How many bytes of a buffer must follow the start of each piece: keys are read 16 bytes at a
time.
"""

_KEPT, _LETTER_OR_DIGIT, _HIGH, _JOINER = 1, 2, 4, 8
"""The classes of a byte, as flags; a separator has none. `_HIGH` is part of a character beyond
ASCII.
"""


@cache
def class_table(separators: str, joiners: str = "") -> bytes:
    """Return the class of each of the 256 bytes, for :func:`find_pieces`.

    `separators` are ASCII characters that always separate, `joiners` those that separate only where
    both neighbours are ASCII and one of them is not a letter or digit.
    """
    table = bytearray([_KEPT] * 128 + [_KEPT | _HIGH] * 128)
    for characters, flags in (
        (string.ascii_letters + string.digits, _KEPT | _LETTER_OR_DIGIT),
        (separators, 0),
        (joiners, _JOINER),
    ):
        for byte in characters.encode("ascii"):
            table[byte] = flags
    return bytes(table)


def find_pieces(buffer: bytes, classes: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the start and the length of each piece of a buffer, in order.

    The first and the last byte are separators; `classes` is a :func:`class_table`.
    """
    flags = np.frombuffer(buffer.translate(classes), dtype=np.uint8)
    in_piece = flags & np.uint8(_KEPT)
    before, after = flags[:-2], flags[2:]
    # A joiner is kept between two letters or digits, and next to a byte beyond ASCII. The shifts
    # move these flags to the lowest bit, the only one that a joiner's flag has after its shift.
    joins = ((before & after) >> 1) | ((before | after) >> 2)
    joins &= flags[1:-1] >> 3
    in_piece[1:-1] |= joins
    del joins, before, after
    edges = np.flatnonzero(in_piece[1:] != in_piece[:-1])
    starts = edges[::2] + 1
    return starts, edges[1::2] + 1 - starts


def character_places(buffer: bytes) -> NDArray[np.int64]:
    """Return how many characters precede each byte of UTF-8 text, for the first byte of a
    character.

    Surrogates may be encoded one by one, as Python's ``surrogatepass`` does.
    """
    begins = (np.frombuffer(buffer, dtype=np.uint8) & 0xC0) != 0x80
    places = np.cumsum(begins, dtype=np.int64)
    places -= 1
    return places


class Keys(NamedTuple):
    """The keys of pieces: two words each, both 0 for a piece of more than :data:`SHORT` bytes."""

    first: NDArray[np.uint64]  # bytes 0 to 7, then zeros
    second: NDArray[np.uint64]  # bytes 8 to 14, then zeros; the highest byte is the length

    def take(self, index: NDArray[np.int64]) -> Keys:
        """Return the keys of some of the pieces."""
        return Keys(self.first.take(index), self.second.take(index))


_LENGTHS = np.arange(SHORT + 2, dtype=np.uint64)
_FIRST_MASK = np.array([256 ** min(n, 8) - 1 for n in range(SHORT + 1)] + [0], dtype=np.uint64)
_SECOND_MASK = np.array([256 ** max(n - 8, 0) - 1 for n in range(SHORT + 1)] + [0], dtype=np.uint64)
_LENGTH_BYTE = np.where(_LENGTHS <= SHORT, _LENGTHS, np.uint64(0)) << np.uint64(56)


def piece_keys(buffer: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Keys:
    """Return the keys of pieces of a buffer, whatever the byte order of the machine.

    The buffer has at least :data:`PADDING` bytes from each start on.
    """
    # Element i of this view is the 16 bytes from byte i on, so `take` reads both words of a piece
    # at once.
    windows = np.ndarray(max(len(buffer) - PADDING + 1, 0), f"V{PADDING}", buffer, strides=(1,))
    words = windows.take(starts).view("<u8").reshape(-1, 2).astype(np.uint64, copy=False)
    kind = np.minimum(lengths, SHORT + 1)
    first = words[:, 0] & _FIRST_MASK.take(kind)
    second = words[:, 1] & _SECOND_MASK.take(kind)
    second |= _LENGTH_BYTE.take(kind)
    return Keys(first, second)


class KeyCache:
    """A cache from the keys of pieces to their numbers. It may forget a key, but never gives a
    wrong number.

    The hash of a key selects a slot. The slot has the number of the piece that came first, and the
    stored keys show whether it is the right one. There is no search: by Zipf's law the pieces that
    come first are those that come often, and few of the others find their slot taken.
    """

    def __init__(self) -> None:
        self._keys = Keys(np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64))
        self._bits = _FIRST_BITS
        self._slots = np.full(1 << self._bits, -1, dtype=np.int32)

    def find(self, keys: Keys) -> NDArray[np.int32]:
        """Return the number of each key, or -1 if the cache does not have it: shape (n_keys,)."""
        numbers = self._slots.take(self._hash(keys))
        # An empty slot has -1. It selects the last of the stored keys, which is 0 like that of a
        # long piece.
        is_stored = self._keys.first.take(numbers) == keys.first
        is_stored &= self._keys.second.take(numbers) == keys.second
        return np.where(is_stored, numbers, np.int32(-1))

    def add(self, keys: Keys, numbers: NDArray[np.int32], n_numbers: int) -> None:
        """Store the numbers of some pieces: always the same for equal keys and only for those,
        below `n_numbers`.

        Numbers of pieces without a key are ignored.
        """
        with_key = np.flatnonzero((keys.second > 0) & (numbers < _MAX_NUMBERS))
        keys, numbers = keys.take(with_key), numbers[with_key]
        self._reserve(min(n_numbers, _MAX_NUMBERS))
        self._keys.first[numbers], self._keys.second[numbers] = keys
        self._fill_slots(keys, numbers)

    def _hash(self, keys: Keys) -> NDArray[np.int64]:
        """Return the slot of each key."""
        mixed = keys.second * _FACTORS[0]
        mixed ^= keys.first
        mixed *= _FACTORS[1]
        mixed >>= np.uint64(64 - self._bits)
        return mixed.view(np.int64)

    def _fill_slots(self, keys: Keys, numbers: NDArray[np.int32]) -> None:
        """Give each empty slot to the first key that hashes to it."""
        slots = self._hash(keys)
        free = np.flatnonzero(self._slots.take(slots) < 0)[::-1]
        self._slots[slots[free]] = numbers[free]  # the last of repeated assignments stays

    def _reserve(self, n_numbers: int) -> None:
        """Make room for the keys of all numbers below `n_numbers`."""
        room = len(self._keys.first)
        if n_numbers < room:
            return
        room = max(2 * room, n_numbers + 1)  # one more: the last key stays 0 for empty slots
        grown = Keys(np.zeros(room, dtype=np.uint64), np.zeros(room, dtype=np.uint64))
        for new, old in zip(grown, self._keys, strict=True):
            new[: len(old)] = old
        self._keys = grown
        while self._bits < _MAX_BITS and (1 << self._bits) < 8 * n_numbers:
            self._bits += 2
        if len(self._slots) < 1 << self._bits:
            self._slots = np.full(1 << self._bits, -1, dtype=np.int32)
            numbers = np.flatnonzero(grown.second)
            self._fill_slots(grown.take(numbers), numbers.astype(np.int32))


_FIRST_BITS, _MAX_BITS = 14, 20
"""The slots of a new cache, and the most, as powers of two."""

_MAX_NUMBERS = 2**19
"""Pieces with higher numbers are not cached; this bounds the memory. They are rare, because they
came late.
"""

_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)
"""Odd constants of xxHash: the highest bits of a product depend on all bits of the other factor."""
