"""Passages and candidates of large datasets, whose texts are in a temporary file until they are read."""

from __future__ import annotations

import marshal
import math
import os
from collections.abc import Sequence
from typing import Any

from classic_rc.questions import Candidate, Passage, TextCandidates, candidate_texts

_KEPT_CHARACTERS = 2**24
_BLOCK = 2**20
_READ_AHEAD = 2**16


class TextStore:
    """Keeps the texts of a dataset: the first ones in memory, as they are, and all others in a temporary file.

    `is_open` tells whether texts go to the file now. If it cannot be written, all texts stay in memory.
    """

    def __init__(self) -> None:
        from classic_rc.kernels.arrays import block_size

        self.is_open = False
        self._left: float = block_size(_KEPT_CHARACTERS)
        self._values = _Values()
        self._last: tuple[Sequence[Candidate], Sequence[Candidate]] | None = None

    def keep_passage(self, passage: Passage) -> Passage:
        """Return the passage, or the same with its text in the file."""
        if not self._takes(passage.text):
            return passage
        place = _Stored(self._values, *self._values.add(passage.text))
        return StoredPassage(passage.id, place, passage.sentences, passage.meta)  # type: ignore[arg-type]

    def keep_candidates(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates, or the same with their texts in the file; consecutive questions can share them."""
        if self._last is not None and candidates is self._last[0]:
            return self._last[1]
        if type(candidates) is StoredCandidates:
            return candidates
        texts = candidate_texts(candidates)
        if not texts or not self._takes(*texts):
            return candidates
        has_places = not isinstance(candidates, TextCandidates)
        values = tuple((c.text, c.start, c.end) for c in candidates) if has_places else texts
        stored = StoredCandidates(len(texts), self._values, *self._values.add(values))
        self._last = candidates, stored
        return stored

    def _takes(self, *texts: str) -> bool:
        """Return whether texts go to the file; count their characters if they stay in memory."""
        if not self.is_open:
            self._left -= sum(map(len, texts))
            self.is_open = self._left < 0
            return False
        if len(self._values.unsaved) >= _BLOCK:
            try:
                self._values.save()
            except OSError:
                self.is_open, self._left = False, math.inf
        return self.is_open


class _Values:
    """Values that are added at the end and read anywhere; all but the last of them are in a temporary file."""

    def __init__(self) -> None:
        self._file: Any = None
        self._n_saved, self.unsaved = 0, bytearray()
        self._window = (0, b"")  # the part of the file that was read last, and its place

    def add(self, value: Any) -> tuple[int, int]:
        """Add a value, and return its place: the first byte, and how many there are."""
        data = marshal.dumps(value)
        self.unsaved += data
        return self._n_saved + len(self.unsaved) - len(data), len(data)

    def save(self) -> None:
        """Move the values to the file."""
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open as long as it is read
        self._file.seek(self._n_saved)
        if self._file.write(self.unsaved) < len(self.unsaved):
            raise OSError("no space left")
        self._n_saved += len(self.unsaved)
        self.unsaved.clear()

    def read(self, start: int, size: int) -> Any:
        """Return the value at a place."""
        if start >= self._n_saved:
            start -= self._n_saved
            return marshal.loads(self.unsaved[start : start + size])
        first, window = self._window  # one assignment, so threads see a whole pair
        if not first <= start <= start + size <= first + len(window):
            # Most readers go through the texts in order, so the next ones are read at once.
            first, window = start, self._read_file(start, max(size, _READ_AHEAD))
            self._window = first, window
        return marshal.loads(window[start - first : start - first + size])

    def _read_file(self, start: int, size: int) -> bytes:
        if hasattr(os, "pread"):  # forks and threads share the file's position
            return os.pread(self._file.fileno(), size, start)
        self._file.seek(start)
        return bytes(self._file.read(size))

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()


class _Stored:
    """A text that a store has."""

    __slots__ = ("place", "values")

    def __init__(self, values: _Values, *place: int) -> None:
        self.values, self.place = values, place


_TEXT: Any = Passage.__dict__["text"]


class StoredPassage(Passage):
    """A passage whose text is read from a store on every access; a copy with another text is in memory."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The text."""
        text = _TEXT.__get__(self)
        return text.values.read(*text.place) if isinstance(text, _Stored) else text

    @text.setter
    def text(self, text: str) -> None:
        _TEXT.__set__(self, text)


class StoredCandidates(TextCandidates):
    """Candidates whose texts, and offsets if they have any, are read from a store on every access."""

    __slots__ = ("_n", "_place", "_values")

    def __init__(self, n: int, values: _Values, *place: int) -> None:
        self._n, self._values, self._place = n, values, place

    @property
    def texts(self) -> tuple[str, ...]:  # type: ignore[override]
        """The texts."""
        values = self._values.read(*self._place)
        return values if isinstance(values[0], str) else tuple(text for text, _, _ in values)

    def contents(self) -> tuple[Candidate, ...]:
        """Return the candidates."""
        values = self._values.read(*self._place)
        return tuple(Candidate(value) if isinstance(value, str) else Candidate(*value) for value in values)

    def __len__(self) -> int:
        return self._n

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.contents(),)
