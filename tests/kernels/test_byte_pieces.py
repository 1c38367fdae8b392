"""Pieces of a byte buffer against plain Python; the cache of keys under collisions and with
little room.
"""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels import byte_pieces
from classic_rc.kernels.byte_pieces import (
    PADDING,
    SHORT,
    KeyCache,
    Keys,
    character_places,
    class_table,
    find_pieces,
    piece_keys,
)
from tests.kernels.builders import tuples

TEXT = st.text(st.sampled_from("aZ0 .,-\0\u00e9\u732b\U0001f600\ud83d"), max_size=40)


def encoded(text):
    return f" {text}{' ' * PADDING}".encode("utf-8", "surrogatepass")


def decoded(piece):
    return piece.decode("utf-8", "surrogatepass")


def joins(before, after):
    word = all(c.isascii() and c.isalnum() for c in (before, after))
    return word or not before.isascii() or not after.isascii()


@given(text=TEXT)
def test_pieces_are_those_of_a_plain_loop(text):
    padded, expected, piece = f" {text} ", [], ""
    for i in range(1, len(padded) - 1):
        before, here, after = padded[i - 1 : i + 2]
        if here not in " -" and (here not in ".," or joins(before, after)):
            piece += here
        elif piece:
            expected.append(piece)
            piece = ""
    expected += [piece] if piece else []
    buffer = encoded(text)
    starts, lengths = find_pieces(buffer, class_table(" -", ".,"))
    bounds = tuples((starts, starts + lengths))
    assert [decoded(buffer[start:stop]) for start, stop in bounds] == expected
    places = character_places(buffer)[starts]
    assert places.tolist() == [len(decoded(buffer[:start])) for start, _ in bounds]


def keys_of(pieces):
    buffer = b" ".join([b"", *pieces, b" " * PADDING])
    lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
    return piece_keys(buffer, np.cumsum(lengths + 1) - lengths, lengths)


SIMILAR = st.sampled_from([b"a", b"a\0", b"ab", b"a" * SHORT])
PIECES = st.lists(st.binary(min_size=1, max_size=SHORT + 3) | SIMILAR)


@given(pieces=PIECES)
def test_short_pieces_have_equal_keys_only_if_they_are_equal(pieces):
    first, second = keys_of(pieces)
    for i, piece in enumerate(pieces):
        assert (second[i] == 0) == (len(piece) > SHORT)
        equal_keys = (first == first[i]) & (second == second[i])
        if len(piece) <= SHORT:
            assert equal_keys.tolist() == [other == piece for other in pieces]


def little_endian(piece):
    words = piece.ljust(SHORT, b"\0") + bytes([len(piece)])
    return struct.unpack("<QQ", words)


@given(pieces=st.lists(st.binary(min_size=1, max_size=SHORT)))
def test_a_key_is_the_bytes_and_the_length(pieces):
    assert tuples(keys_of(pieces)) == [little_endian(piece) for piece in pieces]


@pytest.mark.parametrize("n_slots", [1, 2, 64, None])
@pytest.mark.parametrize("room", [5, 2**19])
@given(batches=st.lists(PIECES, max_size=5))
def test_the_cache_is_right_or_does_not_know(n_slots, room, batches):
    with pytest.MonkeyPatch.context() as patch:
        if n_slots is not None:  # all keys share a few slots
            patch.setattr(
                KeyCache, "_hash", lambda _, keys: (keys.first % n_slots).astype(np.int64)
            )
        patch.setattr(byte_pieces, "_MAX_NUMBERS", room)
        cache, numbers = KeyCache(), {}
        for batch in batches:
            cached_numbers = cache.find(keys_of(batch)).tolist()
            for piece, cached in zip(batch, cached_numbers, strict=True):
                assert cached in (-1, numbers.get(piece))
            batch_numbers = [numbers.setdefault(piece, len(numbers)) for piece in batch]
            cache.add(keys_of(batch), np.array(batch_numbers, dtype=np.int32), len(numbers))
            if n_slots is not None:
                occupied = set(cache._slots[cache._slots >= 0].tolist())
                first = {}
                for piece, number in numbers.items():
                    if len(piece) <= SHORT and number < room:
                        first.setdefault(little_endian(piece)[0] % n_slots, number)
                assert occupied == set(first.values())


def test_a_growing_cache_keeps_what_it_knows(monkeypatch):
    monkeypatch.setattr(byte_pieces, "_FIRST_BITS", 2)
    cache, rng = KeyCache(), np.random.default_rng(0)
    first = rng.permutation(np.arange(1, 40_001, dtype=np.uint64))
    keys = Keys(first, np.full(len(first), 3 << 56, dtype=np.uint64))
    numbers = np.arange(len(first), dtype=np.int32)
    for stop in (10, 1_000, 40_000):
        rows = np.arange(stop)
        cache.add(keys.take(rows), numbers[:stop], stop)
        cached_numbers = cache.find(keys.take(rows))
        is_cached = cached_numbers >= 0
        assert (cached_numbers == np.where(is_cached, numbers[:stop], -1)).all()
        assert is_cached.mean() > 0.9  # one key in twelve shares its slot at most, on average
        assert (cache.find(keys.take(np.arange(stop, len(first)))) == -1).all()
