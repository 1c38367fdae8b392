"""Features of an option's text: words, characters, shapes, and whole texts."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import groupby

import numpy as np

from classic_rc.commands.check.families import (
    FIRST,
    FIRST_WORD,
    LAST,
    LAST_WORD,
    LETTER,
    MARK,
    NOT,
    ODD,
    PIECE,
    SHAPE,
    UNUSUAL,
    USED_ONCE,
    WHOLE,
    WORD,
    WORD_CUE,
    WORDS,
    Family,
)
from classic_rc.commands.check.feature_matrix import FeatureEntries, flag_entries
from classic_rc.commands.check.known_cues import WORD_CUES
from classic_rc.commands.check.option_arrays import Integers, OptionTable
from classic_rc.kernels.arrays import distinct, look_up, offsets_of, runs_of, sums_by

_BLOCK_CHARACTERS = 2**19
_MOST_GRAM = 3
_MOST_COUNTED = 2**20
"""Up to so many different codes are counted in a table."""
_MOST_SHAPE = 12
_MARKUP = re.compile(r"</?[A-Za-z]\w*|&#?\w+;|\\[nrt]\b")
_LOWER_CUES = {name: re.compile(cue.pattern) for name, cue in WORD_CUES.items()}


def text_entries(table: OptionTable, min_questions: int) -> Iterator[FeatureEntries]:
    """Yield the features of texts, those of one kind at a time."""
    for family in (WORD, WORDS, FIRST_WORD, LAST_WORD):
        yield _word_entries(table, family, min_questions)
    for length in range(1, _MOST_GRAM + 1):
        yield _gram_entries(table, length, min_questions)
    number, name_of = table.normalised
    n_uses = np.bincount(number)
    is_once = n_uses[number] == 1
    has_one = table.sum(is_once.astype(np.int64)) == 1
    once = np.flatnonzero(is_once)
    alone = np.flatnonzero(is_once & has_one[table.question])
    yield flag_entries(
        table,
        [
            (USED_ONCE, "is used in no other question", once),
            (USED_ONCE, "is the only one used in no other question", alone),
        ],
    )
    often = np.flatnonzero(n_uses >= min_questions)
    names = [_shorten(name_of(i)) for i in often.tolist()]
    pairs = often, np.arange(len(names))
    yield FeatureEntries.of_pairs([WHOLE] * len(names), names, pairs, number)
    code_of: dict[tuple[Family, str], int] = {}
    items, codes = array("i"), array("i")  # lists of millions of integers would fill the memory
    for i, text in enumerate(table.distinct_texts):
        for shape in _shapes(text):
            items.append(i)
            codes.append(code_of.setdefault(shape, len(code_of)))
    families = [family for family, _ in code_of]
    values = [value for _, value in code_of]
    shapes = np.frombuffer(items, dtype=np.int32), np.frombuffer(codes, dtype=np.int32)
    yield FeatureEntries.of_pairs(families, values, shapes, table.text_index)


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


_Pairs = tuple[Integers, Integers]
"""The numbers of texts in a block, ascending, and codes of what they have."""


def frequent_codes(
    blocks: Iterable[tuple[Integers, Integers | None]], n_codes: int, minimum: int
) -> Integers:
    """Return the codes below `n_codes` that occur at least `minimum` times in blocks, ascending;
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
            counts = np.bincount(place, weights, minlength=len(distinct_codes))
        codes, place = np.unique(np.concatenate([codes, distinct_codes]), return_inverse=True)
        totals = sums_by(place, np.concatenate([totals, counts]), len(codes))
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

    def codes_with_uses() -> Iterator[_Pairs]:
        for start, stop in blocks:
            text, code = distinct_pairs(start, stop)
            yield code, uses[start + text]

    codes = frequent_codes(codes_with_uses(), n_codes, min_questions)
    counts = np.zeros(n, dtype=np.int64)
    columns = [np.empty(0, dtype=np.int32)]
    for start, stop in blocks:
        text, code = distinct_pairs(start, stop)
        place, is_known = look_up(code, codes)
        counts[start:stop] = np.bincount(text[is_known], minlength=stop - start)
        columns.append(place[is_known].astype(np.int32))
    indices = np.concatenate(columns)
    ones = np.ones(len(indices), dtype=np.int8)
    matrix = csr_matrix((ones, indices, offsets_of(counts)), shape=(n, len(codes)))
    return FeatureEntries(*describe(codes), matrix, table.text_index)


def _word_entries(table: OptionTable, family: Family, min_questions: int) -> FeatureEntries:
    """Return single words, pairs of neighbours, or the first or last words of texts with
    several.
    """
    tokens, offsets = table.tokens
    words = table.encoder.vocabulary
    n = len(words) + 1

    def pairs(start: int, stop: int) -> _Pairs:
        block_tokens = tokens[offsets[start] : offsets[stop]].astype(np.int64)
        sizes = np.diff(offsets[start : stop + 1])
        text = np.repeat(np.arange(stop - start), sizes)
        if family is WORD:
            return text, block_tokens
        next_is_same = text[1:] == text[:-1]
        has_before = np.append(False, next_is_same)[: len(text)]
        has_after = np.append(next_is_same, False)[: len(text)]
        if family is WORDS:
            return text[has_after], block_tokens[has_after] * n + block_tokens[has_before]
        if family is FIRST_WORD:
            is_end = has_after & ~has_before
        else:
            is_end = has_before & ~has_after
        return text[is_end], block_tokens[is_end]

    def describe(codes: Integers) -> tuple[list[Family], list[str]]:
        if family is WORDS:
            pairs_of_words = (divmod(code, n) for code in codes.tolist())
            values = [f"{words[first]} {words[second]}" for first, second in pairs_of_words]
        else:
            values = [words[code] for code in codes.tolist()]
        families = [family] * len(values)
        if family is WORD and table.has_contractions and "not" in values:
            families[values.index("not")] = NOT
        return families, values

    return _coded_entries(table, pairs, n**2 if family is WORDS else n, describe, min_questions)


def _gram_entries(table: OptionTable, length: int, min_questions: int) -> FeatureEntries:
    """Return character n-grams; a code combines the places of its characters in the alphabet of
    all texts.
    """
    alphabet = sorted(set().union(*table.distinct_texts))
    size = max(len(alphabet), 1)
    place = np.zeros(ord(max(alphabet, default="a")) + 1, dtype=np.int64)
    place[[*map(ord, alphabet)]] = np.arange(len(alphabet))

    def spell(code: int) -> str:
        return "".join(alphabet[code // size**i % size] for i in range(length))

    def pairs(start: int, stop: int) -> _Pairs:
        texts = table.distinct_texts[start:stop]
        joined = "".join(texts).encode("utf-32-le", "surrogatepass")
        points = place[np.frombuffer(joined, dtype=np.uint32)]
        text = np.repeat(np.arange(len(texts)), [len(t) for t in texts])
        n = max(len(points) - length + 1, 0)
        code = np.zeros(n, dtype=np.int64)
        for i in range(length):
            code += points[i : i + n] * size**i
        first_text, last_text = text[:n], text[length - 1 :][:n]
        inside = first_text == last_text
        return first_text[inside], code[inside]

    def describe(codes: Integers) -> tuple[list[Family], list[str]]:
        grams = [*map(spell, codes.tolist())]
        if length > 1:
            return [PIECE] * len(grams), grams
        return [*map(_family_of, grams)], [*map(describe_character, grams)]

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
