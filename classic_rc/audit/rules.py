"""Fixed rules of an audit that read only a question's own options: each is a named score, learned from nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.kernels.arrays import distinct, offsets_of, ragged_indices
from classic_rc.solvers.cues import NEGATIONS

OPTIONS = ("options",)


@dataclass(frozen=True)
class PartialInput:
    """A way to answer from part of the input: a fixed rule, or a row that learns.

    Parameters
    ----------
    name : str
        Unique; findings are accepted and compared by it.
    sees : tuple of str
        What it reads: ``options``, ``question``, ``first word of the question``, ``passage``, ``order`` (positions
        and answers of other questions), ``fields`` (ids and meta data) or ``other options`` (of other questions).
    group : str
        Rules of one kind. Each group has the same share of the error level.
    above : str
        What is said of right options if it scores above chance: "is the longest".
    below : str
        The same below chance. Empty for rows that learn their direction: these are tested on one side only.
    score : callable
        Takes an :class:`OptionTable` and returns a number for each option, shape (n_options,). For rows that learn,
        None: :mod:`classic_rc.audit.learned` has their learners.
    flips : bool
        Whether the rule is a property that options have or lack. Below chance, it answers with those that lack it.
    """

    name: str
    sees: tuple[str, ...]
    group: str
    above: str
    below: str = ""
    score: Callable[[OptionTable], Floats] | None = None
    flips: bool = False

    @property
    def reads_passage(self) -> bool:
        """Whether it sees the passage: then what it finds is a shortcut, else an artifact."""
        return "passage" in self.sees


Measure = Callable[[OptionTable], NDArray[Any]]


def has(name: str, group: str, lack: str, measure: Measure, sees: tuple[str, ...] = OPTIONS) -> PartialInput:
    """Return the rule of a property: `name` says that an option has it, `lack` that it lacks it."""

    def score(table: OptionTable) -> Floats:
        return (np.asarray(measure(table)) > 0).astype(np.float64)

    return PartialInput(name, sees, group, name, lack, score, flips=True)


def ordered(
    measure: Measure, group: str, most: str, least: str, sees: tuple[str, ...] = OPTIONS, middle: str = ""
) -> Iterator[PartialInput]:
    """Yield rules of a quantity: the largest, the smallest and, if it has a name, the middle one."""

    def ranks(table: OptionTable) -> Floats:
        # The rules of one quantity follow each other, so the last quantity is the one to remember.
        known = table.memory.get("ranks")
        if known is None or known[0] is not measure:
            known = table.memory["ranks"] = (measure, table.rank(np.asarray(measure(table))))
        return known[1]

    def outer(table: OptionTable) -> Floats:
        own = ranks(table)
        return -np.abs(own - ((table.sizes - 1) / 2)[table.question])

    yield PartialInput(f"is the {most}", sees, group, f"is the {most}", f"is never or seldom the {most}", ranks)
    yield PartialInput(
        f"is the {least}", sees, group, f"is the {least}", f"is never or seldom the {least}", lambda t: -ranks(t)
    )
    if middle:
        below = f"is never or seldom the {middle}"
        yield PartialInput(f"is the {middle}", sees, group, f"is the {middle}", below, outer)


# Characters: punctuation, capitals, white space


def _is_mark(c: str) -> bool:
    return unicodedata.category(c)[0] == "P"


def _is_odd(c: str) -> bool:
    return (c.isspace() and c not in " \n") or (unicodedata.category(c) in ("Cf", "Cc") and c != "\n")


def _characters(belongs: Callable[[str], bool]) -> Measure:
    return lambda table: table.count_characters(belongs)


def _matches(pattern: str) -> Measure:
    search = re.compile(pattern).search
    return lambda table: table.of_texts(lambda text: search(text) is not None)


def _count_matches(pattern: str) -> Measure:
    find = re.compile(pattern, re.IGNORECASE).findall
    return lambda table: table.of_texts(lambda text: len(find(text)))


_PUNCTUATION = (
    has(
        "ends with a punctuation mark",
        "punctuation",
        "does not end with a punctuation mark",
        lambda t: t.of_texts(lambda text: bool(text.rstrip()) and _is_mark(text.rstrip()[-1])),
    ),
    has(
        "starts with a punctuation mark",
        "punctuation",
        "does not start with a punctuation mark",
        lambda t: t.of_texts(lambda text: bool(text.lstrip()) and _is_mark(text.lstrip()[0])),
    ),
    has("has a comma", "punctuation", "has no comma", _matches("[,，、،]")),
    has("has an apostrophe", "punctuation", "has no apostrophe", _matches("['’]")),
    has("has a hyphen or dash", "punctuation", "has no hyphen or dash", _matches("[-‐‑–—]")),
    has("has quotation marks", "punctuation", "has no quotation marks", _matches('["“”«»「」『』]')),
    has("has brackets", "punctuation", "has no brackets", _matches(r"[()\[\]{}（）【】]")),
    has("has a colon or semicolon", "punctuation", "has no colon or semicolon", _matches("[:;：；]")),
    has("has two marks in a row", "punctuation", "never has two marks in a row", _matches(r"[.,;:!?]{2}")),
    *ordered(
        _characters(_is_mark), "punctuation", "one with the most punctuation", "one with the least punctuation"
    ),
)

_CAPITALS = (
    has(
        "starts with a capital",
        "capitals",
        "does not start with a capital",
        lambda t: t.of_texts(lambda text: text.lstrip()[:1].isupper()),
    ),
    has("is all in capitals", "capitals", "is not all in capitals", lambda t: t.of_texts(str.isupper)),
    has(
        "has every word capitalised",
        "capitals",
        "does not have every word capitalised",
        lambda t: t.of_texts(str.istitle),
    ),
    has(
        "has a capital after its first letter",
        "capitals",
        "has no capital after its first letter",
        lambda t: t.count_characters(str.isupper) > t.of_texts(lambda text: text.lstrip()[:1].isupper()),
    ),
    *ordered(_characters(str.isupper), "capitals", "one with the most capitals", "one with the fewest capitals"),
)

_BLANKS = (
    has("starts with white space", "white space", "does not start with white space", _matches(r"^\s")),
    has("ends with white space", "white space", "does not end with white space", _matches(r"\s\Z")),
    has("has two blanks in a row", "white space", "never has two blanks in a row", _matches(r"\s\s")),
    has("has an odd blank or an invisible character", "white space", "has no odd blank", _characters(_is_odd)),
    has("has a line break", "white space", "has no line break", _matches(r"[\n\r]")),
    has("has a blank before a mark", "white space", "has no blank before a mark", _matches(r"\s[.,;:!?]")),
)


def _script_share(table: OptionTable) -> Floats:
    return table.count_characters(lambda c: not c.isascii()) / np.maximum(table.lengths, 1)


_SIGNS = (
    has("has a character beyond ASCII", "characters", "is all ASCII", _characters(lambda c: not c.isascii())),
    has("has a digit", "characters", "has no digit", _characters(str.isdigit)),
    has(
        "is in another Unicode form (not NFC)",
        "characters",
        "is in the Unicode form NFC",
        lambda t: t.of_texts(lambda text: not unicodedata.is_normalized("NFC", text)),
    ),
    has(
        "has a sign that is no letter, digit, mark or blank",
        "characters",
        "has only letters, digits, marks and blanks",
        _characters(lambda c: unicodedata.category(c)[0] == "S"),
    ),
    has(
        "repeats a letter three times",
        "characters",
        "never repeats a letter three times",
        _matches(r"([^\W\d_])\1\1"),
    ),
    has("starts with a vowel", "derived", "starts with no vowel", _matches(r"^\s*[aeiouAEIOU]")),
    *ordered(
        _script_share,
        "characters",
        "one with the largest share beyond ASCII",
        "one with the smallest share beyond ASCII",
    ),
)


# Lengths


def _mean_word_length(table: OptionTable) -> Floats:
    return table.count_characters(str.isalnum) / np.maximum(table.word_counts, 1)


def _apart(measure: Measure) -> Measure:
    return lambda table: np.abs(table.centred(np.asarray(measure(table), dtype=np.float64))).round(9)


def _alone(measure: Measure) -> Measure:
    def score(table: OptionTable) -> Floats:
        values = np.asarray(measure(table), dtype=np.int64)
        cell = table.question * (values.max(initial=0) + 1) + values
        _, cell, counts = np.unique(cell, return_inverse=True, return_counts=True)
        return counts[cell.reshape(-1)] == 1

    return score


def _sentences(table: OptionTable) -> Floats:
    return table.of_texts(lambda text: len(re.findall(r"[.!?。！？]+(?=\s|$)", text)))


_LENGTHS = (
    *ordered(
        lambda t: t.lengths,
        "length",
        "longest in characters",
        "shortest in characters",
        middle="middle in characters",
    ),
    *ordered(lambda t: t.word_counts, "length", "longest in words", "shortest in words", middle="middle in words"),
    *ordered(_mean_word_length, "derived", "one with the longest words", "one with the shortest words"),
    *ordered(_apart(lambda t: t.lengths), "length", "farthest from the mean length", "nearest to the mean length"),
    *ordered(_sentences, "derived", "one with the most sentences", "one with the fewest sentences"),
    has(
        "is the only one of its length in words",
        "length",
        "has as many words as another",
        _alone(lambda t: t.word_counts),
    ),
    has(
        "is the only one of its length in characters",
        "length",
        "has as many characters as another",
        _alone(lambda t: t.lengths),
    ),
    has(
        "has an even number of characters",
        "length",
        "has an odd number of characters",
        lambda t: t.lengths % 2 == 0,
    ),
    has("has an even number of words", "length", "has an odd number of words", lambda t: t.word_counts % 2 == 0),
    has("has three characters or fewer", "length", "has more than three characters", lambda t: t.lengths <= 3),
    has("is one word", "length", "is more than one word", lambda t: t.word_counts == 1),
)


# Words

_HEDGES = (
    r"\b(?:usually|often|sometimes|some|may|might|could|can|generally|probably|perhaps|possibly|"
    r"mostly|many|most|likely|seem\w*|tend\w*|partly|about|rather|rarely|seldom)\b"
)
_ABSOLUTES = (
    r"\b(?:always|never|all|every\w*|none|only|must|entirely|completely|absolutely|totally|nobody|"
    r"nothing|any|cannot|impossible|certainly|definitely)\b"
)
_OF_ABOVE = (
    r"\b(?:all|none|both|neither|any|either) of (?:the (?:above|below|other\w*|"
    r"following|choices|options|answers)|these|those|them)\b|以上"
)
_PRONOUNS = r"\b(?:he|she|it|they|i|we|you|him|her|them|his|their|its)\b"
_PAST = r"\b\w+[^e\W]ed\b|\b(?:was|were|had|did)\b"


def _negations(table: OptionTable) -> Floats:
    count = [sum(w in NEGATIONS or w.endswith("n't") for w in words) for words in table.words]
    return np.array(count, dtype=np.float64)[table.text_index]


def _type_token(table: OptionTable) -> Floats:
    share = [len(set(words)) / len(words) if words else 1.0 for words in table.words]
    return np.array(share)[table.text_index]


_WORDS = (
    has("has a negation", "words", "has no negation", _negations),
    has("has a hedge (usually, some, may)", "words", "has no hedge (usually, some, may)", _count_matches(_HEDGES)),
    has(
        "has an absolute (always, never, all)",
        "words",
        "has no absolute (always, never, all)",
        _count_matches(_ABSOLUTES),
    ),
    has("is all or none of the above", "words", "is not all or none of the above", _count_matches(_OF_ABOVE)),
    has("has a pronoun", "words", "has no pronoun", _count_matches(_PRONOUNS)),
    has("is in the past tense", "derived", "is not in the past tense", _count_matches(_PAST)),
    has("has a form in -ing", "words", "has no form in -ing", _count_matches(r"\b\w{2,}ing\b")),
    has("starts with an article", "words", "does not start with an article", _matches(r"^\s*(?:[Tt]he|[Aa]n?)\b")),
    has("repeats a word", "words", "repeats no word", lambda t: _type_token(t) < 1),
)


# Numbers and the alphabet

_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_DIGIT = re.compile(r"\d")
_NUMBER_WORDS = {
    word: float(i)
    for i, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {
    "thirty": 30.0,
    "forty": 40.0,
    "fifty": 50.0,
    "sixty": 60.0,
    "seventy": 70.0,
    "eighty": 80.0,
    "ninety": 90.0,
    "hundred": 100.0,
    "thousand": 1000.0,
    "million": 1e6,
}
_HAN_NUMBERS = {c: float(i) for i, c in enumerate("零一二三四五六七八九十")} | {"两": 2.0}


def _number(text: str) -> float:
    """Return the first number of a text, in digits or in words; NaN without one."""
    if _DIGIT.search(text):
        found = _NUMBER.search(text)
        if found:
            return float(found[0].replace(",", "")[:300])
    for word in text.casefold().split():
        if word.strip(".,;:!?") in _NUMBER_WORDS:
            return _NUMBER_WORDS[word.strip(".,;:!?")]
    return (
        float("nan") if text.isascii() else next((_HAN_NUMBERS[c] for c in text if c in _HAN_NUMBERS), float("nan"))
    )


def _numbers(table: OptionTable) -> Floats:
    if "numbers" not in table.memory:
        table.memory["numbers"] = table.of_texts(_number)
    return table.memory["numbers"]


def _number_ranks(table: OptionTable) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return ranks of numbers in their question, which options have one, and which questions have two."""
    values = _numbers(table)
    known = ~np.isnan(values)
    ranks = table.rank(np.where(known, values, np.inf))  # options without a number come last
    return ranks, known, (table.sum(known.astype(np.int64)) >= 2)[table.question]


def _number_rule(name: str, score: Callable[[Floats, Floats], Floats], at_least: int = 2) -> PartialInput:
    def of(table: OptionTable) -> Floats:
        ranks, known, comparable = _number_ranks(table)
        count = table.sum(known.astype(np.float64))[table.question]
        own = np.where(known, score(ranks, count), -1e3)
        return np.where(comparable & (count >= at_least), own, 0.0)

    return PartialInput(
        f"is the {name}", OPTIONS, "numbers", f"is the {name}", f"is never or seldom the {name}", of
    )


def _digit_rule(name: str, lack: str, holds: Callable[[Floats], NDArray[np.bool_]]) -> PartialInput:
    def of(table: OptionTable) -> NDArray[np.bool_]:
        values = _numbers(table)
        return ~np.isnan(values) & holds(np.where(np.isnan(values), 0.5, values))

    return has(name, "numbers", lack, of)


_NUMBERS = (
    _number_rule("largest number", lambda rank, n: rank),
    _number_rule("smallest number", lambda rank, n: -rank),
    _number_rule("middle number", lambda rank, n: -np.abs(rank - (n - 1) / 2), at_least=3),
    has("has a number", "numbers", "has no number", lambda t: ~np.isnan(_numbers(t))),
    has(
        "has a number in words",
        "numbers",
        "has no number in words",
        lambda t: ~np.isnan(t.of_texts(lambda text: float("nan") if _NUMBER.search(text) else _number(text))),
    ),
    _digit_rule("is an even number", "is no even number", lambda v: v % 2 == 0),
    _digit_rule("is an odd number", "is no odd number", lambda v: v % 2 == 1),
    _digit_rule("is a round number", "is no round number", lambda v: v % 5 == 0),
    _digit_rule("is a number with a fraction", "is no number with a fraction", lambda v: (v % 1 != 0) & (v != 0.5)),
)


def _alphabet(table: OptionTable) -> Floats:
    order = {text: i for i, text in enumerate(sorted({t.casefold().strip() for t in table.distinct_texts}))}
    return table.of_texts(lambda text: order[text.casefold().strip()])


def _out_of_order(measure: Measure) -> Measure:
    """Options without which the others of their question are sorted, while all together are not."""

    def score(table: OptionTable) -> Floats:
        values, result = np.asarray(measure(table), dtype=np.float64), np.zeros(len(table.texts))
        for k in np.unique(table.sizes[table.sizes >= 4]).tolist():
            starts = table.offsets[:-1][table.sizes == k]
            rows = values[starts[:, None] + np.arange(k)]
            for sign in (1, -1):
                is_sorted = np.all(sign * np.diff(rows, axis=1) > 0, axis=1)
                for i in range(k):
                    rest = np.all(sign * np.diff(np.delete(rows, i, axis=1), axis=1) > 0, axis=1)
                    result[starts[rest & ~is_sorted] + i] = 1
        return result

    return score


_ALPHABET = (
    *ordered(
        _alphabet, "alphabet", "last in the alphabet", "first in the alphabet", middle="middle in the alphabet"
    ),
    has("is out of alphabetical order", "alphabet", "is in alphabetical order", _out_of_order(_alphabet)),
    has("is out of order by length", "alphabet", "is in order by length", _out_of_order(lambda t: t.lengths)),
    has("is out of order by number", "alphabet", "is in order by number", _out_of_order(_numbers)),
)


# Similarity to the other options of the question


_Items = tuple[NDArray[Any], NDArray[np.int64], int]
"""The items (words, n-grams) of all distinct texts as numbers, the offsets of the texts, a bound of the numbers."""


def _shared_counts(table: OptionTable, items: _Items) -> tuple[Floats, Floats, Floats]:
    """Return, for each pair of options, how many items they share, and how many each of the two has."""
    sizes = np.diff(items[1]).astype(np.float64)[table.text_index]
    one, other = table.pairs
    return table.shared_in_pairs(*items), sizes[one], sizes[other]


def _dice(table: OptionTable, items: _Items) -> Floats:
    shared, one, other = _shared_counts(table, items)
    return (2 * shared / np.maximum(one + other, 1)).round(9)


def _trigrams(table: OptionTable) -> _Items:
    texts = [f" {text.casefold().strip()} " for text in table.distinct_texts]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    found = np.flatnonzero(np.bincount(codes))
    place = np.zeros(int(found.max(initial=0)) + 1, dtype=np.int64)
    place[found] = np.arange(len(found))
    n, own = len(found), place[codes]
    counts = np.array([len(text) - 2 for text in texts], dtype=np.int64).clip(0)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    starts = ragged_indices(offsets_of(lengths)[:-1], counts)
    return (own[starts] * n + own[starts + 1]) * n + own[starts + 2], offsets_of(counts), n**3


def _similar(make: Callable[[OptionTable], _Items], how: str) -> Measure:
    def score(table: OptionTable) -> Floats:
        name = f"similarity {make.__name__}"
        if name not in table.memory:
            table.memory[name] = _dice(table, make(table))
        # The rank of a mean over k - 1 others must not depend on rounding.
        return table.over_pairs(table.memory[name], how).round(6)

    return score


def _words(table: OptionTable) -> _Items:
    tokens, offsets = table.tokens
    return tokens, offsets, int(tokens.max(initial=0)) + 1


def _one_word_edits(table: OptionTable) -> Floats:
    """How many others differ from the option in one word that is put in, left out or replaced."""
    shared, one, other = _shared_counts(table, _words(table))
    left, right = table.pairs
    is_edit = (one - shared <= 1) & (other - shared <= 1) & (shared > 0)
    is_edit &= table.normalised[left] != table.normalised[right]
    return (table.over_pairs(is_edit.astype(np.float64), "mean") * (table.sizes - 1)[table.question]).round()


def _like_others(pick: Callable[[list[str]], str]) -> Measure:
    """How many others have the same word at one end."""

    def score(table: OptionTable) -> Floats:
        number: dict[str, int] = {}
        own = [number.setdefault(pick(words), len(number)) if words else -1 for words in table.words]
        word = np.array(own, dtype=np.int64)[table.text_index]
        left, right = table.pairs
        return table.over_pairs(((word[left] == word[right]) & (word[left] >= 0)).astype(np.float64), "mean").round(
            9
        )

    return score


def _contains_another(table: OptionTable) -> Floats:
    return _containment(table, 0)


def _is_in_another(table: OptionTable) -> Floats:
    return _containment(table, 1)


def _containment(table: OptionTable, side: int) -> Floats:
    texts = [text.casefold().strip(" .,;:!?") for text in table.distinct_texts]
    left, right = (table.text_index[s].tolist() for s in (table.pairs[side], table.pairs[1 - side]))
    inside = [
        len(texts[j]) < len(texts[i]) and bool(texts[j]) and texts[j] in texts[i]
        for i, j in zip(left, right, strict=True)
    ]
    return table.over_pairs(np.array(inside, dtype=np.float64), "most")


def _has_equal(table: OptionTable) -> Floats:
    left, right = table.pairs
    return table.over_pairs((table.normalised[left] == table.normalised[right]).astype(np.float64), "most")


_SIMILARITY = (
    PartialInput(
        "is the one from which most others differ in one word",
        OPTIONS,
        "similarity",
        "is the one from which most others differ in one word",
        "is not the one from which others differ in one word",
        _one_word_edits,
    ),
    *ordered(_similar(_words, "mean"), "similarity", "one most like the others in words", "odd one out in words"),
    *ordered(
        _similar(_words, "most"),
        "similarity",
        "one most like some other in words",
        "one least like any other in words",
    ),
    *ordered(
        _similar(_trigrams, "mean"), "similarity", "one most like the others in spelling", "odd one out in spelling"
    ),
    *ordered(
        _similar(_trigrams, "most"),
        "similarity",
        "one most like some other in spelling",
        "one least like any other in spelling",
    ),
    *ordered(
        _like_others(lambda words: words[0]),
        "similarity",
        "one whose first word most others share",
        "one whose first word fewest others share",
    ),
    *ordered(
        _like_others(lambda words: words[-1]),
        "similarity",
        "one whose last word most others share",
        "one whose last word fewest others share",
    ),
    has("contains another option", "similarity", "contains no other option", _contains_another),
    has("is part of another option", "similarity", "is no part of another option", _is_in_another),
    has("is equal to another option", "similarity", "is not equal to another option", _has_equal),
)

TEXT_RULES: tuple[PartialInput, ...] = (
    *_LENGTHS,
    *_PUNCTUATION,
    *_CAPITALS,
    *_BLANKS,
    *_SIGNS,
    *_WORDS,
    *_NUMBERS,
    *_ALPHABET,
    *_SIMILARITY,
)
"""The rules that read nothing but the options of one question."""


# Rules made from what the options contain. They depend on the texts only, not on gold, so their tests are exact.

_MOST_CHARACTERS = 80
_MOST_WORDS = 200
_MOST_ENDS = 20
_LEAST_QUESTIONS = 0.05
"""A rule about a character or a word is made if it separates the options of this share of the questions."""


def frequent_rules(table: OptionTable) -> Iterator[PartialInput]:
    """Yield rules for the frequent characters, words, first words, last words and final characters."""
    codes, offsets = table.codes
    text = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    yield from _presence_rules(
        table,
        text,
        codes,
        "characters",
        _MOST_CHARACTERS,
        lambda c: f"has the character {_shown(chr(c))}",
        lambda c: f"lacks the character {_shown(chr(c))}",
    )
    last = np.array([ord(text[-1]) if text else 0 for text in table.distinct_texts], dtype=np.int64)
    index = np.arange(len(last))
    is_letter = np.array([chr(code).isalnum() for code in last.tolist()], dtype=np.bool_)
    for group, chosen in (("final marks", ~is_letter), ("final letters", is_letter)):
        yield from _presence_rules(
            table,
            index[chosen],
            last[chosen],
            group,
            _MOST_ENDS,
            lambda c: f"ends with {_shown(chr(c))}",
            lambda c: f"does not end with {_shown(chr(c))}",
        )
    words, offsets = table.tokens
    tokens, vocabulary = words.astype(np.int64), table.vocabulary
    text = np.repeat(index, np.diff(offsets))
    for name, place, lack, most in (
        ("has the word", np.ones(len(tokens), dtype=np.bool_), "lacks the word", _MOST_WORDS),
        (
            "starts with the word",
            np.append(True, text[1:] != text[:-1])[: len(text)],
            "does not start with",
            _MOST_ENDS,
        ),
        (
            "ends with the word",
            np.append(text[1:] != text[:-1], True)[: len(text)],
            "does not end with",
            _MOST_ENDS,
        ),
    ):
        yield from _presence_rules(
            table,
            text[place],
            tokens[place],
            "words",
            most,
            _of_word(name, vocabulary),
            _of_word(lack, vocabulary),
        )


def _presence_rules(
    table: OptionTable,
    text: NDArray[np.int64],
    item: NDArray[np.int64],
    group: str,
    most: int,
    name: Callable[[int], str],
    lack: Callable[[int], str],
) -> Iterator[PartialInput]:
    """Yield a rule for each item (character, word) of texts that separates the options of enough questions."""
    if not len(item):
        return
    n_texts = len(table.distinct_texts)
    pairs = np.stack(np.divmod(distinct(item * n_texts + text), n_texts))
    items, starts = np.unique(pairs[0], return_index=True)
    stops = np.append(starts[1:], pairs.shape[1])
    uses = np.bincount(table.text_index, minlength=len(table.distinct_texts))
    options = np.add.reduceat(uses[pairs[1]], starts)
    least = max(_LEAST_QUESTIONS * len(table), 3)
    found: list[tuple[int, int]] = []
    # The most frequent items are the only ones that can separate many questions.
    for i in np.argsort(-options, kind="stable")[: 4 * most].tolist():
        if options[i] < least:
            break
        inside = table.sum(_having(table, pairs[1][starts[i] : stops[i]]).astype(np.int64))
        separated = int(((inside > 0) & (inside < table.sizes)).sum())
        if separated >= least:
            found.append((-separated, i))
    for _, i in sorted(found)[:most]:
        texts = pairs[1][starts[i] : stops[i]]
        yield has(name(int(items[i])), group, lack(int(items[i])), _having_of(texts))


def _of_word(sentence: str, vocabulary: list[str]) -> Callable[[int], str]:
    return lambda word: f"{sentence} {vocabulary[word]!r}"


def _having_of(texts: NDArray[np.int64]) -> Measure:
    return lambda table: _having(table, texts)


def _having(table: OptionTable, texts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which options have one of some distinct texts."""
    flags = np.zeros(len(table.distinct_texts), dtype=np.bool_)
    flags[texts] = True
    return flags[table.text_index]


def _shown(character: str) -> str:
    if character.isprintable() and not character.isspace():
        return f"'{character}'"
    return f"{unicodedata.name(character, 'control character').lower()} (U+{ord(character):04X})"
