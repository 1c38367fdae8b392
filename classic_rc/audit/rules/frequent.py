"""Rules made from what options and questions contain: frequent characters, words, endings, first and last words.

They depend on the texts only, not on gold, so their tests are exact.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import Measure, PartialInput, characters, has, ordered
from classic_rc.kernels.arrays import distinct
from classic_rc.text.analyzers import get_analyzer

_MOST_CHARACTERS = 80
_MOST_WORDS = 200
_MOST_ENDS = 20
_LEAST_QUESTIONS = 0.05
"""A rule about a character or a word is made if it separates the options of this share of the questions."""


def frequent_rules(table: OptionTable) -> Iterator[PartialInput]:
    """Yield rules for the frequent characters, words and endings, and for the frequent first and last ones."""
    codes, offsets = table.codes
    text = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    last = np.array([ord(text[-1]) if text else 0 for text in table.distinct_texts], dtype=np.int64)
    index = np.arange(len(last))
    is_letter = np.array([chr(code).isalnum() for code in last.tolist()], dtype=np.bool_)
    for group, chosen in (("marks", ~is_letter), ("letters", is_letter)):
        yield from _presence_rules(
            table,
            index[chosen],
            last[chosen],
            group,
            _MOST_ENDS,
            lambda c: f"ends with {_shown(chr(c))}",
            lambda c: f"does not end with {_shown(chr(c))}",
        )
    first = np.array([ord(text[0]) if text else 0 for text in table.distinct_texts], dtype=np.int64)
    yield from _presence_rules(
        table,
        index,
        first,
        "letters",
        _MOST_ENDS,
        lambda c: f"starts with {_shown(chr(c))}",
        lambda c: f"does not start with {_shown(chr(c))}",
    )
    # A sign says more than a letter. Apostrophes and hyphens are parts of words.
    different, where = table.characters
    is_sign = np.array([not c.isalnum() and c not in "'’- " for c in map(chr, different.tolist())], dtype=np.bool_)
    for group, chosen in (("marks", is_sign[where]), ("characters", ~is_sign[where])):
        yield from _presence_rules(
            table,
            text[chosen],
            codes[chosen],
            group,
            _MOST_CHARACTERS,
            lambda c: f"has the character {_shown(chr(c))}",
            lambda c: f"lacks the character {_shown(chr(c))}",
        )
    yield from _letter_counts(different, np.bincount(where, minlength=len(different)))
    words, offsets = table.tokens
    tokens, vocabulary = words.astype(np.int64), table.vocabulary
    text = np.repeat(index, np.diff(offsets))
    endings: dict[str, int] = {}
    ending = np.array(
        [endings.setdefault(word[-2:], len(endings)) if len(word) > 3 else -1 for word in vocabulary],
        dtype=np.int64,
    )
    if len(endings):
        own, names = ending[tokens], list(endings)
        yield from _presence_rules(
            table,
            text[own >= 0],
            own[own >= 0],
            "endings",
            _MOST_ENDS,
            lambda c: f"has a word that ends with '-{names[c]}'",
            lambda c: f"has no word that ends with '-{names[c]}'",
        )
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


_COUNTED_LETTERS = 10


def _letter_counts(letters: NDArray[np.int64], counts: NDArray[np.int64]) -> Iterator[PartialInput]:
    """Yield the rules "most" and "fewest" of the letters that options have most often."""
    by_count = [chr(c) for c in letters[np.argsort(-counts, kind="stable")].tolist() if chr(c).isalpha()]
    for letter in by_count[:_COUNTED_LETTERS]:
        yield from ordered(
            characters(letter.__eq__),
            "derived",  # a longer option has more of every letter
            f"one with the most letters '{letter}'",
            f"one with the fewest letters '{letter}'",
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


# Yes and no: the words of the question


def constant_option_rules(table: OptionTable) -> Iterator[PartialInput]:
    """Yield rules for the frequent words of questions if all questions have the same two options."""
    classes = table.constant_class
    if classes is None or table.sizes[0] != 2:
        return
    analyze = get_analyzer(table.analyzer).analyze
    asked = [set(analyze(q.query)) for q in table.questions]
    counts = Counter(word for words in asked for word in words)
    first, second = (table.texts[int(np.argmax(classes == c))] for c in (0, 1))
    least = max(_LEAST_QUESTIONS * len(table), 3)
    for word, count in counts.most_common(_MOST_WORDS):
        if least <= count <= len(table) - least:
            above, below = (f"is {option!r} where the question has the word {word!r}" for option in (second, first))
            yield PartialInput(above, ("question",), "words", above, below, _where_asked(word, asked))


def _where_asked(word: str, asked: list[set[str]]) -> Callable[[OptionTable], Floats]:
    def score(table: OptionTable) -> Floats:
        has_word = np.array([word in words for words in asked], dtype=np.int64)
        assert table.constant_class is not None
        return (table.constant_class == has_word[table.question]).astype(np.float64)

    return score
