"""Explanations as text: the passage with what mattered marked, the numbers beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from classic_rc.printable import printable
from classic_rc.questions import Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark

__all__ = ["explanation_text"]

_SHOWN_CANDIDATES = 20

Pair = tuple[str, str]

_PLAIN: Mapping[str, Pair] = {
    "window": ("[[", "]]"),
    "sentence": ("[[", "]]"),
    "question": ("_", "_"),
    "candidate": ("*", "*"),
    "pair-question": ("{", "}"),
    "pair-candidate": ("{", "}"),
}
_ANSI: Mapping[str, Pair] = {
    "window": ("\x1b[100m", "\x1b[49m"),
    "sentence": ("\x1b[100m", "\x1b[49m"),
    "question": ("\x1b[36m", "\x1b[39m"),
    "candidate": ("\x1b[33m", "\x1b[39m"),
    "pair-question": ("\x1b[1;4m", "\x1b[22;24m"),
    "pair-candidate": ("\x1b[1;4m", "\x1b[22;24m"),
}
_LEGEND = {
    "window": "the best window",
    "sentence": "a sentence that is used",
    "question": "question word",
    "candidate": "candidate's word",
    "pair-question": "the nearest pair",
}


def explanation_text(explanation: Explanation, *, colour: bool = False) -> str:
    """An explanation for a terminal or a text file.

    Parameters
    ----------
    explanation : Explanation
    colour : bool
        Mark with ANSI colours instead of characters.

    Returns
    -------
    str
        Ends with a line break. Of many candidates, the best 20 are shown.
    """
    marks = _ANSI if colour else _PLAIN
    question = explanation.question
    ranked = sorted(enumerate(explanation.candidates), key=lambda item: -item[1].score)
    used = {mark.kind for _, c in ranked[:_SHOWN_CANDIDATES] for mark in c.marks}
    legend = [f"{marks[k][0]}{text}{marks[k][1]}" for k, text in _LEGEND.items() if k in used]
    lines = [printable(f"{question.id}: {question.text}"), f"solver: {explanation.solver}"]
    if legend:
        lines.append("marked: " + ", ".join(legend))
    for index, candidate in ranked[:_SHOWN_CANDIDATES]:
        lines += ["", _heading(question, index, candidate)]
        if candidate.quote is not None:
            lines += _wrapped(printable(f"{candidate.source}: {candidate.quote}", keep="\t"))
        if candidate.marks:
            lines += _wrapped(marked_passage(question.passage.text, candidate.marks, marks))
    if len(ranked) > _SHOWN_CANDIDATES:
        lines += ["", f"and {len(ranked) - _SHOWN_CANDIDATES} candidates with lower scores"]
    return "\n".join(lines) + "\n"


def _heading(question: Question, index: int, candidate: CandidateExplanation) -> str:
    numbers = ", ".join(f"{name.replace('_', ' ')} {value:.5f}" for name, value in candidate.numbers.items())
    parts = [f"({_label(index)}) {printable(candidate.text)}", f"score {candidate.score:.5f}"]
    if numbers:
        parts.append(numbers)
    if not candidate.evidence:
        parts.append("no evidence")
    if question.gold is not None and _is_right(question, index):
        parts.append("RIGHT")
    return "  |  ".join(parts)


def _label(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index)


def _is_right(question: Question, index: int) -> bool:
    gold = question.gold or ()
    return (index if question.task.has_choices else question.candidates[index].text) in gold


def marked_passage(text: str, marks: tuple[Mark, ...], symbols: Mapping[str, Pair]) -> str:
    """The passage, control characters spelled out, with symbols around marks; longer ones enclose shorter ones."""
    opening: dict[int, list[tuple[int, str]]] = {}
    closing: dict[int, list[tuple[int, str]]] = {}
    for order, mark in enumerate(sorted(marks, key=lambda m: (m.start, -m.end))):
        before, after = symbols[mark.kind]
        opening.setdefault(mark.start, []).append((order, before))
        closing.setdefault(mark.end, []).append((-order, after))
    pieces = []
    cuts = sorted({0, len(text), *opening, *closing})
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        pieces += [symbol for _, symbol in sorted(closing.get(start, []))]
        pieces += [symbol for _, symbol in sorted(opening.get(start, []))]
        pieces.append(printable(text[start:end], keep="\t\r\n"))
    return "".join(pieces)


def _wrapped(text: str) -> list[str]:
    return [
        line
        for paragraph in text.splitlines()
        for line in textwrap.wrap(paragraph, 96, initial_indent="    ", subsequent_indent="    ")
    ]
