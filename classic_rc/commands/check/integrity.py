"""Defects of a dataset: what reading left out, damaged texts, contradictory gold; and all its
duplicates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from html.entities import html5
from itertools import chain
from math import prod
from unicodedata import is_normalized

from classic_rc.commands.check.duplicates import (
    DUPLICATE_KINDS,
    find_duplicates,
)
from classic_rc.commands.check.kinds import EXAMPLES, DefectKind, Finding, Severity
from classic_rc.commands.check.span_defects import find_span_defects
from classic_rc.datasets.registry import TrainingData, as_dataset
from classic_rc.equality import folded_text, normalised_text, option_forms
from classic_rc.errors import DataError
from classic_rc.questions import (
    Dataset,
    Question,
    ReadingLog,
    Task,
    candidate_texts,
)
from classic_rc.text.scorers import scorer_of
from classic_rc.text.squad import normalise_squad_answer

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

_OWN_KINDS = (
    DefectKind(
        "no-right-option", _E, "single choice without a right option", "no answer can score"
    ),
    DefectKind(
        "option-both",
        _E,
        "questions with an option both right and wrong",
        "gold contradicts itself",
    ),
    DefectKind(
        "one-answer",
        _E,
        "questions that one answer, everywhere the same, solves",
        "no reading is needed",
    ),
    DefectKind(
        "shifted-cells",
        _E,
        "questions whose last option looks like gold",
        "cells are in the wrong columns",
    ),
    DefectKind(
        "gold-not-candidate",
        _W,
        "questions whose gold is not a candidate",
        "no candidate can score",
    ),
    DefectKind(
        "gold-not-in-passage",
        _W,
        "questions whose gold is not in the passage",
        "no span gets full credit",
    ),
    DefectKind(
        "gold-empty",
        _W,
        "questions with a gold text that its scorer normalises to nothing",
        "it has no unit to share",
    ),
    DefectKind(
        "gold-in-word",
        _W,
        "questions whose gold span begins or ends inside a word",
        "it is a part of a word, or its offsets are wrong",
    ),
    DefectKind(
        "mojibake",
        _W,
        "questions with wrongly decoded text (é as Ã©)",
        "damaged words match nothing",
    ),
    DefectKind(
        "lost-character",
        _W,
        "questions with lost characters (U+FFFD)",
        "damaged words match nothing",
    ),
    DefectKind(
        "control-character", _W, "questions with control characters", "they split or join words"
    ),
    DefectKind(
        "html-entity",
        _W,
        "questions with HTML entities (such as amp)",
        "they become words of their own",
    ),
    DefectKind("empty-passage", _W, "questions about an empty passage", "nothing to comprehend"),
    DefectKind("empty-question", _W, "empty questions", "nothing to answer"),
    DefectKind(
        "empty-option", _W, "questions with an empty option", "recognisable without reading"
    ),
    DefectKind(
        "equal-options", _W, "questions with equal options", "fewer choices than there seem to be"
    ),
    DefectKind(
        "one-option", _W, "questions with fewer than two options", "nothing to choose between"
    ),
    DefectKind(
        "gold-not-nfc",
        _N,
        "questions with a gold text that is not in Unicode's form NFC",
        "scorers tell equal letters apart",
    ),
    DefectKind(
        "gold-no-candidate",
        _N,
        "questions whose gold is no candidate span of solvers",
        "no span solver of this package answers them in full",
    ),
    DefectKind(
        "gold-several-times",
        _N,
        "questions whose gold is at several places of the passage, without an offset",
        "which place answers is unknown",
    ),
    DefectKind(
        "gold-hidden", _N, "questions whose gold is hidden", "left out of checks that need gold"
    ),
    DefectKind(
        "none-right", _N, "multiple answers, none of them right", "recall is 1 by convention"
    ),
    DefectKind("all-right", _N, "questions whose options are all right", "no wrong choice to make"),
    DefectKind("several-right", _N, "single choice, several right options", "chance is above 1/k"),
)

KINDS: Mapping[str, DefectKind] = {
    kind.name: kind
    for kind in sorted(
        (*_OWN_KINDS, *DUPLICATE_KINDS), key=lambda kind: list(Severity).index(kind.severity)
    )
}
"""All kinds of defects by name, the most severe first: those of this module and the duplicates
(:mod:`classic_rc.commands.check.duplicates`)."""


def find_defects(dataset: Dataset, train: TrainingData | None = None) -> tuple[Finding, ...]:
    """Look for every kind of defect in :data:`KINDS`.

    Parameters
    ----------
    dataset : Dataset
        Gold may be hidden.
    train : Dataset or sequence of Dataset, optional
        Training data, which must not contain the dataset's passages and questions.

    Returns
    -------
    tuple of Finding
        One per problem of what reading left out or repaired, if the dataset has a `log`; then one
        per kind that was found, in the order of :data:`KINDS`.
    """
    return in_order((*find_own_defects(dataset), *find_copies(dataset, train)))


def find_own_defects(dataset: Dataset) -> tuple[Finding, ...]:
    """Look for what :func:`find_defects` finds without comparing texts with each other, which
    takes longest.
    """
    defects = chain(
        _find_in_questions(dataset), find_text_defects(dataset), find_span_defects(dataset)
    )
    findings = _with_places_of(dataset, _count(defects, len(dataset)))
    return findings if dataset.log is None else (*find_reading_defects(dataset.log), *findings)


def find_copies(dataset: Dataset, train: TrainingData | None = None) -> tuple[Finding, ...]:
    """Look for the rest of what :func:`find_defects` finds: duplicates."""
    return _with_places_of(dataset, find_duplicates(dataset, as_dataset(train)))


def _count(defects: _Defects, n_questions: int) -> Iterator[Finding]:
    ids: dict[str, list[str]] = {}
    for kind, id_ in defects:
        ids.setdefault(kind, []).append(id_)
    for name, of_kind in ids.items():
        n = len(of_kind)
        detail = f", {100 * n / n_questions:.1f} %" if name == "gold-no-candidate" else ""
        yield Finding(KINDS[name], n, tuple(of_kind[:EXAMPLES]), detail=detail)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of :data:`KINDS`, those of reading first."""
    place = {name: i for i, name in enumerate(KINDS)}
    return tuple(sorted(findings, key=lambda finding: place.get(finding.kind.name, -1)))


def _with_places_of(dataset: Dataset, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    log = dataset.log
    return in_order(
        findings if log is None else (_with_places(finding, dataset, log) for finding in findings)
    )


def find_reading_defects(log: ReadingLog) -> tuple[Finding, ...]:
    """Return one finding for each problem of what reading left out (an error) or repaired (a
    warning).
    """
    findings: list[Finding] = []
    for errors, name, severity, what, why in (
        (log.left_out, "left-out", _E, "left out: ", "no figure includes them"),
        (log.repaired, "repaired", _W, "", "the file says something else"),
    ):
        by_problem: dict[str, list[DataError]] = {}
        for error in errors:
            by_problem.setdefault(error.kind, []).append(error)
        for problem, of_kind in by_problem.items():
            first = of_kind[:EXAMPLES]
            kind = DefectKind(name, severity, f"{what}{problem}", why)
            ids = tuple(error.question or error.where or "" for error in first)
            places = tuple(error.place for error in first)
            findings.append(Finding(kind, len(of_kind), ids, places))
    return tuple(findings)


def _with_places(finding: Finding, dataset: Dataset, log: ReadingLog) -> Finding:
    what, question_of = "question", {id_: id_ for id_ in finding.examples}
    # the place of a passage is that of its first question
    if finding.kind.name.startswith("passage-"):
        what, question_of = "passage", {q.passage.id: q.id for q in reversed(dataset)}
    places = []
    for id_ in finding.examples:
        place = log.places.get(question_of.get(id_, ""))
        if place is not None:
            places.append(f"{place}, {what} {id_}")
    return replace(finding, places=tuple(places))


_Defects = Iterator[tuple[str, str]]
"""Pairs of a kind's name and the id of a question or passage."""


_ONE_ANSWER, _LEAST_ASKED, _BY_CHANCE = 0.95, 5, 0.01


def _find_one_answer(dataset: Dataset) -> _Defects:
    """Yield the questions that the most frequent answer solves, if nearly all have it: a
    position or a text.
    """
    questions = [q for q in dataset if q.gold and len(q.candidates) > 1 and not q.task.has_spans]
    if len(questions) < _LEAST_ASKED:
        return
    for answer_of in (_answer_texts, _answer_positions):
        answers = [answer_of(q) for q in questions]
        answer, count = Counter(answers).most_common(1)[0]
        solved = [q for q, k in zip(questions, answers, strict=True) if k == answer]
        chance = prod(1 / len(q.candidates) for q in solved[1:])
        if count >= _ONE_ANSWER * len(questions) and chance < _BY_CHANCE:
            yield from (("one-answer", q.id) for q in solved)
            return


def _answer_texts(question: Question) -> Hashable:
    return tuple(sorted(map(folded_text, question.gold_texts)))


def _answer_positions(question: Question) -> Hashable:
    """Return the positions of gold; where they say nothing, what no other question has."""
    is_telling = question.task.has_choices and len(question.gold or ()) < len(question.candidates)
    return question.gold if is_telling else question.id


def _find_in_questions(dataset: Dataset) -> _Defects:
    yield from _find_one_answer(dataset)
    yield from (("shifted-cells", question.id) for question in _find_shifted(dataset))
    for question in dataset:
        for kind in chain(_find_empty(question), _find_in_gold(question)):
            yield kind, question.id


def _find_in_gold(question: Question) -> Iterator[str]:
    if question.gold is None:
        yield "gold-hidden"
    elif question.task.has_choices:
        yield from _find_in_options(question, question.gold)
    else:
        yield from _find_in_gold_texts(question)


_GOLD = re.compile(r"[0-9]{1,2}|[A-Za-z]")
_SELDOM = 0.05


def _find_shifted(dataset: Dataset) -> list[Question]:
    """Return the questions without gold whose last option is a number or a letter, as hardly any
    other's is.

    In a row whose cells are one column too far to the left, gold is the last option, and the cell
    of gold is empty.
    """
    questions = [q for q in dataset if not q.task.has_spans and len(q.candidates)]
    marked = [q for q in questions if _GOLD.fullmatch(candidate_texts(q.candidates)[-1].strip())]
    labelled = sum(q.gold is not None for q in questions)
    is_usual = sum(q.gold is not None for q in marked) > _SELDOM * labelled
    return [] if is_usual or not labelled else [q for q in marked if q.gold is None]


def _find_empty(question: Question) -> Iterator[str]:
    if not question.passage.text.strip():
        yield "empty-passage"
    if not question.text.strip():
        yield "empty-question"
    if question.task.has_spans:
        return
    if any(not c.text.strip() for c in question.candidates):
        yield "empty-option"
    if len(question.candidates) < 2:
        yield "one-option"


def _find_in_options(question: Question, gold: Collection[object]) -> Iterator[str]:
    is_single, n_right = question.task is Task.SINGLE_CHOICE, len(gold)
    if n_right == 0:
        yield "no-right-option" if is_single else "none-right"
    elif n_right == len(question.candidates) > 1:
        yield "all-right"
    elif n_right > 1 and is_single:
        yield "several-right"
    options = option_forms(candidate_texts(question.candidates))
    if len(set(options)) < len(options):
        right = {text for i, text in enumerate(options) if i in gold}
        wrong = {text for i, text in enumerate(options) if i not in gold}
        yield "equal-options" if right.isdisjoint(wrong) else "option-both"


def _find_in_gold_texts(question: Question) -> Iterator[str]:
    if not _is_reachable(question):
        yield "gold-not-in-passage" if question.task.has_spans else "gold-not-candidate"
    scorer = scorer_of(question)
    # the empty text is the gold of a question without an answer
    if any(text and not scorer.units(scorer.normalise(text)) for text in question.gold_texts):
        yield "gold-empty"
    if not all(is_normalized("NFC", text) for text in question.gold_texts):
        yield "gold-not-nfc"


def _is_reachable(question: Question) -> bool:
    """Return whether a candidate (for spans: the passage) has any gold text; several spans must
    all be there.
    """
    gold = [str(text) for text in question.gold or ()]
    if not question.task.has_spans:
        candidates = (normalise_squad_answer(c.text) for c in question.candidates)
        return not {*map(normalise_squad_answer, gold)}.isdisjoint(candidates)
    passage = normalised_text(question.passage.text)
    contained = (normalised_text(text) in passage for text in gold)
    return all(contained) if question.task is Task.MULTI_SPAN else any(contained)


# The characters that the bytes 0x80 to 0xBF become in Windows-1252 (or Latin-1, for those that it
# lacks).
_TRAIL = bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")
_TRAIL = re.escape(_TRAIL + "\x81\x8d\x8f\x90\x9d")
_QUOTE = "‘’“”–—…"  # these follow letters in sound text too
_MOJIBAKE = re.compile(
    rf"[ÂÃ](?![{_QUOTE}])[{_TRAIL}]|[â-ï][{_TRAIL}]{{2}}|ð[{_TRAIL}]{{3}}|(?:[ÐÑ](?![{_QUOTE}])[{_TRAIL}]){{2}}"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
_ENTITY = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]{1,30});|#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};)")

DAMAGE: Mapping[str, Callable[[str], bool]] = {
    "mojibake": lambda text: not text.isascii() and _MOJIBAKE.search(text) is not None,
    "lost-character": lambda text: "\ufffd" in text,
    "control-character": lambda text: not text.isprintable() and _CONTROL.search(text) is not None,
    "html-entity": lambda text: "&" in text and _has_entity(text),
}
"""Tests of a text, by the name of the kind of defect."""


def find_text_defects(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the kinds of damage in passage, text or options, each with the id of the question."""
    of_passage = {id(p): _damage_of((p.text,)) for p in dataset.passages}
    for question in dataset:
        options = () if question.task.has_spans else candidate_texts(question.candidates)
        damage = of_passage[id(question.passage)] | _damage_of((question.text, *options))
        yield from ((kind, question.id) for kind in DAMAGE if kind in damage)


def _has_entity(text: str) -> bool:  # not in "R&D; AT&T"
    return any(match[1] is None or f"{match[1]};" in html5 for match in _ENTITY.finditer(text))


def _damage_of(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(kind for text in texts for kind, has in DAMAGE.items() if has(text))
