"""Groups of questions: by a field of the data, by a property of the question's text, or by
labels from a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.metrics.base import FULL_CREDIT, HasTask, solved_metric
from classic_rc.questions import PLACEHOLDER, Dataset, Question, Task
from classic_rc.results.outcomes import join_copies
from classic_rc.solvers.base import require_passages
from classic_rc.text.analyzers import get_tokenizer

if TYPE_CHECKING:
    from classic_rc.datasets.labels import Labels
    from classic_rc.results.outcomes import Row

MIN_GROUP_QUESTIONS = 10
"""Numbers over fewer questions mean little: tables show them in grey, and rarer first words are
merged.
"""

_OTHER = "other"
_HOW_MUCH = frozenset({"many", "much"})
_WH_WORDS = {
    **{word: word for word in ("what", "when", "where", "which", "whose", "why", "how")},
    **{f"{word}'s": word for word in ("what", "when", "where", "who", "why", "how")},
    **dict.fromkeys(("who", "whom"), "who"),
}
_AUXILIARIES = frozenset(
    "am is are was were be do does did has have had can could will would shall should may might "
    "must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't "
    "wouldn't".split()
)
_BLANK = re.compile(r"_")
_LENGTHS = (5, 10, 15, 20)


class Noted(NamedTuple):
    """The values of a key, and a sentence about all of them."""

    values: Sequence[str | None]
    note: str


@dataclass(frozen=True, slots=True)
class DerivedKey:
    """A property of questions that needs no annotation."""

    description: str  # one sentence
    # One value per question; None if it has none.
    values: Callable[[Sequence[Question]], Sequence[str | None] | Noted]
    order: Sequence[
        str
    ] = ()  # the values in the order of tables; other values follow, numbers first


def _words(text: str) -> list[str]:
    return [word.lower() for word in get_tokenizer("word").tokenize(text)]


def _first_words(questions: Sequence[Question]) -> list[str | None]:
    """Return the first words, lower-cased; those of fewer than `MIN_GROUP_QUESTIONS` questions
    are merged.
    """
    first = [next(iter(_words(question.query)), "") for question in questions]
    counts = Counter(first)
    return [word if word and counts[word] >= MIN_GROUP_QUESTIONS else _OTHER for word in first]


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
    shortest = 0
    for longest in _LENGTHS:
        if length <= longest:
            return f"{shortest}-{longest}"
        shortest = longest + 1
    return f"{shortest} and more"


_BINS = tuple(dict.fromkeys(_bin(length) for length in range(_LENGTHS[-1] + 2)))


def _verbatim(questions: Sequence[Question]) -> list[str | None]:
    """Return whether the passage has the words of the right answers as one sequence."""
    distinct = {id(question.passage): question.passage for question in questions}
    texts = {key: _spaced_words(passage.text) for key, passage in distinct.items()}
    return [_verbatim_value(question, texts[id(question.passage)]) for question in questions]


def _spaced_words(text: str) -> str:
    """Return the words with a space before and after each, so that only entire words match."""
    return f" {' '.join(_words(text))} "


def _verbatim_value(question: Question, passage: str) -> str | None:
    """Return which right answers are in the passage: yes or no, or all, some or none of several."""
    if question.gold is None:
        return None
    answers = [_spaced_words(text) for text in question.gold_texts]
    # An answer without a word, such as "%", is nowhere.
    verbatim = [bool(answer.strip()) and answer in passage for answer in answers]
    if not verbatim:
        return "no right answer"
    if question.task in (Task.MULTIPLE_ANSWER, Task.MULTI_SPAN):
        if all(verbatim):
            return "all"
        return "some" if any(verbatim) else "none"
    return "yes" if any(verbatim) else "no"


def _n_candidates(questions: Sequence[Question]) -> list[str | None]:
    return [None if q.task.has_spans else str(len(q.candidates)) for q in questions]


def _n_answers(questions: Sequence[Question]) -> list[str | None]:
    return [None if q.gold is None else str(len(q.gold)) for q in questions]


_DEPTHS = (1, 10, 100)
_FOUND = ("first", *(f"in the first {depth}" for depth in _DEPTHS[1:]), "not found")


def _found(questions: Sequence[Question]) -> Noted:
    """Return how far up a search for the question finds its own passage among all passages of
    the data.
    """
    require_passages(questions)
    from classic_rc.retrieval.ranks import group_by_rank

    return Noted(*group_by_rank(questions, _DEPTHS, _FOUND))


_QUESTION_WORDS = "what who whose which when where why how".split()
_QUESTION_TYPES = (*_QUESTION_WORDS, "how many", "yes/no", "cloze", _OTHER)

DERIVED_KEYS: Mapping[str, DerivedKey] = {
    "question-type": DerivedKey(
        "the first question word (what, how many, …); cloze for a blank, yes/no for an auxiliary "
        "first",
        _question_types,
        _QUESTION_TYPES,
    ),
    "first-word": DerivedKey(
        f"the first word; words that begin fewer than {MIN_GROUP_QUESTIONS} questions are one "
        "group",
        _first_words,
    ),
    "question-length": DerivedKey("number of words in the question", _question_lengths, _BINS),
    "verbatim": DerivedKey(
        "whether the passage contains the words of the right answer in a row",
        _verbatim,
        ("yes", "no", "all", "some", "none", "no right answer"),
    ),
    "candidates": DerivedKey("number of candidates", _n_candidates),
    "right-answers": DerivedKey("number of right or accepted answers", _n_answers),
    "found": DerivedKey(
        "where BM25 finds the question's own passage among all passages of the data, with recall "
        "and mean reciprocal rank",
        _found,
        _FOUND,
    ),
}
"""The keys that group the questions of any dataset, by name."""


NO_LABEL = "no label"
"""The group of questions that were labelled and have none of the labels."""

_MISSING = "?"
_PAIR = ", "  # between the names of two groups
_VIEWS = ("alone", "count")

GroupValues: TypeAlias = "Sequence[AbstractSet[str] | None]"


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of questions, which may overlap."""

    key: str  # what they are grouped by
    # by group name, in the order of tables: shape (n_questions,)
    masks: Mapping[str, NDArray[np.bool_]]
    covered: NDArray[np.bool_]  # questions with a known value or label, shape (n_questions,)
    overlapping: bool = False  # whether a question may be in several groups
    source: str | None = None  # the origin of the labels
    note: str | None = None  # what is to be said of a key's values

    @property
    def coverage(self) -> str:
        """A sentence on how many questions it covers."""
        n_covered, total = int(self.covered.sum()), len(self.covered)
        provenance = f" (from {self.source})" if self.source else ""
        if n_covered == total:
            text = f"{self.key}: all {total:,} questions{provenance}"
        else:
            covered = f"{n_covered:,} of {total:,} questions{provenance}"
            text = f"{self.key}: {covered}; the others are left out"
        return f"{text}; {self.note}" if self.note else text


def group_questions(dataset: Dataset, key: str, labels: Sequence[Labels] = ()) -> Grouping:
    """Group the questions of a dataset by a key.

    Parameters
    ----------
    dataset : Dataset
    key : str
        The name of one of `labels`; otherwise a key of the questions' `meta` or, failing that, of
        their passages'; otherwise one of :data:`~classic_rc.results.grouping.DERIVED_KEYS`. If a
        question may have several labels (a list in `meta` counts as several), groups overlap.
        ``KEY:alone`` then splits each group into the questions with only this label and those with
        others too; ``KEY:count`` groups by the number of labels. ``KEY,KEY`` groups by pairs of the
        groups of two keys.
    labels : sequence of Labels
        Labels from files.

    Returns
    -------
    Grouping
        A question that lacks a key of `meta` is in the group ``"?"``. A question without an entry
        in the file of labels is in no group.

    Raises
    ------
    UsageError
        The key is unknown, or it is ``KEY:alone`` and every question has one label.
    """
    first, comma, second = key.partition(",")
    # The name of labels or of a key of `meta` may have a comma itself.
    is_label = any(labels_of_file.name == key for labels_of_file in labels)
    is_meta = any(key in question.meta for question in dataset[:1])
    if comma and not (is_label or is_meta):
        parts = [group_questions(dataset, name.strip(), labels) for name in (first, second)]
        return _pair_groups(key, *parts)
    name, colon, view = key.rpartition(":")
    if not colon or view not in _VIEWS:
        name, view = key, ""
    values, order, source, note = _find_values(dataset, name, labels)
    covered = np.array([value is not None for value in values], dtype=np.bool_)
    sizes = [None if value is None else len(value) for value in values]  # numbers of labels
    if view == "alone":
        if all(size in (None, 1) for size in sizes):
            raise UsageError(
                f"{key} is only for questions with several labels, but every question has one "
                f"{name}: use {name}",
                field="key",
                found=key,
                expected=name,
            )
        masks = _split_masks(values, order)
    elif view == "count":
        counts = [None if size is None else {str(size)} for size in sizes]
        masks = _label_masks(counts, ())
    else:
        masks = _label_masks(values, order)
    overlapping = view != "count" and any(size is not None and size > 1 for size in sizes)
    return Grouping(key, masks, covered, overlapping, source, note)


def _pair_groups(key: str, first: Grouping, second: Grouping) -> Grouping:
    """Return the groups of questions that are in a group of each of two keys."""
    masks = {}
    for first_name, first_mask in first.masks.items():
        for second_name, second_mask in second.masks.items():
            mask = first_mask & second_mask
            if mask.any():
                masks[f"{first_name}{_PAIR}{second_name}"] = mask
    covered = first.covered & second.covered
    overlapping = first.overlapping or second.overlapping
    sources = dict.fromkeys(grouping.source for grouping in (first, second) if grouping.source)
    return Grouping(key, masks, covered, overlapping, " and ".join(sources) or None)


def read_groupings(
    dataset: Dataset, keys: Sequence[str], labels: Sequence[Labels] = ()
) -> list[Grouping]:
    """Group the questions of a dataset by several keys, by default by all labels.

    A key with itself, as in ``skills,skills``, makes no groups: its labels are only counted
    together. With several labels a question, all labels are grouped by ``:alone`` and ``:count``
    too.
    """
    grouping_keys = []
    for key in keys:
        names = [name.strip() for name in key.split(",")]
        if len(names) == 1 or names[0] != names[1]:
            grouping_keys.append(key)
    for labels_of_file in () if keys else labels:
        name = labels_of_file.name
        grouping_keys.append(name)
        if any(len(values) > 1 for values in labels_of_file.of_question.values()):
            grouping_keys += [f"{name}:alone", f"{name}:count"]
    return [group_questions(dataset, key, labels) for key in grouping_keys]


WITHOUT_COPIES = "without copies"
"""The group of the questions that no row of the results learned from."""


def group_without_copies(rows: Iterable[Row]) -> dict[str, NDArray[np.bool_]]:
    """Return the group :data:`WITHOUT_COPIES`; nothing if no row has copies, or no question is
    left.
    """
    copied = join_copies(row.copied for row in rows)
    return {} if copied is None or copied.all() else {WITHOUT_COPIES: ~copied}


def find_learned(rows: Iterable[Row], mask: NDArray[np.bool_]) -> set[str]:
    """Return the rows that learned from some questions of a group: they are neither ranked nor
    tested there.
    """
    return {row.name for row in rows if row.copied is not None and row.copied[mask].any()}


def find_defining(
    subject: HasTask,
    rows: Iterable[Row],
    masks: Mapping[str, NDArray[np.bool_]],
    name: str,
) -> set[str]:
    """Return the systems whose answers define a group: those that solve, or do not solve, exactly
    its questions.

    Of several systems, it is the questions that all of them solve, or that none of them solves.
    Their numbers there follow from how the group was made. That holds for a group of a pair of keys
    too if they define the group of one of the two keys. `masks` has all groups of the key.
    Expectations over draws define no group, and no answers define :data:`WITHOUT_COPIES`.
    """
    if name == WITHOUT_COPIES:
        return set()
    metric = solved_metric(subject)
    decided = {row.name: row.statistics[metric.name] for row in rows if not row.expected}
    solved = {
        system: metric.of_questions(statistics) >= FULL_CREDIT
        for system, statistics in decided.items()
    }
    unsolved = {system: ~mask for system, mask in solved.items()}
    defining: set[str] = set()
    for group in (masks[name], *_iter_parts(masks, name)):
        for answers in (solved, unsolved):
            defining |= _find_exact(answers, group)
    return defining


def _find_exact(answers: Mapping[str, NDArray[np.bool_]], group: NDArray[np.bool_]) -> set[str]:
    """Return the systems whose masks are exactly a group, or whose common part is."""
    if not group.any():
        return set()
    # A system that solves everything does not narrow the questions down.
    around = {
        system: mask for system, mask in answers.items() if mask[group].all() and not mask.all()
    }
    exact = {system for system, mask in around.items() if np.array_equal(mask, group)}
    if exact or not around:
        return exact
    common = np.logical_and.reduce([*around.values()])
    return {*around} if np.array_equal(common, group) else set()


def _iter_parts(masks: Mapping[str, NDArray[np.bool_]], name: str) -> Iterator[NDArray[np.bool_]]:
    """Yield the masks of the two groups that a pair of groups is the common part of; labels may
    have commas.
    """
    labels = name.split(_PAIR)
    for i in range(1, len(labels)):
        first = _PAIR.join(labels[:i]) + _PAIR
        second = _PAIR + _PAIR.join(labels[i:])
        yield np.logical_or.reduce([mask for pair, mask in masks.items() if pair.startswith(first)])
        yield np.logical_or.reduce([mask for pair, mask in masks.items() if pair.endswith(second)])


def _find_values(
    dataset: Dataset, name: str, labels: Sequence[Labels]
) -> tuple[GroupValues, Sequence[str], str | None, str | None]:
    """Return each question's labels under a name (None if unknown), their order, their source
    and a note.
    """
    for labels_of_file in labels:
        if labels_of_file.name == name:
            return (
                [labels_of_file.of_question.get(question.id) for question in dataset],
                labels_of_file.order,
                labels_of_file.source,
                None,
            )
    meta_keys = {key for question in dataset for key in (*question.passage.meta, *question.meta)}
    if name in meta_keys:
        return (
            [_as_labels(question.meta_value(name, _MISSING)) for question in dataset],
            (),
            None,
            None,
        )
    if name in DERIVED_KEYS:
        derived = DERIVED_KEYS[name]
        computed = derived.values(dataset)
        computed, note = computed if isinstance(computed, Noted) else (computed, None)
        return [None if value is None else {value} for value in computed], derived.order, None, note
    names = {*(labels_of_file.name for labels_of_file in labels), *meta_keys, *DERIVED_KEYS}
    raise unknown_name(f"key of {dataset.name}", name, names)


def _as_labels(value: Any) -> frozenset[str]:
    labels = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    return frozenset(map(str, labels))


def _label_masks(values: GroupValues, order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    masks = dict(_iter_label_masks(values, order))
    is_unlabelled = [value is not None and not value for value in values]
    without_label = np.array(is_unlabelled, dtype=np.bool_)
    if without_label.any():
        # A file may have "no label" as a label too.
        masks[NO_LABEL] = masks[NO_LABEL] | without_label if NO_LABEL in masks else without_label
    return masks


def _split_masks(values: GroupValues, order: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return two masks per label: questions with only this label, and those with others too."""
    is_single = [value is not None and len(value) == 1 for value in values]
    single = np.array(is_single, dtype=np.bool_)
    masks: dict[str, NDArray[np.bool_]] = {}
    for label, mask in _iter_label_masks(values, order):
        parts = {f"{label}, alone": mask & single, f"{label}, with others": mask & ~single}
        masks |= {name: labelled for name, labelled in parts.items() if labelled.any()}
    return masks


def _iter_label_masks(
    values: GroupValues, order: Sequence[str]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each label with its mask: first the labels in `order`, then numbers by value, then
    the others.
    """
    members: dict[str, list[int]] = {}
    for i, value in enumerate(values):
        for label in value or ():
            members.setdefault(label, []).append(i)
    ordered = [label for label in order if label in members]
    for label in (*ordered, *sorted(members.keys() - set(ordered), key=_natural_key)):
        mask = np.zeros(len(values), dtype=np.bool_)
        mask[members[label]] = True
        yield label, mask


def _natural_key(label: str) -> tuple[bool, int, str]:
    """Return a sort key that puts numbers, by value, before everything else."""
    is_number = label.isascii() and label.isdecimal()
    return not is_number, int(label) if is_number else 0, label
