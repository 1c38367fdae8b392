r"""Where a language model's text states its answer: final forms such as ``The answer is (B)`` or
``\boxed{B}``.

This module finds the places; the format ``answers`` knows the options and decides what each place
says. All places of a text must say the same option. What is ambiguous is not a place: a letter
inside a sentence (``A dog barked``), a form in a clause that is negated or supposed (``I doubt that
the answer is B``), a question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

ANSWER_KEYS = (
    *("prediction", "predicted", "pred", "predicted_answer", "model_answer"),
    *("answer", "final_answer", "output", "response", "choice"),
)
"""The members of a JSON object that have the answer."""

_FULL_WIDTH = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: " ", 0x3002: ". "}
_THOUGHT = "(?:think|thinking|thought|reasoning)"
_REASONING = re.compile(rf".*(?:</{_THOUGHT}>|\[/THINK\])", re.S | re.I)
_UNFINISHED = re.compile(rf"\s*(?:<{_THOUGHT}>|\[THINK\])", re.I)
_LATEX = re.compile(r"\\(?:text|math|operator)[a-z]*\s*\{([^{}]*)\}")
_MARKUP = re.compile(
    r"\*\*|__|`|\\[()\[\]]|\$(?=\s*(?:\\boxed|\(?[A-Za-z]\)?\s*\$))|(?<=[A-Za-z)}])\s*\$(?![\w(\\])"
)
_BULLET = re.compile(r"^\s*(?:#{1,6}|>|[-*•+])\s+")

_ADVERB = (
    r"(?:(?:definitely|clearly|certainly|indeed|therefore|thus|hence|simply"
    r"|most\s+likely|probably)\s+)*"
)
_NOUN = r"(?:(?:the\s+)?(?:option|choice|letter|number|answer)\b\s*:?\s*)?"
_IS = r"(?:is|are|must\s+be|should\s+be|would\s+be|has\s+to\s+be)\b"
_OPEN = {
    "the answer is …": r"\b(?:answers?|(?:correct|right|best)\s+(?:option|choice|response|one)s?"
    r"|(?:my|final)\s+"
    r"(?:choice|selection))(?:\s+(?:choice|option|key|letter))?(?:\s+(?:to|for|of)\s+[^\n.,:;]{1,80}?)??"
    rf"\s*(?:\s{_IS}\s*:?|[:=]|\s[-–—]\s)\s*{_ADVERB}{_NOUN}",
    "I choose …": r"\bI(?:['’](?:d|ll)|\s+(?:would|will|must|have\s+to))?\s+"
    rf"(?:choose|chose|select|selected|pick|picked|go\s+with|opt\s+for|answer)\s+{_NOUN}",
    "therefore …": r"(?:^|[.;,!]\s+|\n\s*)(?:so|thus|hence|therefore)\b[,:]?\s+"
    r"(?:it(?:['’]s|\s+is)\s+)?" + _NOUN,
}
_CLOSED = {
    "<answer>…</answer>": r"<(answer|final_answer)>\s*(?P<said>.*?)\s*</\1>",
    "\\boxed{…}": r"\\boxed\s*\{\s*(?P<said>[^{}]*?)\s*\}",
    '{"answer": …}': rf'"(?:{"|".join(ANSWER_KEYS)})"\s*:\s*(?P<said>"(?:[^"\\\n]|\\.)*"|\d+)',
}
_FORMS = {way: re.compile(form, re.I | re.S) for way, form in {**_CLOSED, **_OPEN}.items()}
_IS_CORRECT = re.compile(
    rf"\s+(?:is|must\s+be|has\s+to\s+be)\s+{_ADVERB}(?:the\s+)?(?:only\s+|most\s+)?"
    r"(?:(?:correct|right|best)\s+(?P<noun>answer|option|choice|one)|correct|right)\b(?!\s+(?:about|that|to|in)\b)",
    re.I,
)

_BOUNDARY = re.compile(r"[.;:!?,\n]|\b(?:so|but|therefore|thus|hence|then|and)\b", re.I)
_SUBJECT = re.compile(
    r"[.;:!?,]\s+(?:and\s+)?|\b(?:so|but|therefore|thus|hence|that|think|believe|only)\s+", re.I
)
_DOUBT = re.compile(
    r"\b(?:not|never|neither|nor|no|none|cannot|doubt\w*|unlikely|if|unless|whether|might|may|could|wrong|incorrect|"
    r"false|second|other|another|alternative|previous|initial|first)\b|n['’]t\b",
    re.I,
)
_CERTAIN = re.compile(r"\b(?:no|without(?:\s+a)?)\s+doubt\b", re.I)
_TAKEN_BACK = re.compile(
    r"\W*(?:which|but\s+(?:that|this|it))\s+(?:is|would\s+be)(?:n['’]t|\s+(?:not|wrong|incorrect|false))\b",
    re.I,
)
# What follows an answer in its sentence. A text can go on after a comma, so there a clause must
# begin.
_REASON = r"(?:because|since|based|given|according|due|which)\b"
_AFTER_TEXT = re.compile(rf"\s*(?:$|[.!;](?=\s|$|[\"”’)\]])|,?\s+{_REASON}|\s[-–—]+\s|\s\()", re.I)
_AFTER_LABEL = re.compile(
    rf"\s*(?:$|[.!;:,](?=\s|$|[\"”’)\]])|\s(?:{_REASON}|(?:as|for|where|while|rather|instead|over|not|with|from|in|"
    r"so)\b)|\s[-–—]+\s|\s\()",
    re.I,
)
_QUOTED = r"[\s\"'“”‘’*_]*"
_BRACKETED = r"(?:[(\[]\w{1,2}[)\]][.:]?|(?:yes|no|true|false|[A-Z]|\d{1,2})\)?)"
_LABEL = re.compile(rf"{_QUOTED}{_BRACKETED}(?![\w%])", re.I)
_ONLY_LABEL = re.compile(rf"{_QUOTED}{_NOUN}{_BRACKETED}[.:]?{_QUOTED}", re.I)
_SMALL_LETTER = re.compile(rf"{_QUOTED}[a-z]{_QUOTED}")
_START = re.compile(
    r"(?P<label>(?:Yes|No|True|False)(?=,)|[(\[]\w{1,2}[)\]][.:]?|[A-Za-z]\)|[A-Z]:|[A-Z](?=\s[-–—]\s)|[A-Z](?=,?\s+(?:because|since)\b)"
    r"|[A-Z]\.(?=\s+(?:The|This|That|There|It|In|Because|Since|As|According|Based|He|She|They|We)\b))\s*"
    r"|(?P<text>\S.{0,200}?),?\s+(?:because|since)\b"
)
_MORE = re.compile(r"[,;/&()]|\band\b|\bor\b|[-–—]\s", re.I)
_LONGEST = 600  # characters of a statement, and of the clause before it
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")


class Place(NamedTuple):
    """A place where a text may state its answer.

    Each of `said` is what it may say, the longest first, with the parts of the sentence that
    follow: the first of `said` that is an option counts, and further options right after it are
    other answers.
    """

    way: str
    said: Sequence[tuple[str, Sequence[str]]]
    start: int  # in the text
    is_form: bool = True  # and not a line

    @property
    def is_label(self) -> bool:
        """Whether a form says a label, be it that of an option or not."""
        return self.is_form and _ONLY_LABEL.fullmatch(self.said[-1][0]) is not None


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
    r"""Return a text without the marks of Markdown and LaTeX, and with full-width letters as usual
    ones.

    Examples
    --------
    >>> plain_text(r"**The answer is $\text{(Ｂ)}$**")
    'The answer is (B)'
    """
    return _MARKUP.sub("", _LATEX.sub(r"\1", text.translate(_FULL_WIDTH)))


def find_places(text: str) -> Iterator[Place]:
    """Yield the places of final forms in a plain text, way by way.

    Examples
    --------
    >>> [place.said[-1][0] for place in find_places("The answer is B, since A is wrong.")]
    ['B']
    >>> list(find_places("I do not think that the answer is B."))
    []
    """
    for way, form in _FORMS.items():
        for match in form.finditer(text):
            if way in _CLOSED:
                said = match["said"]
                with suppress(ValueError):
                    said = str(json.loads(said)) if way.startswith("{") else said
                yield Place(way, [(said, ())], match.start())
            elif not _is_doubted(text[max(match.start() - _LONGEST, 0) : match.start() + 1]):
                rest = text[match.end() : match.end() + _LONGEST].partition("\n")[0]
                yield from _read_on(way, rest, match.start())
    for match in _IS_CORRECT.finditer(text):
        line = text[max(match.start() - _LONGEST, 0) : match.start()].rpartition("\n")[2]
        follows = _SENTENCE_END.search(text, match.end())
        if follows is not None and follows[0].startswith("?"):
            continue
        starts = [0, *(found.end() for found in _SUBJECT.finditer(line))]
        subjects = [line[start:] for start in starts if not _is_doubted(line[:start])]
        # "Wren is right" may be about somebody in the passage.
        said = [(text, ()) for text in subjects if match["noun"] or _ONLY_LABEL.fullmatch(text)]
        if said:
            yield Place("… is correct", said, match.start() - len(said[-1][0]))


def find_lines(text: str) -> Iterator[Place]:
    """Yield the lines of a plain text, and its start, if what follows is set off from it."""
    found = [match for match in re.finditer(r"[^\n]+", text) if match[0].strip()]
    starts = [match.start() for match in found]
    lines = [_BULLET.sub("", match[0]).strip() for match in found]
    yield from (
        Place("a line", [(line, ())], at, is_form=False)
        for line, at in zip(lines, starts, strict=True)
    )
    if lines and (start := _START.match(lines[0][:_LONGEST])):
        said = (
            (start["label"], _parts_after(lines[0][start.end() :]))
            if start["label"]
            else (start["text"], ())
        )
        yield Place("the start", [said], starts[0], is_form=False)


def _is_doubted(before: str) -> bool:
    """Return whether the clause that a text ends in is negated, or supposes something."""
    return _DOUBT.search(_CERTAIN.sub("", _BOUNDARY.split(before)[-1])) is not None


def _read_on(way: str, rest: str, start: int) -> Iterator[Place]:
    """Yield the place of a form whose answer begins with `rest`, the rest of its line."""
    ends = (
        {match.start() for match in _AFTER_TEXT.finditer(rest)} if way != "therefore …" else set()
    )
    if label := _LABEL.match(rest):
        follows = _AFTER_LABEL.match(rest, label.end())
        # "The answer is a dog": a small letter without brackets is a label only where its clause
        # ends.
        is_word = (
            follows is not None and follows[0][:1].isspace() and _SMALL_LETTER.fullmatch(label[0])
        )
        ends |= {label.end()} if follows is not None and not is_word else set()
    said = [(rest[:end], rest[end:]) for end in sorted(ends, reverse=True)]
    kept = [(text, _parts_after(after)) for text, after in said if not _TAKEN_BACK.match(after)]
    if kept and len(kept) == len(said) and not rest.rstrip().endswith("?"):
        yield Place(way, kept, start)


def _parts_after(rest: str) -> list[str]:
    """Return the parts of the sentence that goes on, or of the one that follows."""
    return _MORE.split(_SENTENCE_END.split(rest.lstrip(" .:;,!-–—()"))[0])
