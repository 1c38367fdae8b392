"""The formulas of the best window and of the word distance, which explanations of several
families show.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from itertools import accumulate

from classic_rc.kernels.distance import DistanceRule
from classic_rc.kernels.weights import SCALE, inverse_count_weight
from classic_rc.solvers.explanation import Term, divided, given, inverse_count, least, plus, times


def best_window(
    passage: Sequence[str],
    query: Sequence[str],
    answer: Sequence[str],
    window: int | str,
    count_of: Callable[[str], int],
) -> tuple[Term, range]:
    """Return the sum of the word weights in the best window, and the window's positions (none if
    the sum is 0).
    """
    words = {*query, *answer}
    size = len(words) if window == "set" else len(passage) if window == "passage" else int(window)
    weight_of = {word: inverse_count_weight(count_of(word)) for word in words.intersection(passage)}
    weights = [weight_of.get(token, 0) for token in passage]
    # A window longer than the passage has one position. Of equal windows the first is marked.
    sums = [0, *accumulate(weights)]
    totals = [end - start for start, end in zip(sums, sums[size:], strict=False)]
    best = totals.index(max(totals)) if totals else 0
    inside = range(best, min(best + size, len(weights)))
    terms = []
    for i in inside:
        if weights[i]:
            word = passage[i]
            terms.append(inverse_count(f'"{word}"', count_of(word), weights[i] / SCALE))
    if not terms:
        return given(
            "sliding window", 0.0, f"no window of {size} tokens has a word of question or candidate"
        ), range(0)
    total = sum(weights[i] for i in inside) / SCALE
    note = f"tokens {best + 1} to {inside[-1] + 1}"
    return plus("sliding window", *terms, value=total, note=note), inside


def neighbours(places: Sequence[int], i: int) -> Sequence[int]:
    """Return the last place before i and the first one from i on, of ascending places."""
    after = bisect_left(places, i)
    return places[max(after - 1, 0) : after + 1]


def distance_term(
    passage: Sequence[str],
    query: Sequence[str],
    answer: Sequence[str],
    stop: Collection[str],
    rule: DistanceRule,
    value: float,
) -> Term:
    """Return the word distance `value` of a rule as a formula, with the distance of each
    question word.
    """
    question_words = set(query) - set(stop)
    candidate_words = set(answer) - set(query) - set(stop)
    answer_places = [i for i, token in enumerate(passage) if token in candidate_words]
    nearest: dict[str, tuple[int, int]] = {}
    for i, token in enumerate(passage):
        if token in question_words and answer_places:
            j = min(neighbours(answer_places, i), key=lambda place: abs(place - i))
            if token not in nearest or abs(i - j) < abs(nearest[token][0] - nearest[token][1]):
                nearest[token] = i, j
    if not nearest:
        return given(
            "distance", value, "no pair of a question word and a candidate word in the passage"
        )
    steps = [_distance_of(passage, i, j) for i, j in nearest.values()]
    length = given("", len(passage) - 1)
    if rule == "mean":
        words = given("number of question words", len(steps))
        return divided("distance", plus("", *steps), times("", words, length), value)
    if rule == "first":
        i, j = _first_pair(passage, question_words, candidate_words)
        step = _distance_of(passage, i, j, ", the first pair")
        return divided("distance", step, length, value)
    smallest = least("", *steps)
    if rule == "min+1":
        smallest = plus("", smallest, 1)
    return divided("distance", smallest, length, value)


def _distance_of(passage: Sequence[str], i: int, j: int, suffix: str = "") -> Term:
    """Return the distance between two tokens of the passage."""
    name = f'"{passage[i]}" to "{passage[j]}"{suffix}'
    return given(name, abs(i - j), f"tokens {i + 1} and {j + 1}")


def _first_pair(
    passage: Sequence[str], question_words: set[str], candidate_words: set[str]
) -> tuple[int, int]:
    """Return the last places of both kinds of words, as soon as both have occurred."""
    question_place = answer_place = -1
    for i, token in enumerate(passage):
        if token in question_words:
            question_place = i
        elif token in candidate_words:
            answer_place = i
        if question_place >= 0 and answer_place >= 0:
            break
    return question_place, answer_place
