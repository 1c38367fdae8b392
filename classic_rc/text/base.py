"""What a tokenizer is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["RegexTokenizer", "Tokenizer"]


class Tokenizer(ABC):
    """A way of cutting text into tokens; it keeps no state and never changes case.

    Attributes
    ----------
    name : str
        As in an analyzer's specification: ``"word"``.
    description : str
        One sentence.
    citation : str
        Where the rules come from.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]

    @abstractmethod
    def tokenize(self, text: str) -> list[str]:
        """The surface tokens of `text`, in order."""

    @abstractmethod
    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where each token of ``tokenize(text)`` stands: character offsets (start, end) into `text` as given.

        A token that was normalised still points at the characters it was made from.
        """

    def normalize(self, token: str, lowercase: bool) -> str:
        """What is counted for a surface token, in its own or in lower case, wherever it stands."""
        return token.lower() if lowercase else token

    def bulk(self, texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
        """The surface tokens of all texts, one after the other, and how many each text has.

        The tokens are all held at once: for bounded memory, pass a part of the texts at a time.

        Returns
        -------
        tokens : list of str
        counts : ndarray of int64, shape (len(texts),)
        """
        # A call a text costs less than searching joined texts for their borders afterwards, even for options
        # of a word or two.
        tokens: list[str] = []
        counts: list[int] = []
        for text in texts:
            found = self.tokenize(text)
            tokens += found
            counts.append(len(found))
        return tokens, np.array(counts, dtype=np.int64)

    def __repr__(self) -> str:
        return f"<tokenizer {self.name}>"


class RegexTokenizer(Tokenizer):
    """A tokenizer whose tokens are the matches of a regular expression.

    Attributes
    ----------
    pattern : re.Pattern
        Without a capturing group.
    """

    pattern: ClassVar[re.Pattern[str]]

    def prepare(self, text: str) -> str:
        """What the pattern is matched against; as long as `text`, so that offsets hold."""
        return text

    def tokenize(self, text: str) -> list[str]:
        """What the pattern matches."""
        return self.pattern.findall(self.prepare(text))

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Where the pattern matches."""
        return [match.span() for match in self.pattern.finditer(self.prepare(text))]
