"""Passages and candidates of large datasets, whose texts are in a temporary file until somebody reads them."""

from __future__ import annotations

import marshal
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from classic_rc.io.files import TemporaryBytes
from classic_rc.questions import Candidate, Passage, TextCandidates, candidate_texts

_KEPT_CHARACTERS = 2**24


class TextStore:
    """Keeps the texts of a dataset: the first ones in memory, as they are, and all others in a temporary file.

    `is_open` tells whether texts go to the file now. If it cannot be written, all texts stay in memory.
    """

    def __init__(self) -> None:
        from classic_rc.kernels.arrays import block_size

        self.is_open = False
        self._left: float = block_size(_KEPT_CHARACTERS)
        self._bytes = TemporaryBytes()
        self._last: tuple[Sequence[Candidate], Sequence[Candidate]] | None = None

    def keep_passage(self, passage: Passage) -> Passage:
        """Return the passage, or the same with its text in the file."""
        if not self._takes(len(passage.text)):
            return passage
        return StoredPassage(passage.id, self._add(passage.text), passage.sentences, passage.meta)  # type: ignore[arg-type]

    def keep_candidates(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the candidates, or the same with their texts in the file; consecutive questions can share them."""
        if isinstance(candidates, StoredCandidates) or not len(candidates):
            return candidates
        if self._last is None or candidates is not self._last[0]:
            texts = candidate_texts(candidates)
            if not self._takes(sum(map(len, texts))):
                return candidates
            values = (
                texts if isinstance(candidates, TextCandidates) else [(c.text, c.start, c.end) for c in candidates]
            )
            self._last = candidates, StoredCandidates(self._add(tuple(values)), len(texts))
        return self._last[1]

    def _takes(self, n_characters: int) -> bool:
        """Return whether a text goes to the file; count its characters if it stays in memory."""
        if not self.is_open:
            self._left -= n_characters
            self.is_open = self._left < 0
            return False
        try:
            self._bytes.save()
        except OSError:
            self.is_open, self._left = False, math.inf
        return self.is_open

    def _add(self, value: Any) -> _Place:
        data = marshal.dumps(value)
        return _Place(self._bytes, self._bytes.add(data), len(data))


class _Place(NamedTuple):
    bytes: TemporaryBytes
    start: int
    size: int

    def load(self) -> Any:
        return marshal.loads(self.bytes.read(self.start, self.size))


_TEXT: Any = Passage.__dict__["text"]


class StoredPassage(Passage):
    """A passage whose text is read from a store on every access; a copy with another text is in memory."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The text."""
        text = _TEXT.__get__(self)
        return text.load() if isinstance(text, _Place) else text

    @text.setter
    def text(self, text: str) -> None:
        _TEXT.__set__(self, text)


class StoredCandidates(TextCandidates):
    """Candidates whose texts, and offsets if they have any, are read from a store on every access."""

    __slots__ = ("_n", "_place")

    def __init__(self, place: _Place, n: int) -> None:
        self._place, self._n = place, n

    @property
    def texts(self) -> tuple[str, ...]:  # type: ignore[override]
        """The texts."""
        values = self._place.load()
        return values if isinstance(values[0], str) else tuple(text for text, _, _ in values)

    def contents(self) -> tuple[Candidate, ...]:
        """Return the candidates."""
        return tuple(
            Candidate(value) if isinstance(value, str) else Candidate(*value) for value in self._place.load()
        )

    def __len__(self) -> int:
        return self._n

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.contents(),)
