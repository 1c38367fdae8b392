"""Groups of questions about equal passages, folds that keep near duplicates together, and shared
questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from classic_rc.equality import folded_text, normalised_text
from classic_rc.errors import UsageError, unknown_name
from classic_rc.kernels.draws import text_keys
from classic_rc.near_duplicates import VERSION, near_duplicate_groups, similar_texts
from classic_rc.questions import Dataset, Passage, Question, candidate_texts
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import SharedQuestions
from classic_rc.text.encoded import EncodedDataset

FOLDS_VERSION = f"near{VERSION}"
"""The version of the rules that decide which questions stay in one fold, for signatures."""

_CONTENT_WORDS = 3
"""A question repeated with equal options identifies its source only with this many words that a
stop list lacks.
"""

_COMMON_SHARE = 0.1
"""Options of more than this share of the passages, and of more than two, are constant: they
identify no source.
"""

_BEFORE_TEXT = " \t\n\"'`*_“”‘’‚„«»‹›「」『』"

Folds: TypeAlias = list[tuple[NDArray[np.int64], NDArray[np.int64]]]


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """A split of questions into folds that keep equal and nearly equal passages together.

    These questions are in one fold: questions about equal passages or about near duplicates
    (:mod:`classic_rc.near_duplicates`); questions with equal words and equal options, if they have
    at least three content words and the options are not those of other questions too; and questions
    with equal values of `group`. The relation is transitive. If it leaves fewer groups than folds,
    or one group with more than half of the questions, only equal passages and values stay together,
    with a warning.

    Examples
    --------
    >>> FoldPlan(10, "author").label
    'cv10/author'
    """

    n_folds: int = 5  # with fewer groups, each group is a fold
    group: str | None = (
        None  # a key of `meta` whose equal values stay in one fold, as equal passages do
    )

    def __post_init__(self) -> None:
        if self.n_folds < 2:
            raise UsageError(
                f"out-of-fold predictions need at least 2 folds, got {self.n_folds}",
                field="n_folds",
                found=str(self.n_folds),
                expected="at least 2",
            )

    @property
    def label(self) -> str:
        """The name of out-of-fold data in rows and signatures: ``cv5`` or ``cv5/author``."""
        return f"cv{self.n_folds}" + (f"/{self.group}" if self.group else "")

    def folds(self, questions: Sequence[Question]) -> Folds:
        """Return for each fold the indices of the other folds' questions and of its own."""
        groups = self.groups(questions).numbers
        n_groups = int(groups.max(initial=-1)) + 1
        if n_groups < 2:
            units = "passages or groups" if self.group else "passages"
            raise UsageError(
                f"out-of-fold predictions need at least two different {units}, got {n_groups}: "
                "give separate data to train on (--train) and to tune on (--tune), or a fixed "
                "threshold (--threshold)",
                field="questions",
                found=str(n_groups),
                expected=f"at least 2 {units}",
            )
        n_folds = min(self.n_folds, n_groups)
        fold = groups % n_folds
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]

    def folds_apart(self, train: Dataset, dataset: Dataset) -> Folds | None:
        """Return the folds of `dataset`, each with the positions in `train` of what it has nothing
        in common with.

        None if the datasets, which may be equal or overlap, do not overlap (:func:`find_overlap`).
        """
        folds_of_pair = _folds_apart_of_dataset.setdefault(dataset, {})
        key = self, train.fingerprint
        if key not in folds_of_pair:
            folds_of_pair[key] = self._find_folds_apart(train, dataset)
        return folds_of_pair[key]

    def _find_folds_apart(self, train: Dataset, dataset: Dataset) -> Folds | None:
        if train.fingerprint == dataset.fingerprint:
            return self.folds(dataset)
        if not find_overlap(train, dataset):
            return None
        folds = []
        for _, fold in self.folds(dataset):
            fold_dataset = replace(
                dataset, questions=[dataset[i] for i in fold.tolist()], read_with=None, parts=()
            )
            shared = find_overlap(train, fold_dataset).affected
            apart = [i for i, question in enumerate(train) if question.id not in shared]
            folds.append((np.array(apart, dtype=np.int64), fold))
        return folds

    def groups(self, questions: Sequence[Question]) -> FoldGroups:
        """Return the group of each question; no group is in two folds."""
        while isinstance(questions, EncodedDataset | SharedQuestions):
            questions = questions.questions
        if not isinstance(questions, Dataset):
            return self._find_groups(questions)
        groups_of_plan = _groups_of_dataset.setdefault(questions, {})
        if self not in groups_of_plan:
            groups_of_plan[self] = self._find_groups(questions)
        return groups_of_plan[self]

    def _find_groups(self, questions: Sequence[Question]) -> FoldGroups:
        equal = passage_groups(questions, self.group)
        joined = _join_near_duplicates(equal, questions)
        equal_sizes, sizes = np.bincount(equal), np.bincount(joined)
        largest, half = sizes.max(initial=0), len(questions) / 2
        if len(sizes) < min(self.n_folds, len(equal_sizes)):
            problem = f"near duplicates leave {len(sizes)} groups for {self.n_folds} folds"
        elif largest > half >= equal_sizes.max(initial=0):
            problem = f"near duplicates connect {largest} of {len(questions)} questions"
        else:
            return FoldGroups(joined, None)
        warning = "folds keep only equal passages together, so answers may carry over"
        return FoldGroups(equal, f"{problem}: {warning}")


class FoldGroups(NamedTuple):
    """The groups of questions that a plan keeps in one fold."""

    numbers: NDArray[np.int64]  # of each question's group, shape (n_questions,)
    warning: str | None  # if near duplicates can be in different folds


_groups_of_dataset: WeakKeyDictionary[Dataset, dict[FoldPlan, FoldGroups]] = WeakKeyDictionary()
"""All solvers of a run need the groups of the same dataset."""

_folds_apart_of_dataset: WeakKeyDictionary[Dataset, dict[tuple[FoldPlan, str], Folds | None]] = (
    WeakKeyDictionary()
)
"""The same for the folds of tuning data, by the plan and the fingerprint of the training data."""


def share_groups(copy: Dataset, original: Dataset, plan: FoldPlan) -> None:
    """Give a changed copy of a dataset the groups of the original, question by question,
    whatever its texts.
    """
    _groups_of_dataset.setdefault(copy, {})[plan] = plan.groups(original)


def passage_groups(questions: Sequence[Question], field: str | None = None) -> NDArray[np.int64]:
    """Number the groups of questions whose passages have equal normalised texts, from 0, whatever
    their order.

    In data without passages, where all of them are empty, the question's own text is in the
    passage's place, or if that is empty too, its options. With `field`, a key of the questions' or
    passages' `meta` (article, author), questions with equal values are also one group; UsageError
    if no question has it.
    """
    original = _grouped_texts(questions)
    normalised = {text: normalised_text(text) for text in set(original)}
    texts = [normalised[text] for text in original]
    distinct = sorted(set(texts))
    # A hash of the text numbers the groups: neighbours in a file (often of one source) are spread
    # over the folds.
    rank = np.argsort(np.argsort(text_keys(distinct), kind="stable"), kind="stable")
    number = dict(zip(distinct, rank.tolist(), strict=True))
    groups = np.array([number[text] for text in texts], dtype=np.int64)
    return groups if field is None else merge_groups(groups, _meta_values(questions, field))


def _grouped_texts(questions: Sequence[Question]) -> list[str]:
    """Return for each question the text by which it is grouped: its passage, or without any
    passages its own.
    """
    passages = {id(q.passage): q.passage for q in questions}
    texts = {key: passage.text for key, passage in passages.items()}
    if any(map(str.strip, texts.values())):
        return [texts[id(q.passage)] for q in questions]
    return [
        q.text if q.text.strip() else " | ".join(candidate_texts(q.candidates)) for q in questions
    ]


@dataclass(frozen=True, slots=True)
class Overlap:
    """The part of a dataset that is also in another one."""

    passages: int  # number of passages that are copies
    questions: int  # number of questions that are asked there too, with the same options
    affected: frozenset[str]  # ids of these questions and of all questions about these passages

    def __bool__(self) -> bool:
        return bool(self.affected)


def find_overlap(dataset: Dataset, reference: Dataset) -> Overlap:
    """Find the part of `dataset` that is also in `reference`.

    A passage is shared if it equals a passage of `reference` except for case and white space, or
    is a near duplicate (:mod:`classic_rc.near_duplicates`). A question is shared if `reference` has
    its words and options, and these identify it as for folds (:class:`FoldPlan`); or if neither has
    a passage, its words.
    """
    shared = {id(passage) for passage in shared_passages(dataset, reference)}
    keys = _repeatable_keys([*dataset, *reference])
    reference_keys = set(keys[len(dataset) :]) - {None}
    repeated = {q.id for q, key in zip(dataset, keys, strict=False) if key in reference_keys}
    reference_texts = {folded_text(question.text) for question in _without_passage(reference)}
    repeated |= {q.id for q in _without_passage(dataset) if folded_text(q.text) in reference_texts}
    affected = repeated | {q.id for q in dataset if id(q.passage) in shared}
    return Overlap(len(shared), len(repeated), frozenset(affected))


def _without_passage(dataset: Dataset) -> list[Question]:
    empty = {id(passage) for passage in dataset.passages if not passage.text.strip()}
    return [question for question in dataset if id(question.passage) in empty]


def copied_questions(dataset: Dataset, train: Dataset) -> NDArray[np.bool_]:
    """Return which questions of `dataset`, or their passages, are in `train`, shape (n_questions,)
    (:func:`find_overlap`).
    """
    affected = find_overlap(dataset, train).affected
    return np.array([question.id in affected for question in dataset], dtype=np.bool_)


def drop_overlap_with(dataset: Dataset, reference: Dataset) -> Dataset:
    """Return `dataset` without the questions that, or whose passages, are also in `reference`."""
    shared = find_overlap(dataset, reference)
    if not shared:
        return dataset
    rest = dataset.filter(lambda q: q.id not in shared.affected)
    if not len(rest):
        raise UsageError(
            f"nothing is left of {dataset.name} after removing its overlap with {reference.name}",
            field="dataset",
            found=dataset.name,
            expected=f"questions that are not in {reference.name}",
        )
    return rest


def _meta_values(questions: Sequence[Question], field: str) -> list[str | None]:
    """Return each question's value of a field, None if it has none."""
    values = [q.meta_value(field) for q in questions]
    if len(values) and all(value is None for value in values):
        keys = {key for q in questions for key in (*q.passage.meta, *q.meta)}
        if not keys:
            message = f"the questions have no meta to group by {field!r}"
            raise UsageError(
                message, field="meta key", found=field, expected="a key of the questions' meta"
            )
        raise unknown_name("meta key", field, keys)
    return [None if value is None else str(value) for value in values]


def merge_groups(groups: NDArray[np.int64], values: Sequence[Hashable | None]) -> NDArray[np.int64]:
    """Join the groups that share a value; a joined group is ordered by the smallest of its
    groups.
    """
    parent = list(range(int(groups.max(initial=-1)) + 1))

    def root(group: int) -> int:
        while parent[group] != group:
            # path halving keeps the chains of this union-find short
            parent[group] = parent[parent[group]]
            group = parent[group]
        return group

    first: dict[Hashable, int] = {}
    for group, value in zip(groups.tolist(), values, strict=True):
        if value is not None:
            first_root, second_root = root(group), root(first.setdefault(value, group))
            parent[max(first_root, second_root)] = min(first_root, second_root)
    roots = np.array([root(group) for group in range(len(parent))], dtype=np.int64)
    _, numbers = np.unique(roots[groups], return_inverse=True)
    return numbers


def shared_passages(dataset: Dataset, reference: Dataset) -> list[Passage]:
    """Return the passages of `dataset` that are equal to a passage of `reference`, or near
    duplicates of one.
    """
    # Texts are read again each time: those of a large dataset are in a file and not in memory.
    similar = similar_texts(
        [passage.text for passage in dataset.passages],
        [passage.text for passage in reference.passages],
    )
    near_positions = set(similar.pairs[:, 0].tolist())
    equal_texts = {normalised_text(passage.text) for passage in reference.passages} - {""}
    shared = []
    for i, passage in enumerate(dataset.passages):
        text = passage.text
        if text.strip() and (i in near_positions or normalised_text(text) in equal_texts):
            shared.append(passage)
    return shared


def _join_near_duplicates(
    groups: NDArray[np.int64], questions: Sequence[Question]
) -> NDArray[np.int64]:
    """Join the groups whose passages are near duplicates or that share a question with its
    options.
    """
    texts = _grouped_texts(questions)
    distinct = list(dict.fromkeys(texts))
    number = dict(zip(distinct, near_duplicate_groups(distinct).tolist(), strict=True))
    joined = merge_groups(groups, [number[text] for text in texts])
    return merge_groups(joined, _repeatable_keys(questions))


def _repeatable_keys(questions: Sequence[Question]) -> list[Hashable | None]:
    """Return for each question the words and options that identify it anywhere, or None if they
    are too common.
    """
    texts = [folded_text(q.text) if q.task.has_choices else "" for q in questions]
    analyzer = get_analyzer("char+stop=smart")
    specific = {
        text for text in _repeated(texts) if len(set(analyzer.analyze(text))) >= _CONTENT_WORDS
    }
    # Options are folded only where they begin as those of a question that is asked twice.
    starts = [_starts_of_options(question) for question in questions]
    likely = {start for start, text in zip(starts, texts, strict=True) if text in specific}
    keys: list[tuple[str, tuple[str, ...]] | None] = []
    texts_of: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    passages_of: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for question, text, start in zip(questions, texts, starts, strict=True):
        if start not in likely:
            keys.append(None)
            continue
        options = tuple(sorted(map(folded_text, candidate_texts(question.candidates))))
        keys.append((text, options))
        texts_of[options].add(text)
        passages_of[options].add(normalised_text(question.passage.text))
    n_passages = len({id(q.passage) for q in questions if q.task.has_choices})
    max_passages = max(2, _COMMON_SHARE * n_passages)
    identifying: set[tuple[str, tuple[str, ...]]] = set()
    for options, option_texts in texts_of.items():
        if len(option_texts) == 1 and len(passages_of[options]) <= max_passages:
            identifying.update((text, options) for text in option_texts & specific)
    return [key if key in identifying else None for key in keys]


def _starts_of_options(question: Question) -> tuple[str, ...] | None:
    """Return the first letters of the options, which are the same if the options are."""
    if not question.task.has_choices:
        return None
    texts = candidate_texts(question.candidates)
    return tuple(sorted([text.lstrip(_BEFORE_TEXT)[:6].casefold() for text in texts]))


def _repeated(texts: Iterable[str]) -> set[str]:
    """Return the texts that occur more than once."""
    seen: set[str] = set()
    repeated: set[str] = set()
    for text in texts:
        (repeated if text in seen else seen).add(text)
    return repeated
