"""Groups of questions: by what the data says, by what a question says of itself, or by labels from a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.labels import Labels
from classic_rc.errors import UsageError, unknown_name
from classic_rc.questions import PLACEHOLDER, Dataset, Question, Task
from classic_rc.text.analyzers import get_tokenizer

FEW_QUESTIONS = 10
"""A number of fewer questions says next to nothing: tables grey it, and rare first words are put together."""

_OTHER = "other"
_HOW_MUCH = frozenset({"many", "much"})
_WH_WORDS = {
    **{word: word for word in ("what", "when", "where", "which", "why", "how")},
    **dict.fromkeys(("who", "whom", "who's"), "who"),
    **{"whose": "whose", "what's": "what", "where's": "where", "when's": "when", "how's": "how", "why's": "why"},
}
_AUXILIARIES = frozenset(
    "am is are was were be do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't".split()
)
_BLANK = re.compile(r"_")
_LENGTHS = (5, 10, 15, 20)


@dataclass(frozen=True, slots=True)
class DerivedKey:
    """A property of questions that needs no annotation.

    Parameters
    ----------
    description : str
        One sentence.
    values : callable
        From questions to a value each; None where it says nothing.
    order : sequence of str
        The values in the order of tables; those that are not among them follow, numbers first.
    """

    description: str
    values: Callable[[Sequence[Question]], Sequence[str | None]]
    order: Sequence[str] = ()


def _words(text: str) -> list[str]:
    return [word.lower() for word in get_tokenizer("word").tokenize(text)]


def _first_words(questions: Sequence[Question]) -> list[str | None]:
    """The first word in lower case; those that begin fewer than :data:`FEW_QUESTIONS` questions together."""
    first = [next(iter(_words(question.query)), "") for question in questions]
    counts = Counter(first)
    return [word if word and counts[word] >= FEW_QUESTIONS else _OTHER for word in first]


def _question_type(question: Question) -> str:
    if PLACEHOLDER in question.text or _BLANK.search(question.text):
        return "cloze"
    words = _words(question.text)
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word == "how" and following in _HOW_MUCH:
            return "how many"
        if word in _WH_WORDS:
            return _WH_WORDS[word]
    return "yes/no" if words and words[0] in _AUXILIARIES else _OTHER


def _question_types(questions: Sequence[Question]) -> list[str | None]:
    return [_question_type(question) for question in questions]


def _question_lengths(questions: Sequence[Question]) -> list[str | None]:
    return [_bin(len(_words(question.query))) for question in questions]


def _bin(length: int) -> str:
    least = 0
    for most in _LENGTHS:
        if length <= most:
            return f"{least}-{most}"
        least = most + 1
    return f"{least} and more"


_BINS = tuple(dict.fromkeys(_bin(length) for length in range(_LENGTHS[-1] + 2)))


def _verbatim(questions: Sequence[Question]) -> list[str | None]:
    """Whether the words of the right answers stand in the passage, in a row."""
    passages = {id(q.passage): f" {' '.join(_words(q.passage.text))} " for q in questions}
    return [_found(question, passages[id(question.passage)]) for question in questions]


def _found(question: Question, passage: str) -> str | None:
    if question.gold is None:
        return None
    found = [bool(words := _words(text)) and f" {' '.join(words)} " in passage for text in question.gold_texts]
    if not found:
        return "no right answer"
    if question.task in (Task.MULTIPLE_ANSWER, Task.MULTI_SPAN):
        return "all" if all(found) else "some" if any(found) else "none"
    return "yes" if any(found) else "no"


def _n_candidates(questions: Sequence[Question]) -> list[str | None]:
    return [None if q.task.has_spans else str(len(q.candidates)) for q in questions]


def _n_answers(questions: Sequence[Question]) -> list[str | None]:
    return [None if q.gold is None else str(len(q.gold)) for q in questions]


DERIVED_KEYS: Mapping[str, DerivedKey] = {
    "question-type": DerivedKey(
        "the first question word (what, how many, …); cloze for a blank, yes/no for an auxiliary in front",
        _question_types,
        (
            *("what", "who", "whose", "which", "when", "where", "why", "how", "how many"),
            *("yes/no", "cloze", _OTHER),
        ),
    ),
    "first-word": DerivedKey(
        f"the first word; those that begin fewer than {FEW_QUESTIONS} questions together", _first_words
    ),
    "question-length": DerivedKey("how many words the question has", _question_lengths, _BINS),
    "verbatim": DerivedKey(
        "whether the words of the right answer stand in the passage in a row",
        _verbatim,
        ("yes", "no", "all", "some", "none", "no right answer"),
    ),
    "candidates": DerivedKey("how many candidates there are", _n_candidates),
    "right-answers": DerivedKey("how many answers are right, or accepted", _n_answers),
}
"""What can be grouped by on any data, by name."""


NO_LABEL = "no label"
"""The group of questions that are known to have none of the labels."""

_MISSING = "?"
_VIEWS = ("alone", "count")

Values: TypeAlias = "Sequence[AbstractSet[str] | None]"


@dataclass(frozen=True, eq=False)
class Grouping:
    """Questions in groups, which may overlap.

    Parameters
    ----------
    key : str
        What they are grouped by.
    masks : mapping of str to ndarray of bool, shape (n_questions,)
        By the group's name, in the order of tables.
    covered : ndarray of bool, shape (n_questions,)
        The questions of which something is known: labelled ones.
    overlapping : bool
        Whether a question may be in several groups.
    source : str, optional
        Where labels come from.
    """

    key: str
    masks: Mapping[str, NDArray[np.bool_]]
    covered: NDArray[np.bool_]
    overlapping: bool = False
    source: str | None = None

    @property
    def coverage(self) -> str:
        """How many questions it says something of, in words."""
        known, total = int(self.covered.sum()), len(self.covered)
        of = f" (from {self.source})" if self.source else ""
        if known == total:
            return f"{self.key}: all {total:,} questions{of}"
        return f"{self.key}: {known:,} of {total:,} questions{of}; the others are left out"


def group_questions(dataset: Dataset, key: str, labels: Sequence[Labels] = ()) -> Grouping:
    """The questions of a dataset, grouped.

    Parameters
    ----------
    dataset : Dataset
    key : str
        The name of some `labels`; or a key of the questions', or else of their passages', `meta`; or else of
        :data:`~classic_rc.evaluation.grouping.DERIVED_KEYS`. Where a question may have several labels (a list in
        `meta` is that too), groups overlap, and ``KEY:alone`` splits each into the questions that have this label
        alone and those that have others too; ``KEY:count`` groups by how many labels a question has.
    labels : sequence of Labels

    Returns
    -------
    Grouping
        A question that lacks a key of `meta` is in the group ``"?"``; questions without an entry in the file of
        labels are in no group.

    Raises
    ------
    UsageError
        There is no such key, or no question has several labels of which one could be alone.
    """
    name, colon, view = key.rpartition(":")
    if not colon or view not in _VIEWS:
        name, view = key, ""
    values, order, source = _values(dataset, name, labels)
    covered = np.array([value is not None for value in values], dtype=np.bool_)
    several = any(value is not None and len(value) != 1 for value in values)
    if view == "alone":
        if not several:
            raise UsageError(f"every question has one {name}, so that {key} tells nothing: take {name}")
        masks = _alone(values, order)
    elif view == "count":
        masks = _masks([None if value is None else {str(len(value))} for value in values], ())
    else:
        masks = _masks(values, order)
    overlapping = view != "count" and any(value is not None and len(value) > 1 for value in values)
    return Grouping(key, masks, covered, overlapping, source)


def group_masks(dataset: Dataset, key: str) -> Mapping[str, NDArray[np.bool_]]:
    """The masks of :func:`group_questions`, without a file of labels."""
    return group_questions(dataset, key).masks


def _values(dataset: Dataset, name: str, labels: Sequence[Labels]) -> tuple[Values, Sequence[str], str | None]:
    """What each question has under a name (None where nothing is known), the order of it all, and its source."""
    for own in labels:
        if own.name == name:
            return [own.of_question.get(question.id) for question in dataset], own.order, own.source
    known = {key for question in dataset for key in (*question.passage.meta, *question.meta)}
    if name in known:
        return [_as_labels(question.meta_value(name, _MISSING)) for question in dataset], (), None
    if name in DERIVED_KEYS:
        derived = DERIVED_KEYS[name]
        said = derived.values(dataset)
        return [None if value is None else {value} for value in said], derived.order, None
    names = {*(own.name for own in labels), *known, *DERIVED_KEYS}
    raise unknown_name(f"key of {dataset.name}", name, names)


def _as_labels(value: Any) -> frozenset[str]:
    return frozenset(map(str, value if isinstance(value, (list, tuple, set, frozenset)) else [value]))


def _masks(values: Values, order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    masks = dict(_of_each(values, order))
    if (none := np.array([value is not None and not value for value in values], dtype=np.bool_)).any():
        masks[NO_LABEL] = masks[NO_LABEL] | none if NO_LABEL in masks else none
    return masks


def _alone(values: Values, order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    single = np.array([value is not None and len(value) == 1 for value in values], dtype=np.bool_)
    masks: dict[str, NDArray[np.bool_]] = {}
    for label, mask in _of_each(values, order):
        parts = {f"{label}, alone": mask & single, f"{label}, with others": mask & ~single}
        masks |= {name: part for name, part in parts.items() if part.any()}
    return masks


def _of_each(values: Values, order: Sequence[str]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each label with its questions: first the labels of the order, then numbers by value, then the others."""
    members: dict[str, list[int]] = {}
    for i, value in enumerate(values):
        for label in value or ():
            members.setdefault(label, []).append(i)
    known = [label for label in order if label in members]
    for label in (*known, *sorted(members.keys() - set(known), key=_natural)):
        mask = np.zeros(len(values), dtype=np.bool_)
        mask[members[label]] = True
        yield label, mask


def _natural(label: str) -> tuple[bool, int, str]:
    """A key that sorts numbers by value, before everything else."""
    is_number = label.isascii() and label.isdecimal()
    return not is_number, int(label) if is_number else 0, label
