"""Rules that read other questions: options they have too, positions, and the answers before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules.partial_input import PartialInput, has, ordered
from classic_rc.kernels.arrays import distinct
from classic_rc.questions import normalised_text

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


def _in_before(table: OptionTable) -> NDArray[np.bool_]:
    most = int(table.normalised.max(initial=0)) + 1
    own = table.question * most + table.normalised
    return np.isin(own - most, own) & (table.question > 0)


def _other_queries(table: OptionTable) -> list[list[str]]:
    """Return, for each question, the case-folded texts of the other questions of its passage."""
    if "other queries" not in table.memory:
        folded = [normalised_text(q.query) for q in table.questions]
        of_passage: dict[int, list[int]] = {}
        for q, passage in enumerate(table.passage.tolist()):
            of_passage.setdefault(passage, []).append(q)
        table.memory["other queries"] = [
            # Hundreds of questions of one passage would take time squared; the nearest ones say enough.
            [folded[i] for i in _near(of_passage[passage], q) if i != q]
            for q, passage in enumerate(table.passage.tolist())
        ]
    return table.memory["other queries"]


_MOST_OTHERS = 20


def _near(questions: list[int], own: int) -> list[int]:
    if len(questions) <= _MOST_OTHERS:
        return questions
    place = bisect_left(questions, own)
    start = min(max(place - _MOST_OTHERS // 2, 0), len(questions) - _MOST_OTHERS)
    return questions[start : start + _MOST_OTHERS]


def _in_other_questions(table: OptionTable) -> NDArray[np.bool_]:
    texts = [normalised_text(text).strip(" .,;:!?") for text in table.distinct_texts]
    queries = ["\n".join(own) for own in _other_queries(table)]
    pairs = zip(table.text_index.tolist(), table.question.tolist(), strict=True)
    return np.array([len(texts[i]) > 1 and texts[i] in queries[q] for i, q in pairs], dtype=np.bool_)


def _shared_with_other_questions(table: OptionTable) -> Floats:
    return table.count_shared(["\n".join(own) for own in _other_queries(table)], np.arange(len(table)))


def _shared_with_answer_before(table: OptionTable) -> Floats:
    answers = ["", *("\n".join(q.gold_texts) for q in table.questions[:-1])]
    return table.count_shared(answers, np.arange(len(table)))


def _word_frequency(table: OptionTable) -> Floats:
    """Return the mean log frequency of the option's words, counted over the options of all questions."""
    uses = np.bincount(table.text_index, minlength=len(table.distinct_texts))
    tokens, offsets = table.tokens
    text = np.repeat(np.arange(len(uses)), np.diff(offsets))
    log_counts = np.log(np.maximum(np.bincount(tokens, weights=uses[text]), 1))
    total = np.bincount(text, weights=log_counts[tokens], minlength=len(uses))
    return (total / np.maximum(np.diff(offsets), 1)).round(9)[table.text_index]


REUSE_RULES: tuple[PartialInput, ...] = (
    has(
        "is an option of another question of the passage",
        "reuse",
        "is not an option of another question of the passage",
        _in_passage,
        OTHERS,
    ),
    has(
        "is in the text of another question of the passage",
        "reuse",
        "is not in the text of another question of the passage",
        _in_other_questions,
        (*OTHERS, "other questions"),
    ),
    *ordered(
        _shared_with_other_questions,
        "reuse",
        "one with the most words of the passage's other questions",
        "one with the fewest words of the passage's other questions",
        (*OTHERS, "other questions"),
    ),
    has(
        "is an option of the question before",
        "reuse",
        "is not an option of the question before",
        _in_before,
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
    has(
        "has a word of the answer before",
        "reuse",
        "has no word of the answer before",
        _shared_with_answer_before,
        (*OTHERS, "order"),
    ),
    *ordered(_word_frequency, "derived", "one with the most common words", "one with the rarest words", OTHERS),
)


# Positions, and the answers of the questions before


_SHOWN_POSITIONS = 10


def _at_position(place: int) -> Callable[[OptionTable], Floats]:
    return lambda table: (table.position == place).astype(np.float64)


def position_rules(table: OptionTable) -> Iterator[PartialInput]:
    """Yield the rules of option positions."""
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


_LONGEST_DISTANCE = 6


def _right_at(table: OptionTable, other: Integers, delta: int) -> Floats:
    """Return whether each option's position, minus `delta`, is right in another question; -1 is no question."""
    before = other[table.question]
    is_known = before >= 0
    before = np.maximum(before, 0)
    place = (table.position - delta) % table.sizes[table.question]
    is_known &= place < table.sizes[before]
    where = table.offsets[:-1][before] + np.minimum(place, table.sizes[before] - 1)
    return (table.right[where] & is_known).astype(np.float64)


def _after_previous(delta: int, distance: int = 1) -> Callable[[OptionTable], Floats]:
    """Whether the option's position, minus `delta`, was right so many questions before."""
    return lambda table: _right_at(table, np.maximum(np.arange(len(table)) - distance, -1), delta)


def _after_passage_before(table: OptionTable) -> Floats:
    """Whether the option's position was right in the question with the same number in the passage before."""
    before = np.full(len(table), -1, dtype=np.int64)
    last: dict[int, int] = {}  # the last question with each number in its passage
    for q, number in enumerate(number_in_passage(table).tolist()):
        before[q] = last.get(number, -1)
        last[number] = q
    return _right_at(table, before, 0)


def number_in_passage(table: OptionTable) -> Integers:
    """Return the number of each question among those of its passage, from 0."""
    seen: dict[int, int] = {}
    result = np.zeros(len(table), dtype=np.int64)
    for q, passage in enumerate(table.passage.tolist()):
        result[q] = seen[passage] = seen.get(passage, -1) + 1
    return result


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


def order_rules(table: OptionTable) -> Iterator[PartialInput]:
    """Yield the rules of the answers of earlier questions."""
    for delta in range(min(int(table.sizes.max(initial=0)), _SHOWN_POSITIONS)):
        name = "is where the answer to the question before is" + (f", plus {delta}" if delta else "")
        lack = name.replace("is where", "is never or seldom where", 1)
        yield PartialInput(name, ("order",), "order", name, lack, _after_previous(delta))
    for distance in range(2, _LONGEST_DISTANCE + 1):
        name = f"is where the answer {distance} questions before is"
        lack = name.replace("is where", "is never or seldom where", 1)
        yield PartialInput(name, ("order",), "order", name, lack, _after_previous(0, distance))
    name = "is where the answer to the same question of the passage before is"
    lack = name.replace("is where", "is never or seldom where", 1)
    yield PartialInput(name, ("order",), "order", name, lack, _after_passage_before)
    yield from ordered(
        _used_in_passage,
        "order",
        "position most often right before in the passage",
        "position least often right before in the passage",
        ("order",),
    )
