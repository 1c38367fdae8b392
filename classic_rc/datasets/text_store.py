"""Passages and candidates of large datasets, whose texts are in a temporary file until they are
read.
"""

from __future__ import annotations

import marshal
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from classic_rc.questions import Candidate, Passage, TextCandidates, candidate_texts

_KEPT_CHARACTERS = 2**24  # of the first texts, which stay in memory
_BLOCK_CHARACTERS = 2**15  # of the texts that one access reads from the file


class TextStore:
    """Keeps the texts of a dataset: the first ones in memory, as they are, and all others in a
    temporary file.

    `is_open` tells whether texts go to the file now. If it cannot be written, all texts stay in
    memory.
    """

    def __init__(self) -> None:
        from classic_rc.kernels.arrays import block_size

        self.is_open = False
        self._left: float = block_size(_KEPT_CHARACTERS)
        self._block_size = block_size(_BLOCK_CHARACTERS)
        self._file = _File()
        self._block, self._n_characters = _StoredBlock(self._file), 0
        self._last: tuple[Sequence[Candidate] | None, Sequence[Candidate]] = (None, ())

    def make_passage(
        self,
        id: str,
        text: str,
        sentences: tuple[tuple[int, int], ...] | None,
        meta: Mapping[str, Any] | None,
    ) -> Passage:
        """Return a passage, whose text may be in the file."""
        facts = (sentences, meta) if meta else (sentences,)
        if place := self._add(text, len(text)):
            return StoredPassage(id, place, *facts)
        return Passage(id, text, *facts)

    def keep_candidates(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates, or the same with their texts in the file; consecutive questions
        can share them.
        """
        if candidates is self._last[0]:
            return self._last[1]
        if type(candidates) is StoredCandidates or not (texts := candidate_texts(candidates)):
            return candidates
        values: Sequence[Any] = texts
        if not isinstance(candidates, TextCandidates):
            values = tuple((c.text, c.start, c.end) for c in candidates)
        if place := self._add(values, sum(map(len, texts))):
            self._last = candidates, StoredCandidates(len(texts), place)
            return self._last[1]
        return candidates

    def _add(self, value: Any, n_characters: int) -> Any:
        """Return the place of a value in a new block, which is moved to the file if it is full;
        None in memory.
        """
        if not self.is_open:
            self._left -= n_characters
            self.is_open = self._left < 0
            return None
        block = self._block
        block.values.append(value)
        place = block, len(block.values) - 1
        self._n_characters += n_characters
        if self._n_characters >= self._block_size:
            self._block, self._n_characters = _StoredBlock(self._file), 0
            try:
                self._file.save(block)
            except OSError:
                self.is_open, self._left = False, math.inf
        return place


class _StoredBlock:
    """Values that are read from the file together: most readers go through the texts in order."""

    __slots__ = ("file", "place", "values")

    def __init__(self, file: _File) -> None:
        self.file = file
        self.values: list[Any] = []  # empty once they are in the file
        self.place = (0, 0)  # in the file: the first byte, and how many there are

    def __getitem__(self, index: int) -> Any:
        return (self.values or self.file.read(self))[index]


class _File:
    """A temporary file of blocks; they are added at its end, and the one that was read last is
    in memory.
    """

    def __init__(self) -> None:
        self._file: Any = None
        self._size = 0
        self._last: tuple[_StoredBlock | None, list[Any]] = (None, [])

    def save(self, block: _StoredBlock) -> None:
        """Move a block's values to the file."""
        if self._file is None:
            import tempfile

            # No buffer: a full disk must show before the values leave the memory.
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open as long as it is read
        data = marshal.dumps(block.values)
        self._file.seek(self._size)
        if self._file.write(data) < len(data):
            raise OSError("no space left")
        block.place, block.values = (self._size, len(data)), []
        self._size += len(data)

    def read(self, block: _StoredBlock) -> list[Any]:
        """Return the values of a block."""
        last, values = self._last  # one assignment, so threads see a whole pair
        if last is not block:
            values = marshal.loads(self._read_bytes(*block.place))
            self._last = block, values
        return values

    def _read_bytes(self, start: int, size: int) -> bytes:
        if hasattr(os, "pread"):  # forks and threads share the file's position
            return os.pread(self._file.fileno(), size, start)
        self._file.seek(start)
        return bytes(self._file.read(size))

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


_TEXT: Any = Passage.__dict__["text"]


class StoredPassage(Passage):
    """A passage whose text is read from a store on every access; a copy with another text is in
    memory.
    """

    __slots__ = ()

    @property
    def text(self) -> str:
        """The text."""
        text = _TEXT.__get__(self)
        if isinstance(text, tuple):
            block, index = text
            return str(block[index])
        return text

    @text.setter
    def text(self, text: str) -> None:
        _TEXT.__set__(self, text)


class StoredCandidates(TextCandidates):
    """Candidates whose texts, and offsets if they have any, are read from a store on every
    access.
    """

    __slots__ = ("_n", "_place")

    def __init__(self, n: int, place: tuple[_StoredBlock, int]) -> None:
        self._n, self._place = n, place

    def _values(self) -> tuple[Any, ...]:
        block, index = self._place
        return block[index]

    @property
    def texts(self) -> tuple[str, ...]:  # type: ignore[override]
        """The texts."""
        values = self._values()
        return values if isinstance(values[0], str) else tuple(text for text, _, _ in values)

    def contents(self) -> tuple[Candidate, ...]:
        """Return the candidates."""
        values = self._values()
        if isinstance(values[0], str):
            return tuple(map(Candidate, values))
        return tuple(Candidate(*value) for value in values)

    def __len__(self) -> int:
        return self._n

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.contents(),)
