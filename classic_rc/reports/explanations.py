"""Explanations as text: the passage with what mattered marked, the numbers beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from classic_rc.io.printable import printable
from classic_rc.questions import Question
from classic_rc.reports.html import escaped, html_bar, html_document
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark

SHOWN_CANDIDATES = 20
_BESIDE = 3
"""So many numbers stand beside the score; more get a line each."""
_WIDTH, _INDENT = 96, "    "

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
_CODE = re.compile(r"\x1b\[[\d;]*m")
LEGEND: Mapping[str, str] = {
    "window": "the best window",
    "sentence": "a sentence that is used",
    "question": "question word",
    "candidate": "candidate's word",
    "pair-question": "the nearest pair",
}
"""What marks mean; both words of a pair share one."""


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
    shown = ranked(explanation)[:SHOWN_CANDIDATES]
    used = {mark.kind for _, c in shown for mark in c.marks}
    legend = [f"{marks[k][0]}{text}{marks[k][1]}" for k, text in LEGEND.items() if k in used]
    lines = [printable(f"{question.id}: {question.text}"), f"solver: {explanation.solver}"]
    if legend:
        lines.append("marked: " + ", ".join(legend))
    for index, candidate in shown:
        lines += ["", _heading(question, index, candidate)]
        if len(candidate.numbers) > _BESIDE:
            lines += _columns(candidate.numbers)
        if candidate.quote is not None:
            lines += _wrapped(printable(f"{candidate.source}: {candidate.quote}", keep="\t"))
        if candidate.marks:
            lines += _wrapped(marked_passage(question.passage.text, candidate.marks, marks))
    n_more = len(explanation.candidates) - len(shown)
    if n_more:
        lines += ["", f"and {n_more} candidates with lower scores"]
    return "\n".join(lines) + "\n"


def ranked(explanation: Explanation) -> list[tuple[int, CandidateExplanation]]:
    """The candidates with their indices, the best first."""
    return sorted(enumerate(explanation.candidates), key=lambda item: -item[1].score)


def number_name(name: str) -> str:
    """The name of a term of a score, for people."""
    return printable(name.replace("_", " "))


def adds_up(candidate: CandidateExplanation) -> bool:
    """Whether the numbers are shares of the score, so that it makes sense to see them side by side."""
    total = sum(candidate.numbers.values())
    return bool(candidate.numbers) and math.isclose(total, candidate.score, rel_tol=1e-6, abs_tol=1e-6)


def candidate_label(index: int) -> str:
    """A letter, as in tests on paper, or the number where letters run out."""
    return chr(ord("A") + index) if index < 26 else str(index)


def is_right(question: Question, index: int) -> bool:
    """Whether the candidate is right; false for all where gold is hidden."""
    gold = question.gold or ()
    return (index if question.task.has_choices else question.candidates[index].text) in gold


def _heading(question: Question, index: int, candidate: CandidateExplanation) -> str:
    parts = [f"({candidate_label(index)}) {printable(candidate.text)}", f"score {candidate.score:.5f}"]
    if 0 < len(candidate.numbers) <= _BESIDE:
        parts.append(", ".join(f"{number_name(name)} {value:.5f}" for name, value in candidate.numbers.items()))
    if not candidate.evidence:
        parts.append("no evidence")
    if is_right(question, index):
        parts.append("RIGHT")
    return "  |  ".join(parts)


def _columns(numbers: Mapping[str, float]) -> Iterator[str]:
    width = max(len(f"{value:.5f}") for value in numbers.values())
    return (f"{_INDENT}{value:{width}.5f}  {number_name(name)}" for name, value in numbers.items())


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
    """Lines of whole words; colours take no room, and end with the line to go on in the next."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        room = 0
        for word in paragraph.split():
            width = len(_CODE.sub("", word))
            if width < room:
                lines[-1] += f" {word}"
                room -= width + 1
            else:
                lines.append(word)
                room = _WIDTH - len(_INDENT) - width
    return [_INDENT + line for line in _closed(lines)]


def _closed(lines: Iterable[str]) -> Iterator[str]:
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


def explanation_html(explanation: Explanation) -> str:
    """An explanation as a document that needs nothing else.

    Parameters
    ----------
    explanation : Explanation

    Returns
    -------
    str
        HTML. Of many candidates, the best 20 are shown.
    """
    question = explanation.question
    shown = ranked(explanation)[:SHOWN_CANDIDATES]
    body = [
        "<header>",
        f'<p class="above">{escaped(explanation.solver)} explains {escaped(question.id)}</p>',
        f'<h1 dir="auto">{escaped(question.text)}</h1>',
        "</header>",
        "<main>",
        html_legend(mark.kind for _, candidate in shown for mark in candidate.marks),
    ]
    for index, candidate in shown:
        body += _candidate(question, index, candidate)
    n_more = len(explanation.candidates) - len(shown)
    if n_more:
        body.append(f"<p>and {n_more:,} candidates with lower scores</p>")
    if not any(candidate.marks for _, candidate in shown):
        body += ["<h2>The passage</h2>", html_passage(question.passage.text, ())]
    return html_document(f"{question.id}: {explanation.solver}", "\n".join([*body, "</main>"]))


def _candidate(question: Question, index: int, candidate: CandidateExplanation) -> Iterator[str]:
    badges = ['<span class="badge right">right</span>'] if is_right(question, index) else []
    if not candidate.evidence:
        badges.append('<span class="badge">no evidence</span>')
    label = f'<span class="label">{candidate_label(index)}</span>'
    yield '<section class="candidate">'
    yield f"<h2>{label} <bdi>{escaped(candidate.text)}</bdi> {' '.join(badges)}</h2>"
    yield f"<p>score <strong>{number_text(candidate.score)}</strong></p>"
    if candidate.numbers:
        yield _terms(candidate)
    if candidate.quote is not None:
        yield f'<figure><blockquote dir="auto">{escaped(candidate.quote)}</blockquote>'
        yield f"<figcaption>{escaped(candidate.source or '')}</figcaption></figure>"
    if candidate.marks:
        yield html_passage(question.passage.text, candidate.marks)
    yield "</section>"


def _terms(candidate: CandidateExplanation) -> str:
    """The numbers behind a score; where they add up to it, as bars too."""
    shares = adds_up(candidate)
    largest = max(abs(value) for value in candidate.numbers.values())
    rows = "".join(
        f'<tr><th scope="row">{escaped(number_name(name))}</th><td>{number_text(value)}</td>'
        + (f"<td>{html_bar(value, largest)}</td></tr>" if shares else "</tr>")
        for name, value in candidate.numbers.items()
    )
    caption = "adding up to the score" if shares else "behind the score"
    return f'<table class="terms"><caption>{caption}</caption><tbody>{rows}</tbody></table>'


def number_text(value: float) -> str:
    """A number in five digits, with a proper minus.

    Examples
    --------
    >>> number_text(-12.3456789), number_text(3.0), number_text(float("-inf"))
    ('−12.346', '3', '−∞')
    """
    shown = f"{abs(value):.5g}" if math.isfinite(value) else "∞"
    return f"−{shown}" if value < 0 else shown


def html_legend(kinds: Iterable[str]) -> str:
    """What the marks of these kinds mean, in the marks themselves; nothing where there is none."""
    used = set(kinds)
    items = "".join(
        f'<li><span class="mark {kind}">{text}</span></li>' for kind, text in LEGEND.items() if kind in used
    )
    return f'<ul class="legend" aria-label="what is marked">{items}</ul>' if items else ""


def html_passage(text: str, marks: Iterable[Mark]) -> str:
    """The passage cut where marks begin and end, each piece in the classes of the marks that cover it."""
    known = [mark for mark in marks if mark.kind in LEGEND or mark.kind == "pair-candidate"]
    cuts = sorted({0, len(text), *(cut for mark in known for cut in (mark.start, mark.end))})
    pieces = []
    for start, end in pairwise(cuts):
        over = [mark for mark in known if mark.start <= start and end <= mark.end]
        piece = escaped(text[start:end])
        pieces.append(f"<span{_described(over)}>{piece}</span>" if over else piece)
    return f'<p class="passage" dir="auto">{"".join(pieces)}</p>'


def _described(marks: list[Mark]) -> str:
    """The classes of a piece and, for who points at it, what its words weigh."""
    kinds = " ".join(sorted({mark.kind for mark in marks}))
    words = [m for m in marks if m.weight is not None and m.kind in ("question", "candidate")]
    title = ", ".join(f"{LEGEND[m.kind]}: {number_text(m.weight)}" for m in words if m.weight is not None)
    return f' class="mark {kinds}"' + (f' title="{escaped(title)}"' if title else "")
