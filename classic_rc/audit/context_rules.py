"""Fixed rules of an audit that read more than the options: other questions, fields, question, passage."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules import PartialInput, has, ordered
from classic_rc.kernels.arrays import distinct
from classic_rc.kernels.postings import distinct_words, longest_runs
from classic_rc.questions import Passage, normalised_text
from classic_rc.text.encode import encode
from classic_rc.text.sentences import passage_sentences

OTHERS = ("options", "other options")

# Options that other questions have too


def _count_in(table: OptionTable, scope: Integers) -> Floats:
    """Return in how many other questions of its scope (passage, dataset) each option's text is an option."""
    once = distinct(table.normalised * len(table) + table.question)  # a question counts once
    text, question = np.divmod(once, len(table))
    n_scopes = int(scope.max(initial=0)) + 1
    cells, counts = np.unique(text * n_scopes + scope[question], return_counts=True)
    wanted = table.normalised * n_scopes + scope[table.question]
    return counts[np.searchsorted(cells, wanted)].astype(np.float64) - 1


def _in_passage(table: OptionTable) -> Floats:
    return _count_in(table, table.passage)


def _in_dataset(table: OptionTable) -> Floats:
    return _count_in(table, np.zeros(len(table), dtype=np.int64))


def _elsewhere(table: OptionTable) -> Floats:
    return _in_dataset(table) - _in_passage(table)


def _seen_before(wanted: bool) -> Callable[[OptionTable], Floats]:
    """Whether an earlier question of the passage has the option's text as a right (or wrong) option.

    Only earlier questions count: then the test is exact although their gold is used.
    """

    def score(table: OptionTable) -> Floats:
        seen: set[tuple[int, int]] = set()
        result = np.zeros(len(table.texts))
        keys = list(zip(table.passage[table.question].tolist(), table.normalised.tolist(), strict=True))
        right = table.right.tolist()
        for start, stop in zip(table.offsets[:-1].tolist(), table.offsets[1:].tolist(), strict=True):
            for i in range(start, stop):
                result[i] = keys[i] in seen
            seen.update(keys[i] for i in range(start, stop) if right[i] is wanted)
        return result

    return score


def _word_frequency(table: OptionTable) -> Floats:
    """Return the mean log frequency of the option's words, counted over the options of all questions."""
    uses = np.bincount(table.text_index, minlength=len(table.distinct_texts))
    tokens, offsets = table.tokens
    text = np.repeat(np.arange(len(uses)), np.diff(offsets))
    log_counts = np.log(np.maximum(np.bincount(tokens, weights=uses[text]), 1))
    total = np.bincount(text, weights=log_counts[tokens], minlength=len(uses))
    return (total / np.maximum(np.diff(offsets), 1)).round(9)[table.text_index]


_REUSE = (
    has(
        "is an option of another question of the passage",
        "reuse",
        "is not an option of another question of the passage",
        _in_passage,
        OTHERS,
    ),
    has("is an option of another passage", "reuse", "is not an option of another passage", _elsewhere, OTHERS),
    *ordered(
        _in_passage,
        "reuse",
        "one that most questions of the passage have",
        "one that fewest questions of the passage have",
        OTHERS,
    ),
    *ordered(_in_dataset, "derived", "one that most questions have", "one that fewest questions have", OTHERS),
    has(
        "was right in an earlier question of the passage",
        "reuse",
        "was not right in an earlier question of the passage",
        _seen_before(True),
        (*OTHERS, "order"),
    ),
    has(
        "was wrong in an earlier question of the passage",
        "reuse",
        "was not wrong in an earlier question of the passage",
        _seen_before(False),
        (*OTHERS, "order"),
    ),
    *ordered(_word_frequency, "derived", "one with the most common words", "one with the rarest words", OTHERS),
)


# Positions, and the answers of the questions before


_SHOWN_POSITIONS = 10


def _at_position(place: int) -> Callable[[OptionTable], Floats]:
    return lambda table: (table.position == place).astype(np.float64)


def _position_rules(table: OptionTable) -> Iterator[PartialInput]:
    sees = ("order",)
    for i in range(min(int(table.sizes.max(initial=0)), _SHOWN_POSITIONS)):
        name, lack = f"is option {i + 1}", f"is never or seldom option {i + 1}"
        yield PartialInput(name, sees, "position", name, lack, _at_position(i))
    if len(set(table.sizes.tolist())) > 1:
        yield has(
            "is the last option",
            "position",
            "is not the last option",
            lambda t: t.position == (t.sizes - 1)[t.question],
            sees,
        )
    yield has(
        "is neither the first nor the last option",
        "position",
        "is the first or the last option",
        lambda t: (t.position > 0) & (t.position < (t.sizes - 1)[t.question]),
        sees,
    )


def _after_previous(delta: int) -> Callable[[OptionTable], Floats]:
    """Whether the option's position, minus `delta`, was right in the question before."""

    def score(table: OptionTable) -> Floats:
        before = table.question - 1
        is_known = before >= 0
        before = np.maximum(before, 0)
        place = (table.position - delta) % table.sizes[table.question]
        is_known &= place < table.sizes[before]
        where = table.offsets[:-1][before] + np.minimum(place, table.sizes[before] - 1)
        return (table.right[where] & is_known).astype(np.float64)

    return score


def _used_in_passage(table: OptionTable) -> Floats:
    """How often the option's position was right in earlier questions of the passage."""
    counts: dict[tuple[int, int], int] = {}
    result = np.zeros(len(table.texts))
    passages, right = table.passage.tolist(), table.right.tolist()
    for q, (start, stop) in enumerate(zip(table.offsets[:-1].tolist(), table.offsets[1:].tolist(), strict=True)):
        for i in range(start, stop):
            result[i] = counts.get((passages[q], i - start), 0)
        for i in range(start, stop):
            if right[i]:
                counts[passages[q], i - start] = counts.get((passages[q], i - start), 0) + 1
    return result


def _order_rules(table: OptionTable) -> Iterator[PartialInput]:
    for delta in range(min(int(table.sizes.max(initial=0)), _SHOWN_POSITIONS)):
        name = "is where the answer to the question before is" + (f", plus {delta}" if delta else "")
        lack = name.replace("is where", "is never or seldom where", 1)
        yield PartialInput(name, ("order",), "order", name, lack, _after_previous(delta))
    yield from ordered(
        _used_in_passage,
        "order",
        "position most often right before in the passage",
        "position least often right before in the passage",
        ("order",),
    )


# Ids and meta data


def field_values(table: OptionTable) -> dict[str, list[str]]:
    """Return the values of ids and of all keys of meta data, as text; keys with one value are left out."""
    found: dict[str, list[str]] = {
        "id": [q.id for q in table.questions],
        "passage id": [q.passage.id for q in table.questions],
    }
    for label, owner in (("", "question"), ("passage ", "passage")):
        metas = [q.meta if owner == "question" else q.passage.meta for q in table.questions]
        for key in dict.fromkeys(key for meta in metas for key in meta):
            found[f"{label}meta {key}"] = [_as_text(meta.get(key)) for meta in metas]
    return {name: values for name, values in found.items() if len(set(values)) > 1}


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_LAST_NUMBER = re.compile(r"\d+(?=\D*\Z)")


def last_number(value: str) -> int:
    """Return the last number in a text, -1 without one."""
    found = _LAST_NUMBER.search(value)
    return int(found[0][-18:]) if found else -1


def _letter_index(value: str) -> int:
    found = _LETTER.findall(value)
    return ord(found[-1].casefold()) - ord("a") if found else -1


def _at(places: Sequence[int]) -> Callable[[OptionTable], Floats]:
    wanted = np.array([min(place, 1000) for place in places], dtype=np.int64)
    return lambda table: (table.position == wanted[table.question]).astype(np.float64)


def _text_in(values: Sequence[str]) -> Callable[[OptionTable], Floats]:
    folded = [normalised_text(value) for value in values]

    def score(table: OptionTable) -> Floats:
        texts = [normalised_text(text).strip(" .,;:!?") for text in table.distinct_texts]
        pairs = zip(table.text_index.tolist(), table.question.tolist(), strict=True)
        # The longest text counts: short ones are often part of others.
        return np.array([len(texts[i]) if texts[i] and texts[i] in folded[q] else 0 for i, q in pairs], np.float64)

    return score


def _listed(values: Sequence[Any], sign: int) -> Callable[[OptionTable], Floats]:
    """The numbers of a field that lists one for each option."""

    def score(table: OptionTable) -> Floats:
        result = np.zeros(len(table.texts))
        for q, value in enumerate(values):
            start, stop = int(table.offsets[q]), int(table.offsets[q + 1])
            if not isinstance(value, list | tuple) or len(value) != stop - start:
                continue
            if all(isinstance(v, int | float) for v in value):
                result[start:stop] = np.nan_to_num(np.array(value, dtype=np.float64), posinf=1e9, neginf=-1e9)
        return sign * result

    return score


def _field_rules(table: OptionTable) -> Iterator[PartialInput]:
    for key, values in field_values(table).items():
        sees = ("options", f"fields: {key}")
        for name, places in (
            (f"has its letter in {key}", [_letter_index(v) for v in values]),
            (f"has its number in {key}, from 1", [last_number(v) - 1 for v in values]),
            (f"has its number in {key}, from 0", [last_number(v) for v in values]),
        ):
            if _is_somewhere(table, places):
                yield PartialInput(
                    name, sees[1:], "fields", name, name.replace("has", "never or seldom has", 1), _at(places)
                )
        name = f"has its text in {key}"
        yield PartialInput(name, sees, "fields", name, f"never or seldom has its text in {key}", _text_in(values))
        if key in ("id", "passage id"):
            continue
        plain = [q.meta if not key.startswith("passage ") else q.passage.meta for q in table.questions]
        raw = [meta.get(key.removeprefix("passage ").removeprefix("meta ")) for meta in plain]
        if any(isinstance(v, list | tuple) for v in raw):
            for word, sign in (("largest", 1), ("smallest", -1)):
                name = f"has the {word} number in {key}"
                yield PartialInput(
                    name,
                    sees[1:],
                    "fields",
                    name,
                    name.replace("has", "never or seldom has", 1),
                    _listed(raw, sign),
                )


def _is_somewhere(table: OptionTable, places: Sequence[int]) -> bool:
    within = np.array([0 <= place < size for place, size in zip(places, table.sizes.tolist(), strict=True)])
    return bool(within.any())


# The question's words in the option: the passage is not seen


def _question_overlap(table: OptionTable) -> Floats:
    if "question overlap" not in table.memory:
        asked = [q.query for q in table.questions]
        table.memory["question overlap"] = table.count_shared(asked, np.arange(len(asked)))
    return table.memory["question overlap"]


def _question_share(table: OptionTable) -> Floats:
    return (_question_overlap(table) / np.maximum(table.word_counts, 1)).round(9)


def _in_question(table: OptionTable) -> Floats:
    return _text_in([q.query for q in table.questions])(table)


_QUESTION = (
    *ordered(
        _question_overlap,
        "question",
        "one with the most words of the question",
        "one with the fewest words of the question",
        ("options", "question"),
    ),
    *ordered(
        _question_share,
        "question",
        "one with the largest share of words of the question",
        "one with the smallest share of words of the question",
        ("options", "question"),
    ),
    has("is in the question", "question", "is not in the question", _in_question, ("options", "question")),
    has(
        "starts with the question's first letter",
        "question",
        "does not start with the question's first letter",
        lambda t: np.array(
            [
                t.texts[i].lstrip()[:1].casefold() == t.questions[q].text.lstrip()[:1].casefold() != ""
                for i, q in enumerate(t.question.tolist())
            ]
        ),
        ("options", "question"),
    ),
)


# The passage without the question: shortcuts

PASSAGE = ("passage", "options")


def _passages(table: OptionTable) -> tuple[list[Passage], Integers]:
    """Return the different passages, and the place of each question's passage among them."""
    own = {id(q.passage): q.passage for q in table.questions}
    place = {key: i for i, key in enumerate(own)}
    return list(own.values()), np.array([place[id(q.passage)] for q in table.questions], dtype=np.int64)


def _mentions(table: OptionTable) -> tuple[Floats, Floats]:
    """Return how often the passage mentions each option, and where first; 0 and -1 without a mention."""
    if "mentions" not in table.memory:
        texts = [normalised_text(text).strip(" .,;:!?。") for text in table.distinct_texts]
        passages, index = _passages(table)
        count, first = np.zeros(len(table.texts)), np.full(len(table.texts), -1.0)
        option_texts, starts = table.text_index.tolist(), table.offsets.tolist()
        folded, last = "", -1
        for q in np.argsort(index, kind="stable").tolist():  # so only one passage is folded at a time
            if index[q] != last:
                last = index[q]
                folded = normalised_text(passages[last].text)
            for i in range(starts[q], starts[q + 1]):
                text = texts[option_texts[i]]
                place = folded.find(text) if text else -1
                if place >= 0:
                    count[i], first[i] = folded.count(text), place
                elif not text:
                    first[i] = 0
        table.memory["mentions"] = count, first
    return table.memory["mentions"]


def _n_mentions(table: OptionTable) -> Floats:
    return _mentions(table)[0]


def _first_mention(sign: int) -> Callable[[OptionTable], Floats]:
    """The place of the first mention; options that the passage does not mention come last in both directions."""

    def score(table: OptionTable) -> Floats:
        places = _mentions(table)[1]
        return np.where(places >= 0, sign * places, -1e9)

    return score


def _in_sentence(which: int) -> Callable[[OptionTable], Floats]:
    """The option's words in the first or the last sentence of the passage."""

    def score(table: OptionTable) -> Floats:
        passages, index = _passages(table)
        if "outer sentences" not in table.memory:
            table.memory["outer sentences"] = list(map(_outer_sentences, passages))
        shared = table.count_shared([texts[which] for texts in table.memory["outer sentences"]], index)
        return (shared / np.maximum(table.word_counts, 1)).round(9)

    return score


def _outer_sentences(passage: Passage) -> tuple[str, str]:
    """Return the first and the last sentence; the whole text if it has none."""
    spans = passage_sentences(passage) or [(0, len(passage.text))]
    return passage.text[slice(*spans[0])], passage.text[slice(*spans[-1])]


def _runs(table: OptionTable) -> Floats:
    """Return the longest run of words that option and passage share."""
    encoded = encode(table.memory.get("questions", table.dataset), table.analyzer)
    runs = longest_runs(encoded.arrays).astype(np.float64)
    scores = encoded.scores(runs, runs > 0)
    return flatten_scores(table, scores.values, scores.offsets)


def flatten_scores(table: OptionTable, values: Floats, offsets: Integers) -> Floats:
    """Return a solver's scores for the options of a table; a cloze option gets the best of its mentions."""
    if len(values) == len(table.texts):
        return values
    from classic_rc.metrics.squad import normalise_squad_answer

    result = np.full(len(table.texts), -np.inf)
    for q, row in enumerate(table.rows.tolist()):
        places: dict[str, int] = {}
        for candidate, value in zip(table.dataset[row].candidates, values[offsets[row] :].tolist(), strict=False):
            place = places.setdefault(normalise_squad_answer(candidate.text), len(places))
            where = int(table.offsets[q]) + place
            result[where] = max(result[where], value)
    return result


def _run_share(table: OptionTable) -> Floats:
    return (_runs(table) / np.maximum(table.word_counts, 1)).round(9)


def _passage_share(table: OptionTable) -> Floats:
    """Return the share of the option's words that are in the passage."""
    passages, index = _passages(table)
    tokens, offsets = table.tokens
    n_words = len(table.vocabulary) + 1
    text = distinct_words(tokens, offsets, n_words) // n_words
    n_distinct = np.bincount(text, minlength=len(offsets) - 1)[table.text_index]
    shared = table.count_shared([passage.text for passage in passages], index)
    return (shared / np.maximum(n_distinct, 1)).round(9)


_PASSAGE = (
    *ordered(
        _runs,
        "passage",
        "one with the longest run of words from the passage",
        "one with the shortest run of words from the passage",
        PASSAGE,
    ),
    *ordered(
        _run_share,
        "passage",
        "one with the largest share copied from the passage",
        "one with the smallest share copied from the passage",
        PASSAGE,
    ),
    *ordered(
        _passage_share,
        "passage",
        "one with the largest share of words of the passage",
        "one with the smallest share of words of the passage",
        PASSAGE,
    ),
    has("is in the passage word for word", "passage", "is not in the passage word for word", _n_mentions, PASSAGE),
    *ordered(
        _n_mentions,
        "passage",
        "one that the passage mentions most often",
        "one that the passage mentions least often",
        PASSAGE,
    ),
    PartialInput(
        "is mentioned first in the passage",
        PASSAGE,
        "passage",
        "is mentioned first in the passage",
        "is never or seldom mentioned first in the passage",
        _first_mention(-1),
    ),
    PartialInput(
        "is mentioned last in the passage",
        PASSAGE,
        "passage",
        "is mentioned last in the passage",
        "is never or seldom mentioned last in the passage",
        _first_mention(1),
    ),
    *ordered(
        _in_sentence(0),
        "passage",
        "one with most of its words in the first sentence",
        "one with fewest of its words in the first sentence",
        PASSAGE,
    ),
    *ordered(
        _in_sentence(-1),
        "passage",
        "one with most of its words in the last sentence",
        "one with fewest of its words in the last sentence",
        PASSAGE,
    ),
)

CONTEXT_RULES: tuple[PartialInput, ...] = (*_REUSE, *_QUESTION, *_PASSAGE)
"""The rules that also read other questions, the question, or the passage."""


def rules_of_table(table: OptionTable) -> Iterator[PartialInput]:
    """Yield the rules that depend on the data: positions, answers before, and fields."""
    yield from _position_rules(table)
    yield from _order_rules(table)
    yield from _field_rules(table)


def question_codes(table: OptionTable) -> dict[str, tuple[tuple[str, ...], str, list[Any]]]:
    """Return values of each question that may tell the position of the right option.

    Returns
    -------
    dict
        By name: what is seen, the group, and one value for each question.
    """
    codes: dict[str, tuple[tuple[str, ...], str, list[Any]]] = {}
    n = len(table)
    k = max(int(table.sizes.max(initial=1)), 2)
    gold = table.gold.tolist()
    for m in sorted({2, 3, 4, 5, 6, 7, 8, k}):
        codes[f"the question's number modulo {m}"] = (("order",), "order", [i % m for i in range(n)])
    codes["the two answers before"] = (
        ("order",),
        "order",
        [(gold[i - 1], gold[i - 2]) if i > 1 else None for i in range(n)],
    )
    seen: dict[int, int] = {}
    ordinal = []
    for passage in table.passage.tolist():
        seen[passage] = seen.get(passage, -1) + 1
        ordinal.append(seen[passage])
    codes["the question's number in its passage"] = (("order",), "order", ordinal)
    for key, values in field_values(table).items():
        sees = (f"fields: {key}",)
        numbers = [last_number(v) for v in values]
        codes[f"{key}"] = (sees, "fields", list(values))
        codes[f"the last character of {key}"] = (sees, "fields", [v[-1:] for v in values])
        codes[f"the first character of {key}"] = (sees, "fields", [v[:1] for v in values])
        codes[f"the length of {key}"] = (sees, "fields", [len(v) for v in values])
        if max(numbers) >= 0:
            codes[f"the number in {key} modulo {k}"] = (sees, "fields", [v % k for v in numbers])
            codes[f"the parity of the number in {key}"] = (sees, "fields", [v % 2 for v in numbers])
    asked = [q.text.split() for q in table.questions]
    texts = [q.text for q in table.questions]
    of_question: list[tuple[str, Sequence[Any]]] = [
        ("the question's first word", [w[0].casefold() if w else "" for w in asked]),
        ("the question's last word", [w[-1].casefold() if w else "" for w in asked]),
        ("the question's last characters", [t[-2:] for t in texts]),
        ("the question's first character", [t[:1] for t in texts]),
        (f"the question's length modulo {k}", [len(t) % k for t in texts]),
        (f"the question's number of words modulo {k}", [len(w) % k for w in asked]),
        ("the question's number of words", [len(w) for w in asked]),
    ]
    for name, own in of_question:
        codes[name] = (("question",), "question", list(own))
    passages = [q.passage.text for q in table.questions]
    counts = {id(q.passage): len(q.passage.text.split()) for q in table.questions}
    of_passage: list[tuple[str, Sequence[Any]]] = [
        ("the passage's first word", [p.split(maxsplit=1)[0].casefold() if p.strip() else "" for p in passages]),
        ("the passage's first character", [p[:1] for p in passages]),
        ("the passage's last characters", [p[-2:] for p in passages]),
        (f"the passage's length modulo {k}", [len(p) % k for p in passages]),
        (f"the passage's number of words modulo {k}", [counts[id(q.passage)] % k for q in table.questions]),
    ]
    for name, own in of_passage:
        codes[name] = (("passage",), "passage", list(own))
    return codes


def position_cells(values: Sequence[Any], table: OptionTable, number: dict[Any, int]) -> NDArray[np.int64]:
    """Return the number of each option's cell: its question's value, and its position."""
    own = np.array([number.setdefault(value, len(number)) for value in values], dtype=np.int64)
    return own[table.question] * 64 + np.minimum(table.position, 63)
