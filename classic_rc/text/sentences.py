"""A sentence splitter of rules and small tables, which needs no download.

Each stop before a blank is a possible border, and the first of :data:`RULES` with an opinion decides. They are
written for English prose (news, encyclopedias, stories with dialogue) and harm no other script: full-width
stops need no blank after them, and letters without case can begin a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from classic_rc.questions import Passage


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of `text`, as character offsets (start, end), in order.

    A sentence neither begins nor ends with a blank and is never empty; between sentences stand only blanks.
    Blank lines separate; single line ends do not.

    Examples
    --------
    >>> text = 'Mr. Fox paid $3.50. "Stop!" said J. R. Lion. He ran.'
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Mr. Fox paid $3.50.', '"Stop!" said J. R. Lion.', 'He ran.']
    """
    sentences = []
    for start, end in _paragraphs(text):
        borders = [start]
        for stop in _STOP.finditer(text, start, end):
            if _is_border(_look_around(text, stop, borders[-1], end)):
                borders.append(stop.end())
        borders.append(end)
        sentences += [_strip(text, *piece) for piece in pairwise(borders)]
    return [(start, end) for start, end in sentences if start < end]


def passage_sentences(passage: Passage) -> tuple[tuple[int, int], ...]:
    """The dataset's own sentence marks where it has them, else what :func:`split_sentences` finds."""
    if passage.sentences is not None:
        return passage.sentences
    return tuple(split_sentences(passage.text))


class Stop(NamedTuple):
    """A possible border and its surroundings.

    Attributes
    ----------
    mark : str
        The stop itself: ``"."``, ``"?!"``, ``". . ."``.
    closed : bool
        Whether quotes or brackets close right after it.
    previous, before : str
        The two words before it; `before` is what the stop stands at, without opening quotes.
    after : str
        The next word, without opening quotes, dashes and bullets; an initial keeps its point.
    opens : bool
        Whether `before` is the whole sentence so far.
    """

    mark: str
    closed: bool
    previous: str
    before: str
    after: str
    opens: bool


_FULL_WIDTH = "。！？｡"
_MARKS = ".!?…؟۔।॥"
_CLOSERS = "\"'”’»)\\]}」』）】》"
_OPENERS = "\"'“‘«([{¿¡—–-•*"
_STOP = re.compile(
    # Runs of stops, also spaced, are one stop; the lookbehind keeps long runs from being searched again.
    rf"(?<![{_MARKS}])(?P<mark>[{_MARKS}](?:[ ]?[{_MARKS}](?!\w))*)(?P<closers>[{_CLOSERS}]*(?:[ ]'')?)(?=\s)"
    rf"|[{_FULL_WIDTH}]+[{_CLOSERS}]*"
)
_AFTER = re.compile(rf"[\s{re.escape(_OPENERS)}]*([^\W\d_][.]|[^\s.,;:!?\"”)\]—]*)")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LOOK_BACK = 60
"""Characters before a stop that are looked at: two words, unless one is too long to be an abbreviation."""


def _look_around(text: str, stop: re.Match[str], sentence: int, paragraph_end: int) -> Stop:
    begin = max(sentence, stop.start() - _LOOK_BACK)
    words = ["", "", *re.split(r"[\s—–/]+", text[begin : stop.start()])]
    after = _AFTER.match(text, stop.end(), paragraph_end)
    return Stop(
        mark=stop["mark"] or stop[0],
        closed=bool(stop["closers"]),
        previous=words[-2].lower(),
        before=words[-1].lstrip(_OPENERS),
        after=after[1] if after else "",
        opens=begin == sentence and not any(words[:-1]),
    )


def _paragraphs(text: str) -> list[tuple[int, int]]:
    gaps = [gap.span() for gap in _BLANK_LINE.finditer(text)]
    starts = [0, *(end for _, end in gaps)]
    ends = [*(start for start, _ in gaps), len(text)]
    return list(zip(starts, ends, strict=True))


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def word_table(words: str) -> frozenset[str]:
    """A table of words, written as one string."""
    return frozenset(words.split())


TITLES = word_table(
    "Mr Mrs Ms Mx Dr Drs Prof Rev Fr Hon Gen Maj Col Lt Sgt Capt Cpl Pvt Cmdr Cdr Adm Brig Sen Sens Rep Reps Gov"
    " Pres Supt Insp Messrs Mme Mlle Mgr Msgr mr mrs ms dr prof"
)
"""A name follows."""
INSIDE = word_table("e.g i.e cf vs Vs viz ca approx esp incl resp")
"""What they introduce follows."""
BEFORE_NUMBERS = word_table(
    "No Nos no nos p pp Vol Vols vol vols Fig Figs fig figs Ch ch chap Sec sec Art art Op op par"
)
"""Abbreviations, but words like any other where no number follows."""
MONTHS = word_table("Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec")
"""A number may follow, or a new sentence."""
AFTER_AMOUNTS = word_table("etc a.m p.m A.M P.M oz lb lbs hr hrs ft sq mph")
"""Nothing that has a capital follows in the same sentence, but days, months and time zones."""
DAYS_AND_MONTHS = word_table(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August"
    " September October November December"
)
NAME_PARTS = word_table(
    "Jr Sr Inc Ltd Co Corp Cos Bros St Mt Ft Ave Blvd Rd Hwy Sq Esq Ph.D Dept Univ Assn Calif Conn Tenn Wis Ariz"
    " Colo Okla Minn Fla Ga Ala Ark Tex Va Mich Neb Nev Kan Ky Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun al"
)
"""The rest of a name may follow, or a new sentence; only a word of STARTERS tells."""
LETTERS_OF = word_table(
    "a an the plan vitamin grade type letter class group team section part option hepatitis size"
)
"""A single letter after these is a letter, not an initial."""
STARTERS = word_table(
    "a an the this that these those he she it they we you i his her its their our my your there here what when"
    " where who whom whose which why how if in on at as by for from with after before since while during although"
    " though because until unless once then than so but and or yet nor not no yes both each some many most all one"
    " two three another other such only even also however later meanwhile finally soon now today suddenly is are"
    " was were do does did can could will would should has have had let don't didn't he's she's it's they're we're"
    " you're i'm i'll i've i'd that's there's what's"
)
"""With a capital these say that a sentence begins, because they are seldom names."""

_ENUMERATOR = re.compile(r"\d{1,2}|[A-Za-z]|[ivx]{1,4}|[IVX]{1,4}")
_ACRONYM = re.compile(r"(?:[^\W\d_][.]-?)+[^\W\d_]")


def _full_width(stop: Stop) -> bool | None:
    """``。`` has no other use than to end a sentence."""
    return True if stop.mark[0] in _FULL_WIDTH else None


def _ellipsis(stop: Stop) -> bool | None:
    """``Well... I see`` goes on, for "I" has its capital everywhere; another capital begins a sentence."""
    if stop.mark == "." or not set(stop.mark) & set(".…"):
        return None
    return not stop.after[:1].islower() and stop.after.partition("'")[0] != "I"


def _exclamation(stop: Stop) -> bool | None:
    """``"Stop!" said Lion`` goes on in lower case; a question or exclamation has no other way to."""
    return None if stop.mark == "." else not stop.after[:1].islower()


def _enumeration(stop: Stop) -> bool | None:
    """``1. Open the box``: the number belongs to what it counts."""
    return False if stop.opens and not stop.closed and _ENUMERATOR.fullmatch(stop.before) else None


def _title(stop: Stop) -> bool | None:
    """``Dr. Fox``, ``e.g. Fox``: after these something follows always."""
    return False if stop.before in TITLES or stop.before in INSIDE else None


def _number(stop: Stop) -> bool | None:
    """``No. 5`` and ``Jan. 5``, against ``He said no. Five left.``"""
    counts = stop.before in BEFORE_NUMBERS or stop.before in MONTHS
    return False if counts and stop.after[:1].isdecimal() else None


def _amount(stop: Stop) -> bool | None:
    """``at 5 p.m. Fox left`` is two sentences, ``5 p.m. Friday`` and ``5 p.m. EST`` are one."""
    if stop.before not in AFTER_AMOUNTS:
        return None
    time_zone = len(stop.after) > 1 and stop.after.isupper()
    return stop.after[:1].isupper() and stop.after not in DAYS_AND_MONTHS and not time_zone


def _initial(stop: Stop) -> bool | None:
    """``J. K. Rowling``, against ``vitamin C. Oranges`` and ``plan B. It failed``."""
    if len(stop.before) != 1 or not stop.before.isalpha():
        return None
    return stop.previous in LETTERS_OF or _starts(stop)


def _abbreviation(stop: Stop) -> bool | None:
    """``the U.S. Army``, ``Fox Inc. said`` and ``St. Ives``, against ``the U.S. They``."""
    known = stop.before in NAME_PARTS or stop.before in MONTHS or _ACRONYM.fullmatch(stop.before)
    return _starts(stop) if known else None


def _lower_case(stop: Stop) -> bool | None:
    """``"I see." she said`` goes on; ``he ran. she hid.`` is careless writing of two sentences."""
    if not stop.after[:1].islower():
        return None
    return not stop.closed and stop.before.isalpha()


RULES: tuple[Callable[[Stop], bool | None], ...] = (
    _full_width,
    _ellipsis,
    _exclamation,
    _enumeration,
    _title,
    _number,
    _amount,
    _initial,
    _abbreviation,
    _lower_case,
)
"""In order; each says whether a stop is a border, or None when it is no case for it. Without a case it is one."""


def _is_border(stop: Stop) -> bool:
    return next((verdict for rule in RULES if (verdict := rule(stop)) is not None), True)


def _starts(stop: Stop) -> bool:
    return stop.after[:1].isupper() and stop.after.lower().replace("’", "'") in STARTERS
