r"""Where a language model's text states its answer: final forms such as ``The answer is (B)`` or
``\boxed{B}``.

Mentions of options (labels, and the options' own texts) are marked first, so that the words of an
option are never taken for words about it. A statement is a marked option whose clause is a form of
``languages.toml`` from its first word on; all other clauses say nothing. So a statement that is
negated, supposed, reported or asked is none. What a text takes back ("Wait, no") does not count,
and a statement that names a second option as a possible answer contradicts itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import NamedTuple

from classic_rc.formats.base import read_declarations

ANSWER_KEYS = (
    "prediction predicted pred predicted_answer model_answer "
    "answer final_answer output response choice"
).split()
"""The members of a JSON object that have the answer."""


_FILLER, _LABEL, _TEXT, _WORD = "\ue000", "\ue001", "\ue002", "\ue003"
"""Marks of a label, of an option's text, and of a text that is a word of doubt, such as *no*; each
with as many fillers as keep its length.
"""
_LETTER = r"[^\W\u2e80-\uffff]"
"""What is not next to a name; Chinese and Japanese have no blanks between words."""

_LANGUAGES = read_declarations("languages.toml")
"""How each language states an answer; the file says what its names mean."""
_STATEMENTS = read_declarations("statements.toml")
"""Where in a text a statement may be, in expressions with the names of others."""


def _named_expressions() -> Iterator[tuple[str, str]]:
    """Yield expressions by name: those of the columns in all languages."""
    yield "answer_keys", "|".join(ANSWER_KEYS)
    for column in _LANGUAGES["English"]:
        words = "|\n".join(language[column] for language in _LANGUAGES.values())
        words = re.sub(r"(?m)^ {2,}|\n", "", words).replace(" ", r"\s+").replace("M", "{{named}}")
        yield f"={column}", words
        yield column, rf"(?:(?<![A-Za-zÀ-ÿ])(?:{words})(?![A-Za-zÀ-ÿ]))"


_USUAL_CHARACTERS = str.maketrans(_STATEMENTS["usual_characters"])
_SEARCHED = _STATEMENTS["forms"] | _STATEMENTS["closed"]
_EXPRESSIONS = dict(_named_expressions()) | _STATEMENTS["parts"] | _SEARCHED


def _expand(expression: str) -> str:
    """Return an expression with those that it names in their places."""
    expression = expression.replace("\n", "")
    return re.sub(r"\{\{(.+?)\}\}", lambda match: _expand(_EXPRESSIONS[match[1]]), expression)


_FORMS = {name: re.compile(_expand(form)) for name, form in _SEARCHED.items()}
_FORM = SimpleNamespace(**_FORMS)
_AT_START = "the start"
_FOLLOWS = {_LABEL: _FORM.after_label, _TEXT: _FORM.after_text, _WORD: _FORM.after_text}
_CORRECT = {_LABEL: _FORM.correct_label, _TEXT: _FORM.correct_text, _WORD: _FORM.correct_text}
_LONGEST = 600  # characters of a sentence before an option, and after it


class Place(NamedTuple):
    """A place where a text may state its answer."""

    way: str
    start: int  # in the text
    said: str
    options: Sequence[str]  # in `said`, one by one; all must be one answer
    is_label: bool = False  # whether a form says a label, be it that of an option or not
    is_line: bool = False  # and not a form
    is_rival: bool = False  # what contradicts other answers, and is none itself


def without_reasoning(text: str) -> str:
    """Return what a text says after its last ``</think>``; nothing if its reasoning does not end.

    Examples
    --------
    >>> without_reasoning("<think>A? No, B.</think> B"), without_reasoning("<think>A?")
    (' B', '')
    """
    ended = _FORM.reasoning.match(text)
    text = text[ended.end() :] if ended else text
    return "" if _FORM.unfinished.match(text) else text


def plain_text(text: str) -> str:
    r"""Return a text without the marks of Markdown and LaTeX, with single blanks, and with
    full-width letters as usual ones.

    Examples
    --------
    >>> plain_text(r"**The answer is $\text{(Ｂ)}$**")
    'The answer is (B)'
    """
    text = _FORM.listing_comma.sub(". ", text).translate(_USUAL_CHARACTERS)
    text = _FORM.markup.sub("", _FORM.latex.sub(r"\1", text))
    return _FORM.blanks.sub(" ", text)


def find_ordinal(text: str) -> int | None:
    """Return the position from 0 that a text such as "the second option" names, or None."""
    match = _FORM.ordinal.fullmatch(text)
    return match.lastindex - 1 if match else None


def find_places(text: str, options: Sequence[str]) -> list[Place]:
    """Return the places of final forms and of lines in a plain text that may name these options.

    Examples
    --------
    >>> find_places("The answer is B, since A is wrong.", ["x", "y"])[0].options
    ['B']
    >>> [place.way for place in find_places("I doubt that the answer is B.", ["x", "y"])]
    ['a line']
    """
    cased = _mark_options(text, options)
    marked = cased.lower()
    places = [*_find_closed(text), *_find_statements(text, marked)]
    first = min((place.start for place in places), default=0)
    places += _find_lines(text, cased, marked)
    for match in _FORM.another.finditer(marked, first):
        places.append(_rival(text, marked, *match.span()))
    taken_back = max((match.start() for match in _FORM.taken_back.finditer(marked)), default=0)
    return [place for place in places if place.start >= taken_back]


def _mark_options(text: str, options: Sequence[str]) -> str:
    """Return a text of the same length with marks for labels, and for the texts of options."""
    lower, marked = text.lower(), text
    same_words = _STATEMENTS["same_words"]
    names = {*options, *(same_words.get(option, option) for option in options)}
    # The longest first: a name may be in another one.
    for name in sorted(names, key=len, reverse=True):
        if name in lower and (len(name) > 1 or name > "z"):  # a letter alone is a label
            mark = _WORD if _FORM.any_doubt.fullmatch(name) else _TEXT
            pattern = rf"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})"
            marked = re.sub(pattern, _fill(mark, name), marked, flags=re.I)
    return _FORM.labels.sub(lambda match: _fill(_LABEL, match[0]), marked)


def _fill(mark: str, name: str) -> str:
    """Return a mark as long as a name."""
    return mark + _FILLER * (len(name) - 1)


def _find_closed(text: str) -> Iterator[Place]:
    for way in _STATEMENTS["closed"]:
        for match in _FORMS[way].finditer(text):
            statement = match["said"]
            with suppress(ValueError):
                statement = str(json.loads(statement)) if way.startswith("{") else statement
            is_label = _FORM.labels.fullmatch(statement) is not None
            yield Place(way, match.start(), statement, (statement,), is_label)


def _find_statements(text: str, marked: str) -> Iterator[Place]:
    """Yield the options whose clause is a form of a language, and others in the same sentence."""
    for group in _FORM.group.finditer(marked):
        mark, start, end = group[0][0], group.start(), group.end()
        correct = _CORRECT[mark].match(marked, end)
        follows = _FOLLOWS[mark].match(marked, end)
        if follows is None and mark == _LABEL:  # an option's text may begin the next sentence
            end = group.end("first")
            follows = _FOLLOWS[mark].match(marked, end)
        if not (correct or follows or _FORM.head.search(marked, max(start - 4, 0), start)):
            continue
        clause = _find_clause(marked, start)
        way = clause.lastgroup if clause else None
        if correct and way in ("hence", "subject"):
            way, follows, end, after = "subject", correct, group.end(), correct.end()
        elif way == "subject" or (way == "hence" and mark != _LABEL):
            continue
        else:
            after = group.end()
        if clause and way and follows:
            begin = start - len(clause[0].lstrip())
            yield from _read_rest(
                text, marked, (start, end), after, _STATEMENTS["ways"][way], begin
            )
        elif way == "answer":
            yield _rival(text, marked, *group.span())


def _find_clause(marked: str, end: int) -> re.Match[str] | None:
    """Return the match of the clause before an option, if nothing casts doubt on it."""
    before = marked[max(end - _LONGEST, 0) : end]
    before = before[max((stop.end() for stop in _FORM.sentence_end.finditer(before)), default=0) :]
    starts = [0, *(match.end() for match in _FORM.boundary.finditer(before))]
    clauses = (match for start in starts if (match := _FORM.clause.fullmatch(before, start)))
    clause = next(clauses, None)
    if clause is None or _FORM.denied.search(clause["answer"] or ""):
        return None
    earlier = _FORM.sure.sub("", before[: clause.start()])
    if _FORM.supposed.search(earlier):
        return None
    if _FORM.concludes.match(clause[0]):
        return clause
    earlier = _FORM.concludes.split(earlier)[-1]
    return None if _FORM.denied.search(_FORM.conceded.sub("", earlier)) else clause


def _read_rest(
    text: str, marked: str, span: tuple[int, int], after: int, way: str, start: int
) -> Iterator[Place]:
    """Yield a statement and the options that its sentence names next to it, unless the sentence
    takes it back.
    """
    stop = _FORM.sentence_end.search(marked, after, after + _LONGEST)
    last = stop.start() if stop else min(after + _LONGEST, len(marked))
    reason = _FORM.explanation.search(marked, after, last)
    rest = marked[: reason.start() if reason else last]
    rest = _FORM.harmless.sub(lambda match: " " * len(match[0]), rest[after:])
    if (stop and stop[0] == "?") or _FORM.any_doubt.search(rest) or _FORM.supposed.search(rest):
        return
    options = _read_marks(text, marked, *span)
    yield Place(way, start, text[slice(*span)], options, is_label=way != _AT_START)
    others = [name for name in _read_marks(text[after:], rest) if not name.isdigit()]
    yield Place(way, start, "", others, is_rival=True)


def _rival(text: str, marked: str, *span: int) -> Place:
    return Place("another", span[0], "", _read_marks(text, marked, *span), is_rival=True)


def _read_marks(text: str, marked: str, *span: int) -> list[str]:
    """Return the options that are marked in a text."""
    matches = _FORM.option.finditer(marked, *span)
    return [text[match.start() : match.end()] for match in matches]


def _find_lines(text: str, cased: str, marked: str) -> Iterator[Place]:
    """Yield the lines of a text, and the option at its start, if what follows is set off from it.

    Lines of a list of options, each with its label, say nothing.
    """
    labels = {text[slice(*match.span(1))] for match in _FORM.listed.finditer(marked)}
    for match in re.finditer(r"[^\n]+", text):
        line = _FORM.bullet.sub("", match[0]).strip()
        if line and (len(labels) < 2 or not _FORM.listed.match(marked, match.start())):
            yield Place("a line", match.start(), line, (line,), is_line=True)
    word = _FORM.yes_or_no.match(text)
    if word and [match.start() for match in _FORM.option.finditer(marked)] == [word.start(1)]:
        yield Place(_AT_START, 0, word[1], (word[1],), is_line=True)
    if len(labels) > 1 or not _FORM.start.match(cased):
        return
    group = _FORM.group.search(marked)
    if group and (group[0] == group["first"] or _FOLLOWS[_LABEL].match(marked, group.end())):
        for place in _read_rest(text, marked, group.span(), group.end(), _AT_START, 0):
            yield place._replace(is_line=True)
