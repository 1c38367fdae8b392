"""The tables of features, one for questions with options and one for cloze questions, behind one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.cloze import phrase_counts
from classic_rc.kernels.pairs import occurrences, word_counts
from classic_rc.questions import Passage, Question, Task
from classic_rc.solvers.feature_ranker.entities import (
    ENTITY_FEATURES,
    EntityTexts,
    entity_features,
    entity_sentences,
    entity_texts,
    mention_sentences,
)
from classic_rc.solvers.feature_ranker.features import (
    FEATURES,
    MAIN_FEATURES,
    dense_features,
    evidence_sentences,
)
from classic_rc.solvers.feature_ranker.texts import QUESTION_TYPES, RankerTexts, ranker_texts
from classic_rc.solvers.feature_ranker.vectors import VECTOR_FEATURES
from classic_rc.solvers.feature_ranker.words import TrainingWords, passage_of_candidates
from classic_rc.text.dream import spoken_sentences
from classic_rc.text.encoded import EncodedDataset

LEXICAL_SCORE = "lexical score"

T = TypeVar("T", RankerTexts, EntityTexts)


class FeatureTable(ABC, Generic[T]):
    """The features of some tasks' questions: their names, and the functions that compute them."""

    name: ClassVar[str]
    groups: ClassVar[Mapping[str, tuple[str, ...]]]  # the names of each group's features, in order
    crossed: ClassVar[frozenset[str]]  # the features that are crossed with the types of questions
    default: ClassVar[frozenset[str]]  # the groups that are in use if nothing else is said
    learned: ClassVar[frozenset[str]]  # the groups that are learned from training words; the others are computed
    merges_equal: ClassVar[bool]  # whether candidates of a question with equal texts are one candidate

    @abstractmethod
    def texts(self, questions: Sequence[Question], inputs: frozenset[str]) -> T:
        """Build the texts of questions; those of inputs that are not read are empty."""

    @abstractmethod
    def compute(self, texts: T, groups: Collection[str], words: TrainingWords | None) -> NDArray[np.floating[Any]]:
        """Return the features of some groups that are not learned, a row for each candidate of the ranker."""

    @abstractmethod
    def has_evidence(self, texts: T) -> NDArray[np.bool_]:
        """Return whether the passage has evidence for each distinct candidate."""

    @abstractmethod
    def evidence(self, texts: T, words: TrainingWords | None) -> NDArray[np.int64]:
        """Return the sentence with the most evidence for each distinct candidate, or -1."""

    @abstractmethod
    def sentences(self, passage: Passage) -> list[tuple[int, int]]:
        """Return the sentences that :meth:`evidence` counts, as character offsets."""

    def names_of(self, groups: Collection[str]) -> list[str]:
        """Return the names of the features of some groups, in order."""
        return [name for group, names in self.groups.items() if group in groups for name in names]

    def group_of(self, name: str) -> str:
        """Return the group of a feature."""
        return self._group_of[name]

    @cached_property
    def _group_of(self) -> Mapping[str, str]:
        return {name: group for group, names in self.groups.items() for name in names}


class OptionTable(FeatureTable[RankerTexts]):
    """The features of options: matches with question and passage, count vectors, and a learned lexical score."""

    name = "options"
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {
        **FEATURES,
        "vectors": VECTOR_FEATURES,
        "lexical": (LEXICAL_SCORE,),
    }
    crossed = MAIN_FEATURES | {LEXICAL_SCORE, *VECTOR_FEATURES}
    default = frozenset(groups) - {"position"}  # where annotators put right options is no part of reading
    learned = frozenset({"vectors", "lexical"})
    merges_equal = False

    def texts(self, questions: Sequence[Question], inputs: frozenset[str]) -> RankerTexts:
        """Build the texts of questions."""
        texts = ranker_texts(questions)
        encoded = hide_inputs(texts.encoded, inputs)
        n_questions, n_passages = len(encoded), len(encoded.arrays.passage_offsets) - 1
        none = np.empty(0, dtype=np.int64)
        changes: dict[str, Any] = {}
        if "passage" not in inputs:
            changes |= {"sentence_offsets": np.zeros(1, dtype=np.int64), "turns": none, "speakers": none}
            changes["passage_sentences"] = np.zeros(n_passages + 1, dtype=np.int64)
        if "question" not in inputs:
            changes |= {"types": np.full(n_questions, len(QUESTION_TYPES))}
            changes["statements"] = encoded.arrays.candidate_tokens
            changes["statement_offsets"] = encoded.arrays.candidate_offsets
        if not changes:
            return texts
        return replace(texts, encoded=encoded, asked_speaker=np.full(n_questions, -1), **changes)

    def compute(
        self, texts: RankerTexts, groups: Collection[str], words: TrainingWords | None
    ) -> NDArray[np.floating[Any]]:
        """Return the dense features, a row for each candidate."""
        assert words is not None
        return dense_features(texts, words.rarity(texts.encoded.vocabulary), groups)

    def has_evidence(self, texts: RankerTexts) -> NDArray[np.bool_]:
        """Return whether the passage has a word of each distinct candidate."""
        arrays = texts.encoded.arrays
        passages = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
        lengths = np.diff(arrays.candidate_offsets)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        found = occurrences(passages, passage_of_candidates(arrays)[owner], arrays.candidate_tokens) > 0
        return np.bincount(owner[found], minlength=len(lengths)) > 0

    def evidence(self, texts: RankerTexts, words: TrainingWords | None) -> NDArray[np.int64]:
        """Return the sentence with the largest product of the coverages of question and candidate."""
        assert words is not None
        return evidence_sentences(texts, words.rarity(texts.encoded.vocabulary))

    def sentences(self, passage: Passage) -> list[tuple[int, int]]:
        """Return the sentences without the labels of speakers."""
        return [(sentence.start, sentence.end) for sentence in spoken_sentences(passage)]


class EntityTable(FeatureTable[EntityTexts]):
    """The features of cloze candidates, after Chen et al. 2016. Nothing but their weights is learned."""

    name = "entities"
    groups = ENTITY_FEATURES
    crossed: ClassVar[frozenset[str]] = frozenset()
    default = frozenset(groups)
    learned: ClassVar[frozenset[str]] = frozenset()
    merges_equal = True

    def texts(self, questions: Sequence[Question], inputs: frozenset[str]) -> EntityTexts:
        """Build the texts of questions."""
        texts = entity_texts(questions)
        encoded = hide_inputs(texts.encoded, inputs)
        n_passages = len(encoded.arrays.passage_offsets) - 1
        changes: dict[str, Any] = {}
        if "passage" not in inputs:
            changes["sentence_offsets"] = np.zeros(1, dtype=np.int64)
            changes["passage_sentences"] = np.zeros(n_passages + 1, dtype=np.int64)
        if "question" not in inputs:
            changes["placeholders"] = np.zeros(len(encoded), dtype=np.int64)
        return replace(texts, encoded=encoded, **changes) if changes else texts

    def compute(
        self, texts: EntityTexts, groups: Collection[str], words: TrainingWords | None
    ) -> NDArray[np.floating[Any]]:
        """Return the features, a row for each distinct candidate."""
        return entity_features(texts, groups)

    def has_evidence(self, texts: EntityTexts) -> NDArray[np.bool_]:
        """Return whether the passage mentions each distinct candidate."""
        return phrase_counts(texts.encoded.arrays) > 0

    def evidence(self, texts: EntityTexts, words: TrainingWords | None) -> NDArray[np.int64]:
        """Return the sentence of the mention that is nearest to the query's words."""
        return mention_sentences(texts)

    def sentences(self, passage: Passage) -> list[tuple[int, int]]:
        """Return the sentences; they also end at the marks of highlights."""
        return entity_sentences(passage)


OPTIONS, ENTITIES = OptionTable(), EntityTable()

TABLES: Mapping[Task, FeatureTable[Any]] = {
    Task.SINGLE_CHOICE: OPTIONS,
    Task.MULTIPLE_ANSWER: OPTIONS,
    Task.CLOZE: ENTITIES,
}
"""The features of each task that the ranker answers."""


def hide_inputs(encoded: EncodedDataset, inputs: frozenset[str]) -> EncodedDataset:
    """Return an encoding with empty passages or questions for the inputs that are not read."""
    arrays = encoded.arrays
    if "passage" not in inputs:
        arrays = arrays.without_passages()
    if "question" not in inputs:
        arrays = arrays.without_questions()
    return encoded.with_arrays(arrays)
