"""The surface features of candidates: lengths, counts of shared words, words, and word pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name
from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices
from classic_rc.kernels.pairs import WordCounts, occurrences, pair_blocks, word_counts, word_pairs
from classic_rc.text.encoded import EncodedDataset

SURFACE_FEATURE_GROUPS: Mapping[str, str] = {
    "lengths": "the lengths of passage, question and candidate, in characters and in words",
    "overlap": "how many distinct words each pair of passage, question and candidate shares",
    "answer": "the distinct words of the candidate",
    "text-answer": "the distinct words that passage and candidate share",
    "question-answer": "the pairs of a distinct question word and a distinct candidate word",
    "token-overlap": "like overlap, but counts pairs of equal tokens for passage and question (MultiRC's release)",
    "prominent": "again, the shared words that occur in the passage more often than average (MultiRC's release)",
}
"""The groups of features, by name. ``all`` means the first five."""

_ALL = tuple(SURFACE_FEATURE_GROUPS)[:5]

INPUTS: Mapping[str, frozenset[str]] = {
    "all": frozenset({"passage", "question"}),
    "no-passage": frozenset({"question"}),
    "no-question": frozenset({"passage"}),
    "candidates": frozenset(),
}
"""The inputs to read in addition to the candidates, by name."""

_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "lengths": tuple(
        f"{text} length in {unit}"
        for text in ("passage", "question", "candidate")
        for unit in ("characters", "words")
    ),
    "overlap": ("candidate words in passage", "candidate words in question", "question words in passage"),
    "token-overlap": ("candidate words in passage", "candidate words in question", "question tokens in passage"),
    "prominent": ("prominent candidate words in passage",),
}
"""The names of the numbers, by group. A name contains the inputs that its number needs."""

_WORDS: Mapping[str, frozenset[str]] = {
    "answer": frozenset(),
    "text-answer": frozenset({"passage"}),
    "prominent": frozenset({"passage"}),
    "question-answer": frozenset({"question"}),
}
"""The inputs that the groups of words need, by group."""

_BLOCK_TOKENS = 2**18
_BLOCK_PAIRS = 2**20


def feature_groups(text: str) -> tuple[str, ...]:
    """Return the groups that `text` names: ``"all"``, or ``"lengths+answer"`` in the order of the table."""
    names = [name for part in text.split("+") for name in (_ALL if part == "all" else (part,))]
    for name in names:
        if name not in SURFACE_FEATURE_GROUPS:
            raise unknown_name("group of features", name, ["all", *SURFACE_FEATURE_GROUPS])
    return tuple(group for group in SURFACE_FEATURE_GROUPS if group in names)


class WordFeatures(NamedTuple):
    """Binary features: a candidate's words, alone or each paired with a question word."""

    rows: NDArray[np.int64]  # shape (n,): the candidate that has the feature
    words: NDArray[np.int64]  # shape (n,): the candidate's word
    asked: NDArray[np.int64] | None = None  # shape (n,): the question's word, if the features are pairs


class FeatureBlock(NamedTuple):
    """The features of a block of consecutive candidates."""

    # The block's position among all candidates.
    where: slice
    # Shape (n_candidates, n_numbers): lengths and counts, in the order of `FeatureSet.numbers`.
    numbers: NDArray[np.float64]
    # By group, in the order of `FeatureSet.word_groups`; word ids are those of the encoding's vocabulary.
    words: Mapping[str, WordFeatures]
    # Shape (n_candidates,): whether the passage, if it is read, has a word of the candidate.
    evidence: NDArray[np.bool_]


@dataclass(frozen=True)
class FeatureSet:
    """The features to compute, and the inputs to read for them.

    Raises
    ------
    UsageError
        No feature is left.
    """

    groups: tuple[str, ...]  # names of GROUPS
    inputs: str = "all"  # a name of INPUTS; features that need other inputs are left out
    question_words: int | None = None  # the number of words to read from the question's start; None reads all

    def __post_init__(self) -> None:
        if not self.numbers and not self.word_groups:
            groups = "+".join(self.groups)
            raise UsageError(
                f"no feature is left: {groups!r} needs inputs that inputs={self.inputs!r} leaves out",
                field="features",
                found=repr(groups),
                expected=f"a feature of inputs={self.inputs!r}",
            )

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the lengths and counts, without those that need an input that is not read."""
        names = dict.fromkeys(name for group in self.groups for name in _NUMBERS.get(group, ()))
        hidden = INPUTS["all"] - INPUTS[self.inputs]
        return tuple(name for name in names if not any(text in name for text in hidden))

    @property
    def word_groups(self) -> tuple[str, ...]:
        """The groups of words, without those that need an input that is not read."""
        return tuple(group for group in self.groups if _WORDS.get(group, {"no word"}) <= INPUTS[self.inputs])

    def blocks(self, encoded: EncodedDataset) -> Iterator[FeatureBlock]:
        """Yield the features of an encoding's candidates in blocks, so that memory is bounded."""
        word_lengths = np.fromiter(map(len, encoded.vocabulary), np.int64, len(encoded.vocabulary))
        for where, arrays in pair_blocks(self._hide_inputs(encoded.arrays), _BLOCK_TOKENS, _BLOCK_PAIRS):
            matches = _match_words(arrays)
            numbers = {**_text_lengths(arrays, word_lengths), **_count_shared(arrays, matches)}
            table = np.empty((where.stop - where.start, len(self.numbers)))
            for column, name in enumerate(self.numbers):
                table[:, column] = numbers[name]
            words = {group: _word_features(group, arrays, matches) for group in self.word_groups}
            yield FeatureBlock(where, table, words, numbers["candidate words in passage"] > 0)

    def _hide_inputs(self, arrays: TokenArrays) -> TokenArrays:
        """Return the arrays with empty texts for the inputs that are not read."""
        arrays = arrays.with_inputs(INPUTS[self.inputs])
        if self.question_words is None or "question" not in INPUTS[self.inputs]:
            return arrays
        lengths = np.minimum(np.diff(arrays.question_offsets), self.question_words)
        tokens = arrays.question_tokens[ragged_indices(arrays.question_offsets[:-1], lengths)]
        return arrays._replace(question_tokens=tokens, question_offsets=offsets_of(lengths))


class _Matches(NamedTuple):
    """The distinct words of some texts, and which candidate words occur in their passage and question."""

    passages: WordCounts
    questions: WordCounts
    candidates: WordCounts
    in_passage: NDArray[np.int64]  # of each candidate word, how often the passage has it
    in_question: NDArray[np.bool_]  # of each candidate word, whether the question has it


def _match_words(arrays: TokenArrays) -> _Matches:
    passages = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
    questions = word_counts(arrays.question_tokens, arrays.question_offsets, arrays.n_words)
    candidates = word_counts(arrays.candidate_tokens, arrays.candidate_offsets, arrays.n_words)
    question = arrays.candidate_question[candidates.texts]
    in_passage = occurrences(passages, arrays.question_passage[question], candidates.words)
    in_question = occurrences(questions, question, candidates.words) > 0
    return _Matches(passages, questions, candidates, in_passage, in_question)


def _is_prominent(arrays: TokenArrays, matches: _Matches) -> NDArray[np.bool_]:
    """Return which candidate words occur in the passage more often than its ratio of types to tokens."""
    # The release's "more often than average". If any word recurs, the ratio is below 1 and all are prominent.
    passage = arrays.question_passage[arrays.candidate_question[matches.candidates.texts]]
    n_types, n_tokens = np.diff(matches.passages.offsets), np.diff(arrays.passage_offsets)
    return matches.in_passage * n_tokens[passage] > n_types[passage]


def _text_lengths(arrays: TokenArrays, word_lengths: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the lengths of each candidate's texts by name; characters include one space between two words."""
    question = arrays.candidate_question
    lengths = {}
    for text, tokens, offsets, of_candidate in (
        ("passage", arrays.passage_tokens, arrays.passage_offsets, arrays.question_passage[question]),
        ("question", arrays.question_tokens, arrays.question_offsets, question),
        ("candidate", arrays.candidate_tokens, arrays.candidate_offsets, np.arange(len(question))),
    ):
        # Each word counts one more character, its space; the last space of a text is taken off below.
        ends = offsets_of(word_lengths[tokens] + 1)
        lengths[f"{text} length in words"] = np.diff(offsets)[of_candidate]
        lengths[f"{text} length in characters"] = np.maximum(np.diff(ends[offsets]) - 1, 0)[of_candidate]
    return lengths


def _count_shared(arrays: TokenArrays, matches: _Matches) -> dict[str, NDArray[Any]]:
    """Return how many words each candidate's texts share, by name."""
    question, candidate = arrays.candidate_question, matches.candidates.texts
    owner = matches.questions.texts
    in_passage = occurrences(matches.passages, arrays.question_passage[owner], matches.questions.words)

    def sum_candidate_words(amounts: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(candidate, weights=amounts, minlength=len(question))

    def sum_question_words(amounts: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(owner, weights=amounts, minlength=len(arrays.question_passage))[question]

    return {
        "candidate words in passage": sum_candidate_words(matches.in_passage > 0),
        "candidate words in question": sum_candidate_words(matches.in_question),
        "question words in passage": sum_question_words(in_passage > 0),
        "question tokens in passage": sum_question_words(in_passage * matches.questions.counts),
        "prominent candidate words in passage": sum_candidate_words(_is_prominent(arrays, matches)),
    }


def _word_features(group: str, arrays: TokenArrays, matches: _Matches) -> WordFeatures:
    candidates = matches.candidates
    if group == "question-answer":
        return WordFeatures(*word_pairs(candidates, matches.questions, arrays.candidate_question))
    if group == "answer":
        return WordFeatures(candidates.texts, candidates.words)
    chosen = matches.in_passage > 0 if group == "text-answer" else _is_prominent(arrays, matches)
    return WordFeatures(candidates.texts[chosen], candidates.words[chosen])
