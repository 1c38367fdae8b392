"""A rule-based sentence splitter, which needs no download.

Each full stop, question mark or exclamation mark before a blank is a possible border. The first of
:data:`RULES` that applies decides. The rules are written for English prose (news, encyclopedias,
stories with dialogue) and do no harm in other scripts: letters without case can begin a sentence,
and the marks of other scripts are known too (:data:`SENTENCE_MARKS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from classic_rc.questions import Passage


def split_sentences(text: str, *, at_blanks: bool = True) -> list[tuple[int, int]]:
    """Split `text` into sentences: character offsets (start, end), in order.

    With `at_blanks`, a blank between two letters of Thai or Lao ends one. A sentence neither begins
    nor ends with a blank and is never empty; only blanks are between sentences. Blank lines
    separate sentences; single line ends do not.

    Examples
    --------
    >>> text = 'Mr. Fox paid $3.50. "Stop!" said J. R. Lion. He ran.'
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Mr. Fox paid $3.50.', '"Stop!" said J. R. Lion.', 'He ran.']
    """
    sentences = []
    for start, end in _split_paragraphs(text):
        borders = [start]
        for stop in STOP.finditer(text, start, end):
            if not stop[0] and not at_blanks:
                continue
            if is_border(text, stop, borders[-1], end):
                borders.append(stop.end())
        borders.append(end)
        sentences += [_strip(text, *piece) for piece in pairwise(borders)]
    return [(start, end) for start, end in sentences if start < end]


def passage_sentences(passage: Passage) -> tuple[tuple[int, int], ...]:
    """Return the dataset's own sentence borders, or if it has none the result of
    :func:`split_sentences`.
    """
    if passage.sentences is not None:
        return passage.sentences
    return tuple(split_sentences(passage.text))


def is_border(text: str, stop: re.Match[str], sentence: int, paragraph_end: int) -> bool:
    """Return whether a match of :data:`STOP` ends the sentence that starts at `sentence`."""
    context = _look_around(text, stop, sentence, paragraph_end)
    return next((verdict for rule in RULES if (verdict := rule(context)) is not None), True)


class StopContext(NamedTuple):
    """A possible border and its context."""

    mark: str  # the mark itself: ".", "?!", ". . ."
    closed: bool  # whether closing quotes or brackets follow it directly
    previous: str  # the word before `before`, lower-cased
    before: str  # the word that the mark is attached to, without opening quotes
    # the next word, without opening quotes, dashes and bullets; an initial keeps its point; ""
    # after full-width marks
    after: str
    opens: bool  # whether `before` is the whole sentence so far


SENTENCE_MARKS = {
    "Chinese and Japanese": "。！？｡",
    "Tibetan, Myanmar and Khmer": "།။។៕",
    "Arabic, Persian and Urdu": "؟۔",
    "Hindi and its neighbours": "।॥",
    "Ethiopic": "።፧",
    "Armenian": "։",
}
"""The marks that end a sentence, in addition to ``.``, ``!``, ``?`` and ``…``, by language.

A mark of the first two groups always ends a sentence, any other mark only before a blank. Thai and
Lao have no mark: a sentence ends at a blank between two of their letters.
"""

_CHINESE_MARKS, _UNSPACED_MARKS, *_OTHER_MARKS = SENTENCE_MARKS.values()
FULL_WIDTH_MARKS = _CHINESE_MARKS + _UNSPACED_MARKS
SPACED_MARKS = ".!?…" + "".join(_OTHER_MARKS)
CLOSERS = "\"'”’»)\\]}」』）】》"
UNMARKED_LETTERS = "\u0e01-\u0e4e\u0e81-\u0ece"
OPENERS = "\"'“‘«([{¿¡—–-•*"
STOP = re.compile(
    # A run of marks, spaced or not, is one stop. Without the lookbehind, a long run that is no stop
    # would be searched again from each of its marks, in quadratic time.
    rf"(?<![{SPACED_MARKS}])(?P<mark>[{SPACED_MARKS}](?:[ ]?[{SPACED_MARKS}](?!\w))*)"
    rf"(?P<closers>[{CLOSERS}]*(?:[ ]'')?)(?=\s)"
    rf"|[{FULL_WIDTH_MARKS}]+[{CLOSERS}]*"
    rf"|(?<=[{UNMARKED_LETTERS}])(?=[ ]+[{UNMARKED_LETTERS}])"
)
_AFTER = re.compile(rf"[\s{re.escape(OPENERS)}]*([^\W\d_][.]|[^\s.,;:!?\"”)\]—]*)")
BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LOOK_BACK = 60
"""Characters to look back from a stop: enough for two words, unless one is too long for an
abbreviation.
"""


def _look_around(text: str, stop: re.Match[str], sentence: int, paragraph_end: int) -> StopContext:
    begin = max(sentence, stop.start() - _LOOK_BACK)
    words = ["", "", *re.split(r"[\s—–/]+", text[begin : stop.start()])]
    # A full-width stop is a border whatever follows. Without blanks, "the next word" may be the
    # rest of the text, which would be read again at each stop.
    after = _AFTER.match(text, stop.end(), paragraph_end) if stop["mark"] else None
    return StopContext(
        mark=stop["mark"] or stop[0],  # "" at a blank of Thai
        closed=bool(stop["closers"]),
        previous=words[-2].lower(),
        before=words[-1].lstrip(OPENERS),
        after=after[1] if after else "",
        opens=not any(words[:-1]) and not text[sentence:begin].strip(),
    )


def _split_paragraphs(text: str) -> list[tuple[int, int]]:
    gaps = [gap.span() for gap in BLANK_LINE.finditer(text)]
    starts = [0, *(end for _, end in gaps)]
    ends = [*(start for start, _ in gaps), len(text)]
    return list(zip(starts, ends, strict=True))


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return end - len(piece.lstrip()), start + len(piece.rstrip())


def word_table(words: str) -> frozenset[str]:
    """Return the set of words that a string lists."""
    return frozenset(words.split())


TITLES = word_table(
    "Mr Mrs Ms Mx Dr Drs Prof Rev Fr Hon Gen Maj Col Lt Sgt Capt Cpl Pvt Cmdr Cdr Adm Brig Sen "
    "Sens Rep Reps Gov Pres Supt Insp Messrs Mme Mlle Mgr Msgr mr mrs ms dr prof"
)
"""Titles: a name follows."""
INSIDE = word_table("e.g i.e cf vs Vs viz ca approx esp incl resp")
"""Abbreviations that introduce something, so the sentence goes on."""
BEFORE_NUMBERS = word_table(
    "No Nos no nos p pp Vol Vols vol vols Fig Figs fig figs Ch ch chap Sec sec Art art Op op par"
)
"""Abbreviations before a number; without a number, ordinary words that may end a sentence."""
MONTHS = word_table("Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec")
"""Months: a number or a new sentence may follow."""
AFTER_AMOUNTS = word_table("etc a.m p.m A.M P.M oz lb lbs hr hrs ft sq mph")
"""Units: a capital after one begins a sentence, except for days, months and time zones."""
DAYS_AND_MONTHS = word_table(
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May "
    "June July August September October November December"
)
NAME_PARTS = word_table(
    "Jr Sr Inc Ltd Co Corp Cos Bros St Mt Ft Ave Blvd Rd Hwy Sq Esq Ph.D Dept Univ Assn Calif Conn "
    "Tenn Wis Ariz Colo Okla Minn Fla Ga Ala Ark Tex Va Mich Neb Nev Kan Ky Mon Tue Tues Wed Thu "
    "Thur Thurs Fri Sat Sun al"
)
"""Parts of names: the rest of the name or a new sentence may follow; only a word of STARTERS
decides.
"""
LETTERS_OF = word_table(
    "a an the plan vitamin grade type letter class group team section part option hepatitis size"
)
"""After these words a single letter is a letter, not an initial."""
STARTERS = word_table(
    "a an the this that these those he she it they we you i his her its their our my your there "
    "here what when where who whom whose which why how if in on at as by for from with after "
    "before since while during although though because until unless once then than so but and or "
    "yet nor not no yes both each some many most all one two three another other such only even "
    "also however later meanwhile finally soon now today suddenly is are was were do does did can "
    "could will would should has have had let don't didn't he's she's it's they're we're you're "
    "i'm i'll i've i'd that's there's what's"
)
"""Words that begin a sentence if they have a capital, because they are seldom names."""

WORD_TABLES = (TITLES, INSIDE, BEFORE_NUMBERS, MONTHS, AFTER_AMOUNTS, NAME_PARTS)
"""The words that a rule looks for before a stop."""

_ENUMERATOR = re.compile(r"\d{1,2}|[A-Za-z]|[ivx]{1,4}|[IVX]{1,4}")
_ACRONYM = re.compile(r"(?:[^\W\d_][.]-?)+[^\W\d_]")


def _full_width(stop: StopContext) -> bool | None:
    """``。`` is only used to end a sentence, and so is a blank of Thai."""
    return True if stop.mark[:1] in FULL_WIDTH_MARKS else None


def _ellipsis(stop: StopContext) -> bool | None:
    """``Well... I see`` goes on, because "I" always has a capital; another capital begins a
    sentence.
    """
    if stop.mark == "." or not set(stop.mark) & set(".…"):
        return None
    return not stop.after[:1].islower() and stop.after.partition("'")[0] != "I"


def _exclamation(stop: StopContext) -> bool | None:
    """``"Stop!" said Lion``: only lower case shows that a question or exclamation goes on."""
    return None if stop.mark == "." else not stop.after[:1].islower()


def _enumeration(stop: StopContext) -> bool | None:
    """``1. Open the box``: the number belongs to its item."""
    return False if stop.opens and not stop.closed and _ENUMERATOR.fullmatch(stop.before) else None


def _title(stop: StopContext) -> bool | None:
    """``Dr. Fox``, ``e.g. Fox``: the sentence always goes on."""
    return False if stop.before in TITLES or stop.before in INSIDE else None


def _number(stop: StopContext) -> bool | None:
    """``No. 5`` and ``Jan. 5``, against ``He said no. Five left.``"""
    counts = stop.before in BEFORE_NUMBERS or stop.before in MONTHS
    return False if counts and stop.after[:1].isdecimal() else None


def _amount(stop: StopContext) -> bool | None:
    """``at 5 p.m. Fox left`` is two sentences, ``5 p.m. Friday`` and ``5 p.m. EST`` are one."""
    if stop.before not in AFTER_AMOUNTS:
        return None
    time_zone = len(stop.after) > 1 and stop.after.isupper()
    return stop.after[:1].isupper() and stop.after not in DAYS_AND_MONTHS and not time_zone


def _initial(stop: StopContext) -> bool | None:
    """``J. K. Rowling``, against ``vitamin C. Oranges`` and ``plan B. It failed``."""
    if len(stop.before) != 1 or not stop.before.isalpha():
        return None
    return stop.previous in LETTERS_OF or _begins_with_starter(stop)


def _abbreviation(stop: StopContext) -> bool | None:
    """``the U.S. Army``, ``Fox Inc. said`` and ``St. Ives``, against ``the U.S. They``."""
    is_abbreviation = (
        stop.before in NAME_PARTS or stop.before in MONTHS or _ACRONYM.fullmatch(stop.before)
    )
    return _begins_with_starter(stop) if is_abbreviation else None


def _lower_case(stop: StopContext) -> bool | None:
    """``"I see." she said`` goes on; ``he ran. she hid.`` is two sentences with careless case."""
    if not stop.after[:1].islower():
        return None
    return not stop.closed and stop.before.isalpha()


RULES: tuple[Callable[[StopContext], bool | None], ...] = (
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
"""In this order. Each rule returns whether a stop is a border, or None if it does not apply.

A stop to which no rule applies is a border.
"""


def _begins_with_starter(stop: StopContext) -> bool:
    return stop.after[:1].isupper() and stop.after.lower().replace("’", "'") in STARTERS
