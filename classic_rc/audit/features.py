"""Features of options, generated: their text, ranks, places in context, and fields that reveal them.

A feature is a number for each option. Most are 0 or 1, in one sparse matrix; ranks are dense. No feature is
written for a dataset: the families below say what is counted, and the data says what there is to count.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.contexts import (
    FieldSources,
    field_measurements,
    known_measurements,
    position_features,
    sources_of_fields,
)
from classic_rc.audit.measurements import Measurement, measure_options
from classic_rc.audit.options import Integers, OptionTable
from classic_rc.kernels.arrays import offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LEAST_QUESTIONS = 5
_LEAST_SHARE = 1 / 2000
"""A feature is in questions of at least this many passages, and in at least this share of the questions."""

_BLOCK_OPTIONS = 2**15
_MOST_GRAM = 3
_CODE_BITS = 21
_FEW_PASSAGES = 20
"""With fewer passages, questions are counted instead of passages."""
_MOST_SHAPE = 12
_MARKUP = re.compile(r"</?[A-Za-z]\w*|&#?\w+;|\\[nrt]\b")
_LEAST_RANKED = 30


class Source(IntEnum):
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

    source: Source
    name: str  # with {} for the value
    sees: frozenset[str]  # of "options", "question", "passage", "fields", "order"
    how: str = ""  # how an example is marked: "word", "piece", "first", "last"
    context: str = ""  # what says at which position the right option is; its features are chosen together


_OPTIONS = frozenset({"options"})
WORD = Family(Source.WORD, 'the word "{}"', _OPTIONS, "word")
NOT = Family(Source.WORD, 'the word "{}" or "n\'t"', _OPTIONS, "word")
WORDS = Family(Source.WORDS, 'the words "{}"', _OPTIONS, "word")
FIRST_WORD = Family(Source.WORD, 'the first word "{}"', _OPTIONS, "word")
LAST_WORD = Family(Source.WORD, 'the last word "{}"', _OPTIONS, "word")
WHOLE = Family(Source.OPTION, 'the option "{}"', _OPTIONS)
USED_ONCE = Family(Source.OPTION, "{}", _OPTIONS)
UNUSUAL = Family(Source.UNUSUAL, "the character {}", _OPTIONS, "piece")
ODD = Family(Source.UNUSUAL, "{}", _OPTIONS)
MARK = Family(Source.CHARACTER, "the character {}", _OPTIONS, "piece")
LETTER = Family(Source.PIECE, "the letter {}", _OPTIONS, "piece")
PIECE = Family(Source.PIECE, 'the characters "{}"', _OPTIONS, "piece")
FIRST = Family(Source.CHARACTER, "begins with {}", _OPTIONS, "first")
LAST = Family(Source.CHARACTER, "ends with {}", _OPTIONS, "last")
SHAPE = Family(Source.CHARACTER, "{}", _OPTIONS)


class Entries(NamedTuple):
    """Sparse features of some items, such as texts."""

    families: Sequence[Family]  # of each feature
    values: Sequence[str]  # of each feature
    matrix: csr_matrix  # (n_items, n_features): ones, of int8, because they are many
    item: Integers  # (n_options,): the item of each option

    @classmethod
    def of_pairs(
        cls, families: Sequence[Family], values: Sequence[str], pairs: tuple[Integers, Integers], item: Integers
    ) -> Entries:
        """Return the entries of pairs of an item and a feature."""
        from scipy.sparse import csr_matrix

        shape = int(item.max(initial=-1)) + 1, len(values)
        return cls(families, values, csr_matrix((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=shape), item)

    def without_rare(self, least: int) -> Entries:
        """Return entries without features that fewer options have."""
        uses = np.bincount(self.item, minlength=self.matrix.shape[0]).astype(np.float32)
        kept = np.flatnonzero(self.matrix.T @ uses >= least)
        if len(kept) == len(self.values):
            return self
        families, values = [self.families[i] for i in kept.tolist()], [self.values[i] for i in kept.tolist()]
        return Entries(families, values, self.matrix[:, kept], self.item)


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """The features of all options of a table."""

    table: OptionTable
    sparse: csr_matrix  # (n_options, n_sparse): 0 or 1; what all options of a question have tells nothing, and is 0
    dense: NDArray[np.float32]  # (n_options, n_dense): scaled ranks, from -1 to 1
    families: Sequence[Family]  # of each feature, the sparse ones first
    values: Sequence[str]
    opposites: Mapping[str, str]  # what the option with the least is, by what the option with the most is

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.families)

    def name(self, feature: int) -> str:
        """Return the name of a feature."""
        return self.families[feature].name.format(self.values[feature])

    def column(self, feature: int) -> NDArray[np.float64]:
        """Return the values of a feature, of all options."""
        n_sparse = self.sparse.shape[1]
        if feature >= n_sparse:
            return self.dense[:, feature - n_sparse].astype(np.float64)
        return np.asarray(self.sparse[:, [feature]].todense(), dtype=np.float64).reshape(-1)

    def sums(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sum over options of each feature times the weights, of shape (n_features, n_weights)."""
        weights = np.asarray(weights, dtype=np.float32)
        parts = [self.sparse.T @ weights, self.dense.T @ weights]
        return np.concatenate(parts).astype(np.float64)


def build_features(table: OptionTable) -> FeatureMatrix:
    """Generate the features of all options."""
    least = max(LEAST_QUESTIONS, int(len(table) * _LEAST_SHARE))
    fields = sources_of_fields(table)
    measured = [*measure_options(table), *field_measurements(table, fields)]
    ranks = np.stack([table.rank(m.values) for m in measured], axis=1).astype(np.float32)
    varies = [int(np.count_nonzero(table.largest(np.abs(column)) > 0)) for column in ranks.T]
    # Ranks that differ in few questions have no normal deviates; who has most and least is tested exactly.
    often = [i for i, n in enumerate(varies) if n >= max(least, _LEAST_RANKED)]
    edges = [m for m, n in zip(measured, varies, strict=True) if n >= least]
    measured, ranks = [measured[i] for i in often], ranks[:, often]
    fields.flags += known_measurements(table, fields, measured)
    sparse, families, values = _stack(table, _all_entries(table, fields, edges, least), least)
    return FeatureMatrix(
        table,
        sparse,
        ranks,
        [*families, *(_rank_family(m) for m in measured)],
        [*values, *(m.most for m in measured)],
        {m.most: m.least for m in edges},
    )


def _all_entries(
    table: OptionTable, fields: FieldSources, edges: Sequence[Measurement], least: int
) -> Iterator[Entries]:
    yield from _text_entries(table, least)
    yield _edge_entries(table, edges)
    if fields.flags:
        yield _flag_source(table, [FIELD] * len(fields.flags), fields.flags)
    yield from _position_entries(table, fields, least)


FIELD = Family(Source.FIELD, "{}", frozenset({"fields"}))


def _rank_family(measured: Measurement) -> Family:
    source = Source.FIELD if "fields" in measured.sees else Source.RANK if measured.is_plain else Source.PIECE
    return Family(source, "{}", frozenset(measured.sees))


def _stack(
    table: OptionTable, sources: Iterable[Entries], least: int
) -> tuple[csr_matrix, list[Family], list[str]]:
    """Join sparse features, without those of too few questions or passages; in blocks of questions."""
    from scipy.sparse import csr_matrix, hstack

    sources = [source.without_rare(least) for source in sources]
    families = [family for source in sources for family in source.families]
    values = [value for source in sources for value in source.values]
    passages, passage = table.passages
    total = np.zeros(len(values), dtype=np.int64)
    blocks: list[tuple[NDArray[np.int32], Integers]] = []  # the features of each option, and how many it has
    cuts = np.unique(np.searchsorted(table.offsets, np.arange(0, len(table.texts), _BLOCK_OPTIONS)))
    for start, stop in zip(cuts.tolist(), [*cuts.tolist()[1:], len(table)], strict=True):
        own = slice(int(table.offsets[start]), int(table.offsets[stop]))
        block = hstack([source.matrix[source.item[own]] for source in sources], format="csr")
        n = block.shape[0]
        pooled = csr_matrix((np.ones(n, np.float32), np.arange(n), table.offsets[start : stop + 1] - own.start))
        counts = pooled @ block
        # What all options of a question have tells nothing.
        constant = counts.copy()
        constant.data = (counts.data == np.repeat(table.sizes[start:stop], np.diff(counts.indptr))).astype(
            np.float32
        )
        counts.data -= constant.data * counts.data
        for part in (constant, counts):
            part.eliminate_zeros()
        block = block - constant[table.question[own] - start]
        blocks.append((block.indices, np.diff(block.indptr)))
        if len(passages) >= _FEW_PASSAGES:
            each = np.arange(stop - start)
            counts = csr_matrix((np.ones(len(each)), (passage[start:stop], each))) @ counts
        total += np.bincount(counts.indices, minlength=len(total))
    sources.clear()  # they and the whole matrix would fill the memory together
    kept = np.flatnonzero(total >= least)
    place = np.full(len(total), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    for i, (indices, sizes) in enumerate(blocks):
        is_kept = place[indices] >= 0
        rows = np.repeat(np.arange(len(sizes)), sizes)[is_kept]
        blocks[i] = place[indices[is_kept]], np.bincount(rows, minlength=len(sizes))
    indptr = offsets_of(np.concatenate([sizes for _, sizes in blocks]))
    indices = np.concatenate([own for own, _ in blocks])
    blocks.clear()
    data = np.ones(len(indices), dtype=np.float32)
    matrix = csr_matrix((data, indices, indptr), shape=(len(table.texts), len(kept)))
    return matrix, [families[i] for i in kept.tolist()], [values[i] for i in kept.tolist()]


# The text of an option


def _text_entries(table: OptionTable, least: int) -> Iterator[Entries]:
    yield _word_entries(table)
    yield from _gram_entries(table, least)
    names, number = table.normalised
    is_once = np.bincount(number)[number] == 1
    is_alone = is_once & (table.sum(is_once.astype(np.int64)) == 1)[table.question]
    used = [("is used in no other question", is_once), ("is the only one used in no other question", is_alone)]
    yield _flag_source(table, [USED_ONCE] * 2, used)
    once = np.arange(len(names))
    shown = [name if len(name) <= 40 else f"{name[:39]}…" for name in names]
    yield Entries.of_pairs([WHOLE] * len(names), shown, (once, once), number)
    known: dict[tuple[Family, str], int] = {}
    items, codes = array("q"), array("q")  # lists of millions of integers would fill the memory
    for i, text in enumerate(table.distinct_texts):
        for shape in _shapes(text):
            items.append(i)
            codes.append(known.setdefault(shape, len(known)))
    families, values = [family for family, _ in known], [value for _, value in known]
    pairs = np.frombuffer(items, dtype=np.int64), np.frombuffer(codes, dtype=np.int64)
    yield Entries.of_pairs(families, values, pairs, table.text_index)


def _word_entries(table: OptionTable) -> Entries:
    """Return single words, pairs of neighbours, and the first and last words."""
    tokens, offsets = table.tokens
    words = table.encoder.vocabulary
    n = len(words) + 1
    text = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    inside = np.flatnonzero(text[1:] == text[:-1])
    lengths = np.diff(offsets)
    first, last = offsets[:-1][lengths > 1], offsets[1:][lengths > 1] - 1
    several = np.flatnonzero(lengths > 1)
    kinds = (
        (WORD, text, tokens.astype(np.int64)),
        (WORDS, text[inside], tokens[inside].astype(np.int64) * n + tokens[inside + 1]),
        (FIRST_WORD, several, tokens[first].astype(np.int64)),
        (LAST_WORD, several, tokens[last].astype(np.int64)),
    )
    families: list[Family] = []
    values: list[str] = []
    items, codes = [], []
    for family, item, key in kinds:
        known, code = np.unique(key, return_inverse=True)
        pair = np.unique(item * max(len(known), 1) + code)
        items.append(pair // max(len(known), 1))
        codes.append(pair % max(len(known), 1) + len(values))
        families += [family] * len(known)
        if family is WORDS:
            values += [
                f"{words[a]} {words[b]}" for a, b in zip(*(v.tolist() for v in np.divmod(known, n)), strict=True)
            ]
        else:
            values += [words[w] for w in known.tolist()]
        if family is WORD and table.has_contractions:
            families = [NOT if value == "not" else family for value in values]
    return Entries.of_pairs(families, values, (np.concatenate(items), np.concatenate(codes)), table.text_index)


def _gram_entries(table: OptionTable, least: int) -> Iterator[Entries]:
    """Yield runs of one to three characters; in blocks of texts, and without those of too few options."""
    from scipy.sparse import csr_matrix

    texts = table.distinct_texts
    uses = np.bincount(table.text_index, minlength=len(texts))
    for length in range(1, _MOST_GRAM + 1):
        grams, totals = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        for start in range(0, len(texts), _BLOCK_OPTIONS):
            text, gram = _grams(texts[start : start + _BLOCK_OPTIONS], length)
            own, code = np.unique(gram, return_inverse=True)
            n_uses = np.bincount(code.reshape(-1), uses[start + text], minlength=len(own)).astype(np.int64)
            grams, place = np.unique(np.concatenate([grams, own]), return_inverse=True)
            totals = np.bincount(place.reshape(-1), np.concatenate([totals, n_uses]), minlength=len(grams)).astype(
                np.int64
            )
        grams = grams[totals >= least]
        counts, codes = np.zeros(len(texts), dtype=np.int64), [np.empty(0, dtype=np.int32)]
        for start in range(0, len(texts) if len(grams) else 0, _BLOCK_OPTIONS):
            block = texts[start : start + _BLOCK_OPTIONS]
            text, gram = _grams(block, length)
            place = np.minimum(np.searchsorted(grams, gram), len(grams) - 1)
            found = grams[place] == gram
            counts[start : start + len(block)] = np.bincount(text[found], minlength=len(block))
            codes.append(place[found].astype(np.int32))
        values = [
            "".join(chr(g >> _CODE_BITS * i & 2**_CODE_BITS - 1) for i in range(length)) for g in grams.tolist()
        ]
        families = [PIECE if length > 1 else _family_of(value) for value in values]
        if length == 1:
            values = [describe_character(value) for value in values]
        indices = np.concatenate(codes)
        codes.clear()
        parts = np.ones(len(indices), dtype=np.int8), indices, offsets_of(counts)
        yield Entries(families, values, csr_matrix(parts, shape=(len(texts), len(values))), table.text_index)


def _family_of(character: str) -> Family:
    if character.isalnum():
        return LETTER
    return MARK if character.isascii() and character.isprintable() else UNUSUAL


def _grams(texts: Sequence[str], length: int) -> tuple[Integers, Integers]:
    """Return the different runs of `length` characters of each text: the text and the code of each run."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    points = np.frombuffer(joined, dtype=np.uint32).astype(np.int64)
    text = np.repeat(np.arange(len(texts)), [len(t) for t in texts])
    n = max(len(points) - length + 1, 0)
    code = np.zeros(n, dtype=np.int64)
    for i in range(length):
        code |= points[i : i + n] << _CODE_BITS * i
    inside = text[:n] == text[length - 1 :] if n else np.zeros(0, dtype=bool)
    text, code = text[:n][inside], code[inside]
    order = np.lexsort((code, text))
    text, code = text[order], code[order]
    first = np.append(True, (text[1:] != text[:-1]) | (code[1:] != code[:-1]))[: len(text)]
    return text[first], code[first]


def describe_character(character: str) -> str:
    """Return a character as it is shown to people."""
    import unicodedata

    if character.isascii() and character.isprintable() and not character.isspace():
        return f'"{character}"'
    name = unicodedata.name(character, "")
    shown = f'"{character}" ' if character.isprintable() and not character.isspace() else ""
    return f"{shown}U+{ord(character):04X}" + (f" {name}" if name else "")


def _shapes(text: str) -> Iterator[tuple[Family, str]]:
    if not text:
        yield SHAPE, "is empty"
        return
    yield FIRST, describe_character(text[0])
    yield LAST, describe_character(text[-1])
    yield from ((ODD, f"has the markup {mark}") for mark in set(_MARKUP.findall(text)))
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
    shape = ""
    for c in bare[:200]:
        kind = "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c
        if not shape.endswith(kind):
            shape += kind
        if len(shape) > _MOST_SHAPE:
            return
    yield SHAPE, f"has the shape {shape}"


# Ranks, fields and positions


def _edge_entries(table: OptionTable, measured: Sequence[Measurement]) -> Entries:
    """Return which option alone has most, and which alone has least, of each measurement."""
    flags: list[tuple[str, NDArray[np.bool_]]] = []
    for m in measured:
        for name, extreme in ((m.most, table.largest), (m.least, table.smallest)):
            is_extreme = m.values == extreme(m.values)[table.question]
            flags.append((name, is_extreme & (table.sum(is_extreme.astype(np.int64)) == 1)[table.question]))
    families = [_rank_family(m) for m in measured for _ in range(2)]
    return _flag_source(table, families, flags)


def _flag_source(
    table: OptionTable, families: Sequence[Family], flags: Sequence[tuple[str, NDArray[np.bool_]]]
) -> Entries:
    items = np.concatenate([np.flatnonzero(flag) for _, flag in flags] or [np.zeros(0, dtype=np.int64)])
    codes = np.repeat(np.arange(len(flags)), [int(np.count_nonzero(flag)) for _, flag in flags])
    return Entries.of_pairs(families, [name for name, _ in flags], (items, codes), np.arange(len(table.texts)))


def _position_entries(table: OptionTable, fields: FieldSources, least: int) -> Iterator[Entries]:
    for names, contexts, pairs, sees in position_features(table, fields, least):
        source = Source.POSITION if sees == "options" else Source.FIELD
        families = {context: Family(source, "{}", frozenset({sees}), context=context) for context in set(contexts)}
        yield Entries.of_pairs([families[c] for c in contexts], names, pairs, np.arange(len(table.texts)))
