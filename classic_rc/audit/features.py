"""Features of options, generated: their text, ranks, places in context, and fields that know them.

A feature is a number of each option. Most are 0 or 1 and stand in one sparse matrix; ranks are dense. No feature is
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
from classic_rc.kernels.arrays import offsets_of, ragged_indices

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LEAST_QUESTIONS = 5
_LEAST_SHARE = 1 / 2000
"""A feature is in questions of at least so many passages, and of this share of the number of questions."""

_BLOCK_OPTIONS = 2**16
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
    """Sparse features of some items: the codes of item i are ``codes[offsets[i]:offsets[i + 1]]``."""

    families: Sequence[Family]  # of each code
    values: Sequence[str]  # of each code
    codes: NDArray[np.integer[Any]]
    offsets: Integers
    item: Integers  # (n_options,): the item of each option

    @classmethod
    def of_pairs(
        cls, families: Sequence[Family], values: Sequence[str], pairs: tuple[Integers, Integers], item: Integers
    ) -> Entries:
        """Return the entries of pairs of an item and a code."""
        items, codes = pairs
        order = np.lexsort((codes, items))
        n_items = int(item.max(initial=-1)) + 1
        counts = np.bincount(items, minlength=n_items)
        return cls(families, values, codes[order].astype(np.int32), offsets_of(counts), item)


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
    sources = [
        *_text_entries(table, least),
        _edge_entries(table, edges),
        *(_flag_entries(table, FIELD, fields.flags) if fields.flags else ()),
        *_position_entries(table, fields, least),
    ]
    sparse, families, values = _stack(table, sources, least)
    return FeatureMatrix(
        table,
        sparse,
        ranks,
        [*families, *(_rank_family(m) for m in measured)],
        [*values, *(m.most for m in measured)],
        {m.most: m.least for m in edges},
    )


FIELD = Family(Source.FIELD, "{}", frozenset({"fields"}))


def _rank_family(measured: Measurement) -> Family:
    source = Source.FIELD if "fields" in measured.sees else Source.RANK if measured.is_plain else Source.PIECE
    return Family(source, "{}", frozenset(measured.sees))


def _stack(
    table: OptionTable, sources: Iterable[Entries], least: int
) -> tuple[csr_matrix, list[Family], list[str]]:
    """Join sparse features, without those of too few questions; in blocks of questions."""
    from scipy.sparse import csr_matrix

    sources = [_without_rare(source, least) for source in sources]
    firsts = offsets_of(np.array([len(source.values) for source in sources]))
    total = np.zeros(int(firsts[-1]), dtype=np.int64)
    blocks: list[tuple[NDArray[np.int32], Integers]] = []
    cuts = np.unique(np.searchsorted(table.offsets, np.arange(0, len(table.texts), _BLOCK_OPTIONS)))
    for start, stop in zip(cuts.tolist(), [*cuts.tolist()[1:], len(table)], strict=True):
        options = np.arange(table.offsets[start], table.offsets[stop])
        rows, codes = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
        for source, first in zip(sources, firsts.tolist(), strict=False):
            counts = np.diff(source.offsets)[source.item[options]]
            own = source.codes[ragged_indices(source.offsets[:-1][source.item[options]], counts)]
            rows.append(np.repeat(np.arange(len(options)), counts))
            codes.append((own + first).astype(np.int32))
        row, code = np.concatenate(rows), np.concatenate(codes)
        row, code, questions = _drop_constant(table, row, code, options)
        total += np.bincount(questions, minlength=len(total))
        order = np.argsort(row, kind="stable")
        blocks.append((code[order], np.bincount(row, minlength=len(options))))
    kept = np.flatnonzero(total >= least)
    place = np.full(len(total), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    for i, (code, counts) in enumerate(blocks):
        kept_code = place[code]
        row = np.repeat(np.arange(len(counts)), counts)[kept_code >= 0]
        blocks[i] = kept_code[kept_code >= 0], np.bincount(row, minlength=len(counts))
    indices = np.concatenate([np.empty(0, dtype=np.int32), *(code for code, _ in blocks)])
    indptr = offsets_of(np.concatenate([np.empty(0, dtype=np.int64), *(counts for _, counts in blocks)]))
    matrix = csr_matrix(
        (np.ones(len(indices), dtype=np.float32), indices, indptr), shape=(len(table.texts), len(kept))
    )
    owner = np.searchsorted(firsts, kept, side="right") - 1
    families: list[Family] = []
    values: list[str] = []
    for column, s in zip(kept.tolist(), owner.tolist(), strict=True):
        families.append(sources[s].families[column - int(firsts[s])])
        values.append(sources[s].values[column - int(firsts[s])])
    return matrix, families, values


def _without_rare(source: Entries, least: int) -> Entries:
    """Return entries without codes that fewer options have."""
    uses = np.bincount(source.item, minlength=len(source.offsets) - 1)
    counts = np.diff(source.offsets)
    per_code = np.bincount(source.codes, np.repeat(uses, counts), minlength=len(source.values))
    kept = np.flatnonzero(per_code >= least)
    place = np.full(len(source.values), -1, dtype=np.int32)
    place[kept] = np.arange(len(kept), dtype=np.int32)
    codes = place[source.codes]
    item = np.repeat(np.arange(len(counts)), counts)[codes >= 0]
    chosen = kept.tolist()
    return Entries(
        [source.families[i] for i in chosen],
        [source.values[i] for i in chosen],
        codes[codes >= 0],
        offsets_of(np.bincount(item, minlength=len(counts))),
        source.item,
    )


def _drop_constant(
    table: OptionTable, row: Integers, code: NDArray[np.int32], options: Integers
) -> tuple[Integers, NDArray[np.int32], Integers]:
    """Drop the features that all options of a question have; also return those of each passage that are left."""
    question = table.question[options[row]]
    keys = question * (int(code.max(initial=0)) + 1) + code
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else np.zeros(0, int)
    counts = np.diff(np.append(starts, len(ordered)))
    varies = counts < table.sizes[question[order[starts]]]
    kept = np.zeros(len(row), dtype=bool)
    kept[order] = np.repeat(varies, counts)
    first = order[starts[varies]]
    passages, passage = table.passages
    if len(passages) < _FEW_PASSAGES:
        return row[kept], code[kept], code[first]
    pairs = np.unique(passage[question[first]] * (int(code.max(initial=0)) + 1) + code[first])
    return row[kept], code[kept], pairs % (int(code.max(initial=0)) + 1)


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
    families: list[Family] = []
    values: list[str] = []
    known: dict[tuple[Family, str], int] = {}
    items, codes = array("q"), array("q")  # lists of millions of integers would fill the memory
    for i, text in enumerate(table.distinct_texts):
        for family, value in _shapes(text):
            code = known.setdefault((family, value), len(known))
            if code == len(values):
                families.append(family)
                values.append(value)
            items.append(i)
            codes.append(code)
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
        yield Entries(families, values, np.concatenate(codes), offsets_of(counts), table.text_index)


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
    if text[0].isspace() or text[-1].isspace():
        yield ODD, "has a blank at an end"
    for mark in set(_MARKUP.findall(text)):
        yield ODD, f"has the markup {mark}"
    if "  " in text.strip():
        yield ODD, "has two blanks in a row"
    if not text.isascii():
        yield SHAPE, "has a character beyond ASCII"
    if not text.isprintable():
        yield ODD, "has an invisible or unusual blank character"
    bare = text.strip()
    if bare[:1].isupper():
        yield SHAPE, "begins with a capital letter"
    elif bare[:1].islower():
        yield SHAPE, "begins with a small letter"
    if bare[-1:] and not bare[-1].isalnum():
        yield SHAPE, "ends with a mark"
    if bare.isupper() and len(bare) > 1:
        yield SHAPE, "has capital letters only"
    if any(map(str.isdigit, bare)):
        yield SHAPE, "has a digit"
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


def _flag_entries(
    table: OptionTable, family: Family, flags: Sequence[tuple[str, NDArray[np.bool_]]]
) -> Iterator[Entries]:
    yield _flag_source(table, [family] * len(flags), flags)


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
