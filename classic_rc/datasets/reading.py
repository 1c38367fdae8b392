"""One reading of a source: what the caller asked for, and what its files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from classic_rc.errors import DataError
from classic_rc.io.archives import File
from classic_rc.questions import Passage


@dataclass(frozen=True)
class Options:
    """What a caller of :func:`classic_rc.datasets.load` may say of a source besides its path.

    Parameters
    ----------
    split, subset : str, optional
        Which part to read.
    answers : path, optional
        The file of gold answers, or the folder that holds it.
    fields : mapping of str to str, optional
        Where a file of one's own keeps what: role to dotted path.
    gold_as : str, optional
        How such a file codes gold.
    """

    split: str | None = None
    subset: str | None = None
    answers: str | PathLike[str] | None = None
    fields: Mapping[str, str] | None = None
    gold_as: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        answers = None if self.answers is None else fspath(self.answers)
        fields = None if self.fields is None else dict(self.fields)
        return {**vars(self), "answers": answers, "fields": fields}


class Reading:
    """One call of :meth:`Reader.read`: what its files share.

    Attributes
    ----------
    options : Options
    split : str or None
        The split of the file at hand.
    mark_split : bool
        Whether the source holds several splits, so that each question says which it is from.
    used, others : list of File
        Files read beside those of the questions, and files passed over.
    """

    def __init__(self, options: Options, mark_split: bool = False) -> None:
        self.options, self.mark_split = options, mark_split
        self.split: str | None = None
        self.used: list[File] = []
        self.others: list[File] = []
        self._passages: dict[str, Passage] = {}
        self._by_text: dict[str, Passage] = {}
        self._counts: Counter[str] = Counter()

    def passage(
        self,
        id: str | None,
        text: str,
        source: str,
        where: str,
        sentences: Sequence[tuple[int, int]] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Passage:
        """The one object of a passage; without an id, equal texts are one passage.

        Raises
        ------
        DataError
            The id belongs to another text.
        """
        known = self._by_text.get(text) if id is None else self._passages.get(id)
        if known is not None:
            if known.text == text:
                return known
            raise DataError(
                "one passage id has two texts", source=source, where=where, field=id, expected="one text an id"
            )
        name = id if id is not None else self._free_id()
        marks = None if sentences is None else tuple(sentences)
        passage = Passage(name, text, marks, meta) if meta else Passage(name, text, marks)
        self._passages[name] = passage
        if id is None:
            self._by_text[text] = passage
        return passage

    @property
    def passages(self) -> int:
        """How many passages there are so far."""
        return len(self._passages)

    def _free_id(self) -> str:
        number = len(self._by_text) + 1
        while f"passage-{number}" in self._passages:
            number += 1
        return f"passage-{number}"

    def meta(self, **facts: Any) -> dict[str, Any]:
        """A question's meta: these facts, and its split where the source holds several."""
        if self.mark_split and self.split:
            facts["split"] = self.split
        return facts

    def count(self, what: str, number: int = 1) -> None:
        """Count something that the user should know of."""
        self._counts[what] += number

    @property
    def notes(self) -> tuple[str, ...]:
        """What was counted, and the files passed over."""
        used = {file.name for file in self.used}
        if others := [file.base for file in self.others if file.name not in used]:
            self._counts[f"other files passed over ({', '.join(others[:5])}{', …' * (len(others) > 5)})"] = len(
                others
            )
        return tuple(f"{what}: {number:,}" for what, number in self._counts.items())
