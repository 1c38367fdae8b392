"""Questions as solvers may see them that must not see gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from classic_rc.questions import Question


def texts_only(questions: Sequence[Question]) -> list[Question]:
    """The questions without gold and candidates: what may be learned from the data that is evaluated."""
    return [replace(q, gold=None, candidates=()) for q in questions]


class WithoutGold(Sequence[Question]):
    """Questions with their gold hidden, each when it is looked at: most solvers never look."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions

    def __len__(self) -> int:
        return len(self._questions)

    @overload
    def __getitem__(self, index: int) -> Question: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Question]: ...
    def __getitem__(self, index: int | slice) -> Question | Sequence[Question]:
        if isinstance(index, slice):
            return WithoutGold(self._questions[index])
        return replace(self._questions[index], gold=None)
