"""One question's explanation as a page of HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

from classic_rc.questions import Question
from classic_rc.reports.explanations import (
    LEGEND,
    SHOWN_CANDIDATES,
    adds_up,
    candidate_label,
    is_right,
    number_name,
    ranked,
)
from classic_rc.reports.html import escaped, html_bar, html_document
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark


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
