"""The tables of features, one for questions with options and one for cloze questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
from classic_rc.solvers.feature_ranker.texts import (
    QUESTION_TYPES,
    RankerTexts,
    TrainingWords,
    passage_of_candidates,
    ranker_texts,
)
from classic_rc.solvers.feature_ranker.vectors import VECTOR_FEATURES
from classic_rc.text.dream import spoken_sentences

LEXICAL_SCORE = "lexical score"


@dataclass(frozen=True)
class FeatureTable:
    """The features of some tasks' questions: their names, and the functions that compute them."""

    name: str
    groups: Mapping[str, tuple[str, ...]]  # the names of each group's features, in order
    crossed: frozenset[str]  # the features that are crossed with the types of questions
    default: frozenset[str]  # the groups that are in use if nothing else is said
    learned: frozenset[str]  # the groups that are learned from training words; the others are computed
    merges_equal: bool  # whether candidates of a question with equal texts are one candidate
    # Builds the texts of questions; those of inputs that are not read are empty.
    texts: Callable[[Sequence[Question], frozenset[str]], Any]
    # Returns the features of some groups that are not learned, a row for each candidate of the ranker.
    compute: Callable[[Any, Collection[str], TrainingWords | None], NDArray[np.floating[Any]]]
    # Returns whether the passage has evidence for each distinct candidate.
    has_evidence: Callable[[Any], NDArray[np.bool_]]
    # Returns the sentence with the most evidence for each distinct candidate, or -1.
    evidence: Callable[[Any, TrainingWords | None], NDArray[np.int64]]
    # Returns the sentences that `evidence` counts, as character offsets.
    sentences: Callable[[Passage], list[tuple[int, int]]]

    def names_of(self, groups: Collection[str]) -> list[str]:
        """Return the names of the features of some groups, in order."""
        return [name for group, names in self.groups.items() if group in groups for name in names]

    def group_of(self, name: str) -> str:
        """Return the group of a feature."""
        return next(group for group, names in self.groups.items() if name in names)


def _option_texts(questions: Sequence[Question], inputs: frozenset[str]) -> RankerTexts:
    texts = ranker_texts(questions)
    encoded = texts.encoded.with_arrays(texts.encoded.arrays.with_inputs(inputs))
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


def _option_features(
    texts: RankerTexts, groups: Collection[str], words: TrainingWords | None
) -> NDArray[np.floating[Any]]:
    assert words is not None
    return dense_features(texts, words.rarity(texts.encoded.vocabulary), groups)


def _option_has_words(texts: RankerTexts) -> NDArray[np.bool_]:
    arrays = texts.encoded.arrays
    passages = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
    lengths = np.diff(arrays.candidate_offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    found = occurrences(passages, passage_of_candidates(arrays)[owner], arrays.candidate_tokens) > 0
    return np.bincount(owner[found], minlength=len(lengths)) > 0


def _option_evidence(texts: RankerTexts, words: TrainingWords | None) -> NDArray[np.int64]:
    assert words is not None
    return evidence_sentences(texts, words.rarity(texts.encoded.vocabulary))


def _option_sentences(passage: Passage) -> list[tuple[int, int]]:
    return [(sentence.start, sentence.end) for sentence in spoken_sentences(passage)]


_OPTION_GROUPS = {**FEATURES, "vectors": VECTOR_FEATURES, "lexical": (LEXICAL_SCORE,)}

OPTIONS = FeatureTable(
    "options",
    _OPTION_GROUPS,
    crossed=MAIN_FEATURES | {LEXICAL_SCORE, *VECTOR_FEATURES},
    default=frozenset(_OPTION_GROUPS) - {"position"},  # where annotators put right options is no part of reading
    learned=frozenset({"vectors", "lexical"}),
    merges_equal=False,
    texts=_option_texts,
    compute=_option_features,
    has_evidence=_option_has_words,
    evidence=_option_evidence,
    sentences=_option_sentences,
)
"""The features of options: matches with question and passage, count vectors, and a learned lexical score."""


def _entity_texts(questions: Sequence[Question], inputs: frozenset[str]) -> EntityTexts:
    texts = entity_texts(questions)
    encoded = texts.encoded.with_arrays(texts.encoded.arrays.with_inputs(inputs))
    n_passages = len(encoded.arrays.passage_offsets) - 1
    changes: dict[str, Any] = {}
    if "passage" not in inputs:
        changes["sentence_offsets"] = np.zeros(1, dtype=np.int64)
        changes["passage_sentences"] = np.zeros(n_passages + 1, dtype=np.int64)
    if "question" not in inputs:
        changes["placeholders"] = np.zeros(len(encoded), dtype=np.int64)
    return replace(texts, encoded=encoded, **changes) if changes else texts


def _entity_features(
    texts: EntityTexts, groups: Collection[str], words: TrainingWords | None
) -> NDArray[np.floating[Any]]:
    return entity_features(texts, groups)


def _entity_is_mentioned(texts: EntityTexts) -> NDArray[np.bool_]:
    return phrase_counts(texts.encoded.arrays) > 0


def _entity_evidence(texts: EntityTexts, words: TrainingWords | None) -> NDArray[np.int64]:
    return mention_sentences(texts)


ENTITIES = FeatureTable(
    "entities",
    ENTITY_FEATURES,
    crossed=frozenset(),
    default=frozenset(ENTITY_FEATURES),
    learned=frozenset(),
    merges_equal=True,
    texts=_entity_texts,
    compute=_entity_features,
    has_evidence=_entity_is_mentioned,
    evidence=_entity_evidence,
    sentences=entity_sentences,
)
"""The features of cloze candidates, after Chen et al. 2016. Nothing but their weights is learned."""


TABLES: Mapping[Task, FeatureTable] = {
    Task.SINGLE_CHOICE: OPTIONS,
    Task.MULTIPLE_ANSWER: OPTIONS,
    Task.CLOZE: ENTITIES,
}
"""The features of each task that the ranker answers."""
