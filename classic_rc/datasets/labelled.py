"""What every file of labels holds, whatever its form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from classic_rc.errors import DataError
from classic_rc.questions import Question


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question's entry in a file.

    Parameters
    ----------
    id : str
    where : str
        The place in the file.
    labels : mapping of str to tuple of str
        By name; names of which the entry says nothing are left out.
    passage : str, optional
        Its passage's id, where the file gives it.
    fault : callable, optional
        What is found in the file and what in a question, where that is not the question that was labelled.
    """

    id: str
    where: str
    labels: Mapping[str, tuple[str, ...]]
    passage: str | None = None
    fault: Callable[[Question], tuple[str, str] | None] = lambda question: None


@dataclass(frozen=True, slots=True)
class LabelFile:
    """All the entries of a file.

    Parameters
    ----------
    source : str
    questions : sequence of LabelledQuestion
    orders : mapping of str to tuple of str
        The order of the labels of a name, where they have one.
    of_several : bool
        Whether it was released for several datasets or splits at once.
    notes : sequence of str
        What is to be told.

    Raises
    ------
    DataError
        It has no label, or two entries of one question.
    """

    source: str
    questions: Sequence[LabelledQuestion]
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    of_several: bool = False
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.names:
            raise DataError("no label in it", source=self.source, expected="an id and labels for each question")
        seen: set[str] = set()
        for question in self.questions:
            if question.id in seen:
                raise DataError(
                    "a question has two entries",
                    source=self.source,
                    where=question.where,
                    found=repr(question.id),
                    expected="one entry with all its labels",
                )
            seen.add(question.id)

    @property
    def names(self) -> Iterable[str]:
        """What there are labels of, in the order of their first use."""
        return dict.fromkeys(name for question in self.questions for name in question.labels)
