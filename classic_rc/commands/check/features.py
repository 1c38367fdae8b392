"""Features of options, generated: their text, ranks, places in context, and fields that reveal
them.

A feature is a number for each option. Most are 0 or 1, in one sparse matrix; ranks are dense. No
feature is written for a dataset: the families below say what is counted, and the data says what
there is to count.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import chain, groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.contexts import (
    FieldSources,
    field_measurements,
    known_measurement,
    position_features,
    sources_of_fields,
)
from classic_rc.commands.check.known_cues import PUBLISHED, WORD_CUES
from classic_rc.commands.check.measurements import Measurement, measure_options
from classic_rc.commands.check.option_arrays import Integers, OptionTable
from classic_rc.io.memory import release_memory
from classic_rc.kernels.arrays import (
    distinct,
    look_up,
    offsets_of,
    ragged_indices,
    runs_of,
    sums_by,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LEAST_QUESTIONS = 5
_LEAST_SHARE = 1 / 2000
"""A feature is in questions of at least this many passages, and in at least this share of the
questions.
"""

_BLOCK_OPTIONS, _BLOCK_CHARACTERS, _BLOCK_ONES = 2**14, 2**19, 2**20
_COUNTED_OPTIONS = 2**15
CHOICES = 25
"""A fixed number, because the last digits of dense sums depend on it."""
_MOST_GRAM = 3
_MOST_COUNTED = 2**20
"""Up to so many different codes are counted in a table."""
_FEW_PASSAGES = 20
"""With fewer passages, questions are counted instead of passages."""
_MOST_SHAPE = 12
_MARKUP = re.compile(r"</?[A-Za-z]\w*|&#?\w+;|\\[nrt]\b")
_LEAST_RANKED = 30
_LOWER_CUES = {name: re.compile(cue.pattern) for name, cue in WORD_CUES.items()}


class FeatureSource(IntEnum):
    """What a feature is made of, in the order in which people can act on it."""

    POSITION = 0
    FIELD = 1
    UNUSUAL = 2  # markup, blanks at ends, invisible and unusual characters
    OPTION = 3
    WORD = 4
    WORDS = 5
    RANK = 6
    CHARACTER = 7
    PIECE = 8
    ORDER = 9


class Family(NamedTuple):
    """Features that are made in the same way."""

    source: FeatureSource
    name: str  # with {} for the value
    sees: frozenset[str]  # of "options", "question", "passage", "fields", "order"
    how: str = ""  # how an example is marked: "word", "piece", "first", "last"
    context: str = (
        ""  # what says at which position the right option is; its features are chosen together
    )


_OPTIONS = frozenset({"options"})
WORD = Family(FeatureSource.WORD, 'the word "{}"', _OPTIONS, "word")
NOT = Family(FeatureSource.WORD, 'the word "{}" or "n\'t"', _OPTIONS, "word")
WORD_CUE = Family(FeatureSource.WORD, "{}", _OPTIONS, "word")
WORDS = Family(FeatureSource.WORDS, 'the words "{}"', _OPTIONS, "word")
FIRST_WORD = Family(FeatureSource.WORD, 'the first word "{}"', _OPTIONS, "word")
LAST_WORD = Family(FeatureSource.WORD, 'the last word "{}"', _OPTIONS, "word")
WHOLE = Family(FeatureSource.OPTION, 'the option "{}"', _OPTIONS)
USED_ONCE = Family(FeatureSource.OPTION, "{}", _OPTIONS)
UNUSUAL = Family(FeatureSource.UNUSUAL, "the character {}", _OPTIONS, "piece")
ODD = Family(FeatureSource.UNUSUAL, "{}", _OPTIONS)
MARK = Family(FeatureSource.CHARACTER, "the character {}", _OPTIONS, "piece")
LETTER = Family(FeatureSource.PIECE, "the letter {}", _OPTIONS, "piece")
PIECE = Family(FeatureSource.PIECE, 'the characters "{}"', _OPTIONS, "piece")
FIRST = Family(FeatureSource.CHARACTER, "begins with {}", _OPTIONS, "first")
LAST = Family(FeatureSource.CHARACTER, "ends with {}", _OPTIONS, "last")
SHAPE = Family(FeatureSource.CHARACTER, "{}", _OPTIONS)
FIELD = Family(FeatureSource.FIELD, "{}", frozenset({"fields"}))
FIELD_NAME = re.compile(r'field "([^"]+)"')


class FeatureEntries(NamedTuple):
    """Sparse features of some items, such as texts."""

    families: Sequence[Family]  # of each feature
    values: Sequence[str]  # of each feature
    matrix: csr_matrix  # (n_items, n_features): ones, of int8, because they are many
    item: Integers  # (n_options,): the item of each option

    @classmethod
    def of_pairs(
        cls,
        families: Sequence[Family],
        values: Sequence[str],
        pairs: tuple[NDArray[np.integer], NDArray[np.integer]],
        item: Integers,
    ) -> FeatureEntries:
        """Return the entries of pairs of an item and a feature."""
        from scipy.sparse import csr_matrix

        shape = int(item.max(initial=-1)) + 1, len(values)
        return cls(
            families,
            values,
            csr_matrix((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=shape),
            item,
        )


class Ones(NamedTuple):
    """A sparse matrix of zeros and ones, stored as the columns of the ones."""

    columns: NDArray[np.integer]  # of each one, row by row, in the smallest type that fits
    offsets: NDArray[np.integer]  # (n_rows + 1,)
    width: int

    @classmethod
    def join(
        cls, blocks: list[tuple[NDArray[np.int32], Integers]], kept_columns: Integers, width: int
    ) -> Ones:
        """Return the columns `kept_columns` of blocks of rows: the columns of their ones, and how
        many each row has.
        """
        place = np.full(width, -1, dtype=np.int32)
        place[kept_columns] = np.arange(len(kept_columns), dtype=np.int32)
        for i, (columns, sizes) in enumerate(blocks):
            is_kept = place[columns] >= 0
            rows = np.repeat(np.arange(len(sizes)), sizes)[is_kept]
            columns = place[columns[is_kept]].astype(
                np.uint16 if len(kept_columns) <= 2**16 else np.int32
            )
            blocks[i] = columns, np.bincount(rows, minlength=len(sizes))
        offsets = offsets_of(np.concatenate([sizes for _, sizes in blocks]))
        offsets = offsets.astype(np.int32 if offsets[-1] < 2**31 else np.int64)
        return cls(np.concatenate([columns for columns, _ in blocks]), offsets, len(kept_columns))

    def rows(
        self, start: int, stop: int, first: int = 0, dtype: type[np.number[Any]] = np.float32
    ) -> csr_matrix:
        """Return the rows from `start` to `stop`; before them come the `first` rows of an
        identity.
        """
        from scipy.sparse import csr_matrix

        identity = np.arange(first, dtype=np.int32)
        block_columns = self.columns[self.offsets[start] : self.offsets[stop]]
        columns = np.concatenate([identity, block_columns], dtype=np.int32)
        offsets = np.concatenate(
            [identity, self.offsets[start : stop + 1] - self.offsets[start] + first]
        )
        data = np.ones(len(columns), dtype=dtype)
        return csr_matrix((data, columns, offsets), shape=(len(offsets) - 1, self.width))

    def select(self, rows: Integers) -> csr_matrix:
        """Return some rows, of float32."""
        sizes = np.diff(self.offsets)[rows]
        columns = self.columns[ragged_indices(self.offsets[:-1][rows], sizes)]
        return Ones(columns, offsets_of(sizes), self.width).rows(0, len(rows))

    def sums(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum over rows of each column times the weights, of shape (width,
        n_weights).
        """
        total = np.zeros((self.width, weights.shape[1]), dtype=np.float32)
        for start, stop in runs_of(np.diff(self.offsets), _BLOCK_ONES):
            # Earlier rows are added first, so the order, and with it the bits, does not depend on
            # blocks.
            before = total if start else total[:0]
            total = self.rows(start, stop, len(before)).T @ np.concatenate(
                [before, weights[start:stop]]
            )
        return total


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """The features of all options of a table."""

    table: OptionTable
    sparse: Sequence[Ones]  # each (n_options, n); 0 also for what all options of a question have
    dense: NDArray[np.float32]  # (n_options, n_dense): scaled ranks, from -1 to 1
    families: Sequence[Family]  # of each feature, the sparse ones first
    values: Sequence[str]
    # what the option with the least is, by what the option with the most is
    opposites: Mapping[str, str]

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.families)

    @cached_property
    def is_seen(self) -> NDArray[np.bool_]:
        """Whether a system can see each feature: it reads no field."""
        return np.array(["fields" not in family.sees for family in self.families], dtype=bool)

    @cached_property
    def is_published(self) -> NDArray[np.bool_]:
        """Whether each feature is a cue of published artifacts."""
        return np.array([self.name(j) in PUBLISHED for j in range(len(self))], dtype=bool)

    @cached_property
    def has_context(self) -> NDArray[np.bool_]:
        """Whether each feature says the position of the right option by a context."""
        return np.array([bool(family.context) for family in self.families], dtype=bool)

    @property
    def n_sparse(self) -> int:
        """The number of features that are 0 or 1."""
        return sum(ones.width for ones in self.sparse)

    def parts(self) -> Iterator[tuple[slice, Ones]]:
        """Yield the sparse features in parts, with their numbers."""
        first = 0
        for ones in self.sparse:
            yield slice(first, first + ones.width), ones
            first += ones.width

    @cached_property
    def uses(self) -> Integers:
        """How many options have each sparse feature."""
        uses = np.zeros(self.n_sparse, dtype=np.int64)
        for numbers, ones in self.parts():
            for start, stop in runs_of(np.diff(ones.offsets), _BLOCK_ONES):
                columns = ones.columns[ones.offsets[start] : ones.offsets[stop]]
                uses[numbers] += np.bincount(columns, minlength=ones.width)
        return uses

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return self.families[feature].name.format(self.values[feature])

    def options_with(self, features: Integers) -> Iterator[NDArray[np.int32]]:
        """Yield the options that have each of some sparse features."""
        for start, stop in runs_of(self.uses[features], 2 * _BLOCK_ONES):
            place = np.full(self.n_sparse, -1, dtype=np.int32)
            place[features[start:stop]] = np.arange(stop - start)
            is_asked = place >= 0
            pairs = [np.zeros((2, 0), dtype=np.int32)]
            for numbers, ones in self.parts():
                for first, last in (
                    runs_of(np.diff(ones.offsets), _BLOCK_ONES) if is_asked[numbers].any() else ()
                ):
                    columns = ones.columns[ones.offsets[first] : ones.offsets[last]]
                    entries = np.flatnonzero(is_asked[numbers][columns])
                    options = np.arange(first, last, dtype=np.int32)
                    options = np.repeat(options, np.diff(ones.offsets[first : last + 1]))
                    pairs.append(np.stack([place[numbers][columns[entries]], options[entries]]))
            feature, options = np.concatenate(pairs, axis=1)
            if stop - start <= 2**16:
                feature = feature.astype(np.uint16)  # has a faster sort
            options = options[np.argsort(feature, kind="stable")]
            yield from np.split(
                options, np.cumsum(np.bincount(feature, minlength=stop - start))[:-1]
            )

    def columns(self, features: Sequence[int]) -> Iterator[NDArray[np.float64]]:
        """Yield the values of each of some features, of all options."""
        numbers = np.array(features, dtype=np.int64)
        having = self.options_with(numbers[numbers < self.n_sparse])
        for feature in features:
            if feature >= self.n_sparse:
                yield self.dense[:, feature - self.n_sparse].astype(np.float64)
                continue
            column = np.zeros(len(self.table.texts))
            column[next(having)] = 1
            yield column

    def sums(self, *weights: NDArray[Any]) -> list[NDArray[np.float64]]:
        """Return the sums over options of each feature times some weights, each of shape
        (n_features, n_weights).
        """
        joined = np.concatenate(weights, axis=1, dtype=np.float32)
        sparse = np.concatenate([np.zeros_like(joined[:0]), *(p.sums(joined) for p in self.sparse)])
        ends = np.cumsum([block.shape[1] for block in weights])[:-1]
        return [
            np.concatenate([sums, self.dense.T @ np.ascontiguousarray(block)], dtype=np.float64)
            for sums, block in zip(
                np.split(sparse, ends, axis=1), np.split(joined, ends, axis=1), strict=True
            )
        ]

    def counts(self, is_chosen: NDArray[np.bool_]) -> Iterator[NDArray[np.float64]]:
        """Yield the sums of features over chosen options, for some choices at a time.

        `chosen` has shape (n_options, n_choices).
        """
        n_options, n = is_chosen.shape
        sparse = np.zeros((self.n_sparse, n), dtype=np.int32)
        for start in range(0, n_options, _COUNTED_OPTIONS):
            block = is_chosen[start : start + _COUNTED_OPTIONS]
            # One step adds four counts of 16 bits: a block has so few options that none overflows.
            flags = np.zeros((len(block), -(-n // 4) * 4), dtype=np.uint16)
            flags[:, :n] = block
            for numbers, ones in self.parts():
                rows = ones.rows(start, start + len(block), dtype=np.int64)
                sparse[numbers] += (rows.T @ flags.view(np.int64)).view(np.uint16)[:, :n]
        for start in range(0, n, CHOICES):
            numbers = slice(start, start + CHOICES)
            dense = self.dense.T @ is_chosen[:, numbers].astype(np.float32, order="C")
            yield np.concatenate([sparse[:, numbers], dense], dtype=np.float64)


def least_questions(table: OptionTable) -> int:
    """Return in how many questions a feature has to be."""
    return max(LEAST_QUESTIONS, int(len(table) * _LEAST_SHARE))


def build_features(table: OptionTable, without_fields: Iterable[str] = ()) -> FeatureMatrix:
    """Generate the features of all options, without those of some fields."""
    min_questions = least_questions(table)
    fields = sources_of_fields(table, without_fields)
    ranked: list[Measurement] = []
    ranks: list[NDArray[np.float32]] = []
    edges: list[Flag] = []
    known_flags: list[tuple[int, str, Integers]] = []
    opposites: dict[str, str] = {}
    for measured in chain(measure_options(table), field_measurements(table, fields)):
        column = table.rank(measured.values).astype(np.float32)
        varies = int(np.count_nonzero(table.largest(np.abs(column)) > 0))
        # Ranks that differ in few questions are not normal; which option has most or least is
        # tested exactly.
        if varies >= min_questions:
            opposites[measured.most] = measured.least
            edges += rank_edges(table, measured)
        if varies >= max(min_questions, _LEAST_RANKED):
            ranked.append(measured._replace(values=measured.values[:0].copy()))
            ranks.append(column)
            known_flags += known_measurement(table, fields, measured)
    fields.flags += [
        (name, flag) for _, name, flag in sorted(known_flags, key=lambda item: item[0])
    ]
    sources = _all_entries(table, fields, edges, min_questions)
    return join_features(table, sources, min_questions, ranked, ranks, opposites)


def join_features(
    table: OptionTable,
    sources: Iterable[FeatureEntries],
    min_questions: int,
    ranked: Sequence[Measurement] = (),
    ranks: Sequence[NDArray[np.float32]] = (),
    opposites: Mapping[str, str] = MappingProxyType({}),
) -> FeatureMatrix:
    """Return the features of some sources that are in enough questions, and those of ranks."""
    families: list[Family] = []
    values: list[str] = []
    sparse = []
    for source in sources:
        frequent, ones = _pack(table, source, min_questions)
        sparse.append(ones)
        families += [source.families[i] for i in frequent.tolist()]
        values += [source.values[i] for i in frequent.tolist()]
        del source, frequent, ones
        release_memory()
    return FeatureMatrix(
        table,
        sparse,
        np.array(ranks, dtype=np.float32).reshape(-1, len(table.texts)).T,
        [*families, *map(_rank_family, ranked)],
        [*values, *(m.most for m in ranked)],
        opposites,
    )


Flag = tuple[Family, str, NDArray[np.integer]]
"""A feature, and the options that have it."""


def _all_entries(
    table: OptionTable, fields: FieldSources, edges: Sequence[Flag], min_questions: int
) -> Iterator[FeatureEntries]:
    yield from _text_entries(table, min_questions)
    yield flag_entries(table, [*edges, *((FIELD, *flag) for flag in fields.flags)])
    yield from position_entries(table, fields, min_questions)


def _rank_family(measured: Measurement) -> Family:
    source = (
        FeatureSource.FIELD
        if "fields" in measured.sees
        else FeatureSource.RANK
        if measured.is_plain
        else FeatureSource.PIECE
    )
    return Family(source, "{}", frozenset(measured.sees))


def _pack(table: OptionTable, source: FeatureEntries, min_questions: int) -> tuple[Integers, Ones]:
    """Return the numbers of the features in questions of enough passages, and these features, in
    blocks.
    """
    from scipy.sparse import csr_matrix

    passages, passage = table.passages
    total = np.zeros(len(source.values), dtype=np.int64)
    blocks: list[
        tuple[NDArray[np.int32], Integers]
    ] = []  # the features of each option, and how many it has
    for start, stop in runs_of(table.sizes, _BLOCK_OPTIONS):
        options = slice(int(table.offsets[start]), int(table.offsets[stop]))
        block, counts = without_constants(
            source.matrix[source.item[options]], table.offsets[start : stop + 1] - options.start
        )
        blocks.append((block.indices, np.diff(block.indptr)))
        if len(passages) >= _FEW_PASSAGES:
            block_questions = np.arange(stop - start)
            counts = (
                csr_matrix((np.ones(len(block_questions)), (passage[start:stop], block_questions)))
                @ counts
            )
        total += np.bincount(counts.indices, minlength=len(total))
    frequent = np.flatnonzero(total >= min_questions)
    return frequent, Ones.join(blocks, frequent, len(total))


def without_constants(block: csr_matrix, offsets: Integers) -> tuple[csr_matrix, csr_matrix]:
    """Return features without those that all options of a question have, because they tell
    nothing, and how many options of each question have the others.
    """
    from scipy.sparse import csr_matrix

    n, sizes = block.shape[0], np.diff(offsets)
    counts = csr_matrix((np.ones(n, np.float32), np.arange(n), offsets)) @ block
    constant = counts.copy()
    constant.data = np.float32(counts.data == np.repeat(sizes, np.diff(counts.indptr)))
    counts.data[constant.data > 0] = 0
    for matrix in (constant, counts):
        matrix.eliminate_zeros()
    if constant.nnz:
        block = block - constant[np.repeat(np.arange(len(sizes)), sizes)]
    return block, counts


# The text of an option


def _text_entries(table: OptionTable, min_questions: int) -> Iterator[FeatureEntries]:
    for family in (WORD, WORDS, FIRST_WORD, LAST_WORD):
        yield _word_entries(table, family, min_questions)
    for length in range(1, _MOST_GRAM + 1):
        yield _gram_entries(table, length, min_questions)
    number, name_of = table.normalised
    n_uses = np.bincount(number)
    is_once = n_uses[number] == 1
    is_alone = is_once & (table.sum(is_once.astype(np.int64)) == 1)[table.question]
    once = (
        ("is used in no other question", is_once),
        ("is the only one used in no other question", is_alone),
    )
    yield flag_entries(table, [(USED_ONCE, name, np.flatnonzero(flag)) for name, flag in once])
    often = np.flatnonzero(n_uses >= min_questions)
    names = [name if len(name) <= 40 else f"{name[:39]}…" for name in map(name_of, often.tolist())]
    yield FeatureEntries.of_pairs(
        [WHOLE] * len(names), names, (often, np.arange(len(names))), number
    )
    code_of: dict[tuple[Family, str], int] = {}
    items, codes = array("i"), array("i")  # lists of millions of integers would fill the memory
    for i, text in enumerate(table.distinct_texts):
        for shape in _shapes(text):
            items.append(i)
            codes.append(code_of.setdefault(shape, len(code_of)))
    families, values = [family for family, _ in code_of], [value for _, value in code_of]
    pairs = np.frombuffer(items, dtype=np.int32), np.frombuffer(codes, dtype=np.int32)
    yield FeatureEntries.of_pairs(families, values, pairs, table.text_index)


_Pairs = tuple[Integers, Integers]
"""The numbers of texts in a block, ascending, and codes of what they have."""


def frequent_codes(
    blocks: Iterable[tuple[Integers, Integers | None]], n_codes: int, minimum: int
) -> Integers:
    """Return the codes below `n_codes` that occur at least `least` times in blocks, ascending;
    occurrences may have weights.
    """
    if n_codes <= _MOST_COUNTED:
        table = np.zeros(n_codes)
        for block_codes, weights in blocks:
            table += np.bincount(block_codes, weights, n_codes)
        return np.flatnonzero(table >= minimum)
    codes, totals = np.empty(0, dtype=np.int64), np.zeros(0, dtype=np.float64)
    for block_codes, weights in blocks:
        if weights is None:
            distinct_codes, counts = np.unique(block_codes, return_counts=True)
        else:
            distinct_codes, place = np.unique(block_codes, return_inverse=True)
            counts = np.bincount(place.reshape(-1), weights, minlength=len(distinct_codes))
        codes, place = np.unique(np.concatenate([codes, distinct_codes]), return_inverse=True)
        totals = sums_by(place.reshape(-1), np.concatenate([totals, counts]), len(codes))
    return codes[totals >= minimum]


def _coded_entries(
    table: OptionTable,
    pairs: Callable[[int, int], _Pairs],
    n_codes: int,
    describe: Callable[[Integers], tuple[list[Family], list[str]]],
    min_questions: int,
) -> FeatureEntries:
    """Return the codes below `n_codes` that enough options have; `pairs` returns the codes of a
    block of texts.
    """
    from scipy.sparse import csr_matrix

    n, uses = len(table.distinct_texts), np.bincount(table.text_index)
    # so that text number and code fit into 63 bits
    least_load = -(-_BLOCK_CHARACTERS * n_codes // 2**62)
    loads = np.array([max(len(text), least_load) for text in table.distinct_texts], dtype=np.int64)
    blocks = list(runs_of(loads, _BLOCK_CHARACTERS))

    def distinct_pairs(start: int, stop: int) -> _Pairs:
        text, code = pairs(start, stop)
        text, code = np.divmod(distinct(text * n_codes + code), n_codes)
        return text, code

    block_pairs = (distinct_pairs(*block) for block in blocks)
    codes = frequent_codes(
        ((c, uses[s + t]) for (s, _), (t, c) in zip(blocks, block_pairs, strict=True)),
        n_codes,
        min_questions,
    )
    counts, columns = np.zeros(n, dtype=np.int64), [np.empty(0, dtype=np.int32)]
    for start, stop in blocks:
        text, code = distinct_pairs(start, stop)
        place, is_known = look_up(code, codes)
        counts[start:stop] = np.bincount(text[is_known], minlength=stop - start)
        columns.append(place[is_known].astype(np.int32))
    indices = np.concatenate(columns)
    parts = np.ones(len(indices), dtype=np.int8), indices, offsets_of(counts)
    return FeatureEntries(
        *describe(codes), csr_matrix(parts, shape=(n, len(codes))), table.text_index
    )


def _word_entries(table: OptionTable, family: Family, min_questions: int) -> FeatureEntries:
    """Return single words, pairs of neighbours, or the first or last words of texts with
    several.
    """
    tokens, offsets = table.tokens
    words = table.encoder.vocabulary
    n = len(words) + 1

    def pairs(start: int, stop: int) -> _Pairs:
        block_tokens = tokens[offsets[start] : offsets[stop]].astype(np.int64)
        text = np.repeat(np.arange(stop - start), np.diff(offsets[start : stop + 1]))
        next_is_same = text[1:] == text[:-1]
        has_before, has_after = (
            np.append(False, next_is_same)[: len(block_tokens)],
            np.append(next_is_same, False)[: len(block_tokens)],
        )
        if family is WORDS:
            return text[has_after], block_tokens[has_after] * n + block_tokens[has_before]
        has_place = {
            WORD: slice(None),
            FIRST_WORD: has_after & ~has_before,
            LAST_WORD: has_before & ~has_after,
        }[family]
        return text[has_place], block_tokens[has_place]

    def describe(codes: Integers) -> tuple[list[Family], list[str]]:
        pieces = np.divmod(codes, n) if family is WORDS else (codes,)
        values = [
            " ".join(words[w] for w in block_tokens)
            for block_tokens in zip(*(p.tolist() for p in pieces), strict=True)
        ]
        negated = family is WORD and table.has_contractions
        return [NOT if negated and value == "not" else family for value in values], values

    return _coded_entries(table, pairs, n**2 if family is WORDS else n, describe, min_questions)


def _gram_entries(table: OptionTable, length: int, min_questions: int) -> FeatureEntries:
    """Return character n-grams; a code combines the places of its characters in the alphabet of
    all texts.
    """
    alphabet = sorted(set().union(*table.distinct_texts))
    size = max(len(alphabet), 1)
    place = np.zeros(ord(max(alphabet, default="a")) + 1, dtype=np.int64)
    place[[*map(ord, alphabet)]] = np.arange(len(alphabet))

    def pairs(start: int, stop: int) -> _Pairs:
        texts = table.distinct_texts[start:stop]
        joined = "".join(texts).encode("utf-32-le", "surrogatepass")
        points = place[np.frombuffer(joined, dtype=np.uint32)]
        text = np.repeat(np.arange(len(texts)), [len(t) for t in texts])
        n = max(len(points) - length + 1, 0)
        code = np.zeros(n, dtype=np.int64)
        for i in range(length):
            code += points[i : i + n] * size**i
        inside = text[:n] == text[length - 1 :] if n else np.zeros(0, dtype=bool)
        return text[:n][inside], code[inside]

    def describe(codes: Integers) -> tuple[list[Family], list[str]]:
        values = [
            "".join(alphabet[code // size**i % size] for i in range(length))
            for code in codes.tolist()
        ]
        families = [PIECE if length > 1 else _family_of(value) for value in values]
        return families, values if length > 1 else [*map(describe_character, values)]

    return _coded_entries(table, pairs, size**length, describe, min_questions)


def _family_of(character: str) -> Family:
    if character.isalnum():
        return LETTER
    return MARK if character.isascii() and character.isprintable() else UNUSUAL


@lru_cache(maxsize=2**12)
def describe_character(character: str) -> str:
    """Return a character as it is shown to people."""
    import unicodedata

    if character.isascii() and character.isprintable() and not character.isspace():
        return f'"{character}"'
    name = unicodedata.name(character, "")
    quoted = f'"{character}" ' if character.isprintable() and not character.isspace() else ""
    return f"{quoted}U+{ord(character):04X}" + (f" {name}" if name else "")


class _Kinds(dict[int, str]):
    """What a character is in a shape: X, x, 9 or itself."""

    def __missing__(self, point: int) -> str:
        c = chr(point)
        kind = "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c
        return self.setdefault(point, kind)


_KINDS = _Kinds()


def _shapes(text: str) -> Iterator[tuple[Family, str]]:
    if not text:
        yield SHAPE, "is empty"
        return
    yield FIRST, describe_character(text[0])
    yield LAST, describe_character(text[-1])
    yield from ((ODD, f"has the markup {mark}") for mark in set(_MARKUP.findall(text)))
    is_simple = text.isascii()  # then case is simple, too, and a search that heeds it is faster
    folded = text.lower() if is_simple else text
    cues = _LOWER_CUES if is_simple else WORD_CUES
    yield from ((WORD_CUE, name) for name, cue in cues.items() if cue.search(folded))
    bare = text.strip()
    for family, name, is_so in (
        (ODD, "has a blank at an end", bare != text),
        (ODD, "has two blanks in a row", "  " in bare),
        (ODD, "has an invisible or unusual blank character", not text.isprintable()),
        (SHAPE, "has a character beyond ASCII", not text.isascii()),
        (SHAPE, "begins with a capital letter", bare[:1].isupper()),
        (SHAPE, "begins with a small letter", bare[:1].islower()),
        (SHAPE, "ends with a mark", bare[-1:] and not bare[-1].isalnum()),
        (SHAPE, "has capital letters only", bare.isupper() and len(bare) > 1),
        (SHAPE, "has a digit", any(map(str.isdigit, bare))),
    ):
        if is_so:
            yield family, name
    shape = "".join(kind for kind, _ in groupby(bare[:200].translate(_KINDS)))
    if len(shape) <= _MOST_SHAPE:
        yield SHAPE, f"has the shape {shape}"


# Ranks, fields and positions


def rank_edges(table: OptionTable, measured: Measurement) -> Iterator[Flag]:
    """Yield which option alone has most, which alone has least, and which one is out of order."""
    family = _rank_family(measured)
    starts = table.position == 0
    ends = np.roll(starts, -1)
    for name, sign in ((measured.most, 1), (measured.least, -1)):
        values = sign * measured.values
        before, after = np.roll(values, 1), np.roll(values, -1)
        is_less = (values < before) & ~starts
        n_less = table.sum(is_less.astype(np.int64))[table.question]
        next_is_less = np.roll(is_less, -1) & ~ends
        joined = (after < before) & ~starts & ~ends
        in_order = n_less - is_less - next_is_less + joined == 0
        out_of_order = np.flatnonzero(in_order).astype(np.int32)
        yield family, f"is out of an order whose last option {name}", out_of_order
        is_extreme = values == table.largest(values)[table.question]
        is_alone = (table.sum(is_extreme.astype(np.int64)) == 1)[table.question]
        yield family, name, np.flatnonzero(is_extreme & is_alone).astype(np.int32)


def flag_entries(table: OptionTable, flags: Sequence[Flag]) -> FeatureEntries:
    """Return features as entries of the options."""
    families, names = [family for family, _, _ in flags], [name for _, name, _ in flags]
    options = [np.zeros(0, dtype=np.int32), *(options for _, _, options in flags)]
    items = np.concatenate(options, dtype=np.int32, casting="same_kind")
    numbers = np.arange(len(flags), dtype=np.int32)
    codes = np.repeat(numbers, [len(options) for _, _, options in flags])
    return FeatureEntries.of_pairs(families, names, (items, codes), np.arange(len(table.texts)))


def position_entries(
    table: OptionTable, fields: FieldSources, min_questions: int
) -> Iterator[FeatureEntries]:
    """Yield positions of options, alone and in contexts."""
    for names, contexts, pairs, sees in position_features(table, fields, min_questions):
        source = FeatureSource.POSITION if sees == "options" else FeatureSource.FIELD
        if not any(contexts) and sees == "question":
            source = FeatureSource.WORD
        families = {
            context: Family(source, "{}", frozenset({sees}), context=context)
            for context in set(contexts)
        }
        yield FeatureEntries.of_pairs(
            [families[c] for c in contexts], names, pairs, np.arange(len(table.texts))
        )
