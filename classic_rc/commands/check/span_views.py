"""Span data as multiple choice, so that one search and one learner serve it too.

Four views of a dataset ask whether there is an answer, which sentence has it, what its length and
type are, and which characters surround it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.accepted import match_accepted
from classic_rc.commands.check.contexts import FieldSources, sources_of_fields
from classic_rc.commands.check.cues import Cue, CueKind, describe_steps, rank_suspects
from classic_rc.commands.check.families import Family, FeatureSource
from classic_rc.commands.check.feature_matrix import FeatureMatrix, flag_entries, join_features
from classic_rc.commands.check.features import least_questions, position_entries, rank_edges
from classic_rc.commands.check.header import Header, HeaderRow
from classic_rc.commands.check.measurements import Measurement, point_in_time
from classic_rc.commands.check.option_arrays import Floats, Integers, OptionTable
from classic_rc.commands.check.score_test import DRAWS, LEVELS, ScoreTest
from classic_rc.commands.check.text_features import describe_character
from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.questions import Dataset, Question
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.languages import dataset_language
from classic_rc.text.scorers import scorer_of
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.spans import SpanCandidates, SpanGenerator

MOST_QUESTIONS = 30_000
"""Larger span data is represented by about this many questions, in whole passages."""
LEAST_QUESTIONS = 20
"""A view has at least this many questions."""
MOST_SPANS = 10
"""Gold and at most nine other spans are compared."""

_LEVELS = LEVELS[0] / 4, LEVELS[1] / 4, LEVELS[2]
"""Four views share what fields leave of 5 %."""
_GOLD_FIELDS = ("spans", "is_impossible")  # what readers write of gold itself
_SENTENCE = frozenset({"options", "passage"})
_ALL = _SENTENCE | {"question"}
_ENDS = Family(FeatureSource.UNUSUAL, "{}", _SENTENCE)
_UNITS = {"char": "character", "syllable": "syllable"}
_YEAR = re.compile(r"\d{4}")


def is_answerable(question: Question) -> bool:
    """Return whether a span question has an answer."""
    return bool(question.gold) and "" not in question.gold_texts


def gold_places(question: Question) -> tuple[tuple[int, int], ...]:
    """Return where the gold spans are: by the offsets that the data states, else by a text that
    the passage has once.
    """
    passage, texts = question.passage.text, question.gold_texts
    stated = question.meta.get("spans") or ()
    places = tuple((start, end) for start, end in stated if passage[start:end] in texts)
    if places:
        return places
    once = (text for text in texts if text and passage.count(text) == 1)
    located = ((passage.index(text), len(text)) for text in once)
    return tuple((start, start + length) for start, length in located)


class ViewSearch(NamedTuple):
    """A search of a view, and its findings."""

    test: ScoreTest
    cues: tuple[Cue, ...]


@dataclass(frozen=True, eq=False)
class View:
    """A question about span data whose options all systems could choose from."""

    about: str  # what is asked
    subject: str  # with "that": what an option is; without: what has the class
    advice: str
    table: OptionTable
    features: FeatureMatrix
    rows: Mapping[str, frozenset[str]]  # of the header, and what each reads
    kind: CueKind | None = None  # of all findings; None if it depends on what they read
    hidden: Sequence[int] = ()  # features of the header only: using them is reading
    pairs: bool = True  # whether the header's learner reads pairs of words
    keeps_all: bool = True  # else a finding has to help: it favours what is right more than chance
    given: Floats | None = field(init=False)
    chance: Floats = field(init=False)

    def __post_init__(self) -> None:
        table, base_columns = self.table, None
        chance: Floats = table.n_right / table.sizes
        if table.classes:
            shares = np.bincount(table.position[table.right]) / len(table)
            is_class = table.position[:, None] == np.arange(1, len(table.classes))
            base_columns = is_class.astype(np.float64)
            chance = np.full(len(table), shares.max())
        object.__setattr__(self, "given", base_columns)
        object.__setattr__(self, "chance", chance)

    def search(
        self,
        accepted: Sequence[int] = (),
        draws: int = DRAWS,
        seed: int = 0,
        advance: Callable[[str], None] = lambda stage: None,
    ) -> ViewSearch:
        """Search for cues, without those accepted."""
        test = ScoreTest(
            self.features,
            given=self.given,
            accepted=[*accepted, *self.hidden],
            known=self.features.columns(accepted),
            levels=_LEVELS,
            draws=draws,
            seed=seed,
            advance=advance,
        )
        test.run()
        cues = []
        for cue in describe_steps(test, self.chance):
            if self.keeps_all or (cue.direction == "right" and cue.precision > cue.chance):
                kind, subject, about = self.kind or cue.kind, self.subject, self.about
                cue = replace(cue, kind=kind, subject=subject, about=about, advice=self.advice)
                cues.append(cue)
        return ViewSearch(test, tuple(cues))

    def measure(self, folds: int, group: str | None) -> Iterator[HeaderRow]:
        """Yield the rows of the header."""
        header = Header(self.features, self.chance, folds=folds, group=group, has_pairs=self.pairs)
        for name, sees in self.rows.items():
            yield header.row(name, sees)


def make_views(
    dataset: Dataset, analyzer: str, without_fields: Iterable[str] = (), seed: int = 0
) -> Iterator[View | str]:
    """Yield the views of span data whose gold is known; a text says why one is missing."""
    bare = []
    for q in dataset:
        meta = {key: value for key, value in q.meta.items() if key not in _GOLD_FIELDS}
        bare.append(replace(q, meta=meta))
    plain = Dataset(bare, dataset.name)
    answerable = np.array([is_answerable(q) for q in dataset], dtype=bool)
    if not answerable.any():
        yield "no cues: no question has an answer"
        return
    if not answerable.all():
        yield _ask_answerable(plain, analyzer, answerable, without_fields)
    places = [gold_places(q) if has else () for q, has in zip(dataset, answerable, strict=True)]
    makers: dict[str, Callable[[], View | None]] = {
        "which sentence": lambda: _ask_sentence(plain, analyzer, places),
        "which span": lambda: _ask_span(plain, analyzer, places, seed),
        "which length and type": lambda: _ask_type(plain, analyzer, answerable),
    }
    for about, make in makers.items():
        yield make() or f"{about}: not asked, fewer than {LEAST_QUESTIONS} questions tell"


def _class_table(
    dataset: Dataset, analyzer: str, rows: Integers, places: Sequence[str], right: Integers
) -> OptionTable:
    """Return a table whose questions all have the same options."""
    size = len(places)
    is_right = (right[:, None] == np.arange(size)).reshape(-1)
    offsets = np.arange(len(rows) + 1) * size
    texts = [*places] * len(rows)
    return OptionTable(dataset, analyzer, rows, texts, offsets, is_right, classes=places)


def _ask_answerable(
    dataset: Dataset, analyzer: str, answerable: NDArray[np.bool_], without_fields: Iterable[str]
) -> View:
    places = ("answerable", "unanswerable")
    rows = np.arange(len(dataset))
    table = _class_table(dataset, analyzer, rows, places, (~answerable).astype(np.int64))
    return View(
        "answerable",
        "the question",
        "write questions with and without an answer in the same way; remove fields that tell them "
        "apart",
        table,
        _position_features(table, sources_of_fields(table, without_fields)),
        {"question: is there an answer": frozenset({"options", "question"})},
    )


def _position_features(table: OptionTable, fields: FieldSources) -> FeatureMatrix:
    min_questions = least_questions(table)
    entries = position_entries(table, fields, min_questions)
    return join_features(table, entries, min_questions)


def _ask_type(dataset: Dataset, analyzer: str, answerable: NDArray[np.bool_]) -> View | None:
    rows = np.flatnonzero(answerable)
    texts = [dataset[i].gold_texts[0] for i in rows.tolist()]
    words = get_analyzer(analyzer).analyze
    lengths = np.array([max(len(words(text)), 1) for text in texts])
    cuts = np.unique(np.quantile(lengths, [1 / 3, 2 / 3], method="lower"))
    unit = _UNITS.get(analyzer, "word")
    names = _length_names(cuts.tolist(), unit)
    length_classes = np.searchsorted(cuts, lengths).tolist()
    labels = [
        f"{_type_of(text)} of {names[length_class]}"
        for text, length_class in zip(texts, length_classes, strict=True)
    ]
    places, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    frequent = np.flatnonzero(counts >= LEAST_QUESTIONS)
    is_kept = np.isin(codes, frequent)
    if len(frequent) < 2:
        return None
    right = np.searchsorted(frequent, codes[is_kept])
    table = _class_table(dataset, analyzer, rows[is_kept], places[frequent].tolist(), right)
    return View(
        "length and type",
        "the answer",
        "this is no fault if the question has to say it; else ask for other answers with these "
        "words too",
        table,
        _position_features(table, FieldSources()),
        {"question: which length and type": frozenset({"options", "question"})},
        kind=CueKind.ANSWER_TYPE,
        keeps_all=False,
    )


def _length_names(cuts: Sequence[int], unit: str) -> list[str]:
    """Name the ranges of lengths that end at each cut, and the range after the last."""
    names, first = [], 1
    for cut in cuts:
        span = f"{first}" if cut == first else f"{first} to {cut}"
        names.append(f"{span} {unit}{'s' if cut > 1 else ''}")
        first = cut + 1
    return [*names, f"at least {first} {unit}s"]


def _type_of(text: str) -> str:
    if np.isfinite(point_in_time(text)) or _YEAR.fullmatch(text.strip()):
        return "a date"
    if any(map(str.isdigit, text)):
        return "a number"
    return "a name" if text[:1].isupper() else "a phrase"


_Places = Sequence[tuple[tuple[int, int], ...]]


class _Choices:
    """Questions with options of their own, one after the other."""

    def __init__(self) -> None:
        self._rows, self._counts = list[int](), list[int]()
        self._texts, self._right = list[str](), list[bool]()

    def add(self, row: int, texts: Sequence[str], is_right: Iterable[bool]) -> None:
        """Add the options of the question in a row of the dataset."""
        self._rows.append(row)
        self._counts.append(len(texts))
        self._texts += texts
        self._right += is_right

    def table(self, dataset: Dataset, analyzer: str, **settings: Any) -> OptionTable | None:
        """Return the table of the questions; None if they are too few."""
        if len(self._rows) < LEAST_QUESTIONS:
            return None
        rows, right = np.array(self._rows), np.array(self._right)
        offsets = offsets_of(self._counts)
        return OptionTable(dataset, analyzer, rows, self._texts, offsets, right, **settings)


def _ask_sentence(dataset: Dataset, analyzer: str, places: _Places) -> View | None:
    choices = _Choices()
    sentences: dict[int, tuple[Integers, list[str]]] = {}
    for i, question in enumerate(dataset):
        passage = question.passage
        if not places[i]:
            continue
        if id(passage) not in sentences:
            borders = passage_sentences(passage)
            starts = np.array([start for start, _ in borders], dtype=np.int64)
            options = [passage.text[start:end] for start, end in borders]
            sentences[id(passage)] = starts, options
        starts, options = sentences[id(passage)]
        gold_starts = [start for start, _ in places[i]]
        gold_sentences = np.searchsorted(starts, gold_starts, side="right") - 1
        is_right = np.isin(np.arange(len(options)), gold_sentences)
        if 0 < is_right.sum() < len(options):
            choices.add(i, options, is_right.tolist())
    nouns = ("in the first sentence", "in sentence {}", "in the last sentence")
    table = choices.table(dataset, analyzer, nouns=nouns)
    if table is None:
        return None
    min_questions = least_questions(table)
    longest, fewest = (
        f"is in the sentence with the {which} characters" for which in ("most", "fewest")
    )
    lengths = Measurement(f"{longest}|{fewest}", table.of_texts(len), ("options", "passage"))
    shared = table.count_shared([q.query for q in table.questions], np.arange(len(table)))
    reading = Measurement("words of the question", shared, tuple(sorted(_ALL)))
    edges = flag_entries(table, [*rank_edges(table, lengths)])
    sources = (*position_entries(table, FieldSources(), min_questions), edges)
    ranks = [table.rank(reading.values).astype(np.float32)]
    opposites = {m.most: m.least for m in (lengths, reading)}
    features = join_features(table, sources, min_questions, [reading], ranks, opposites)
    hidden = [j for j, family in enumerate(features.families) if family.sees == _ALL]
    return View(
        "sentence",
        "the answer that",
        "ask about all parts of the passages",
        table,
        features,
        {
            "position: which sentence": frozenset({"options"}),
            "question and sentences: which sentence": _ALL,
        },
        hidden=hidden,
        kind=CueKind.SHORTCUT,
        pairs=False,
    )


# What touches the ends of a span

_MARKS = frozenset(".,;:!?…·•、。，；：！？-‐‑–—−/&%$€£¥°،؛؟।")
"""Marks that end phrases or are parts of words. Spans are only compared with others that touch as
many of them, because right answers are more often whole phrases.
"""
_QUOTES = frozenset('"“”„‟«»‹›「」『』《》〈〉‘‚‛`´＂')
_APOSTROPHES = frozenset("'’")
_LETTER, _MARK, _BLANK, _QUOTE, _BRACKET, _OTHER = range(6)
_NAMES = {_BLANK: ("a blank", "blanks"), _QUOTE: ("a quote", "quotes")}
_NAMES |= {_BRACKET: ("a bracket", "brackets")}
_AROUND = 24  # characters before and after a span in an example


@lru_cache(maxsize=1 << 12)
def _touch(character: str) -> int:
    """Return what a character next to a span is."""
    if character.isspace():
        return _BLANK
    if character in _MARKS:
        return _MARK
    if character in _QUOTES or character in _APOSTROPHES:
        return _QUOTE
    category = unicodedata.category(character)
    if category in ("Ps", "Pe"):
        return _BRACKET
    return _LETTER if category[0] in "LMN" else _OTHER


def _touches(text: str) -> NDArray[np.int64]:
    """Return what each character is, with a letter before the first and after the last one."""
    kinds = np.array([_LETTER, *map(_touch, text), _LETTER], dtype=np.int64)
    for i, character in enumerate(text, 1):
        # within a word, or before a short "s"
        if character in _APOSTROPHES and kinds[i - 1] == kinds[i + 1] == _LETTER:
            kinds[i] = _MARK
    return kinds


class _Spans(NamedTuple):
    """The candidate spans of a passage."""

    candidates: SpanCandidates
    ends: NDArray[np.int64]  # (n_spans, 2): what touches each end
    alike: NDArray[np.int64]  # (n_spans,): equal for spans that are compared with each other

    @classmethod
    def of(cls, text: str, candidates: SpanCandidates) -> _Spans:
        """Return spans with what touches their ends, and their length and type."""
        starts, stops = candidates.starts, candidates.ends
        kinds = _touches(text)
        ends = np.stack([kinds[starts], kinds[stops + 1]], axis=1)
        digits = np.cumsum([0, *map(str.isdigit, text)])
        capital = np.array([*map(str.isupper, text), False])
        has_digit = digits[stops] > digits[starts]
        type_ = np.where(has_digit, 2, capital[starts])
        length = candidates.last_tokens - candidates.first_tokens
        marks = (ends == _MARK) @ (1, 2)
        return cls(candidates, ends, (length.astype(np.int64) * 3 + type_) * 4 + marks)

    def find(self, start: int, end: int, text: str, normalise: Callable[[str], str]) -> int:
        """Return the longest candidate inside a place whose normalised text is that of the place;
        -1 if there is none.
        """
        starts, ends = self.candidates.starts, self.candidates.ends
        inside = np.flatnonzero((starts >= start) & (ends <= end))
        normalised = normalise(text[start:end])
        for i in inside[np.argsort(starts[inside] - ends[inside], kind="stable")].tolist():
            if normalise(text[starts[i] : ends[i]]) == normalised:
                return int(i)
        return -1


def _ask_span(dataset: Dataset, analyzer: str, places: _Places, seed: int) -> View | None:
    generate = SpanGenerator.of_language(dataset_language(dataset))
    passage_spans: dict[int, _Spans] = {}
    choices = _Choices()
    sides: list[tuple[str, str, int, int]] = []
    keys = text_keys(q.id for q in dataset)
    for i, question in enumerate(dataset):
        text = question.passage.text
        if not places[i]:
            continue
        if id(question.passage) not in passage_spans:
            passage_spans = {id(question.passage): _Spans.of(text, generate(question.passage))}
        spans = passage_spans[id(question.passage)]
        gold = spans.find(*places[i][0], text, scorer_of(question).normalise)
        if gold < 0:
            continue
        key = keys[i : i + 1]
        spans_compared = _choose_others(spans, gold, text, places[i], key, seed)
        if len(spans_compared) < 2:
            continue
        texts: list[str] = []
        starts, ends = spans.candidates.starts, spans.candidates.ends
        for j in spans_compared.tolist():
            start, end = int(starts[j]), int(ends[j])
            before = text[max(start - _AROUND, 0) : start]
            after = text[end : end + _AROUND]
            texts.append(f"{before}[[{text[start:end]}]]{after}")
            left_kind, right_kind = spans.ends[j].tolist()
            sides.append((before[-1:], after[:1], left_kind, right_kind))
        choices.add(i, texts, (spans_compared == gold).tolist())
    table = choices.table(dataset, analyzer)
    if table is None:
        return None
    min_questions = least_questions(table)
    flags: dict[str, list[int]] = {}
    for i, side in enumerate(sides):
        for name in _end_names(*side):
            flags.setdefault(name, []).append(i)
    ends_of_spans = [(_ENDS, name, np.array(having)) for name, having in flags.items()]
    features = join_features(table, [flag_entries(table, ends_of_spans)], min_questions)
    return View(
        "span",
        "the answer that",
        "remove from the passages what marks the right spans, or mark others as often",
        table,
        features,
        {f"ends: which of up to {MOST_SPANS} spans": _SENTENCE},
        kind=CueKind.SHORTCUT,
        keeps_all=False,
    )


def _choose_others(
    spans: _Spans,
    gold: int,
    text: str,
    places: tuple[tuple[int, int], ...],
    key: NDArray[Any],
    seed: int,
) -> Integers:
    """Return gold and other spans of the passage, of its length and type, that have another text
    and share nothing with a gold span.
    """
    starts, ends = spans.candidates.starts, spans.candidates.ends
    alike = np.flatnonzero(spans.alike == spans.alike[gold])
    free = np.ones(len(alike), dtype=bool)
    for start, end in places:
        free &= (ends[alike] <= start) | (starts[alike] >= end)
    gold_text = text[starts[gold] : ends[gold]]
    others = [j for j in alike[free].tolist() if text[starts[j] : ends[j]] != gold_text]
    draws = uniform_draws(key, np.array([len(others)]), seed)
    order = np.argsort(draws, kind="stable")[: MOST_SPANS - 1]
    return np.sort(np.append(np.array(others, dtype=np.int64)[order], gold))


def _end_names(before: str, after: str, left_kind: int, right_kind: int) -> Iterator[str]:
    """Yield the names of what touches both ends, then each end."""
    if left_kind == right_kind and left_kind in _NAMES:
        yield f"stands between {_NAMES[left_kind][1]}"
    for character, kind, where in ((before, left_kind, "after"), (after, right_kind, "before")):
        if kind in _NAMES:
            yield f"stands {where} {_NAMES[kind][0]}"
        elif kind == _OTHER:
            yield f"stands {where} {describe_character(character)}"


def find_span_cues(
    dataset: Dataset,
    analyzer: str,
    learners: tuple[int, str | None] | None,
    names: tuple[Mapping[str, str], Iterable[str]],
    draws: int,
    seed: int,
    advance: Callable[[str], None],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cues and the header of span data part by part, each with the name of the finished
    part.
    """
    reasons, without_fields = names
    views: list[View] = []
    notes: list[str] = []
    advance("features")
    for view in make_views(dataset, analyzer, without_fields, seed):
        if isinstance(view, View):
            views.append(view)
        else:
            notes.append(view)
    yield "", {"notes": tuple(notes)}
    if not views:
        return
    cues: list[tuple[CueKind, float, Cue]] = []
    suspects: dict[str, float] = {}
    leaking: set[str] = set()
    unknown: dict[str, list[str]] = {name: [] for name in reasons}
    n_features = 0
    for view in views:
        bare = {name.removeprefix(f"{view.subject} "): name for name in reasons}
        accepted, missing = match_accepted(view.features, dict.fromkeys(bare, ""))
        known_names = {bare[name] for name in bare if name not in missing}
        for name in [*unknown]:
            if name in known_names:
                del unknown[name]
            else:
                unknown[name] += missing.get(name, ())
        test, described = view.search(accepted, draws, seed, advance)
        n_features += len(view.features) - len(view.hidden)
        gain = max((cue.accuracy - cue.chance for cue in described), default=0.0)
        cues += [(cue.kind, gain, cue) for cue in described]
        leaking |= set(test.leaking_fields)
        if view.kind is not CueKind.ANSWER_TYPE:
            for id_, p in rank_suspects(view.table, test):
                suspects[id_] = max(p, suspects.get(id_, 0.0))
    kinds = list(CueKind)
    cues.sort(key=lambda entry: (kinds.index(entry[0]), -round(entry[1], 9)))
    suspected = sorted(suspects.items(), key=lambda suspect: -round(suspect[1], 9))
    accepted_names = {name: why for name, why in reasons.items() if name not in unknown}
    contents = {
        "n_features": n_features,
        "cues": tuple(cue for _, _, cue in cues),
        "suspects": tuple(suspected),
        "accepted": accepted_names,
        "unknown": unknown,
        "leaking_fields": tuple(sorted(leaking)),
    }
    yield "cues", contents
    advance("header")
    if learners is not None:
        rows: list[HeaderRow] = []
        try:
            for view in views:
                rows += view.measure(*learners)
        except UsageError as error:
            if learners[1] is not None and error.field != "questions":
                raise
            notes.append(f"no header: {error}")
        yield "header", {"header": tuple(rows), "notes": tuple(notes)}
