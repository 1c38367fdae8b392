"""The surface features of candidates: lengths, counts of shared words, words and word pairs;
their matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import (
    TokenArrays,
    binary_search,
    offsets_of,
    ragged_indices,
    run_starts,
)
from classic_rc.kernels.pairs import WordCounts, occurrences, pair_blocks, word_counts, word_pairs
from classic_rc.solvers.learning import check_shape, chosen_groups, require_few_words
from classic_rc.text.encoded import EncodedDataset

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


SURFACE_FEATURE_GROUPS: Mapping[str, str] = {
    "lengths": "the lengths of passage, question and candidate, in characters and in words",
    "overlap": "how many distinct words each pair of passage, question and candidate shares",
    "answer": "the distinct words of the candidate",
    "text-answer": "the distinct words that passage and candidate share",
    "question-answer": "the pairs of a distinct question word and a distinct candidate word",
    "token-overlap": "like overlap, but counts pairs of equal tokens for passage and question "
    "(MultiRC's release)",
    "prominent": "again, the shared words that occur in the passage more often than average "
    "(MultiRC's release)",
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
    "overlap": (
        "candidate words in passage",
        "candidate words in question",
        "question words in passage",
    ),
    "token-overlap": (
        "candidate words in passage",
        "candidate words in question",
        "question tokens in passage",
    ),
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
    """Return the groups that `text` names: ``"all"``, or ``"lengths+answer"`` in the order of
    the table.
    """
    return chosen_groups(text, SURFACE_FEATURE_GROUPS, _ALL, "all")


class WordFeatures(NamedTuple):
    """Binary features: a candidate's words, alone or each paired with a question word."""

    rows: NDArray[np.int64]  # shape (n,): the candidate that has the feature
    words: NDArray[np.int64]  # shape (n,): the candidate's word
    asked: NDArray[np.int64] | None = (
        None  # shape (n,): the question's word, if the features are pairs
    )


class FeatureBlock(NamedTuple):
    """The features of a block of consecutive candidates."""

    # The block's position among all candidates.
    where: slice
    # Shape (n_candidates, n_numbers): lengths and counts, in the order of `FeatureSet.numbers`.
    numbers: NDArray[np.float64]
    # By group, in the order of `FeatureSet.word_groups`; words are ids of the encoding's
    # vocabulary.
    words: Mapping[str, WordFeatures]
    # Shape (n_candidates,): whether the passage, if it is read, has a word of the candidate.
    evidence: NDArray[np.bool_]


@dataclass(frozen=True)
class FeatureSet:
    """The features to compute, and the inputs to read for them; a UsageError if no feature is
    left.
    """

    groups: tuple[str, ...]  # names of GROUPS
    inputs: str = "all"  # a name of INPUTS; features that need other inputs are left out
    question_words: int | None = (
        None  # the number of words to read from the question's start; None reads all
    )

    def __post_init__(self) -> None:
        if not self.numbers and not self.word_groups:
            actual, expected = repr("+".join(self.groups)), f"a feature of inputs={self.inputs!r}"
            problem = f"no feature is left: expected {expected}, and {actual} needs other inputs"
            raise UsageError(problem, field="features", found=actual, expected=expected)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the lengths and counts, without those that need an input that is not
        read.
        """
        names = dict.fromkeys(name for group in self.groups for name in _NUMBERS.get(group, ()))
        hidden = INPUTS["all"] - INPUTS[self.inputs]
        return tuple(name for name in names if not any(text in name for text in hidden))

    @property
    def word_groups(self) -> tuple[str, ...]:
        """The groups of words, without those that need an input that is not read."""
        inputs = INPUTS[self.inputs]
        groups = [group for group in self.groups if group in _WORDS]
        return tuple(group for group in groups if _WORDS[group] <= inputs)

    def blocks(self, encoded: EncodedDataset) -> Iterator[FeatureBlock]:
        """Yield the features of an encoding's candidates in blocks, so that memory is bounded."""
        word_lengths = np.fromiter(map(len, encoded.vocabulary), np.int64, len(encoded.vocabulary))
        for where, arrays in pair_blocks(
            self._hide_inputs(encoded.arrays), _BLOCK_TOKENS, _BLOCK_PAIRS
        ):
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


class _WordMatches(NamedTuple):
    """The distinct words of some texts, and which candidate words occur in their passage and
    question.
    """

    passages: WordCounts
    questions: WordCounts
    candidates: WordCounts
    in_passage: NDArray[np.int64]  # of each candidate word, how often the passage has it
    in_question: NDArray[np.bool_]  # of each candidate word, whether the question has it


def _match_words(arrays: TokenArrays) -> _WordMatches:
    passages = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
    questions = word_counts(arrays.question_tokens, arrays.question_offsets, arrays.n_words)
    candidates = word_counts(arrays.candidate_tokens, arrays.candidate_offsets, arrays.n_words)
    question = arrays.candidate_question[candidates.texts]
    in_passage = occurrences(passages, arrays.question_passage[question], candidates.words)
    in_question = occurrences(questions, question, candidates.words) > 0
    return _WordMatches(passages, questions, candidates, in_passage, in_question)


def _is_prominent(arrays: TokenArrays, matches: _WordMatches) -> NDArray[np.bool_]:
    """Return which candidate words occur in the passage more often than its ratio of types to
    tokens.
    """
    # The release's "more often than average". If any word recurs, the ratio is below 1 and all are
    # prominent.
    passage = arrays.question_passage[arrays.candidate_question[matches.candidates.texts]]
    n_types, n_tokens = np.diff(matches.passages.offsets), np.diff(arrays.passage_offsets)
    return matches.in_passage * n_tokens[passage] > n_types[passage]


def _text_lengths(arrays: TokenArrays, word_lengths: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the lengths of each candidate's texts by name; characters include one space between
    two words.
    """
    question = arrays.candidate_question
    passage, candidate = arrays.question_passage[question], np.arange(len(question))
    lengths = {}
    for text, tokens, offsets, of_candidate in (
        ("passage", arrays.passage_tokens, arrays.passage_offsets, passage),
        ("question", arrays.question_tokens, arrays.question_offsets, question),
        ("candidate", arrays.candidate_tokens, arrays.candidate_offsets, candidate),
    ):
        # Each word counts one more character, its space; the last space of a text is taken off
        # below.
        ends = offsets_of(word_lengths[tokens] + 1)
        n_characters = np.maximum(np.diff(ends[offsets]) - 1, 0)
        lengths[f"{text} length in words"] = np.diff(offsets)[of_candidate]
        lengths[f"{text} length in characters"] = n_characters[of_candidate]
    return lengths


def _count_shared(arrays: TokenArrays, matches: _WordMatches) -> dict[str, NDArray[Any]]:
    """Return how many words each candidate's texts share, by name."""
    question, candidate = arrays.candidate_question, matches.candidates.texts
    owner = matches.questions.texts
    in_passage = occurrences(
        matches.passages, arrays.question_passage[owner], matches.questions.words
    )

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


def _word_features(group: str, arrays: TokenArrays, matches: _WordMatches) -> WordFeatures:
    candidates = matches.candidates
    if group == "question-answer":
        return WordFeatures(*word_pairs(candidates, matches.questions, arrays.candidate_question))
    if group == "answer":
        return WordFeatures(candidates.texts, candidates.words)
    is_chosen = matches.in_passage > 0 if group == "text-answer" else _is_prominent(arrays, matches)
    return WordFeatures(candidates.texts[is_chosen], candidates.words[is_chosen])


_ROW_BITS = 16
"""The bits of a row number: a block has at most 2**16 rows."""
_MAX_WORDS = 2 ** ((63 - _ROW_BITS) // 2)
"""The largest vocabulary for which a pair of words and a row number fit into one int64."""


class WordColumns:
    """One column for each word or pair of words seen in training; other features have none.

    A *key* identifies a feature within its group: a word's is its index in `words`, which is
    sorted, a pair's is ``candidate's word * len(words) + question's word``. `tables` has the keys
    of each group, ascending.
    """

    def __init__(self, words: Sequence[str], tables: Mapping[str, NDArray[np.int64]]) -> None:
        self.words, self.tables = list(words), dict(tables)
        self._numbers = {word: i for i, word in enumerate(words)}

    @classmethod
    def empty(cls, groups: Sequence[str], encoded: EncodedDataset) -> WordColumns:
        """Return columns without features yet, for these groups and the words of questions and
        candidates.
        """
        arrays = encoded.arrays
        used = np.union1d(arrays.candidate_tokens, arrays.question_tokens).tolist()
        require_few_words("surface-lr", len(used), _MAX_WORDS)
        words = sorted(encoded.vocabulary[i] for i in used)
        return cls(words, {group: np.empty(0, dtype=np.int64) for group in groups})

    @property
    def n_columns(self) -> int:
        """The number of features seen in training."""
        return sum(map(len, self.tables.values()))

    def word_ids(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return the index in `words` of each word of an encoding's vocabulary, or -1."""
        number = self._numbers
        return np.fromiter((number.get(word, -1) for word in vocabulary), np.int64, len(vocabulary))

    def learn(self, group: str, keys: Sequence[NDArray[np.int64]]) -> None:
        """Add the keys of a group's training features."""
        table = np.concatenate((self.tables[group], *keys))
        table.sort()
        self.tables[group] = table[run_starts(table)]

    def keys(
        self, features: WordFeatures, word_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_] | None, NDArray[np.int64]]:
        """Return a mask of the features that consist of known words (None if all do), and their
        keys.
        """
        keys = word_ids[features.words]
        question_words = None if features.asked is None else word_ids[features.asked]
        unknown = keys < 0
        if question_words is not None:
            unknown |= question_words < 0
            keys *= len(self.words)
            keys += question_words
        if not unknown.any():
            return None, keys
        is_known = ~unknown
        return is_known, keys[is_known]

    def of_keys(self, group: str, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the column of each key, its index in the concatenation of all groups' tables,
        or -1.
        """
        place, has_column = binary_search(keys, self.tables[group])
        groups = list(self.tables)
        earlier_groups = groups[: groups.index(group)]
        before = sum(len(self.tables[name]) for name in earlier_groups)
        return np.where(has_column, before + place, -1)

    def find(
        self, words: Mapping[str, WordFeatures], word_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows and the columns of a block's features that have a column, ordered by
        column, then row.

        The order depends only on the features, not on the ids that an encoding gives their words.
        """
        parts = [(np.empty(0, dtype=np.int64),) * 2]
        for group, features in words.items():
            keys, sizes, rows = self.sort(features, word_ids)
            columns = np.repeat(self.of_keys(group, keys), sizes)
            parts.append((rows[columns >= 0], columns[columns >= 0]))
        rows, columns = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return rows, columns

    def sort(
        self, features: WordFeatures, word_ids: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return a block's distinct keys, ascending, the number of rows of each, and these rows,
        key after key.
        """
        usable, keys = self.keys(features, word_ids)
        # Sorting (key, row) packed into one int64 and looking up each distinct key once is many
        # times faster than looking up all keys in the order of the rows.
        packed = (keys << _ROW_BITS) | (features.rows if usable is None else features.rows[usable])
        packed.sort()
        keys = packed >> _ROW_BITS
        starts = run_starts(keys)
        packed &= (1 << _ROW_BITS) - 1
        return keys[starts], np.diff(np.append(starts, len(keys))), packed


class TrainingMatrix(NamedTuple):
    """The matrix of some candidates, in little memory."""

    # Shape (n_rows, n_numbers): the scaled lengths and counts.
    numbers: NDArray[np.float64]
    # Shape (n_entries,): the columns of the words and pairs of each row, numbered from 0.
    columns: NDArray[np.int32]
    # Shape (n_rows + 1,): row i has the entries offsets[i]:offsets[i + 1].
    offsets: NDArray[np.int64]


_NO_COLUMNS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class SurfaceDesign:
    """The mapping of features to matrix columns: lengths and counts first, then words and pairs."""

    features: FeatureSet
    columns: WordColumns  # of words and pairs
    scale: NDArray[np.float64]  # shape (n_numbers,): the divisors of lengths and counts

    @classmethod
    def fit(
        cls,
        features: FeatureSet,
        encoded: EncodedDataset,
        *,
        # whether to divide lengths and counts by their root mean square over the candidates
        scaled: bool,
        repeats: NDArray[np.integer]
        | None = None,  # how often the row of each candidate of the arrays is repeated
    ) -> tuple[SurfaceDesign, TrainingMatrix]:
        """Assign columns to the features of an encoding's candidates, and return the candidates'
        matrix.
        """
        columns = WordColumns.empty(features.word_groups, encoded)
        word_ids = columns.word_ids(encoded.vocabulary)
        # The columns are known only after the last block. Until then, a block's features are
        # numbered in the order of its distinct keys.
        numbers, local, sizes = [], [], []
        keys_of: dict[str, list[NDArray[np.int64]]] = {group: [] for group in features.word_groups}
        squares = np.zeros(len(features.numbers))
        for block in features.blocks(encoded):
            block_numbers, n_rows = block.numbers, len(block.numbers)
            squares += np.square(block_numbers).sum(axis=0)
            of_rows, n_features = _number_features(columns, block, word_ids, keys_of)
            if repeats is not None:
                times = np.repeat(np.arange(n_rows), repeats[block.where])
                of_rows = of_rows[ragged_indices(offsets_of(n_features)[times], n_features[times])]
                n_features, block_numbers = n_features[times], block_numbers[times]
            numbers.append(block_numbers)
            local.append(of_rows)
            sizes.append(n_features)
        for group, keys in keys_of.items():
            columns.learn(group, keys)
        offsets = offsets_of(np.concatenate(sizes))
        indices, begin = np.empty(offsets[-1], dtype=np.int32), 0
        for i, of_rows in enumerate(local):
            block_columns = [_NO_COLUMNS]
            for group, keys in keys_of.items():
                block_columns.append(columns.of_keys(group, keys[i]).astype(np.int32))
            end = begin + len(of_rows)
            np.take(np.concatenate(block_columns), of_rows, out=indices[begin:end])
            begin = end
        scale = np.sqrt(squares / max(len(encoded.arrays.candidate_question), 1))
        design = cls(features, columns, np.where((scale > 0) & scaled, scale, 1.0))
        return design, TrainingMatrix(np.concatenate(numbers) / design.scale, indices, offsets)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return len(self.features.numbers) + self.columns.n_columns

    def blocks(self, encoded: EncodedDataset) -> Iterator[tuple[FeatureBlock, csr_matrix]]:
        """Yield an encoding's candidates in blocks, each with its matrix, which has one row for
        each candidate.

        The entries of a row are ordered by column, so that sums over a row have the same bits
        whatever the other candidates are.
        """
        word_ids = self.columns.word_ids(encoded.vocabulary)
        for block in self.features.blocks(encoded):
            yield block, self._matrix(block, word_ids)

    def _matrix(self, block: FeatureBlock, word_ids: NDArray[np.int64]) -> csr_matrix:
        from scipy.sparse import csr_matrix

        n_rows, n_numbers = block.numbers.shape
        rows, columns = self.columns.find(block.words, word_ids)
        # The numbers, row after row, and then the words.
        rows = np.concatenate((np.repeat(np.arange(n_rows), n_numbers), rows))
        columns = np.concatenate((np.tile(np.arange(n_numbers), n_rows), n_numbers + columns))
        values = np.ones(len(rows))
        values[: block.numbers.size] = (block.numbers / self.scale).ravel()
        return csr_matrix((values, (rows, columns)), shape=(n_rows, self.n_features))

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the fitted state as plain data and as arrays by name."""
        tables = {f"keys.{group}": table for group, table in self.columns.tables.items()}
        return {"words": self.columns.words}, {"scale": self.scale, **tables}

    @classmethod
    def from_state(
        cls, features: FeatureSet, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> SurfaceDesign:
        """Return the design with a state that :meth:`to_state` returned; KeyError or ValueError
        if it is none.
        """
        tables = {group: arrays[f"keys.{group}"] for group in features.word_groups}
        columns = WordColumns(state["words"], tables)
        check_shape(arrays["scale"], (len(features.numbers),))
        return cls(features, columns, arrays["scale"])


def _number_features(
    columns: WordColumns,
    block: FeatureBlock,
    word_ids: NDArray[np.int64],
    keys_of: Mapping[str, list[NDArray[np.int64]]],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Append a block's distinct keys to each group's; number the features of its rows by group and
    key.

    Returns the numbers, row after row and ascending in each, and how many each row has.
    """
    n_distinct, numbers, rows = 0, [_NO_COLUMNS], [np.empty(0, dtype=np.int64)]
    for group, features in block.words.items():
        keys, sizes, of_keys = columns.sort(features, word_ids)
        keys_of[group].append(keys)
        start, n_distinct = n_distinct, n_distinct + len(keys)
        numbers.append(np.repeat(np.arange(start, n_distinct, dtype=np.int32), sizes))
        rows.append(of_keys)
    all_rows = np.concatenate(rows)
    # NumPy sorts 16-bit numbers by radix
    by_row = np.argsort(all_rows.astype(np.uint16), kind="stable")
    return np.concatenate(numbers)[by_row], np.bincount(all_rows, minlength=len(block.numbers))
