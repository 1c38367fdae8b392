r"""Where a language model's text states its answer: final forms such as ``The answer is (B)`` or
``\boxed{B}``.

Mentions of options (labels, and the options' own texts) are marked first, so that the words of an
option are never taken for words about it. A statement is a marked option whose clause is a form of
``languages.toml`` from its first word on; all other clauses say nothing. So a statement that is
negated, supposed, reported or asked is none. What a text takes back ("Wait, no") does not count,
and an option that stands next to a statement as another possible answer contradicts it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import NamedTuple

ANSWER_KEYS = (
    *("prediction", "predicted", "pred", "predicted_answer", "model_answer"),
    *("answer", "final_answer", "output", "response", "choice"),
)
"""The members of a JSON object that have the answer."""


_FULL_WIDTH = {0xFF01 + i: 0x21 + i for i in range(94)} | {
    **{0x130: "I", 0x3000: " ", 0x3001: ", ", 0x3002: ". ", 0x3010: "[", 0x3011: "]"},
}
_THOUGHT = "(?:think|thinking|thought|reasoning)"
_REASONING = re.compile(rf".*(?:</{_THOUGHT}>|\[/THINK\])", re.S | re.I)
_UNFINISHED = re.compile(rf"\s*(?:<{_THOUGHT}>|\[THINK\])", re.I)
_LATEX = re.compile(r"\\(?:text|math|operator)[a-z]*\s*\{([^{}]*)\}")
_MARKUP = re.compile(
    r"\*\*|__|`|\\[()\[\]]|\$(?=\s*(?:\\boxed|\(?[A-Za-z]\)?\s*\$))|(?<=[A-Za-z)}])\s*\$(?![\w(\\])"
)
_BLANKS = re.compile(r"(?<=:)\s*\n\s*|[^\S\n]+")
_LISTING_COMMA = re.compile(r"(?<![A-Za-z][A-Za-z])(?<=[A-Za-zＡ-Ｚ])、")
_BULLET = re.compile(r"^\s*(?:#{1,6}|>|[-*•+])\s+")

_FILLER, _LABEL, _TEXT, _WORD = "\ue000", "\ue001", "\ue002", "\ue003"
"""Marks of a label, of an option's text, and of a text that is a word of doubt, such as *no*; each
with as many fillers as keep its length.
"""
_MARKS = (_LABEL, _TEXT, _WORD)
_OPTION = f"[{_LABEL}{_TEXT}{_WORD}]{_FILLER}*"
_NAMED = (
    r"(?:(?:option|choice|answer|antwort|réponse|opción)\s+)?[\"'“‘«「(]?"
    rf"{_OPTION}(?:[.:,)]?\s?[\"'“‘«「(]?{_OPTION})?[\"'”’»」)]?"
)
_QUOTE = r"[\s\"'“”‘’«»「」『』*_]*"
_IN_WORD = "A-Za-zÀ-ÿ"
_LETTER = r"[^\W\u2e80-\uffff]"
"""What is not next to a name; Chinese and Japanese have no blanks between words."""
_SAME_WORDS = {"yes": "true", "no": "false", "true": "yes", "false": "no"}


_LANGUAGES = tomllib.loads(
    files("classic_rc.formats").joinpath("languages.toml").read_text(encoding="utf-8")
)
"""How each language states an answer; the file says what its names mean."""


def _joined(column: str) -> str:
    forms = "|\n".join(language[column] for language in _LANGUAGES.values())
    forms = re.sub(r"(?m)^ {2,}|\n", "", forms)
    return forms.replace(" ", r"\s+").replace("M", _NAMED)


def _any(column: str) -> str:
    """Return an expression for a column of all languages; Latin words are whole words."""
    return rf"(?:(?<![{_IN_WORD}])(?:{_joined(column)})(?![{_IN_WORD}]))"


_ORDINALS = [
    "|".join(words) for words in zip(*(one["ordinals"] for one in _LANGUAGES.values()), strict=True)
]
_ORDINAL = rf"(?i:(?:the |die |la )?(?:{'|'.join(_ORDINALS)})(?:{_joined('ordinal_noun')}))"
_PRONOUN = (
    r"(?:A(?=\s+(?!(?:is|are|was|and|or|nor|but|not|over|with|which|where|while|because|since|as|for|from|in"
    r"|so|too|also|could|may|might|would|must|has|seems|ist|und|oder|sondern|weil|est|et|ou|mais|car|parce"
    r"|es|y|o|sino|porque)\b)[a-zà-ÿ])|I(?=\s+(?!(?:is|and|or|but|because|since)\b)[a-zà-ÿ]))"
)
"""An article or a pronoun, and no label: ``A dog``, ``I think``."""
_LABELS = re.compile(
    rf"(?<![{_IN_WORD}0-9'’\ue000-\ue003])(?:{_ORDINAL}|[(\[](?:[A-Za-z]|\d\d?)[)\]]|[A-Z][):](?!\d)"
    rf"|(?!{_PRONOUN})(?:[A-Z]|\d\d?)(?![{_IN_WORD}0-9'’%]|[.,:]\d)"
    r"|[a-z](?=[\"”’)]*(?:[.,;!](?:\s|$)|\s*(?:\n|$))))"
)
_AFTER_TEXT = (
    rf"(?=[\s\"'“”‘’«»「」『』*_)\]]*(?:$|\n|[.!;](?=[\s\"”’)\]]|$)|,?\s*(?:{_any('reason')}"
    rf"|{_any('dismissal')})|\s[-–—]+\s|(?<=\s)\())"
)
_AFTER_LABEL = (
    rf"(?:{_AFTER_TEXT}|(?={_QUOTE}[)\]]*(?:[,:](?=\s|$|[\"”’])|(?<=\s){_any('after')})))"
)
_SEPARATOR = (
    r"[^\S\n]*[.:,;()\[\]\"'“”‘’«»「」『』/|&+–—=、-]{0,4}[^\S\n]*"
    rf"(?:(?:{_joined('conjunction')})\s*)?(?:(?:option|choice|opción|选项)\s*)?[(\[\"'“‘«「]?"
)
_ONE_OPTION = re.compile(_OPTION)
_GROUP = re.compile(
    rf"(?P<first>{_OPTION})(?:(?<=[{_LABEL}{_FILLER}])[.:,)]?[\s\"'“”‘’«»「」(_*-]{{1,4}}[{_TEXT}{_WORD}]{_FILLER}*)?(?:(?:{_SEPARATOR}|\n){_OPTION}(?={_AFTER_LABEL}|[)\]]?\s*[/|&()\[\]+]))*"
)
_LEAD = rf"(?:{_any('lead')}[\s,:]*)"
_CLAUSE = re.compile(
    rf"[^\w\ue000-\ue003]*(?:(?P<hence>{_LEAD}*?(?:{_any('hence')}|(?={_any('rather')})))"
    rf"|{_LEAD}*(?:(?P<answer>{_any('answer')})|(?P<choose>{_any('choose')})|(?P<subject>)))"
    rf"[\s,:]*(?:{_any('rather')})?\s*(?:{_any('adverb')}[\s,]*)*{_any('noun')}?\s*[(\[]?{_QUOTE}"
)
_WAYS = {
    "answer": "the answer is …",
    "choose": "I choose …",
    "hence": "therefore …",
    "subject": "… is correct",
}
_AT_START = "the start"
_FOLLOWS = {mark: re.compile(_AFTER_LABEL if mark == _LABEL else _AFTER_TEXT) for mark in _MARKS}
_IS_RIGHT = "|" + _any("is_right")
_CORRECT = {
    mark: re.compile(
        rf"{_QUOTE}[)\]]?\s*(?:{_any('is_answer')}{_IS_RIGHT * (mark == _LABEL)})" + _AFTER_LABEL
    )
    for mark in _MARKS
}
_CLOSED = {
    "<answer>…</answer>": r"<(answer|final_answer)>\s*(?P<said>.*?)\s*</\1>",
    "\\boxed{…}": r"\\boxed\s*\{\s*(?P<said>[^{}]*?)\s*\}",
    '{"answer": …}': rf'"(?:{"|".join(ANSWER_KEYS)})"\s*:\s*(?P<said>"(?:[^"\\\n]|\\.)*"|\d+)',
}
_CLOSED_FORMS = {way: re.compile(form, re.I | re.S) for way, form in _CLOSED.items()}
_START = re.compile(
    rf"\s*(?:{_OPTION}(?:,?\s*{_any('reason')})|{_LABEL}{_FILLER}*(?:\s[-–—]\s"
    r"|\.\s+(?:The|This|That|There|It|In|Because|Since|As|According|Based|He|She|They|We)\b)"
    rf"|{_LABEL}{_FILLER}+[.:]?\s*(?=$|\n|[A-Z\"“\ue001-\ue003]|{_any('reason')}))"
)
_YES_OR_NO = re.compile(r"\s*(yes|no|true|false),", re.I)
_LISTED = re.compile(rf"^[^\w\n{_LABEL}]*({_LABEL}{_FILLER}*)[.):]*[^\S\n]*[^\s.):]", re.M)

_BOUNDARY = re.compile(rf"[,;(—–]\s*|\s-\s+|\s+(?=and\b|{_any('conclusion')}|{_any('contrast')})")
_DOUBT = re.compile(rf"{_any('doubt')}|n['’]t\b|{_WORD}")
_DENIED = re.compile(rf"{_DOUBT.pattern}|{_any('report')}")
_CONDITION = re.compile(rf"{_any('condition')}|^\W*(?:were|had|should)\b")
_CERTAIN = re.compile(_any("certain"))
_ASIDE = re.compile(rf"{_any('aside')}(?:[^,;]|,(?=\s*(?:and |or )?{_OPTION}))*,")
_CONCLUDES = re.compile(rf"\W*(?:{_any('conclusion')}|{_any('contrast')})")
_REASON = re.compile(rf"{_any('reason')}|[:;]")
_HARMLESS = re.compile(rf"{_any('dismissal')}|{_CERTAIN.pattern}")
_RIVAL = re.compile(rf"(?:^|[.,;:!?(]\s*|\n\s*|\s){_any('rival')}")
_RETRACTION = re.compile(
    rf"(?:^|[.,;:!?…(—–-]\s*|\n\s*)(?:(?:oh|but|and|hm+|ah|well|aber|mais|pero),?\s+)*{_any('retraction')}"
)
_HEAD = re.compile(r"(?:[:=]|is|ist|est|es|是|は)[\s\"'(]*$")
_SENTENCE_END = re.compile(r"[!?]|\.(?=[\s\"”’)]|$)|\n")
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
    ended = _REASONING.match(text)
    text = text[ended.end() :] if ended else text
    return "" if _UNFINISHED.match(text) else text


def plain_text(text: str) -> str:
    r"""Return a text without the marks of Markdown and LaTeX, with single blanks, and with
    full-width letters as usual ones.

    Examples
    --------
    >>> plain_text(r"**The answer is $\text{(Ｂ)}$**")
    'The answer is (B)'
    """
    text = _LISTING_COMMA.sub(". ", text).translate(_FULL_WIDTH)
    text = _MARKUP.sub("", _LATEX.sub(r"\1", text))
    return _BLANKS.sub(" ", text)


def find_ordinal(text: str) -> int | None:
    """Return the position from 0 that a text such as "the second option" names, or None."""
    if not re.fullmatch(_ORDINAL, text):
        return None
    return next(i for i, words in enumerate(_ORDINALS) if re.search(words, text, re.I))


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
    places = [
        *_find_closed(text),
        *_find_statements(text, marked),
        *_find_lines(text, cased, marked),
    ]
    first = min((place.start for place in places if not place.is_line), default=0)
    places += (_rival(text, marked, *match.span()) for match in _RIVAL.finditer(marked, first))
    taken_back = max((match.start() for match in _RETRACTION.finditer(marked)), default=0)
    return [place for place in places if place.start >= taken_back]


def _mark_options(text: str, options: Sequence[str]) -> str:
    """Return a text of the same length with marks for labels, and for the texts of options."""
    lower, marked = text.lower(), text
    names = {name for option in options for name in (option, _SAME_WORDS.get(option, option))}
    for name in sorted(names, key=len, reverse=True):
        if name in lower and (len(name) > 1 or name > "z"):  # a letter alone is a label
            mark = _WORD if _DOUBT.fullmatch(name) else _TEXT
            pattern = rf"(?<!{_LETTER}){re.escape(name)}(?!{_LETTER})"
            marked = re.sub(pattern, mark + _FILLER * (len(name) - 1), marked, flags=re.I)
    return _LABELS.sub(lambda match: _LABEL + _FILLER * (len(match[0]) - 1), marked)


def _find_closed(text: str) -> Iterator[Place]:
    for way, form in _CLOSED_FORMS.items():
        for match in form.finditer(text):
            said = match["said"]
            with suppress(ValueError):
                said = str(json.loads(said)) if way.startswith("{") else said
            is_label = _LABELS.fullmatch(said) is not None
            yield Place(way, match.start(), said, (said,), is_label)


def _find_statements(text: str, marked: str) -> Iterator[Place]:
    """Yield the options whose clause is a form of a language, and others in the same sentence."""
    for group in _GROUP.finditer(marked):
        mark, start, end = group[0][0], group.start(), group.end()
        correct, follows = _CORRECT[mark].match(marked, end), _FOLLOWS[mark].match(marked, end)
        if follows is None and mark == _LABEL:  # an option's text may begin the next sentence
            end = group.end("first")
            follows = _FOLLOWS[mark].match(marked, end)
        if not (correct or follows or _HEAD.search(marked, max(start - 4, 0), start)):
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
            yield from _read_rest(text, marked, (start, end), after, _WAYS[way], begin)
        elif way == "answer":
            yield _rival(text, marked, *group.span())


def _find_clause(marked: str, end: int) -> re.Match[str] | None:
    """Return the match of the clause before an option, if nothing casts doubt on it."""
    before = marked[max(end - _LONGEST, 0) : end]
    before = before[max((stop.end() for stop in _SENTENCE_END.finditer(before)), default=0) :]
    starts = [0, *(match.end() for match in _BOUNDARY.finditer(before))]
    clauses = (match for start in starts if (match := _CLAUSE.fullmatch(before, start)))
    clause = next(clauses, None)
    if clause is None or _DENIED.search(clause["answer"] or ""):
        return None
    earlier = _CERTAIN.sub("", before[: clause.start()])
    if _CONDITION.search(earlier):
        return None
    if _CONCLUDES.match(clause[0]):
        return clause
    earlier = _CONCLUDES.split(earlier)[-1]
    return None if _DENIED.search(_ASIDE.sub("", earlier)) else clause


def _read_rest(
    text: str, marked: str, span: tuple[int, int], after: int, way: str, start: int
) -> Iterator[Place]:
    """Yield a statement and the options that its sentence names next to it, unless the sentence
    takes it back.
    """
    stop = _SENTENCE_END.search(marked, after, after + _LONGEST)
    last = stop.start() if stop else min(after + _LONGEST, len(marked))
    reason = _REASON.search(marked, after, last)
    rest = marked[: reason.start() if reason else last]
    rest = _HARMLESS.sub(lambda match: " " * len(match[0]), rest[after:])
    if (stop and stop[0] == "?") or _DOUBT.search(rest) or _CONDITION.search(rest):
        return
    yield Place(way, start, text[slice(*span)], _read_marks(text, marked, *span), way != _AT_START)
    others = [name for name in _read_marks(text[after:], rest) if not name.isdigit()]
    yield Place(way, start, "", others, is_rival=True)


def _rival(text: str, marked: str, *span: int) -> Place:
    return Place("another", span[0], "", _read_marks(text, marked, *span), is_rival=True)


def _read_marks(text: str, marked: str, *span: int) -> list[str]:
    """Return the options that are marked in a text."""
    return [text[slice(*match.span())] for match in _ONE_OPTION.finditer(marked, *span)]


def _find_lines(text: str, cased: str, marked: str) -> Iterator[Place]:
    """Yield the lines of a text, and the option at its start, if what follows is set off from it.

    Lines of a list of options, each with its label, say nothing.
    """
    labels = {text[slice(*match.span(1))] for match in _LISTED.finditer(marked)}
    for match in re.finditer(r"[^\n]+", text):
        line = _BULLET.sub("", match[0]).strip()
        if line and (len(labels) < 2 or not _LISTED.match(marked, match.start())):
            yield Place("a line", match.start(), line, (line,), is_line=True)
    word = _YES_OR_NO.match(text)
    if word and [match.start() for match in _ONE_OPTION.finditer(marked)] == [word.start(1)]:
        yield Place(_AT_START, 0, word[1], (word[1],), is_line=True)
    group = _GROUP.search(marked) if len(labels) < 2 and _START.match(cased) else None
    if group and (group[0] == group["first"] or _FOLLOWS[_LABEL].match(marked, group.end())):
        yield from (
            place._replace(is_line=True)
            for place in _read_rest(text, marked, group.span(), group.end(), _AT_START, 0)
        )
