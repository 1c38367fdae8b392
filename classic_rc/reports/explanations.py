"""Explanations as text and HTML: the passage with its important words marked, and the formulas."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from classic_rc.io.text import printable
from classic_rc.questions import Dataset, Passage, Question
from classic_rc.reports.formulas import DIGITS, formula_lines
from classic_rc.reports.html import CHOICES, SignedBar, question_cell, question_style
from classic_rc.reports.verdict import (
    TermRow,
    Verdict,
    candidate_label,
    compare_terms,
    number_name,
    rank_candidates,
    right_candidates,
    verdict_of,
)
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark, Term
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.text.sentences import passage_sentences

SHOWN_CANDIDATES = 20
_SHOWN_TERMS, _SHORT_FORMULA = 10, 14
_SHOWN_QUESTIONS = 5
_NUMBERS_ON_LINE = 3
"""Up to this many numbers are on the line of the score; more get a line each."""
_WIDTH, _INDENT = 96, "    "

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
_FRAMED = ("window", "sentence")


def explanation_text(
    *explanations: Explanation,
    colour: bool = False,
    digits: int = DIGITS,
    every: bool = False,
    width: int = 0,
) -> str:
    """Return explanations of one question as text for a terminal or a file.

    Parameters
    ----------
    *explanations : Explanation
        By one or several solvers.
    colour : bool
        Mark words with ANSI colours instead of characters.
    digits : int
        The digits of scores after the decimal point; the numbers of a formula have as many as they
        need to add up.
    every : bool
        Show all numbers of long sums.
    width : int
        The width of the terminal; 0 if there is none. A passage is at most this wide; a formula has
        its own lines.

    Returns
    -------
    str
        Ends with a line break. Shows at most the 20 best candidates; the best one has the whole
        passage, the others its framed part.
    """
    style = _Style(_ANSI if colour else _PLAIN, digits, every, min(width or _WIDTH, _WIDTH))
    return "\n".join(_one_text(explanation, style) for explanation in explanations)


class _Style(NamedTuple):
    """How explanations are written."""

    marks: Mapping[str, _Symbols]
    digits: int
    every: bool
    width: int  # of passages

    def legend(self, candidates: Iterable[CandidateExplanation]) -> list[str]:
        """Return the line that says what the marks mean, if there are any."""
        used = {mark.kind for candidate in candidates for mark in candidate.marks}
        legend = []
        for kind, meaning in LEGEND.items():
            if kind in used:
                before, after = self.marks[kind]
                legend.append(f"{before}{meaning}{after}")
        return ["marked: " + ", ".join(legend)] if legend else []


def _one_text(explanation: Explanation, style: _Style) -> str:
    question = explanation.question
    verdict = verdict_of(explanation)
    candidates = shown_candidates(explanation, verdict.right)
    lines = [printable(f"{question.id}: {question.text}")]
    for line in _head(explanation, verdict):
        lines += _fit(line, style.width)
    lines += style.legend(candidate for _, candidate in candidates)
    for position, (index, _) in enumerate(candidates):
        lines.append("")
        lines += _candidate_lines(explanation, verdict, index, style, whole=position == 0)
    n_more = len(explanation.candidates) - len(candidates)
    if n_more:
        lines += ["", f"and {n_more} candidates with lower scores"]
    return "\n".join(lines) + "\n"


def _head(explanation: Explanation, verdict: Verdict) -> list[str]:
    lines = [f"solver: {explanation.solver}"]
    if explanation.decide is not None:
        outcome = "" if verdict.outcome is None else f"{verdict.outcome.upper()}. "
        lines.append(f"answer: {outcome}{verdict.sentence}")
    return [*lines, *([f"note: {explanation.note}"] if explanation.note else [])]


def _candidate_lines(
    explanation: Explanation, verdict: Verdict, index: int, style: _Style, *, whole: bool
) -> list[str]:
    """Return a candidate's lines; those that are not `whole` show the framed part of the passage
    alone.
    """
    candidate, text = explanation.candidates[index], explanation.question.passage.text
    lines = [_heading(explanation, verdict, index, style.digits)]
    if candidate.formula is not None:
        lines += _formula_text(candidate.formula, style)
    elif len(candidate.numbers) > _NUMBERS_ON_LINE:
        lines += _number_lines(candidate.numbers, style.digits)
    if candidate.quote is not None:
        lines += _wrap(printable(f"{candidate.source}: {candidate.quote}", keep="\t"), style.width)
    if candidate.marks:
        first, last = 0, len(text)
        if not whole:
            framed = [mark for mark in candidate.marks if mark.kind in _FRAMED] or candidate.marks
            first = min(mark.start for mark in framed)
            last = max(mark.end for mark in framed)
        marks = []
        for mark in candidate.marks:
            if first <= mark.start and mark.end <= last:
                marks.append(replace(mark, start=mark.start - first, end=mark.end - first))
        lines += _wrap(mark_passage(text[first:last], tuple(marks), style.marks), style.width)
    return lines


def passage_extract(passage: Passage, *explanations: Explanation, max_characters: int = 400) -> str:
    """Return the sentences of a passage with the evidence of an explanation, on one line.

    The sentence where the best window begins, or what else is first marked for the best candidate,
    the one before it and those after it, as many as fit; without marks, the beginning. A sentence
    that does not fit is cut.

    Parameters
    ----------
    passage : Passage
    *explanations : Explanation
        The first one that marks anything counts.
    max_characters : int
        The most characters of the passage.
    """
    best = (rank_candidates(e)[0][1].marks for e in explanations if e.candidates)
    focus = next((marks[0].start for marks in best if marks), 0)
    text, sentences = passage.text.rstrip(), passage_sentences(passage)
    starts = [0, *(first for first, _ in sentences if first <= focus)]
    start = max(starts[-2:][0], focus - max_characters // 2)
    stops = [stop for _, stop in sentences if focus < stop <= start + max_characters]
    end = max(stops, default=start + max_characters)
    extract = " ".join(text[start:end].split())
    return "… " * (start > 0) + extract + " …" * (end < len(text))


def _formula_text(formula: Term, style: _Style) -> Iterator[str]:
    for line in formula_lines(formula, digits=style.digits, every=style.every):
        yield _INDENT + "  " * line.depth + str(line)


def _fit(line: str, width: int) -> list[str]:
    """Break a line without colours; the rest has an indent."""
    return textwrap.wrap(line, width, subsequent_indent=_INDENT) or [""]


def shown_candidates(
    explanation: Explanation, right: Collection[int], limit: int = SHOWN_CANDIDATES
) -> list[tuple[int, CandidateExplanation]]:
    """Return the best `limit` candidates, and the best right one if none of these is."""
    ranked = rank_candidates(explanation)
    best, rest = ranked[:limit], ranked[limit:]
    if rest and not any(index in right for index, _ in best):
        best += [candidate for candidate in rest if candidate[0] in right][:1]
    return best


def _heading(explanation: Explanation, verdict: Verdict, index: int, digits: int) -> str:
    candidate = explanation.candidates[index]
    parts = [f"({candidate_label(index)}) {printable(candidate.text)}"]
    parts.append(f"score {candidate.score:.{digits}f}")
    if 0 < len(candidate.numbers) <= _NUMBERS_ON_LINE and candidate.formula is None:
        numbers = candidate.numbers.items()
        terms = [f"{number_name(name)} {value:.{digits}f}" for name, value in numbers]
        parts.append(", ".join(terms))
    if not candidate.evidence:
        parts.append("no evidence")
    if index in verdict.chosen:
        parts.append("CHOSEN")
    if index in verdict.right:
        parts.append("RIGHT")
    return "  |  ".join(parts)


def _number_lines(numbers: Mapping[str, float], digits: int) -> Iterator[str]:
    width = max(len(f"{value:.{digits}f}") for value in numbers.values())
    for name, value in numbers.items():
        yield f"{_INDENT}{value:{width}.{digits}f}  {number_name(name)}"


def mark_passage(text: str, marks: tuple[Mark, ...], symbols: Mapping[str, _Symbols]) -> str:
    """Return the passage with symbols around its marks, longer marks outside; control characters
    are escaped.
    """
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


# --------------------------------------------------------------------------------------------------
# HTML: one view of a question for pages, reports and notebooks


def explanation_view(*explanations: Explanation) -> str:
    """Return what notebooks show of explanations of one question: the answers, the candidates
    and the passage.
    """
    return _notebook_cell(question_values(*explanations))


def _notebook_cell(values: dict[str, Any]) -> str:
    return f"<style>{question_style()}</style>\n{question_cell(values)}"


def question_view(question: Question) -> str:
    """Return what notebooks show of a question: its passage and candidates."""
    return _notebook_cell(question_values(question=question))


def dataset_view(dataset: Dataset) -> str:
    """Return what notebooks show of a dataset: its first questions."""
    columns = [Column(name, "text") for name in ("id", "question", "candidates", "right")]
    rows = []
    for question in dataset.questions[:_SHOWN_QUESTIONS]:
        candidates: list[str] = []
        if not question.task.has_spans:
            candidates = [c.text for c in question.candidates[:SHOWN_CANDIDATES]]
        right = "hidden" if question.gold is None else " / ".join(question.gold_texts)
        rows.append([question.id, question.text, " / ".join(candidates), right])
    title = f"{dataset.name} · {len(dataset):,} questions, {len(dataset.passages):,} passages"
    n_more = len(dataset) - len(rows)
    notes = [f"and {n_more:,} more questions"] if n_more else []
    return render(Table(title, columns, [RowGroup(rows)], notes=notes), "html")


def question_values(
    *explanations: Explanation,
    question: Question | None = None,
    digits: int | None = DIGITS,
    every: bool = False,
) -> dict[str, Any]:
    """Return the values of a question and of explanations of it for the template
    ``explained.html``.

    The question is needed if there are no explanations. Without `digits`, formulas are left out.
    """
    question = explanations[0].question if question is None else question
    marks: dict[int, Sequence[Mark]] = {}
    # one more may be the right one
    limit = min(SHOWN_CANDIDATES, CHOICES // max(len(explanations), 1) - 1)
    systems: list[dict[str, Any]] = []
    for explanation in explanations:
        verdict = verdict_of(explanation)
        candidates = shown_candidates(explanation, verdict.right, limit)
        options = []
        for index, candidate in candidates:
            number = len(marks)
            marks[number] = candidate.marks
            option = {
                "number": number,
                "label": candidate_label(index) if question.task.has_choices else "",
                "text": candidate.text,
                "score": candidate.score,
                "evidence": candidate.evidence,
                "is_chosen": index in verdict.chosen,
                "is_right": index in verdict.right,
            }
            options.append({**option, **_panel(explanation, verdict, index, digits, every)})
        system = {
            "name": explanation.solver,
            "note": explanation.note,
            "verdict": verdict,
            "options": options,
            "n_more": len(explanation.candidates) - len(candidates),
        }
        systems.append(system)
    # What the reader sees first is the first answer, of the first system that marks any words.
    listed = [option for system in systems for option in system["options"]]
    listed.sort(key=lambda option: (not option["is_chosen"], not marks[option["number"]]))
    first = listed[0]["number"] if listed else None
    plain: list[tuple[str, str, bool]] = []
    if not explanations and not question.task.has_spans:
        right = right_candidates(question)
        for i, candidate_of_question in enumerate(question.candidates[:SHOWN_CANDIDATES]):
            plain.append((candidate_label(i), candidate_of_question.text, i in right))
    used = {mark.kind for candidate_marks in marks.values() for mark in candidate_marks}
    legend = [(kind, meaning) for kind, meaning in LEGEND.items() if kind in used]
    return {
        "id": question.id,
        "question": question.text,
        "systems": systems,
        "first": first,
        "candidates": plain,
        "legend": legend,
        "pieces": split_at_marks(question.passage.text, marks),
    }


def _panel(
    explanation: Explanation, verdict: Verdict, index: int, digits: int | None, every: bool
) -> dict[str, Any]:
    """Return what is shown of a candidate when it is chosen: its terms against another's, and
    its formula.
    """
    candidate = explanation.candidates[index]
    ranked = [i for i, _ in rank_candidates(explanation)]
    answers = [i for i in ranked if i in verdict.chosen] or [index]
    against = verdict.rival if index in verdict.chosen or answers == [index] else answers[0]
    rows = [] if against is None else compare_terms(candidate, explanation.candidates[against])
    if len(rows) > _SHOWN_TERMS + 1:
        rest = rows[_SHOWN_TERMS:]
        own_sum = sum(row.own or 0.0 for row in rest)
        other_sum = sum(row.other or 0.0 for row in rest)
        rows = [*rows[:_SHOWN_TERMS], TermRow(f"{len(rest)} more", own_sum, other_sum)]
    largest = max((abs(row.gain) for row in rows), default=0.0)
    bars = []
    for row in rows:
        bar = SignedBar.of(row.gain, largest)
        bars.append((row.name, row.own, row.other, bar, row.gain))
    terms: list[tuple[str, float]] = []
    if not rows:
        terms = [(number_name(name), value) for name, value in candidate.numbers.items()]
    formula = []
    if digits is not None and candidate.formula is not None:
        formula = formula_lines(candidate.formula, digits=digits, every=every)
    return {
        "against": "" if against is None else _short_name(explanation.question, against),
        "rows": bars,
        "terms": terms,
        "formula": [f"{'  ' * line.depth}{line}" for line in formula],
        "is_short": 1 < len(formula) <= _SHORT_FORMULA,
        "quote": candidate.quote,
        "source": candidate.source or "",
    }


def _short_name(question: Question, index: int) -> str:
    return candidate_label(index) if question.task.has_choices else question.candidates[index].text


class MarkedPiece(NamedTuple):
    """A piece of text in which no mark begins or ends."""

    text: str
    # the candidates that mark it, each with the classes of its marks
    marks: Sequence[tuple[int, str]]


def split_at_marks(text: str, marks: Mapping[int, Iterable[Mark]]) -> list[MarkedPiece]:
    """Cut the text where marks of any candidate begin and end; ignore marks of unknown kinds.

    A framed mark adds the classes ``begins`` and ``ends`` to its first and its last piece.
    """
    drawn_marks: dict[int, list[Mark]] = {number: [] for number in marks}
    cuts = {0, len(text)}
    for number, candidate_marks in marks.items():
        for mark in candidate_marks:
            if mark.kind in LEGEND or mark.kind == "pair-candidate":
                drawn_marks[number].append(mark)
                cuts |= {mark.start, mark.end}
    pieces = []
    for start, end in pairwise(sorted(cuts)):
        covering = []
        for number, candidate_marks in drawn_marks.items():
            kinds: set[str] = set()
            for mark in candidate_marks:
                if mark.start <= start and end <= mark.end:
                    kinds.add(mark.kind)
                    if mark.kind in _FRAMED:
                        kinds |= {"begins"} if mark.start == start else set()
                        kinds |= {"ends"} if mark.end == end else set()
            if kinds:
                covering.append((number, " ".join(sorted(kinds))))
        pieces.append(MarkedPiece(text[start:end], covering))
    return pieces
