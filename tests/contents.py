"""What datasets have, as lists to compare."""

from __future__ import annotations

from collections.abc import Iterable

from classic_rc.questions import Question


def all_options(questions: Iterable[Question]) -> list[list[str]]:
    """Return the texts of the candidates of each question."""
    return [[candidate.text for candidate in question.candidates] for question in questions]


def cut(text: str, places: Iterable[tuple[int, int]]) -> list[str]:
    """Return the pieces of a text at these places."""
    return [text[start:end] for start, end in places]
