"""What two datasets share: passages and questions that stand in both."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from classic_rc.errors import UsageError
from classic_rc.questions import Dataset, Question, normalised_text


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of one dataset stands in another.

    Parameters
    ----------
    passages : int
        Passages whose normalised text stands there.
    questions : int
        Questions that are asked there: about such a passage in the same words, or in the same words with the
        same options.
    affected : frozenset of str
        Ids of the questions that are asked there, or whose passage stands there.
    """

    passages: int
    questions: int
    affected: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.affected)


def overlap(dataset: Dataset, other: Dataset) -> Overlap:
    """How much of `dataset` stands in `other`, case and blanks aside."""
    texts = {normalised_text(p.text) for p in other.passages}
    shared = {id(p) for p in dataset.passages if normalised_text(p.text) in texts}
    alike = {normalised_text(q.text) for q in other} & {normalised_text(q.text) for q in dataset}
    asked = {key for q in other for key in _keys(q, alike)}
    repeated = {q.id for q in dataset if not asked.isdisjoint(_keys(q, alike))}
    affected = repeated | {q.id for q in dataset if id(q.passage) in shared}
    return Overlap(len(shared), len(repeated), frozenset(affected))


def without_overlap(dataset: Dataset, other: Dataset) -> Dataset:
    """`dataset` without the questions that are asked in `other` or whose passage stands there.

    Raises
    ------
    UsageError
        Nothing is left.
    """
    shared = overlap(dataset, other)
    if not shared:
        return dataset
    rest = dataset.filter(lambda q: q.id not in shared.affected)
    if not len(rest):
        raise UsageError(f"nothing is left of {dataset.name} without what it shares with {other.name}")
    return rest


def _keys(question: Question, alike: Container[str]) -> Iterator[tuple[str, ...]]:
    """What makes two questions the same question; either one suffices."""
    text = normalised_text(question.text)
    if text in alike:  # most are not: spare their options
        yield ("passage", text, normalised_text(question.passage.text))
        if question.task.has_choices:
            yield ("options", text, *sorted(normalised_text(c.text) for c in question.candidates))
