"""How the official scorers of span datasets compare an answer with gold: the texts and units that
exact match and F1 count.

Every scorer is a declaration: steps that normalise a text, the units of the normalised text, and
how much of the units two texts share. No other module knows a rule of a scorer.
"""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from classic_rc.errors import unknown_name
from classic_rc.plugins import by_name
from classic_rc.text.squad import ARTICLE, CACHED_TEXTS, PUNCTUATION

if TYPE_CHECKING:
    from difflib import SequenceMatcher

    from classic_rc.questions import Question

DEFAULT_SCORER = "squad"
"""The scorer of questions that name none."""

Step = Callable[[str], str]
Units = Sequence[str]
"""Texts; a text itself is the sequence of its characters."""


# --------------------------------------------------------------------------------------------------
# Steps of normalising


def _join_blanks(text: str) -> str:
    return " ".join(text.split())


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _drop(characters: str) -> Step:
    table = dict.fromkeys(map(ord, characters))
    return lambda text: text.translate(table)


def _drop_ascii_punctuation(text: str) -> str:
    return text.translate(PUNCTUATION)


def _blank(pattern: str) -> Step:
    return partial(re.compile(pattern).sub, " ")


def _articles(words: str) -> Step:
    return _blank(rf"\b(?:{words.replace(' ', '|')})\b") if words else str


@cache
def _all_punctuation() -> dict[int, None]:
    marks = (i for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i))[0] == "P")
    return dict.fromkeys([*marks, *map(ord, string.punctuation)])


def _drop_all_punctuation(text: str) -> str:
    """Drop all characters of the categories P*, and ASCII's symbols."""
    return text.translate(_all_punctuation())


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


class _HtmlText(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def _html_text(text: str) -> str:
    """Return the text content of HTML."""
    return "".join(_HtmlText(text).texts) if "<" in text or "&" in text else text


# --------------------------------------------------------------------------------------------------
# Units of normalised texts

_BASIC_HAN = "\u4e00-\u9fa5"
_ALL_HAN = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002ceaf\uf900-\ufaff"
    "\U0002f800-\U0002fa1f"
)


def _words(text: str) -> Units:
    return text.split()


def _characters(text: str) -> Units:
    return text


def _characters_without_blanks(text: str) -> Units:
    return _without_blanks(text)


def _han_between(single: str, cut: Callable[[str], Iterable[str]]) -> Callable[[str], Units]:
    """Return a function that makes a unit of each character of the class `single`, and cuts the
    text between them.
    """
    only = re.compile(f"[{single}]*")
    pattern = re.compile(f"([{single}])")

    def units(text: str) -> Units:
        if only.fullmatch(text):  # most answers in Chinese
            return text
        pieces: list[str] = []
        # The pattern has a group, so every second piece is a match.
        for i, piece in enumerate(pattern.split(text)):
            if piece:
                pieces += [piece] if i % 2 else cut(piece)
        return pieces

    return units


@cache
def _nltk_tokenize() -> Callable[[str], list[str]]:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer().tokenize


# Between these, NLTK's tokenizer cuts at blanks only. To import it takes more than most runs.
_PLAIN = re.compile(r"(?:[^\W_]|\s|(?<=\d)[.,](?=\d))*", re.ASCII)
_CONTRACTIONS = re.compile("cannot|gimme|gonna|gotta|lemme|wanna")


@lru_cache(CACHED_TEXTS)
def _nltk_words(text: str) -> Sequence[str]:
    if _PLAIN.fullmatch(text) and not _CONTRACTIONS.search(text):
        return text.split()
    return _nltk_tokenize()(text)


# --------------------------------------------------------------------------------------------------
# Overlap: how many units two texts share


class _Bag:
    """The multiset of the units of a gold text."""

    def __init__(self, units: Units) -> None:
        self._counts = Counter(units)

    def shared(self, units: Units, common: Iterable[str]) -> int:
        """Return how many units both texts share; `common` has the distinct ones."""
        return sum(min(units.count(unit), self._counts[unit]) for unit in common)


class _UnitRuns:
    """The runs of units of a gold text."""

    def __init__(self, units: Units) -> None:
        # a unit of several characters gets a private one, so that a run of units is a text
        longer = dict.fromkeys(unit for unit in units if len(unit) > 1)
        self._codes = {unit: chr(_PRIVATE + i) for i, unit in enumerate(longer)}
        self._text = self._coded(units)

    @cached_property
    def _runs(self) -> Callable[[str], list[str]]:
        return re.compile(f"[{re.escape(self._text)}]+").findall

    def _coded(self, units: Units) -> str:
        if isinstance(units, str):
            return units
        codes = self._codes
        return "".join([unit if len(unit) == 1 else codes.get(unit, "\n") for unit in units])

    def shared(self, units: Units, common: Iterable[str]) -> int:
        """Return the length of the longest run that is contiguous in both."""
        longest = 0
        for run in self._runs(self._coded(units)):
            for start in range(len(run) - longest):
                while start + longest < len(run) and run[start : start + longest + 1] in self._text:
                    longest += 1
        return longest


_PRIVATE = 0xF0000  # the first of the private characters


class _JunkRun:
    """Like :class:`_UnitRuns`, but as ``difflib`` finds runs: in a text of 200 units or more, a
    unit that makes up more than 1 % cannot begin one.
    """

    def __init__(self, units: Units) -> None:
        self._units, self._run = units, _UnitRuns(units)
        self._matcher: SequenceMatcher[str] | None = None

    def shared(self, units: Units, common: Iterable[str]) -> int:
        """Return the length of the run that ``difflib`` finds."""
        if len(self._units) < _JUNK_LENGTH:
            return self._run.shared(units, common)
        if self._matcher is None:
            from difflib import SequenceMatcher

            self._matcher = SequenceMatcher(None, "", self._units)
        self._matcher.set_seq1(units)
        return self._matcher.find_longest_match().size


_JUNK_LENGTH = 200


# --------------------------------------------------------------------------------------------------
# Scorers


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """The rules of one scorer.

    Parameters
    ----------
    name : str
    about : str
        What it counts, in one line.
    steps : tuple of callable
        The steps that normalise a text, in order. Exact match compares normalised texts.
    units : callable
        Returns the units of a normalised text.
    unit : str
        What a unit is. Solvers of spans do not answer data of other units than they learned.
    overlap : type
        How many units two texts share.
    empty : bool
        Whether F1 is 1 if neither text has a unit; otherwise it is 0.
    drops_empty_golds : bool
        Whether gold texts that normalise to nothing are ignored if there are others. Without
        others, they are the empty text.
    source : str
        The script whose rules these are.
    cites : tuple of str
        The keys of the references.
    f1_label : str
        What its F1 is called.
    by_words : bool
        Whether the words of a normalised text are those of its parts between blanks, each of them
        normalised alone.
    """

    name: str
    about: str
    steps: tuple[Step, ...]
    units: Callable[[str], Units]
    source: str
    cites: tuple[str, ...] = ()
    unit: str = "words"
    overlap: type[_Bag | _UnitRuns | _JunkRun] = _Bag
    empty: bool = False
    drops_empty_golds: bool = False
    f1_label: str = "F1"
    by_words: bool = False

    @property
    def labels(self) -> dict[str, str]:
        """The names of the metrics, exact match and F1, with their labels in tables."""
        if self.name == DEFAULT_SCORER:
            return {"em": "EM", "f1": "F1"}
        return {
            f"{self.name}_em": f"EM ({self.name})",
            f"{self.name}_f1": f"{self.f1_label} ({self.name})",
        }

    def normalise(self, text: str) -> str:
        """Return the text that exact match compares."""
        return _normalise(self, text)

    def exact_match(self, golds: tuple[str, ...], answer: str) -> float:
        """Return 1 if the answer equals a gold text after normalising, else 0."""
        return float(_normalise(self, answer) in _golds(self, golds).normals)

    def f1(self, golds: tuple[str, ...], answer: str) -> float:
        """Return the best F1 of the answer's units with those of a gold text, in 0..1."""
        units, gold = _units(self, answer), _golds(self, golds)
        if not units:
            return float(self.empty and gold.has_empty)
        if gold.distinct.isdisjoint(units):  # true for most spans of a passage
            return 0.0
        best = 0.0
        for distinct, overlap, n_units in gold.texts:
            common = distinct.intersection(units)
            # `difflib` may find no run even if units are shared: KLUE's script uses it.
            if common and (shared := overlap.shared(units, common)):
                precision, recall = shared / len(units), shared / n_units
                best = max(best, 2 * precision * recall / (precision + recall))
        return best

    def cut(self, text: str) -> Units:
        """Return the units of a text after normalising."""
        return _units(self, text)

    @property
    def counts_bags(self) -> bool:
        """Whether overlap counts units in any order, rather than a common run of units."""
        return self.overlap is _Bag


class _Golds:
    """The gold texts of a question, normalised and cut into units."""

    def __init__(self, scorer: Scorer, normals: Iterable[str]) -> None:
        self.normals = frozenset(normals)
        units = [scorer.units(text) for text in self.normals]
        self.texts = [
            (frozenset(gold_units), scorer.overlap(gold_units), len(gold_units))
            for gold_units in units
            if gold_units
        ]
        self.distinct = frozenset[str]().union(*(distinct for distinct, _, _ in self.texts))
        self.has_empty = len(self.texts) < len(units)


@lru_cache(maxsize=CACHED_TEXTS)
def _normalise(scorer: Scorer, text: str) -> str:
    for step in scorer.steps:
        text = step(text)
    return text


@lru_cache(maxsize=CACHED_TEXTS)
def _units(scorer: Scorer, text: str) -> Units:
    return scorer.units(_normalise(scorer, text))


@lru_cache(maxsize=1 << 12)
def _golds(scorer: Scorer, golds: tuple[str, ...]) -> _Golds:
    normals = {_normalise(scorer, text) for text in golds}
    if scorer.drops_empty_golds and normals:
        normals = normals - {""} or {""}
    return _Golds(scorer, normals)


_SQUAD: tuple[Step, ...] = (
    str.lower,
    _drop_ascii_punctuation,
    partial(ARTICLE.sub, " "),
    _join_blanks,
)
_KORQUAD: tuple[Step, ...] = (
    _blank("['\"《》<>〈〉()‘’]"),
    str.lower,
    _drop_ascii_punctuation,
    _join_blanks,
)
_ARABIC_ARTICLE = _blank("ال")
_CMRC_MARKS = "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』"
_DUREADER_MARKS = ":_`，。：？！()“”；’《》·、,「」（）－～『』|"
_HAN_UNIT, _CHARACTER_UNIT = "Chinese characters", "characters"
_MLQA_ARTICLES = {
    "en": "a an the",
    "es": "un una unos unas el la los las",
    "de": "ein eine einen einem eines einer der die das den dem des",
    "vi": "của là cái chiếc những",
    "hi": "",
    "ar": "",
    "zh": "",
}
_mlqa_chinese = _han_between(_BASIC_HAN, str.split)


def _mlqa(language: str, articles: str) -> Scorer:
    is_chinese = language == "zh"
    without_articles = _ARABIC_ARTICLE if language == "ar" else _articles(articles)
    join = (lambda text: " ".join(_mlqa_chinese(text))) if is_chinese else _join_blanks
    units = "Chinese characters, words elsewhere" if is_chinese else f"words of {language}"
    has_articles = bool(articles or language == "ar")
    return Scorer(
        f"mlqa_{language}",
        f"{units}; without punctuation" + " and articles" * has_articles,
        (str.lower, _drop_all_punctuation, without_articles, join),
        _words,
        "facebookresearch/MLQA 24bf470b, v1",
        ("lewis2020",),
        _HAN_UNIT if is_chinese else "words",
        by_words=not is_chinese,
    )


SCORERS: Mapping[str, Scorer] = by_name(
    Scorer(
        "squad",
        "words; without ASCII punctuation, a, an, the",
        _SQUAD,
        _words,
        "SQuAD's script v1.1; XQuAD, TyDi QA GoldP, SberQuAD, SQuAD-it, ViQuAD and IndicQA use it",
        ("rajpurkar2016",),
        by_words=True,
    ),
    Scorer(
        "squad2",
        "words; without ASCII punctuation, a, an, the; an empty answer can be right",
        _SQUAD,
        _words,
        "SQuAD's script v2.0",
        ("rajpurkar2018",),
        empty=True,
        drops_empty_golds=True,
        by_words=True,
    ),
    Scorer(
        "cmrc2018",
        "longest common run of Chinese characters and NLTK words; without 32 marks",
        (str.lower, str.strip, _drop(_CMRC_MARKS)),
        _han_between(_BASIC_HAN, _nltk_words),
        "ymcui/cmrc2018 c0eb1b6b, v5 and v6; DRCD's baselines use it",
        ("cui2019",),
        _HAN_UNIT,
        _UnitRuns,
    ),
    Scorer(
        "dureader",
        "longest common run of Chinese characters and the texts between them; without 28 marks",
        (str.lower, _drop(_DUREADER_MARKS)),
        _han_between(_ALL_HAN + "=", lambda text: [text]),
        "baidu/DuReader c625076b, DuReader-robust",
        ("tang2021",),
        _HAN_UNIT,
        _UnitRuns,
    ),
    *(_mlqa(language, articles) for language, articles in _MLQA_ARTICLES.items()),
    Scorer(
        "korquad1",
        "characters without blanks; brackets and quotes are blanks, without ASCII punctuation",
        _KORQUAD,
        _characters_without_blanks,
        "korquad/korquad.github.io 61d7d668, KorQuAD 1.0",
        ("lim2019",),
        _CHARACTER_UNIT,
        by_words=True,
    ),
    Scorer(
        "korquad2",
        "characters of the text of HTML, without blanks, brackets, quotes and ASCII punctuation",
        (_html_text, *_KORQUAD, _without_blanks),
        _characters,
        "korquad/korquad.github.io 61d7d668, KorQuAD 2.0",
        ("lim2019",),
        _CHARACTER_UNIT,
    ),
    Scorer(
        "klue",
        "longest common run of characters and blanks; without ASCII punctuation",
        (str.lower, _drop_ascii_punctuation, _join_blanks),
        _characters,
        "KLUE-benchmark/KLUE-baseline 8a03c944",
        ("park2021",),
        _CHARACTER_UNIT,
        _JunkRun,
        empty=True,
        f1_label="ROUGE-W",
        by_words=True,
    ),
    Scorer(
        "jsquad",
        "characters and blanks; without 。 at the end",
        (str.lower, lambda text: text.rstrip("。"), _join_blanks),
        _characters,
        "yahoojapan/JGLUE 6f071c09, with transformers 4.9.2",
        ("kurihara2022",),
        _CHARACTER_UNIT,
        empty=True,
        drops_empty_golds=True,
    ),
    Scorer(
        "arcd",
        "words; without ASCII punctuation, a, an, the and every ال",
        (*_SQUAD[:-1], _ARABIC_ARTICLE, _join_blanks),
        _words,
        "husseinmozannar/SOQAL 1229d34a",
        ("mozannar2019",),
        by_words=True,
    ),
    Scorer(
        "persianqa",
        "characters and blanks, as they are",
        (lambda text: text.replace("\u200c", " "), str.strip),
        _characters,
        "sajjjadayobi/PersianQA ba4806eb, its own metric",
        ("rajpurkar2018",),
        _CHARACTER_UNIT,
    ),
    Scorer(
        "words",
        "words of NFKC text; without punctuation",
        (_nfkc, str.lower, _drop_all_punctuation, _join_blanks),
        _words,
        "no script: for languages with blanks whose official scorer drops English articles",
        ("classic_rc",),
        empty=True,
        by_words=True,
    ),
    Scorer(
        "chars",
        "characters of NFKC text; without punctuation and blanks",
        (_nfkc, str.lower, _drop_all_punctuation, _without_blanks),
        _characters,
        "no script: for languages without blanks whose official scorer counts words",
        ("classic_rc",),
        _CHARACTER_UNIT,
        empty=True,
    ),
)
"""Every scorer by name: the official ones, and two for languages that these do not fit."""


def scorer_of(question: Question) -> Scorer:
    """Return the primary scorer of a question."""
    return SCORERS[(question.scorers or (DEFAULT_SCORER,))[0]]


def get_scorer(name: str) -> Scorer:
    """Return the scorer of a name, or raise UsageError."""
    if name not in SCORERS:
        raise unknown_name("scorer", name, SCORERS)
    return SCORERS[name]
