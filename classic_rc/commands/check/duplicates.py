"""Duplicates: passages, questions and sets of options that a dataset repeats or shares with
training data.

Passages are compared as :func:`classic_rc.near_duplicates.similar_texts` says. A question alone is
no evidence, because datasets ask the same question about many passages: *two questions are near
copies if three quarters of their words agree, or one is a part of the other, and they also agree in
their passage or in most words of their options (without options, in their gold).* With the same
passage and the same options, four tenths of the words are enough. Questions whose gold contradicts
each other are different questions, or one question with another gold
(:mod:`classic_rc.commands.check.other_gold`), which is a defect of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.kinds import EXAMPLES, DefectKind, Finding, Severity
from classic_rc.commands.check.option_arrays import PassageTexts
from classic_rc.commands.check.other_gold import (
    contradict,
    find_cause,
    gold_keys,
    have_same_options,
    is_same_question,
)
from classic_rc.commands.check.word_bags import WordBags, shared_bits, shared_content
from classic_rc.datasets.registry import TrainingData, as_dataset
from classic_rc.equality import folded_text, option_forms
from classic_rc.kernels.arrays import distinct
from classic_rc.kernels.bags import (
    least_shared,
    overlapping_bags,
    shared_words,
)
from classic_rc.near_duplicates import (
    LENGTH_RATIO,
    SHORT_SHARE,
    are_similar_words,
    connect_pairs,
    first_equal,
    similar_texts,
)
from classic_rc.questions import Dataset, Question, candidate_texts
from classic_rc.text.differences import word_diff, words_only

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

DUPLICATE_KINDS = (
    DefectKind(
        "question-in-train",
        _E,
        "questions that are in the training data",
        "their answers can be looked up",
    ),
    DefectKind(
        "gold-differs-in-train",
        _E,
        "training questions with another gold",
        "one of the two must be wrong",
    ),
    DefectKind(
        "gold-differs", _E, "questions repeated with different gold", "one of the two must be wrong"
    ),
    DefectKind(
        "question-repeated", _W, "questions repeated about a passage", "counted more than once"
    ),
    DefectKind(
        "question-reused", _W, "questions reused with the same options", "answers may carry over"
    ),
    DefectKind(
        "question-nearly-repeated", _W, "near copies of another question", "answers may carry over"
    ),
    DefectKind(
        "question-nearly-in-train",
        _W,
        "near copies of training questions",
        "their answers may be looked up",
    ),
    DefectKind(
        "passage-repeated",
        _W,
        "passages with the text of another one",
        "folds and splits may separate them",
    ),
    DefectKind(
        "passage-nearly-repeated", _W, "near copies of another passage", "splits may separate them"
    ),
    DefectKind(
        "passage-in-train",
        _W,
        "passages that are in the training data",
        "seen in training, then tested on",
    ),
    DefectKind(
        "passage-nearly-in-train", _W, "near copies of training passages", "nearly seen in training"
    ),
    DefectKind(
        "options-repeated", _N, "options of another question", "they may suggest the answer"
    ),
    DefectKind(
        "options-in-train", _N, "options of a training question", "they may suggest the answer"
    ),
)
"""The kinds of duplicates, the most severe first. Repetitions are counted from the second time
on. Texts are equal if they differ only in case, white space and punctuation; options, as
:mod:`classic_rc.equality` says. Near copies are not equal.
"""

COPIES = frozenset(
    kind.name
    for kind in DUPLICATE_KINDS
    if kind.severity is not _N and kind.name.startswith(("question-", "passage-"))
) - {"question-reused"}
"""The names of the kinds that are copies of a passage or a question.

A question with another gold is none: the other one does not tell its answer. Its passage can be.
"""
OTHER_GOLD = frozenset(("gold-differs", "gold-differs-in-train"))
"""The names of the kinds of questions that have another gold than a copy of them."""

_OPTION_SHARE = 0.6
"""Near copies of questions have at least this share of the words of the longer set of options in
common, or of the options of the larger set.
"""
_LEAST_SHARE = 0.4
"""Below this share of the words of the longer set of options, options are not compared."""
_SAME_OPTIONS = 0.75
"""Sets of options of different questions are near copies from this share on."""
_EQUAL_OPTIONS, _SAME_QUESTION = 0.9, 0.4
"""About one passage, near copies have these shares of the words of the options and of the
question in common.
"""
_EQUAL_CONTENT, _NEAR_CONTENT, _OPTIONS_CONTENT = 3, 4, 8
"""How many different content words equal questions, near copies, and sets of options have in
common at least, if their passages differ. Fewer words do not identify a source.
"""
_BITS = 1.25
"""The words that near copies about different passages have in common are less likely than one of
all pairs of questions to this power. So what a dataset asks again and again, with other names or
numbers, does not count.
"""
_MAX_USES = 3
"""A set of options of more passages, or of more different questions, is a template and
identifies no source.
"""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """A passage or question, and the one that it repeats."""

    id: str
    other: str  # earlier in the dataset, or in the training data
    similarity: float
    """1 for equal texts, else the share of the longer text that both have: of its 4-grams, or of
    its words if the texts are short or questions with their options.
    """
    text: str
    other_text: str
    golds: tuple[str, ...] = ()  # of both, if they differ
    cause: str | None = None  # why they differ, if the options tell

    def diff(self, width: int = 96) -> str:
        """Return what differs, on one line of at most `width` characters
        (:func:`~classic_rc.text.differences.word_diff`)."""
        if not self.golds:
            return word_diff(self.other_text, self.text, width)
        cause = f"; {self.cause}" if self.cause else ""
        room = (width - len(cause)) // 2 - 8
        gold, other_gold = (text[:room] for text in self.golds)
        return f"gold [-{other_gold}-] {{+{gold}+}}{cause}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "other": self.other,
            "similarity": round(self.similarity, 4),
            "diff": self.diff(),
            **({"golds": list(self.golds), "cause": self.cause} if self.golds else {}),
        }


@dataclass(frozen=True, slots=True)
class DuplicateFinding(Finding):
    """A kind of duplicates with all its pairs."""

    pairs: tuple[
        DuplicatePair, ...
    ] = ()  # one per passage or question, the most similar; in the dataset's order

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with all pairs."""
        return {**Finding.to_dict(self), "pairs": [pair.to_dict() for pair in self.pairs]}


def find_duplicates(
    dataset: Dataset, train: TrainingData | None = None
) -> tuple[DuplicateFinding, ...]:
    """Find equal and nearly equal passages, questions and sets of options, within a dataset and in
    training data.

    Near copies are cut off, have a few words replaced, other sentence order, options in another
    order, or another option. Questions that many passages have in common, and options that many
    questions have in common, are not duplicates.

    Parameters
    ----------
    dataset : Dataset
        Gold may be hidden.
    train : Dataset or sequence of Dataset, optional

    Returns
    -------
    tuple of DuplicateFinding
        One per kind that was found, in the order of :data:`DUPLICATE_KINDS`.

    Examples
    --------
    >>> import classic_rc
    >>> row = {
    ...     "id": "q1",
    ...     "passage": "Nora planted beans in spring.",
    ...     "gold": 0,
    ...     "question": "What did Nora plant in spring?",
    ...     "candidates": ["beans", "a tree", "corn"],
    ... }
    >>> copy = {**row, "id": "t1", "question": "What did Nora plant in the spring?"}
    >>> dev, train = classic_rc.from_rows([row]), classic_rc.from_rows([copy])
    >>> for finding in find_duplicates(dev, train):
    ...     print(
    ...         finding.kind.name,
    ...         finding.pairs[0].id,
    ...         finding.pairs[0].other,
    ...         finding.pairs[0].diff(),
    ...     )
    question-nearly-in-train q1 t1 in [-the-] spring? …
    passage-in-train passage-1 passage-1 equal
    """
    train = as_dataset(train)
    pairs_by_kind: dict[str, list[DuplicatePair]] = {}
    passages = _SimilarPassages(dataset, train)
    for kind, pair in (
        *passages.duplicates(),
        *_SimilarQuestions(dataset, train, passages).duplicates(),
    ):
        pairs_by_kind.setdefault(kind, []).append(pair)
    return tuple(
        DuplicateFinding(
            kind,
            len(pairs),
            tuple(pair.id for pair in pairs[:EXAMPLES]),
            detail=_count_causes(pairs),
            pairs=tuple(pairs),
        )
        for kind in DUPLICATE_KINDS
        if (pairs := pairs_by_kind.get(kind.name))
    )


def _count_causes(pairs: Sequence[DuplicatePair]) -> str:
    n = sum(pair.cause is not None for pair in pairs)
    return f"; in {n:,} the options are shuffled and the letter kept" if n else ""


def paired_ids(findings: Iterable[Finding], kinds: Collection[str]) -> set[str]:
    """Return the ids of the questions or passages of some kinds of duplicates."""
    return {
        pair.id
        for finding in findings
        if isinstance(finding, DuplicateFinding) and finding.kind.name in kinds
        for pair in finding.pairs
    }


_Duplicates = Iterator[tuple[str, DuplicatePair]]
"""Names of kinds with their pairs."""


class _SimilarPassages:
    """The similar passages of a dataset and its training data, and the groups that they connect."""

    def __init__(self, dataset: Dataset, train: Dataset | None) -> None:
        self.own = dataset.passages
        self.others = () if train is None else train.passages
        texts, other_texts, all_texts = (
            PassageTexts(p) for p in (self.own, self.others, (*self.own, *self.others))
        )
        self.within = similar_texts(texts)
        self.across = similar_texts(texts, other_texts) if self.others else similar_texts([], [])
        n, pairs = (
            len(texts),
            np.concatenate([self.within.pairs, self.across.pairs + np.array([0, len(texts)])]),
        )
        self.similar = connect_pairs(len(all_texts), pairs)
        equal = np.array(
            [_are_equal(all_texts[a], all_texts[b]) for a, b in pairs.tolist()], dtype=bool
        )
        # Training passages that are equal to one another are joined by the first one of `dataset`
        # that they equal.
        self.equal = connect_pairs(
            len(all_texts), np.concatenate([pairs[equal], self._equal_others(n)])
        )
        self.number = {id(p): i for i, p in enumerate((*self.own, *self.others))}

    def _equal_others(self, n: int) -> NDArray[np.int64]:
        first = first_equal(PassageTexts(self.others))
        copies = np.flatnonzero(first != np.arange(len(first)))
        return np.stack([first[copies], copies], axis=1) + n

    def duplicates(self) -> _Duplicates:
        """Yield each passage with the most similar one before it, and in training data."""
        first, second = self.within.pairs.T
        of_dataset = _most_similar(second, first, self.within.similarity)
        in_train = _most_similar(
            self.across.pairs[:, 0], self.across.pairs[:, 1], self.across.similarity
        )
        for place, partners, kind in (
            ("repeated", of_dataset, self.own),
            ("in-train", in_train, self.others),
        ):
            for position, (partner, similarity) in partners.items():
                passage, copied = self.own[position], kind[partner]
                if passage.text.strip():
                    equal = _are_equal(passage.text, copied.text)
                    nearly, similarity = ("", 1.0) if equal else ("nearly-", similarity)
                    pair = DuplicatePair(
                        passage.id, copied.id, similarity, passage.text, copied.text
                    )
                    yield f"passage-{nearly}{place}", pair


def _most_similar(
    items: NDArray[np.int64], others: NDArray[np.int64], similarity: NDArray[np.float64]
) -> dict[int, tuple[int, float]]:
    """Return for each item the other one with the highest similarity, the earliest of several,
    and that.
    """
    order = np.lexsort((others, -similarity, items))
    items, others, similarity = items[order], others[order], similarity[order]
    first = np.flatnonzero(np.diff(items, prepend=-1))
    best = zip(others[first].tolist(), similarity[first].tolist(), strict=True)
    return dict(zip(items[first].tolist(), best, strict=True))


def _are_equal(first: str, second: str) -> bool:
    """Return whether texts are equal up to case, blanks and punctuation."""
    return first == second or words_only(first) == words_only(second)


def _is_common(codes: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each code has more than `_MAX_USES` different values."""
    n_values = int(values.max(initial=0)) + 1
    counts = np.bincount(
        distinct(codes * n_values + values) // n_values, minlength=int(codes.max(initial=-1)) + 1
    )
    return np.asarray(counts[codes] > _MAX_USES)


class _SimilarQuestions:
    """The similar questions of a dataset and its training data. Those of the dataset have the
    first numbers.
    """

    def __init__(self, dataset: Dataset, train: Dataset | None, passages: _SimilarPassages) -> None:
        self.questions: list[Question] = [*dataset, *(train or ())]
        self.n_own = len(dataset)
        self.is_own = np.arange(len(self.questions)) < self.n_own
        self.passage = np.array(
            [passages.number[id(q.passage)] for q in self.questions], dtype=np.int64
        )
        self.similar_passage = passages.similar[self.passage]
        self.equal_passage = passages.equal[self.passage]
        self.texts = [q.text for q in self.questions]
        self.text = first_equal(self.texts)
        self.words = WordBags.of(self.texts)
        self.has_options = np.array([q.task.has_choices for q in self.questions], dtype=bool)
        options = (
            candidate_texts(q.candidates) if q.task.has_choices else () for q in self.questions
        )
        self.options = WordBags.of([" | ".join(texts) for texts in options])

    @property
    def least_bits(self) -> float:
        """What the common words of two questions about different passages say at least."""
        return _BITS * float(np.log2(max(self.n_own * len(self.questions), 2)))

    @cached_property
    def is_template(self) -> NDArray[np.bool_]:
        """Whether many passages or many different questions have the options of each question."""
        codes = np.unique(self.options.codes(), return_inverse=True)[1].reshape(-1)
        return _is_common(codes, self.equal_passage) | _is_common(codes, self.text)

    @cached_property
    def is_asked_often(self) -> NDArray[np.bool_]:
        """Whether each question is asked about many passages."""
        return _is_common(self.text, self.equal_passage)

    def duplicates(self) -> _Duplicates:
        """Yield each question with the most similar one, by kind; only the first kind that
        applies.
        """
        best: dict[tuple[str, int], tuple[float, int]] = {}
        self._note_equal(best)
        for search in (self._near_questions, self._near_options):
            paired = {(kind.endswith("in-train"), i) for kind, i in best}
            for prefix, first, second, similarity in search():
                in_train = second >= self.n_own
                item, partner = (first, second) if in_train else (second, first)
                key = f"{prefix}{'in-train' if in_train else 'repeated'}", item
                is_new = (in_train, item) not in paired or prefix == "gold-differs-"
                if is_new and best.get(key, (0.0, 0))[0] < similarity:
                    best[key] = similarity, partner
        for (kind, item), (similarity, partner) in sorted(
            best.items(), key=lambda entry: entry[0][1]
        ):
            near = kind.replace("gold-differs", "question-nearly")
            nearest, copied = best.get((near, item), (0.0, 0))
            if nearest > similarity and self.equal_passage[copied] == self.equal_passage[partner]:
                continue  # of the questions about this passage, another one is the copy
            kind = kind.replace("differs-repeated", "differs")
            question, partner_question = self.questions[item], self.questions[partner]
            pair = DuplicatePair(
                question.id,
                partner_question.id,
                similarity,
                _item_text(question),
                _item_text(partner_question),
            )
            if kind in OTHER_GOLD:
                golds = tuple(
                    " + ".join(sorted(q.gold_texts)) for q in (question, partner_question)
                )
                pair = replace(pair, golds=golds, cause=find_cause(question, partner_question))
            yield kind, pair

    def _note_equal(self, best: dict[tuple[str, int], tuple[float, int]]) -> None:
        """Note the questions that are equal to an earlier one, with an equal passage or equal
        options.
        """
        counts = np.bincount(self.text, minlength=len(self.text))
        repeated = np.flatnonzero((counts[self.text] > 1) & (self.text < self.n_own))
        dataset_questions, others = (
            repeated[repeated < self.n_own].tolist(),
            repeated[repeated >= self.n_own].tolist(),
        )
        for place, earlier_questions, elsewhere in (
            ("repeated", [], "reused"),
            ("in-train", others, "in-train"),
        ):
            about: dict[Hashable, list[int]] = {}
            first_with_options: dict[Hashable, int] = {}
            for i in (*earlier_questions, *dataset_questions):
                options = self._option_key(i)
                keys = (int(self.text[i]), int(self.equal_passage[i])), (int(self.text[i]), options)
                earlier = about.setdefault(keys[0], [])
                if i < self.n_own:
                    agreeing_earlier = (j for j in earlier if self._agree(i, j))
                    partner = next(agreeing_earlier, None)
                    if partner is not None and self._has_other_gold(i, partner):
                        best[f"gold-differs-{place}", i] = 1.0, partner
                        if place == "in-train":  # answers can be looked up where gold agrees
                            agreeing = (
                                j for j in agreeing_earlier if not self._has_other_gold(i, j)
                            )
                            partner = next(agreeing, None)
                    if partner is not None:
                        best[f"question-{place}", i] = 1.0, partner
                    elif options and self._is_specific(i, first_with_options.get(keys[1])):
                        best[f"question-{elsewhere}", i] = 1.0, first_with_options[keys[1]]
                if i >= self.n_own or place == "repeated":
                    earlier.append(i)
                    first_with_options.setdefault(keys[1], i)

    def _option_key(self, i: int) -> tuple[str, ...]:
        if not self.has_options[i]:
            return ()
        return option_keys(self.questions[i])

    def _agree(self, first: int, second: int) -> bool:
        """Return whether equal questions share half of their options or words; else they are
        different items.
        """
        if not self.has_options[first]:
            return True
        pair = np.array([first]), np.array([second])
        shared = shared_words(self.options.words, self.options.offsets, *pair)
        return bool(self._have_similar_options(*pair, shared, 0.5)[0])

    def _is_specific(self, first: int, second: int | None) -> bool:
        """Return whether an equal question with equal options about another passage identifies a
        source.
        """
        if second is None or self.is_template[first] or self._has_other_gold(first, second):
            return False
        pair = np.array([first]), np.array([second])
        all_bags = (self.words, self.options)
        return sum(int(shared_content(bags, *pair)[0]) for bags in all_bags) >= _EQUAL_CONTENT

    def _near_questions(self) -> _SimilarPairs:
        """Yield near copies of questions, apart from those with another gold."""
        for first, second in (
            self._about_similar_passages(),
            self._with_passage_and_options(),
            self._with_similar_options(),
            self._with_equal_gold(),
        ):
            shared, sizes = (
                np.zeros(len(first), dtype=np.int64),
                np.zeros(len(self.questions), dtype=np.int64),
            )
            for bags in (self.words, self.options):
                shared += shared_words(bags.words, bags.offsets, first, second)
                sizes += bags.sizes
            similarity = shared / np.maximum(np.maximum(sizes[first], sizes[second]), 1)
            for a, b, value in zip(
                first.tolist(), second.tolist(), similarity.tolist(), strict=True
            ):
                if not contradict(self.questions[a], self.questions[b]):
                    yield "question-nearly-", a, b, value
                elif self._has_other_gold(a, b):
                    yield "gold-differs-", a, b, value

    def _has_other_gold(self, first: int, second: int) -> bool:
        """Return whether two questions are one question with two golds."""
        question, partner = self.questions[first], self.questions[second]
        if not (have_same_options(question, partner) and contradict(question, partner)):
            return False
        is_same_passage = bool(self.equal_passage[first] == self.equal_passage[second])
        if self.text[first] == self.text[second]:
            if is_same_passage or not self.has_options[first]:
                return is_same_passage
        elif self.content.sizes[first] < _EQUAL_CONTENT or (
            is_same_passage and second < self.n_own
        ):
            # If the options say little, each word of the question may decide. Who writes two
            # questions about one passage means two questions.
            return False
        return is_same_question(question, partner)

    def _about_similar_passages(self) -> _Pairs:
        """Return pairs of similar questions about similar passages, with at least half of the
        options' words.
        """
        groups = self.similar_passage
        has_own = np.zeros(int(groups.max(initial=0)) + 1, dtype=bool)
        has_own[groups[: self.n_own]] = True
        first, second = self._similar_texts(self.words.within(groups), self.is_own, has_own[groups])
        shared = shared_words(self.options.words, self.options.offsets, first, second)
        similar = self._have_similar_options(first, second, shared, 0.5)
        return first[similar], second[similar]

    def _with_passage_and_options(self) -> _Pairs:
        """Return pairs of questions about similar passages with the same options, which say
        something.
        """
        has_content = self.has_options & (self.content.sizes >= _EQUAL_CONTENT)
        first, second, _ = overlapping_bags(
            self.options.within(self.similar_passage).words,
            self.options.offsets,
            least_shared(self.options.sizes, _EQUAL_OPTIONS),
            here=self.is_own & has_content,
            there=has_content,
        )
        shared = shared_words(self.words.words, self.words.offsets, first, second)
        similar = shared >= _SAME_QUESTION * np.maximum(
            self.words.sizes[first], self.words.sizes[second]
        )
        return first[similar], second[similar]

    def _similar_texts(
        self, bags: WordBags, here: NDArray[np.bool_], there: NDArray[np.bool_]
    ) -> _Pairs:
        """Return the pairs of questions whose texts are similar; `bags` are their words, or
        words within groups.
        """
        first, second, shared = overlapping_bags(
            bags.words,
            bags.offsets,
            least_shared(bags.sizes, SHORT_SHARE),
            here=here,
            there=there,
            part_share=LENGTH_RATIO,
        )
        similar = are_similar_words(self.words.words, self.words.offsets, first, second, shared)
        return first[similar], second[similar]

    def _have_similar_options(
        self,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        shared: NDArray[np.int64],
        min_share: float,
    ) -> NDArray[np.bool_]:
        """Return which pairs share so many words of the options, or so many of the options; or
        have none.
        """
        similar = shared >= min_share * np.maximum(
            self.options.sizes[first], self.options.sizes[second]
        )
        for i in np.flatnonzero(~similar).tolist():
            options, others = (
                Counter(self._option_key(int(first[i]))),
                Counter(self._option_key(int(second[i]))),
            )
            similar[i] = (options & others).total() >= min_share * max(
                options.total(), others.total()
            )
        return similar

    def _sharing_options(
        self,
        min_shared: NDArray[np.int64],
        bags: WordBags,
        here: NDArray[np.bool_],
        there: NDArray[np.bool_],
    ) -> _Pairs:
        """Return pairs of questions about different passages whose options, which are no
        template, share words.
        """
        usual = self.has_options & ~self.is_template
        first, second, _ = overlapping_bags(
            bags.words, bags.offsets, min_shared, here=here & usual, there=there & usual
        )
        apart = self.similar_passage[first] != self.similar_passage[second]
        return first[apart], second[apart]

    def _least_content(self, share: float) -> NDArray[np.int64]:
        """Return how many content words sets of options have in common that share so many of
        their words.
        """
        others = self.options.sizes - self.content.sizes  # stop words and repetitions
        return np.maximum(least_shared(self.options.sizes, share) - others, _OPTIONS_CONTENT)

    @cached_property
    def content(self) -> WordBags:
        """The different content words of the options."""
        return self.options.content()

    @cached_property
    def similar_question(self) -> NDArray[np.int64]:
        """The groups of questions that similar texts connect, about any passage. Options decide
        within a group.
        """
        is_first = self.text == np.arange(len(self.text))
        similar = np.stack(self._similar_texts(self.words, is_first, is_first), axis=1)
        empty = np.flatnonzero(self.words.sizes == 0)
        equal = np.stack([self.text, np.arange(len(self.text))], axis=1)
        without_words = np.stack(
            [np.full_like(empty, empty.min(initial=len(self.text))), empty], axis=1
        )
        return connect_pairs(len(self.text), np.concatenate([similar, equal, without_words]))

    def _with_similar_options(self) -> _Pairs:
        groups, often = self.similar_question, self.is_asked_often
        everywhere = np.ones(len(often), dtype=bool)
        min_shared = least_shared(self.options.sizes, _LEAST_SHARE)
        seldom = self._sharing_options(
            min_shared, self.options.within(groups), self.is_own & ~often, ~often
        )
        min_shared = self._least_content(_LEAST_SHARE)
        usual = self._sharing_options(
            min_shared, self.content.within(groups), self.is_own, everywhere
        )
        has_often = often[usual[0]] | often[usual[1]]
        first, second = (
            np.concatenate([a, b[has_often]]) for a, b in zip(seldom, usual, strict=True)
        )
        words, offsets = self.words[:2]
        likely = are_similar_words(
            words, offsets, first, second, shared_words(words, offsets, first, second)
        )
        first, second = first[likely], second[likely]
        in_options = shared_content(self.options, first, second)
        content = in_options + shared_content(self.words, first, second)
        is_asked_often = often[first] | often[second]
        bits = shared_bits(self.options, first, second) + shared_bits(self.words, first, second)
        copies = (content >= _NEAR_CONTENT) & (bits >= self.least_bits)
        copies &= ~is_asked_often | (in_options >= _OPTIONS_CONTENT)
        first, second = first[copies], second[copies]
        shared = shared_words(self.options.words, self.options.offsets, first, second)
        copies = shared >= _LEAST_SHARE * np.maximum(
            self.options.sizes[first], self.options.sizes[second]
        )
        first, second, shared = first[copies], second[copies], shared[copies]
        copies = self._have_similar_options(first, second, shared, _OPTION_SHARE)
        return first[copies], second[copies]

    def _with_equal_gold(self) -> _Pairs:
        """Return pairs of similar questions without options that have a gold text in common."""
        bags, here, there = self.words, self.is_own & ~self.has_options, ~self.has_options
        first, second = self._similar_texts(bags, here, there)
        similar = shared_content(bags, first, second) >= _NEAR_CONTENT
        similar &= shared_bits(bags, first, second) >= self.least_bits
        gold = {
            i: gold_keys(self.questions[i])
            for i in np.unique([first[similar], second[similar]]).tolist()
        }
        pairs = zip(first.tolist(), second.tolist(), similar.tolist(), strict=True)
        common = np.array([near and bool(gold[a] & gold[b]) for a, b, near in pairs], dtype=bool)
        return first[common], second[common]

    def _near_options(self) -> _SimilarPairs:
        """Yield the sets of options of different questions that are equal or nearly equal."""
        n = self.n_own
        keys = {self._option_key(i): i for i in range(len(self.questions) - 1, n - 1, -1)}
        for i in np.flatnonzero(~self.is_template[:n]).tolist() if keys else ():
            key = self._option_key(i)
            pair = np.array([i]), np.array([keys.get(key, i)])
            if (
                len(key) > 1
                and key in keys
                and shared_bits(self.options, *pair)[0] >= 2 * self.least_bits
            ):
                yield "options-", i, keys[key], 1.0
        everywhere = np.ones(len(self.is_own), dtype=bool)
        first, second = self._sharing_options(
            self._least_content(_SAME_OPTIONS), self.content, self.is_own, everywhere
        )
        shared = shared_words(self.options.words, self.options.offsets, first, second)
        share = shared / np.maximum(self.options.sizes[first], self.options.sizes[second])
        are_copies = share >= _SAME_OPTIONS
        first, second, share = first[are_copies], second[are_copies], share[are_copies]
        are_copies = shared_content(self.options, first, second) >= _OPTIONS_CONTENT
        are_copies &= shared_bits(self.options, first, second) >= self.least_bits
        for a, b, value in zip(
            first[are_copies].tolist(),
            second[are_copies].tolist(),
            share[are_copies].tolist(),
            strict=True,
        ):
            yield "options-", a, b, value


_Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
_SimilarPairs = Iterator[tuple[str, int, int, float]]
"""Prefixes of kinds, the numbers of two questions, the first below the second, and their
similarity.
"""


def option_keys(question: Question) -> tuple[str, ...]:
    """Return the options as they are compared, sorted."""
    return tuple(sorted(option_forms(candidate_texts(question.candidates))))


def _item_text(question: Question) -> str:
    """Return a question and its options, which are sorted, because their order does not matter."""
    if not question.task.has_choices:
        return question.text
    return " | ".join(
        (question.text, *sorted(candidate_texts(question.candidates), key=folded_text))
    )
