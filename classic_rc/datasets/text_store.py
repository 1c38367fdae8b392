"""Passages and candidates of large datasets, whose texts are in a temporary file until they are read."""

from __future__ import annotations

import marshal
import math
import os
from collections.abc import Sequence
from typing import Any

from classic_rc.questions import Candidate, Passage, TextCandidates, candidate_texts

_KEPT_CHARACTERS = 2**24
_BLOCK_CHARACTERS = 2**15


class TextStore:
    """Keeps the texts of a dataset: the first ones in memory, as they are, and all others in a temporary file.

    `is_open` tells whether texts go to the file now. If it cannot be written, all texts stay in memory.
    """

    def __init__(self) -> None:
        from classic_rc.kernels.arrays import block_size

        self.is_open = False
        self._left: float = block_size(_KEPT_CHARACTERS)
        self._block_size = block_size(_BLOCK_CHARACTERS)
        self._file = _File()
        self._block, self._n_characters = _Block(self._file), 0
        self._last: tuple[Sequence[Candidate], Sequence[Candidate]] | None = None

    def keep_passage(self, passage: Passage) -> Passage:
        """Return the passage, or the same with its text in the file."""
        if not self._takes(len(passage.text)):
            return passage
        text: Any = self._add(passage.text, len(passage.text))
        return StoredPassage(passage.id, text, passage.sentences, passage.meta)

    def keep_candidates(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates, or the same with their texts in the file; consecutive questions can share them."""
        if self._last is not None and candidates is self._last[0]:
            return self._last[1]
        if type(candidates) is StoredCandidates:
            return candidates
        texts = candidate_texts(candidates)
        n_characters = sum(map(len, texts))
        if not texts or not self._takes(n_characters):
            return candidates
        has_places = not isinstance(candidates, TextCandidates)
        values = tuple((c.text, c.start, c.end) for c in candidates) if has_places else texts
        stored = StoredCandidates(len(texts), self._add(values, n_characters))
        self._last = candidates, stored
        return stored

    def _takes(self, n_characters: int) -> bool:
        """Return whether texts go to the file; count their characters if they stay in memory."""
        if not self.is_open:
            self._left -= n_characters
            self.is_open = self._left < 0
            return False
        return True

    def _add(self, value: Any, n_characters: int) -> _Stored:
        """Add a value to the current block, and move the block to the file if it is full."""
        block = self._block
        stored = _Stored(block, len(block.values))
        block.values.append(value)
        self._n_characters += n_characters
        if self._n_characters >= self._block_size:
            self._block, self._n_characters = _Block(self._file), 0
            try:
                self._file.save(block)
            except OSError:
                self.is_open, self._left = False, math.inf
        return stored


class _Block:
    """Values that are read from the file together: most readers go through the texts in order."""

    __slots__ = ("file", "place", "values")

    def __init__(self, file: _File) -> None:
        self.file = file
        self.values: list[Any] = []  # empty once they are in the file
        self.place = (0, 0)  # in the file: the first byte, and how many there are


class _File:
    """A temporary file of blocks; they are added at its end, and the one that was read last is in memory."""

    def __init__(self) -> None:
        self._file: Any = None
        self._size = 0
        self._last: tuple[_Block | None, list[Any]] = (None, [])

    def save(self, block: _Block) -> None:
        """Move a block's values to the file."""
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open as long as it is read
        data = marshal.dumps(block.values)
        self._file.seek(self._size)
        if self._file.write(data) < len(data):
            raise OSError("no space left")
        block.place, block.values = (self._size, len(data)), []
        self._size += len(data)

    def read(self, block: _Block) -> list[Any]:
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


class _Stored:
    """A value that a store has."""

    __slots__ = ("_block", "_index")

    def __init__(self, block: _Block, index: int) -> None:
        self._block, self._index = block, index

    def read(self) -> Any:
        block = self._block
        return (block.values or block.file.read(block))[self._index]


_TEXT: Any = Passage.__dict__["text"]


class StoredPassage(Passage):
    """A passage whose text is read from a store on every access; a copy with another text is in memory."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The text."""
        text = _TEXT.__get__(self)
        return text.read() if isinstance(text, _Stored) else text

    @text.setter
    def text(self, text: str) -> None:
        _TEXT.__set__(self, text)


class StoredCandidates(TextCandidates):
    """Candidates whose texts, and offsets if they have any, are read from a store on every access."""

    __slots__ = ("_n", "_stored")

    def __init__(self, n: int, stored: _Stored) -> None:
        self._n, self._stored = n, stored

    @property
    def texts(self) -> tuple[str, ...]:  # type: ignore[override]
        """The texts."""
        values = self._stored.read()
        return values if isinstance(values[0], str) else tuple(text for text, _, _ in values)

    def contents(self) -> tuple[Candidate, ...]:
        """Return the candidates."""
        values = self._stored.read()
        return tuple(Candidate(value) if isinstance(value, str) else Candidate(*value) for value in values)

    def __len__(self) -> int:
        return self._n

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.contents(),)
