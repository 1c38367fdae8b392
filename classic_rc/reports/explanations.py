"""Explanations as text, Markdown and HTML: the passage with its important words marked, and the formulas."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from classic_rc.io.text import printable
from classic_rc.questions import Question
from classic_rc.reports.formulas import DIGITS, formula_lines
from classic_rc.reports.html import Bar, fill_template, format_number
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark, Term

SHOWN_CANDIDATES = 20
_NUMBERS_ON_LINE = 3
"""Up to this many numbers are on the line of the score; more get a line each."""
_WIDTH, _INDENT = 96, "    "
_GAP, _LEAST_WIDTH = " | ", 56
"""Between columns, and the width of a column that can be read."""

_Symbols = tuple[str, str]
"""What is written before and after a mark."""

_PLAIN: Mapping[str, _Symbols] = {
    "window": ("[[", "]]"),
    "sentence": ("[[", "]]"),
    "question": ("_", "_"),
    "candidate": ("*", "*"),
    "pair-question": ("{", "}"),
    "pair-candidate": ("{", "}"),
    "effect": ("<", ">"),
}
_ANSI: Mapping[str, _Symbols] = {
    "window": ("\x1b[100m", "\x1b[49m"),
    "sentence": ("\x1b[100m", "\x1b[49m"),
    "question": ("\x1b[36m", "\x1b[39m"),
    "candidate": ("\x1b[33m", "\x1b[39m"),
    "pair-question": ("\x1b[1;4m", "\x1b[22;24m"),
    "pair-candidate": ("\x1b[1;4m", "\x1b[22;24m"),
    "effect": ("\x1b[35m", "\x1b[39m"),
}
_CODE = re.compile(r"\x1b\[[\d;]*m")
LEGEND: Mapping[str, str] = {
    "window": "the best window",
    "sentence": "a sentence with evidence",
    "question": "question word",
    "candidate": "candidate word",
    "pair-question": "the nearest pair",
    "effect": "a word without which the score is another",
}
"""What each kind of mark means. ``pair-candidate`` has no entry: both words of a pair share one."""


def explanation_text(
    *explanations: Explanation, colour: bool = False, digits: int = DIGITS, every: bool = False, width: int = 0
) -> str:
    """Return explanations of one question as text for a terminal or a file.

    Parameters
    ----------
    *explanations : Explanation
        By one or several solvers.
    colour : bool
        Mark words with ANSI colours instead of characters.
    digits : int
        The digits of scores after the decimal point; the numbers of a formula have as many as they need to add up.
    every : bool
        Show all numbers of long sums.
    width : int
        The width of the terminal; 0 if there is none. If it has room for a column for each solver, the solvers are
        side by side. A passage is at most this wide; a formula has its own lines.

    Returns
    -------
    str
        Ends with a line break. Shows at most the 20 best candidates.
    """
    marks = _ANSI if colour else _PLAIN
    column = (width - len(_GAP) * (len(explanations) - 1)) // len(explanations)
    if len(explanations) > 1 and column >= _LEAST_WIDTH:
        return _side_by_side(explanations, _Style(marks, digits, every, column - 1, column - 1))
    style = _Style(marks, digits, every, min(width or _WIDTH, _WIDTH))
    return "\n".join(_one_text(explanation, style) for explanation in explanations)


class _Style(NamedTuple):
    """How explanations are written."""

    marks: Mapping[str, _Symbols]
    digits: int
    every: bool
    width: int  # of passages
    column: int = 0  # of everything; 0: other lines are not wrapped

    def legend(self, candidates: Iterable[CandidateExplanation]) -> list[str]:
        """Return the line that says what the marks mean, if there are any."""
        used = {mark.kind for candidate in candidates for mark in candidate.marks}
        legend = [f"{self.marks[k][0]}{text}{self.marks[k][1]}" for k, text in LEGEND.items() if k in used]
        return ["marked: " + ", ".join(legend)] if legend else []


def _one_text(explanation: Explanation, style: _Style) -> str:
    question = explanation.question
    shown = shown_candidates(explanation)
    lines = [printable(f"{question.id}: {question.text}"), f"solver: {explanation.solver}"]
    lines += [f"note: {explanation.note}"] if explanation.note else []
    lines += style.legend(candidate for _, candidate in shown)
    for index, candidate in shown:
        lines += ["", *_candidate_lines(question, index, candidate, style)]
    n_more = len(explanation.candidates) - len(shown)
    if n_more:
        lines += ["", f"and {n_more} candidates with lower scores"]
    return "\n".join(lines) + "\n"


def _candidate_lines(question: Question, index: int, candidate: CandidateExplanation, style: _Style) -> list[str]:
    lines = [_heading(question, index, candidate, style.digits)]
    if candidate.formula is not None:
        lines += _formula_text(candidate.formula, style)
    elif len(candidate.numbers) > _NUMBERS_ON_LINE:
        lines += _number_lines(candidate.numbers, style.digits)
    if style.column:
        lines = [part for line in lines for part in _fit(line, style.column)]
    if candidate.quote is not None:
        lines += _wrap(printable(f"{candidate.source}: {candidate.quote}", keep="\t"), style.width)
    if candidate.marks:
        lines += _wrap(mark_passage(question.passage.text, candidate.marks, style.marks), style.width)
    return lines


def _formula_text(formula: Term, style: _Style) -> Iterator[str]:
    for line in formula_lines(formula, digits=style.digits, every=style.every):
        yield _INDENT + "  " * line.depth + str(line)


def _side_by_side(explanations: Sequence[Explanation], style: _Style) -> str:
    """Return one column for each solver; each candidate begins on the same line in all columns."""
    question = explanations[0].question
    # By the first solver's scores.
    order = [index for index, _ in shown_candidates(explanations[0])]
    shown = [explanation.candidates[index] for explanation in explanations for index in order]
    lines = [printable(f"{question.id}: {question.text}"), *style.legend(shown), ""]
    heads = [[f"solver: {own.solver}", *([f"note: {own.note}"] if own.note else [])] for own in explanations]
    rows = [[[part for line in head for part in _fit(line, style.column)] for head in heads]]
    rows += [
        [_candidate_lines(question, index, own.candidates[index], style) for own in explanations] for index in order
    ]
    for row in rows:
        lines += [
            _GAP.join(_pad(cell, style.column) for cell in cells).rstrip()
            for cells in zip_longest(*row, fillvalue="")
        ]
        lines.append("")
    n_more = len(question.candidates) - len(order)
    lines += [f"and {n_more} candidates with lower scores of {explanations[0].solver}"] if n_more else []
    return "\n".join(lines).rstrip() + "\n"


def _fit(line: str, width: int) -> list[str]:
    """Break a line without colours; the rest has a deeper indent."""
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, subsequent_indent=f"{indent}    ", drop_whitespace=True) or [""]


def _pad(cell: str, width: int) -> str:
    return cell + " " * (width - len(_CODE.sub("", cell)))


def explanation_markdown(*explanations: Explanation, digits: int = DIGITS, every: bool = False) -> str:
    """Return explanations of one question as a table in Markdown: rows are candidates, columns are solvers.

    Parameters
    ----------
    *explanations : Explanation
    digits : int
    every : bool
        As in :func:`explanation_text`.

    Returns
    -------
    str
        Ends with a line break. Shows the 20 candidates that are best by the first solver, and a right one.
    """
    question = explanations[0].question
    order = [index for index, _ in shown_candidates(explanations[0])]
    lines = [f"**{_markdown(question.id)}**: {_markdown(question.text)}", ""]
    lines += [f"{_markdown(own.solver)}: {own.note}\n" for own in explanations if own.note]
    lines += [
        "| candidate | " + " | ".join(_markdown(own.solver) for own in explanations) + " |",
        "|---|" + "---|" * len(explanations),
    ]
    for index in order:
        label = f"({candidate_label(index)}) {_markdown(question.candidates[index].text)}"
        label += " **right**" if is_right(question, index) else ""
        cells = [_markdown_cell(own.candidates[index], digits, every) for own in explanations]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    n_more = len(question.candidates) - len(order)
    lines += ["", f"and {n_more} candidates with lower scores"] if n_more else []
    return "\n".join(lines) + "\n"


def _markdown_cell(candidate: CandidateExplanation, digits: int, every: bool) -> str:
    lines = [f"**{candidate.score:.{digits}f}**" + ("" if candidate.evidence else ", no evidence")]
    if candidate.formula is not None:
        formula = formula_lines(candidate.formula, digits=digits, every=every)
        lines += ["&emsp;" * line.depth + _markdown(str(line)) for line in formula]
    else:
        lines += [_markdown(line.strip()) for line in _number_lines(candidate.numbers, digits)]
    return "<br>".join(lines)


def _markdown(text: str) -> str:
    """Escape what has a meaning in Markdown or in a cell of a table."""
    escaped = re.sub(r"([\\`*_\[\]|#~$])", r"\\\1", printable(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def rank_candidates(explanation: Explanation) -> list[tuple[int, CandidateExplanation]]:
    """Return the candidates with their indices, best first."""
    return sorted(enumerate(explanation.candidates), key=lambda item: -item[1].score)


def shown_candidates(explanation: Explanation) -> list[tuple[int, CandidateExplanation]]:
    """Return the best candidates, and the best right one if none of them is right."""
    ranked = rank_candidates(explanation)
    shown, rest = ranked[:SHOWN_CANDIDATES], ranked[SHOWN_CANDIDATES:]
    if rest and not any(is_right(explanation.question, index) for index, _ in shown):
        shown += [own for own in rest if is_right(explanation.question, own[0])][:1]
    return shown


def number_name(name: str) -> str:
    """Return the name of a score's term as it is shown."""
    return printable(name.replace("_", " "))


def parts_sum_to_score(candidate: CandidateExplanation) -> bool:
    """Return whether the numbers sum to the score (within 1e-6), so that bars can compare them."""
    total = sum(candidate.numbers.values())
    return bool(candidate.numbers) and math.isclose(total, candidate.score, rel_tol=1e-6, abs_tol=1e-6)


def candidate_label(index: int) -> str:
    """Return the candidate's letter, as in tests on paper, or its index after Z."""
    return chr(ord("A") + index) if index < 26 else str(index)


def is_right(question: Question, index: int) -> bool:
    """Return whether the candidate is right; always false if gold is hidden."""
    gold = question.gold or ()
    return (index if question.task.has_choices else question.candidates[index].text) in gold


def _heading(question: Question, index: int, candidate: CandidateExplanation, digits: int) -> str:
    parts = [f"({candidate_label(index)}) {printable(candidate.text)}", f"score {candidate.score:.{digits}f}"]
    if 0 < len(candidate.numbers) <= _NUMBERS_ON_LINE and candidate.formula is None:
        numbers = candidate.numbers.items()
        parts.append(", ".join(f"{number_name(name)} {value:.{digits}f}" for name, value in numbers))
    if not candidate.evidence:
        parts.append("no evidence")
    if is_right(question, index):
        parts.append("RIGHT")
    return "  |  ".join(parts)


def _number_lines(numbers: Mapping[str, float], digits: int) -> Iterator[str]:
    width = max((len(f"{value:.{digits}f}") for value in numbers.values()), default=0)
    return (f"{_INDENT}{value:{width}.{digits}f}  {number_name(name)}" for name, value in numbers.items())


def mark_passage(text: str, marks: tuple[Mark, ...], symbols: Mapping[str, _Symbols]) -> str:
    """Return the passage with symbols around its marks, longer marks outside; control characters are escaped."""
    # Marks that open later close first, hence the negative order of the closing symbols.
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


def _wrap(text: str, width: int) -> list[str]:
    """Wrap text at spaces. Colour codes have no width, and no colour spans two lines."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        room = 0
        for word in paragraph.split():
            length = len(_CODE.sub("", word))
            if length < room:
                lines[-1] += f" {word}"
                room -= length + 1
            else:
                lines.append(word)
                room = width - len(_INDENT) - length
    return [_INDENT + line for line in _close_colours(lines)]


def _close_colours(lines: Iterable[str]) -> Iterator[str]:
    """Close open colours at the end of each line, and open them again at the start of the next."""
    endings = dict(_ANSI.values())
    active: list[str] = []
    for line in lines:
        resumed = "".join(active)
        for code in _CODE.findall(line):
            if code in endings:
                active.append(code)
            else:
                active.remove(next(c for c in reversed(active) if endings[c] == code))
        yield resumed + line + "".join(endings[code] for code in reversed(active))


def explanation_html(*explanations: Explanation, digits: int = DIGITS, every: bool = False) -> str:
    """Return explanations of one question as a self-contained HTML document.

    Parameters
    ----------
    *explanations : Explanation
        By one or several solvers.
    digits : int
    every : bool
        As in :func:`explanation_text`.

    Returns
    -------
    str
        HTML. Shows at most the 20 best candidates of each solver.
    """
    question = explanations[0].question
    sections = [_section_values(explanation, digits, every) for explanation in explanations]
    used = {kind for section in sections for kind in section["kinds"]}
    return fill_template(
        "explanation.html",
        question=question,
        solvers=", ".join(explanation.solver for explanation in explanations),
        several=len(explanations) > 1,
        sections=sections,
        legend=[(kind, meaning) for kind, meaning in LEGEND.items() if kind in used],
        passage=None if used else split_at_marks(question.passage.text, ()),
        data=None,
    )


def _section_values(explanation: Explanation, digits: int, every: bool) -> dict[str, Any]:
    """Return the values of one solver's explanation for the template."""
    shown = shown_candidates(explanation)
    return {
        "solver": explanation.solver,
        "note": explanation.note,
        "kinds": {mark.kind for _, candidate in shown for mark in candidate.marks},
        "candidates": [
            _candidate_values(explanation.question, index, candidate, digits, every) for index, candidate in shown
        ],
        "n_more": len(explanation.candidates) - len(shown),
    }


def _candidate_values(
    question: Question, index: int, candidate: CandidateExplanation, digits: int, every: bool
) -> dict[str, Any]:
    """Return the values of a candidate for the template."""
    formula = [] if candidate.formula is None else formula_lines(candidate.formula, digits=digits, every=every)
    largest = max((abs(value) for value in candidate.numbers.values()), default=0.0)
    return {
        "label": candidate_label(index),
        "text": candidate.text,
        "is_right": is_right(question, index),
        "evidence": candidate.evidence,
        "score": candidate.score,
        "formula": [f"{'  ' * line.depth}{line}" for line in formula],
        "terms": [(number_name(name), value, Bar.of(value, largest)) for name, value in candidate.numbers.items()],
        "adds_up": parts_sum_to_score(candidate),
        "quote": candidate.quote,
        "source": candidate.source or "",
        "passage": split_at_marks(question.passage.text, candidate.marks) if candidate.marks else None,
    }


class MarkedPiece(NamedTuple):
    """A piece of text in which no mark begins or ends."""

    text: str
    kinds: Sequence[str]  # the kinds of the marks that cover it
    title: str  # the weights of its words, shown when the mouse points at it


def split_at_marks(text: str, marks: Iterable[Mark]) -> list[MarkedPiece]:
    """Cut the text where marks begin and end; ignore marks of unknown kinds."""
    known = [mark for mark in marks if mark.kind in LEGEND or mark.kind == "pair-candidate"]
    cuts = sorted({0, len(text), *(cut for mark in known for cut in (mark.start, mark.end))})
    pieces = []
    for start, end in pairwise(cuts):
        covering = [mark for mark in known if mark.start <= start and end <= mark.end]
        words = [m for m in covering if m.weight is not None and m.kind in ("question", "candidate")]
        title = ", ".join(f"{LEGEND[m.kind]}: {format_number(m.weight)}" for m in words if m.weight is not None)
        pieces.append(MarkedPiece(text[start:end], sorted({mark.kind for mark in covering}), title))
    return pieces
