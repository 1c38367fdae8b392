"""Bootstrap intervals over passages, compared with their definitions on random credits."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import sqrt
from statistics import fmean, pstdev
from typing import Any

from classic_rc.teaching.assignment import CheckFailedError, Submission, check
from classic_rc.teaching.feedback import compare_function, own_function

TITLE = "Bootstrap intervals over passages"
MAIN = TEMPLATE = "my_bootstrap.py"

Passages = list[list[float]]
Draw = list[int]
Interval = Callable[[list[float], float], list[float]]

_MAX_ERRORS = 6
"""Draws that are as random as they must be are this many standard errors off once in 500 million times."""


@check(points=3)
def check_accuracies(submission: Submission) -> None:
    """accuracy is the mean over the questions of the passages drawn."""
    cases = _accuracy_cases(submission.seed)
    compare_function(submission, "accuracy", cases, right_accuracy, mistakes=_ACCURACY_MISTAKES)


@check(points=2)
def check_random_draws(submission: Submission) -> None:
    """draws are positions with replacement, equally likely and repeatable."""
    n, size, seed = 2000, 5, submission.seed
    found = _ask_draws(submission, size, n, seed)
    _must_be_random(found, size)
    if _ask_draws(submission, size, n, seed) != found:
        raise CheckFailedError(f"draws({size}, {n}, {seed}) gives other draws when it is called again")
    if _ask_draws(submission, size, n, seed + 1) == found:
        raise CheckFailedError(f"draws({size}, {n}, {seed + 1}) gives the draws of seed {seed}")
    _ask_draws(submission, 1, 3, seed)


@check(points=2)
def check_intervals(submission: Submission) -> None:
    """interval gives the quantiles."""
    cases = _interval_cases(submission.seed)
    compare_function(submission, "interval", cases, right_interval, mistakes=_INTERVAL_MISTAKES)


@check(points=3)
def check_differences(submission: Submission) -> None:
    """difference compares two systems on the same draws."""
    rng = random.Random(f"differences {submission.seed}")
    cases = []
    for _ in range(60):
        first = _draw_passages(rng)
        second = [[float(rng.random() < 0.5) for _ in own] for own in first]
        positions = range(len(first))
        all_draws = [rng.choices(positions, k=len(first)) for _ in range(rng.randint(1, 12))]
        cases.append((first, second, all_draws, rng.choice((0.5, 0.9))))
    # A difference without draws would be trivial.
    carried = {told: variant for told, variant in _ACCURACY_MISTAKES.items() if told != "the draw is not used"}
    accuracies, intervals = _accuracy_cases(submission.seed), _interval_cases(submission.seed)
    right = partial(
        _difference,
        measure=own_function(submission, "accuracy", accuracies, right_accuracy, carried),
        interval=own_function(submission, "interval", intervals, right_interval, _INTERVAL_MISTAKES),
    )
    mistakes = {told: partial(right, wrong=wrong) for told, wrong in _DIFFERENCES.items()}
    compare_function(submission, "difference", cases, right, mistakes=mistakes, simplify=simpler)


def _accuracy_cases(seed: int) -> list[tuple[Passages, Draw]]:
    rng = random.Random(f"accuracies {seed}")
    cases: list[tuple[Passages, Draw]] = [([[1.0]], [0]), ([[0.0], [1.0]], [1, 1])]
    for _ in range(100):
        passages = _draw_passages(rng)
        cases.append((passages, rng.choices(range(len(passages)), k=len(passages))))
    return cases


def _interval_cases(seed: int) -> list[tuple[list[float], float]]:
    rng = random.Random(f"intervals {seed}")
    cases: list[tuple[list[float], float]] = [([0.5], 0.95), ([0.5, 0.5], 0.9)]
    for _ in range(80):
        values = [round(rng.random(), 2) for _ in range(rng.randint(1, 30))]
        cases.append((values, rng.choice((0.5, 0.9, 0.95))))
    return cases


def _draw_passages(rng: random.Random) -> Passages:
    """Return passages of one to four questions; about some, everything is right or nothing is."""
    found = []
    for _ in range(rng.randint(1, 5)):
        p = rng.choice((0.0, 0.5, 1.0))
        found.append([rng.choice((float(rng.random() < p), 0.5)) for _ in range(rng.randint(1, 4))])
    return found


def right_accuracy(passages: Passages, draw: Draw) -> float:
    """Return the mean credit over the questions of the passages drawn."""
    _check_passages(passages, draw)
    return fmean(credit for i in draw for credit in passages[i])


def _check_passages(passages: Passages, draw: Draw) -> None:
    if not draw or not all(passages) or not all(0 <= i < len(passages) for i in draw):
        raise ValueError("no draw of these passages")
    if any(not 0 <= credit <= 1 for own in passages for credit in own):
        raise ValueError("a credit is from 0 to 1")


_ACCURACY_MISTAKES: dict[str, Any] = {
    "the mean of the passages' means; each question must count the same": lambda passages, draw: fmean(
        fmean(passages[i]) for i in draw
    ),
    "a passage that is drawn twice counts once; it must count twice": lambda passages, draw: right_accuracy(
        passages, [*set(draw)]
    ),
    "you divide by the number of all questions; divide by those of the passages drawn": lambda passages, draw: (
        sum(sum(passages[i]) for i in draw) / sum(map(len, passages))
    ),
    "you divide by the number of passages; divide by the number of questions": lambda passages, draw: (
        sum(sum(passages[i]) for i in draw) / len(draw)
    ),
    "the draw is not used": lambda passages, draw: right_accuracy(passages, [*range(len(passages))]),
    "you draw questions; draw passages with all their questions": lambda passages, draw: fmean(
        [credit for own in passages for credit in own][i] for i in draw
    ),
}


def _ask_draws(submission: Submission, size: int, n: int, seed: int) -> list[Draw]:
    found = submission.draws(size, n, seed)
    call = f"draws({size}, {n}, {seed})"
    if not isinstance(found, list) or len(found) != n:
        raise CheckFailedError(f"{call} must give a list of {n} draws")
    for draw in found:
        if not isinstance(draw, list) or len(draw) != size:
            raise CheckFailedError(f"each draw of {call} must be a list of {size} positions, not {draw!r}"[:300])
        if not all(type(i) is int and 0 <= i < size for i in draw):
            cause = "\nlikely cause: positions count from 0" if size in draw else ""
            raise CheckFailedError(
                f"the positions of {call} must be from 0 to {size - 1}: {draw!r}"[:300], cause.strip()
            )
    return found


def _must_be_random(found: list[Draw], size: int) -> None:
    """Refuse draws without replacement, and positions that are not equally likely or not independent."""
    if all(len(set(draw)) == size for draw in found):
        raise CheckFailedError(
            "no draw has a position twice", "likely cause: you draw without replacement; draw with replacement"
        )
    if found.count(found[0]) == len(found):
        raise CheckFailedError("all draws are equal", "likely cause: you start the generator again for each draw")
    n = len(found)
    for place in range(size):
        counts = Counter(draw[place] for draw in found)
        _must_be_near([counts[i] for i in range(size)], n, 1 / size, f"place {place} of the draws")
    for place in range(1, size):  # equal neighbours: as frequent as chance has it
        equal = sum(draw[place] == draw[place - 1] for draw in found)
        _must_be_near([equal], n, 1 / size, f"a position twice, at the places {place - 1} and {place},")


def _must_be_near(counts: list[int], n: int, p: float, what: str) -> None:
    off = max(abs(count - n * p) for count in counts)
    if off > _MAX_ERRORS * sqrt(n * p * (1 - p)):
        raise CheckFailedError(
            f"{what}: found {counts} times in {n} draws, and should be found about {n * p:.0f} times"
        )


def _quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def right_interval(values: list[float], level: float) -> list[float]:
    """Return the percentile interval."""
    if not values or not 0 < level < 1:
        raise ValueError("no values, or no level")
    return [_quantile(values, (1 - level) / 2), _quantile(values, (1 + level) / 2)]


def _at_places(values: list[float], level: float) -> list[float]:
    ordered = sorted(values)
    return [ordered[int(q * (len(values) - 1))] for q in ((1 - level) / 2, (1 + level) / 2)]


def _at_counts(values: list[float], level: float) -> list[float]:
    ordered = sorted(values)
    return [ordered[int(q * len(values))] for q in ((1 - level) / 2, (1 + level) / 2)]


_INTERVAL_MISTAKES: dict[str, Any] = {
    "1 - level is cut off at each end; it is (1 - level) / 2": lambda values, level: [
        _quantile(values, 1 - level),
        _quantile(values, level),
    ],
    "you take the value at a whole place; go straight from one value to the next": _at_places,
    "you count m places; there are m - 1 steps from the first value to the last": _at_counts,
    "mean and 1.96 standard deviations instead of quantiles": lambda values, level: [
        fmean(values) - 1.96 * pstdev(values),
        fmean(values) + 1.96 * pstdev(values),
    ],
    "the smallest and the largest value instead of quantiles": lambda values, level: [min(values), max(values)],
    "the values are not sorted": lambda values, level: [
        values[int(q * (len(values) - 1))] for q in ((1 - level) / 2, (1 + level) / 2)
    ],
}


def _difference(
    first: Passages,
    second: Passages,
    all_draws: list[Draw],
    level: float,
    *,
    measure: Callable[[Passages, Draw], float] = right_accuracy,
    interval: Interval = right_interval,
    wrong: str = "",
) -> list[float]:
    """Return the difference with its interval; `wrong` is a mistake that a student may make."""
    if [len(own) for own in first] != [len(own) for own in second] or not 0 < level < 1 or not all_draws:
        raise ValueError("other questions, no draws or no level")
    for draw in all_draws:
        _check_passages(first, draw)
        _check_passages(second, draw)
        if len(draw) != len(first):
            raise ValueError("a draw has as many positions as there are passages")
    mean: Any = _ACCURACY_MISTAKES["the mean of the passages' means; each question must count the same"]
    measure = mean if wrong == "means" else measure
    ones, others = ([measure(own, draw) for draw in all_draws] for own in (first, second))
    everything = [*range(len(first))]
    d = measure(first, everything) - measure(second, everything)
    if wrong == "unpaired":
        others = others[1:] + others[:1]
    differences = [one - other for one, other in zip(ones, others, strict=True)]
    low, high = interval(differences, level)
    if wrong == "bounds":
        low, high = (own - other for own, other in zip(interval(ones, level), interval(others, level), strict=True))
    if wrong == "turned":
        return [-d, *interval([-own for own in differences], level)]
    if wrong == "mean of draws":
        d = fmean(differences)
    return [d, low, high]


_DIFFERENCES = {
    "you subtract the bounds of two intervals; subtract in each draw, and take the interval after": "bounds",
    "the mean of the passages' means; each question must count the same": "means",
    "it is the first less the second": "turned",
    "the difference is the mean over the draws; it must be that of the original passages": "mean of draws",
    "the systems are compared on different draws": "unpaired",
}


def simpler(case: tuple[Passages, Passages, list[Draw], float]) -> Iterator[tuple[Any, ...]]:
    """Yield comparisons with one draw, one passage or one question less, or with one simpler credit."""
    first, second, all_draws, level = case
    for i in range(len(all_draws)):
        yield first, second, all_draws[:i] + all_draws[i + 1 :], level
    for i in range(len(first)):
        left = [[j - (j > i) for j in draw if j != i] for draw in all_draws]
        full = [(draw + [0] * len(first))[: len(first) - 1] for draw in left]
        yield first[:i] + first[i + 1 :], second[:i] + second[i + 1 :], full, level
        for j in range(len(first[i])):
            ones, others = ([*own[:i], own[i][:j] + own[i][j + 1 :], *own[i + 1 :]] for own in (first, second))
            yield ones, others, all_draws, level
    for i, own in enumerate(first):
        for j in range(len(own)):
            for value in (0.0, 1.0):
                changed = [*own[:j], value, *own[j + 1 :]]
                yield [*first[:i], changed, *first[i + 1 :]], second, all_draws, level
                other = [*second[i][:j], value, *second[i][j + 1 :]]
                yield first, [*second[:i], other, *second[i + 1 :]], all_draws, level
