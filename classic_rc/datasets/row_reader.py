"""What the readers of one's own files share: rows in our schema, or in another with ``fields``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from classic_rc.datasets.base import Reader
from classic_rc.datasets.reading import Reading
from classic_rc.datasets.rows import questions_of
from classic_rc.io.archives import File
from classic_rc.io.json import Node
from classic_rc.questions import Question


class RowReader(Reader):
    """A format of one question a row, in our own schema or as ``fields`` and ``gold_as`` say."""

    citation: ClassVar[str] = "classic_rc, its own format"
    cites = ("classic_rc",)
    takes: ClassVar[frozenset[str]] = frozenset({"fields", "gold_as"})
    is_dataset: ClassVar[bool] = False

    @abstractmethod
    def has_rows(self, file: File) -> bool:
        """Whether a file has rows in this form, whatever their keys."""

    @abstractmethod
    def rows(self, file: File, reading: Reading) -> Iterator[Node]:
        """The rows of a file."""

    def accepts(self, file: File, reading: Reading) -> bool:
        """Whether it has rows in this form; without ``fields``, in our schema."""
        return self.has_rows(file) if reading.options.fields else self.recognises(file)

    def questions(self, file: File, reading: Reading) -> Iterator[Question]:
        """A question a row."""
        return questions_of(self.rows(file, reading), reading, reading.options.fields, reading.options.gold_as)
