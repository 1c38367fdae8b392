"""What a tokenizer is."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar


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
    blanks_separate : bool
        Whether what stands between two blanks (U+0020) has the same tokens when it stands alone, so that texts
        can be cut there and each distinct piece is tokenized once.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]
    blanks_separate: ClassVar[bool] = False

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

    def __repr__(self) -> str:
        return f"<tokenizer {self.name}>"


class RegexTokenizer(Tokenizer):
    """A tokenizer whose tokens are the matches of a regular expression.

    Attributes
    ----------
    pattern : re.Pattern
        Without a capturing group. If it can match a blank, or looks beyond one, ``blanks_separate`` is to be False.
    """

    blanks_separate = True
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
