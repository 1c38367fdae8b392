"""Similar passages of a dataset and its training data: each with the one that it repeats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from classic_rc.commands.check.option_arrays import Floats, Integers, PassageTexts
from classic_rc.near_duplicates import connect_pairs, first_equal, similar_texts
from classic_rc.questions import Dataset, Passage
from classic_rc.text.differences import words_only


class Copy(NamedTuple):
    """A passage or question that repeats another one; both are numbers."""

    kind: str  # the name of the kind of duplicate
    number: int
    partner: int  # earlier in the dataset, or in the training data
    similarity: float


class SimilarPassages:
    """The similar passages of a dataset and its training data, and the groups that they connect.

    The passages of the dataset have the first numbers.
    """

    def __init__(self, dataset: Dataset, train: Dataset | None) -> None:
        train_passages = () if train is None else train.passages
        self.n_dataset = len(dataset.passages)
        self.passages: list[Passage] = [*dataset.passages, *train_passages]
        self.number = {id(passage): i for i, passage in enumerate(self.passages)}
        texts = PassageTexts(self.passages)
        dataset_texts, train_texts = PassageTexts(dataset.passages), PassageTexts(train_passages)
        self._within = similar_texts(dataset_texts)
        across = (
            similar_texts(dataset_texts, train_texts) if train_passages else similar_texts([], [])
        )
        self._across = across._replace(pairs=across.pairs + np.array([0, self.n_dataset]))
        pairs = np.concatenate([self._within.pairs, self._across.pairs])
        self.similar = connect_pairs(len(texts), pairs)
        is_equal = [_are_equal(texts[a], texts[b]) for a, b in pairs.tolist()]
        equal = pairs[np.array(is_equal, dtype=bool)]
        # Training passages that are equal to one another are joined by the first one of `dataset`
        # that they equal.
        equal_in_train = _equal_pairs(train_texts) + self.n_dataset
        self.equal = connect_pairs(len(texts), np.concatenate([equal, equal_in_train]))

    def copies(self) -> Iterator[Copy]:
        """Yield each passage with the most similar one before it, and in training data."""
        first, second = self._within.pairs.T
        repeated = _most_similar(second, first, self._within.similarity)
        numbers, copied = self._across.pairs.T
        in_train = _most_similar(numbers, copied, self._across.similarity)
        for place, partners in (("repeated", repeated), ("in-train", in_train)):
            for number, (partner, similarity) in partners.items():
                text = self.passages[number].text
                if not text.strip():
                    continue
                if _are_equal(text, self.passages[partner].text):
                    yield Copy(f"passage-{place}", number, partner, 1.0)
                else:
                    yield Copy(f"passage-nearly-{place}", number, partner, similarity)


def _equal_pairs(texts: PassageTexts) -> Integers:
    """Return the pairs of each text that repeats an earlier one and the first equal one."""
    first = first_equal(texts)
    copies = np.flatnonzero(first != np.arange(len(first)))
    return np.stack([first[copies], copies], axis=1)


def _are_equal(first: str, second: str) -> bool:
    """Return whether texts are equal up to case, blanks and punctuation."""
    return first == second or words_only(first) == words_only(second)


def _most_similar(
    numbers: Integers, partners: Integers, similarity: Floats
) -> dict[int, tuple[int, float]]:
    """Return for each number the partner with the highest similarity, the earliest of several,
    and that.
    """
    order = np.lexsort((partners, -similarity, numbers))
    numbers, partners, similarity = numbers[order], partners[order], similarity[order]
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    best = zip(partners[first].tolist(), similarity[first].tolist(), strict=True)
    return dict(zip(numbers[first].tolist(), best, strict=True))
