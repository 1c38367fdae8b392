"""Rules of an option's lengths and words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, OptionTable
from classic_rc.audit.rules.partial_input import (
    Measure,
    PartialInput,
    count_matches,
    count_words,
    has,
    matches,
    ordered,
    shares,
)
from classic_rc.solvers.cues import NEGATIONS
from classic_rc.text.analyzers import stop_words

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


def _remainder(measure: Measure, m: int, rest: int) -> Measure:
    return lambda table: np.asarray(measure(table)) % m == rest


def _has_words(n: int) -> Measure:
    return lambda table: table.word_counts == n


def _sentences(table: OptionTable) -> Floats:
    return table.of_texts(lambda text: len(re.findall(r"[.!?。！？]+(?=\s|$)", text)))


_LENGTHS = (
    *ordered(
        lambda t: t.lengths,
        "length",
        "longest in characters",
        "shortest in characters",
        middle="middle in characters",
        seconds=("second longest in characters", "second shortest in characters"),
    ),
    *ordered(
        lambda t: t.word_counts,
        "length",
        "longest in words",
        "shortest in words",
        middle="middle in words",
        seconds=("second longest in words", "second shortest in words"),
    ),
    *ordered(_mean_word_length, "derived", "one with the longest words", "one with the shortest words"),
    *ordered(
        lambda t: np.array([max(map(len, words), default=0) for words in t.words])[t.text_index],
        "derived",
        "one with the longest single word",
        "one with the shortest longest word",
    ),
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
        "remainders",
        "has an odd number of characters",
        lambda t: t.lengths % 2 == 0,
    ),
    has(
        "has an even number of words", "remainders", "has an odd number of words", lambda t: t.word_counts % 2 == 0
    ),
    *(
        has(
            f"has a number of {unit} that leaves {rest} when divided by {m}",
            "remainders",
            f"has no number of {unit} that leaves {rest} when divided by {m}",
            _remainder(measure, m, rest),
        )
        for unit, measure in (("characters", lambda t: t.lengths), ("words", lambda t: t.word_counts))
        for m in (3, 4, 5)
        for rest in range(m)
    ),
    has("has three characters or fewer", "length", "has more than three characters", lambda t: t.lengths <= 3),
    has("is one word", "length", "is more than one word", lambda t: t.word_counts == 1),
    *(
        has(f"is {word} words", "length", f"is not {word} words", _has_words(n))
        for n, word in enumerate(("two", "three", "four", "five"), start=2)
    ),
)


# Words

_HEDGES = (
    r"(?:usually|often|sometimes|some|may|might|could|can|generally|probably|perhaps|possibly|"
    r"mostly|many|most|likely|seem\w*|tend\w*|partly|about|rather|rarely|seldom)"
)
_ABSOLUTES = (
    r"(?:always|never|all|every\w*|none|only|must|entirely|completely|absolutely|totally|nobody|"
    r"nothing|any|cannot|impossible|certainly|definitely)"
)
_OF_ABOVE = (
    r"\b(?:all|none|both|neither|any|either) of (?:the (?:above|below|other\w*|"
    r"following|choices|options|answers)|these|those|them)\b|以上"
)
_PRONOUNS = r"(?:he|she|it|they|i|we|you|him|her|them|his|their|its)"
_PAST = r"\w+[^e\W]ed|was|were|had|did"


_OUR = "col fav hon lab neighb behavi harb rum hum flav vap od vig endeav sav parl".replace(" ", "|")
_RE = "theat cent met lit fib lust meag somb spect calib".replace(" ", "|")
_ISE = (
    "real organ recogn critic apolog emphas minim maxim memor special general civil modern final summar symbol "
    "util visual author categor character colon econom familiar harmon industrial mobil normal optim priorit "
    "social stabil standard sympath"
).replace(" ", "|")
_LL = "trave cance labe mode signa jewe marve quarre fue dia leve counse".replace(" ", "|")
_BRITISH = (
    rf"(?:(?:{_OUR})our\w*|(?:{_RE})re[sd]?|(?:{_ISE})is(?:e[sdr]?|ing|ation)|(?:{_LL})ll(?:ed|ing|ers?)|analyse[sd]?|"
    r"paralyse[sd]?|defence|offence|licence|grey\w*|tyres?|kerbs?|cheques?|programmes?|catalogues?|dialogues?|mould\w*|"
    r"ploughs?|pyjamas|jewellery|aluminium|aeroplanes?|whilst|learnt|dreamt|spelt|skilful|enrol|fulfil|mum)"
)
_AMERICAN = (
    rf"(?:(?:{_OUR})or(?!i)\w*|(?:{_RE})er[sd]?|(?:{_ISE})iz(?:e[sdr]?|ing|ation)|(?:{_LL})l(?:ed|ing|ers?)|"
    r"analyze[sd]?|paralyze[sd]?|defense|offense|license|gray\w*|curbs?|catalogs?|dialogs?|mold\w*|plows?|pajamas|"
    r"jewelry|aluminum|airplanes?|skillful|enroll|fulfill|mom)"
)
_CONJUNCTIONS = r"and|or|but|because|so|although|though|while|if|since|unless"
_COMPARISONS = r"(?:more|most|less|least|than|better|best|worse|worst|\w{3,}[^aeiou\W]iest|\w{4,}est)"


def _most_alike_initials(table: OptionTable) -> Floats:
    """The largest number of words that start with one letter."""
    most = [max(Counter(w[:1] for w in words).values(), default=0) for words in table.words]
    return np.array(most, dtype=np.float64)[table.text_index]


def _in_order(key: Callable[[str], Any]) -> Measure:
    """Whether an option of several words has them in ascending order."""

    def measure(table: OptionTable) -> NDArray[np.bool_]:
        words = [text.split() for text in table.distinct_texts]
        ordered_ = [len(own) > 1 and own == sorted(own, key=key) for own in words]
        return np.array(ordered_, dtype=np.bool_)[table.text_index]

    return measure


def _function_words(table: OptionTable) -> Floats:
    listed = stop_words("nltk")
    return np.array([sum(w in listed for w in words) for words in table.words], dtype=np.float64)[table.text_index]


def _negations(table: OptionTable) -> Floats:
    count = [sum(w in NEGATIONS or w.endswith("n't") for w in words) for words in table.words]
    return np.array(count, dtype=np.float64)[table.text_index]


def _type_token(table: OptionTable) -> Floats:
    share = [len(set(words)) / len(words) if words else 1.0 for words in table.words]
    return np.array(share)[table.text_index]


def _conjunctions(table: OptionTable) -> Floats:
    return count_words(_CONJUNCTIONS)(table) + table.count_characters("和与或但因".__contains__)


_WORDS = (
    has("has a negation", "words", "has no negation", _negations),
    has("has a hedge (usually, some, may)", "words", "has no hedge (usually, some, may)", count_words(_HEDGES)),
    has(
        "has an absolute (always, never, all)",
        "words",
        "has no absolute (always, never, all)",
        count_words(_ABSOLUTES),
    ),
    has("is all or none of the above", "words", "is not all or none of the above", count_matches(_OF_ABOVE)),
    has(
        "has a verb of necessity or possibility (must, should, would)",
        "words",
        "has no verb of necessity or possibility (must, should, would)",
        count_words(r"(?:must|should|shall|would|could|can|may|might|will|ought)"),
    ),
    has("has a British spelling", "words", "has no British spelling", count_words(_BRITISH)),
    has("has an American spelling", "words", "has no American spelling", count_words(_AMERICAN)),
    has(
        "has a contraction (don't, it's)",
        "words",
        "has no contraction",
        count_matches(r"\w['’](?:t|s|re|ve|ll|d|m)\b"),
    ),
    has("has a conjunction (and, or, but)", "words", "has no conjunction", _conjunctions),
    has("has a comparison (more, -er, than)", "words", "has no comparison", count_words(_COMPARISONS)),
    has("has a form in -ly", "words", "has no form in -ly", count_words(r"\w{2,}ly")),
    has(
        "has a form in -s (plural or third person)",
        "words",
        "has no form in -s",
        count_words(r"\w{2,}[^su\W]s"),
    ),
    has(
        "has an abstract noun (-tion, -ness, -ment)",
        "words",
        "has no abstract noun (-tion, -ness, -ment)",
        count_words(r"\w{2,}(?:tion|sion|ness|ment|ity|ance|ence)s?"),
    ),
    has("has a pronoun", "words", "has no pronoun", count_words(_PRONOUNS)),
    has("is in the past tense", "derived", "is not in the past tense", count_words(_PAST)),
    has("has a form in -ing", "words", "has no form in -ing", count_words(r"\w{2,}ing")),
    has("starts with an article", "words", "does not start with an article", matches(r"^\s*(?:[Tt]he|[Aa]n?)\b")),
    has(
        "starts with 'to' and a verb", "words", "does not start with 'to' and a verb", matches(r"^\s*[Tt]o\s+[a-z]")
    ),
    *ordered(
        shares(_function_words, lambda t: t.word_counts),
        "words",
        "one with the largest share of function words",
        "one with the smallest share of function words",
    ),
    *ordered(
        lambda t: _type_token(t).round(9),
        "derived",
        "one with the most varied words (type-token ratio)",
        "one with the least varied words (type-token ratio)",
    ),
    *ordered(
        _most_alike_initials,
        "letters",
        "one with the most words that start with the same letter",
        "one with the fewest words that start with the same letter",
    ),
    has(
        "has its words in alphabetical order",
        "words",
        "does not have its words in alphabetical order",
        _in_order(str.casefold),
    ),
    has(
        "has its words in order of length",
        "words",
        "does not have its words in order of length",
        _in_order(len),
    ),
    has("repeats a word", "words", "repeats no word", lambda t: _type_token(t) < 1),
)

WORDING_RULES: tuple[PartialInput, ...] = (*_LENGTHS, *_WORDS)
