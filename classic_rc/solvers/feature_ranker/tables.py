"""The tables of features, one for questions with options and one for cloze questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.pairs import occurrences, word_counts
from classic_rc.questions import Passage, Question, Task
from classic_rc.solvers.feature_ranker.entities import (
    ENTITY_FEATURES,
    EntityTexts,
    entity_features,
    entity_sentences,
    entity_texts,
    is_mentioned,
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
    # the groups that are learned from training words; the others are computed
    learned: frozenset[str]
    merges_equal: bool  # whether candidates of a question with equal texts are one candidate
    # Builds the texts of questions; inputs that are not read have empty texts.
    texts: Callable[[Sequence[Question], frozenset[str]], Any]
    # Returns the features of some groups that are not learned, a row for each candidate of the
    # ranker, given the rarity of the words, if words are learned.
    compute: Callable[[Any, Any, Collection[str]], NDArray[np.floating[Any]]]
    # Returns whether the passage has evidence for each distinct candidate.
    has_evidence: Callable[[Any], NDArray[np.bool_]]
    # Returns the sentence with the most evidence for each distinct candidate, or -1.
    evidence: Callable[[Any, Any], NDArray[np.int64]]
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
    changes, n_questions = _without_inputs(texts, inputs), len(texts.encoded)
    if "passage" not in inputs:
        no_turns = np.empty(0, dtype=np.int64)
        changes |= {"turns": no_turns, "speakers": no_turns}
    if "question" not in inputs:
        arrays = texts.encoded.arrays
        changes |= {
            "types": np.full(n_questions, len(QUESTION_TYPES)),
            "statements": arrays.candidate_tokens,
            "statement_offsets": arrays.candidate_offsets,
        }
    return replace(texts, asked_speaker=np.full(n_questions, -1), **changes) if changes else texts


def _without_inputs(texts: RankerTexts | EntityTexts, inputs: frozenset[str]) -> dict[str, Any]:
    """Return the changes of both kinds of texts that empty the inputs that are not read."""
    if {"passage", "question"} <= inputs:
        return {}
    arrays = texts.encoded.arrays.with_inputs(inputs)
    changes: dict[str, Any] = {"encoded": texts.encoded.with_arrays(arrays)}
    if "passage" not in inputs:
        changes |= {"sentence_offsets": np.zeros(1, dtype=np.int64)}
        changes |= {"passage_sentences": np.zeros(len(arrays.passage_offsets), dtype=np.int64)}
    return changes


def _option_has_words(texts: RankerTexts) -> NDArray[np.bool_]:
    arrays = texts.encoded.arrays
    passages = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
    lengths = np.diff(arrays.candidate_offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    in_passage = (
        occurrences(passages, passage_of_candidates(arrays)[owner], arrays.candidate_tokens) > 0
    )
    return np.bincount(owner[in_passage], minlength=len(lengths)) > 0


def _option_sentences(passage: Passage) -> list[tuple[int, int]]:
    return [(sentence.start, sentence.end) for sentence in spoken_sentences(passage)]


_OPTION_GROUPS = {**FEATURES, "vectors": VECTOR_FEATURES, "lexical": (LEXICAL_SCORE,)}

PRIOR = "prior"
"""The group of the features that another ranker computes."""
QUESTION = "question"
"""The group of what trees compare and all candidates of a question share."""
PRIOR_COLUMNS = (
    *("score", "score without lexical", "linear score", "trees"),
    *_OPTION_GROUPS,
    QUESTION,
    *VECTOR_FEATURES,
)
"""What another ranker says of an option: its score and parts of it, what each of its groups adds,
and the features of its vectors.
"""
_PRIOR_FEATURES = tuple(f"prior: {name}" for name in PRIOR_COLUMNS)

OPTIONS = FeatureTable(
    "options",
    {**_OPTION_GROUPS, PRIOR: _PRIOR_FEATURES},
    crossed=MAIN_FEATURES | {LEXICAL_SCORE, *VECTOR_FEATURES, *_PRIOR_FEATURES},
    default=frozenset(_OPTION_GROUPS)
    - {"position"},  # where annotators put right options is no part of reading
    learned=frozenset({"vectors", "lexical", PRIOR}),
    merges_equal=False,
    texts=_option_texts,
    compute=dense_features,
    has_evidence=_option_has_words,
    evidence=evidence_sentences,
    sentences=_option_sentences,
)
"""The features of options: matches with question and passage, count vectors, and a learned
lexical score.
"""


def _entity_texts(questions: Sequence[Question], inputs: frozenset[str]) -> EntityTexts:
    texts = entity_texts(questions)
    changes = _without_inputs(texts, inputs)
    if "question" not in inputs:
        changes["placeholders"] = np.zeros(len(texts.encoded), dtype=np.int64)
    return replace(texts, **changes) if changes else texts


ENTITIES = FeatureTable(
    "entities",
    ENTITY_FEATURES,
    crossed=frozenset(),
    default=frozenset(ENTITY_FEATURES),
    learned=frozenset(),
    merges_equal=True,
    texts=_entity_texts,
    compute=entity_features,
    has_evidence=is_mentioned,
    evidence=mention_sentences,
    sentences=entity_sentences,
)
"""The features of cloze candidates, after Chen et al. 2016. Nothing but their weights is
learned.
"""


TABLES: Mapping[Task, FeatureTable] = {
    Task.SINGLE_CHOICE: OPTIONS,
    Task.MULTIPLE_ANSWER: OPTIONS,
    Task.CLOZE: ENTITIES,
}
"""The features of each task that the ranker answers."""
