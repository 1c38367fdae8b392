"""The questions of a dataset and its training data as arrays, and what pairs of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.option_arrays import Integers
from classic_rc.commands.check.other_gold import contradict, have_same_options, is_same_question
from classic_rc.commands.check.similar_passages import SimilarPassages
from classic_rc.commands.check.word_bags import WordBags
from classic_rc.equality import option_forms
from classic_rc.kernels.arrays import distinct
from classic_rc.near_duplicates import first_equal
from classic_rc.questions import Dataset, Question, candidate_texts

EQUAL_CONTENT = 3
"""How many different content words equal questions have in common at least, if their passages
differ. Fewer words do not identify a source.
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


class QuestionPairs(NamedTuple):
    """Pairs of questions by number, the first below the second."""

    first: Integers
    second: Integers

    def where(self, holds: NDArray[np.bool_]) -> QuestionPairs:
        """Return the pairs for which something holds."""
        return QuestionPairs(self.first[holds], self.second[holds])


def pair_of(first: int, second: int) -> QuestionPairs:
    """Return a single pair."""
    return QuestionPairs(np.array([first]), np.array([second]))


class QuestionTable:
    """The questions of a dataset and its training data; those of the dataset have the first
    numbers.
    """

    def __init__(self, dataset: Dataset, train: Dataset | None, passages: SimilarPassages) -> None:
        self.questions: list[Question] = [*dataset, *(train or ())]
        self.n_dataset = len(dataset)
        self.in_dataset = np.arange(len(self.questions)) < self.n_dataset
        passage_numbers = [passages.number[id(q.passage)] for q in self.questions]
        passage = np.array(passage_numbers, dtype=np.int64)
        self.similar_passage = passages.similar[passage]
        self.equal_passage = passages.equal[passage]
        texts = [q.text for q in self.questions]
        self.text = first_equal(texts)
        self.words = WordBags.of(texts)
        self.has_options = np.array([q.task.has_choices for q in self.questions], dtype=bool)
        self.options = WordBags.of([" | ".join(_option_texts(q)) for q in self.questions])

    @cached_property
    def content(self) -> WordBags:
        """The different content words of the options."""
        return self.options.content()

    @property
    def least_bits(self) -> float:
        """What the common words of two questions about different passages say at least."""
        n_pairs = max(self.n_dataset * len(self.questions), 2)
        return _BITS * float(np.log2(n_pairs))

    @cached_property
    def is_template(self) -> NDArray[np.bool_]:
        """Whether many passages or many different questions have the options of each question."""
        codes = np.unique(self.options.codes(), return_inverse=True)[1]
        return _is_common(codes, self.equal_passage) | _is_common(codes, self.text)

    @cached_property
    def is_asked_often(self) -> NDArray[np.bool_]:
        """Whether each question is asked about many passages."""
        return _is_common(self.text, self.equal_passage)

    def option_key(self, i: int) -> tuple[str, ...]:
        """Return the options of a question as they are compared, sorted; none for a text."""
        return tuple(sorted(option_forms(_option_texts(self.questions[i]))))

    def have_similar_options(
        self, pairs: QuestionPairs, shared: Integers, min_share: float
    ) -> NDArray[np.bool_]:
        """Return which pairs share so many words of the options, or so many of the options; or
        have none.
        """
        similar = shared >= min_share * self.options.larger_sizes(*pairs)
        for i in np.flatnonzero(~similar).tolist():
            options = Counter(self.option_key(int(pairs.first[i])))
            others = Counter(self.option_key(int(pairs.second[i])))
            n_shared = (options & others).total()
            similar[i] = n_shared >= min_share * max(options.total(), others.total())
        return similar

    def has_other_gold(self, first: int, second: int) -> bool:
        """Return whether two questions are one question with two golds."""
        question, partner = self.questions[first], self.questions[second]
        if not (have_same_options(question, partner) and contradict(question, partner)):
            return False
        is_same_passage = bool(self.equal_passage[first] == self.equal_passage[second])
        if self.text[first] == self.text[second]:
            if is_same_passage or not self.has_options[first]:
                return is_same_passage
        elif self.content.sizes[first] < EQUAL_CONTENT or (
            is_same_passage and second < self.n_dataset
        ):
            # If the options say little, each word of the question may decide. Who writes two
            # questions about one passage means two questions.
            return False
        return is_same_question(question, partner)


def _option_texts(question: Question) -> Sequence[str]:
    return candidate_texts(question.candidates) if question.task.has_choices else ()


def _is_common(codes: Integers, values: Integers) -> NDArray[np.bool_]:
    """Return whether each code has more than `_MAX_USES` different values."""
    n_values = int(values.max(initial=0)) + 1
    counts = np.bincount(distinct(codes * n_values + values) // n_values)
    return np.asarray(counts[codes] > _MAX_USES)
