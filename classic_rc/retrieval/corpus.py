"""Texts as two arrays, which can be mapped from files; and what identifies a sequence of texts."""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, Self, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.io.compression import STREAM_ERRORS, unpacked_stream
from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Passage
from classic_rc.retrieval.base import Engine
from classic_rc.text.sentences import passage_sentences

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


class Sources(Protocol):
    """Where each sentence of a corpus comes from."""

    def __call__(self, number: int) -> str:
        """The source of one sentence, in a few words."""


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sentences that can be searched.

    Parameters
    ----------
    name : str
        For people: ``"passages"``, or an index's.
    engine : Engine
        With the sentences indexed.
    fingerprint : str
        Hex sha256 of the sentences, in order.
    source : callable
        Where the sentence of a number comes from: a passage's id, a file and line.
    """

    name: str
    engine: Engine
    fingerprint: str
    source: Sources

    @property
    def signature(self) -> str:
        """Name, content and size: ``passages@1f2e3d4c(8,412 sentences)``."""
        return f"{self.name}@{self.fingerprint[:8]}({self.engine.n_sentences:,} sentences)"

    def without(self, numbers: Sequence[int]) -> Corpus:
        """The corpus as if these sentences had no index term, with a fingerprint that says so.

        Raises
        ------
        UsageError
            The engine cannot leave sentences out.
        """
        if not len(numbers):
            return self
        digest = hashlib.sha256(f"{self.fingerprint} without {sorted(numbers)}".encode())
        return replace(self, engine=self.engine.without(numbers), fingerprint=digest.hexdigest())


def passage_corpus(passages: Iterable[Passage], engine: Engine) -> Corpus:
    """The sentences of passages; a text that several passages have is taken once.

    Parameters
    ----------
    passages : iterable of Passage
    engine : Engine
        Empty; it is filled here.
    """
    distinct = list({p.text: p for p in passages}.values())
    sentences = [[p.text[start:end] for start, end in passage_sentences(p)] for p in distinct]
    first = offsets_of(np.array([len(own) for own in sentences], dtype=np.int64))
    texts = [sentence for own in sentences for sentence in own]
    engine.index(texts)
    return Corpus("passages", engine, fingerprint(texts), _PassageSources(distinct, first))


class _PassageSources:
    def __init__(self, passages: list[Passage], first: NDArray[np.int64]) -> None:
        self._ids, self._first = [p.id for p in passages], first

    def __call__(self, number: int) -> str:
        return f"passage {self._ids[int(np.searchsorted(self._first, number, side='right')) - 1]}"


STDIN = "-"
"""What standard input goes by among paths."""

Advance = Callable[[int], None]
"""Is told how many bytes of input have just been read."""

_LONGEST_LINE = 2**28
_BUFFER = 2**18

_REFUSED = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_lines(path: str, advance: Advance) -> Iterator[str]:
    r"""The lines of a file, each with the ``"\n"`` that ended it.

    Parameters
    ----------
    path : str
        Plain text, or compressed with gzip, bzip2 or xz, as its first bytes tell; ``"-"`` is standard input. What
        is not UTF-8 becomes U+FFFD; a byte order mark is left out.
    advance : callable
        Is told how many bytes have just been read, as the file stores them.

    Raises
    ------
    DataError
        There is no such file, it cannot be read, is cut short or broken, is an archive or no UTF-8 text at all, or
        has a line of more than 2**28 characters.
    """
    try:
        with _opened(path, advance) as file, unpacked_stream(file) as stream:
            _check(stream, path)
            lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
            while line := lines.readline(_LONGEST_LINE):
                if len(line) == _LONGEST_LINE:
                    raise DataError(f"a line of more than {_LONGEST_LINE:,} characters", source=path)
                yield line
    except STREAM_ERRORS as error:
        raise _unreadable(path, error) from None


class _Raw(io.RawIOBase):
    """A file's bytes, of which someone is told as they are read."""

    def __init__(self, file: Any, advance: Advance) -> None:
        # What comes through a pipe is read as it comes.
        self._read, self._advance = getattr(file, "read1", file.read), advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._advance(len(data))
        return len(data)


@contextmanager
def _opened(path: str, advance: Advance) -> Iterator[io.BufferedReader]:
    with nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb", buffering=0) as file:
        yield io.BufferedReader(_Raw(file, advance), _BUFFER)


def _check(stream: Any, path: str) -> None:
    head = stream.peek(512)
    refused = next((what for magic, what in _REFUSED.items() if head.startswith(magic)), None)
    if head[257:262] == b"ustar":
        refused = "a tar archive"
    if refused:
        raise DataError(
            refused,
            source=path,
            expected="UTF-8 text, plain or compressed with gzip, bzip2 or xz",
            hint="Convert or unpack it",
        )


def _unreadable(path: str, error: BaseException) -> DataError:
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"the file cannot be read ({error.strerror})", source=path)
    return DataError(f"the file is broken or cut short ({error})", source=path, hint="Get the whole file")
